// P(I > x), quantiles and densities of the posteriors, as credimi computes them (credimi/inference/distributions/mixture_tails.py has the
// mathematics): mixtures of Betas on [0, upper], of normal laws, or of draws, each with an atom at 0.
"use strict";

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);
const BOTH_LARGE = 20; // from here on Stirling's series for both parameters
const PEAKED = 1e7; // from here on the uniform expansion (credimi/beta.py)
const LEAST_CONCENTRATION = 1e-6;

function stirlingTail(z) {
  const s = z * z;
  return z * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * (691 / 360360 - s / 156))))));
}

// log [Gamma(a + n)/Gamma(a)] - n log a
function logRise(a, n) {
  const x = a + 8, t = a * (a + 7), u = (a + n) * (a + n + 7);
  const fewer = t * (t + 6) * ((t + 10) * (t + 12)), more = u * (u + 6) * ((u + 10) * (u + 12));
  const large = (x + n - 0.5) * Math.log1p(n / x) - n + stirlingTail(1 / (x + n)) - stirlingTail(1 / x);
  return large + n * Math.log1p(8 / a) + Math.log(fewer / more);
}

function logGamma(a) {
  const x = a + 8, t = a * (a + 7);
  const large = (x - 0.5) * Math.log(x) - x + HALF_LOG_TWO_PI + stirlingTail(1 / x);
  return large - Math.log(t * (t + 6) * ((t + 10) * (t + 12)));
}

function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2.5) { // the series of erf without alternating signs
    let term = x, total = x;
    for (let k = 1; term > 1e-18 * total; k += 1) {
      term *= (2 * x * x) / (2 * k + 1);
      total += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
  }
  if (x > 40) return 0;
  let fraction = 0;
  for (let k = 100; k > 0; k -= 1) fraction = (k / 2) / (x + fraction);
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * (x + fraction));
}

// What the logarithm of a Beta's density has besides the terms in x.
function logScale(a, b) {
  const small = Math.min(a, b), large = Math.max(a, b);
  if (small >= BOTH_LARGE) {
    const series = stirlingTail(1 / (a + b)) - stirlingTail(1 / a) - stirlingTail(1 / b);
    return 0.5 * Math.log((small / (a + b)) * large) - HALF_LOG_TWO_PI + series;
  }
  return logRise(large, small) + small * Math.log(large) - logGamma(small);
}

// log of x^a (1 - x)^b / B(a, b); rest is 1 - x, with digits of its own.
function logDensity(a, b, scale, x, rest) {
  if (Math.min(a, b) < BOTH_LARGE) {
    const logX = x < 0.5 ? Math.log(x) : Math.log1p(-rest);
    const logRest = rest < 0.5 ? Math.log(rest) : Math.log1p(-x);
    return scale + a * logX + b * logRest;
  }
  const p = a / (a + b), q = b / (a + b), offset = p < q ? x - p : q - rest;
  const u = offset / p, v = -offset / q;
  const left = (u > -0.5 ? Math.log1p(u) : Math.log(x / p)) - u;
  const right = (v > -0.5 ? Math.log1p(v) : Math.log(rest / q)) - v;
  return scale + a * left + b * right;
}

// The lower tail over the density, by the continued fraction; excess is a (1 - x) - b x.
function continuedFraction(a, b, x, excess) {
  let before = 0, numerator = 1, under = 1, denominator = ((1 + excess) * a) / (a + 1);
  for (let k = 1; k < 100000; k += 1) {
    const at = a + 2 * k - 1, share = (k * (b - k) * x) / at;
    const partial = (((a + k - 1) * (a + b + k - 1) * x) / at) * share;
    const whole = k + share + ((a + k) / (at + 2)) * (1 + excess + k * (2 - x));
    [before, numerator] = [numerator, whole * numerator + partial * before];
    [under, denominator] = [denominator, whole * denominator + partial * under];
    if (Math.abs(numerator * under - before * denominator) <= 1e-15 * Math.abs(numerator * under)) break;
    if (denominator > 1e100) {
      before /= denominator;
      under /= denominator;
      numerator /= denominator;
      denominator = 1;
    }
  }
  return numerator / denominator;
}

function cubicSeries(u) {
  let total = 0;
  for (let power = 8; power >= 0; power -= 1) total = total * u + (power % 2 ? -1 : 1) / (power + 3);
  return total;
}

// The upper tail of a Beta of which both parameters are large (Temme 1982).
function peakedTail(a, b, p, q, offset) {
  const limit = 0.02 * Math.min(p, q), d = Math.min(Math.max(offset, -limit), limit);
  const left = cubicSeries(d / p), right = cubicSeries(-d / q);
  const rho = Math.sqrt(1 - 2 * d * ((q / p) * left - (p / q) * right));
  const z = d * rho * (Math.sqrt(a / p) / Math.sqrt(p * q));
  const slope = (q ** 1.5 / Math.sqrt(a)) * left - (p ** 1.5 / Math.sqrt(b)) * right;
  const correction = (Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI)) * ((-2 * slope) / (rho * (1 + rho)));
  return 0.5 * erfc(z / Math.SQRT2) + correction;
}

function betaTail(a, b, scale, x, rest) {
  const excess = a * rest - b * x, density = Math.exp(logDensity(a, b, scale, x, rest));
  if (excess >= 2 * x - 1) return 1 - Math.min(density * continuedFraction(a, b, x, excess), 1);
  return Math.min(density * continuedFraction(b, a, rest, -excess), 1);
}

function doubles(text) {
  const bytes = atob(text), out = new Uint8Array(bytes.length);
  for (let place = 0; place < bytes.length; place += 1) out[place] = bytes.charCodeAt(place);
  return new Float64Array(out.buffer);
}

// The posteriors of all features, from what the page carries: moments of the components, or draws.
function lawsOf(shipped) {
  const laws = {
    kind: shipped.kind,
    starts: shipped.starts,
    zero: doubles(shipped.p_zero),
    upper: doubles(shipped.upper),
    weight: doubles(shipped.weight),
    mean: doubles(shipped.mean),
    variance: doubles(shipped.variance),
    std: doubles(shipped.variance).map(Math.sqrt),
    points: shipped.points,
  };
  const count = laws.weight.length;
  laws.alpha = new Float64Array(count);
  laws.beta = new Float64Array(count);
  laws.scale = new Float64Array(count);
  if (laws.kind !== "beta") return laws;
  for (let feature = 0; feature < laws.upper.length; feature += 1) {
    const upper = laws.upper[feature];
    for (let part = laws.starts[feature]; part < laws.starts[feature + 1]; part += 1) {
      const mean = laws.mean[part], near = mean / upper, far = (upper - mean) / upper;
      const concentration = Math.max((near * far * upper ** 2) / laws.variance[part] - 1, LEAST_CONCENTRATION);
      laws.alpha[part] = near * concentration;
      laws.beta[part] = far * concentration;
      if (!(laws.alpha[part] > 0 && laws.beta[part] > 0 && concentration < Infinity)) laws.std[part] = 0; // a point
      else laws.scale[part] = logScale(laws.alpha[part], laws.beta[part]);
    }
  }
  return laws;
}

// The share of the draws above x, between the order statistics that the page carries.
function drawsAbove(points, x) {
  if (!points.length) return 0;
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle] > x) high = middle;
    else low = middle + 1;
  }
  if (low === 0) return 1;
  if (low === points.length) return 0;
  const place = low - 1 + (x - points[low - 1]) / (points[low] - points[low - 1]);
  return 1 - place / (points.length - 1);
}

// P(I > x) of one component.
function partAbove(laws, feature, part, x) {
  if (laws.kind === "draws") return drawsAbove(laws.points[feature], x);
  if (laws.std[part] === 0) return laws.mean[part] > x ? 1 : 0;
  if (laws.kind === "normal") return 0.5 * erfc((x - laws.mean[part]) / (laws.std[part] * Math.SQRT2));
  const upper = laws.upper[feature], share = x / upper, rest = (upper - x) / upper;
  if (share <= 0) return 1;
  if (rest <= 0) return 0;
  const a = laws.alpha[part], b = laws.beta[part], mean = laws.mean[part];
  if (Math.min(a, b) >= PEAKED) return peakedTail(a, b, mean / upper, (upper - mean) / upper, (x - mean) / upper);
  return betaTail(a, b, laws.scale[part], share, rest);
}

// P(I > x) of one feature.
function above(laws, feature, x) {
  let total = x < 0 ? laws.zero[feature] : 0;
  for (let part = laws.starts[feature]; part < laws.starts[feature + 1]; part += 1) {
    total += laws.weight[part] * partAbove(laws, feature, part, x);
  }
  return total;
}

// The least x with P(I > x) <= tail, by halving: the log-odds of x/upper for Betas, x itself for others.
function quantile(laws, feature, tail) {
  const bounded = laws.kind !== "normal", upper = laws.upper[feature];
  const positive = above(laws, feature, 0);
  if (positive <= tail && (bounded || positive + laws.zero[feature] > tail)) return 0;
  let low = -745, high = 745;
  if (!bounded) {
    [low, high] = [Infinity, -Infinity];
    for (let part = laws.starts[feature]; part < laws.starts[feature + 1]; part += 1) {
      low = Math.min(low, laws.mean[part] - 40 * laws.std[part]);
      high = Math.max(high, laws.mean[part] + 40 * laws.std[part]);
    }
  }
  const at = (y) => (bounded ? upper / (1 + Math.exp(-y)) : y);
  for (let step = 0; step < 60; step += 1) {
    const middle = 0.5 * (low + high);
    if (above(laws, feature, at(middle)) > tail) low = middle;
    else high = middle;
  }
  return at(high);
}

// The credible interval; where its lower end is the atom at 0, what is not left below may be left above.
function interval(laws, feature, level) {
  const low = quantile(laws, feature, 0.5 + level / 2);
  if (low !== 0 || laws.zero[feature] === 0) return [low, quantile(laws, feature, 0.5 - level / 2)];
  const below = Math.max(1 - above(laws, feature, 0) - laws.zero[feature], 0);
  return [low, quantile(laws, feature, 1 - level - below)];
}

// The density of what is not the atom.
function density(laws, feature, x) {
  if (laws.kind === "draws") {
    const points = laws.points[feature], reach = Math.max(1, points.length >> 5), last = points.length - 1;
    const place = Math.round((1 - drawsAbove(points, x)) * last);
    const from = Math.max(place - reach, 0), to = Math.min(place + reach, last);
    if (x < points[0] || x > points[last] || points[to] <= points[from]) return 0;
    return ((1 - laws.zero[feature]) * (to - from)) / (last * (points[to] - points[from]));
  }
  let total = 0;
  for (let part = laws.starts[feature]; part < laws.starts[feature + 1]; part += 1) {
    const std = laws.std[part], upper = laws.upper[feature];
    if (std === 0) continue;
    if (laws.kind === "normal" || Math.min(laws.alpha[part], laws.beta[part]) >= PEAKED) {
      const z = (x - laws.mean[part]) / std;
      total += (laws.weight[part] * Math.exp(-0.5 * z * z)) / (std * Math.sqrt(2 * Math.PI));
    } else if (x > 0 && x < upper) {
      const share = x / upper, rest = (upper - x) / upper;
      const logarithm = logDensity(laws.alpha[part], laws.beta[part], laws.scale[part], share, rest);
      total += (laws.weight[part] * Math.exp(logarithm)) / (share * rest * upper);
    }
  }
  return total;
}
