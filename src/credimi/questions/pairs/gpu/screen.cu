// The first look at pairs of columns that may tell more, or less, together than apart: `kernels.pair_screen` has the
// formulas. A missing value counts as a value, the last; so every column is complete, and its last value remains.
// `product[class]` has the common counts of the rows of a class.

DEVICE double n_log_n(int n) { return n > 1 ? n * log((double)n) : 0.0; }

DEVICE double best_evidence(double ratio, double freedom) {
  if (freedom <= 0.0 || 2.0 * ratio <= freedom) return 0.0;
  return ratio - 0.5 * freedom * (1.0 + log(2.0 * ratio / freedom));
}

#ifdef SCREEN_SIDE  // the most values of a column; SCREEN_CELLS is the most classes times values, and values squared

struct Joint {
  const int* product;
  const int* first_totals;   // (value, class)
  const int* second_totals;
  long long width, size;     // of a row, and of a class
  int classes, values, others;

  // Calls use(class, value, other value, count) of every cell.
  template <typename Use>
  METHOD void each(Use use) const {
    int rest[SCREEN_SIDE];
    ONCE for (int i = 0; i < classes; ++i) {
      ONCE for (int k = 0; k < others; ++k) rest[k] = second_totals[k * classes + i];
      ONCE for (int j = 0; j < values; ++j) {
        int left = first_totals[j * classes + i];
        ONCE for (int k = 0; k < others; ++k) {
          int n;
          if (j == values - 1) n = rest[k];
          else if (k == others - 1) n = left;
          else n = product[i * size + j * width + k];
          rest[k] -= n;
          left -= n;
          use(i, j, k, n);
        }
      }
    }
  }
};

struct Look {
  double evidence, synergy, complete;
};

DEVICE int there(const int* counts, int size, int stride) {
  int found = -1;
  ONCE for (int at = 0; at < size; ++at) found += counts[at * stride] > 0;
  return max(found, 0);
}

// The least evidence of the three edges, the synergy, and the rows that have both columns, s and t values not missing.
DEVICE Look figures_of(const Joint& joint, int s, int t) {
  const int r = joint.classes;
  int xy[SCREEN_CELLS], wy[SCREEN_CELLS], xw[SCREEN_CELLS];
  double whole = 0.0, of_xy = 0.0, of_wy = 0.0, of_xw = 0.0, of_x = 0.0, of_w = 0.0, of_y = 0.0;
  ONCE for (int at = 0; at < r * s; ++at) xy[at] = 0;
  ONCE for (int at = 0; at < r * t; ++at) wy[at] = 0;
  ONCE for (int at = 0; at < s * t; ++at) xw[at] = 0;
  joint.each([&](int i, int j, int k, int n) {
    if (j >= s || k >= t) return;
    whole += n_log_n(n);
    xy[i * s + j] += n;
    wy[i * t + k] += n;
    xw[j * t + k] += n;
  });
  double per_class = 0.0, per_x = 0.0, per_w = 0.0;  // degrees of freedom
  int total = 0;
  ONCE for (int i = 0; i < r; ++i) {
    int sum = 0;
    ONCE for (int j = 0; j < s; ++j) {
      of_xy += n_log_n(xy[i * s + j]);
      sum += xy[i * s + j];
    }
    ONCE for (int k = 0; k < t; ++k) of_wy += n_log_n(wy[i * t + k]);
    of_y += n_log_n(sum);
    total += sum;
    per_class += (double)there(xy + i * s, s, 1) * there(wy + i * t, t, 1);
  }
  ONCE for (int j = 0; j < s; ++j) {
    int sum = 0;
    ONCE for (int k = 0; k < t; ++k) {
      of_xw += n_log_n(xw[j * t + k]);
      sum += xw[j * t + k];
    }
    of_x += n_log_n(sum);
    per_x += (double)there(xy + j, r, s) * there(xw + j * t, t, 1);
  }
  ONCE for (int k = 0; k < t; ++k) {
    int sum = 0;
    ONCE for (int j = 0; j < s; ++j) sum += xw[j * t + k];
    of_w += n_log_n(sum);
    per_w += (double)there(wy + k, r, t) * there(xw + k, s, t);
  }
  if (total == 0) return {0.0, 0.0, 0.0};
  double least = best_evidence(whole - of_xy - of_wy + of_y, per_class);
  least = fmin(least, best_evidence(whole - of_xw - of_wy + of_w, per_w));
  least = fmin(least, best_evidence(whole - of_xw - of_xy + of_x, per_x));
  double together = whole - of_xw - of_xy - of_wy + of_x + of_w + of_y - n_log_n(total);
  return {least, together / total, (double)total};
}

// Lists the pairs (first * second_block + second) that may be more than nothing, with evidence, synergy and whether
// the table is too sparse for this evidence.
extern "C" __global__ void __launch_bounds__(128) screen_pairs(
    const int* product, long long width, long long size, int first_block, int second_block, long long first_start,
    long long second_start, const int* first_rows, const int* second_rows, const int* first_values,
    const int* second_values, const int* first_missing, const int* second_missing, const int* first_totals,
    const int* second_totals, const double* first_alone, const double* second_alone, const int* first_informative,
    const int* second_informative, int most, int classes, double rows, double of_classes, const double* bounds,
    int bounds_width, double cut, double redundancy, double dense_rows, int* count, long long* numbers,
    double* scores, int* sparse) {
  const long long number = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= (long long)first_block * second_block) return;
  const int a = (int)(number / second_block), b = (int)(number % second_block);
  if (first_start + a >= second_start + b) return;
  const int values = first_values[a], others = second_values[b];
  const int s = values - first_missing[a], t = others - second_missing[b];
  const Joint joint = {product + first_rows[a] * width + second_rows[b], first_totals + (long long)a * most * classes,
                       second_totals + (long long)b * most * classes, width, size, classes, values, others};
  const bool redundant = first_informative[a] && second_informative[b];
  const double enough = dense_rows * classes * values * others;
  if (rows >= enough && !redundant) {
    double ratio = of_classes - first_alone[a] - second_alone[b];
    joint.each([&](int, int, int, int n) { ratio += n_log_n(n); });
    if (ratio < bounds[s * bounds_width + t]) return;
  }
  const Look look = figures_of(joint, s, t);
  const bool is_sparse = look.complete < enough;
  if (!is_sparse && !(look.evidence > cut) && !(redundant && look.synergy < redundancy)) return;
  const int at = atomicAdd(count, 1);
  numbers[at] = number;
  scores[2LL * at] = look.evidence;
  scores[2LL * at + 1] = look.synergy;
  sparse[at] = is_sparse;
}
#endif
