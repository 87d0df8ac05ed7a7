"""Every formula of Hutter and Zaffalon (2003), written down from the paper's text: dense sums, nothing from credimi.

Names are the paper's: `n` is n_ij, `n_i` is n_i? (feature missing), `n_j` is n_?j (class missing), `pi` the chances.
The three slips of the text are read as they must be meant: rho_il for rho_kl in F, Q~_i? for Q_i? in P~, and -L convex.
A cell without a count whose chance is 0 drops out: 0 log 0 = 0, and rho_ij = 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

EPSILON, LEVEL = 0.003, 0.95


# Section 2: the posterior of the chances


def rows_of(n: Array, n_i: Array, n_j: Array) -> float:
    """N = n + n_+? + n_?+."""
    return float(n.sum() + n_i.sum() + n_j.sum())


def log_posterior(pi: Array, n: Array, n_i: Array, n_j: Array) -> float:
    """L without its constants: sum n_ij log pi_ij + sum n_i? log pi_i+ + sum n_?j log pi_+j."""
    pairs = [(n, pi), (n_i, pi.sum(axis=1)), (n_j, pi.sum(axis=0))]
    return sum(
        float(count) * math.log(chance)
        for counts, chances in pairs
        for count, chance in zip(counts.ravel(), chances.ravel(), strict=True)
        if count > 0.0
    )


def em_step(pi: Array, n: Array, n_i: Array, n_j: Array) -> Array:
    """The right-hand side of (EM)."""
    r, s = n.shape
    total = rows_of(n, n_i, n_j)
    new = np.zeros((r, s))
    for i in range(r):
        for j in range(s):
            share_of_row = pi[i, j] / pi[i].sum() if pi[i].any() else 0.0
            share_of_column = pi[i, j] / pi[:, j].sum() if pi[:, j].any() else 0.0
            new[i, j] = (n[i, j] + n_i[i] * share_of_row + n_j[j] * share_of_column) / total
    return new


def mode(n: Array, n_i: Array, n_j: Array) -> Array:
    """The maximum: (pimfo) if only features, or only classes, are missing; otherwise the fixed point of (EM).

    (EM) starts from equal chances. Newton's steps finish what it does slowly: Cov grad L, with (covmis); they move only
    if (EM) then changes less than before.
    """
    if not n_j.any():
        return mode_features_missing(n, n_i)
    if not n_i.any():
        return mode_features_missing(n.T, n_j).T
    pi = np.full(n.shape, 1.0 / n.size)
    for _ in range(30):
        pi = em_step(pi, n, n_i, n_j)
    for _ in range(60):
        here = np.abs(em_step(pi, n, n_i, n_j) / pi - 1.0).max()
        if here < 1e-14:
            break
        gradient = n / pi + (n_i / pi.sum(axis=1))[:, None] + n_j / pi.sum(axis=0)
        newton = pi + (covariance(pi, n, n_i, n_j) @ gradient.ravel()).reshape(n.shape)
        if (newton > 0.0).all() and np.abs(em_step(newton, n, n_i, n_j) / newton - 1.0).max() < here:
            pi = newton
        else:
            pi = em_step(pi, n, n_i, n_j)
    return pi


def mode_features_missing(n: Array, n_i: Array) -> Array:
    """(pimfo): pi_ij = (N_i+/N)(n_ij/n_i+)."""
    complete = n.sum(axis=1)
    return ((complete + n_i) / (n.sum() + n_i.sum()))[:, None] * (n / complete[:, None])


def hessian(pi: Array, n: Array, n_i: Array, n_j: Array) -> Array:
    """H of -L: n_ij/pi_ij^2 d_ik d_jl + n_i?/pi_i+^2 d_ik + n_?j/pi_+j^2 d_jl, cells row by row."""
    r, s = n.shape
    matrix = np.zeros((r, s, r, s))
    for i in range(r):
        for j in range(s):
            matrix[i, j, i, j] += n[i, j] / pi[i, j] ** 2 if n[i, j] > 0.0 else 0.0
            matrix[i, j, i, :] += n_i[i] / pi[i].sum() ** 2
            matrix[i, j, :, j] += n_j[j] / pi[:, j].sum() ** 2
    return matrix.reshape(r * s, r * s)


def covariance(pi: Array, n: Array, n_i: Array, n_j: Array) -> Array:
    """(covmis): A^-1 - A^-1 e e' A^-1/(e' A^-1 e), by a dense inverse over the cells that have a chance."""
    inside = np.flatnonzero(pi.ravel() > 0.0)
    kernel = hessian(pi, n, n_i, n_j)[np.ix_(inside, inside)]
    scale = pi.ravel()[inside]  # inverted as pi A pi, whose entries are of one size
    inverse = np.linalg.inv(kernel * np.outer(scale, scale)) * np.outer(scale, scale)
    along = inverse.sum(axis=1)
    result = np.zeros((n.size, n.size))
    result[np.ix_(inside, inside)] = inverse - np.outer(along, along) / along.sum()
    return result


def log_normalisation(n: Array, n_i: Array) -> float:
    """Log of the integral of (posterior) where only features are missing: pi_ij = w_i q_ij, two kinds of Dirichlets."""
    lgamma, s = math.lgamma, n.shape[1]
    shares = sum(
        sum(lgamma(count + 1.0) for count in row) - lgamma(sum(row) + s) for row in n.tolist()
    )  # of the q_ij, given class i; the Jacobian is prod w_i^(s - 1)
    totals = [sum(row) + extra + s for row, extra in zip(n.tolist(), n_i.tolist(), strict=True)]
    return shares + sum(map(lgamma, totals)) - lgamma(sum(totals))


def rho(pi: Array, n: Array, total: float) -> Array:
    """(kernelA): rho_ij = N pi_ij^2/n_ij; 0 where neither counted nor possible."""
    return np.where(n > 0.0, total * pi**2 / np.where(n > 0.0, n, 1.0), 0.0)


def covariance_features_missing(pi: Array, n: Array, n_i: Array) -> Array:
    """(covMFO), with (defQ)."""
    r, s = n.shape
    total = float(n.sum() + n_i.sum())
    cell = rho(pi, n, total)
    line = cell.sum(axis=1)
    inverse_line = n_i / (total * pi.sum(axis=1) ** 2)  # 1/rho_i?, which is 0 where nothing is missing
    q_i = 1.0 / (1.0 + line * inverse_line)  # rho_i?/(rho_i? + rho_i+)
    q = float((line * q_i).sum())
    matrix = np.zeros((r, s, r, s))
    for i in range(r):
        for j in range(s):
            matrix[i, j, i, j] += cell[i, j]
            for m in range(s):
                matrix[i, j, i, m] -= cell[i, j] * cell[i, m] * inverse_line[i] / (1.0 + line[i] * inverse_line[i])
            for k in range(r):
                for m in range(s):
                    matrix[i, j, k, m] -= cell[i, j] * q_i[i] * cell[k, m] * q_i[k] / q
    return matrix.reshape(r * s, r * s) / total


def inverse_kernel(pi: Array, n: Array, n_i: Array, n_j: Array) -> Array:
    """(AIGen): A^-1 by the s x s matrix G, where all n_?j > 0."""
    r, s = n.shape
    total = rows_of(n, n_i, n_j)
    cell = rho(pi, n, total)
    line = cell.sum(axis=1)
    rho_row = np.array([total * pi[i].sum() ** 2 / n_i[i] if n_i[i] > 0.0 else math.inf for i in range(r)])
    f = np.zeros((r, s, s))
    for i in range(r):
        for j in range(s):
            for m in range(s):
                f[i, j, m] = (cell[i, j] if j == m else 0.0) - cell[i, j] * cell[i, m] / (rho_row[i] + line[i])
    g = np.diag(total * pi.sum(axis=0) ** 2 / n_j) + f.sum(axis=0)
    inverse_g = np.linalg.inv(g)
    matrix = np.zeros((r, s, r, s))
    for i in range(r):
        matrix[i, :, i, :] += f[i]
        for k in range(r):
            matrix[i, :, k, :] -= f[i] @ inverse_g @ f[k].T
    return matrix.reshape(r * s, r * s) / total


# Section 3: the distribution of I


def log_ratio(pi: Array) -> Array:
    """l_ij = log pi_ij/(pi_i+ pi_+j); 0 where pi_ij = 0."""
    expected = np.outer(pi.sum(axis=1), pi.sum(axis=0))
    return np.log(np.where(pi > 0.0, pi, 1.0) / np.where(pi > 0.0, expected, 1.0))


def information(pi: Array) -> float:
    """I(pi), the definition."""
    return float((pi * log_ratio(pi)).sum())


def information_by_entropies(pi: Array) -> float:
    """I(pi), its second form: sum pi_ij log pi_ij - sum pi_i+ log pi_i+ - sum pi_+j log pi_+j."""

    def negative_entropy(chances: Array) -> float:
        return sum(float(p) * math.log(p) for p in chances.ravel() if p > 0.0)

    return negative_entropy(pi) - negative_entropy(pi.sum(axis=1)) - negative_entropy(pi.sum(axis=0))


def variance(pi: Array, n: Array, n_i: Array, n_j: Array) -> float:
    """(varlo): l' Cov l."""
    field = log_ratio(pi).ravel()
    return float(field @ covariance(pi, n, n_i, n_j) @ field)


def variance_features_missing(pi: Array, n: Array, n_i: Array) -> float:
    """(varImfo): (K~ - J~^2/Q~ - P~)/N."""
    total = float(n.sum() + n_i.sum())
    cell, field = rho(pi, n, total), log_ratio(pi)
    line, j_i = cell.sum(axis=1), (cell * field).sum(axis=1)
    inverse_line = n_i / (total * pi.sum(axis=1) ** 2)
    q_i = 1.0 / (1.0 + line * inverse_line)
    k = float((cell * field**2).sum())
    p = float((j_i**2 * q_i * inverse_line).sum())
    j, q = float((j_i * q_i).sum()), float((line * q_i).sum())
    return (k - j**2 / q - p) / total


def p_above(mean: float, std: float, epsilon: float = EPSILON) -> float:
    """P(I > epsilon) of the Gaussian (pdIGauss)."""
    return 0.5 * math.erfc((epsilon - mean) / (std * math.sqrt(2.0)))


def interval(mean: float, std: float, level: float = LEVEL) -> tuple[float, float]:
    """The equal-tailed interval of the Gaussian."""
    half = float(stats.norm.isf(0.5 * (1.0 - level))) * std
    return mean - half, mean + half


def beta_law(mean: float, std: float, shape: tuple[int, int]) -> stats.rv_continuous:
    """The Beta of the footnote on [0, I_max], I_max = min(log r, log s), with these moments."""
    upper = min(math.log(shape[0]), math.log(shape[1]))
    share = mean / upper
    concentration = share * (1.0 - share) * upper**2 / std**2 - 1.0
    return stats.beta(share * concentration, (1.0 - share) * concentration, scale=upper)


# Section 4: the filters and naive Bayes


def keeps(rule: str, mean: float, p: float) -> bool:
    """F discards I < epsilon, FF includes p(I > epsilon) >= level, BF discards p(I <= epsilon) >= level."""
    if rule == "F":
        return not mean < EPSILON
    return p >= LEVEL if rule == "FF" else not 1.0 - p >= LEVEL


def predicted(rows: list[list[int]], classes: list[int], row: list[int], chosen: list[int], sizes: list[int]) -> int:
    """Naive Bayes from the rows before, one count added to each class and value; -1 is a missing value."""
    r = sizes[-1]
    scores = []
    for c in range(r):
        own = [each for each, answer in zip(rows, classes, strict=True) if answer == c]
        score = math.log((len(own) + 1) / (len(rows) + r))
        for j in chosen:
            if row[j] >= 0:
                seen = [each[j] for each in own if each[j] >= 0]
                score += math.log((seen.count(row[j]) + 1) / (len(seen) + sizes[j]))
        scores.append(score)
    return next(c for c in range(r) if scores[c] >= max(scores) - 1e-9)


def t_test(one: list[bool], other: list[bool]) -> float:
    """The p-value of the two-tailed paired t test; 1 where no two differences differ."""
    difference = np.array(one, dtype=float) - np.array(other, dtype=float)
    if difference.size < 2 or not difference.std():
        return 1.0
    return float(stats.ttest_rel(np.array(one, dtype=float), np.array(other, dtype=float)).pvalue)


# Tables


def random_table(generator: np.random.Generator, kind: str) -> tuple[Array, Array, Array]:
    """A table of up to 6 x 6; both sides missing only with every cell counted, as the paper asks of a singular A."""
    while True:
        r, s = generator.integers(2, 7, size=2)
        size = int(10.0 ** generator.uniform(1.3, 3.5))
        chances = generator.dirichlet(np.full(r * s, generator.choice([0.3, 1.0, 5.0])))
        n = generator.multinomial(size, chances).reshape(r, s).astype(float)
        if kind == "both":
            n += 1.0
        if n.any(axis=0).all() and n.any(axis=1).all():
            break
    share = generator.uniform(0.05, 1.5)
    n_i = generator.poisson(share * n.sum(axis=1) * generator.uniform(0.2, 1.8, size=r)).astype(float)
    n_j = generator.poisson(share * n.sum(axis=0) * generator.uniform(0.2, 1.8, size=s)).astype(float)
    if kind in ("features", "complete"):
        n_j[:] = 0.0
    if kind in ("classes", "complete"):
        n_i[:] = 0.0
    return n, n_i, n_j
