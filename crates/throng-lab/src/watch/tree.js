"use strict";
// The drawing: the root below, groups above it, callers at the top. `layout` finds the place of
// every word and caller; each moves there step by step.

const canvas = $("tree");
const paint = canvas.getContext("2d");
const dots = [];
const words = new Map();
let sparks = [];
let area = { width: 0, height: 0, dot: 4 };
let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["cool", "mild", "warm", "hot", "dot", "idle", "ink", "soft", "line", "card"]) {
    colours[name] = rgb(style.getPropertyValue(`--${name}`).trim());
  }
}

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const css = ([r, g, b], alpha = 1) => `rgba(${r | 0},${g | 0},${b | 0},${alpha})`;
const mix = (a, b, t) => a.map((from, i) => from + (b[i] - from) * t);
const heatRgb = (heat) => (heat < 0.25 ? mix(colours.cool, colours.mild, heat / 0.25)
  : heat < 0.55 ? mix(colours.mild, colours.warm, (heat - 0.25) / 0.3)
    : mix(colours.warm, colours.hot, (heat - 0.55) / 0.45));
const heatColour = (heat, alpha = 1) => css(heatRgb(heat), alpha);

// Heat from 0, no queue at the word, to 1, a queue as long as there are cores (log scale).
const heatOf = (heat) => Math.min(1, Math.log2(1 + heat.waiting) / Math.log2(1 + state.about.cores));

// Computes the place of everything.
function layout() {
  const { width, height } = area;
  if (state === null || width < 10) return;
  const { seen, load, about } = state;
  const heights = seen.groups_of.map(Math.log2);
  const margin = 10;
  const root = { x: width / 2, y: height - 44 };

  // The lowest groups, each with its callers; several are drawn as one where there are too many.
  const blocks = new Map();
  const size = heights.length > 0 ? seen.groups_of[0] : Infinity;
  seen.at.forEach((at, caller) => {
    const first = size === Infinity ? 0 : Math.floor(at / size) * size;
    if (!blocks.has(first)) blocks.set(first, { first, callers: [] });
    blocks.get(first).callers.push(caller);
  });
  let leaves = [...blocks.values()].sort((a, b) => a.first - b.first);
  const most = Math.max(1, Math.floor((width - 2 * margin) / 13));
  // A power of two, so that no block belongs to two larger groups.
  const bundle = 2 ** Math.max(0, Math.ceil(Math.log2(leaves.length / most)));
  if (bundle > 1) {
    const bundled = [];
    for (let i = 0; i < leaves.length; i += bundle) {
      const several = leaves.slice(i, i + bundle);
      bundled.push({ first: several[0].first, callers: several.flatMap((one) => one.callers) });
    }
    leaves = bundled;
  }
  show("legend-bundle", bundle > 1);
  say("legend-bundle", `each group drawn stands for ${bundle} groups`);

  const levels = heights.length;
  const room = (levels === 0 ? 0.56 : levels === 1 ? 0.46 : 0.38) * (root.y - margin);
  const gap = leaves.length > 1 ? Math.min(14, (0.25 * (width - 2 * margin)) / leaves.length) : 0;
  const total = seen.at.length;
  const share = (width - 2 * margin - gap * (leaves.length - 1)) / total;
  let pitch = 32;
  const rowsAt = (p) => Math.max(...leaves.map((leaf) =>
    Math.ceil(leaf.callers.length / Math.max(1, Math.floor((leaf.callers.length * share) / p)))));
  while (pitch > 3 && rowsAt(pitch) * pitch > room) pitch -= 0.5;
  area.dot = Math.max(1.3, Math.min(9, pitch * 0.34));
  const crownTop = margin + area.dot + 0.04 * height;
  const crownBottom = Math.max(crownTop + (rowsAt(pitch) - 1) * pitch, 0.2 * height);

  let x = margin;
  for (const leaf of leaves) {
    const width = leaf.callers.length * share;
    const columns = Math.max(1, Math.floor(width / pitch));
    const rows = Math.ceil(leaf.callers.length / columns);
    // As even as possible.
    const used = Math.ceil(leaf.callers.length / rows);
    leaf.x = x + width / 2;
    leaf.callers.forEach((caller, i) => {
      const row = Math.floor(i / used);
      const inRow = Math.min(used, leaf.callers.length - row * used);
      const dot = (dots[caller] ??= { x: root.x, y: root.y, light: 0 });
      dot.toX = leaf.x + ((i % used) - (inRow - 1) / 2) * pitch;
      dot.toY = crownBottom - row * pitch;
      dot.active = caller < load.callers;
      dot.leaf = leaf;
    });
    leaf.left = leaf.x - (used * pitch) / 2;
    leaf.right = leaf.x + (used * pitch) / 2;
    x += width + gap;
  }
  const fastest = Math.max(1, ...seen.rates);
  dots.length = total;
  dots.forEach((dot, i) => { dot.toLight = dot.active ? 0.45 + (0.55 * seen.rates[i]) / fastest : 0; });

  // The words: the root, and those of the groups.
  for (const word of words.values()) word.leaving = true;
  const place = (key, at) => {
    const word = words.get(key) ?? { x: root.x, y: root.y, heat: 0, alpha: 0, radius: 2 };
    words.set(key, Object.assign(word, { children: [], members: [], label: "" }, at, { leaving: false }));
    return word;
  };
  const rootWord = place("root", {
    toX: root.x, toY: root.y, toHeat: heatOf(seen.root), toRadius: 15, root: true,
  });
  const stem = 0.24 * (root.y - crownBottom);
  let above = leaves;
  let parents = null;
  for (let level = 0; level < levels; level++) {
    const groupSize = seen.groups_of[level];
    const seenAt = new Map(seen.levels[level].map((group) => [group.first, group]));
    const toY = root.y - ((root.y - crownBottom - stem) * (levels - level)) / levels;
    const made = new Map();
    for (const child of above) {
      const first = Math.floor(child.first / groupSize) * groupSize;
      const all = level === 0 ? bundledHeat(seenAt, child, groupSize, bundle) : seenAt.get(first);
      const key = `${groupSize}:${level === 0 ? child.first : first}`;
      if (!made.has(key)) made.set(key, { first, children: [], heat: all?.heat, callers: all?.callers ?? 0 });
      made.get(key).children.push(child);
    }
    parents = [];
    for (const [key, group] of made) {
      const toX = group.children.reduce((sum, child) => sum + (child.x ?? child.toX), 0) / group.children.length;
      const word = place(key, {
        toX, toY, toHeat: group.heat ? heatOf(group.heat) : 0, callers: group.callers,
        toRadius: Math.max(3, Math.min(level === 0 ? 12 : 14, (width / made.size) * 0.22)),
      });
      word.first = group.first;
      if (level === 0) word.members = group.children;
      else word.children = group.children;
      parents.push(word);
    }
    above = parents;
  }
  if (parents === null) rootWord.members = leaves;
  else rootWord.children = parents;
  rootWord.label = "root";
  rootWord.detail = `${about.simulated || levels === 0 ? "" : "about "}${large(seen.root.visits_per_second)} visits a second`;
  canvas.setAttribute("aria-label", `${state.words.headline} ${state.words.why}`);
}

// The heat of groups that are drawn as one.
function bundledHeat(seenAt, leaf, groupSize, bundle) {
  let most;
  let callers = 0;
  for (let i = 0; i < bundle; i++) {
    const group = seenAt.get(leaf.first + i * groupSize);
    callers += group?.callers ?? 0;
    if (group && (most === undefined || group.heat.waiting > most.waiting)) most = group.heat;
  }
  return { heat: most, callers };
}

function resize() {
  const box = canvas.getBoundingClientRect();
  const scale = Math.min(devicePixelRatio || 1, 2.5);
  canvas.width = Math.round(box.width * scale);
  canvas.height = Math.round(box.height * scale);
  paint.setTransform(scale, 0, 0, scale, 0, 0);
  area.width = box.width;
  area.height = box.height;
  layout();
}

let lastFrame = 0;

function frame(now) {
  const seconds = Math.min(0.1, (now - lastFrame) / 1000);
  lastFrame = now;
  const ease = calm.matches ? 1 : 1 - Math.exp(-5 * seconds);
  for (const dot of dots) {
    dot.x += (dot.toX - dot.x) * ease;
    dot.y += (dot.toY - dot.y) * ease;
    dot.light += (dot.toLight - dot.light) * ease;
  }
  const root = words.get("root");
  for (const [key, word] of words) {
    if (word.leaving && root) Object.assign(word, { toX: root.x, toY: root.y });
    word.x += (word.toX - word.x) * ease;
    word.y += (word.toY - word.y) * ease;
    word.heat += (word.toHeat - word.heat) * ease;
    word.radius += (word.toRadius - word.radius) * ease;
    word.alpha += ((word.leaving ? 0 : 1) - word.alpha) * ease;
    if (word.leaving && word.alpha < 0.03) words.delete(key);
  }
  if (!calm.matches) fly(seconds);
  draw();
  requestAnimationFrame(frame);
}

function draw() {
  paint.clearRect(0, 0, area.width, area.height);
  const all = [...words.values()];
  for (const word of all) {
    for (const leaf of word.members) fan(word, leaf);
    for (const child of word.children) branch(word, child);
  }
  for (const dot of dots) {
    paint.beginPath();
    paint.arc(dot.x, dot.y, area.dot, 0, 7);
    if (dot.light > 0.05) {
      paint.fillStyle = css(mix(colours.idle, colours.dot, dot.light), 1);
      paint.fill();
    } else {
      paint.strokeStyle = css(colours.idle);
      paint.lineWidth = 1;
      paint.stroke();
    }
  }
  for (const spark of sparks) {
    paint.beginPath();
    paint.arc(spark.x, spark.y, spark.radius, 0, 7);
    paint.fillStyle = css(colours.warm, 0.9);
    paint.fill();
  }
  // The hottest last, on top.
  all.sort((a, b) => a.heat - b.heat).forEach(glow);
}

// Lines from a word to all its callers.
function fan(word, leaf) {
  if (leaf.callers.length === 0) return;
  const bottom = dots[leaf.callers[0]];
  if (bottom === undefined) return;
  const shift = bottom.y - bottom.toY;
  const edge = bottom.toY + shift + area.dot + 3;
  const active = leaf.callers.some((caller) => dots[caller]?.active);
  const colour = active ? heatRgb(word.heat) : colours.idle;
  const fill = paint.createLinearGradient(0, word.y, 0, edge);
  fill.addColorStop(0, css(colour, 0.34 * word.alpha));
  fill.addColorStop(1, css(colour, 0.07 * word.alpha));
  const middle = (word.y + edge) / 2;
  paint.beginPath();
  paint.moveTo(word.x - 1, word.y);
  paint.bezierCurveTo(word.x, middle, leaf.left, middle, leaf.left, edge);
  paint.lineTo(leaf.right, edge);
  paint.bezierCurveTo(leaf.right, middle, word.x, middle, word.x + 1, word.y);
  paint.fillStyle = fill;
  paint.fill();
}

function branch(word, child) {
  const middle = (word.y + child.y) / 2;
  paint.beginPath();
  paint.moveTo(word.x, word.y);
  paint.bezierCurveTo(word.x, middle, child.x, middle, child.x, child.y);
  const colour = child.callers > 0 ? heatRgb(Math.max(word.heat, child.heat)) : colours.idle;
  paint.strokeStyle = css(colour, 0.65 * Math.min(word.alpha, child.alpha));
  paint.lineWidth = Math.max(1, Math.min(5, 0.6 * Math.sqrt(child.callers || 1)));
  paint.stroke();
}

function glow(word) {
  const { x, y, radius, heat, alpha } = word;
  if (heat > 0.06) {
    const reach = radius * (1.6 + 3.2 * heat);
    const light = paint.createRadialGradient(x, y, radius * 0.5, x, y, reach);
    light.addColorStop(0, heatColour(heat, 0.6 * heat * alpha));
    light.addColorStop(1, heatColour(heat, 0));
    paint.fillStyle = light;
    paint.beginPath();
    paint.arc(x, y, reach, 0, 7);
    paint.fill();
  }
  paint.beginPath();
  if (word.root) paint.roundRect(x - radius * 1.7, y - radius * 0.8, radius * 3.4, radius * 1.6, radius * 0.5);
  else paint.arc(x, y, radius, 0, 7);
  paint.fillStyle = heatColour(heat, alpha);
  paint.fill();
  if (!word.root && radius > 8.5 && word.callers > 0) {
    paint.fillStyle = css([255, 255, 255], alpha);
    paint.font = `600 ${radius > 10 ? 11 : 9}px system-ui, sans-serif`;
    paint.textAlign = "center";
    paint.textBaseline = "middle";
    paint.fillText(String(word.callers), x, y + 0.5);
  }
  if (word.label) {
    paint.fillStyle = "#fff";
    paint.font = "600 13px system-ui, sans-serif";
    paint.textAlign = "center";
    paint.textBaseline = "middle";
    paint.fillText(word.label, x, y + 0.5);
    paint.fillStyle = css(colours.soft);
    paint.font = "12px system-ui, sans-serif";
    paint.fillText(word.detail ?? "", x, y + radius + 12);
  }
}

// ---- numbers on their way from the root to the callers

let owed = 0;

function fly(seconds) {
  const root = words.get("root");
  const live = $("status").dataset.state === "live";
  if (live && root !== undefined && state.seen.per_second > 0) {
    const active = dots.filter((dot) => dot.active);
    const rate = Math.min(36, 4 + 5 * Math.log10(1 + state.seen.per_second / 1e5) + active.length / 12);
    owed = Math.min(4, owed + seconds * rate / Math.sqrt(Math.max(1, state.seen.batch)));
    while (owed >= 1 && active.length > 0 && sparks.length < 160) {
      owed -= 1;
      launch(root, active[Math.floor(Math.random() * active.length)]);
    }
  }
  sparks = sparks.filter((spark) => move(spark, seconds));
}

// One number for a whole group, which splits there.
function launch(root, dot) {
  const path = [];
  for (let word = root; word !== undefined;) {
    path.push(word);
    word = word.children.find((child) => holds(child, dot));
  }
  const many = path.length > 1 ? Math.max(1, Math.min(8, Math.round(state.seen.batch))) : 1;
  sparks.push({ path: [...path, dot], step: 0, part: 0, x: root.x, y: root.y, many,
    radius: Math.min(5, 1.7 * Math.sqrt(many)) });
}

const holds = (word, dot) =>
  word.members.includes(dot.leaf) || word.children.some((child) => holds(child, dot));

function move(spark, seconds) {
  const [from, to] = [spark.path[spark.step], spark.path[spark.step + 1]];
  spark.part += seconds * (spark.path.length > 2 ? 2.4 : 1.6);
  const t = Math.min(1, spark.part);
  const soft = t * t * (3 - 2 * t);
  spark.x = from.x + (to.x - from.x) * soft;
  spark.y = from.y + (to.y - from.y) * t;
  if (t < 1) return true;
  spark.step += 1;
  spark.part = 0;
  const last = spark.step === spark.path.length - 2;
  if (last && spark.many > 1) {
    const company = spark.path.at(-1).leaf.callers.map((caller) => dots[caller]);
    const others = company.filter((dot) => dot?.active);
    for (let i = 1; i < spark.many && others.length > 0; i++) {
      const other = others[Math.floor(Math.random() * others.length)];
      sparks.push({ path: [to, other], step: 0, part: 0, x: to.x, y: to.y, many: 1, radius: 1.7 });
    }
    spark.many = 1;
    spark.radius = 1.7;
  }
  return spark.step < spark.path.length - 1;
}

readColours();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
new ResizeObserver(resize).observe(canvas);
requestAnimationFrame(frame);
