"""The share of each class among the rows with a value, as a Beta, for every pattern of missing values.

The share is t_ij = pi_ij/pi_+j. The prior gives every value one row, evenly spread over the r classes: c_ij = n_ij +
1/r, which for two classes is Jeffreys' prior of a share.

**The feature is complete.** Rows without the target say how frequent a value is, and nothing of the classes in it:
t_.j ~ Dir(c_.j), hence t_ij ~ Beta(c_ij, c_+j - c_ij), exactly.

**The feature is missing in some rows, the target in none.** pi_ij = w_i q_ij with w ~ Dir(a), a_i = c_i+ + n_i?, and
q_i. ~ Dir(c_i.), all independent: rows without the feature count for the frequency of their class. Then

    t_ij = X_ij / sum_k X_kj,    X_ij = G_i q_ij,   G_i ~ Gamma(a_i),   q_ij ~ Beta(c_ij, c_i+ - c_ij),

and the X_ij of different classes are independent (the sum of the G_i cancels). With psi and psi' the digamma and the
trigamma function,

    E[log X_ij] = psi(a_i) + psi(c_ij) - psi(c_i+),    Var[log X_ij] = psi'(a_i) + psi'(c_ij) - psi'(c_i+).

Each X is replaced by the Gamma variable whose logarithm has these moments; the sum over the other classes by the Gamma
variable with the same mean and variance; and t_ij by the Beta whose log-odds have the mean and the variance of log X_ij
- log sum. Nothing is approximated where a_i = c_i+: a complete feature is the special case. For two classes the first
two moments of the log-odds are exact.

**Both have missing values.** There is no closed form. The mode in log-probabilities (see `posterior`), and the
covariance there, of leading order, give the share t and the variance v of its log-odds; the Beta with this mode and
this curvature of its log-odds is Beta(t S, (1 - t) S), S = 1/(v t (1 - t)), which again is exact if nothing is missing.

Cost: O(r s) for a table; O(r s (r s^2 + s^3)) at most if both have missing values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from credimi.core.special import digamma, trigamma
from credimi.core.table import Table
from credimi.inference.distributions.beta_tails import Betas, shares_of
from credimi.inference.mode.mode import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import AnyArray, FloatArray

_STEPS = 60  # of Newton's method, which takes about six
_ROUNDING = 1e-12
_SMALL_STEP = 1e-5  # relative: derivatives by differences only steer Newton's method
_LARGEST_STEP = 1.5  # of a logarithm
_LARGEST_LOGARITHM = 60.0  # of a parameter
_CERTAIN = 1e-12  # the least share, and the least variance of log-odds, that is told from 0


class Shares(NamedTuple):
    """The parameters of the Betas, (classes, values)."""

    alpha: FloatArray
    beta: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The expected shares."""
        return self.alpha / (self.alpha + self.beta)

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Both ends of the central credible intervals."""
        betas, count = Betas.of(self.alpha.ravel(), self.beta.ravel()), self.alpha.size
        which, tail = np.tile(np.arange(count), 2), 0.5 * (1.0 - level)
        ends = shares_of(betas.quantiles(which, np.repeat([tail, 1.0 - tail], count)))[0]
        low, high = ends.reshape(2, *self.alpha.shape)
        return low, high

    def split(self, sizes: Sequence[int]) -> list[Shares]:
        """The Betas of tables that stand side by side, with so many values each."""
        ends = np.cumsum(sizes).tolist()
        places = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        return [Shares(self.alpha[:, place], self.beta[:, place]) for place in places]


def shares(block: AnyArray) -> Shares:
    """The posterior of each class's share among the rows of each value, from a block of counts."""
    return side_by_side([block])


def side_by_side(blocks: Sequence[AnyArray]) -> Shares:
    """The same for several tables of the same classes: their values follow each other."""
    tables = [np.asarray(block, dtype=np.float64) for block in blocks]
    both = [lacks_both(table) for table in tables]
    closed = [table for table, has_none in zip(tables, both, strict=True) if not has_none]
    of_ratios = iter(_of_ratios(closed).split([table.shape[1] - 1 for table in closed]) if closed else ())
    found = [_at_mode(table) if has_none else next(of_ratios) for table, has_none in zip(tables, both, strict=True)]
    return Shares(*(np.concatenate(each, axis=1) for each in zip(*found, strict=True)))


def lacks_both(block: AnyArray) -> bool:
    """Whether some rows lack the feature and others the target."""
    return bool(block[:-1, -1].any() and block[-1, :-1].any())


def _of_ratios(tables: Sequence[FloatArray]) -> Shares:
    """The Betas of tables in which no row lacks the target, or none the feature."""
    pseudo = 1.0 / (len(tables[0]) - 1)
    parameters = np.concatenate([table[:-1, :-1] for table in tables], axis=1) + pseudo
    if len(parameters) == 1:  # one class, which is certain
        return Shares(parameters, np.full_like(parameters, _CERTAIN))
    target_only = np.concatenate([_repeated(table[:-1, -1], table) for table in tables], axis=1)
    if not target_only.any():
        return Shares(parameters, _without_own(parameters))
    rows = np.concatenate([_repeated((table[:-1, :-1] + pseudo).sum(axis=1), table) for table in tables], axis=1)
    all_rows = rows + target_only
    mean = digamma(all_rows) + digamma(parameters) - digamma(rows)
    variance = trigamma(all_rows) + trigamma(parameters) - trigamma(rows)
    shape = _inverse_trigamma(variance)
    scale = np.exp(mean - digamma(shape))
    mass, square = _without_own(shape * scale), _without_own(shape * scale**2)
    others, their_scale = mass**2 / square, square / mass
    fitted = _with_log_odds(
        digamma(shape) + np.log(scale) - digamma(others) - np.log(their_scale), trigamma(shape) + trigamma(others)
    )
    complete = ~target_only.any(axis=0)  # exactly, then
    return Shares(
        np.where(complete, parameters, fitted.alpha), np.where(complete, _without_own(parameters), fitted.beta)
    )


def _repeated(of_classes: FloatArray, table: FloatArray) -> FloatArray:
    """Figures of the classes of a table, for each of its values."""
    return np.repeat(of_classes[:, None], table.shape[1] - 1, axis=1)


def _without_own(values: FloatArray) -> FloatArray:
    """For each class the sum over all others, without a difference, in which digits would be lost."""
    before, after = np.zeros_like(values), np.zeros_like(values)
    before[1:] = np.cumsum(values[:-1], axis=0)
    after[:-1] = np.cumsum(values[:0:-1], axis=0)[::-1]
    return before + after


def _at_mode(counts: FloatArray) -> Shares:
    """The Betas from the mode, and the covariance there."""
    fitted = _Fitted(counts)
    variance = np.empty_like(fitted.share)
    for of in range(variance.shape[0]):
        variance[of] = np.diag(fitted.covariance(of))
    return fitted.betas(fitted.share, variance)


class _Fitted:
    """The mode of the cell probabilities, the shares there, and the covariance of their log-odds."""

    def __init__(self, counts: FloatArray) -> None:
        self._solution = solve(Table.of_block(counts), 1.0 / (counts.shape[0] - 1))
        self._probability = self._solution.mode
        self._rest = _without_own(self._probability)
        self.share = np.clip(self._probability / self._probability.sum(axis=0), _CERTAIN, 1.0 - _CERTAIN)

    def covariance(self, of: int) -> FloatArray:
        """The covariance matrix of the log-odds of one class, value by value."""
        solution, values = self._solution, range(self._probability.shape[1])
        fields = np.zeros((len(values), *self._probability.shape))
        for j in values:
            fields[j, :, j] = -1.0 / self._rest[of, j]
            fields[j, of, j] = 1.0 / self._probability[of, j]
        turned = (solution.turned(solution.covariance_times(solution.turned(field))) for field in fields)
        matrix: FloatArray = np.stack([(fields * each).sum(axis=(1, 2)) for each in turned])
        return matrix

    @staticmethod
    def betas(share: FloatArray, variance: FloatArray) -> Shares:
        """The Betas with this mode and this curvature of their log-odds."""
        size = 1.0 / (np.maximum(variance, _CERTAIN) * share * (1.0 - share))
        return Shares(share * size, (1.0 - share) * size)


def without_common_term(block: AnyArray, of: int, known: Shares) -> Shares:
    """Betas of one class's shares that differ from them, in log-odds, by a term that all values have in common.

    They are independent, and ordered as the shares are (for more than two classes and missing features: nearly).
    """
    counts = np.asarray(block, dtype=np.float64)
    if lacks_both(counts):
        fitted = _Fitted(counts)
        covariance = fitted.covariance(of)
        pairs = covariance.size - len(covariance)
        common = (covariance.sum() - np.trace(covariance)) / max(pairs, 1)
        return fitted.betas(fitted.share[of], np.diag(covariance) - common)
    if counts.shape[0] == 3:  # two classes
        return Shares(counts[of, :-1] + 0.5, counts[1 - of, :-1] + 0.5)
    return Shares(known.alpha[of], known.beta[of])


def most_affected(block: AnyArray, known: Shares) -> int:
    """The class that the word for the direction is of: of two the last, otherwise that whose share varies most."""
    if known.alpha.shape[0] == 2:
        return 1
    rows = np.asarray(block, dtype=np.float64)[:, :-1].sum(axis=0)
    weights, share = rows / max(rows.sum(), 1.0), known.mean
    middle = (share * weights).sum(axis=1, keepdims=True)
    return int((weights * (share - middle) ** 2 / (middle * (1.0 - middle))).sum(axis=1).argmax())


def _slope_of_trigamma(x: FloatArray) -> FloatArray:
    return (trigamma(x * (1.0 + _SMALL_STEP)) - trigamma(x * (1.0 - _SMALL_STEP))) / (2.0 * _SMALL_STEP * x)


def _inverse_trigamma(value: FloatArray) -> FloatArray:
    """The x with psi'(x) = value. log psi' is nearly linear in log x, with slopes from -2 to -1."""
    x = 0.5 + 1.0 / value
    for _ in range(_STEPS):
        found = trigamma(x)
        step = np.log(value / found) * found / (x * _slope_of_trigamma(x))
        x = x * np.exp(np.clip(step, -_LARGEST_STEP, _LARGEST_STEP))
        if np.abs(step).max() < _ROUNDING:
            break
    return x


def _with_log_odds(mean: FloatArray, variance: FloatArray) -> Shares:
    """The Betas whose log-odds have these moments: psi(a) - psi(b) and psi'(a) + psi'(b).

    Newton's method in log a and log b. The first equation fixes b for each a, and along this line the second falls from
    infinity to 0: there is one solution.
    """
    lesser = _inverse_trigamma(variance)  # if the greater one adds nothing to the variance
    greater = np.exp(np.minimum(np.abs(mean) + digamma(lesser), _LARGEST_LOGARITHM)) + 0.5
    greater = np.maximum(lesser, greater)
    alpha, beta = np.where(mean < 0.0, lesser, greater), np.where(mean < 0.0, greater, lesser)
    for _ in range(_STEPS):
        first, second = trigamma(alpha), trigamma(beta)
        from_mean = mean - (digamma(alpha) - digamma(beta))
        from_variance = np.log(variance / (first + second))
        # the derivatives by log a and by log b
        d_mean = alpha * first, -beta * second
        d_variance = alpha * _slope_of_trigamma(alpha), beta * _slope_of_trigamma(beta)
        d_variance = d_variance[0] / (first + second), d_variance[1] / (first + second)
        determinant = d_mean[0] * d_variance[1] - d_mean[1] * d_variance[0]
        of_alpha = (from_mean * d_variance[1] - d_mean[1] * from_variance) / determinant
        of_beta = (d_mean[0] * from_variance - from_mean * d_variance[0]) / determinant
        largest = np.maximum(np.maximum(np.abs(of_alpha), np.abs(of_beta)), _LARGEST_STEP)
        alpha = alpha * np.exp(of_alpha * _LARGEST_STEP / largest)
        beta = beta * np.exp(of_beta * _LARGEST_STEP / largest)
        if largest.max() <= _LARGEST_STEP and max(np.abs(of_alpha).max(), np.abs(of_beta).max()) < _ROUNDING:
            break
    return Shares(alpha, beta)
