// The page: what was ranked, the controls, and what follows from them.
"use strict";

const place = (id) => document.getElementById(id);
const report = JSON.parse(place("data").textContent);
const laws = lawsOf(report.laws);
const VERDICTS = ["keep", "unsure", "drop", "not ranked"];
const SMALLEST = 1e-5, LARGEST = Math.log(Math.max(report.classes.length, 2)); // nats, of the slider
const state = {
  epsilon: report.settings.epsilon, level: report.settings.level, query: "", sort: "mi", scale: "linear", page: 0,
  selected: null, hidden: new Set(), found: null, lower: report.features.name.map((name) => name.toLowerCase()),
};
const narrow = matchMedia("(max-width: 72rem)");

function describe() {
  document.title = `What informs about ${report.target.slice(0, 80)} - credimi`;
  place("target").textContent = report.target;
  place("version").textContent = `credimi ${report.version}`;
  const classes = report.classes.slice(0, 8).join(", ") + (report.classes.length > 8 ? `, … (${whole(report.classes.length)})` : "");
  place("about").append(`${whole(report.rows)} rows, ${whole(report.features.name.length)} features; classes `, isolated(classes));
  if (report.entropy !== null) place("about").append(`; entropy ${report.entropy.toFixed(4)} nats`);
  if (report.source) place("about").append("; from ", isolated(report.source));
  for (const line of report.cautions) place("about").append(make("br"), isolated(line));
  const list = place("settings").querySelector("dl");
  const shown = { ...report.settings, "credimi version": report.version };
  for (const [name, value] of Object.entries(shown)) {
    fact(list, name.replace("_", " "), isolated(typeof value === "string" ? value : JSON.stringify(value)));
  }
  if (laws.kind === "draws") fact(list, "draws", "for another epsilon or level, read off 201 quantiles of the draws");
}

function decideAgain() {
  state.found = decide(report, tailsAbove(report, laws, state.epsilon), state.epsilon, state.level);
  const counted = VERDICTS.map((each) => state.found.verdict.filter((verdict) => verdict === each).length);
  place("verdicts").replaceChildren(...VERDICTS.flatMap((each, index) => {
    if (!report.features.name.length || (each === "not ranked" && !counted[index])) return [];
    const button = make("button", { type: "button", class: `badge ${each.replace(" ", "-")}`, "data-verdict": each,
      "aria-pressed": String(!state.hidden.has(each)), title: `show or hide: ${each}` }, `${SIGNS[each]} ${whole(counted[index])} ${each}`);
    button.addEventListener("click", () => {
      if (!state.hidden.delete(each)) state.hidden.add(each);
      state.page = 0;
      show();
      place("verdicts").querySelector(`[data-verdict="${each}"]`).focus();
    });
    return [button];
  }));
  place("says").textContent = `keep: P(I > ${short(state.epsilon)}) ≥ ${short(state.level)}; drop: P(I ≤ ${short(state.epsilon)}) ≥ `
    + `${short(state.level)}. The same as rank with epsilon ${state.epsilon} and level ${state.level}.`;
  showNames();
}

function chosenNames() {
  const kept = state.found[place("rule").value];
  return report.features.name.filter((_, feature) => kept[feature]);
}

function showNames() {
  const names = chosenNames();
  place("chosen").textContent = `${whole(names.length)} of ${whole(report.features.name.length)}`;
  place("names").value = names.join("\n");
}

function showDetail() {
  for (const old of document.querySelectorAll(".detail")) old.remove();
  if (state.selected === null) {
    place("side").replaceChildren(make("p", { class: "hint" }, "Choose a feature to see its posterior and its counts."));
    return;
  }
  const panel = detailOf(report, laws, state, state.selected);
  const row = document.querySelector(`[data-feature="${state.selected}"]`);
  place("side").replaceChildren();
  if (narrow.matches && row) row.parentElement.append(panel);
  else place("side").append(panel);
}

function show() {
  decideAgain();
  showRows();
}

function showRows() {
  showList(report, laws, state, place);
  showDetail();
}

function select(feature) {
  state.selected = state.selected === feature ? null : feature;
  for (const row of document.querySelectorAll(".row")) {
    row.setAttribute("aria-expanded", String(Number(row.dataset.feature) === state.selected));
  }
  showDetail();
}

// Controls: a field for exact numbers, and beside it a slider on a logarithmic scale.
function numberControl(id, allowed, toSlider, fromSlider) {
  const field = place(id), slider = place(`${id}-slider`);
  field.value = String(state[id]);
  slider.value = toSlider(state[id]);
  field.addEventListener("input", () => {
    const value = field.value.trim() === "" ? NaN : Number(field.value);
    field.setAttribute("aria-invalid", String(!allowed(value)));
    if (!allowed(value)) return;
    state[id] = value;
    slider.value = toSlider(value);
    show();
  });
  slider.addEventListener("input", () => {
    state[id] = fromSlider(Number(slider.value));
    field.value = String(state[id]);
    field.setAttribute("aria-invalid", "false");
    show();
  });
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function listen() {
  const span = Math.log(LARGEST / SMALLEST);
  numberControl("epsilon", (value) => value >= 0 && value < Infinity,
    (value) => (value <= SMALLEST ? 0 : (1000 * Math.log(value / SMALLEST)) / span),
    (at) => (at === 0 ? 0 : Number((SMALLEST * Math.exp((span * at) / 1000)).toPrecision(3))));
  numberControl("level", (value) => value > 0 && value < 1,
    (value) => Math.max((1000 * Math.log10(2 * (1 - value))) / Math.log10(2e-4), 0),
    (at) => Number((1 - Number((0.5 * 10 ** ((at * Math.log10(2e-4)) / 1000)).toPrecision(2))).toFixed(6)));
  place("search").addEventListener("input", () => { state.query = place("search").value; state.page = 0; showRows(); });
  for (const id of ["sort", "scale"]) {
    place(id).addEventListener("change", () => { state[id] = place(id).value; state.page = 0; showRows(); });
  }
  for (const [id, by] of [["previous", -1], ["next", 1]]) {
    place(id).addEventListener("click", () => { state.page += by; showRows(); place("ranking").scrollIntoView(); });
  }
  place("rows").addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) select(Number(row.dataset.feature));
  });
  place("rule").addEventListener("change", showNames);
  place("save-text").addEventListener("click", () => save("features.txt", "text/plain", chosenNames().map((name) => `${name}\n`).join("")));
  place("save-json").addEventListener("click", () => save("features.json", "application/json", JSON.stringify({
    target: report.target, rule: place("rule").value, epsilon: state.epsilon, level: state.level, features: chosenNames() }, null, 2)));
  place("copy").addEventListener("click", () => {
    place("names").select();
    const done = () => { place("copy").textContent = "Copied"; setTimeout(() => { place("copy").textContent = "Copy names"; }, 1500); };
    if (navigator.clipboard) navigator.clipboard.writeText(place("names").value).then(done, () => document.execCommand("copy") && done());
    else if (document.execCommand("copy")) done();
  });
  narrow.addEventListener("change", showDetail);
  document.addEventListener("keydown", onKey);
}

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const typing = event.target.matches("input, textarea, select");
  const rows = [...document.querySelectorAll(".row")], at = rows.indexOf(document.activeElement);
  if (event.key === "/" && !typing) place("search").focus();
  else if (event.key === "Escape" && event.target === place("search") && state.query) {
    place("search").value = state.query = "";
    showRows();
  } else if (event.key === "Escape" && state.selected !== null) {
    const row = rows.find((each) => Number(each.dataset.feature) === state.selected);
    select(state.selected);
    if (row) row.focus();
  } else if (event.key === "ArrowDown" && (at >= 0 || event.target === place("search"))) rows[Math.min(at + 1, rows.length - 1)]?.focus();
  else if (event.key === "ArrowUp" && at >= 0) (rows[at - 1] ?? place("search")).focus();
  else if (["ArrowLeft", "ArrowRight"].includes(event.key) && at >= 0) {
    place(event.key === "ArrowLeft" ? "previous" : "next").click();
    document.querySelector(".row")?.focus();
  } else return;
  event.preventDefault();
}

describe();
listen();
show();
