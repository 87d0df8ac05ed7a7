// Matched moments of a table with a complete side: `inference.moments.one_sided.matched` has the formulas.
// Every cell has a positive pseudo-count here, so that no row is empty.

struct Moments {
  double mean, variance;
  bool thin;
};

// Cell (i, j) is counts[i * down + j * right]; SIDE and CELLS are the room for a table.
template <int SIDE, int CELLS>
DEVICE Moments matched(const double* counts, const double* margin, int rows, int columns, int down, int right,
                       bool coupled) {
  double conditional[CELLS], centred[CELLS], row_total[SIDE], weight[SIDE], row_mean[SIDE], second_moment[SIDE];
  double coupling[SIDE], mu[SIDE], variance[SIDE], slope[SIDE], with_mean[SIDE], with_square[SIDE];
  double total = 0.0;
  EACH for (int i = 0; i < rows; ++i) {
    double row_sum = 0.0;
    EACH for (int j = 0; j < columns; ++j) row_sum += counts[i * down + j * right];
    row_total[i] = row_sum;
    weight[i] = row_sum + margin[i];
    total += weight[i];
  }
  EACH for (int j = 0; j < columns; ++j) mu[j] = variance[j] = with_mean[j] = with_square[j] = 0.0;
  double share = 1.0 / total;
  EACH for (int i = 0; i < rows; ++i) {
    weight[i] *= share;
    double inverse = 1.0 / row_total[i];
    EACH for (int j = 0; j < columns; ++j) {
      double q = counts[i * down + j * right] * inverse;
      conditional[i * columns + j] = q;
      mu[j] += weight[i] * q;
    }
  }
  // T1: exact moments of h_i, then of sum_i w_i h_i.
  double mean_first = 0.0, variance_first = 0.0, of_thin = 0.0, of_hidden = 0.0;
  bool thin = false;
  EACH for (int i = 0; i < rows; ++i) {
    double c_row = row_total[i], w = weight[i], expected = 0.0;
    EACH for (int j = 0; j < columns; ++j) {
      double q = conditional[i * columns + j];
      double level = log(q / mu[j]) + log_excess(counts[i * down + j * right]);
      centred[i * columns + j] = level;
      expected += q * level;
    }
    double spread = -log_spread(c_row);
    EACH for (int j = 0; j < columns; ++j) {
      double c = counts[i * down + j * right], deviation = centred[i * columns + j] - expected;
      centred[i * columns + j] = deviation;
      spread += c * deviation * deviation + log_spread(c);
    }
    row_mean[i] = expected - log_excess(c_row);
    mean_first += w * row_mean[i];
    second_moment[i] = w * (total * w + 1.0) / (total + 1.0);
    double of_row = second_moment[i] * spread / (c_row * (c_row + 1.0));
    variance_first += of_row;
    coupling[i] = w * (total * w - c_row) / ((total + 1.0) * (c_row + 1.0));
    thin = thin || coupling[i] > 0.01;
    if (c_row < 100.0) of_thin = fmax(of_thin, of_row);
    if (total * w >= 2.0 * c_row) of_hidden = fmax(of_hidden, of_row);
  }
  EACH for (int i = 0; i < rows; ++i) {
    row_mean[i] -= mean_first;
    variance_first += weight[i] * row_mean[i] * row_mean[i] / (total + 1.0);
  }
  // Columns: S_jj, Cov[T1, y_j] and Cov[T1, (y_j - mu_j)^2], all exact.
  EACH for (int i = 0; i < rows; ++i) {
    double c_row = row_total[i], w = weight[i], a = total * w, second = second_moment[i];
    double one = 1.0 / (c_row + 1.0), two = (a + 2.0) / (c_row + 2.0), curvature = two * c_row * one * one;
    double from_rows = second / (total + 2.0), from_weights = w * row_mean[i] / (total + 1.0);
    EACH for (int j = 0; j < columns; ++j) {
      double q = conditional[i * columns + j], m = mu[j], step = centred[i * columns + j] * one;
      variance[j] += second * one * q * (1.0 - q) + w * (q - m) * (q - m) / (total + 1.0);
      with_mean[j] += q * (second * step + from_weights);
      with_square[j] += q * (from_rows * (2.0 * step * (2.0 * (q - m) + two * (1.0 - 2.0 * q)) + curvature * (1.0 - q))
                             + 2.0 * from_weights / (total + 2.0)
                                   * (a * (1.0 - q) * one + (c_row * q + 1.0) * one - 2.0 * m));
    }
  }
  // T2 against T1, and the part of Var[T2] that lies on the diagonal.
  double mean_second = 0.0, covariance = 0.0, variance_second = 0.0;
  EACH for (int j = 0; j < columns; ++j) {
    double m = mu[j], rest = 1.0 - m, nu = m * rest / variance[j] - 1.0;
    if (!(nu > 1e-9)) return {NAN, NAN, thin};
    double alpha = m * nu, e = log_excess(alpha) - log_excess(nu), spread = log_spread(alpha);
    mean_second += m * e;
    slope[j] = e - 1.0 / (nu + 1.0);
    covariance += slope[j] * with_mean[j]
                  + (nu + 3.0) * spread / alpha * (with_square[j] - 2.0 * (1.0 - 2.0 * m) / (nu + 2.0) * with_mean[j]);
    variance_second += spread * rest * (nu * rest + 1.0) / (nu * (nu + 1.0) * (nu + 1.0));
    variance_second += slope[j] * slope[j] * variance[j];
  }
  // The rest of Var[T2]: pairs of columns.
  if (coupled) {
    EACH for (int j = 0; j < columns; ++j)
      EACH for (int k = 0; k < j; ++k) {
        double pair = mu[j] * mu[k] / (total + 1.0);  // -S_jk
        EACH for (int i = 0; i < rows; ++i) pair += coupling[i] * conditional[i * columns + j] * conditional[i * columns + k];
        variance_second += pair * pair / (mu[j] * mu[k]) - 2.0 * slope[j] * slope[k] * pair;
      }
  } else {  // a Dirichlet: S_jk = -mu_j mu_k/(A + 1), and the double sum closes
    double slopes = 0.0, slope_squares = 0.0, squares = 0.0, scale = 1.0 / (total + 1.0);
    EACH for (int j = 0; j < columns; ++j) {
      slopes += mu[j] * slope[j];
      slope_squares += mu[j] * mu[j] * slope[j] * slope[j];
      squares += mu[j] * mu[j];
    }
    variance_second += 0.5 * scale * scale * (1.0 - squares) - scale * (slopes * slopes - slope_squares);
  }
  double whole = variance_first + variance_second - 2.0 * covariance, least = fmax(whole, 0.0);
  thin = thin || of_hidden > 3.0 * least || (of_hidden > 0.0 && of_thin > 0.6 * least);
  return {fmax(mean_first - mean_second, 0.0), whole, thin};
}
