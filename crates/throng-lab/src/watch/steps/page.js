"use strict";
// The page of a structure: asks for a run, then for the frames of its steps, and moves the tokens from one to the next.
// What is shown is in the address, so the address can be sent to others.

// Steps a second, by the position of the slider.
const SPEEDS = [0.5, 1, 2, 4, 8, 16, 30];
const TIMEOUT_MS = 5000;
const FRAMES_KEPT = 200;

const $ = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

let run = null;
let step = 0;
let playing = null;
let frames = new Map();
// The number of the last question: an answer to an earlier one comes too late.
let asked = 0;

async function fetched(path) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
  try {
    const answer = await fetch(path, { cache: "no-store", signal: abort.signal });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return await answer.json();
  } finally {
    clearTimeout(timer);
  }
}

function refuse(error) {
  $("refused").hidden = error === null;
  const gone = error instanceof TypeError || error?.name === "AbortError";
  $("refused").textContent = error === null ? "" : gone ? "The server is gone." : error.message;
  if (error !== null) pause();
}

// ---- the run

async function load(query) {
  pause();
  const question = ++asked;
  try {
    const found = await fetched(`/run?${query}`);
    if (question !== asked) return;
    run = found;
    frames = new Map();
    step = run.step;
    refuse(null);
    renderRun();
    await go(step);
  } catch (error) {
    refuse(error);
  }
}

function renderRun() {
  document.title = `${run.name}, throng watch`;
  $("name").textContent = run.name;
  const unit = run.kind === "barrier" ? "rounds" : "calls each";
  $("about").textContent =
    `${run.summary} (${run.paper}); ${run.processors} processors of the simulated machine ${run.machine}, ${run.calls} ${unit}`
    + (run.is_cut ? "; the recording ends before they do" : "");
  const list = $("structure");
  if (list.children.length === 0) {
    for (const [kind, label] of [["counter", "Counters"], ["barrier", "Barriers"]]) {
      const group = document.createElement("optgroup");
      group.label = label;
      for (const name of run[`${kind}s`]) group.append(new Option(name, `${kind}=${name}`));
      list.append(group);
    }
  }
  list.value = `${run.kind}=${run.name}`;
  $("processors").max = run.processors_max;
  $("processors").value = run.processors;
  $("seed").value = run.seed;
  $("step").max = run.last;
  $("event").disabled = run.events.length === 0;
}

function choose() {
  const machine = run === null ? "" : `&${run.address.match(/machine=[^&]*/)[0]}`;
  const seed = encodeURIComponent($("seed").value.trim());
  const same = run !== null && $("structure").value === `${run.kind}=${run.name}`;
  const calls = same ? `&calls=${run.calls}` : "";
  load(`${$("structure").value}&seed=${seed}&processors=${$("processors").value}${calls}${machine}&step=0`);
}

// ---- frames

function frame(number) {
  if (!frames.has(number)) {
    const coming = fetched(`/frame?${run.address}&step=${number}`);
    coming.catch(() => frames.delete(number));
    frames.set(number, coming);
    if (frames.size > FRAMES_KEPT) frames.delete(frames.keys().next().value);
  }
  return frames.get(number);
}

async function go(number) {
  if (run === null) return;
  const before = step;
  step = Math.max(0, Math.min(run.last, number));
  $("step").value = step;
  const question = ++asked;
  try {
    const found = await frame(step);
    if (question !== asked) return;
    show(found, Math.abs(step - before) === 1);
    refuse(null);
    if (step < run.last) frame(step + 1).catch(() => {});
  } catch (error) {
    if (question === asked) refuse(error);
  }
}

function show(found, moves) {
  const parsed = new DOMParser().parseFromString(found.svg, "image/svg+xml").documentElement;
  const old = new Map();
  for (const token of $("drawing").querySelectorAll(".token")) {
    old.set(token.dataset.processor, getComputedStyle(token).transform);
  }
  const fresh = document.importNode(parsed, true);
  $("drawing").replaceChildren(fresh);
  const duration = Math.min(350, 800 / SPEEDS[Number($("speed").value)]);
  if (moves && !calm.matches) {
    for (const token of fresh.querySelectorAll(".token")) {
      const from = old.get(token.dataset.processor);
      const to = getComputedStyle(token).transform;
      if (from !== undefined && from !== to) {
        token.animate([{ transform: from }, { transform: to }], { duration, easing: "ease-out" });
      }
    }
  }
  $("sentence").textContent = found.sentence;
  $("where").textContent = `step ${found.step} of ${run.last}, cycle ${found.cycle}`;
  const address = `${run.address}&step=${found.step}`;
  history.replaceState(null, "", `/?${address}`);
  $("still").href = `/still.svg?${address}`;
  $("still").download = `${run.name}-${run.seed}-${found.step}.svg`;
}

// ---- the player

function pause() {
  if (playing !== null) clearTimeout(playing);
  playing = null;
  $("play").textContent = "▶";
  $("play").setAttribute("aria-label", "Play");
}

async function tick() {
  const started = performance.now();
  await go(step + 1);
  if (playing === null) return;
  if (step >= run.last) return pause();
  const pauseMs = 1000 / SPEEDS[Number($("speed").value)] - (performance.now() - started);
  playing = setTimeout(tick, Math.max(0, pauseMs));
}

function play() {
  if (run === null) return;
  if (playing !== null) return pause();
  if (step >= run.last) step = -1;
  $("play").textContent = "❚❚";
  $("play").setAttribute("aria-label", "Pause");
  playing = setTimeout(tick, 0);
}

function by(change) {
  pause();
  go(step + change);
}

function nextEvent() {
  pause();
  if (run !== null) go(run.events.find((event) => event > step) ?? run.events[0] ?? step);
}

$("first").addEventListener("click", () => { pause(); go(0); });
$("back").addEventListener("click", () => by(-1));
$("forth").addEventListener("click", () => by(1));
$("play").addEventListener("click", play);
$("event").addEventListener("click", nextEvent);
$("step").addEventListener("input", () => { pause(); go(Number($("step").value)); });
$("another").addEventListener("click", () => {
  $("seed").value = String((BigInt(run?.seed ?? 0) + 1n) % (1n << 64n));
  choose();
});
for (const id of ["structure", "processors", "seed"]) $(id).addEventListener("change", choose);
addEventListener("keydown", (event) => {
  if (event.target.matches("input[type=text], input[type=number], select")) return;
  const keys = { ArrowLeft: () => by(-1), ArrowRight: () => by(1), " ": play, Home: () => by(-step), n: nextEvent, N: nextEvent };
  const action = keys[event.key];
  if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
});

load(location.search.slice(1));
