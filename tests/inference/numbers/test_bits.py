"""Two numbers by the bits of a rank: against sums over all segmentations, all orders of rows, and known relations."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import digamma, gammaln

from credimi import CredimiError, mutual_information
from credimi.inference.numbers import bits, bits_kernels, bits_sums


def pairs_of(x: np.ndarray, y: np.ndarray) -> bits.Pairs:
    """Two complete columns."""
    x_place, y_place = (np.unique(column, return_inverse=True)[1].astype(np.int64) for column in (x, y))
    rows = [np.bincount(place).astype(float) for place in (x_place, y_place)]
    return bits.Pairs(x_place, y_place, np.ones(len(x)), *rows)


def segmentations(cells: int) -> list[list[int]]:
    """All sets of borders of so many cells, each with both ends."""
    inner = range(1, cells)
    chosen = [borders for size in range(cells) for borders in itertools.combinations(inner, size)]
    return [[0, *borders, cells] for borders in chosen]


def rise(a: np.ndarray, n: np.ndarray) -> np.ndarray:
    """log of Gamma(a + n)/Gamma(a)/a^n."""
    return gammaln(a + n) - gammaln(a) - n * np.log(a)


def range_terms(below: np.ndarray, strength: float, g: int, h: int) -> tuple[float, float, float]:
    """log f, the mean and the mean square of what a range adds, in plain arithmetic."""
    width = below.shape[1] - 1
    log_f = mean = square = 0.0
    for stratum in below:
        rows = stratum[-1].sum()
        p = (stratum[-1] + 0.5) / (rows + 1.0)
        n = stratum[h] - stratum[g]
        b = (n.sum() + (h - g) / width) / (rows + 1.0)
        a = strength * b * p
        share = rise(strength * p, stratum[-1]).sum() / rise(strength * p.sum(), rows)
        log_f += rise(a, n).sum() - share * rise(a.sum(), n.sum())
        of_class = digamma(a + n + 1) - digamma((a + n).sum() + 1) - np.log(p)
        theta = (a + n) / (a + n).sum()
        weight = rows / below[:, -1].sum() * b
        mean += weight * float(theta @ of_class)
        square += weight * float(theta @ of_class**2)
    return log_f, mean, square


def over_all_cuts(below: np.ndarray, strength: float, stride: int, rate: float) -> tuple[float, float, float]:
    """Evidence relative to independence, mean and second moment of I: a sum over all segmentations."""
    cells = (below.shape[1] - 1) // stride
    q = rate / (cells - 1)
    weights, means = [], []
    for borders in segmentations(cells)[1:]:
        terms = [range_terms(below, strength, g * stride, h * stride) for g, h in itertools.pairwise(borders)]
        prior = q ** (len(borders) - 2) * (1 - q) ** (cells - len(borders) + 1)
        weights.append(prior * math.exp(sum(term[0] for term in terms)))
        means.append(sum(term[1] for term in terms))
    share = np.array(weights) / sum(weights)
    whole = math.exp(range_terms(below, strength, 0, cells * stride)[0])
    evidence = math.log(sum(weights) / whole / (1 - (1 - q) ** (cells - 1)))
    return evidence, float(share @ means), float(share @ np.square(means))


@pytest.mark.parametrize("even", [True, False])
def test_the_recursion_is_the_sum_over_all_segmentations(*, even: bool) -> None:
    generator = np.random.default_rng(7)
    counts = generator.integers(0, 5, (3, 8, 2)).astype(float)
    if even:  # each cell has four rows, and each class as many: nothing is learned but where they are
        ones = np.array([[4, 3, 2, 1, 0, 2, 2, 2], [0, 1, 2, 3, 4, 2, 2, 2], [4, 4, 4, 0, 0, 0, 2, 2]])
        counts = np.stack([ones, 4 - ones], axis=2).astype(float)
    below = np.concatenate([np.zeros((3, 1, 2)), counts.cumsum(axis=1)], axis=1)
    strengths, strides, rates = np.array([1.0, 7.0, 90.0]), np.array([1, 2]), np.array([1.0, 2.0])
    log_f, evidence = np.zeros((3, 9, 9)), np.empty((3, 2, 2))
    bits_kernels.fill_evidence(below, strengths, log_f)
    bits_sums.sum_over_cuts(log_f, strides, rates, evidence)
    moments = np.zeros((3, 2, 2, 3))
    for point, strength in enumerate(strengths):
        bits_sums.moments_over_cuts(below, strength, log_f[point], strides, rates, np.ones((2, 2)), moments[point])
        for (i, stride), (j, rate) in itertools.product(enumerate(strides), enumerate(rates)):
            if rate / (8 // stride - 1) > 0.5:
                continue
            expected = over_all_cuts(below, strength, stride, rate)
            if even:  # there b and p have the shares of ranks: half a row is what the oracle adds to them
                assert evidence[point, i, j] == pytest.approx(expected[0], abs=0.06)
                assert moments[point, i, j, 0] == pytest.approx(expected[1], rel=0.03)
                continue
            found = evidence[point, i, j], *moments[point, i, j, :2]
            assert found == pytest.approx(expected, rel=1e-6)


def test_even_strata_are_looked_up_exactly() -> None:
    """With the shares of ranks in the oracle, too, the tables of an even stratum are exact."""
    ones = np.array([4, 3, 2, 1, 0, 2, 2, 2])
    counts = np.stack([ones, 4 - ones], axis=1).astype(float)
    below = np.concatenate([np.zeros((1, 2)), counts.cumsum(axis=0)])[np.newaxis]
    strengths = np.array([1.0, 30.0])
    log_f = np.zeros((2, 9, 9))
    bits_kernels.fill_evidence(below, strengths, log_f)
    for (point, strength), (g, h) in itertools.product(enumerate(strengths), itertools.combinations(range(9), 2)):
        n, a = below[0, h] - below[0, g], np.full(2, strength * (h - g) / 16)
        share = rise(np.full(2, strength / 2), below[0, -1]).sum() / rise(strength, below[0, -1].sum())
        both = share * rise(a.sum(), n.sum())
        assert log_f[point, g, h] == pytest.approx(rise(a, n).sum() - both, abs=1e-10)


def test_bits_obey_the_chain_rule() -> None:
    generator = np.random.default_rng(1)
    joint = generator.random((16, 5))
    joint /= joint.sum()

    def entropy(chances: np.ndarray) -> float:
        return float(-(chances[chances > 0] * np.log(chances[chances > 0])).sum())

    def information(table: np.ndarray) -> float:
        return entropy(table.sum(axis=0)) + entropy(table.sum(axis=1)) - entropy(table)

    total = 0.0
    middles = (np.arange(16) + 0.5) / 16
    for level in range(4):
        codes = bits.bits_of(middles, level)
        tables = np.zeros((2**level, 2, 5))
        np.add.at(tables, (codes >> 1, codes & 1), joint)
        total += sum(table.sum() * information(table / table.sum()) for table in tables)
    assert total == pytest.approx(information(joint), rel=1e-12)


def test_evidence_is_one_on_average_over_all_orders() -> None:
    """Twelve rows have one level: the mean over all ways to choose the six upper ones is that of independence."""
    x = np.arange(12.0)
    evidence = []
    for upper in itertools.combinations(range(12), 6):
        y = np.zeros(12)
        y[list(upper)] = np.arange(1, 7)
        y[y == 0] = -np.arange(1, 7)
        evidence.append(math.exp(bits.one_way(pairs_of(x, y), np.ones(12)).log_evidence))
    assert 0.9 < np.mean(evidence) < 1.15  # it is 1.13


def test_noise_is_not_kept() -> None:
    generator = np.random.default_rng(3)
    kept = 0
    for round_ in range(120):
        rows = (25, 80, 300)[round_ % 3]
        x = (generator.standard_normal(rows), np.maximum(generator.standard_normal(rows), 0.0))[round_ % 2]
        y = (generator.standard_cauchy(rows), generator.poisson(20.0, rows).astype(float))[round_ // 2 % 2]
        kept += bits.of_numbers(pairs_of(x, y)).log_evidence > math.log(19.0)
    assert kept <= 2


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_normal_pairs_are_found(rho: float) -> None:
    generator = np.random.default_rng(11)
    truth = -0.5 * math.log(1 - rho * rho)
    inside = 0
    for _ in range(12):
        x = generator.standard_normal(800)
        law = mutual_information(x, rho * x + math.sqrt(1 - rho * rho) * generator.standard_normal(800))
        low, high = law.interval(0.95)
        inside += low <= truth <= high
        assert abs(law.mean() - truth) < 0.1
    assert inside >= 9


def test_columns_can_be_exchanged_and_stretched() -> None:
    generator = np.random.default_rng(5)
    x = generator.standard_normal(300)
    y = x**2 + generator.standard_normal(300)
    x[::7], y[3::11] = np.nan, np.nan
    law = mutual_information(x, y)
    assert mutual_information(y, x).mean() == pytest.approx(law.mean(), rel=1e-12)
    stretched = mutual_information(np.exp(x).tolist(), [None if np.isnan(value) else value**3 for value in y])
    assert stretched.mean() == pytest.approx(law.mean(), rel=1e-12)
    order = generator.permutation(300)
    assert mutual_information(x[order], y[order]).mean() == pytest.approx(law.mean(), rel=1e-9)
    assert mutual_information(-x, y).mean() == pytest.approx(law.mean(), rel=0.1)


def test_a_number_and_categories() -> None:
    generator = np.random.default_rng(6)
    y = generator.standard_normal(600)
    labels = np.where(y > 0.4, "high", np.where(y < -1.0, "low", "middle"))
    law = mutual_information(labels, y)
    assert mutual_information(y, labels.tolist()).mean() == law.mean()
    assert mutual_information(labels[generator.permutation(600)], y).p_zero > 0.5
    shuffled = np.where(generator.random(600) < 0.5, labels, labels[generator.permutation(600)])
    assert 0.1 < mutual_information(shuffled, y).mean() < 0.5


def test_missing_values_have_the_weights_of_the_fixed_point() -> None:
    table = np.array([[30.0, 10.0], [20.0, 40.0]])
    weights = bits.fixed_point(table, np.array([60.0, 0.0]), np.zeros(2))
    chances = table / 100 * weights
    assert chances.sum() == pytest.approx(1.0)
    rows = np.array([100.0, 60.0]) / 160  # (N_i+/N)(n_ij/n_i+)
    assert chances == pytest.approx(rows[:, np.newaxis] * table / table.sum(axis=1, keepdims=True))


def test_rows_lost_by_the_target_are_allowed_for() -> None:
    generator = np.random.default_rng(8)
    x = generator.standard_normal(4000)
    y = 0.8 * x + 0.6 * generator.standard_normal(4000)
    lost = np.where((x > 0.0) & (generator.random(4000) < 0.8), np.nan, y)
    truth = mutual_information(x, y).mean()
    seen = ~np.isnan(lost)
    complete = mutual_information(x[seen], lost[seen]).mean()
    assert abs(mutual_information(x, lost).mean() - truth) < 0.6 * abs(complete - truth)


def test_few_rows_and_constant_bits_say_nothing() -> None:
    assert bits.of_numbers(pairs_of(np.arange(8.0), np.arange(8.0))) is bits.NOTHING
    assert mutual_information(np.arange(30.0), np.repeat(7, 30)).p_zero == 1.0
    assert mutual_information(np.arange(30.0), ["a"] * 29 + [None]).p_zero == 1.0


def test_what_tables_only_have_is_refused() -> None:
    numbers = np.arange(50.0)
    with pytest.raises(CredimiError, match="cut the numbers into ranges first"):
        mutual_information(numbers, numbers, prior="jeffreys")
    with pytest.raises(CredimiError, match="one value for each data row"):
        mutual_information(numbers, numbers[:-1])
