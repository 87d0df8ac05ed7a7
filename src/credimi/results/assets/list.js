// The list of features with their intervals: filtered, sorted, a page at a time.
"use strict";

const PAGE = 50; // rows on the screen at once, however many there are

// The features that are searched for, in the order that is asked for.
function wanted(report, state) {
  const query = state.query.trim().toLowerCase(), features = report.features;
  const found = [];
  for (let feature = 0; feature < state.lower.length; feature += 1) {
    const shown = state.only === null || state.only === state.found.verdict[feature];
    if (shown && state.lower[feature].includes(query)) found.push(feature);
  }
  const down = (values) => (one, other) => (values[other] ?? -1) - (values[one] ?? -1) || one - other;
  if (state.sort === "name") found.sort((one, other) => (state.lower[one] < state.lower[other] ? -1 : 1));
  else if (state.sort === "p") {
    const known = Array.from(state.found.p_above, (p) => (Number.isNaN(p) ? -1 : p));
    found.sort(down(known));
  } else if (state.sort !== "mi") found.sort(down(features[state.sort])); // the ranking itself is sorted by the mean
  return found;
}

function forest(ends, band, mean, at, epsilon, verdict) {
  const strip = make("span", { class: `forest ${verdict.replace(" ", "-")}`, "aria-hidden": "true" });
  strip.append(make("span", { class: "epsilon", style: { left: `${at(epsilon)}%` } }));
  if (mean === null) return strip;
  if (band !== ends) strip.append(make("span", { class: "band", style: { left: `${at(band[0])}%`, width: `${at(band[1]) - at(band[0])}%` } }));
  const from = at(ends[0]), to = at(ends[1]);
  strip.append(make("span", { class: "whisker", style: { left: `${from}%`, width: `${to - from}%` } }));
  strip.append(make("span", { class: "dot", style: { left: `${at(mean)}%` } }));
  return strip;
}

function rowOf(report, state, feature, [ends, band], at) {
  const of = (name) => report.features[name][feature], verdict = state.found.verdict[feature];
  const known = of("p_above") !== null;
  const number = make("span", { class: "place" }, known ? String(feature + 1) : "");
  if (state.doubted.has(of("name"))) number.prepend(make("span", { class: "mark", role: "img", "aria-label": "caution", title: "caution: see above" }, "!"));
  const button = make("button", { type: "button", class: "row", "aria-expanded": String(state.selected === feature), "data-feature": feature },
    number, make("span", { class: "name" }, isolated(of("name") || "(no name)")),
    forest(ends, band, known ? of("mi") : null, at, state.epsilon, verdict),
    effectStrip(report, feature),
    make("span", { class: "number mean" }, known ? digits(of("mi")) : ""),
    make("span", { class: "number part" }, known ? shareOf(report, of("mi")) : ""),
    make("span", { class: "number ends" }, known ? `${digits(band[0])} to ${digits(band[1])}` : ""),
    make("span", { class: "number chance" }, known ? probability(state.found.p_above[feature], of("std") === 0) : ""),
    make("span", { class: `badge ${verdict.replace(" ", "-")}`, title: askedFor(report, state) ? upTo(report, feature) : "" }, `${SIGNS[verdict]} ${verdict}`));
  return make("li", {}, button);
}

function isNumber(report) {
  return report.settings.target_as === "number";
}

// The share of the target's entropy; of a target that is a number, the R2 of two normal numbers with this I.
function shareOf(report, mi) {
  const share = isNumber(report) ? 1 - Math.exp(-2 * mi) : mi / report.entropy;
  return isNumber(report) || report.entropy > 0 ? `${(100 * share).toFixed(1)} %` : "";
}

// The headings; the numbers of the scale are written where there is room, and not over epsilon.
function showAxis(report, state, [least, most], at, place) {
  const strip = make("span", { class: "forest" }), threshold = at(state.epsilon);
  place("axis").replaceChildren(make("span", { class: "place" }, "#"), make("span", { class: "name" }, "feature"), strip,
    make("span", { class: "effect", title: "share of a class by value, with intervals" }, classShown(report)),
    make("span", { class: "number mean" }, "nats"), make("span", { class: "number part", title: isNumber(report) ? "R2 of two normal numbers with this I" : "of the target's entropy" }, isNumber(report) ? "R2 eq." : "share"), make("span", { class: "number ends" }, state.factor === 1 ? `${short(100 * state.level)} % interval` : `band, G = ${written(state.factor)}`),
    make("span", { class: "number chance" }, "P(I > ε)"), make("span", { class: "badge" }, "verdict"));
  strip.append(make("span", { class: "epsilon", style: { left: `${threshold}%` } }),
    make("span", { class: `threshold${threshold > 50 ? " left" : ""}`, style: { left: `${threshold}%` } }, `ε = ${short(state.epsilon)}`));
  const pixel = 100 / Math.max(strip.clientWidth, 1);
  let last = -Infinity;
  for (const tick of state.scale === "root" ? rootTicks(least, most) : ticks(least, most)) {
    const side = at(tick) < 12 * pixel ? " first" : at(tick) > 100 - 20 * pixel ? " last" : "";
    if (at(tick) - last < 48 * pixel || (tick !== 0 && Math.abs(at(tick) - threshold) < 28 * pixel)) continue;
    last = at(tick);
    strip.append(make("span", { class: `tick${side}`, style: { left: `${last}%` } }, String(tick)));
  }
}

// From where to where the axis goes: 0, epsilon and all intervals, those on the screen at the level that is asked for.
function extent(report, state, features, intervals) {
  let [least, most] = [0, state.epsilon];
  for (const feature of features) intervals.push([report.features.low[feature], report.features.high[feature]]);
  for (const [low, high] of intervals) if (low !== null) [least, most] = [Math.min(least, low), Math.max(most, high)];
  return [least, most > 0 ? most * 1.02 : Math.log(Math.max(report.classes.length, 2))];
}

const LINES = 2; // of a name in the list; it is shown whole when pointed at

// A function that measures text in the letters of the list.
function measureOf(list) {
  const style = getComputedStyle(list), pen = document.createElement("canvas").getContext("2d");
  pen.font = `${style.fontSize} ${style.fontFamily}`;
  return (text) => (text.length > 1000 ? Infinity : pen.measureText(text).width);
}

// The places of different names that look the same: one that is narrower may show a letter more.
function alike(texts, names) {
  const groups = new Map(), ends = (text) => `${text.slice(0, 10)}…${text.slice(-6)}`;
  texts.forEach((text, index) => {
    const key = text === names[index] ? text : ends(text);
    groups.set(key, [...(groups.get(key) ?? []), index]);
  });
  return [...groups.values()].filter((group) => new Set(group.map((index) => names[index])).size > 1);
}

// Names that are wider than their lines, clipped; on paper, where nobody can point at them, they are whole.
function fitNames(rows, names, measure, clip) {
  const cells = [...rows.querySelectorAll(".name")];
  const fitted = (name, index, cut) => {
    const room = LINES * (cells[index].clientWidth - 10);
    let text = name;
    for (let longest = Math.min(text.length, 600); clip && measure(text) > room && longest > 4; longest -= 2) text = cut(name, longest);
    return text;
  };
  const texts = names.map((name, index) => fitted(name, index, clipped));
  for (const group of alike(texts, names)) { // those that only differ in the middle show the place where they do
    const start = firstDifference(group.map((index) => names[index]));
    for (const index of group) texts[index] = fitted(names[index], index, (name, longest) => clippedAt(name, start, longest));
  }
  cells.forEach((cell, index) => {
    cell.classList.toggle("clipped", texts[index] !== names[index]);
    cell.firstChild.textContent = texts[index] || "(no name)";
  });
}

function showList(report, laws, bounds, state, place) {
  const found = wanted(report, state), names = report.features.name;
  const pages = Math.max(Math.ceil(found.length / PAGE), 1);
  state.page = Math.min(Math.max(state.page, 0), pages - 1);
  const from = state.page * PAGE, shown = found.slice(from, from + PAGE);
  const intervals = shown.map((feature) => (report.features.p_above[feature] === null
    ? [null, null] : intervalOf(report, laws, feature, state.level)));
  const bands = intervals.map((ends, index) => bandOf(bounds, shown[index], state.level, state.factor, ends));
  const ends = extent(report, state, found.length ? found : names.keys(), [...intervals, ...bands]); // of all where none is shown
  const at = scaleOf(...ends, state.scale === "root");
  const named = shown.map((feature) => names[feature]), measure = measureOf(place("rows"));
  place("ranking").style.setProperty("--name", `${Math.ceil(Math.min(Math.max(0, ...named.map(measure)), 5000)) + 4}px`);
  place("rows").replaceChildren(...shown.map((feature, index) => rowOf(report, state, feature, [intervals[index], bands[index]], at)));
  state.fit = () => { // once the list has its width
    showAxis(report, state, ends, at, place);
    fitNames(place("rows"), named, measure, !paper.matches);
  };
  if (!shown.length) place("rows").append(make("li", { class: "none" }, names.length ? "No feature matches." : "There is no feature."));
  place("place").textContent = found.length
    ? `${whole(from + 1)} to ${whole(from + shown.length)} of ${whole(found.length)}` : "none";
  place("previous").disabled = state.page === 0;
  place("next").disabled = state.page >= pages - 1;
  place("pages").hidden = pages === 1;
}
