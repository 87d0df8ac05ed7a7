// Tails and quantiles of a mixture of Betas on [0, upper] with an atom at 0: `inference.distributions.mixture_tails` has the formulas.

#ifdef __CUDACC__
#define MOST_TERMS 2000  // a table that needs more goes to the CPU
#else
#define MOST_TERMS 100000
#endif

CALLED double log_scale(double a, double b) {
  double small = fmin(a, b), large = fmax(a, b);
  if (small >= 20.0) {
    double series = stirling_tail(1.0 / (a + b)) - stirling_tail(1.0 / a) - stirling_tail(1.0 / b);
    return 0.5 * log(small / (a + b) * large) - 0.91893853320467274178 + series;
  }
  return log_rise(large, small) + small * log(large) - lgamma(small);
}

CALLED double log_density(double a, double b, double scale, double x, double rest) {
  if (fmin(a, b) < 20.0) {
    double log_x = x < 0.5 ? log(x) : log1p(-rest), log_rest = rest < 0.5 ? log(rest) : log1p(-x);
    return scale + a * log_x + b * log_rest;
  }
  double p = a / (a + b), q = b / (a + b), offset = p < q ? x - p : q - rest;
  double u = offset / p, v = -offset / q;
  double left = (u > -0.5 ? log1p(u) : log(x / p)) - u, right = (v > -0.5 ? log1p(v) : log(rest / q)) - v;
  return scale + a * left + b * right;
}

// I_x(a, b)/g by its continued fraction; excess = a (1 - x) - b x. `slow` is set where it does not end soon.
CALLED double fraction(double a, double b, double x, double excess, bool& slow) {
  double before = 0.0, numerator = 1.0, under = 1.0, denominator = (1.0 + excess) * a / (a + 1.0);
  int term = 1;
  ONCE for (; term < MOST_TERMS; ++term) {
    double k = term, at = a + 2.0 * k - 1.0, inverse = 1.0 / (at * (at + 2.0));
    double over = (at + 2.0) * inverse;  // 1 / at, at the price of one division for both
    double share = k * (b - k) * x * over;
    double partial = (a + k - 1.0) * (a + b + k - 1.0) * x * over * share;
    double whole = k + share + (a + k) * (at * inverse) * (1.0 + excess + k * (2.0 - x));
    double next = whole * numerator + partial * before, below = whole * denominator + partial * under;
    before = numerator;
    numerator = next;
    under = denominator;
    denominator = below;
    if (fabs(numerator * under - before * denominator) <= 1e-15 * fabs(numerator * under)) break;
    if (denominator > 1e100) {
      double scale = 1.0 / denominator;
      before *= scale;
      under *= scale;
      numerator *= scale;
      denominator = 1.0;
    }
  }
  slow = slow || term == MOST_TERMS;
  return numerator / denominator;
}

struct Tails {
  double below, above;
};

DEVICE Tails beta_tails(double a, double b, double density, double x, double rest, bool& slow) {
  double excess = a * rest - b * x;
  bool lower = excess >= 2.0 * x - 1.0;  // x <= (a + 1)/(a + b + 2)
  double part = fraction(lower ? a : b, lower ? b : a, lower ? x : rest, lower ? excess : -excess, slow);
  part = fmin(density * part, 1.0);
  return lower ? Tails{part, 1.0 - part} : Tails{1.0 - part, part};
}

template <int POINTS>
struct Mixture {
  int size;
  double p_zero, upper, weight[POINTS], a[POINTS], b[POINTS], scale[POINTS];
  bool slow;

  MEMBER double above(double x) {
    double share = x / upper, rest = (upper - x) / upper, total = x < 0.0 ? p_zero : 0.0;
    ONCE for (int part = 0; part < size; ++part) {
      if (share <= 0.0) total += weight[part];
      else if (rest > 0.0)
        total += weight[part]
                 * beta_tails(a[part], b[part], exp(log_density(a[part], b[part], scale[part], share, rest)), share,
                              rest, slow).above;
    }
    return fmin(fmax(total, 0.0), 1.0);
  }

  // The least x with P(I > x) <= tail
  MEMBER double quantile(double tail) {
    double whole = 0.0, centre = 0.0, rest = 0.0, low = -745.0, high = 745.0;
    ONCE for (int part = 0; part < size; ++part) {
      double own = weight[part];
      whole += own;
      centre += own * a[part] / (a[part] + b[part]);
      rest += own * b[part] / (a[part] + b[part]);
    }
    if (whole <= tail) return 0.0;
    double y = log(centre / rest), goal = log(tail / (whole - tail));
    y = low < y && y < high ? y : 0.5 * (low + high);
    ONCE for (int step = 0; step < 400; ++step) {
      double share = 1.0 / (1.0 + exp(-y)), other = 1.0 / (1.0 + exp(y));
      double above = 0.0, below = 0.0, density = 0.0, slope = 0.0, bend = 0.0, wild = 0.0, reach = 0.0;
      ONCE for (int part = 0; part < size; ++part) {
        double alpha = a[part], beta = b[part], w = weight[part];
        double own = exp(log_density(alpha, beta, scale[part], share, other));
        Tails tails = beta_tails(alpha, beta, own, share, other, slow);
        double one = alpha * other - beta * share, two = -(alpha + beta) * share * other;
        own *= w;
        above += w * tails.above;
        below += w * tails.below;
        double change = fabs(one) + sqrt(-two);
        density += own;
        slope += own * one;
        bend += own * (one * one + two);
        wild += own * change * change * change;
        reach = fmax(reach, change);
      }
      double excess = above < below ? above - tail : whole - tail - below;
      if (excess > 0.0) low = y;
      else high = y;
      double move = excess / density;
      if (reach * fabs(move) < 0.3 && wild / density * move * move * move * move < 1e-12) {
        double one = slope / density, two = bend / density;
        y += move * (1.0 - move * (0.5 * one - move * (0.5 * one * one - two / 6.0)));
        break;
      }
      double trial = y + (log(above / below) - goal) * above * below / (density * whole);
      y = low < trial && trial < high ? trial : 0.5 * (low + high);
      if (high - low <= 1e-15 * fabs(y)) break;
    }
    return upper / (1.0 + exp(-y));
  }
};
