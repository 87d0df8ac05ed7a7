// The list of features with their intervals: filtered, sorted, a page at a time.
"use strict";

const PAGE = 50; // rows on the screen at once, however many there are

// The features that are searched for, in the order that is asked for.
function wanted(report, state) {
  const query = state.query.trim().toLowerCase(), features = report.features;
  const found = [];
  for (let feature = 0; feature < state.lower.length; feature += 1) {
    if (!state.hidden.has(state.found.verdict[feature]) && state.lower[feature].includes(query)) found.push(feature);
  }
  const down = (values) => (one, other) => (values[other] ?? -1) - (values[one] ?? -1) || one - other;
  if (state.sort === "name") found.sort((one, other) => (state.lower[one] < state.lower[other] ? -1 : 1));
  else if (state.sort === "p") {
    const known = Array.from(state.found.p_above, (p) => (Number.isNaN(p) ? -1 : p));
    found.sort(down(known));
  } else if (state.sort !== "mi") found.sort(down(features[state.sort])); // the ranking itself is sorted by the mean
  return found;
}

function forest(ends, mean, at, epsilon, verdict) {
  const strip = make("span", { class: `forest ${verdict.replace(" ", "-")}`, "aria-hidden": "true" });
  strip.append(make("span", { class: "epsilon", style: { left: `${at(epsilon)}%` } }));
  if (mean === null) return strip;
  const from = at(ends[0]), to = at(ends[1]);
  strip.append(make("span", { class: "whisker", style: { left: `${from}%`, width: `${to - from}%` } }));
  strip.append(make("span", { class: "dot", style: { left: `${at(mean)}%` } }));
  return strip;
}

function rowOf(report, laws, state, feature, at) {
  const of = (name) => report.features[name][feature], verdict = state.found.verdict[feature];
  const known = of("p_above") !== null, ends = known ? intervalOf(report, laws, feature, state.level) : [null, null];
  const name = make("span", { class: "name", title: of("name").slice(0, 300) }, isolated(of("name").slice(0, 300) || "(no name)"));
  const button = make("button", { type: "button", class: "row", "aria-expanded": String(state.selected === feature), "data-feature": feature },
    make("span", { class: "place" }, known ? String(feature + 1) : ""), name,
    forest(ends, known ? of("mi") : null, at, state.epsilon, verdict),
    make("span", { class: "number mean" }, known ? digits(of("mi")) : ""),
    make("span", { class: "number ends" }, known ? `${digits(ends[0])} to ${digits(ends[1])}` : ""),
    make("span", { class: "number chance" }, known ? probability(state.found.p_above[feature], of("std") === 0) : ""),
    make("span", { class: `badge ${verdict.replace(" ", "-")}` }, `${SIGNS[verdict]} ${verdict}`));
  return make("li", {}, button);
}

function axisOf(least, most, at, epsilon) {
  const strip = make("span", { class: "forest" });
  let last = -20;
  for (const tick of ticks(least, most)) {
    if (at(tick) - last < 14) continue;
    last = at(tick);
    strip.append(make("span", { class: "tick", style: { left: `${at(tick)}%` } }, String(tick)));
  }
  return [make("span", { class: "place" }, "#"), make("span", { class: "name" }, "feature"), strip,
    make("span", { class: "number mean" }, "nats"), make("span", { class: "number ends" }, "interval"),
    make("span", { class: "number chance" }, `P(I > ${short(epsilon)})`), make("span", { class: "badge" }, "verdict")];
}

function showList(report, laws, state, place) {
  const found = wanted(report, state);
  const pages = Math.max(Math.ceil(found.length / PAGE), 1);
  state.page = Math.min(Math.max(state.page, 0), pages - 1);
  let [least, most] = [0, 0];
  for (const feature of found) {
    const [low, high] = [report.features.low[feature], report.features.high[feature]];
    if (low !== null) [least, most] = [Math.min(least, low), Math.max(most, high)];
  }
  most = Math.max(most, 1e-6) * 1.02;
  const at = scaleOf(least, most, state.scale === "root");
  place("axis").replaceChildren(...axisOf(least, most, at, state.epsilon));
  const from = state.page * PAGE, shown = found.slice(from, from + PAGE);
  place("rows").replaceChildren(...shown.map((feature) => rowOf(report, laws, state, feature, at)));
  if (!shown.length) place("rows").append(make("li", { class: "none" }, "No feature is like this."));
  place("place").textContent = found.length
    ? `${whole(from + 1)} to ${whole(from + shown.length)} of ${whole(found.length)}` : "none";
  place("previous").disabled = state.page === 0;
  place("next").disabled = state.page >= pages - 1;
  place("pages").hidden = pages === 1;
}
