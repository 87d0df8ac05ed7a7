// What holds if values are missing not quite at random: bounds of I within a factor (credimi/inference/bounds/information_bounds.py).
"use strict";

// Quantiles of the least and of the largest I of each feature with missing values, by factor; and what the ranking said.
function boundsOf({ robust: packed, settings }) {
  if (!packed) return null;
  const unpacked = packed.quantiles.map((text) => {
    if (text === null) return null;
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  });
  const number = (value) => (value === "inf" ? Infinity : value);
  return { ...packed, factors: packed.factors.map(number), quantiles: unpacked, asked: [number(settings.factor), settings.level] };
}

const nearness = (factor) => 1 - 1 / factor; // from 0, missing at random, to 1, anything: between factors bounds are about straight in it

// A number at a factor from those at the factors around it; `at(place)` has that of a factor, and -1 stands for 1.
function between(bounds, factor, at) {
  let place = 0;
  while (bounds.factors[place] < factor) place += 1;
  const end = nearness(bounds.factors[place]), start = place ? nearness(bounds.factors[place - 1]) : 0;
  const share = (nearness(factor) - start) / (end - start);
  return share === 1 ? at(place) : (1 - share) * at(place - 1) + share * at(place);
}

// The quantiles of one bound at one factor: side 0 is the least I, 1 the largest.
function curveOf(bounds, feature, side, place) {
  const size = bounds.levels.length, start = (side * bounds.factors.length + place) * size;
  return bounds.quantiles[feature].subarray(start, start + size);
}

// P(bound > x) from its quantiles.
function curveAbove(levels, curve, x) {
  const last = curve.length - 1;
  let place = -1;
  while (place < last && curve[place + 1] <= x) place += 1;
  if (place < 0) return 1;
  if (place === last) return 0;
  const step = (x - curve[place]) / (curve[place + 1] - curve[place]);
  return 1 - (levels[place] + step * (levels[place + 1] - levels[place]));
}

function curveAt(levels, curve, level) {
  const last = curve.length - 1;
  if (level <= levels[0]) return curve[0];
  if (level >= levels[last]) return curve[last];
  let place = 0;
  while (levels[place + 1] < level) place += 1;
  return curve[place] + ((level - levels[place]) / (levels[place + 1] - levels[place])) * (curve[place + 1] - curve[place]);
}

// P(least I > epsilon) and P(largest I > epsilon) of all features; `p` is P(I > epsilon) if missing at random.
function tailsWithin(bounds, p, epsilon, factor) {
  if (!bounds || factor === 1) return [p, p];
  return [0, 1].map((side) => p.map((plain, feature) => {
    if (!bounds.quantiles[feature]) return plain;
    const found = between(bounds, factor, (place) => (place < 0 ? plain : curveAbove(bounds.levels, curveOf(bounds, feature, side, place), epsilon)));
    return side ? Math.max(found, plain) : Math.min(found, plain);
  }));
}

// From the lower end of the least I to the upper end of the largest I; `ends` is the interval if missing at random.
function bandOf(bounds, feature, level, factor, ends) {
  if (!bounds || factor === 1 || ends[0] === null || !bounds.quantiles[feature]) return ends;
  if (factor === bounds.asked[0] && level === bounds.asked[1]) return [bounds.low[feature], bounds.high[feature]];
  const tail = (1 - level) / 2;
  const found = [0, 1].map((side) => between(bounds, factor, (place) => (place < 0
    ? ends[side] : curveAt(bounds.levels, curveOf(bounds, feature, side, place), side ? 1 - tail : tail))));
  return [Math.min(found[0], ends[0]), Math.max(found[1], ends[1])];
}

// The factor up to which the ranking's verdict stands, in words; "" where it is not known.
function upTo(report, feature) {
  const told = report.robust ? report.robust.tipping[feature] : null;
  if (told === null) return "";
  if (told === "inf") return "at any factor";
  if (told >= 1000) return "beyond 1,000x";
  const digits = told < 2 ? 2 : told < 10 ? 1 : 0;
  return `up to ${(Math.floor(told * 10 ** digits) / 10 ** digits).toFixed(digits)}x`;
}
