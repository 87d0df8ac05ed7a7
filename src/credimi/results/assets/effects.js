// What the values of a feature mean: the share of a class among the rows with each value.
"use strict";

const BARS = [96, 26]; // width and height of the bars in the list

function percent(share) {
  const value = 100 * share;
  return value >= 99.95 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(2);
}

function effectOf(report, feature) {
  return report.effects[feature] ?? null;
}

// The largest share of all features: their bars have one scale, so that they can be compared.
let largestShare = null;
function scaleOfShares(report) {
  largestShare ??= Math.max(1e-9, ...report.effects.filter((effect) => effect).map((effect) => Math.max(...effect.s)));
  return largestShare;
}

// Bars as wide as their part of the rows, as high as the share, with the interval as a line.
function effectStrip(report, feature) {
  const effect = effectOf(report, feature), strip = make("span", { class: "effect", "aria-hidden": "true" });
  if (!effect) return strip;
  const [width, height] = BARS, total = effect.n.reduce((sum, count) => sum + count, 0) || 1;
  const largest = scaleOfShares(report), least = Math.min(3, width / effect.n.length), room = width - least * effect.n.length;
  const y = (share) => height * (1 - Math.min(share / largest, 1)), picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" });
  let x = 0;
  effect.s.forEach((share, place) => {
    const wide = least + (room * effect.n[place]) / total, middle = x + wide / 2;
    picture.append(draw("rect", { class: "share", x: x.toFixed(1), y: y(share).toFixed(1), width: Math.max(wide - 1, 0.8).toFixed(1), height: (height - y(share)).toFixed(1) }));
    picture.append(draw("line", { class: "ends", x1: middle.toFixed(1), x2: middle.toFixed(1), y1: y(effect.h[place]).toFixed(1), y2: y(effect.l[place]).toFixed(1) }));
    x += wide;
  });
  strip.append(picture);
  return strip;
}

// The same with names and numbers, as a table.
function effectTable(report, feature) {
  const effect = effectOf(report, feature);
  if (!effect) return [];
  const of = report.classes[effect.of], largest = Math.max(...effect.h, 1e-9), body = make("tbody");
  effect.v.forEach((value, place) => {
    const at = (share) => `${((100 * share) / largest).toFixed(1)}%`;
    const track = make("span", { class: "track", "aria-hidden": "true" },
      make("span", { class: "share", style: { width: at(effect.s[place]) } }),
      make("span", { class: "ends", style: { left: at(effect.l[place]), width: at(effect.h[place] - effect.l[place]) } }));
    body.append(make("tr", {}, make("th", { scope: "row", title: value }, isolated(value)), make("td", { class: "bar" }, track),
      make("td", { class: "number" }, `${percent(effect.s[place])} %`),
      make("td", { class: "number quiet" }, `${percent(effect.l[place])} to ${percent(effect.h[place])}`),
      make("td", { class: "number quiet" }, whole(effect.n[place]))));
  });
  const head = make("tr", {}, ...["value", "", "share", `${short(100 * report.settings.level)} % interval`, "rows"].map((name, place) => (
    make("th", { scope: "col", class: place > 1 ? "number" : "" }, name))));
  const more = effect.more ? ` ${whole(effect.more)} rarer values are not shown.` : "";
  return [
    make("h3", {}, "Share of ", isolated(of), " by value", effect.word ? `: ${effect.word}` : ""),
    make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Share of a class by value" },
      make("table", { class: "effects" }, make("thead", {}, head), body)),
    make("p", { class: "caption" }, `${effectSaid(effect)}${more}`),
  ];
}

function effectSaid(effect) {
  if (!effect.word) return "The values have no order. Lines are credible intervals; missing values are accounted for.";
  const chance = probability(effect.p);
  const said = effect.word === "unclear" ? `The direction is unclear (the likeliest has probability ${chance}).` : `The direction has probability ${chance}.`;
  return `${said} Lines are credible intervals; missing values are accounted for.`;
}

// The heading of the bars: the class that they are of, if it is one.
function classShown(report) {
  const classes = [...new Set(report.effects.filter((effect) => effect).map((effect) => effect.of))];
  return classes.length === 1 ? `% ${clipped(report.classes[classes[0]], 12)}` : classes.length ? "a class" : "";
}
