"""Near-exact posterior mean and variance of mutual information if one side is complete. O(r s^2).

The rows of a table are the complete side: c_ij = n_ij + pseudo-count (a Dirichlet *parameter*), and `margin` holds the
counts of each row whose other side is missing (m_i). The posterior is a product of independent Dirichlets,

    w ~ Dir(a), a_i = c_i+ + m_i, A = sum a_i        q_i. ~ Dir(c_i.)        pi_ij = w_i q_ij,

and its mode (of the density over log-probabilities, where Dirichlet mode and mean agree) and mean are both w_i q_ij
with w_i = a_i/A and q_ij = c_ij/c_i+.

**Matched.** With y_j = sum_i w_i q_ij and mu_j = E[y_j], I = T1 - T2 where T1 = sum_i w_i h_i,
h_i = sum_j q_ij log(q_ij/mu_j) and T2 = sum_j y_j log(y_j/mu_j): subtracting log mu_j on both sides changes nothing
in I and makes T2 second order small. (The paper's leading order is in `leading`.)

* h_i exactly. With u_ij = log(q_ij/mu_j) + log_excess(c_ij) - log_excess(c_i+), its q-weighted row mean is E[h_i], and
  `Var[h_i] = [ sum_j c_ij (u_ij - E[h_i])^2 + sum_j log_spread(c_ij) - log_spread(c_i+) ] / (c_i+ (c_i+ + 1))`
  (the entropy of a Dirichlet, regrouped so that no large terms cancel). Var[T1] follows exactly from E[w_i w_k].
* y_j has exact mean mu_j and variance S_jj; it is treated as the Beta with these: nu_j = mu_j (1 - mu_j)/S_jj - 1,
  and with alpha_j = mu_j nu_j, e_j = log_excess(alpha_j) - log_excess(nu_j): E[y_j log(y_j/mu_j)] = mu_j e_j. Exact
  for complete data.
* On the Beta's orthogonal polynomials y log(y/mu) has, exactly, slope e + nu/(nu + 1), and the coefficient
  (nu + 3)/(2 (alpha + 1)) on the quadratic P2 = (y - mu)^2 - S - (y - mu) 2 (1 - 2 mu)/(nu + 2). The terms beyond the
  quadratic are included by raising 1/(2(alpha+1)) to log_spread(alpha)/alpha, which makes Var[T2] exact in the limit of
  many columns. (A Taylor series at mu, the obvious choice, fails for columns with less than about one count.)
* So Cov[T1, T2] needs only Cov[T1, y_j] and Cov[T1, (y_j - mu_j)^2], both exact by tilting: q_ij times the density is
  again a Dirichlet, c_ij raised by one, and E[h_i] changes by D_ij = (u_ij - E[h_i])/(c_i+ + 1) for one step and by
  [2 (u_ij - E[h_i]) + 1/(c_ij + 1) - 1/(c_i+ + 1)]/(c_i+ + 2) for two.
* Var[T2] = sum_jk b_j b_k S_jk + (1/2) sum_(j != k) S_jk^2/(mu_j mu_k) + the diagonal by log_spread, with the slopes
  b_j = e_j - 1/(nu_j + 1).

**Thin classes.** If a class with few complete counts has most of the rows, because it mostly lacks the feature, neither
the y_j nor I are anything like a Beta. Such tables are reported in two cases:

* The coupling w_i (a_i - c_i+)/((A + 1)(c_i+ + 1)) of a class is above `THIN_COUPLING`. Times q_ij q_ik it is a term of
  -Cov[y_j, y_k].
* Some class lacks the feature in half of its rows. Besides, a class of less than `THIN_COUNTS` counts has more than
  `THIN_SHARE` of the variance; or a class that lacks the feature has more than `CANCELS` times the variance, which then
  is a difference of large terms.

`credimi.inference.moments.tables_without_closed_form` computes these tables in another way.

Rows with c_i+ = 0 (only possible without pseudo-counts) have no conditional distribution; they get the pooled one, so
that they carry no information: I = U I', with I' of the other rows and U ~ Beta their share.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, inlined
from credimi.inference.special_functions import log_excess, log_spread, logarithm

# Classes with few complete counts, in which most rows lack the feature: see `tables_without_closed_form`.
THIN_COUPLING = 0.01
THIN_COUNTS = 100.0
THIN_SHARE = 0.6
CANCELS = 3.0


@inlined
def fill_probabilities(
    counts: FloatArray,
    margin: FloatArray,
    rows: int,
    columns: int,
    row_total: FloatArray,
    weight: FloatArray,
    conditional: FloatArray,
    column_probability: FloatArray,
) -> tuple[float, float]:
    """Fill w, q, y of the rows that have a complete count; return (A, share of A in rows that have none)."""
    total = 0.0
    pooled = 0.0
    for i in range(rows):
        start = i * columns
        row_sum = 0.0
        for j in range(columns):
            row_sum += counts[start + j]
        row_total[i] = row_sum
        weight[i] = row_sum + margin[i]
        total += weight[i]
        if row_sum == 0.0:
            pooled += weight[i]
    if total == 0.0:
        return 0.0, 0.0
    for j in range(columns):
        column_probability[j] = 0.0
    share = 1.0 / total
    for i in range(rows):
        weight[i] *= share
        if row_total[i] == 0.0:
            continue
        start = i * columns
        inverse = 1.0 / row_total[i]
        for j in range(columns):
            q = counts[start + j] * inverse
            conditional[start + j] = q
            column_probability[j] += weight[i] * q
    pooled *= share
    if 0.0 < pooled < 1.0:
        for j in range(columns):
            column_probability[j] /= 1.0 - pooled
    return total, pooled


@inlined
def log_ratios(
    rows: int,
    columns: int,
    row_total: FloatArray,
    conditional: FloatArray,
    column_probability: FloatArray,
    scratch: FloatArray,
    log_ratio: FloatArray,
) -> None:
    """Fill log(q_ij/y_j); 0 for an empty cell (0 log 0 = 0: it has no effect)."""
    for j in range(columns):
        scratch[j] = 1.0 / column_probability[j] if column_probability[j] > 0.0 else 0.0
    for i in range(rows):
        start = i * columns
        filled = row_total[i] > 0.0
        for j in range(columns):
            ratio = conditional[start + j] * scratch[j]
            log_ratio[start + j] = ratio if filled and ratio > 0.0 else 1.0
    for cell in range(rows * columns):
        log_ratio[cell] = logarithm(log_ratio[cell])


@inlined
def matched(
    counts: FloatArray,
    margin: FloatArray,
    rows: int,
    columns: int,
    fields: FloatArray,
    row_fields: FloatArray,
    column_fields: FloatArray,
) -> tuple[float, float, bool]:
    """Near-exact mean and variance, and whether a class is thin.

    For degenerate tables they are NaN, or the variance is not positive: the caller checks. `fields` (3, rs),
    `row_fields` (5, r) and `column_fields` (7, s) are scratch.
    """
    conditional, centred, excess = fields[0], fields[1], fields[2]
    row_total, weight = row_fields[0], row_fields[1]
    column_probability = column_fields[0]
    total, pooled = fill_probabilities(
        counts, margin, rows, columns, row_total, weight, conditional, column_probability
    )
    if total == 0.0 or pooled == 1.0:
        return 0.0, 0.0, False
    log_ratios(rows, columns, row_total, conditional, column_probability, column_fields[1], centred)
    share = 1.0 - pooled
    filled_total = total * share  # A of the rows that have complete counts
    mean, variance, thin = _matched_of_filled_rows(
        counts, rows, columns, filled_total, share, conditional, centred, excess, row_fields, column_fields
    )
    if pooled > 0.0:
        second = share * (filled_total + 1.0) / (total + 1.0) * (variance + mean * mean)
        mean *= share
        variance = second - mean * mean
    return mean, variance, thin


@inlined
def _matched_of_filled_rows(
    counts: FloatArray,
    rows: int,
    columns: int,
    total: float,
    share: float,
    conditional: FloatArray,
    centred: FloatArray,
    excess: FloatArray,
    row_fields: FloatArray,
    column_fields: FloatArray,
) -> tuple[float, float, bool]:
    row_total, weight, row_mean, second_moment, coupling = (
        row_fields[0],
        row_fields[1],
        row_fields[2],
        row_fields[3],
        row_fields[4],
    )
    mu, variance, slope, with_mean, with_square, quadratic, product = (
        column_fields[0],
        column_fields[1],
        column_fields[2],
        column_fields[3],
        column_fields[4],
        column_fields[5],
        column_fields[6],
    )
    for cell in range(rows * columns):
        c = counts[cell]
        excess[cell] = log_excess(c) if c > 0.0 else 0.0
    # T1: exact moments of h_i, then of sum_i w_i h_i.
    mean_first = 0.0
    variance_first = 0.0
    coupled, thin, max_thin_variance, max_hidden_variance = False, False, 0.0, 0.0
    for i in range(rows):
        c_row = row_total[i]
        if c_row == 0.0:
            continue
        weight[i] /= share
        w = weight[i]
        start = i * columns
        expected = 0.0
        for j in range(columns):
            centred[start + j] += excess[start + j]
            expected += conditional[start + j] * centred[start + j]
        spread = -log_spread(c_row)
        for j in range(columns):
            deviation = centred[start + j] - expected
            centred[start + j] = deviation
            spread += counts[start + j] * deviation * deviation + log_spread(counts[start + j])
        row_mean[i] = expected - log_excess(c_row)
        mean_first += w * row_mean[i]
        second_moment[i] = w * (total * w + 1.0) / (total + 1.0)
        row_variance = second_moment[i] * spread / (c_row * (c_row + 1.0))
        variance_first += row_variance
        # a_i = c_i+ unless the other side is missing; then the columns' probabilities are no Dirichlet
        coupling[i] = w * (total * w - c_row) / ((total + 1.0) * (c_row + 1.0))
        coupled = coupled or abs(coupling[i]) > 1e-14 * w
        thin = thin or coupling[i] > THIN_COUPLING
        max_thin_variance = max(max_thin_variance, row_variance if c_row < THIN_COUNTS else 0.0)
        max_hidden_variance = max(max_hidden_variance, row_variance if total * w >= 2.0 * c_row else 0.0)
    for i in range(rows):
        if row_total[i] > 0.0:
            row_mean[i] -= mean_first
            variance_first += weight[i] * row_mean[i] * row_mean[i] / (total + 1.0)
    # Columns: S_jj, Cov[T1, y_j] and Cov[T1, (y_j - mu_j)^2], all exact.
    for j in range(columns):
        variance[j] = 0.0
        with_mean[j] = 0.0
        with_square[j] = 0.0
    for i in range(rows):
        c_row = row_total[i]
        if c_row == 0.0:
            continue
        w = weight[i]
        a = total * w
        second = second_moment[i]
        one = 1.0 / (c_row + 1.0)
        two = (a + 2.0) / (c_row + 2.0)
        curvature = two * c_row * one * one
        from_rows = second / (total + 2.0)
        from_weights = w * row_mean[i] / (total + 1.0)
        start = i * columns
        for j in range(columns):
            q = conditional[start + j]
            m = mu[j]
            step = centred[start + j] * one
            variance[j] += second * one * q * (1.0 - q) + w * (q - m) * (q - m) / (total + 1.0)
            with_mean[j] += q * (second * step + from_weights)
            with_square[j] += q * (
                from_rows * (2.0 * step * (2.0 * (q - m) + two * (1.0 - 2.0 * q)) + curvature * (1.0 - q))
                + 2.0 * from_weights / (total + 2.0) * (a * (1.0 - q) * one + (c_row * q + 1.0) * one - 2.0 * m)
            )
    # Cov[T1, T2], and the diagonal part of Var[T2].
    mean_second = 0.0
    covariance = 0.0
    variance_second = 0.0
    for j in range(columns):
        m = mu[j]
        slope[j] = 0.0
        quadratic[j] = 0.0
        if m <= 0.0 or variance[j] <= 0.0:
            continue
        rest = 1.0 - m
        nu = m * rest / variance[j] - 1.0
        if not nu > 1e-9:  # for such small parameters this difference is lost to rounding
            return np.nan, np.nan, thin
        alpha = m * nu
        e = log_excess(alpha) - log_excess(nu)
        spread = log_spread(alpha)
        mean_second += m * e
        slope[j] = e - 1.0 / (nu + 1.0)
        bend = (nu + 3.0) * spread / alpha
        covariance += slope[j] * with_mean[j] + bend * (
            with_square[j] - 2.0 * (1.0 - 2.0 * m) / (nu + 2.0) * with_mean[j]
        )
        variance_second += spread * rest * (nu * rest + 1.0) / (nu * (nu + 1.0) * (nu + 1.0))
        variance_second += slope[j] * slope[j] * variance[j]
        quadratic[j] = 1.0 / m
    # The rest of Var[T2]: pairs of columns.
    if coupled:
        for j in range(columns):
            for k in range(columns):
                product[k] = 0.0
            for i in range(rows):
                if row_total[i] > 0.0:
                    factor = coupling[i] * conditional[i * columns + j]
                    row = conditional[i * columns : (i + 1) * columns]
                    for k in range(j):
                        product[k] += factor * row[k]
            pair_sum = 0.0
            for k in range(j):
                pair = product[k] + mu[j] * mu[k] / (total + 1.0)  # -S_jk
                pair_sum += pair * pair * quadratic[k] * quadratic[j] - 2.0 * slope[j] * slope[k] * pair
            variance_second += pair_sum
    else:  # a Dirichlet: S_jk = -mu_j mu_k/(A + 1), and the double sum closes
        slopes = 0.0
        slope_squares = 0.0
        squares = 0.0
        for j in range(columns):
            slopes += mu[j] * slope[j]
            slope_squares += mu[j] * mu[j] * slope[j] * slope[j]
            squares += mu[j] * mu[j]
        scale = 1.0 / (total + 1.0)
        variance_second += 0.5 * scale * scale * (1.0 - squares) - scale * (slopes * slopes - slope_squares)
    total_variance = variance_first + variance_second - 2.0 * covariance
    nonnegative_variance = max(total_variance, 0.0)
    thin = (
        thin
        or max_hidden_variance > CANCELS * nonnegative_variance
        or (max_hidden_variance > 0.0 and max_thin_variance > THIN_SHARE * nonnegative_variance)
    )
    return max(mean_first - mean_second, 0.0), total_variance, thin
