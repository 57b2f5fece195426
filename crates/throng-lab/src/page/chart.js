// A chart of one need: threads to the right, the unit upwards, a line for each entrant.

const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 2", "1 2"];

/** Returns the entrants as lines: the kind of each, and its points from left to right. */
function linesOf(need) {
  const pick = need.advice && need.advice.pick;
  const counts = {};
  return need.entrants.map((entrant) => {
    let kind = { ours: "ours", method: "method", peer: "peer" }[entrant.whose] || "peer";
    if (entrant.name === need.usual) kind = "usual";
    if (entrant.name === pick) kind = "pick";
    counts[kind] = (counts[kind] || 0) + 1;
    const points = entrant.cells
      .filter((cell) => cell.threads > 0 && isNumber(cell.median))
      .sort((a, b) => a.threads - b.threads);
    return { entrant, kind, nth: counts[kind] - 1, points, on: kind !== "method" };
  });
}

/** Returns the scale: the place of values between 0 (bottom) and 1 (top), and the marked values. */
function scaleOf(values) {
  const positive = values.filter((value) => value > 0);
  const high = Math.max(...values, 0);
  const low = Math.min(...positive);
  if (positive.length && high / low > 10) return logarithmic(low / 1.2, high * 1.2);
  const step = niceStep((high || 1) / 5);
  const top = Math.ceil((high || 1) / step - 1e-9) * step;
  const marks = [];
  for (let i = 0; i * step <= top * 1.0001; i += 1) marks.push(Number((i * step).toPrecision(6)));
  return { log: false, marks, at: (value) => Math.max(0, value / top) };
}

function logarithmic(low, high) {
  const decades = Math.log10(high / low);
  const marks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const digit of decades > 3 ? [1] : [1, 2, 5]) {
      const mark = Number((digit * 10 ** power).toPrecision(6));
      if (mark >= low && mark <= high) marks.push(mark);
    }
  }
  const at = (value) => (value > 0 ? Math.max(0, Math.log(value / low) / Math.log(high / low)) : 0);
  return { log: true, marks, at };
}

/** Returns the smallest 1, 2 or 5 with zeros that is at least as large. */
function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((digit) => digit * power >= rough * 0.9999) * power;
}

/** Inserts the chart of a need, with a legend that switches lines. */
function chart(need, place, processors) {
  const lines = linesOf(need);
  const caption = place.querySelector("figcaption");
  const drawing = element("div", { class: "drawing" });
  place.append(drawing);
  const redraw = () => drawChart(need, lines, drawing, caption, processors);
  place.append(legend(need, lines, kindsOf(place.dataset.verdict), redraw));
  redraw();
  let width = drawing.clientWidth;
  new ResizeObserver(() => {
    if (drawing.clientWidth === width) return;
    width = drawing.clientWidth;
    redraw();
  }).observe(drawing);
}

function drawChart(need, lines, drawing, caption, processors) {
  const unit = unitOf(need);
  const width = Math.max(280, drawing.clientWidth || 640);
  const height = Math.round(Math.min(440, Math.max(280, width * 0.5)));
  const named = width > 620;
  const shown = lines.filter((line) => line.on && line.points.length);
  const values = shown.flatMap((line) => line.points.map((point) => point.median));
  const threads = [...new Set(lines.flatMap((line) => line.points.map((point) => point.threads)))];
  threads.sort((a, b) => a - b);
  const scale = scaleOf(values.length ? values : [1]);
  const widest = Math.max(...scale.marks.map((mark) => short(mark).length));
  const frame = { left: 18 + 8 * widest, right: width - (named ? 150 : 14), top: 30, bottom: height - 50 };
  const across = Math.log2(threads[threads.length - 1] / threads[0]);
  const inside = frame.right - frame.left - 24;
  const x = (count) =>
    frame.left + 12 + (across > 0 ? (Math.log2(count / threads[0]) / across) * inside : inside / 2);
  const y = (value) => frame.bottom - Math.min(1, scale.at(value)) * (frame.bottom - frame.top);

  caption.textContent = `${unit.words}; ${unit.more ? "more" : "less"} is better${
    scale.log ? " (logarithmic scale)" : ""
  }`;
  const svg = drawn("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    tabindex: 0,
    role: "application",
    "aria-label": `Chart: ${need.title}. Arrow keys walk from number to number.`,
  });
  svg.append(axes(frame, scale, threads, x, y, processors));
  const order = ["method", "peer", "usual", "ours", "pick"];
  const inOrder = [...shown].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const above = drawn("g", { class: "hover" });
  svg.append(...inOrder.map((line) => lineOf(line, x, y)), above);
  if (named) svg.append(nameTags(inOrder, frame, x, y));
  if (!shown.length) {
    const words = lines.length ? "No line is switched on." : "Nothing was measured.";
    svg.append(drawn("text", { class: "nothing", x: width / 2, y: height / 2 }, words));
  }
  drawing.replaceChildren(svg);
  listen(svg, above, shown, need, { x, y, frame });
}

function axes(frame, scale, threads, x, y, processors) {
  const group = drawn("g", { class: "axes" });
  for (const mark of scale.marks) {
    const at = y(mark);
    group.append(
      drawn("line", { x1: frame.left, x2: frame.right, y1: at, y2: at }),
      drawn("text", { class: "up", x: frame.left - 10, y: at + 4 }, short(mark)),
    );
  }
  let free = -Infinity;
  for (const count of threads) {
    // A label that would overlap the one before goes a row lower.
    const lower = x(count) < free;
    if (!lower) free = x(count) + 10 + 8 * String(count).length;
    const label = { class: "along", x: x(count), y: frame.bottom + (lower ? 33 : 19) };
    group.append(drawn("text", label, String(count)));
  }
  if (threads.length > 1 && processors >= threads[0] && processors < threads[threads.length - 1]) {
    const at = x(processors);
    group.append(
      drawn("line", { class: "cores", x1: at, x2: at, y1: frame.top - 4, y2: frame.bottom }),
      drawn("text", { class: "along", x: at, y: frame.top - 10 }, counted(processors, "core")),
    );
  }
  const middle = (frame.left + frame.right) / 2;
  group.append(drawn("text", { class: "along", x: middle, y: frame.bottom + 46 }, "threads"));
  return group;
}

function dashOf(line) {
  return line.kind === "peer" || line.kind === "method" ? DASHES[line.nth % DASHES.length] : "";
}

function lineOf(line, x, y) {
  const group = drawn("g", { class: `line ${line.kind} n${line.nth % 4}` });
  group.dataset.entrant = line.entrant.name;
  const points = line.points.map((point) => `${x(point.threads)},${y(point.median)}`).join(" ");
  group.append(drawn("polyline", { points, "stroke-dasharray": dashOf(line) }));
  for (const point of line.points) {
    const [cx, cy] = [x(point.threads), y(point.median)];
    group.append(
      line.kind === "usual"
        ? drawn("rect", { x: cx - 3.5, y: cy - 3.5, width: 7, height: 7 })
        : drawn("circle", { cx, cy, r: { pick: 4.5, ours: 4, peer: 2.5, method: 2 }[line.kind] }),
    );
  }
  return group;
}

/** Draws names at the ends of the highlighted lines, moved apart where they would overlap. */
function nameTags(lines, frame, x, y) {
  const group = drawn("g", { class: "tags" });
  const tags = lines
    .filter((line) => line.kind !== "peer" && line.kind !== "method")
    .map((line) => {
      const end = line.points[line.points.length - 1];
      return { line, at: y(end.median), right: x(end.threads) };
    })
    .sort((a, b) => a.at - b.at);
  let free = frame.top;
  for (const tag of tags) {
    tag.at = Math.max(free, tag.at);
    free = tag.at + 16;
    const name = tag.line.entrant.name;
    const fits = name.length > 19 ? `${name.slice(0, 18)}…` : name;
    const look = { class: `${tag.line.kind} n${tag.line.nth % 4}`, x: tag.right + 12, y: tag.at + 4 };
    group.append(drawn("text", look, fits));
  }
  return group;
}

/** Returns the text of a point, in lines. */
function wordsOf(line, point, need) {
  const unit = unitOf(need);
  const runs = point.runs ? point.runs.length : 0;
  const words = [
    counted(point.threads, "thread"),
    `median ${short(point.median)} ${unit.words}`,
    `min ${short(point.min)}, max ${short(point.max)}, ${counted(runs, "run")}`,
  ];
  if (point.latency) {
    const [p50, p99, p999] = ["p50_ns", "p99_ns", "p999_ns"].map((key) => point.latency[key]);
    if ([p50, p99, p999].every(isNumber)) {
      const us = (ns) => short(ns / 1000);
      words.push(`a call takes ${us(p50)} us; p99 ${us(p99)}, p99.9 ${us(p999)} us`);
    }
  }
  const usual = need.entrants.find((entrant) => entrant.name === need.usual);
  const other = usual && usual.cells.find((cell) => cell.threads === point.threads);
  if (other && usual !== line.entrant && other.median > 0 && point.median > 0) {
    const times = unit.more ? point.median / other.median : other.median / point.median;
    words.push(`${short(times)} times as good as the usual, ${usual.name}`);
  }
  return words;
}

/** Shows the numbers of the point under the pointer or finger, or reached by keys. */
function listen(svg, above, lines, need, { x, y, frame }) {
  const spots = lines.flatMap((line) => line.points.map((point) => ({ line, point })));
  let current = null;

  const show = (spot) => {
    const { line, point } = spot;
    current = spot;
    above.replaceChildren(...rangeOf(line, point, x, y));
    const box = svg.getBoundingClientRect();
    const { name, code } = line.entrant;
    const at = { x: box.left + x(point.threads), y: box.top + y(point.median), under: box.bottom };
    showTip(at, name, wordsOf(line, point, need), code);
    for (const other of svg.querySelectorAll("g.line")) {
      other.classList.toggle("lit", other.dataset.entrant === line.entrant.name);
    }
  };
  const hide = () => {
    current = null;
    above.replaceChildren();
    for (const line of svg.querySelectorAll("g.lit")) line.classList.remove("lit");
    hideTip();
  };
  const nearest = (event) => {
    const box = svg.getBoundingClientRect();
    const [atX, atY] = [event.clientX - box.left, event.clientY - box.top];
    if (!spots.length || atX < frame.left - 20) return hide();
    const far = ({ point }) => Math.hypot(x(point.threads) - atX, y(point.median) - atY);
    return show(spots.reduce((best, spot) => (far(spot) < far(best) ? spot : best)));
  };
  svg.addEventListener("pointermove", nearest);
  svg.addEventListener("pointerdown", nearest);
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("focus", () => {
    if (current || !spots.length) return;
    const line = lines.find((one) => one.kind === "pick") || lines[0];
    show({ line, point: line.points[line.points.length - 1] });
  });
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return hide();
    if (!event.key.startsWith("Arrow") || !current) return undefined;
    event.preventDefault();
    return show(neighbour(event.key, current, lines));
  });
}

/** Moves along the line to the left or right, or to the line above or below. */
function neighbour(key, { line, point }, lines) {
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const next = line.points[line.points.indexOf(point) + (key === "ArrowRight" ? 1 : -1)];
    return { line, point: next || point };
  }
  const column = lines
    .map((other) => ({ line: other, point: other.points.find((one) => one.threads === point.threads) }))
    .filter((spot) => spot.point)
    .sort((a, b) => a.point.median - b.point.median);
  const here = column.findIndex((spot) => spot.line === line);
  return column[here + (key === "ArrowUp" ? 1 : -1)] || { line, point };
}

/** Draws the range of runs: a band along the line, and a bar at the point. */
function rangeOf(line, point, x, y) {
  const sound = line.points.filter((one) => isNumber(one.min) && isNumber(one.max));
  const upper = sound.map((one) => `${x(one.threads)},${y(one.max)}`);
  const lower = sound.map((one) => `${x(one.threads)},${y(one.min)}`).reverse();
  const look = `${line.kind} n${line.nth % 4}`;
  const parts = [drawn("polygon", { class: `band ${look}`, points: [...upper, ...lower].join(" ") })];
  const at = x(point.threads);
  if (sound.includes(point)) {
    const [top, bottom] = [y(point.max), y(point.min)];
    const path = `M${at - 5} ${top}h10M${at} ${top}V${bottom}M${at - 5} ${bottom}h10`;
    parts.push(drawn("path", { class: "whisker", d: path }));
  }
  parts.push(drawn("circle", { class: "ring", cx: at, cy: y(point.median), r: 8 }));
  return parts;
}

/** Names of the kinds of lines. The pick is called recommended only where it gains something. */
function kindsOf(verdict) {
  const worthIt = verdict === "pick" || verdict === "depends";
  return [
    ["pick", worthIt ? "Recommended" : "throng"],
    ["ours", "Also of throng"],
    ["usual", verdict === "usual" ? "The usual: keep it" : "The usual"],
    ["peer", "Others"],
    ["method", "Variants of throng"],
  ];
}

/** Makes buttons that switch lines on and off. */
function legend(need, lines, kinds, redraw) {
  const box = element("div", { class: "legend", role: "group", "aria-label": `Lines: ${need.title}` });
  for (const [kind, words] of kinds) {
    const mine = lines.filter((line) => line.kind === kind);
    if (!mine.length) continue;
    const buttons = mine.map((line) => lineButton(line, redraw));
    const row = element("div", { class: "row" }, ...buttons);
    if (kind === "method") row.prepend(allButton(mine, buttons, redraw));
    box.append(element("span", { class: "kind" }, words), row);
  }
  return box;
}

function lineButton(line, redraw) {
  const swatch = drawn("svg", { width: 26, height: 10, "aria-hidden": "true", class: `line ${line.kind} n${line.nth % 4}` });
  swatch.append(drawn("polyline", { points: "1,5 25,5", "stroke-dasharray": dashOf(line) }));
  const button = element("button", { type: "button", "aria-pressed": line.on, title: line.entrant.code || "" });
  button.append(swatch, line.entrant.name);
  button.dataset.entrant = line.entrant.name;
  button.addEventListener("click", () => {
    line.on = !line.on;
    button.setAttribute("aria-pressed", line.on);
    redraw();
  });
  return button;
}

function allButton(lines, buttons, redraw) {
  const button = element("button", { type: "button", class: "all" }, "show all");
  button.addEventListener("click", () => {
    const on = !lines.every((line) => line.on);
    lines.forEach((line, i) => {
      line.on = on;
      buttons[i].setAttribute("aria-pressed", on);
    });
    button.textContent = on ? "hide all" : "show all";
    redraw();
  });
  return button;
}

