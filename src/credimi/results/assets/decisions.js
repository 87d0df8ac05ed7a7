// What the filters say of every feature at once, for any epsilon and level (credimi/filters.py).
"use strict";

// P(I > epsilon): what the ranking said where it was asked the same, else from the posteriors.
function tailsAbove(report, laws, epsilon) {
  const count = report.features.name.length, p = new Float64Array(count);
  const asked = epsilon === report.settings.epsilon;
  for (let feature = 0; feature < count; feature += 1) {
    const told = report.features.p_above[feature];
    if (told === null) p[feature] = NaN; // an identifier
    else if (asked) p[feature] = told;
    else p[feature] = report.features.ranked[feature] ? above(laws, feature, epsilon) : 0;
  }
  return p;
}

const shares = new WeakMap(); // of reports: they do not change with epsilon

// How many features are independent beforehand, as all of them together say (credimi/filters.py).
function independentShare(report) {
  if (shares.has(report)) return shares.get(report);
  const heard = report.features.p_independent.filter((_, feature) => report.features.ranked[feature]);
  let share = 0.5;
  for (let step = 0; step < 1000; step += 1) {
    const before = share;
    let total = 1;
    for (const q of heard) total += share * q / (share * q + (1 - share) * (1 - q));
    share = Math.max(0.5, total / (heard.length + 2));
    if (Math.abs(share - before) < 1e-9) break;
  }
  shares.set(report, share);
  return share;
}

// P(I > epsilon) from such odds.
function fromCommonOdds(report, p) {
  const { p_independent: independent, ranked } = report.features, share = independentShare(report);
  return p.map((value, feature) => {
    const q = independent[feature];
    return ranked[feature] ? value * (1 - share) / (share * q + (1 - share) * (1 - q)) : value;
  });
}

// The largest set with an expected share of at most fdr that does not exceed epsilon.
function falseDiscovery(p, fdr) {
  const kept = new Array(p.length).fill(false);
  const doubts = Array.from(p, (value) => (Number.isNaN(value) ? Infinity : 1 - value));
  const order = doubts.map((_, feature) => feature).sort((one, other) => {
    if (doubts[one] === doubts[other]) return one - other;
    return doubts[one] < doubts[other] ? -1 : 1;
  });
  let total = 0;
  for (let place = 0; place < order.length; place += 1) {
    total += doubts[order[place]];
    if (!(total / (place + 1) <= fdr)) { // what is as doubtful as the first that is left out is left out as well
      return kept.map((isKept, feature) => isKept && doubts[feature] < doubts[order[place]] - 1e-9);
    }
    kept[order[place]] = true;
  }
  return kept;
}

// `p` is P(I > epsilon), of the least I; `most` that of the largest I, if values may be missing not at random.
function decide(report, p, epsilon, level, most = p) {
  const found = { p_above: p, plugin: [], forward: [], backward: [], verdict: [] };
  for (let feature = 0; feature < p.length; feature += 1) {
    const forward = p[feature] >= level, backward = 1 - most[feature] < level;
    const mode = report.features.at_mode[feature];
    found.plugin.push(mode !== null && mode > epsilon);
    found.forward.push(forward);
    found.backward.push(backward);
    const known = report.features.p_above[feature] !== null;
    found.verdict.push(!known ? "not ranked" : forward ? "keep" : backward ? "unsure" : "drop");
  }
  const { p_independent: independent, ranked } = report.features;
  const dependent = independent.map((q, feature) => (ranked[feature] ? 1 - q : 0));
  found.informative = fromCommonOdds(report, dependent).map((value) => value >= 0.5);
  found.fdr = falseDiscovery(fromCommonOdds(report, p), report.settings.fdr);
  return found;
}

// What a feature's interval is at a level; that of the ranking where it was asked the same.
function intervalOf(report, laws, feature, level) {
  const low = report.features.low[feature], high = report.features.high[feature];
  if (level === report.settings.level || !report.features.ranked[feature]) return [low, high];
  return interval(laws, feature, level);
}

// The same if the feature is dependent: without the atom at 0.
function intervalIfDependent(report, laws, feature, level) {
  const low = report.features.low_if_dependent[feature], high = report.features.high_if_dependent[feature];
  if (level === report.settings.level || low === null) return [low, high];
  const rest = { ...laws, zero: new Float64Array(laws.zero.length) };
  let total = 0;
  for (let part = laws.starts[feature]; part < laws.starts[feature + 1]; part += 1) total += laws.weight[part];
  return [quantile(rest, feature, (0.5 + level / 2) * total), quantile(rest, feature, (0.5 - level / 2) * total)];
}
