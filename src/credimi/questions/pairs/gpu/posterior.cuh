// The posterior of one table with the adaptive prior: `inference.evidence.adaptive_prior`, `kernels.adaptive_weights` and
// `inference.many_tables` have the formulas. Tables that need more than the closed forms are left to the CPU.

struct Options {
  double smoothing, loosest, tightest, prior_zero, negligible;  // of the prior
  double level, epsilon;
  int most_points;
  int wanted;  // bits: what costs extra
};

enum Wanted { INTERVAL = 1, ABOVE = 2, EVIDENCE = 4 };
enum Figure { P_INDEPENDENT, MEAN, LOW, HIGH, P_ABOVE, LOG_EVIDENCE, COMPLETE, FIGURES };

template <int SIDE, int CELLS>
struct Table {
  int r, s;  // s <= r
  double n[CELLS], row_only[SIDE], column_only[SIDE];
  double by_class[SIDE], by_value[SIDE], classes[SIDE], values[SIDE], total;
  bool rows_miss, columns_miss;  // rows of the data that lack the column's value, or the row's

  // The margins, and their shares, to which rows that miss the other side count.
  METHOD void fill_shares(double smoothing) {
    double of_classes = 0.0, of_values = 0.0;
    total = 0.0;
    rows_miss = columns_miss = false;
    EACH for (int j = 0; j < s; ++j) by_value[j] = 0.0;
    EACH for (int i = 0; i < r; ++i) {
      by_class[i] = 0.0;
      EACH for (int j = 0; j < s; ++j) {
        by_class[i] += n[i * s + j];
        by_value[j] += n[i * s + j];
      }
      rows_miss = rows_miss || row_only[i] != 0.0;
      classes[i] = by_class[i] + row_only[i] + smoothing;
      of_classes += classes[i];
      total += by_class[i];
    }
    EACH for (int j = 0; j < s; ++j) {
      columns_miss = columns_miss || column_only[j] != 0.0;
      values[j] = by_value[j] + column_only[j] + smoothing;
      of_values += values[j];
    }
    EACH for (int i = 0; i < r; ++i) classes[i] /= of_classes;
    EACH for (int j = 0; j < s; ++j) values[j] /= of_values;
  }

  // log B_K of the complete rows
  METHOD double score(double strength) const {
    double found = log_rise(strength, total);
    EACH for (int i = 0; i < r; ++i) found -= log_rise(strength * classes[i], by_class[i]);
    EACH for (int j = 0; j < s; ++j) found -= log_rise(strength * values[j], by_value[j]);
    EACH for (int i = 0; i < r; ++i)
      EACH for (int j = 0; j < s; ++j)
        if (n[i * s + j] > 1.0) found += log_rise(strength * classes[i] * values[j], n[i * s + j]);
    return found;
  }

  METHOD Moments moments(double strength) const {
    double counts[CELLS];
    EACH for (int i = 0; i < r; ++i)
      EACH for (int j = 0; j < s; ++j) counts[i * s + j] = n[i * s + j] + strength * classes[i] * values[j];
    if (columns_miss) return matched<SIDE, CELLS>(counts, column_only, s, r, 1, s, true);
    Moments one = matched<SIDE, CELLS>(counts, row_only, r, s, s, 1, rows_miss);
    if (rows_miss) return one;
    Moments other = matched<SIDE, CELLS>(counts, column_only, s, r, 1, s, false);
    return {0.5 * one.mean + 0.5 * other.mean, 0.5 * one.variance + 0.5 * other.variance, other.thin};
  }
};

template <int POINTS>
struct Grid {
  int points, freedom;
  double strength[POINTS], score[POINTS], mean[POINTS], variance[POINTS];

  METHOD int highest(const double* of) const {
    int top = 0;
    ONCE for (int point = 1; point < points; ++point)
      if (of[point] > of[top]) top = point;
    return top;
  }

  METHOD bool is_peaked(const double* of, double rival) const {
    if (freedom < 80) return false;
    int top = min(max(highest(of), 1), points - 2);
    return of[top - 1] - 2.0 * of[top] + of[top + 1] < -5.0 && of[top] > rival - 40.0;
  }
};

// Between known points D is guessed to be linear, below the first constant, and beyond the last to fall to 0.
DEVICE void fill_guesses(double* guess, unsigned known, int points) {
  int left = -1;
  ONCE for (int point = 0; point < points; ++point) {
    bool is_known = known >> point & 1;
    if (!is_known && point < points - 1) continue;
    if (!is_known) guess[point] = 0.0;
    ONCE for (int between = left + 1; between < point; ++between) {
      double part = left >= 0 ? (between - left) / (double)(point - left) : 1.0, start = left >= 0 ? guess[left] : 0.0;
      guess[between] = start + part * (guess[point] - start);
    }
    left = point;
  }
}

// The point to look at next, -1 where all that may matter are known.
DEVICE int next_point(const double* score, const double* guess, unsigned known, int points, double rival) {
  double best = rival, promise = -INFINITY;
  ONCE for (int point = 0; point < points; ++point)
    if (known >> point & 1) best = fmax(best, score[point] + guess[point]);
  int left = -1, chosen = -1;
  ONCE for (int point = 0; point < points; ++point) {
    double guessed = score[point] + guess[point];
    bool is_known = known >> point & 1;
    if (is_known || point == points - 1) {
      if (left >= 0 && point - left > 2 && fabs(guess[point] - guess[left]) > 12.0) return (point + left) / 2;
      left = point;
    }
    if (is_known) continue;
    int below = max(point - 1, 0), above = min(point + 1, points - 1);
    bool beside = ((known >> below & 1) && score[below] + guess[below] > best - 14.0)
                  || ((known >> above & 1) && score[above] + guess[above] > best - 14.0);
    if ((beside || guessed > best - 14.0) && guessed > promise) {
      chosen = point;
      promise = guessed;
    }
  }
  return chosen;
}

// Scores and moments where both sides miss, into the grid; -infinity where a point does not matter.
template <int SIDE, int CELLS, int POINTS>
DEVICE bool look_at_points(const Table<SIDE, CELLS>& table, Grid<POINTS>& grid, double rival, double least_weight,
                           bool may_zoom, bool& peaked) {
  const int r = table.r, s = table.s, points = grid.points;
  double guess[POINTS], whole[POINTS], best = rival;
  unsigned known = 0;
  bool scouting = may_zoom && grid.freedom >= 80;
  int point = grid.highest(grid.score);
  Mode<SIDE, CELLS> at;
  at.r = r;
  at.s = s;
  EACH for (int i = 0; i < r; ++i) at.row_only[i] = table.row_only[i];
  EACH for (int j = 0; j < s; ++j) at.column_only[j] = table.column_only[j];
  ONCE while (point >= 0) {
    EACH for (int i = 0; i < r; ++i)
      EACH for (int j = 0; j < s; ++j)
        at.counts[i * s + j] = table.n[i * s + j] + grid.strength[point] * table.classes[i] * table.values[j];
    if (!at.find_mode() || laplace_is_doubtful(at)) return false;
    guess[point] = margins_evidence(at);
    if (grid.score[point] + guess[point] < best + least_weight) {
      grid.mean[point] = grid.variance[point] = 0.0;  // it will be dropped
    } else {
      Moments found = moments_at_mode(at);
      grid.mean[point] = found.mean;
      grid.variance[point] = found.variance;
    }
    known |= 1u << point;
    best = fmax(best, grid.score[point] + guess[point]);
    fill_guesses(guess, known, points);
    ONCE for (int each = 0; each < points; ++each) whole[each] = grid.score[each] + guess[each];
    point = -1;
    if (scouting) {
      int top = grid.highest(whole), below = max(top - 1, 0), above = min(top + 1, points - 1);
      point = !(known >> top & 1) ? top : !(known >> below & 1) ? below : !(known >> above & 1) ? above : -1;
    }
    if (point < 0 && !(scouting && grid.is_peaked(whole, rival))) {
      scouting = false;
      point = next_point(grid.score, guess, known, points, rival);
    }
  }
  peaked = grid.is_peaked(whole, rival);
  ONCE for (int each = 0; each < points; ++each)
    grid.score[each] = peaked && may_zoom || known >> each & 1 ? whole[each] : -INFINITY;
  return true;
}

// All figures of one table; false where it is left to the CPU.
template <int SIDE, int CELLS, int POINTS, bool MAY_MISS_BOTH>
DEVICE bool summarize(Table<SIDE, CELLS>& table, const Options& options, double* figures) {
  const int r = table.r, s = table.s;
  table.fill_shares(options.smoothing);
  const bool both = MAY_MISS_BOTH && table.rows_miss && table.columns_miss;
  Grid<POINTS> grid;
  grid.freedom = (r - 1) * (s - 1);
  grid.points = grid.freedom >= 16 ? options.most_points : options.most_points * 2 / 3;
  const int points = grid.points;
  const double log_zero = log(options.prior_zero);
  double log_point = log((1.0 - options.prior_zero) / points), least = options.loosest;
  double ratio = pow(options.tightest * s * fmax(table.total, (double)(r * s)) / options.loosest, 1.0 / (points - 1));
  ONCE for (int zoom = 0; zoom <= 8; ++zoom) {
    double strength = least;
    ONCE for (int point = 0; point < points; ++point) {
      grid.strength[point] = strength;
      grid.score[point] = table.score(strength);
      strength *= ratio;
    }
    const double rival = log_zero - log_point;
    bool peaked = false;
    if constexpr (MAY_MISS_BOTH) if (both) {
      if (!look_at_points<SIDE, CELLS, POINTS>(table, grid, rival, log(options.negligible) - 1e-6, zoom < 8, peaked))
        return false;
    }
    if (!both) peaked = grid.is_peaked(grid.score, rival);
    if (zoom == 8 || !peaked) break;
    int top = grid.highest(grid.score), begin = max(top - 2, 0), end = min(top + 2, points - 1);
    least = grid.strength[begin];
    double finer = pow(grid.strength[end] / least, 1.0 / (points - 1));
    log_point += log(log(finer) / log(ratio));
    ratio = finer;
  }
  // Scores become weights.
  double best = log_zero, zero, whole;
  ONCE for (int point = 0; point < points; ++point) best = fmax(best, grid.score[point] + log_point);
  whole = zero = exp(log_zero - best);
  ONCE for (int point = 0; point < points; ++point) {
    grid.score[point] = exp(grid.score[point] + log_point - best);
    whole += grid.score[point];
  }
  const double bound = options.negligible * whole;
  whole = zero;
  ONCE for (int point = 0; point < points; ++point)
    if (grid.score[point] >= bound) whole += grid.score[point];
  Mixture<POINTS> law;
  law.size = 0;
  law.p_zero = zero / whole;
  law.upper = log((double)s);
  law.slow = false;
  double mean = 0.0, weights = 0.0;
  ONCE for (int point = 0; point < points; ++point) {
    if (!(grid.score[point] >= bound)) continue;
    double weight = grid.score[point] / whole;
    Moments found = both ? Moments{grid.mean[point], grid.variance[point], false} : table.moments(grid.strength[point]);
    bool held = found.variance > 0.0 && found.mean < law.upper && found.variance < found.mean * (law.upper - found.mean);
    double near = found.mean / law.upper, far = (law.upper - found.mean) / law.upper;
    double concentration = near * far * law.upper * law.upper / found.variance - 1.0;
    double a = near * concentration, b = far * concentration, lesser = fmin(a, b);
    if (!held || found.thin || !(lesser > 1e-3 && lesser < 1e9 && concentration < 1e20)) return false;
    mean += weight * found.mean;
    weights += weight;
    law.weight[law.size] = weight;
    law.a[law.size] = a;
    law.b[law.size] = b;
    ++law.size;
  }
  figures[P_INDEPENDENT] = law.p_zero;
  figures[MEAN] = mean;
  figures[LOG_EVIDENCE] = log(whole - zero) + best - log_zero;  // has digits where P(independent) has none left
  figures[COMPLETE] = table.total;
  if (options.wanted & (INTERVAL | ABOVE))
    ONCE for (int part = 0; part < law.size; ++part) law.scale[part] = log_scale(law.a[part], law.b[part]);
  if (options.wanted & ABOVE) figures[P_ABOVE] = law.above(options.epsilon);
  if (options.wanted & INTERVAL) {
    const double tail = 0.5 * (1.0 - options.level), low = law.quantile(1.0 - tail);
    const double rest = 1.0 - options.level - fmax(1.0 - fmin(weights, 1.0) - law.p_zero, 0.0);
    figures[LOW] = low;
    figures[HIGH] = law.quantile(low == 0.0 && law.p_zero > 0.0 ? rest : tail);
  }
  return !law.slow;
}
