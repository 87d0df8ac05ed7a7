// The page of a network, or of pairs: the graph that readers move and click, the matrix, the list, and what is known of a choice.
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const place = (id) => document.getElementById(id);
const FIELDS = ["a", "b", "probability", "mi", "low", "high", "forward", "backward", "separated", "direction", "given", "rows", "share", "depends"];
const pairs = report.pairs.map((values, number) => Object.assign(Object.fromEntries(FIELDS.map((name, at) => [name, values[at]])), { number }));
const where = report.places.map((each) => [...each]);
const names = report.columns.map((name) => name || "(no name)");
const { words, direct } = report; // whether edges are direct: those of a network, which may have directions
const MANY = 150; // columns, from which on a graph is a tangle
const FEW = 70; // columns whose names are all written
const state = { level: report.level, view: "graph", chosen: null, at: null, box: null, cell: [1, 0] };
const most = Math.max(...pairs.map((pair) => pair.mi), 1e-9);
const graph = place("graph");
const nodes = [], edges = new Map();
let order = null, cellSize = { size: 1, margin: 0 };

const shown = (pair) => pair.probability >= state.level;
const ends = (pair) => (pair.direction === "<-" ? [pair.b, pair.a] : [pair.a, pair.b]);
const small = names.length > FEW ? 0.5 : 1;
const width = (pair) => small * (1 + 9 * small * Math.sqrt(pair.mi / most));

function radius(column) { return small * (nodes[column].degree > 4 ? 7 : 5); }

function placeEdge(pair) {
  const parts = edges.get(pair.number), [from, to] = ends(pair), [x1, y1] = where[from], [x2, y2] = where[to];
  const length = Math.hypot(x2 - x1, y2 - y1) || 1, [along, across] = [(x2 - x1) / length, (y2 - y1) / length];
  // A head is wider than its line, and the line ends inside it.
  const size = parts.head ? Math.min(8 * small + 1.6 * width(pair), length / 2) : 0, half = 0.3 * size + 0.5 * width(pair);
  const gap = radius(to) + 2, trim = parts.head ? (gap + 0.8 * size) / length : 0;
  if (parts.head) {
    const [tipX, tipY] = [x2 - along * gap, y2 - across * gap], [endX, endY] = [tipX - along * size, tipY - across * size];
    parts.head.setAttribute("d", `M${tipX} ${tipY} L${endX - across * half} ${endY + along * half} L${endX + across * half} ${endY - along * half}z`);
  }
  for (const line of parts.lines) {
    line.setAttribute("x1", x1); line.setAttribute("y1", y1);
    line.setAttribute("x2", x2 - (x2 - x1) * trim); line.setAttribute("y2", y2 - (y2 - y1) * trim);
  }
}

function placeNode(column) {
  const [x, y] = where[column];
  nodes[column].group.setAttribute("transform", `translate(${x} ${y})`);
}

// Edges come and go with the level; only those that are new are made.
function drawEdges() {
  for (const node of nodes) node.degree = 0;
  for (const pair of pairs) if (shown(pair)) { nodes[pair.a].degree += 1; nodes[pair.b].degree += 1; }
  const degrees = nodes.map((node) => node.degree).sort((one, other) => other - one), large = degrees[Math.min(FEW / 2, degrees.length - 1)];
  nodes.forEach((node) => {
    node.group.classList.toggle("alone", node.degree === 0);
    node.group.classList.toggle("big", node.degree > Math.max(large, 1));
    node.group.firstChild.setAttribute("r", radius(Number(node.group.dataset.column)));
  });
  for (const pair of pairs) {
    const parts = edges.get(pair.number);
    if (!shown(pair)) { if (parts) { parts.group.remove(); edges.delete(pair.number); } continue; }
    if (!parts) {
      const opacity = (0.12 + 0.8 * pair.probability).toFixed(2);
      const drawn = make("line", { class: "drawn", "stroke-width": width(pair).toFixed(1), opacity });
      const head = pair.direction === "--" ? null : make("path", { class: "drawn", opacity });
      const caught = make("line", { class: "catch" });
      const group = make("g", { class: "edge", "data-pair": pair.number }, make("title", {}, `${names[pair.a]} ${pair.direction} ${names[pair.b]}: ${words.probability} ${chance(pair.probability)}`), drawn, ...(head ? [head] : []), caught);
      edges.set(pair.number, { group, head, lines: [drawn, caught] });
      place("edges").append(group);
    }
    placeEdge(pair);
  }
  say();
}

function say() {
  const visible = pairs.filter(shown), arrows = visible.filter((pair) => pair.direction !== "--").length;
  const joined = new Set(visible.flatMap((pair) => [pair.a, pair.b])).size;
  const pointed = direct ? `, ${arrows} of them with a direction` : "";
  place("says").textContent = `${visible.length} ${visible.length === 1 ? words.edge : words.edges}${pointed}; ${counted(names.length - joined)} of ${counted(names.length)} columns have none`;
}

function drawNodes() {
  graph.classList.toggle("many", names.length > FEW);
  const joined = new Set(pairs.filter(shown).flatMap((pair) => [pair.a, pair.b]));
  let alone = 0; // these lie in rows: every second name is below its circle, so that neighbours do not overlap
  names.forEach((name, column) => {
    const below = !joined.has(column) && alone++ % 2 === 1;
    const label = make("text", { y: below ? 20 : -11 }, name.length > 24 ? `${name.slice(0, 23)}…` : name);
    const group = make("g", { class: "node", "data-column": column }, make("circle", { r: 5 }), label, make("title", {}, name));
    nodes.push({ group, degree: 0 });
    place("nodes").append(group);
    placeNode(column);
  });
}

function setBox(box) {
  state.box = box;
  graph.setAttribute("viewBox", box.join(" "));
}

// At first the picture fills its frame, at the size of the screen unless columns would lie too close.
function spread() {
  const ranges = [0, 1].map((axis) => { const all = where.map((each) => each[axis]); return [Math.min(...all), Math.max(...all)]; });
  const room = [graph.clientWidth || 900, graph.clientHeight || 600].map((pixels) => Math.max(pixels - 150, 200));
  const scales = ranges.map(([low, high], axis) => room[axis] / Math.max(high - low, 1));
  const least = Math.min(...scales), close = 34 * Math.sqrt(names.length) / Math.sqrt(room[0] * room[1]);
  const scale = scales.map((each) => Math.min(each, 1.8 * least, 160) * Math.max(close, 1));
  for (const each of where) for (const axis of [0, 1]) each[axis] = (each[axis] - ranges[axis][0]) * scale[axis];
}

function fit() {
  const half = names.map((name) => Math.max(60, 4.8 * name.length)), ys = where.map(([, y]) => y), edge = 30; // of a name
  const left = Math.min(...where.map(([x], i) => x - half[i])), right = Math.max(...where.map(([x], i) => x + half[i]));
  const top = Math.min(...ys) - edge;
  setBox([left, top, right - left, Math.max(...ys) - top + edge]);
}

function zoom(factor, x, y) {
  const [left, top, wide, high] = state.box, cx = x ?? left + wide / 2, cy = y ?? top + high / 2;
  setBox([cx - (cx - left) * factor, cy - (cy - top) * factor, wide * factor, high * factor]);
}

function point(event) {
  const matrix = graph.getScreenCTM();
  return [(event.clientX - matrix.e) / matrix.a, (event.clientY - matrix.f) / matrix.d];
}

// What is chosen: a column or a pair, marked in the graph and told beside it.
function choose(chosen) {
  state.chosen = chosen;
  graph.classList.toggle("focused", chosen !== null);
  const near = new Set();
  if (chosen && chosen.column !== undefined) for (const pair of pairs) if (shown(pair) && (pair.a === chosen.column || pair.b === chosen.column)) near.add(pair.a).add(pair.b);
  if (chosen && chosen.pair) near.add(chosen.pair.a).add(chosen.pair.b);
  nodes.forEach((node, column) => {
    node.group.classList.toggle("chosen", Boolean(chosen) && chosen.column === column);
    node.group.classList.toggle("near", near.has(column) && !(chosen.column === column));
  });
  for (const [number, parts] of edges) {
    const pair = pairs[number];
    parts.group.classList.toggle("chosen", Boolean(chosen) && chosen.pair === pair);
    parts.group.classList.toggle("near", Boolean(chosen) && chosen.column !== undefined && (pair.a === chosen.column || pair.b === chosen.column));
  }
  const side = place("side");
  side.hidden = chosen === null;
  document.querySelector("main").classList.toggle("open", chosen !== null);
  side.replaceChildren();
  if (!chosen) return;
  const close = make("button", { type: "button", class: "close", "aria-label": "Close" }, "×");
  close.addEventListener("click", () => choose(null));
  side.append(make("div", { class: "detail" }, close, ...(chosen.pair ? aboutPair(chosen.pair) : aboutColumn(chosen.column))));
}

function link(text, act) {
  const button = make("button", { type: "button", class: "link" }, isolated(text));
  button.addEventListener("click", act);
  return button;
}

function facts(rows) {
  const list = make("dl");
  for (const [term, value] of rows) list.append(make("dt", {}, term), make("dd", {}, ...[value].flat()));
  return list;
}

const interval = (pair) => `${pair.mi.toFixed(4)} nats (${pair.low.toFixed(4)} to ${pair.high.toFixed(4)})`;

function aboutDirection(pair) {
  if (pair.direction === "--") return "none follows: the direction cannot be told";
  const [from, to] = ends(pair);
  return [isolated(names[from]), " → ", isolated(names[to]), ` (probability ${chance(pair.direction === "->" ? pair.forward : pair.backward)})`];
}

function aboutGiven(pair) {
  if (pair.given === null) return "nothing that was tried";
  if (!pair.given.length) return "nothing: they are independent as far as one can see";
  const found = [];
  pair.given.forEach((column, rank) => found.push(...(rank ? [", "] : []), link(names[column], () => choose({ column }))));
  return [...found, ` (independent then with probability ${chance(pair.separated)})`];
}

function aboutPair(pair) {
  const sign = { "->": "→", "<-": "←", "--": "—" }[pair.direction];
  const heading = make("h2", {}, link(names[pair.a], () => choose({ column: pair.a })), ` ${sign} `, link(names[pair.b], () => choose({ column: pair.b })));
  const more = direct ? [["direction", aboutDirection(pair)], ["separated by", aboutGiven(pair)]]
    : [["share of the smaller entropy", `${(100 * pair.share).toFixed(1)} %`]];
  const told = facts([[words.probability, chance(pair.probability)], ["information", interval(pair)], ...more, ["rows with both", counted(pair.rows)]]);
  return [heading, told, ...tableOf(pair)];
}

// Counts, coloured by how much more or less often they come together than if independent.
function tableOf(pair) {
  if (!direct) return [];
  const table = report.tables[pair.number];
  if (!table) return [make("p", { class: "caption" }, "The page has no table of this pair.")];
  const { rows, columns, counts } = table, inner = counts.slice(0, -1).map((row) => row.slice(0, -1));
  const byRow = inner.map((row) => row.reduce((sum, n) => sum + n, 0)), total = byRow.reduce((sum, n) => sum + n, 0) || 1;
  const byColumn = columns.map((_, at) => inner.reduce((sum, row) => sum + row[at], 0));
  const head = make("tr", {}, make("th", {}, isolated(names[pair.a]), " \\ ", isolated(names[pair.b])), ...columns.map((value) => make("th", { scope: "col" }, isolated(value))));
  const missing = [counts.some((row) => row.at(-1) > 0), counts.at(-1).some((n) => n > 0)];
  if (missing[0]) head.append(make("th", { scope: "col" }, "missing"));
  const body = make("tbody");
  counts.forEach((row, i) => {
    const last = i === counts.length - 1;
    if (last && !missing[1]) return;
    const line = make("tr", {}, make("th", { scope: "row" }, last ? "missing" : isolated(rows[i])));
    row.forEach((n, j) => {
      if (j === row.length - 1 && (!missing[0] || last)) { if (missing[0]) line.append(make("td", { class: "margin" }, "")); return; }
      const cell = make("td", {}, counted(n));
      if (last || j === row.length - 1) cell.className = "margin";
      else {
        const usual = (byRow[i] * byColumn[j]) / total, ratio = Math.log2((n + 0.5) / (usual + 0.5));
        cell.className = ratio > 0 ? "more" : "less";
        cell.style.setProperty("--strength", `${Math.min(Math.abs(ratio) * 30, 70).toFixed(0)}%`);
        cell.title = `${counted(usual)} if they were independent`;
      }
      line.append(cell);
    });
    body.append(line);
  });
  const caption = make("p", { class: "caption" }, make("span", { class: "swatch more" }, "more"), " or ", make("span", { class: "swatch less" }, "less"), " often than if they were independent");
  return [make("h3", {}, "How often they come together"), make("div", { class: "wide" }, make("table", { class: "heat" }, make("thead", {}, head), body)), caption];
}

function aboutColumn(column) {
  const own = pairs.filter((pair) => pair.a === column || pair.b === column), other = (pair) => (pair.a === column ? pair.b : pair.a);
  const near = own.filter(shown), apart = own.filter((pair) => !shown(pair) && pair.given && pair.given.length && pair.depends).sort((one, two) => two.mi - one.mi);
  const line = (pair, tail) => make("li", {}, link(names[other(pair)], () => choose({ pair })), tail);
  const sign = (pair) => (pair.direction === "--" ? "" : ends(pair)[1] === column ? ", arrow points here" : ", arrow points there");
  const found = [make("h2", {}, isolated(names[column])),
    facts([[direct ? "neighbours" : words.edges, String(near.length)], ...(report.missing ? [["missing", `${counted(report.missing[column])} of ${counted(report.rows)} rows`]] : [])])];
  if (near.length) found.push(make("h3", {}, direct ? "Hangs together with" : "Linked with"), make("ul", {}, ...near.map((pair) => line(pair, ` P ${chance(pair.probability)}, ${pair.mi.toFixed(4)} nats${sign(pair)}`))));
  if (apart.length) found.push(make("h3", {}, "Depends on, but not directly"), make("ul", {}, ...apart.slice(0, 25).map((pair) => line(pair, ` through ${pair.given.map((each) => names[each]).join(", ")}`))));
  return found;
}

function drawList() {
  const rows = pairs.filter(shown).map((pair) => {
    const line = make("tr", {}, make("td", {}, link(names[pair.a], () => choose({ pair }))), make("td", {}, pair.direction), make("td", {}, isolated(names[pair.b])),
      make("td", { class: "number" }, chance(pair.probability)), make("td", { class: "number" }, pair.mi.toFixed(4)));
    return line;
  });
  const head = make("tr", {}, ...["a", "", "b", words.probability, "nats"].map((text, at) => make("th", at > 2 ? { scope: "col", class: "number" } : { scope: "col" }, text)));
  place("list").replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

function drawCells() {
  if (!order) order = matrixOrder(names.length, pairs);
  cellSize = drawMatrix(place("cells"), order.map((column) => names[column]), order, pairs, state.level, state.cell);
  tellCell(...state.cell);
}

function tellCell(x, y) {
  const found = pairAt(x, y);
  place("cell").replaceChildren(isolated(names[order[y]]), " and ", isolated(names[order[x]]), found ? `: ${words.probability} ${chance(found.probability)}, ${found.mi.toFixed(4)} nats` : ": nothing worth telling");
}

function pairAt(x, y) {
  return pairs.find((pair) => (pair.a === order[x] && pair.b === order[y]) || (pair.a === order[y] && pair.b === order[x]));
}

const graphKey = [...place("key").childNodes];
const matrixKey = [make("span", { class: "swatch more" }, "above the diagonal"), ` the probability of ${words.one}, `, make("span", { class: "swatch less" }, "below"), " the information of the pair"];

function show(view) {
  state.view = view;
  graph.toggleAttribute("hidden", view !== "graph");
  place("matrix").hidden = view !== "matrix";
  place("list").hidden = view !== "list";
  place("key").hidden = view === "list";
  place("key").replaceChildren(...(view === "matrix" ? matrixKey : graphKey));
  for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === view));
  refresh();
}

function refresh() {
  drawEdges();
  if (state.view === "matrix") drawCells();
  if (state.view === "list") drawList();
  if (state.chosen && state.chosen.column !== undefined) choose(state.chosen);
}

function setLevel(level, from) {
  if (!(level > 0 && level < 1)) { place("level").setAttribute("aria-invalid", "true"); return; }
  place("level").removeAttribute("aria-invalid");
  state.level = level;
  if (from !== "text") place("level").value = String(level);
  if (from !== "slider") place("level-slider").value = String(Math.round(100 * level));
  refresh();
}

// The nearest column in a direction, for the arrow keys.
function step(dx, dy) {
  if (state.at === null) return 0;
  const [x, y] = where[state.at];
  let best = state.at, least = Infinity;
  where.forEach(([u, v], column) => {
    const along = (u - x) * dx + (v - y) * dy, aside = Math.abs((u - x) * dy - (v - y) * dx);
    if (column !== state.at && along > 0 && along + 2 * aside < least) { least = along + 2 * aside; best = column; }
  });
  return best;
}

function goTo(column) {
  if (state.at !== null) nodes[state.at].group.classList.remove("at");
  state.at = column;
  nodes[column].group.classList.add("at");
  const [x, y] = where[column], [left, top, wide, high] = state.box;
  if (x < left || y < top || x > left + wide || y > top + high) setBox([x - wide / 2, y - high / 2, wide, high]);
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

graph.addEventListener("keydown", (event) => {
  if (ARROWS[event.key]) { goTo(step(...ARROWS[event.key])); event.preventDefault(); }
  if (event.key === "Enter" && state.at !== null) choose({ column: state.at });
});

place("cells").addEventListener("keydown", (event) => {
  const move = ARROWS[event.key];
  if (move) {
    state.cell = state.cell.map((at, axis) => Math.min(Math.max(at + move[axis], 0), names.length - 1));
    drawCells();
    event.preventDefault();
  }
  const found = pairAt(...state.cell);
  if (event.key === "Enter" && found) choose({ pair: found });
});

function cellOf(event) {
  const box = place("cells").getBoundingClientRect(), scale = place("cells").width / box.width / cellSize.size, left = cellSize.margin / cellSize.size;
  return [(event.clientX - box.left) * scale - left, (event.clientY - box.top) * scale].map((at) => Math.min(Math.max(Math.floor(at), 0), names.length - 1));
}

place("cells").addEventListener("pointermove", (event) => {
  if (event.pointerType === "mouse") tellCell(...cellOf(event));
});

place("cells").addEventListener("click", (event) => {
  state.cell = cellOf(event);
  drawCells();
  const [x, y] = state.cell, found = pairAt(x, y);
  if (x === y) choose({ column: order[x] });
  else if (found) choose({ pair: found });
});

// Fingers and mice: a column is dragged, the ground moved, two fingers zoom.
const fingers = new Map();
let dragged = null, moved = false;

graph.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  const node = event.target.closest(".node");
  dragged = node && fingers.size === 1 ? Number(node.dataset.column) : null;
  moved = false;
});

graph.addEventListener("pointermove", (event) => {
  if (!fingers.has(event.pointerId)) return;
  const before = fingers.get(event.pointerId), dx = event.clientX - before[0], dy = event.clientY - before[1];
  if (!moved && Math.hypot(dx, dy) < 4) return;
  if (!moved) graph.setPointerCapture(event.pointerId);
  moved = true;
  graph.classList.add("dragging");
  const scale = 1 / graph.getScreenCTM().a;
  if (fingers.size === 2) {
    const [one, other] = [...fingers.values()], apart = Math.hypot(one[0] - other[0], one[1] - other[1]);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    const [now, then] = [...fingers.values()], next = Math.hypot(now[0] - then[0], now[1] - then[1]);
    if (next > 0) zoom(apart / next, ...point({ clientX: (now[0] + then[0]) / 2, clientY: (now[1] + then[1]) / 2 }));
    return;
  }
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  if (dragged === null) { const [left, top, wide, high] = state.box; setBox([left - dx * scale, top - dy * scale, wide, high]); return; }
  where[dragged] = point(event);
  placeNode(dragged);
  for (const number of edges.keys()) if (pairs[number].a === dragged || pairs[number].b === dragged) placeEdge(pairs[number]);
});

for (const end of ["pointerup", "pointercancel"]) {
  graph.addEventListener(end, (event) => {
    fingers.delete(event.pointerId);
    graph.classList.remove("dragging");
  });
}

graph.addEventListener("click", (event) => {
  if (moved) { moved = false; return; }
  const node = event.target.closest(".node"), edge = event.target.closest(".edge");
  if (node) { goTo(Number(node.dataset.column)); choose({ column: Number(node.dataset.column) }); }
  else choose(edge ? { pair: pairs[Number(edge.dataset.pair)] } : null);
});

graph.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, ...point(event));
}, { passive: false });

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=range])");
  if (event.key === "Escape") { choose(null); if (typing) graph.focus(); }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { place("search").focus(); event.preventDefault(); }
  if (event.key === "+") zoom(1 / 1.25);
  if (event.key === "-") zoom(1.25);
  if (event.key === "0") fit();
});

place("level").addEventListener("input", () => setLevel(place("level").value.trim() === "" ? NaN : Number(place("level").value), "text"));
place("level-slider").addEventListener("input", () => setLevel(Number(place("level-slider").value) / 100, "slider"));
function find() {
  const query = place("search").value.trim().toLowerCase(), lower = names.map((name) => name.toLowerCase());
  if (!query) return;
  const exact = lower.indexOf(query), found = exact >= 0 ? exact : lower.findIndex((name) => name.includes(query));
  place("search").toggleAttribute("aria-invalid", found < 0);
  if (found >= 0) { goTo(found); choose({ column: found }); }
}
place("search").addEventListener("change", find);
place("search").addEventListener("keydown", (event) => { if (event.key === "Enter") find(); });
place("fit").addEventListener("click", fit);
for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => show(button.dataset.view));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (state.view === "matrix") drawCells(); });

document.title = `credimi: ${words.heading.toLowerCase()}`;
document.querySelector("h1").textContent = words.heading;
document.querySelector("label[for=level]").textContent = `Probability of ${words.one}, at least`;
place("level-slider").setAttribute("aria-label", `Probability of ${words.one}, in percent`);
place("directions").hidden = !direct;
place("about").append(report.source ? `${report.source}: ` : "", `${counted(report.all_columns)} columns, ${counted(report.rows)} rows. ${report.directions[0].toUpperCase()}${report.directions.slice(1)}.`);
for (const [name, value] of Object.entries(report.settings).filter(([, value]) => value !== null)) place("settings").querySelector("dl").append(make("dt", {}, name.replaceAll("_", " ")), make("dd", {}, String(typeof value === "number" ? Number(value.toFixed(3)) : value)));
place("cautions").hidden = report.remarks.length === 0;
for (const remark of report.remarks) place("cautions").querySelector("ul").append(make("li", {}, remark));
place("version").textContent = report.version;
place("names").append(...names.map((name) => make("option", { value: name })));
spread();
drawNodes();
setLevel(report.level);
fit();
show(names.length <= MANY ? "graph" : pairs.filter(shown).length < names.length ? "list" : "matrix"); // where links are few, a matrix looks empty
