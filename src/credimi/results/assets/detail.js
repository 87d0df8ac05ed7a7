// One feature looked at closely: posterior, contingency table, what is missing, where numbers were cut.
"use strict";

function fact(list, name, ...value) {
  list.append(make("dt", {}, name), make("dd", {}, ...value));
}

// Counts as a heat map: more or less often than independence would have it, in standard deviations.
function heatMap(report, table) {
  const height = table.classes.length + (table.others[0] > 0), width = table.values.length + (table.others[1] > 0);
  const count = (row, column) => table.counts[row * (width + 1) + column];
  const rows = new Array(height).fill(0), columns = new Array(width).fill(0);
  let total = 0;
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      rows[row] += count(row, column);
      columns[column] += count(row, column);
      total += count(row, column);
    }
  }
  const classes = table.classes.map((place) => report.classes[place]);
  if (table.others[0]) classes.push(`${whole(table.others[0])} other classes`);
  const values = [...table.values];
  if (table.others[1]) values.push(`${whole(table.others[1])} other values`);
  const head = make("tr", {}, make("th", { scope: "col" }, ""));
  for (const name of classes) head.append(make("th", { scope: "col", title: name }, isolated(name)));
  head.append(make("th", { scope: "col", class: "margin" }, "target missing"));
  const body = make("tbody");
  for (let column = 0; column < width; column += 1) {
    const line = make("tr", {}, make("th", { scope: "row", title: values[column] }, isolated(values[column])));
    for (let row = 0; row < height; row += 1) {
      const expected = (rows[row] * columns[column]) / (total || 1), seen = count(row, column);
      const away = expected > 0 ? (seen - expected) / Math.sqrt(expected) : 0;
      const strength = Math.min(Math.abs(away) / 8, 1) * 62;
      const share = rows[row] > 0 ? ` (${((100 * seen) / rows[row]).toFixed(1)} % of the class)` : "";
      const cell = make("td", { class: away >= 0 ? "more" : "less", title: `${whole(seen)}${share}` }, whole(seen));
      cell.style.setProperty("--strength", `${strength.toFixed(0)}%`);
      line.append(cell);
    }
    line.append(make("td", { class: "margin" }, whole(count(height, column))));
    body.append(line);
  }
  const last = make("tr", {}, make("th", { scope: "row", class: "margin" }, "feature missing"));
  for (let row = 0; row <= height; row += 1) last.append(make("td", { class: "margin" }, whole(count(row, width))));
  body.append(last);
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Contingency table" },
    make("table", { class: "heat" }, make("thead", {}, head), body));
}

// Whether the page shows what the ranking was asked.
function askedFor(report, state) {
  return state.epsilon === report.settings.epsilon && state.level === report.settings.level && !(state.factor > 1);
}

function verdictText(report, state, feature) {
  const verdict = state.found.verdict[feature], level = short(state.level), epsilon = short(state.epsilon);
  const stands = () => (askedFor(report, state) && upTo(report, feature) ? ` This stands ${upTo(report, feature)}.` : "");
  if (verdict === "keep") return `P(I > ${epsilon}) is at least ${level}: surely informative.${stands()}`;
  if (verdict === "drop") return `P(I ≤ ${epsilon}) is at least ${level}: surely not informative.${stands()}`;
  if (verdict === "unsure" && state.factor > 1) return `Values may be missing so that neither I > ${epsilon} nor I ≤ ${epsilon} has a probability of ${level}.`;
  const atEpsilon = askedFor(report, state) && report.features.at_epsilon[feature];
  if (verdict === "unsure" && atEpsilon) return `I lies at ${epsilon}: more rows would hardly tell whether it is more or less.`;
  if (verdict === "unsure") return `Neither I > ${epsilon} nor I ≤ ${epsilon} has a probability of ${level}: collect more rows.`;
  return "This column was not ranked.";
}

function detailOf(report, laws, bounds, state, feature) {
  const of = (name) => report.features[name][feature];
  const verdict = state.found.verdict[feature], panel = make("article", { class: "detail" });
  panel.append(make("h2", { title: of("name"), tabindex: "-1" }, isolated(of("name") || "(no name)")));
  panel.append(make("p", {}, make("span", { class: `badge ${verdict.replace(" ", "-")}` }, `${SIGNS[verdict]} ${verdict}`),
    ` ${verdictText(report, state, feature)}`));
  panel.append(...effectTable(report, feature));
  if (effectOf(report, feature)) panel.append(make("h3", {}, "Information about the target"));
  const facts = make("dl");
  if (of("p_above") !== null) {
    const ends = intervalOf(report, laws, feature, state.level), p = state.found.p_above[feature];
    if (of("ranked")) {
      panel.append(densityPicture(laws, feature, ends, state.epsilon));
      panel.append(make("p", { class: "caption" }, visibleAtom(laws, feature) > 0
        ? "Posterior density of I in nats; the stem at 0 is P(independent), its height from 0 to 1."
        : "Posterior density of I in nats; filled where I > ε."));
    }
    const share = report.entropy > 0 ? `, ${((100 * of("mi")) / report.entropy).toFixed(1)} % of the target's entropy` : "";
    fact(facts, "Mean of I", `${digits(of("mi"))} nats${share}`);
    fact(facts, `${short(100 * state.level)} % interval`, `${digits(ends[0])} to ${digits(ends[1])}`);
    if (of("association") !== null) {
      const [low, high] = [of("association_low"), of("association_high")].map((each) => each.toFixed(2));
      fact(facts, "Association", `${of("association").toFixed(2)} (${low} to ${high}): 0 independent, 1 determined`);
    }
    if (bounds && of("ranked")) {
      const factor = state.factor === 1 ? bounds.asked[0] : state.factor;
      const band = bandOf(bounds, feature, state.level, factor, ends);
      fact(facts, factor === Infinity ? "Whatever is missing" : `At factor ${short(factor)}`, `${digits(band[0])} to ${digits(band[1])}`);
    }
    if (report.settings.prior === "adaptive" && of("ranked")) {
      const given = intervalIfDependent(report, laws, feature, state.level), mean = of("mi_if_dependent");
      if (mean !== null) fact(facts, "Mean if not independent", `${digits(mean)} nats, ${digits(given[0])} to ${digits(given[1])}`);
    }
    fact(facts, `P(I > ${short(state.epsilon)})`, probability(p, of("std") === 0));
    if (report.settings.prior === "adaptive") fact(facts, "P(independent)", probability(of("p_independent"), of("std") === 0));
    const kept = ["plugin", "forward", "backward", "fdr", "informative"].filter((rule) => state.found[rule][feature]);
    fact(facts, "Kept by", kept.length ? kept.map((rule) => (rule === "plugin" ? "plug-in" : rule)).join(", ") : "none");
    if (askedFor(report, state) && of("rows_to_decide") !== null) {
      const [median, low, high] = ["", "_low", "_high"].map((end) => of(`rows_to_decide${end}`));
      fact(facts, "Decided at about", high <= 3 * low ? `${whole(median)} rows, by half of all samples of that size`
        : `${whole(low)} to ${whole(high)} rows, by a quarter to three quarters of all samples`);
    }
  }
  fact(facts, "Complete rows", `${whole(of("complete"))} of ${whole(report.rows)}`);
  fact(facts, "Feature missing in", counted(of("missing"), "row"));
  if (of("missing") > 0) {
    fact(facts, "That it is missing tells", `${digits(of("missing_mi"))} nats (${digits(of("missing_low"))} to ${digits(of("missing_high"))}), `
      + `P(> ${short(report.settings.epsilon)}) ${probability(of("missing_p_above"))}`);
  }
  if (of("cuts").length) fact(facts, "Cut at", of("cuts").join(", ") + (of("cuts").length >= 60 ? ", …" : ""));
  if (of("note")) fact(facts, "How it was read", isolated(of("note")));
  for (const remark of report.remarks) {
    if (remark.feature === of("name")) fact(facts, "Caution", isolated(remark.text));
  }
  panel.append(facts);
  const table = report.tables[feature];
  if (table) {
    const more = `${whole(report.classes.length)} classes, ${counted(table.values.length + table.others[1], "value")}: scroll the table to see more.`;
    panel.append(make("h3", {}, "Rows counted by value and class"), make("p", { class: "caption scroll", hidden: "" }, more),
      heatMap(report, table));
    panel.append(make("p", { class: "caption legend" }, make("span", { class: "swatch more" }, "more"), " and ",
      make("span", { class: "swatch less" }, "less"), " often than if independent; hatched: one of the two is missing."));
  }
  return panel;
}
