// Evidence and matched moments at the mode where both sides miss: `kernels.two_sided_weights` and
// `inference.moments.two_sided` have the formulas.

// D_K: what the rows that lack one side add to the evidence
template <int SIDE, int CELLS>
DEVICE double margins_evidence(const Mode<SIDE, CELLS>& at) {
  const int r = at.r, s = at.s;
  double column_sums[SIDE], total = 0.0, of_rows = 0.0, of_columns = 0.0;
  EACH for (int j = 0; j < s; ++j) {
    column_sums[j] = 0.0;
    of_columns += at.column_only[j];
    EACH for (int i = 0; i < r; ++i) column_sums[j] += at.counts[i * s + j];
    total += column_sums[j];
  }
  EACH for (int i = 0; i < r; ++i) of_rows += at.row_only[i];
  double with_rows = total + of_rows, with_columns = total + of_columns, all_rows = total + of_rows + of_columns;
  double scale = with_rows * with_columns / total, likelihood = 0.0;
  double determinant = -log(all_rows * total / (with_rows * with_columns));
  EACH for (int i = 0; i < r; ++i) {
    double row_sum = 0.0, row_scale = 0.0;
    EACH for (int j = 0; j < s; ++j) {
      row_sum += at.counts[i * s + j];
      row_scale += at.scale[i * s + j];
    }
    double given_row = scale * row_sum / (row_sum + at.row_only[i]);
    EACH for (int j = 0; j < s; ++j) {
      double share = column_sums[j] / (column_sums[j] + at.column_only[j]);
      likelihood += at.counts[i * s + j] * log(at.chance[i * s + j] / at.counts[i * s + j] * given_row * share);
    }
    likelihood += at.row_only[i] * log(at.row_sum[i] * with_rows / (row_sum + at.row_only[i]));
    determinant += log((1.0 + at.row_slope[i] * row_scale / at.row_sum[i]) / (1.0 + at.row_only[i] / row_sum));
  }
  EACH for (int j = 0; j < s; ++j) {
    likelihood += at.column_only[j] * log(at.column_sum[j] * with_columns / (column_sums[j] + at.column_only[j]));
    double inverse = at.factor[j * s + j];
    if (!(inverse > 0.0)) return 0.0;
    determinant -= log(inverse * inverse * at.column_sum[j] * (1.0 + at.column_only[j] / column_sums[j]));
  }
  double put_back = stirling_error(with_rows) + stirling_error(with_columns);
  put_back -= stirling_error(all_rows) + stirling_error(total);
  return likelihood - 0.5 * determinant + put_back;
}

// Whether Laplace's formula may be off: `doubt` of `inference.evidence.allocation_sum` is above 0
template <int SIDE, int CELLS>
DEVICE bool laplace_is_doubtful(const Mode<SIDE, CELLS>& at) {
  bool doubtful = at.total > 1e11;
  EACH for (int i = 0; i < at.r; ++i) {
    EACH for (int j = 0; j < at.s; ++j) {
      double c = at.counts[i * at.s + j], chance = at.chance[i * at.s + j];
      double left = fmin(at.row_only[i] * chance / at.row_sum[i], at.column_only[j] * chance / at.column_sum[j]);
      doubtful = doubtful || (left > 0.5 * c && left > 0.2 * c * (c + left));
    }
  }
  return doubtful;
}

template <int SIDE, int CELLS>
DEVICE double doubtful_chances(const Mode<SIDE, CELLS>& at) {
  double doubtful = 0.0;
  EACH for (int i = 0; i < at.r; ++i) {
    double sum = 0.0;
    EACH for (int j = 0; j < at.s; ++j) {
      sum += at.counts[i * at.s + j];
      if (at.counts[i * at.s + j] < 0.3) doubtful += at.chance[i * at.s + j];
    }
    if (sum <= fmin(3.0, at.row_only[i])) doubtful += at.row_sum[i];
  }
  EACH for (int j = 0; j < at.s; ++j) {
    double sum = 0.0;
    EACH for (int i = 0; i < at.r; ++i) sum += at.counts[i * at.s + j];
    if (sum <= fmin(3.0, at.column_only[j])) doubtful += at.column_sum[j];
  }
  return doubtful;
}

// Where many cells hold next to no count: a table whose rows, or columns, are given the chances of the mode.
template <int SIDE, int CELLS>
CALLED Moments moments_given_side(const Mode<SIDE, CELLS>& at, bool turned) {
  double cells[CELLS], margin[SIDE];
  const int rows = turned ? at.s : at.r, columns = turned ? at.r : at.s;
  const int down = turned ? 1 : at.s, right = turned ? at.s : 1;
  EACH for (int i = 0; i < rows; ++i) {
    double sum = 0.0, share = turned ? at.column_sum[i] : at.row_sum[i];
    EACH for (int j = 0; j < columns; ++j) sum += at.counts[i * down + j * right];
    EACH for (int j = 0; j < columns; ++j) cells[i * down + j * right] = sum * at.chance[i * down + j * right] / share;
    margin[i] = fmax(at.total * share - sum, 0.0);
  }
  return matched<SIDE, CELLS>(cells, margin, rows, columns, down, right, true);
}

struct BetaTerms {
  double shift, slope, bend, spread;
};

DEVICE BetaTerms beta_terms(double mean, double variance) {
  double rest = 1.0 - mean;
  if (!(mean > 0.0 && rest > 0.0 && variance > 0.0)) return {0.0, 0.0, 0.0, 0.0};
  double nu = mean * rest / variance, alpha = mean * nu, e = log_excess(alpha) - log_excess(nu);
  return {mean * e, e - 1.0 / (nu + 1.0), rest / (nu + 1.0), 2.0 * log_spread(alpha)};
}

// Variance of the sum of a block of chances, as that of all others together.
template <int SIDE, int CELLS>
CALLED double variance_of_block(Mode<SIDE, CELLS>& at, int top, int bottom, int left, int right) {
  double others[CELLS], rest = 0.0;
  EACH for (int i = 0; i < at.r; ++i)
    EACH for (int j = 0; j < at.s; ++j) {
      bool inside = top <= i && i < bottom && left <= j && j < right;
      others[i * at.s + j] = inside ? 0.0 : 1.0;
      rest += inside ? 0.0 : at.chance[i * at.s + j];
    }
  EACH for (int cell = 0; cell < at.r * at.s; ++cell) others[cell] -= rest;
  return at.quadratic_form(others);
}

// Variances of the cells and of the sums of rows and columns
template <int SIDE, int CELLS>
DEVICE void variances(Mode<SIDE, CELLS>& at, double* of_cells, double* of_rows, double* of_columns) {
  const int r = at.r, s = at.s;
  const double all = 1.0 - 1e-6;
  double inverse[CELLS], product[SIDE];
  EACH for (int j = 0; j < s; ++j) {
    EACH for (int k = 0; k < s; ++k) inverse[j * s + k] = 0.0;
    inverse[j * s + j] = at.root[j];
    at.substitute(inverse + j * s);
    EACH for (int k = 0; k < s; ++k) inverse[j * s + k] *= at.root[k];
    of_columns[j] = 0.0;
  }
  EACH for (int i = 0; i < r; ++i) {
    double gain = at.row_gain[i], sum_scale = 0.0, quadratic = 0.0;
    EACH for (int j = 0; j < s; ++j) {
      double value = 0.0;
      EACH for (int k = 0; k < s; ++k) value += inverse[j * s + k] * at.scale[i * s + k];
      product[j] = value;
      quadratic += value * at.scale[i * s + j];
      sum_scale += at.scale[i * s + j];
    }
    double held = 1.0 - gain * sum_scale;
    of_rows[i] = held * sum_scale - held * held * quadratic - at.row_sum[i] * at.row_sum[i] / at.total;
    EACH for (int j = 0; j < s; ++j) {
      double v = at.scale[i * s + j], own = v * (1.0 - gain * v);
      double shared = v * v * (inverse[j * s + j] - 2.0 * gain * product[j] + gain * gain * quadratic);
      of_cells[i * s + j] = own - shared - at.chance[i * s + j] * at.chance[i * s + j] / at.total;
      of_columns[j] += own;
    }
  }
  EACH for (int j = 0; j < s; ++j) {
    EACH for (int k = 0; k < s; ++k) product[k] = 0.0;
    EACH for (int i = 0; i < r; ++i) {
      double weight = at.row_gain[i] * at.scale[i * s + j];
      product[j] += at.scale[i * s + j];
      EACH for (int k = 0; k < s; ++k) product[k] -= weight * at.scale[i * s + k];
    }
    double quadratic = 0.0;
    EACH for (int k = 0; k < s; ++k) {
      double value = 0.0;
      EACH for (int other = 0; other < s; ++other) value += inverse[k * s + other] * product[other];
      quadratic += value * product[k];
    }
    of_columns[j] -= quadratic + at.column_sum[j] * at.column_sum[j] / at.total;
  }
  // Differences without digits are put right, by a solve for each.
  EACH for (int i = 0; i < r; ++i)
    if (at.row_sum[i] > all) of_rows[i] = variance_of_block(at, i, i + 1, 0, s);
  EACH for (int j = 0; j < s; ++j) {
    if (at.column_sum[j] > all) of_columns[j] = variance_of_block(at, 0, r, j, j + 1);
    EACH for (int i = 0; i < r; ++i)
      if (at.chance[i * s + j] > all || at.counts[i * s + j] < 1e-4 * at.total * at.chance[i * s + j])
        of_cells[i * s + j] = variance_of_block(at, i, i + 1, j, j + 1);
  }
}

// Mean and variance of I by matched Betas at the mode
template <int SIDE, int CELLS>
DEVICE Moments moments_at_mode(Mode<SIDE, CELLS>& at) {
  const int r = at.r, s = at.s;
  if (doubtful_chances(at) > 0.02) {
    Moments one = moments_given_side(at, false), other = moments_given_side(at, true);
    return {0.5 * one.mean + 0.5 * other.mean, 0.5 * one.variance + 0.5 * other.variance, false};
  }
  double gradient[CELLS], of_cells[CELLS], of_rows[SIDE], of_columns[SIDE], information = 0.0;
  EACH for (int i = 0; i < r; ++i)
    EACH for (int j = 0; j < s; ++j) {
      gradient[i * s + j] = log(at.chance[i * s + j] / (at.row_sum[i] * at.column_sum[j]));
      information += at.chance[i * s + j] * gradient[i * s + j];
    }
  variances(at, of_cells, of_rows, of_columns);
  double mean = fmax(information, 0.0), trace = 0.0, tempered = 0.0;
  EACH for (int i = 0; i < r; ++i) {
    BetaTerms terms = beta_terms(at.row_sum[i], of_rows[i]);
    of_rows[i] = terms.slope;
    mean -= terms.shift;
    trace -= terms.bend;
    tempered -= terms.bend * terms.spread;
  }
  EACH for (int j = 0; j < s; ++j) {
    BetaTerms terms = beta_terms(at.column_sum[j], of_columns[j]);
    of_columns[j] = terms.slope;
    mean -= terms.shift;
    trace -= terms.bend;
    tempered -= terms.bend * terms.spread;
  }
  double centre = 0.0;
  EACH for (int i = 0; i < r; ++i)
    EACH for (int j = 0; j < s; ++j) {
      BetaTerms terms = beta_terms(at.chance[i * s + j], of_cells[i * s + j]);
      mean += terms.shift;
      trace += terms.bend;
      tempered += terms.bend * terms.spread;
      gradient[i * s + j] += terms.slope - of_rows[i] - of_columns[j];
      centre += at.chance[i * s + j] * gradient[i * s + j];
    }
  EACH for (int cell = 0; cell < r * s; ++cell) gradient[cell] -= centre;
  double second_order = fmax(0.5 * trace * tempered / ((r - 1.0) * (s - 1.0)), 0.0);
  double variance = at.quadratic_form(gradient) * at.total / (at.total + 1.0) + second_order;
  return {fmax(mean, 0.0), variance, false};
}
