// The mode of the chances where both sides miss, and the matrix A there: `inference.mode.find` and
// `inference.moments.information_matrix` have the formulas. Every cell has a positive pseudo-count here. Tables for which
// the start is not easy, or Newton's method does not end, are left to the CPU: `find_mode` returns false.

template <int SIDE, int CELLS>
struct Mode {
  int r, s;  // s <= r
  double total;
  double counts[CELLS], row_only[SIDE], column_only[SIDE];
  double chance[CELLS], scale[CELLS], slack[CELLS], goal[CELLS];
  double row_slope[SIDE], row_sum[SIDE], row_gain[SIDE], row_step[SIDE];
  double column_slope[SIDE], column_sum[SIDE], column_step[SIDE], wanted[SIDE], root[SIDE];
  double factor[CELLS];  // s x s fits, because s <= r

  // From v (`scale`), the sums and the slopes: the gains and the Cholesky factor, its diagonal inverted.
  METHOD void factorize() {
    EACH for (int j = 0; j < s; ++j) {
      root[j] = sqrt(column_slope[j]);
      EACH for (int k = 0; k <= j; ++k) factor[j * s + k] = 0.0;
    }
    EACH for (int i = 0; i < r; ++i) {
      double sum_scale = 0.0;
      EACH for (int j = 0; j < s; ++j) {
        sum_scale += scale[i * s + j];
        factor[j * s + j] += scale[i * s + j];
      }
      row_gain[i] = row_slope[i] > 0.0 ? row_slope[i] / (row_sum[i] + row_slope[i] * sum_scale) : 0.0;
    }
    EACH for (int j = 0; j < s; ++j) factor[j * s + j] = column_sum[j] + column_slope[j] * factor[j * s + j];
    EACH for (int j = 0; j < s; ++j)
      EACH for (int k = 0; k <= j; ++k) {
        double shared = 0.0;
        EACH for (int i = 0; i < r; ++i) shared += row_gain[i] * scale[i * s + j] * scale[i * s + k];
        factor[j * s + k] -= shared * root[j] * root[k];
      }
    EACH for (int j = 0; j < s; ++j) {
      EACH for (int k = 0; k < j; ++k) {
        double value = factor[j * s + k];
        EACH for (int other = 0; other < k; ++other) value -= factor[j * s + other] * factor[k * s + other];
        factor[j * s + k] = value * factor[k * s + k];
      }
      double start = factor[j * s + j], value = start;
      EACH for (int other = 0; other < j; ++other) value -= factor[j * s + other] * factor[j * s + other];
      factor[j * s + j] = value > 1e-14 * start ? 1.0 / sqrt(value) : 0.0;
    }
  }

  METHOD void substitute(double* vector) {
    EACH for (int j = 0; j < s; ++j) {
      double value = vector[j];
      EACH for (int k = 0; k < j; ++k) value -= factor[j * s + k] * vector[k];
      vector[j] = value * factor[j * s + j];
    }
    EACH for (int j = s - 1; j >= 0; --j) {
      double value = vector[j] * factor[j * s + j];
      vector[j] = value;
      EACH for (int k = 0; k < j; ++k) vector[k] -= factor[j * s + k] * value;
    }
  }

  // field' A^-1 field of a centred field
  METHOD double quadratic_form(const double* field) {
    double row_field[SIDE], column_field[SIDE];
    EACH for (int j = 0; j < s; ++j) column_field[j] = 0.0;
    EACH for (int i = 0; i < r; ++i) {
      double sum = 0.0;
      EACH for (int j = 0; j < s; ++j) sum += scale[i * s + j] * field[i * s + j];
      row_field[i] = row_gain[i] * sum;
      EACH for (int j = 0; j < s; ++j) column_field[j] += scale[i * s + j] * (field[i * s + j] - row_field[i]);
    }
    EACH for (int j = 0; j < s; ++j) column_field[j] *= root[j];
    substitute(column_field);
    EACH for (int j = 0; j < s; ++j) column_field[j] *= root[j];
    double form = 0.0;
    EACH for (int i = 0; i < r; ++i) {
      double shared = 0.0;
      EACH for (int j = 0; j < s; ++j) shared += scale[i * s + j] * column_field[j];
      shared = row_field[i] - row_gain[i] * shared;
      EACH for (int j = 0; j < s; ++j)
        form += field[i * s + j] * scale[i * s + j] * (field[i * s + j] - shared - column_field[j]);
    }
    return fmax(form, 0.0);
  }

  // One step of EM from the complete rows; whether that is a good start.
  METHOD bool start() {
    double completed[SIDE], largest_row = 0.0, largest_column = 0.0;
    total = 0.0;
    EACH for (int j = 0; j < s; ++j) column_sum[j] = 0.0;
    EACH for (int i = 0; i < r; ++i) {
      row_sum[i] = 0.0;
      EACH for (int j = 0; j < s; ++j) {
        row_sum[i] += counts[i * s + j];
        column_sum[j] += counts[i * s + j];
      }
      total += row_sum[i] + row_only[i];
    }
    EACH for (int j = 0; j < s; ++j) {
      total += column_only[j];
      completed[j] = column_sum[j] + column_only[j];
    }
    EACH for (int i = 0; i < r; ++i) {
      double given_row = row_only[i] / row_sum[i], own = row_sum[i] + row_only[i];
      EACH for (int j = 0; j < s; ++j) {
        own += column_only[j] / column_sum[j] * counts[i * s + j];
        completed[j] += given_row * counts[i * s + j];
      }
      row_slope[i] = row_only[i] > 0.0 ? total * row_only[i] / own : 0.0;
      largest_row = fmax(largest_row, row_slope[i]);
    }
    EACH for (int j = 0; j < s; ++j) {
      column_slope[j] = column_only[j] > 0.0 ? total * column_only[j] / completed[j] : 0.0;
      largest_column = fmax(largest_column, column_slope[j]);
    }
    if (!(largest_row + largest_column <= 0.95 * total)) return false;
    EACH for (int i = 0; i < r; ++i)
      EACH for (int j = 0; j < s; ++j) {
        slack[i * s + j] = total - row_slope[i] - column_slope[j];
        chance[i * s + j] = counts[i * s + j] / slack[i * s + j];
      }
    return true;
  }

  // v, the chances c/t that the slacks ask for, the sums and the factor
  METHOD void prepare() {
    EACH for (int j = 0; j < s; ++j) wanted[j] = column_sum[j] = 0.0;
    EACH for (int i = 0; i < r; ++i) {
      row_sum[i] = row_step[i] = 0.0;
      EACH for (int j = 0; j < s; ++j) {
        double reciprocal = 1.0 / slack[i * s + j];
        goal[i * s + j] = counts[i * s + j] * reciprocal;
        scale[i * s + j] = chance[i * s + j] * reciprocal;
        row_sum[i] += chance[i * s + j];
        row_step[i] += goal[i * s + j];
        wanted[j] += goal[i * s + j];
        column_sum[j] += chance[i * s + j];
      }
    }
    factorize();
  }

  METHOD void direct() {
    EACH for (int i = 0; i < r; ++i) {
      double step = 0.0;
      if (row_slope[i] > 0.0) {
        step = (row_only[i] - row_slope[i] * row_step[i]) * row_gain[i] / row_slope[i];
        EACH for (int j = 0; j < s; ++j) wanted[j] += scale[i * s + j] * step;
      }
      row_step[i] = step;
    }
    EACH for (int j = 0; j < s; ++j)
      column_step[j] = root[j] > 0.0 ? (column_only[j] - column_slope[j] * wanted[j]) / root[j] : 0.0;
    substitute(column_step);
    EACH for (int j = 0; j < s; ++j) column_step[j] *= root[j];
    EACH for (int i = 0; i < r; ++i) {
      double shared = 0.0;
      EACH for (int j = 0; j < s; ++j) shared += scale[i * s + j] * column_step[j];
      if (row_slope[i] > 0.0) row_step[i] -= row_gain[i] * shared;
    }
  }

  // Move as far as all stays positive; whether it was a full step after which no chance moves.
  METHOD bool advance() {
    bool still = true, crosses = false;
    EACH for (int i = 0; i < r; ++i) {
      crosses = crosses || row_step[i] < -0.999 * row_slope[i];
      EACH for (int j = 0; j < s; ++j) {
        double closer = row_step[i] + column_step[j], old = chance[i * s + j];
        double fresh = goal[i * s + j] + scale[i * s + j] * closer;
        scale[i * s + j] = fresh;
        crosses = crosses || closer > 0.999 * slack[i * s + j] || fresh < (1.0 - 0.999) * old;
        still = still && fabs(fresh - old) <= 1e-6 * old;
      }
    }
    EACH for (int j = 0; j < s; ++j) crosses = crosses || column_step[j] < -0.999 * column_slope[j];
    double length = 1.0;
    if (crosses) {
      double inward = 0.0;  // the full step, measured in distances to the closest boundary
      EACH for (int i = 0; i < r; ++i) {
        if (row_step[i] < 0.0) inward = fmax(inward, -row_step[i] / row_slope[i]);
        EACH for (int j = 0; j < s; ++j)
          inward = fmax(inward, fmax((row_step[i] + column_step[j]) / slack[i * s + j],
                                     1.0 - scale[i * s + j] / chance[i * s + j]));
      }
      EACH for (int j = 0; j < s; ++j)
        if (column_step[j] < 0.0) inward = fmax(inward, -column_step[j] / column_slope[j]);
      length = fmin(1.0, 0.999 / inward);
    }
    EACH for (int i = 0; i < r; ++i) {
      row_slope[i] += length * row_step[i];
      EACH for (int j = 0; j < s; ++j) {
        chance[i * s + j] += length * (scale[i * s + j] - chance[i * s + j]);
        slack[i * s + j] -= length * (row_step[i] + column_step[j]);
      }
    }
    EACH for (int j = 0; j < s; ++j) column_slope[j] += length * column_step[j];
    return length == 1.0 && still;
  }

  // The slopes that fit the chances, into the steps; the largest violation of optimality, relative to N.
  METHOD double kkt_residual() {
    double worst = 0.0;
    EACH for (int j = 0; j < s; ++j) column_step[j] = 0.0;
    EACH for (int i = 0; i < r; ++i) {
      double sum = 0.0;
      EACH for (int j = 0; j < s; ++j) {
        sum += chance[i * s + j];
        column_step[j] += chance[i * s + j];
      }
      row_step[i] = row_only[i] > 0.0 ? row_only[i] / sum : 0.0;
    }
    EACH for (int j = 0; j < s; ++j) column_step[j] = column_only[j] > 0.0 ? column_only[j] / column_step[j] : 0.0;
    EACH for (int i = 0; i < r; ++i)
      EACH for (int j = 0; j < s; ++j)
        worst = fmax(worst, fabs(row_step[i] + column_step[j] - total + counts[i * s + j] / chance[i * s + j]));
    return worst / total;
  }

  METHOD bool find_mode() {
    if (!start()) return false;
    bool found = false;
    ONCE for (int step = 0; step <= 60; ++step) {
      prepare();
      if (found) return true;
      direct();
      if (advance() && kkt_residual() <= 1e-11) {
        found = true;
        EACH for (int i = 0; i < r; ++i) row_slope[i] = row_step[i];
        EACH for (int j = 0; j < s; ++j) column_slope[j] = column_step[j];
      }
    }
    return false;
  }
};
