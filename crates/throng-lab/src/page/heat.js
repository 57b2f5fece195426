// The map of line transfers between cores. Small maps are tables already; large ones are drawn
// here.

function heatMap(calibration, place) {
  const times = calibration.transfer_ns;
  const name = (i) => calibration.cores[i] ?? i;
  const words = (i, j) => [`core ${name(i)} to core ${name(j)}`, [`${short(times[i] && times[i][j])} nanoseconds`]];
  if (place.tagName === "TABLE") {
    place.addEventListener("pointermove", (event) => {
      const cell = event.target.closest("td");
      if (!cell || cell.classList.contains("self")) return hideTip();
      return showTip({ x: event.clientX, y: event.clientY }, ...words(cell.parentNode.rowIndex - 1, cell.cellIndex - 1));
    });
    place.addEventListener("pointerleave", hideTip);
    return;
  }
  const cores = times.length;
  const canvas = element("canvas", {
    width: cores,
    height: cores,
    tabindex: 0,
    role: "application",
    "aria-label": `Map of the times between ${cores} cores. Arrow keys walk from pair to pair.`,
  });
  const paint = () => paintHeat(canvas, times);
  place.prepend(canvas);
  paint();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

  let at = [0, 1];
  const show = (i, j) => {
    at = [i, j];
    const box = canvas.getBoundingClientRect();
    const middle = (k, size) => ((k + 0.5) / cores) * size;
    const place = { x: box.left + middle(j, box.width), y: box.top + middle(i, box.height), under: box.bottom };
    showTip(place, ...words(i, j));
  };
  const within = (k) => Math.max(0, Math.min(cores - 1, k));
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    const index = (offset, size) => within(Math.floor((offset / size) * cores));
    show(index(event.clientY - box.top, box.height), index(event.clientX - box.left, box.width));
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("blur", hideTip);
  canvas.addEventListener("focus", () => tip.hidden && show(...at));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    show(within(at[0] + step[0]), within(at[1] + step[1]));
  });
}

/** Draws one point for each pair, coloured by its time. */
function paintHeat(canvas, times) {
  const colour = (name) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  };
  const [cold, hot, none] = [colour("--cold"), colour("--hot"), colour("--sheet")];
  const all = times.flat().filter(isNumber);
  const longest = all.reduce((most, ns) => Math.max(most, ns), 0) || 1;
  const size = canvas.width;
  const context = canvas.getContext("2d");
  const image = context.createImageData(size, size);
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j < size; j += 1) {
      const ns = times[i][j];
      const known = isNumber(ns) && i !== j;
      const part = known ? ns / longest : 0;
      for (let k = 0; k < 3; k += 1) {
        image.data[4 * (i * size + j) + k] = known ? cold[k] + part * (hot[k] - cold[k]) : none[k];
      }
      image.data[4 * (i * size + j) + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

