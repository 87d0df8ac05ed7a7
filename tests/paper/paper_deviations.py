"""How far credimi is from the paper's formulas: the worst relative deviation of each, over random tables.

`tests/paper/test_paper_literally.py` bounds what `studies/paper_line_by_line.py` prints.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import paper_formulas as paper

import credimi

KINDS = ("features", "classes", "both")


def deviations(tables: int, seed: int = 0) -> dict[str, float]:
    """Deviations by the name of what is compared; `tables` are shared evenly by the kinds of missingness."""
    generator = np.random.default_rng(seed)
    worst: dict[str, float] = defaultdict(float)
    for number in range(tables):
        for name, value in _of_table(*paper.random_table(generator, KINDS[number % len(KINDS)])).items():
            worst[name] = max(worst[name], value)
    for _ in range(max(tables // 10, 1)):
        for name, value in _of_complete_table(paper.random_table(generator, "complete")[0]).items():
            worst[name] = max(worst[name], value)
    return dict(worst)


def _off(ours: object, papers: object, scale: float = 0.0) -> float:
    """The largest deviation, relative to the largest entry of the paper's (or to `scale`)."""
    one, other = np.asarray(ours, dtype=float), np.asarray(papers, dtype=float)
    return float(np.abs(one - other).max() / max(np.abs(other).max(), scale, 1e-300))


def _of_table(n: paper.Array, n_i: paper.Array, n_j: paper.Array) -> dict[str, float]:
    pi = paper.mode(n, n_i, n_j)
    cells = credimi.posterior(n, n_i, n_j, method="paper")
    covariance, matrix = paper.covariance(pi, n, n_i, n_j), cells.covariance()
    law = credimi.mutual_information(n, n_i, n_j, method="paper")
    mean, std = paper.information(pi), math.sqrt(paper.variance(pi, n, n_i, n_j))
    turned = credimi.mutual_information(n.T, n_j, n_i, method="paper")
    inside = pi > 0.0
    gradient = np.divide(n, cells.mode, out=np.zeros(n.shape), where=n > 0.0)
    gradient += (n_i / cells.mode.sum(axis=1))[:, None] + n_j / cells.mode.sum(axis=0)
    found = {
        "N": _off(credimi.Table(n, n_i, n_j).rows, paper.rows_of(n, n_i, n_j)),
        "lambda": _off(gradient[inside], paper.rows_of(n, n_i, n_j)),
        "Cov e": _off(matrix.sum(axis=1), 0.0, float(np.abs(matrix).max())),
        "class and feature exchanged": max(_off(turned.mean(), law.mean()), _off(turned.var(), law.var())),
        "(EM) fixed point": _off(paper.em_step(cells.mode, n, n_i, n_j), cells.mode),
        "mode": float(np.abs(np.where(pi > 0.0, cells.mode / np.where(pi > 0.0, pi, 1.0) - 1.0, cells.mode)).max()),
        "(covmis)": _off(matrix, covariance),
        "std of chances": _off(cells.std.ravel() ** 2, np.diag(covariance)),
        "(EI)": _off(law.mean(), mean),
        "I by entropies": _off(law.mean(), paper.information_by_entropies(pi)),
        "(varlo)": _off(law.var(), std**2),
        "P(I > epsilon)": _off(law.sf(paper.EPSILON), paper.p_above(mean, std)),
        "interval": _off(law.interval(paper.LEVEL), paper.interval(mean, std)),
    }
    if not n_j.any():
        found["(pimfo)"] = _off(cells.mode, paper.mode_features_missing(n, n_i))
        found["(covMFO)"] = _off(matrix, paper.covariance_features_missing(pi, n, n_i))
        evidence = credimi.posterior(n, n_i, method="paper").log_evidence
        found["log N(N)"] = _off(evidence, paper.log_normalisation(n, n_i))
        found["(varImfo)"] = _off(law.var(), paper.variance_features_missing(pi, n, n_i))
    elif not n_i.any():  # "symmetric expressions for missing classes only"
        found["(varImfo), classes missing"] = _off(law.var(), paper.variance_features_missing(pi.T, n.T, n_j))
    elif n_j.all():
        inverse = paper.inverse_kernel(pi, n, n_i, n_j)
        along = inverse.sum(axis=1)
        found["(AIGen)"] = _off(matrix, inverse - np.outer(along, along) / along.sum())
    upper = math.log(min(n.shape))
    if std**2 < mean * (upper - mean):
        beta = credimi.mutual_information(n, n_i, n_j, method="paper-beta")
        literal = paper.beta_law(mean, std, n.shape)
        found["Beta: moments"] = max(_off(beta.mean(), mean), _off(beta.std(), std))
        found["Beta: P(I > epsilon)"] = _off(beta.sf(paper.EPSILON), literal.sf(paper.EPSILON))
        found["Beta: interval"] = _off(beta.interval(paper.LEVEL), literal.interval(paper.LEVEL))
    return found


def _of_complete_table(n: paper.Array) -> dict[str, float]:
    """No missing values: pi = rho = n_ij/n, and Var = (K - J^2)/n."""
    total = float(n.sum())
    pi = n / total
    field = paper.log_ratio(pi)
    k, j = float((pi * field**2).sum()), float((pi * field).sum())
    law = credimi.mutual_information(n, method="paper")
    cells = credimi.posterior(n, method="paper")
    dirichlet = (np.diag(pi.ravel()) - np.outer(pi, pi)) / total
    return {
        "complete: mode": _off(cells.mode, pi),
        "complete: covariance": _off(cells.covariance(), dirichlet),
        "complete: (K - J^2)/n": _off(law.var(), (k - j**2) / total),
    }
