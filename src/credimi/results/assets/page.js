// The page: what was ranked, the controls, and what follows from them.
"use strict";

const place = (id) => document.getElementById(id);
const report = JSON.parse(place("data").textContent);
const laws = lawsOf(report.laws), bounds = boundsOf(report);
const VERDICTS = ["keep", "unsure", "drop", "not ranked"];
const SMALLEST = 1e-5, LARGEST = Math.log(Math.max(report.classes.length, 2)); // nats, of the slider
const state = { // and what `recall` adds: the settings of the reader
  found: null, lower: report.features.name.map((name) => name.toLowerCase()),
  doubted: new Set(report.cautions.flatMap((caution) => caution.features)),
};
const narrow = matchMedia("(max-width: 72rem)"), paper = matchMedia("print");

function describe() {
  document.title = `What informs about ${report.target.slice(0, 80)} - credimi`;
  place("target").textContent = report.target || "(no name)";
  place("version").textContent = `credimi ${report.version}`;
  const isNumber = report.settings.target_as === "number";
  const classes = report.classes.slice(0, 8).map((name) => clipped(name, 24)).join(", ") + (report.classes.length > 8 ? `, … (${whole(report.classes.length)})` : "");
  const rows = report.rows_with_target !== null && report.rows_with_target !== report.rows
    ? `${whole(report.rows_with_target)} of ${counted(report.rows, "row")} have the target` : counted(report.rows, "row");
  place("about").append(`${rows}; ${counted(report.features.name.length, "feature")}; ${isNumber ? "the target is numeric; its quarters" : "classes"} `, isolated(classes));
  if (report.entropy !== null) place("about").append(`; entropy ${report.entropy.toFixed(4)} nats`);
  if (report.source) place("about").append("; from ", isolated(report.source));
  describeCautions();
  const list = place("settings").querySelector("dl");
  const shown = { ...report.settings, "credimi version": report.version };
  for (const [name, value] of Object.entries(shown)) {
    fact(list, name.replace("_", " "), isolated(typeof value === "string" ? value : JSON.stringify(value)));
  }
  if (laws.kind === "draws") fact(list, "draws", "for another epsilon or level, read off 201 quantiles of the draws");
}

const NAMED = 100; // features named beside one caution; in the list all are marked

function describeCautions() {
  place("cautions").hidden = !report.cautions.length;
  place("cautions").querySelector("h2").textContent = counted(report.cautions.length, "caution");
  for (const caution of report.cautions) {
    const line = make("li", {}, isolated(caution.text));
    for (const name of caution.features.slice(0, NAMED)) {
      const label = caution.features.length > 1 ? clipped(name, 40) : "show";
      line.append(" ", make("button", { type: "button", class: "link", "data-name": name, title: name }, isolated(label || "(no name)")));
    }
    if (caution.features.length > NAMED) line.append(` and ${whole(caution.features.length - NAMED)} more, marked in the list`);
    place("cautions").querySelector("ul").append(line);
  }
}

function decideAgain() {
  const [least, largest] = tailsWithin(bounds, tailsAbove(report, laws, state.epsilon), state.epsilon, state.factor);
  state.found = decide(report, least, state.epsilon, state.level, largest);
  const counts = VERDICTS.map((each) => state.found.verdict.filter((verdict) => verdict === each).length);
  place("verdicts").replaceChildren(...VERDICTS.flatMap((each, index) => {
    if (!report.features.name.length || (each === "not ranked" && !counts[index])) return [];
    const button = make("button", { type: "button", class: `badge ${each.replace(" ", "-")}`, "data-verdict": each,
      "aria-pressed": String(state.only === each), title: state.only === each ? "show all" : `show only: ${each}` }, `${SIGNS[each]} ${whole(counts[index])} ${each}`);
    button.addEventListener("click", () => {
      state.only = state.only === each ? null : each;
      state.page = 0;
      show();
      place("verdicts").querySelector(`[data-verdict="${each}"]`).focus();
    });
    return [button];
  }));
  place("says").textContent = `keep: P(I > ${short(state.epsilon)}) ≥ ${short(state.level)}; drop: P(I ≤ ${short(state.epsilon)}) ≥ `
    + `${short(state.level)}${state.factor === 1 ? `. ${meaning()}The same as rank with epsilon ${asked()} and level ${state.level}.`
      : `, ${state.factor === Infinity ? "whatever is missing" : `if the odds of being missing differ at most ${short(state.factor)}-fold`}.`}`;
  showNames();
}

// Epsilon as the ranking was asked for it, or in nats once it was moved.
function asked() {
  return state.epsilon === report.settings.epsilon ? report.settings.epsilon_share ?? state.epsilon : state.epsilon;
}

function meaning() {
  return asked() === state.epsilon ? "" : `${short(state.epsilon)} nats are ${asked()} of ${report.settings.target_as === "number" ? "" : "the target's entropy, at most of "}log 2. `;
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
  document.querySelector("main").classList.toggle("open", state.selected !== null);
  state.fit(); // the list is wider without a feature beside it
  if (state.selected === null) return;
  const panel = detailOf(report, laws, bounds, state, state.selected);
  const row = document.querySelector(`[data-feature="${state.selected}"]`);
  if (narrow.matches && !paper.matches && row) row.parentElement.append(panel);
  else place("side").append(panel);
  const table = panel.querySelector(".wide");
  if (table) panel.querySelector(".scroll").hidden = table.scrollWidth <= table.clientWidth && table.scrollHeight <= table.clientHeight;
}

function show() {
  decideAgain();
  showRows();
}

function showRows() {
  showList(report, laws, bounds, state, place);
  showDetail();
  remember(state);
}

function select(feature) {
  const again = state.selected === feature && narrow.matches; // below its row it is closed as it was opened
  state.selected = again ? null : feature;
  for (const row of document.querySelectorAll(".row")) {
    row.setAttribute("aria-expanded", String(Number(row.dataset.feature) === state.selected));
  }
  showDetail();
  remember(state);
}

// Chosen by name: the list goes to where the feature stands, whatever is searched for.
function choose(name) {
  const feature = report.features.name.indexOf(name);
  [state.query, state.only, state.selected] = ["", null, feature];
  state.page = Math.floor(wanted(report, state).indexOf(feature) / PAGE);
  showControls();
  show();
  document.querySelector(`[data-feature="${feature}"]`).focus();
}

// Controls: a field for exact numbers, and beside it a slider on a logarithmic scale.
const SPAN = Math.log(LARGEST / SMALLEST);
const NUMBERS = {
  epsilon: {
    allowed: (value) => value >= 0 && value < Infinity,
    toSlider: (value) => (value <= SMALLEST ? 0 : (1000 * Math.log(value / SMALLEST)) / SPAN),
    fromSlider: (at) => (at === 0 ? 0 : Number((SMALLEST * Math.exp((SPAN * at) / 1000)).toPrecision(3))),
  },
  level: {
    allowed: (value) => value > 0 && value < 1,
    toSlider: (value) => Math.max((1000 * Math.log10(2 * (1 - value))) / Math.log10(2e-4), 0),
    fromSlider: (at) => Number((1 - Number((0.5 * 10 ** ((at * Math.log10(2e-4)) / 1000)).toPrecision(2))).toFixed(6)),
  },
  factor: {
    allowed: (value) => value >= 1 && (bounds !== null || value === 1),
    toSlider: (value) => 1000 * nearness(value),
    fromSlider: (at) => (at >= 1000 ? Infinity : Number((1 / (1 - at / 1000)).toPrecision(3))),
  },
};
const written = (value) => (value === Infinity ? "any" : String(value)); // in a field
const read = (text) => (/^\s*(any|inf|infinity|∞)\s*$/i.test(text) ? Infinity : text.trim() === "" ? NaN : Number(text));

function numberControl(id) {
  const field = place(id), slider = place(`${id}-slider`), { allowed, toSlider, fromSlider } = NUMBERS[id];
  field.addEventListener("input", () => {
    const value = read(field.value);
    field.setAttribute("aria-invalid", String(!allowed(value)));
    if (!allowed(value)) return;
    state[id] = value;
    slider.value = toSlider(value);
    show();
  });
  slider.addEventListener("input", () => {
    state[id] = fromSlider(Number(slider.value));
    field.value = written(state[id]);
    field.setAttribute("aria-invalid", "false");
    show();
  });
}

// The controls as the state has them.
function showControls() {
  for (const id of Object.keys(NUMBERS)) {
    place(id).value = written(state[id]);
    place(id).setAttribute("aria-invalid", "false");
    place(`${id}-slider`).value = NUMBERS[id].toSlider(state[id]);
  }
  place("search").value = state.query;
  for (const id of ["sort", "scale"]) place(id).value = state[id];
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// A name that is clipped in the list, whole, beside the pointer or the focus.
function showWholeName(row) {
  const whole = place("whole"), name = row && row.querySelector(".name"), text = row && name.querySelector("bdi");
  whole.hidden = !row || !(name.classList.contains("clipped") || text.scrollHeight > text.clientHeight + 1);
  if (whole.hidden) return;
  whole.replaceChildren(isolated(report.features.name[Number(row.dataset.feature)]));
  const box = name.getBoundingClientRect();
  whole.style.left = `${Math.max(Math.min(box.left, innerWidth - whole.offsetWidth - 8), 0)}px`;
  whole.style.top = `${box.bottom + whole.offsetHeight < innerHeight ? box.bottom : Math.max(box.top - whole.offsetHeight, 0)}px`;
}

// What stays in sight below the controls has to know how tall they are.
function keepInSight() {
  const controls = place("controls"), sticky = getComputedStyle(controls).position === "sticky";
  document.documentElement.style.setProperty("--controls", `${sticky ? controls.offsetHeight : 0}px`);
}

function listen() {
  Object.keys(NUMBERS).forEach(numberControl);
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
  place("cautions").addEventListener("click", (event) => {
    const name = event.target.closest(".link");
    if (name) choose(name.dataset.name);
  });
  for (const [begin, end] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
    place("rows").addEventListener(begin, (event) => showWholeName(event.target.closest(".row")));
    place("rows").addEventListener(end, () => showWholeName(null));
  }
  addEventListener("scroll", () => showWholeName(null), { passive: true });
  addEventListener("hashchange", () => { recall(state); showControls(); show(); });
  new ResizeObserver(keepInSight).observe(place("controls"));
  addEventListener("resize", () => state.fit());
  for (const changed of [narrow, paper]) changed.addEventListener("change", showDetail);
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
    select(null);
    if (row) row.focus();
  } else if (event.key === "ArrowDown" && (at >= 0 || event.target === place("search"))) rows[Math.min(at + 1, rows.length - 1)]?.focus();
  else if (event.key === "ArrowUp" && at >= 0) (rows[at - 1] ?? place("search")).focus();
  else if (["ArrowLeft", "ArrowRight"].includes(event.key) && at >= 0) {
    place(event.key === "ArrowLeft" ? "previous" : "next").click();
    document.querySelector(".row")?.focus();
  } else return;
  event.preventDefault();
}

place("robust").hidden = bounds === null;
place("controls").classList.toggle("three", bounds !== null);
describe();
listen();
recall(state);
showControls();
show();
