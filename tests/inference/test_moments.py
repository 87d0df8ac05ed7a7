"""Moments of mutual information against dense algebra, many digits, exact draws and quadrature, and by their laws."""

import math
import random
from collections.abc import Callable

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ORDINARY, PROPER, incomplete_tables, missing_at_random, table
from strategies import IncompleteTable as Table

import credimi
from credimi import CredimiError
from credimi.core.tables import Tables
from credimi.inference import complete_data
from credimi.inference.moments import moments as information

ONE_SIDED = ("complete", "target_only", "feature_only")


def moments(tables: list[Table], *, matched: bool = True, threads: int | None = None) -> np.ndarray:
    """(mean, variance) of each table, in one batch: a 2 x n array."""
    blocks = Tables.of([counted.block for counted in tables])
    pseudo_counts = np.array([counted.pseudo_count for counted in tables])
    found = information.moments(blocks, pseudo_counts, matched=matched, threads=threads)
    return np.array([found.mean, found.variance])


def well_seen(shape: tuple[int, int], rows: int, prior: float | str, generator: np.random.Generator) -> Table:
    """Two data rows in five incomplete; every class and every value in at least three complete rows.

    Within this condition the matched moments of 875 random 2 x 2 tables were all as close as the tests below ask; where
    a class has fewer complete rows, one table in ten misses, by up to 20 % in the deviation.
    """
    while True:
        counted = missing_at_random(shape, rows, (0.2, 0.2), prior, generator)
        if min(counted.joint.sum(axis=0).min(), counted.joint.sum(axis=1).min()) >= 3.0:
            return counted


def random_tables(count: int, seed: int, priors: tuple[float | str, ...] = PROPER) -> list[Table]:
    """Every pattern in turn, shapes from 1 x 1 to 6 x 6."""
    generator = np.random.default_rng(seed)
    patterns = [(0.0, 0.0), (0.3, 0.0), (0.0, 0.3), (0.2, 0.2), (0.5, 0.4)]
    tables = []
    for index in range(count):
        rows, columns = generator.integers(1, 7, 2)
        size = int(generator.integers(1, 300))
        prior = priors[index % len(priors)]
        tables.append(missing_at_random((rows, columns), size, patterns[index % 5], prior, generator))
    return tables


# Leading order


@settings(max_examples=150, deadline=None)
@given(incomplete_tables(magnitudes=ORDINARY, priors=(*PROPER, 0.0)))
def test_leading_moments_are_those_of_the_dense_matrix(counted: Table) -> None:
    mean, variance = moments([counted], matched=False)[:, 0]
    true_mean, true_variance = oracle.leading_moments(*counted.counts, oracle.dense_mode(*counted.counts))
    assert mean == pytest.approx(true_mean, rel=1e-10, abs=1e-15)  # a sum of terms of either sign: a few roundings of 1
    assert variance == pytest.approx(true_variance, rel=1e-10, abs=1e-20)


@settings(max_examples=80, deadline=None)
@given(incomplete_tables(patterns=ONE_SIDED, magnitudes=("large",), priors=(*PROPER, 0.0)))
def test_leading_moments_of_large_counts(counted: Table) -> None:
    cells, row_only, column_only = counted.counts
    rows, columns = cells.sum(axis=1, keepdims=True), cells.sum(axis=0)
    chances = (
        (rows + row_only[:, None]) * cells / rows
        if not column_only.any()
        else (columns + column_only) * cells / columns
    )
    chances = chances / counted.total
    mean, variance = moments([counted], matched=False)[:, 0]
    true_mean, true_variance = oracle.leading_moments(*counted.counts, chances)
    assert mean == pytest.approx(true_mean, rel=1e-10, abs=1e-15)
    assert variance == pytest.approx(true_variance, rel=1e-10, abs=1e-20)


@settings(max_examples=80, deadline=None)
@given(incomplete_tables(patterns=("complete",), magnitudes=ORDINARY, priors=("haldane",)))
def test_zero_cells_drop_out_of_the_leading_moments(counted: Table) -> None:
    chances = counted.joint / counted.total
    mean, variance = moments([counted], matched=False)[:, 0]
    true_mean, true_variance = oracle.leading_moments(*counted.counts, chances)
    assert mean == pytest.approx(true_mean, rel=1e-10, abs=1e-15)
    assert variance == pytest.approx(true_variance, rel=1e-10, abs=1e-16)  # a difference: the oracle rounds, too


def test_papers_variance_of_missing_features() -> None:
    # (1/N)[K - J^2/Q - P] with Q = 1, each letter as the paper writes it.
    counted = table([[7, 2, 1], [1, 5, 4]], [6, 3], [0, 0, 0], 0.5)
    cells, row_only, _ = counted.counts
    total, rows = counted.total, cells.sum(axis=1)
    chances = ((rows + row_only) / total / rows)[:, None] * cells
    ratio = oracle.log_ratios(chances)
    rho, rho_missing = total * chances**2 / cells, total * chances.sum(axis=1) ** 2 / row_only
    share = 1.0 / (1.0 + rho.sum(axis=1) / rho_missing)
    of_rows = (rho * ratio).sum(axis=1)
    big_j = (of_rows * rho_missing / (rho_missing + rho.sum(axis=1))).sum()
    big_p = (of_rows**2 / (rho_missing + rho.sum(axis=1))).sum()
    assert (rho.sum(axis=1) * rho_missing / (rho_missing + rho.sum(axis=1))).sum() == pytest.approx(1.0)
    assert np.all(share < 1.0)
    expected = ((rho * ratio**2).sum() - big_j**2 - big_p) / total
    assert moments([counted], matched=False)[1, 0] == pytest.approx(expected, rel=1e-12)


def test_leading_moments_of_a_two_by_two_table_by_hand() -> None:
    # pi = (3, 1; 1, 3)/8: l = log(3/2) on the diagonal, log(1/2) off it; Var = (K - J^2)/8.
    mean, variance = moments([table([[3, 1], [1, 3]], [0, 0], [0, 0], 0.0)], matched=False)[:, 0]
    by_hand = 0.75 * math.log(1.5) - 0.25 * math.log(2.0)
    assert mean == pytest.approx(by_hand, rel=1e-14)
    assert variance == pytest.approx(
        (0.75 * math.log(1.5) ** 2 + 0.25 * math.log(2.0) ** 2 - by_hand**2) / 8, rel=1e-13
    )


def test_class_seen_only_without_the_feature_carries_no_information() -> None:
    # The others' share U ~ Beta(8, 4), so I = U I': mean (2/3) I', variance (2/3)^2 Var' + I'^2 (2/3)(1/3)/12.
    counted = table([[3, 1], [0, 0], [1, 3]], [0, 4, 0], [0, 0], "haldane")
    inner = moments([table([[3, 1], [1, 3]], [0, 0], [0, 0], 0.0)], matched=False)[:, 0]
    mean, variance = moments([counted], matched=False)[:, 0]
    assert mean == pytest.approx(oracle.mutual_information(np.array([[3, 1], [2, 2], [1, 3]]) / 12), rel=1e-13)
    assert mean == pytest.approx(2 / 3 * inner[0], rel=1e-13)
    assert variance == pytest.approx(4 / 9 * inner[1] + inner[0] ** 2 * (2 / 9) / 12, rel=1e-12)


@pytest.mark.parametrize(
    "margins", [([0, 0], [0, 0, 0]), ([2, 3], [0, 0, 0]), ([0, 0], [1, 2, 1]), ([2, 3], [1, 2, 1])]
)
def test_empty_rows_and_columns_change_nothing_under_haldane(margins: tuple[list[float], list[float]]) -> None:
    counted = table([[5, 1, 2], [1, 4, 3]], *margins, "haldane")
    with_row = Table(np.vstack([counted.joint, np.zeros(3)]), np.append(counted.target_only, 0), *counted[2:])
    with_column = Table(
        np.hstack([counted.joint, np.zeros((2, 1))]), counted.target_only, np.append(counted.feature_only, 0), "haldane"
    )
    found = moments([counted, with_row, with_column], matched=False)
    np.testing.assert_allclose(found[:, 1:], found[:, :1] * np.ones(2), rtol=1e-11)


# Matched moments: mean


@settings(max_examples=100, deadline=None)
@given(incomplete_tables(patterns=("complete",), priors=(*PROPER, 0.0)))
def test_matched_mean_of_complete_data_is_exact(counted: Table) -> None:
    truth = oracle.exact_mean(counted.counts[0])
    assert moments([counted])[0, 0] == pytest.approx(truth, rel=1e-12, abs=1e-15)
    assert complete_data.exact_mean(counted.counts[0]) == pytest.approx(truth, rel=1e-12, abs=1e-14)


def test_exact_mean_by_hand() -> None:
    # All parameters 1, 2 x 2: (1/4) 4 [psi(2) - 2 psi(3) + psi(5)] = 1 - 2 (3/2) + 25/12 = 1/12.
    assert complete_data.exact_mean(np.ones((2, 2))) == pytest.approx(1 / 12, rel=1e-14)
    assert credimi.mutual_information(np.zeros((2, 2)), prior="uniform").mean() == pytest.approx(1 / 12, rel=1e-13)


# Matched moments against exact draws


def standardised(values: np.ndarray) -> tuple[float, float, float, float]:
    """Mean, deviation, and the standard errors of the mean (in deviations) and of the deviation (relative)."""
    deviation = values.std()
    kurtosis = ((values - values.mean()) ** 4).mean() / deviation**4
    return values.mean(), deviation, 1.0 / math.sqrt(values.size), math.sqrt((kurtosis - 1.0) / (4.0 * values.size))


@pytest.mark.parametrize("prior", [0.5, 1.0])
@pytest.mark.parametrize("rows", [30, 100, 1000])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_matched_moments_are_those_of_exact_draws(share: float, rows: int, prior: float) -> None:
    generator = np.random.default_rng(21)
    for shape in [(2, 2), (2, 6), (6, 2), (4, 3)]:
        counted = missing_at_random(shape, rows, (share, 0.0), prior, generator)
        cells, row_only, _ = counted.counts
        draws = oracle.informations(oracle.one_sided_draws(cells, row_only, 40_000, generator))
        mean, deviation, mean_error, deviation_error = standardised(draws)
        for turned in (counted, counted.transposed()):
            found = credimi.mutual_information(**turned.arguments())
            assert abs(found.mean() - mean) <= (0.02 + 4.0 * mean_error) * deviation, counted
            assert abs(found.std() / deviation - 1.0) <= 0.03 + 4.0 * deviation_error, counted


def test_beta_with_the_matched_moments_is_close_to_the_posterior() -> None:
    # Hoped for: a median Kolmogorov distance of .015 at N = 100. 20 000 draws alone are off by up to .012.
    generator = np.random.default_rng(22)
    distances = []
    for shape in [(2, 2), (2, 3), (3, 3), (2, 8), (5, 4)] * 4:
        counted = missing_at_random(shape, 100, (0.3, 0.0), 0.5, generator)
        cells, row_only, _ = counted.counts
        draws = np.sort(oracle.informations(oracle.one_sided_draws(cells, row_only, 20_000, generator)))
        fitted = credimi.mutual_information(**counted.arguments()).cdf(draws)
        steps = np.arange(draws.size + 1) / draws.size
        distances.append(max(np.max(steps[1:] - fitted), np.max(fitted - steps[:-1])))
    assert np.median(distances) < 0.03


@pytest.mark.parametrize("prior", [0.5, 1.0])
@pytest.mark.parametrize("rows", [100, 300, 1000])
def test_matched_moments_where_both_miss_are_those_of_gibbs_draws(rows: int, prior: float) -> None:
    generator = np.random.default_rng(23)
    for shape in [(2, 3), (3, 3), (5, 4)]:
        counted = well_seen(shape, rows, prior, generator)
        trace = oracle.gibbs_draws(*counted.counts, chains=500, steps=60, burn_in=40, generator=generator)
        draws = oracle.informations(trace.reshape(-1, *shape)).reshape(60, 500)
        deviation = draws.std()
        found = credimi.mutual_information(**counted.arguments())
        mean_error = draws.mean(axis=0).std() / math.sqrt(500)
        of_chains = ((draws - draws.mean()) ** 2).mean(axis=0)
        deviation_error = 0.5 * of_chains.std() / math.sqrt(500) / deviation**2
        assert abs(found.mean() - draws.mean()) <= 0.06 * deviation + 4.0 * mean_error, counted
        assert abs(found.std() / deviation - 1.0) <= 0.06 + 4.0 * deviation_error, counted


def exact_moments(counted: Table) -> tuple[float, float]:
    """Mean and deviation of I for a 2 x 2 table, by quadrature."""
    functions = [oracle.informations, lambda chances: oracle.informations(chances) ** 2]
    _, (mean, square) = oracle.quadrature(*counted.counts, functions, nodes=36)
    return float(mean), math.sqrt(square - mean**2)


@pytest.mark.parametrize("rows", [100, 300, 1000])
def test_matched_moments_where_both_miss_are_those_of_the_integral(rows: int) -> None:
    generator = np.random.default_rng(24)
    for prior in (0.5, 1.0) * 6:
        counted = well_seen((2, 2), rows, prior, generator)
        mean, deviation = exact_moments(counted)
        found = credimi.mutual_information(**counted.arguments())
        assert abs(found.mean() - mean) <= 0.06 * deviation, counted
        assert abs(found.std() / deviation - 1.0) <= 0.06, counted


def test_matched_moments_of_a_class_seen_only_without_the_feature() -> None:
    counted = table([[0, 0], [45, 10]], [2, 22], [17, 4], 1.0)
    _, deviation = exact_moments(counted)
    assert abs(credimi.mutual_information(**counted.arguments()).std() / deviation - 1.0) <= 0.06


@pytest.mark.parametrize("prior", ["jeffreys", "perks"])
@pytest.mark.parametrize("margins", [([0, 0], [0, 0]), ([4, 1], [0, 0]), ([4, 1], [2, 3])])
def test_matched_deviation_of_tiny_weights_has_the_right_size(
    margins: tuple[list[float], list[float]], prior: str
) -> None:
    # Weights that sum to about 0.02: the posterior is all but the prior, and the deviation of order 1.
    scaled = [[0.001 * count for count in margin] for margin in margins]
    counted = table([[0.005, 0.001], [0.0, 0.003]], *scaled, prior)
    _, deviation = exact_moments(counted)
    found = credimi.mutual_information(**counted.arguments()).std()
    assert 0.5 * deviation <= found <= 2.0 * deviation


# More terms for complete data

FAR_FROM_INDEPENDENT = [
    [[4, 1], [1, 4]],
    [[6, 1, 2], [1, 5, 3]],
    [[5, 1, 1], [1, 4, 1], [0.5, 1, 6]],
]


@pytest.mark.parametrize("size", [500, 2000])
@pytest.mark.parametrize("shares", FAR_FROM_INDEPENDENT)
def test_higher_moments_are_those_of_exact_draws(shares: list[list[float]], size: int) -> None:
    # Leading orders: what they leave out is of order (number of cells)/n beside them, 2 % at most here, except that
    # skewness is itself a small difference, of which 15 % are allowed.
    cells = np.array(shares) / np.sum(shares) * size
    generator = np.random.default_rng(25)
    parts = [oracle.dirichlet_draws(cells.ravel(), 200_000, generator) for _ in range(4)]
    draws = np.concatenate([oracle.informations(part.reshape(-1, *cells.shape)) for part in parts])
    centred = draws - draws.mean()
    for power, function, allowed in (
        (2, complete_data.second_order_variance, 0.005),
        (3, complete_data.third_central_moment, 0.15),
        (4, complete_data.fourth_central_moment, 0.10),
    ):
        powers = centred**power
        error = powers.std() / math.sqrt(draws.size)
        assert abs(function(cells) - powers.mean()) <= allowed * abs(powers.mean()) + 4.0 * error, power


def test_second_order_variance_of_independent_counts_by_hand() -> None:
    # Counts of an exact product: J = K = M = 0, Q = 1 - 1 = 0, so Var = (r-1)(s-1)/(2 (n+1)(n+2)).
    cells = np.outer([2.0, 3.0, 5.0], [10.0, 20.0])
    assert complete_data.second_order_variance(cells) == pytest.approx(1.0 / (301.0 * 302.0), rel=1e-10)
    assert complete_data.third_central_moment(cells) == pytest.approx(0.0, abs=1e-18)
    assert complete_data.fourth_central_moment(cells) == pytest.approx(0.0, abs=1e-30)


@pytest.mark.parametrize("wrong", [[[1.0, 0.0], [1.0, 1.0]], [1.0, 2.0], [[1.0, math.inf]], [[1.0, -1.0]]])
def test_more_terms_need_positive_parameters(wrong: list) -> None:
    for function in (
        complete_data.exact_mean,
        complete_data.second_order_variance,
        complete_data.third_central_moment,
        complete_data.fourth_central_moment,
    ):
        with pytest.raises(CredimiError, match="positive"):
            function(wrong)


# Stress


def two_by_forty(target_only: list[float], step: int) -> Table:
    joint = np.zeros((2, 40))
    joint[0, 3], joint[1, 7] = 20.0, 10.0
    return Table(joint, np.array(target_only, float), np.arange(40) % step * 1.0, "perks")


def stress(margins: tuple[list[float], list[float]], scale: float, prior: float | str) -> Table:
    counted = table([[5, 0, 0], [0, 3, 1], [0, 0, 2]], *margins, prior)
    return Table(*(scale * counts for counts in counted[:3]), prior)


MARGINS = [([0, 0, 0], [0, 0, 0]), ([1, 2, 3], [0, 0, 0]), ([0, 0, 0], [1, 0, 2]), ([1, 2, 3], [1, 0, 2])]
STRESSED = {
    "2x40 perks complete": two_by_forty([0, 0], 1),
    "2x40 perks target only": two_by_forty([5, 9], 1),
    "2x40 perks feature only": two_by_forty([0, 0], 3),
    "2x40 perks both": two_by_forty([5, 9], 3),
    # Truth, by the Gibbs sampler of tests/oracle.py: mean .53, deviation .11.
    "2x5 perks both": table([[0, 0, 0, 0, 3], [0, 0, 0, 0, 0]], [4, 4], [6, 6, 6, 6, 6], "perks"),
    **{
        f"{prior} times {scale:g}, margins {index}": stress(margins, scale, prior)
        for index, margins in enumerate(MARGINS)
        for scale in (1e-3, 1.0, 1e12)
        for prior in ("haldane", "perks", "jeffreys", "uniform")
    },
    **{
        f"{prior} one cell, margins {index}": table([[0, 0, 0], [0, 7, 0], [0, 0, 0]], *margins, prior)
        for index, margins in enumerate(MARGINS)
        for prior in ("perks", "jeffreys")
    },
    **{
        f"{prior} no cell, margins {index}": table(np.zeros((3, 3)), *margins, prior)
        for index, margins in enumerate(MARGINS)
        for prior in ("perks", "jeffreys")
    },
}


@pytest.mark.parametrize("counted", STRESSED.values(), ids=STRESSED.keys())
def test_matched_moments_fit_a_beta_on_tables_under_stress(counted: Table) -> None:
    mean, variance = moments([counted])[:, 0]
    upper = math.log(min(counted.joint.shape))
    assert 0.0 < mean < upper
    assert 0.0 < variance < mean * (upper - mean)
    leading = moments([counted], matched=False)[:, 0]
    assert np.all(np.isfinite(leading))
    assert np.all(leading >= 0.0)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(incomplete_tables(priors=(*PROPER, 0.0)))
def test_matched_moments_fit_a_beta(counted: Table) -> None:
    mean, variance = moments([counted])[:, 0]
    upper = math.log(min(counted.joint.shape))
    assert 0.0 < mean < upper
    assert 0.0 < variance < mean * (upper - mean)


@pytest.mark.parametrize("margins", MARGINS)
@pytest.mark.parametrize("matched", [False, True])
def test_one_row_or_column_carries_no_information(margins: tuple[list[float], list[float]], *, matched: bool) -> None:
    for counted in (
        table([[3, 0, 2]], [margins[0][0]], margins[1], 0.5),
        table([[3], [0], [2]], margins[0], [margins[1][0]], 0.5),
        table([[3]], [margins[0][0]], [margins[1][0]], "haldane"),
    ):
        assert moments([counted], matched=matched).tolist() == [[0.0], [0.0]]
        assert credimi.mutual_information(**counted.arguments()).sf(0.0) == 0.0


def test_one_cell_without_pseudo_counts_carries_no_information() -> None:
    counted = table([[0, 0], [0, 7]], [0, 0], [0, 0], "haldane")
    for matched in (False, True):
        assert moments([counted], matched=matched).tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("shares", [(0.0, 0.0), (0.3, 0.0), (0.0, 0.3), (0.3, 0.2)])
@pytest.mark.parametrize(
    ("rows", "columns"), [([1, 1], [1, 1]), ([1, 2, 3], [1, 2, 3, 4]), ([5, 1, 1, 2, 3], [2, 7, 1])]
)
def test_trillions_of_independent_counts(rows: list[int], columns: list[int], shares: tuple[float, float]) -> None:
    # Margins in proportion add nothing on I, so n, the complete counts, sets the scale: 2 n I ~ chi^2, (r-1)(s-1).
    joint = np.outer(rows, columns) * float(round(1e12 / (sum(rows) * sum(columns))))
    counted = Table(joint, shares[0] * joint.sum(axis=1), shares[1] * joint.sum(axis=0), 0.5)
    mean, variance = moments([counted])[:, 0]
    freedom = (len(rows) - 1) * (len(columns) - 1)
    assert mean == pytest.approx(freedom / (2.0 * joint.sum()), rel=1e-2)
    assert variance == pytest.approx(freedom / (2.0 * joint.sum() ** 2), rel=1e-2)


# Laws


@pytest.mark.long
@pytest.mark.parametrize("matched", [False, True])
def test_a_batch_gives_what_its_tables_give(*, matched: bool) -> None:
    tables = random_tables(200, 31)
    together = moments(tables, matched=matched)
    alone = np.hstack([moments([counted], matched=matched) for counted in tables])
    np.testing.assert_array_equal(together, alone)


@pytest.mark.long
@pytest.mark.parametrize("matched", [False, True])
def test_threads_change_nothing(*, matched: bool) -> None:
    tables = random_tables(6000, 32, priors=(0.5, 1.0))
    # Of those that have to be drawn, which takes long, some are enough.
    drawn = [index for index, each in enumerate(tables) if each.joint.sum() < 3 * each.joint.size]
    tables = [each for index, each in enumerate(tables) if index not in set(drawn[20:])]
    assert sum(counted.joint.size for counted in tables) > 40_000  # enough for more than one thread
    one = moments(tables, matched=matched, threads=1)
    np.testing.assert_array_equal(moments(tables, matched=matched, threads=2), one)
    np.testing.assert_array_equal(moments(tables, matched=matched), one)


@settings(max_examples=30, deadline=None)
@given(st.lists(incomplete_tables(), min_size=2, max_size=8), st.integers(1, 7), st.booleans())
def test_splitting_a_batch_changes_nothing(tables: list[Table], cut: int, matched: bool) -> None:  # noqa: FBT001
    cut = min(cut, len(tables) - 1)
    parts = [moments(part, matched=matched) for part in (tables[:cut], tables[cut:])]
    np.testing.assert_array_equal(np.hstack(parts), moments(tables, matched=matched))


@pytest.mark.parametrize("matched", [False, True])
def test_no_tables_no_moments(*, matched: bool) -> None:
    assert moments([], matched=matched).shape == (2, 0)


def relabelled(counted: Table, shuffler: random.Random) -> Table:
    rows, columns = (list(range(size)) for size in counted.joint.shape)
    shuffler.shuffle(rows)
    shuffler.shuffle(columns)
    joint = counted.joint[np.ix_(rows, columns)]
    return Table(joint, counted.target_only[rows], counted.feature_only[columns], counted.prior)


@settings(max_examples=100, deadline=None)
@given(incomplete_tables(magnitudes=ORDINARY, priors=(*PROPER, 0.0)), st.randoms(use_true_random=False))
def test_relabelling_and_transposing_change_nothing_at_leading_order(counted: Table, shuffler: random.Random) -> None:
    found = moments([counted, relabelled(counted, shuffler), counted.transposed()], matched=False)
    np.testing.assert_allclose(found[:, 1:], found[:, :1] * np.ones(2), rtol=1e-9, atol=1e-15)


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(
    incomplete_tables(patterns=ONE_SIDED, magnitudes=("small", "real"), priors=(0.5, 1.0, 0.0)).filter(
        lambda counted: counted.counts[0].sum() >= 5.0
    ),
    st.randoms(use_true_random=False),
)
def test_relabelling_and_transposing_change_no_matched_moment(counted: Table, shuffler: random.Random) -> None:
    found = moments([counted, relabelled(counted, shuffler), counted.transposed()])
    np.testing.assert_allclose(found[:, 1:], found[:, :1] * np.ones(2), rtol=1e-9, atol=1e-15)


@settings(max_examples=40, deadline=None)
@given(incomplete_tables(magnitudes=ORDINARY), st.randoms(use_true_random=False))
def test_relabelling_and_transposing_change_no_more_than_draws_vary(counted: Table, shuffler: random.Random) -> None:
    # Tables with next to no counts get their moments from 4,000 draws: a mean of those varies by 1/60 of a deviation.
    mean, variance = moments([counted, relabelled(counted, shuffler), counted.transposed()])
    assert np.ptp(mean) <= 0.15 * math.sqrt(variance[0])
    assert np.ptp(np.sqrt(variance)) <= 0.15 * math.sqrt(variance[0])


@settings(max_examples=60, deadline=None)
@given(incomplete_tables(patterns=("complete", "target_only"), magnitudes=("small", "real"), priors=(0.5, 1.0)))
def test_a_vanishing_margin_vanishes(counted: Table) -> None:
    # The kernel of both sides must meet that of one side as one margin goes to 0: exactly at leading order.
    almost = Table(counted.joint, counted.target_only + 1e-9, counted.feature_only + 1e-9, counted.prior)
    found = moments([counted, almost], matched=False)
    np.testing.assert_allclose(found[:, 1], found[:, 0], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("approximation", ["matched", "leading", "leading-beta"])
def test_distribution_has_the_moments(approximation: str) -> None:
    for counted in (
        table([[70, 20, 10], [10, 50, 40]], [6, 3], [0, 0, 0], 0.5),  # thin tables have the variance of draws
        table([[70, 20, 10], [10, 50, 40]], [6, 3], [2, 0, 4], "perks"),
    ):
        mean, variance = moments([counted], matched=approximation == "matched")[:, 0]
        law = credimi.mutual_information(**counted.arguments(), approximation=approximation)
        assert law.mean() == pytest.approx(mean, rel=1e-12)
        assert law.var() == pytest.approx(variance, rel=1e-10)
        low, high = law.interval(0.9)
        assert law.cdf(high) - law.cdf(low) == pytest.approx(0.9, abs=1e-9)


# Size


@pytest.mark.long
@pytest.mark.parametrize("shares", [(0.3, 0.0), (0.0, 0.3), (0.2, 0.2)], ids=["target only", "feature only", "both"])
def test_a_thousand_by_a_thousand(shares: tuple[float, float]) -> None:
    counted = missing_at_random((1000, 1000), 4_000_000, shares, 1.0, np.random.default_rng(41))
    mean, variance = moments([counted], matched=False)[:, 0]
    cells, row_only, column_only = counted.counts
    chances = oracle.em_mode(cells, row_only, column_only, steps=100)
    rows, columns = chances.sum(axis=1), chances.sum(axis=0)

    def information_matrix(vector: np.ndarray) -> np.ndarray:
        field = vector.reshape(cells.shape)
        product = field * cells / chances**2
        product += (row_only / rows**2 * field.sum(axis=1))[:, None] + column_only / columns**2 * field.sum(axis=0)
        return product.ravel()

    slope = np.log(chances / np.outer(rows, columns))
    true_mean = (chances * slope).sum()
    centred = (slope - true_mean).ravel()  # Cov kills constants, and A^-1 e = pi/N
    diagonal = (cells / chances**2).ravel()
    solution = conjugate_gradients(information_matrix, centred, diagonal)
    assert mean == pytest.approx(true_mean, rel=1e-10)
    assert variance == pytest.approx(centred @ solution, rel=1e-9)


def conjugate_gradients(
    matrix: Callable[[np.ndarray], np.ndarray], right: np.ndarray, diagonal: np.ndarray
) -> np.ndarray:
    """Solve matrix x = right, preconditioned by the diagonal."""
    solution = np.zeros_like(right)
    residual = right.copy()
    direction = scaled = residual / diagonal
    before = start = residual @ scaled
    while before > 1e-24 * start:
        image = matrix(direction)
        length = before / (direction @ image)
        solution += length * direction
        residual -= length * image
        scaled = residual / diagonal
        after = residual @ scaled
        direction, before = scaled + after / before * direction, after
    return solution
