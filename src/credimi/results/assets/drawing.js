// Elements made of text, never of markup; numbers as they are shown; scales.
"use strict";

const SIGNS = { keep: "●", unsure: "◐", drop: "○", "not ranked": "–" };
const SVG = document.querySelector("svg").namespaceURI; // a name that looks like an address; the page holds none

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.setAttribute("class", value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value);
  }
  for (const child of children) element.append(child); // a string becomes a text node
  return element;
}

function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function isolated(text) { // right-to-left text does not reorder what stands beside it
  return make("bdi", {}, text);
}

function digits(value) {
  if (value === null || Number.isNaN(value)) return "";
  return Math.abs(value) < 0.00005 ? "0.0000" : value.toFixed(4);
}

function probability(value, certain = false) {
  if (Number.isNaN(value)) return "";
  if (!certain && value > 0.9999) return "> 0.9999";
  if (!certain && value < 0.0001) return "< 0.0001";
  return value.toFixed(4);
}

function whole(value) {
  return value.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

function short(value) {
  return String(Number(value.toPrecision(4)));
}

function clipped(text, longest) { // in the middle: what tells long names apart is often at the end
  const letters = Array.from(text.slice(0, 4 * longest + 400)), kept = Math.max(longest - 1, 2);
  if (text.length <= longest || letters.length <= longest) return text;
  const end = Array.from(text.slice(-2 * kept)).slice(-Math.floor(kept / 2));
  return `${letters.slice(0, Math.ceil(kept / 2)).join("")}…${end.join("")}`;
}

function clippedAt(text, start, longest) { // a little of the beginning, and what follows from a place on
  const head = text.slice(0, Math.min(start, Math.floor(longest / 3))), room = Math.max(longest - head.length - 2, 1);
  const from = Math.max(Math.min(start, text.length - room), head.length), end = from + room < text.length ? "…" : "";
  return `${head}${from > head.length ? "…" : ""}${text.slice(from, from + room)}${end}`;
}

function firstDifference(names) {
  let place = 0;
  while (place < names[0].length && names.every((name) => name[place] === names[0][place])) place += 1;
  return place;
}

function counted(value, one) { // 1 row, 2 rows
  return `${whole(value)} ${one}${value === 1 ? "" : "s"}`;
}

// A function from nats to percent of the width.
function scaleOf(least, most, root) {
  const bend = (value) => (root ? Math.sign(value) * Math.sqrt(Math.abs(value)) : value);
  const from = bend(least), to = bend(most) > from ? bend(most) : from + 1;
  return (value) => Math.min(Math.max((100 * (bend(value) - from)) / (to - from), 0), 100);
}

// Round numbers between two, a few of them.
function ticks(least, most, wanted = 5) {
  const rough = (most - least) / wanted;
  if (!(rough > 0)) return [least];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let place = Math.ceil(least / step); place * step <= most; place += 1) {
    found.push(Number((place * step).toPrecision(12)));
  }
  return found;
}

// Round numbers that stand about evenly on a scale of square roots.
function rootTicks(least, most, wanted = 5) {
  const far = Math.max(most, -least), found = new Set([0]);
  for (let place = 1; place <= wanted; place += 1) {
    const aimed = far * (place / wanted) ** 2, power = 10 ** Math.floor(Math.log10(aimed));
    const near = [1, 2, 5, 10].map((each) => each * power).reduce((best, each) => (
      Math.abs(Math.log(each / aimed)) < Math.abs(Math.log(best / aimed)) ? each : best));
    for (const value of [near, -near]) if (value >= least && value <= most) found.add(Number(value.toPrecision(12)));
  }
  return [...found].sort((one, other) => one - other);
}

// The atom at 0, if it is large enough to be seen.
function visibleAtom(laws, feature) {
  return laws.zero[feature] >= 1e-4 ? laws.zero[feature] : 0;
}

// The posterior density, the atom at 0 as a stem, what exceeds epsilon filled.
function densityPicture(laws, feature, ends, epsilon) {
  const [width, height, left, bottom, top] = [440, 170, 8, 26, 16];
  const atom = visibleAtom(laws, feature);
  const most = Math.max(quantile(laws, feature, 0.0005), ends[1], 1e-9) * 1.04;
  const least = Math.min(quantile(laws, feature, 0.9995), 0);
  const at = scaleOf(least, most, false);
  const x = (value) => left + ((width - 2 * left) * at(value)) / 100;
  const points = [];
  for (let step = 0; step <= 240; step += 1) {
    const value = least + ((most - least) * (step + 0.5)) / 241;
    points.push([value, density(laws, feature, value)]);
  }
  const finite = points.filter(([value]) => value > most * 0.004 || atom === 0).map((point) => point[1]);
  const peak = Math.max(...finite, 1e-300), floor = height - bottom;
  const y = (value) => floor - (floor - top) * Math.min(value / peak, 1);
  const line = (chosen) => chosen.map(([value, d]) => `${x(value).toFixed(1)},${y(d).toFixed(1)}`).join(" ");
  const picture = draw("svg", {
    viewBox: `0 0 ${width} ${height}`, role: "img", class: "density",
    "aria-label": `Posterior density of I; interval ${digits(ends[0])} to ${digits(ends[1])} nats`,
  });
  const beyond = points.filter(([value]) => value >= epsilon);
  if (beyond.length) {
    const first = x(Math.max(epsilon, least)).toFixed(1);
    picture.append(draw("polygon", { class: "beyond", points: `${first},${floor} ${line(beyond)} ${x(most).toFixed(1)},${floor}` }));
  }
  picture.append(draw("polyline", { class: "curve", points: line(points) }));
  if (atom > 0) {
    const stem = floor - (floor - top) * Math.min(atom, 1);
    picture.append(draw("line", { class: "stem", x1: x(0), x2: x(0), y1: floor, y2: stem }));
    picture.append(draw("circle", { class: "stem-head", cx: x(0), cy: stem, r: 4 }));
  }
  picture.append(draw("line", { class: "base", x1: left, x2: width - left, y1: floor, y2: floor }));
  picture.append(draw("line", { class: "range", x1: x(ends[0]), x2: x(ends[1]), y1: floor, y2: floor }));
  if (epsilon <= most) {
    picture.append(draw("line", { class: "epsilon-line", x1: x(epsilon), x2: x(epsilon), y1: top - 10, y2: floor }));
    picture.append(draw("text", { x: x(epsilon) + 4, y: top - 4 }, "ε"));
  }
  for (const tick of ticks(least, most, 4)) {
    picture.append(draw("text", { x: x(tick), y: height - 8, "text-anchor": at(tick) < 3 ? "start" : at(tick) > 95 ? "end" : "middle" }, String(tick)));
  }
  return picture;
}
