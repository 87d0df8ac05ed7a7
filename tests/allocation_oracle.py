"""P(independent) if both sides have missing values, exactly: a sum over all classes that rows without one may have."""

from __future__ import annotations

from collections import defaultdict

import mpmath
import numpy as np

from credimi.inference.evidence import adaptive_prior


def rise(parameter: mpmath.mpf, count: int) -> mpmath.mpf:
    """Gamma(parameter + count)/Gamma(parameter)."""
    return mpmath.rf(parameter, count)


def log_evidence(counts: list[float], parameters: list[mpmath.mpf]) -> mpmath.mpf:
    """Of a Dirichlet-multinomial, without the multinomial coefficient."""
    total = mpmath.fsum(parameters)
    value = mpmath.loggamma(total) - mpmath.loggamma(total + mpmath.fsum(counts))
    for count, parameter in zip(counts, parameters, strict=True):
        value += mpmath.loggamma(parameter + count) - mpmath.loggamma(parameter)
    return value


def splits(count: int, classes: int) -> list[tuple[int, ...]]:
    """All ways to share `count` rows among the classes."""
    if classes == 1:
        return [(count,)]
    return [(first, *rest) for first in range(count + 1) for rest in splits(count - first, classes - 1)]


def margins_evidence(cells: list[list[mpmath.mpf]], row_only: list[int], column_only: list[int]) -> mpmath.mpf:
    """The log of E[X Y]/(E[X] E[Y]), X = prod x_i^m_i, Y = prod y_j^k_j, by the sum over all allocations."""
    rows, columns = len(cells), len(cells[0])
    classes, total = [mpmath.fsum(row) for row in cells], mpmath.fsum(map(mpmath.fsum, cells))
    ways = {(0,) * rows: mpmath.mpf(1)}
    for j in range(columns):
        longer: dict[tuple[int, ...], mpmath.mpf] = defaultdict(mpmath.mpf)
        for split in splits(column_only[j], rows):
            term = mpmath.mpf(mpmath.factorial(column_only[j]))
            for i in range(rows):
                term *= rise(cells[i][j], split[i]) / mpmath.factorial(split[i])
            for known, way in ways.items():
                longer[tuple(map(sum, zip(known, split, strict=True)))] += way * term
        ways = longer
    joint = mpmath.mpf(0)
    for known, way in ways.items():
        for i in range(rows):
            way *= rise(classes[i] + row_only[i], known[i]) / rise(classes[i], known[i])  # noqa: PLW2901
        joint += way
    k = sum(column_only)
    of_columns = mpmath.mpf(1)
    for j in range(columns):
        of_columns *= rise(mpmath.fsum(row[j] for row in cells), column_only[j])
    return mpmath.log(joint * rise(total, k) / (of_columns * rise(total + sum(row_only), k)))


def exact(joint: np.ndarray, row_only: np.ndarray, column_only: np.ndarray) -> float:
    """P(independent) as `credimi.inference.evidence.adaptive_prior` defines it, on its grid."""
    rows, columns = joint.shape
    block = np.zeros((rows + 1, columns + 1))
    block[:-1, :-1], block[:-1, -1], block[-1, :-1] = joint, row_only, column_only
    classes = [mpmath.mpf(float(each)) for each in joint.sum(axis=1) + row_only + adaptive_prior.SMOOTHING]
    values = [mpmath.mpf(float(each)) for each in joint.sum(axis=0) + column_only + adaptive_prior.SMOOTHING]
    a, b = ([each / mpmath.fsum(side) for each in side] for side in (classes, values))
    points = adaptive_prior.GRID * 2 // 3
    most = mpmath.mpf(adaptive_prior.TIGHTEST) * min(rows, columns) * max(float(joint.sum()), rows * columns)
    ratio = (most / adaptive_prior.LOOSEST) ** (mpmath.mpf(1) / (points - 1))
    odds = mpmath.mpf(0)
    for point in range(points):
        k = adaptive_prior.LOOSEST * ratio**point
        prior = [[k * one * other for other in b] for one in a]
        score = log_evidence(joint.ravel().tolist(), [each for row in prior for each in row])
        score -= log_evidence(joint.sum(axis=1).tolist(), [k * each for each in a])
        score -= log_evidence(joint.sum(axis=0).tolist(), [k * each for each in b])
        cells = [[joint[i, j] + prior[i][j] for j in range(columns)] for i in range(rows)]
        score += margins_evidence(cells, row_only.astype(int).tolist(), column_only.astype(int).tolist())
        odds += mpmath.exp(score) / points
    return float(1 / (1 + odds))
