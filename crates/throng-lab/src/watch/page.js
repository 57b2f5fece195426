"use strict";
// The page of `throng watch`: asks for the state a few times a second and shows it; tree.js draws the counter.

const POLL_MS = 200;
const RETRY_MS = 1000;
const TIMEOUT_MS = 3000;
// Time in which a slider that was just moved ignores what other viewers set.
const OWN_MS = 1200;
const MINUTE_MS = 60_000;

const $ = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const say = (id, text) => {
  const element = $(id);
  if (element.textContent !== text) element.textContent = text;
};
const show = (id, visible) => { $(id).hidden = !visible; };

// ---- formatting numbers

const digits = (n) => (n >= 99.5 || (n >= 9.95 && n % 1 < 0.05) || n === Math.trunc(n)
  ? Math.round(n).toString() : n.toFixed(1));

function large(n) {
  if (n >= 999.5e6) return `${digits(n / 1e9)} billion`;
  if (n >= 999.5e3) return `${digits(n / 1e6)} million`;
  if (n >= 9950) return `${digits(n / 1e3)} thousand`;
  return digits(n);
}

const grouped = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");

function microseconds(us) {
  if (us >= 1e6) return `${digits(us / 1e6)} s`;
  if (us >= 1000) return `${digits(us / 1000)} ms`;
  return `${digits(us)} µs`;
}

// ---- talking to the server

let state = null;

async function fetched(path, options = {}) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
  try {
    const answer = await fetch(path, { ...options, cache: "no-store", signal: abort.signal });
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  } finally {
    clearTimeout(timer);
  }
}

function setStatus(kind, text) {
  $("status").dataset.state = kind;
  say("status", text);
  document.body.classList.toggle("gone", kind === "gone");
}

async function poll() {
  let next = POLL_MS;
  try {
    const answer = await fetched("/state");
    if (!answer.ok) throw new Error(answer.text);
    state = JSON.parse(answer.text);
    setStatus("live", "live");
    render();
  } catch {
    setStatus("gone", "the server is gone; trying again");
    next = RETRY_MS;
  }
  setTimeout(poll, next);
}

// ---- the sliders

const moved = new Map();
let unsent = {};
let sending = false;

async function send() {
  if (sending) return;
  sending = true;
  while (Object.keys(unsent).length > 0) {
    const body = JSON.stringify(unsent);
    unsent = {};
    try {
      const headers = { "Content-Type": "application/json" };
      const answer = await fetched("/load", { method: "POST", headers, body });
      show("refused", !answer.ok);
      say("refused", answer.ok ? "" : answer.text);
    } catch {
      // The status says that the server is gone.
    }
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  sending = false;
}

// Conversions between slider and value: work and pace grow by factors.
const workOf = (position) => (position <= 0 ? 0
  : Math.round(10 ** (1 + (position / 100) * (Math.log10(state.about.work_ns_max) - 1))));
const workAt = (ns) => (ns <= 10 ? (ns > 0 ? 1 : 0)
  : Math.round((100 * (Math.log10(ns) - 1)) / (Math.log10(state.about.work_ns_max) - 1)));
const PACE = [4, 8];
const paceOf = (position) => (position >= 100 ? state.about.pace_cycles_max
  : Math.round(10 ** (PACE[0] + (position / 100) * (PACE[1] - PACE[0]))));
const paceAt = (cycles) =>
  Math.min(100, Math.round((100 * (Math.log10(cycles) - PACE[0])) / (PACE[1] - PACE[0])));

const sliders = {
  callers: {
    name: () => state.about.callers, of: (position) => position, at: (value) => value,
    now: () => state.load.callers, text: (value) => grouped(value),
  },
  work: {
    name: () => "work_ns", of: workOf, at: workAt, now: () => state.load.work_ns,
    text: (ns) => (ns === 0 ? "none" : ns < 1000 ? `${ns} ns` : `${digits(ns / 1000)} µs`),
  },
  pace: {
    name: () => "pace_cycles", of: paceOf, at: paceAt, now: () => state.load.pace_cycles,
    text: (cycles) => (cycles >= state.about.pace_cycles_max ? "unlimited"
      : microseconds(cycles / state.about.clock_mhz)),
  },
};

for (const [id, slider] of Object.entries(sliders)) {
  $(id).addEventListener("input", () => {
    if (state === null) return;
    const value = slider.of(Number($(id).value));
    moved.set(id, performance.now());
    say(`${id}-number`, slider.text(value));
    unsent[slider.name()] = value;
    send();
  });
}

function renderSliders() {
  const { about } = state;
  say("callers-label", about.simulated ? "Processors that take numbers" : "Threads that take numbers");
  $("callers").max = about.callers_max;
  show("pace", about.simulated);
  show("pace-label", about.simulated);
  for (const [id, slider] of Object.entries(sliders)) {
    const input = $(id);
    input.disabled = false;
    if (id === "pace" && !about.simulated) continue;
    const own = performance.now() - (moved.get(id) ?? -Infinity) < OWN_MS;
    if (own) continue;
    const value = slider.now();
    if (Number(input.value) !== slider.at(value)) input.value = slider.at(value);
    say(`${id}-number`, slider.text(value));
  }
}

// ---- words and numbers

function render() {
  const { about, seen, words, load } = state;
  const size = about.simulated ? `, ${about.callers_max} processors, simulated` : "";
  say("machine", about.simulated ? `${about.name}${size}: ${about.about}` : about.about);
  say("headline", words.headline);
  say("why", words.why);
  show("try", words.try_this !== null);
  say("try-command", words.try_this ?? "");
  renderSliders();
  say("throughput-now", large(seen.per_second));
  const depth = seen.groups_of.length;
  say("depth-now", depth === 0 ? "one word"
    : depth === 1 ? `groups of ${seen.groups_of[0]}` : `of ${seen.groups_of.join(", of ")}`);
  say("handed-out", grouped(seen.handed_out));
  say("changes", grouped(seen.changes));
  say("moves", grouped(seen.moves));
  say("batch", (seen.estimated && depth > 0 ? "about " : "") + large(seen.batch));
  for (const id of ["cycles-label", "cycles-now", "pace-now-label", "pace-now"]) {
    show(id, about.simulated && seen.pace !== null);
  }
  if (seen.pace !== null) {
    say("cycles-now", grouped(seen.per_million_cycles ?? 0));
    const slow = seen.pace.held_up && load.callers > 0 ? ", at full speed" : "";
    say("pace-now", microseconds(seen.pace.simulated_us_per_second) + slow);
  }
  say("legend-dots", about.simulated ? "dots: processors; hollow: idle"
    : "dots: threads; hollow: parked");
  renderHottest();
  const { at_ms: times, per_second: rates, depth: depths, callers } = state.past;
  const shade = { values: callers, most: about.callers_max };
  chart($("throughput-chart"), { now: state.at_ms, times, values: rates, shade });
  chart($("depth-chart"), { now: state.at_ms, times, values: depths, steps: true, least: 2 });
  layout();
}

function renderHottest() {
  const { seen, load } = state;
  let words = seen.hottest;
  if (seen.estimated) {
    // On a real machine the words of groups are estimated.
    const groups = seen.levels.flatMap((level, i) => level.map((group) => ({
      name: `group of ${seen.groups_of[i]}, from core ${group.first}`, heat: group.heat,
    })));
    words = [{ name: "root", heat: seen.root }, ...groups];
    words.sort((a, b) => b.heat.waiting - a.heat.waiting);
    words = words.slice(0, 6);
  }
  const list = $("hottest");
  while (list.children.length > words.length) list.lastChild.remove();
  words.forEach((word, i) => {
    let item = list.children[i];
    if (item === undefined) {
      item = document.createElement("li");
      item.append(...["span", "span", "i"].map((name) => document.createElement(name)));
      list.append(item);
    }
    const [name, waiting, bar] = item.children;
    const text = word.heat.waiting >= 0.05 ? `${digits(word.heat.waiting)} in line` : "no queue";
    if (name.textContent !== word.name) name.textContent = word.name;
    if (waiting.textContent !== text) waiting.textContent = text;
    bar.style.width = `${Math.min(100, (100 * word.heat.waiting) / Math.max(1, load.callers))}%`;
    bar.style.background = heatColour(heatOf(word.heat));
  });
  say("hottest-note", seen.estimated
    ? "mean length of the queue at each word, estimated from calls and cores"
    : "mean length of the queue at each word, as counted by the simulator; open batch: a group's word");
}

// ---- charts

const SVG = "http://www.w3.org/2000/svg";

function nice(most) {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((n) => n * power).find((n) => n >= most) ?? most;
}

function chart(svg, { now, times, values, shade, steps = false, least = 1 }) {
  const width = svg.clientWidth || 300;
  const height = svg.clientHeight || 100;
  const top = steps ? Math.max(least, ...values) : nice(Math.max(least, ...values) * 1.02);
  const x = (time) => width * (1 - (now - time) / MINUTE_MS);
  const y = (value, most = top) => height - 1 - (height - 14) * (value / most);
  const path = (list, most, stepped) => list.map((value, i) => {
    const point = `${x(times[i]).toFixed(1)},${y(value, most).toFixed(1)}`;
    return i === 0 ? `M${point}` : stepped ? `H${x(times[i]).toFixed(1)}V${y(value, most).toFixed(1)}`
      : `L${point}`;
  }).join("");
  const closed = (d) => (times.length === 0 ? ""
    : `${d}V${height - 1}H${x(times[0]).toFixed(1)}Z`);
  const line = path(values, top, steps);
  const parts = [["path", { class: "grid", d: `M0,${y(0)}H${width}M0,${y(top)}H${width}` }]];
  if (steps) {
    for (let i = 1; i < top; i++) parts.push(["path", { class: "grid", d: `M0,${y(i)}H${width}` }]);
  }
  if (shade) parts.push(["path", { class: "shade", d: closed(path(shade.values, shade.most, true)) }]);
  parts.push(["path", { class: "area", d: closed(line) }], ["path", { class: "line", d: line }]);
  parts.push(["text", { x: 0, y: y(top) - 3 }, steps ? String(top) : large(top)]);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  while (svg.children.length > parts.length) svg.lastChild.remove();
  parts.forEach(([name, attributes, text], i) => {
    let element = svg.children[i];
    if (element?.tagName !== name) {
      const fresh = document.createElementNS(SVG, name);
      if (element === undefined) svg.append(fresh); else element.replaceWith(fresh);
      element = fresh;
    }
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
  });
}

// When tree.js is loaded, too.
addEventListener("DOMContentLoaded", poll);
