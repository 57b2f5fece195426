// Shared by all parts: elements, numbers, and the box that shows numbers at the pointer.

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element of HTML. Text is set as text, so that it never becomes code. */
function element(name, attributes = {}, ...children) {
  return dressed(document.createElement(name), attributes, children);
}

/** Makes an element of a drawing. */
function drawn(name, attributes = {}, ...children) {
  return dressed(document.createElementNS(SVG, name), attributes, children);
}

function dressed(it, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) it.setAttribute(name, value);
  it.append(...children);
  return it;
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** Formats a whole number with blanks between groups of digits. */
const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, " ");

/** Formats a number with about three digits, as everywhere in the lab. */
function short(number) {
  if (!isNumber(number)) return "–";
  const size = Math.abs(number);
  if (size >= 99.95 || Number.isInteger(size)) return (number < 0 ? "-" : "") + grouped(Math.round(size));
  if (size >= 9.995) return number.toFixed(1);
  if (size >= 0.0995) return number.toFixed(2);
  if (size >= 0.00095) return number.toFixed(4);
  return number.toExponential(2);
}

/** Formats a count as in "1 thread", "16 threads". */
const counted = (number, what) => `${grouped(number)} ${what}${number === 1 ? "" : "s"}`;

const UNITS = {
  "million-per-second": { words: "million a second", more: true },
  "nanoseconds-a-round": { words: "nanoseconds a round", more: false },
  "microseconds-a-loop": { words: "microseconds a loop", more: false },
};

const unitOf = (need) => UNITS[need.unit] || { words: String(need.unit), more: true };

const tip = document.getElementById("tip");

/**
 * Shows lines of text beside a point of the window, below a title and perhaps what to write in a program. On a
 * narrow screen they stand below `under` instead, where they cover nothing that is looked at.
 */
function showTip({ x, y, under }, title, lines, code = "") {
  tip.replaceChildren(element("b", {}, title), ...lines.map((line) => element("span", {}, line)));
  if (code) tip.firstChild.after(element("code", {}, code));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const left = x + 14 + width > room ? x - 14 - width : x + 14;
  const beside = y - height - 12 < 0 ? y + 16 : y - height - 12;
  const top = room < 620 && under ? under + 6 : beside;
  // Positioned relative to the page, not to the window.
  tip.style.left = `${scrollX + Math.max(4, Math.min(left, room - width - 4))}px`;
  tip.style.top = `${scrollY + top}px`;
}

function hideTip() {
  tip.hidden = true;
}

