"""`mutual_information`: the four approximations, the edges of the input, and the laws that hold for any table."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.special import digamma, fdtri

from credimi import CredimiError, Distribution, Table, mutual_information, posterior
from credimi.core.table import LARGEST, SMALLEST
from credimi.inference.belief import APPROXIMATIONS
from credimi.inference.sampling import InformationDraws, _convergence

JOINT = [[10, 2, 7], [3, 15, 1]]
TARGET_ONLY = [4, 1]
FEATURE_ONLY = [0, 2, 5]
MARGINS = [
    {},
    {"target_only": TARGET_ONLY},
    {"feature_only": FEATURE_ONLY},
    {"target_only": TARGET_ONLY, "feature_only": FEATURE_ONLY},
]
LOG_2 = math.log(2.0)
LAWS = ("matched", "leading", "leading-beta")


def of(table: Table, approximation: str, prior: str | float = "jeffreys") -> Distribution:
    return mutual_information(table, approximation=approximation, prior=prior, random_state=7)


def plugged_in(chances: ArrayLike) -> tuple[float, float]:
    """J = sum p log(p/(p_i+ p_+j)) and K, the same with the logarithm squared: the definitions, cell by cell."""
    chance = np.asarray(chances) / np.sum(chances)
    rows, columns = chance.shape
    first = second = 0.0
    for i in range(rows):
        for j in range(columns):
            ratio = math.log(chance[i, j] / (chance[i].sum() * chance[:, j].sum()))
            first += chance[i, j] * ratio
            second += chance[i, j] * ratio**2
    return first, second


def mutual_information_of(chances: ArrayLike) -> float:
    """The information of chances none of which is 0."""
    return plugged_in(chances)[0]


def exact_mean(parameters: ArrayLike) -> float:
    """E[I] under a Dirichlet (Hutter 2001)."""
    n = np.asarray(parameters, dtype=float)
    total = n.sum()
    mean = 0.0
    for i in range(n.shape[0]):
        for j in range(n.shape[1]):
            terms = digamma(n[i, j] + 1) - digamma(n[i].sum() + 1) - digamma(n[:, j].sum() + 1) + digamma(total + 1)
            mean += n[i, j] / total * terms
    return float(mean)


def agree(one: Distribution, other: Distribution, tolerance: float = 1e-9) -> None:
    """Both describe the same law."""
    assert other.mean() == pytest.approx(one.mean(), rel=tolerance)
    assert other.std() == pytest.approx(one.std(), rel=tolerance)
    assert other.support() == one.support()
    assert other.interval() == pytest.approx(one.interval(), rel=tolerance)
    assert other.sf(0.1) == pytest.approx(one.sf(0.1), rel=tolerance)


# Each approximation is what it says


@pytest.mark.parametrize("margins", MARGINS)
def test_leading_is_a_gaussian(margins: dict[str, list[int]]) -> None:
    law = mutual_information([[6, 4, 5], [5, 6, 4]], prior="jeffreys", approximation="leading", **margins)
    assert law.support() == (-math.inf, math.inf)
    assert 0.0 < law.cdf(0.0) < 0.5
    for x in (-0.1, 0.0, 0.05, 0.3):
        standard = (x - law.mean()) / (law.std() * math.sqrt(2.0))
        assert law.sf(x) == pytest.approx(0.5 * math.erfc(standard), rel=1e-12)


@pytest.mark.parametrize("approximation", ["matched", "leading-beta"])
@pytest.mark.parametrize("margins", MARGINS)
def test_beta_lives_between_0_and_the_greatest_information(approximation: str, margins: dict[str, list[int]]) -> None:
    law = mutual_information(JOINT, prior="jeffreys", approximation=approximation, **margins)
    assert law.support() == (0.0, LOG_2)
    assert law.cdf(0.0) == 0.0
    assert law.sf(LOG_2) == 0.0
    low, high = law.interval(0.999999)
    assert 0.0 < low < law.mean() < high < LOG_2


@pytest.mark.parametrize(
    ("shape", "upper"), [((2, 5), LOG_2), ((5, 2), LOG_2), ((3, 3), math.log(3.0)), ((4, 6), math.log(4.0))]
)
def test_greatest_information_is_the_log_of_the_shorter_side(shape: tuple[int, int], upper: float) -> None:
    joint = np.arange(1, 1 + shape[0] * shape[1]).reshape(shape)
    assert mutual_information(joint).support() == pytest.approx((0.0, upper), rel=1e-15)


@pytest.mark.parametrize("margins", MARGINS)
def test_sampled_is_the_law_of_draws(margins: dict[str, list[int]]) -> None:
    """Draws of the chances by `posterior`, and I of each by its definition."""
    law = mutual_information(JOINT, prior="jeffreys", approximation="sampled", draws=200, random_state=5, **margins)
    chances = posterior(JOINT, prior="jeffreys", **margins).rvs(200, random_state=5)
    draws = np.sort([plugged_in(chance)[0] for chance in chances])
    assert draws[0] > 0.0
    assert draws[-1] < LOG_2
    assert law.support() == (0.0, LOG_2)
    assert law.mean() == pytest.approx(draws.mean(), rel=1e-12)
    assert draws[0] <= law.ppf(1e-6) <= law.isf(1e-6) <= draws[-1] * (1.0 + 1e-12)
    assert law.sf(0.5 * (draws[99] + draws[100])) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("prior", ["haldane", "jeffreys", "uniform", "perks", 0.25])
def test_leading_moments_of_complete_data(prior: str | float) -> None:
    """The paper's mean is I of the expected chances, its variance (K - J^2)/N, N with the pseudo-counts."""
    pseudo = {"haldane": 0.0, "jeffreys": 0.5, "uniform": 1.0, "perks": 1.0 / 6.0}.get(prior, 0.25)
    parameters = np.array(JOINT) + pseudo
    first, second = plugged_in(parameters)
    std = math.sqrt((second - first**2) / parameters.sum())
    for approximation in ("leading", "leading-beta"):
        law = mutual_information(JOINT, prior=prior, approximation=approximation)
        assert law.mean() == pytest.approx(first, rel=1e-12)
        assert law.std() == pytest.approx(std, rel=1e-12)


@pytest.mark.parametrize("prior", [0.0, 0.1, 0.5, 1.0, 3.0])
def test_matched_mean_of_complete_data_is_exact(prior: float) -> None:
    for joint in (JOINT, [[0.5, 2.25], [3.0, 1.75]], [[1, 2, 3], [4, 5, 6], [9, 8, 7]], [[30, 1], [2, 40], [5, 5]]):
        law = mutual_information(joint, prior=prior)
        assert law.mean() == pytest.approx(exact_mean(np.array(joint) + prior), rel=1e-9)


def test_default_is_adaptive_and_matched() -> None:
    agree(
        mutual_information(JOINT, target_only=TARGET_ONLY, feature_only=FEATURE_ONLY),
        mutual_information(
            JOINT, target_only=TARGET_ONLY, feature_only=FEATURE_ONLY, prior="adaptive", approximation="matched"
        ),
        0.0,
    )


@pytest.mark.parametrize("margins", MARGINS)
@pytest.mark.parametrize("prior", ["jeffreys", "uniform"])
def test_matched_agrees_with_draws_from_the_exact_posterior(margins: dict[str, list[int]], prior: str) -> None:
    matched = mutual_information(JOINT, prior=prior, **margins)
    sampled = mutual_information(JOINT, prior=prior, approximation="sampled", draws=20_000, random_state=11, **margins)
    assert matched.mean() == pytest.approx(sampled.mean(), rel=0.03)
    assert matched.std() == pytest.approx(sampled.std(), rel=0.06)


# Edges of the input


@pytest.mark.parametrize("approximation", ["match", "Leading", "leading_beta", "sample"])
def test_unknown_approximation_is_answered_with_the_nearest(approximation: str) -> None:
    near = {"match": "matched", "Leading": "leading", "leading_beta": "leading-beta", "sample": "sampled"}
    with pytest.raises(CredimiError) as caught:
        mutual_information(JOINT, approximation=approximation)
    message = str(caught.value)
    assert message.startswith(f"unknown approximation {approximation!r}: did you mean {near[approximation]!r}?")
    assert all(name in message for name in APPROXIMATIONS)


@pytest.mark.parametrize("approximation", ["", "zzz", None, 3])
def test_approximation_like_none_is_answered_with_all(approximation: object) -> None:
    with pytest.raises(CredimiError) as caught:
        mutual_information(JOINT, approximation=approximation)
    message = str(caught.value)
    assert message.startswith(f"unknown approximation {approximation!r}: choose one of ")
    assert all(name in message for name in APPROXIMATIONS)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_wrong_prior_is_refused_by_every_approximation(approximation: str) -> None:
    with pytest.raises(CredimiError, match="unknown prior 'jefreys': did you mean 'jeffreys'"):
        mutual_information(JOINT, prior="jefreys", approximation=approximation)
    with pytest.raises(CredimiError, match="prior is -1:"):
        mutual_information(JOINT, prior=-1, approximation=approximation)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_bad_counts_are_refused_by_every_approximation(approximation: str) -> None:
    with pytest.raises(CredimiError, match=r"joint\[0\]\[1\] is -2"):
        mutual_information([[1, -2], [3, 4]], approximation=approximation)
    with pytest.raises(CredimiError, match="feature_only needs one count for each column"):
        mutual_information(JOINT, feature_only=TARGET_ONLY, approximation=approximation)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("prior", ["jeffreys", "haldane"])
@pytest.mark.parametrize(
    ("joint", "margins"),
    [
        ([[1, 2, 3]], {}),
        ([[1], [2]], {}),
        ([[5]], {}),
        ([[1, 2, 3]], {"target_only": [4], "feature_only": [1, 0, 2]}),
        ([[1], [2]], {"target_only": [3, 0], "feature_only": [7]}),
        ([[0], [2]], {"target_only": [3, 0]}),
    ],
)
def test_one_row_or_one_column_tells_nothing(
    approximation: str, prior: str, joint: list[list[int]], margins: dict[str, list[int]]
) -> None:
    law = mutual_information(joint, prior=prior, approximation=approximation, random_state=1, **margins)
    assert law.mean() == 0.0
    assert law.std() == 0.0
    assert law.sf(0.003) == 0.0
    assert law.cdf(0.0) == 1.0
    assert law.interval(0.95) == (0.0, 0.0)
    assert law.support() == (0.0, 0.0)
    assert law.p_zero == 1.0


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("prior", ["haldane", 0])
def test_no_counts_and_no_prior_is_refused(approximation: str, prior: str | float) -> None:
    with pytest.raises(CredimiError, match=r"all counts are 0 .* choose a proper prior such as 'jeffreys'"):
        mutual_information([[0, 0], [0, 0]], prior=prior, approximation=approximation)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("margins", MARGINS[1:])
def test_margins_alone_and_no_prior_is_refused(approximation: str, margins: dict[str, list[int]]) -> None:
    with pytest.raises(CredimiError, match=r"no data row has both target and feature .* choose a proper prior"):
        mutual_information(np.zeros((2, 3)), prior="haldane", approximation=approximation, **margins)


@pytest.mark.parametrize(("shape", "prior"), [((2, 3), 1.0), ((3, 3), 0.5), ((3, 4), 1.0), ((2, 2), 2.0)])
def test_without_counts_the_prior_speaks_alone(shape: tuple[int, int], prior: float) -> None:
    joint = np.zeros(shape)
    matched = mutual_information(joint, prior=prior)
    sampled = mutual_information(joint, prior=prior, approximation="sampled", draws=20_000, random_state=3)
    assert matched.mean() == pytest.approx(exact_mean(np.full(shape, prior)), rel=1e-9)
    assert sampled.mean() == pytest.approx(exact_mean(np.full(shape, prior)), rel=0.03)
    assert matched.std() == pytest.approx(sampled.std(), rel=0.15)


def test_without_counts_the_paper_sees_independence() -> None:
    """I of the expected chances, which are all equal, is 0, and so is the leading variance."""
    for approximation in ("leading", "leading-beta"):
        law = mutual_information(np.zeros((2, 3)), approximation=approximation)
        assert law.mean() == pytest.approx(0.0, abs=1e-15)
        assert law.std() == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("draws", [0, -1, 1.5])
def test_number_of_draws_that_is_none_is_refused(draws: float) -> None:
    with pytest.raises(CredimiError, match=rf"is {draws}:"):
        mutual_information(JOINT, approximation="sampled", draws=draws)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 2.0, 95, math.nan])
@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_level_outside_0_to_1_is_refused(approximation: str, level: float) -> None:
    law = mutual_information(JOINT, approximation=approximation, draws=10, random_state=1)
    with pytest.raises(CredimiError, match=r"not between 0 and 1; for 95 percent write 0\.95"):
        law.interval(level)


# Random state


@pytest.mark.parametrize("margins", MARGINS)
def test_seed_makes_draws_reproducible(margins: dict[str, list[int]]) -> None:
    def sampled(state: int | np.random.Generator | None) -> Distribution:
        return mutual_information(JOINT, approximation="sampled", draws=300, random_state=state, **margins)

    first = sampled(42)
    assert sampled(42).interval() == first.interval()
    assert sampled(np.random.default_rng(42)).interval() == first.interval()
    assert sampled(43).interval() != first.interval()
    assert sampled(None).mean() != sampled(None).mean()


def test_generator_moves_on() -> None:
    generator = np.random.default_rng(42)
    first, second = (
        mutual_information(JOINT, approximation="sampled", draws=300, random_state=generator).mean() for _ in range(2)
    )
    assert first != second


def test_number_of_draws_is_honoured() -> None:
    law = mutual_information(JOINT, prior="jeffreys", approximation="sampled", draws=1, random_state=0)
    assert law.std() == 0.0
    assert 0.0 < law.mean() < LOG_2


# Laws


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("margins", MARGINS)
def test_table_is_as_good_as_its_counts(approximation: str, margins: dict[str, list[int]]) -> None:
    plain = mutual_information(JOINT, approximation=approximation, draws=100, random_state=7, **margins)
    table = mutual_information(Table.of(JOINT, **margins), approximation=approximation, draws=100, random_state=7)
    agree(plain, table, 0.0)


def test_table_with_a_margin_beside_it_is_refused() -> None:
    with pytest.raises(CredimiError, match="already holds its margins"):
        mutual_information(Table.of(JOINT), target_only=TARGET_ONLY)


def random_tables() -> list[Table]:
    """Tables of several shapes with every pattern of missing counts; some cells are empty."""
    generator = np.random.default_rng(20)
    tables = []
    for shape in ((2, 2), (2, 5), (4, 3), (7, 6)):
        joint = generator.integers(0, 20, shape)
        for misses_feature, misses_target in ((0, 0), (1, 0), (0, 1), (1, 1)):
            target_only = misses_feature * generator.integers(1, 15, shape[0])
            feature_only = misses_target * generator.integers(1, 15, shape[1])
            tables.append(Table.of(joint, target_only, feature_only))
    return tables


@pytest.mark.parametrize("approximation", LAWS)
@pytest.mark.parametrize("prior", ["jeffreys", "perks"])
def test_transposition_changes_nothing(approximation: str, prior: str) -> None:
    for table in random_tables():
        agree(of(table, approximation, prior), of(table.transposed(), approximation, prior))


@pytest.mark.parametrize("approximation", LAWS)
def test_order_of_labels_changes_nothing(approximation: str) -> None:
    generator = np.random.default_rng(21)
    for table in random_tables():
        rows, columns = (generator.permutation(length) for length in table.shape)
        shuffled = Table.of(table.joint[rows][:, columns], table.target_only[rows], table.feature_only[columns])
        agree(of(table, approximation), of(shuffled, approximation))


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_two_tables_added_are_one(approximation: str) -> None:
    for table in random_tables()[:8]:
        half = Table.of(np.floor(table.joint / 2), np.floor(table.target_only / 3), np.floor(table.feature_only / 2))
        rest = Table.of(
            table.joint - half.joint, table.target_only - half.target_only, table.feature_only - half.feature_only
        )
        agree(of(table, approximation), of(half + rest, approximation), 0.0)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_million_million_rows(approximation: str) -> None:
    """With so many counts every approximation is I of the frequencies, give or take sqrt(K - J^2)/10^6."""
    joint = np.array([[4e12, 1e12], [2e12, 3e12]])
    first, second = plugged_in(joint)
    law = mutual_information(joint, approximation=approximation, draws=2_000, random_state=1)
    std = math.sqrt((second - first**2) / joint.sum())
    assert law.mean() == pytest.approx(first, abs=0.2 * std)
    assert law.std() == pytest.approx(std, rel=0.1)
    low, high = law.interval(0.95)
    assert high - low == pytest.approx(2.0 * 1.96 * std, rel=0.1)


@pytest.mark.parametrize("margins", MARGINS)
def test_a_million_million_rows_with_holes(margins: dict[str, list[int]]) -> None:
    large = {name: 1e12 * np.array(counts) for name, counts in margins.items()}
    matched, leading, sampled = (
        mutual_information(1e12 * np.array(JOINT), approximation=approximation, draws=2_000, random_state=1, **large)
        for approximation in ("matched", "leading", "sampled")
    )
    assert matched.mean() == pytest.approx(leading.mean(), abs=0.01 * leading.std())
    assert matched.std() == pytest.approx(leading.std(), rel=1e-4)
    assert sampled.mean() == pytest.approx(leading.mean(), abs=0.2 * leading.std())
    assert sampled.std() == pytest.approx(leading.std(), rel=0.1)


@pytest.mark.parametrize("margins", MARGINS)
def test_weights_need_not_be_whole(margins: dict[str, list[int]]) -> None:
    """A third of every count, so that no margin is whole: the exact draws are the judge."""
    third = {name: np.array(counts) / 3.0 for name, counts in margins.items()}
    matched = mutual_information(np.array(JOINT) / 3.0, **third)
    sampled = mutual_information(np.array(JOINT) / 3.0, approximation="sampled", draws=20_000, random_state=2, **third)
    assert matched.mean() == pytest.approx(sampled.mean(), rel=0.05)
    assert matched.std() == pytest.approx(sampled.std(), rel=0.1)
    whole = mutual_information(JOINT, **margins)
    assert matched.std() / matched.mean() > whole.std() / whole.mean()  # fewer rows say it less surely


@pytest.mark.parametrize(
    ("approximation", "target_only", "feature_only"),
    [
        ("matched", [0, 0], [0, 0]),
        ("matched", [4, 1], [0, 0]),
        ("matched", [0, 0], [1, 2]),
        ("leading", [0, 0], [0, 0]),
        ("leading", [4, 1], [0, 0]),
        ("leading", [0, 0], [1, 2]),
        ("leading", [4, 1], [1, 2]),
    ],
)
def test_empty_labels_change_nothing_without_prior(
    approximation: str, target_only: list[int], feature_only: list[int]
) -> None:
    """A class and a value that never occur are not there, but for the greatest information that is possible."""
    plain = of(Table.of([[10, 2], [3, 15]], target_only, feature_only), approximation, 0)
    class_last, value_last = [*target_only, 0], [*feature_only, 0]
    value_between = [feature_only[0], 0, feature_only[1]]
    for table in (
        Table.of([[10, 2], [3, 15], [0, 0]], class_last, feature_only),
        Table.of([[10, 2, 0], [3, 15, 0]], target_only, value_last),
        Table.of([[10, 0, 2], [3, 0, 15], [0, 0, 0]], class_last, value_between),
    ):
        padded = of(table, approximation, 0)
        assert padded.mean() == pytest.approx(plain.mean(), rel=1e-9)
        assert padded.std() == pytest.approx(plain.std(), rel=1e-9)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_result_cannot_be_changed(approximation: str) -> None:
    law = mutual_information(JOINT, approximation=approximation, draws=10, random_state=1)
    for name in ("components", "weights", "p_zero"):
        with pytest.raises(FrozenInstanceError):
            setattr(law, name, None)


def test_posterior_cannot_be_changed() -> None:
    chances = posterior(JOINT, target_only=TARGET_ONLY, feature_only=FEATURE_ONLY)
    for name in ("table", "pseudo_count", "mode", "mean"):
        with pytest.raises(FrozenInstanceError):
            setattr(chances, name, None)
    for array in (chances.mode, chances.mean, chances.std):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1.0


@pytest.mark.parametrize("approximation", ["leading-beta", "matched", "sampled"])
def test_certain_dependence_is_not_refused_for_a_rounding(approximation: str) -> None:
    information = mutual_information(np.eye(5), prior="haldane", approximation=approximation)
    assert 0.0 < information.mean() <= np.log(5.0)


# Counts and pseudo-counts of any size that is let in

EXTREME = [
    [[LARGEST, 1.0], [1.0, 1.0]],
    [[LARGEST, 0.0], [0.0, LARGEST]],
    [[LARGEST, SMALLEST], [SMALLEST, 1.0]],
    [[SMALLEST, SMALLEST], [SMALLEST, SMALLEST]],
    [[SMALLEST, 1.0, 2.0], [3.0, 0.0, 1.0], [LARGEST, LARGEST, 1.0]],
]


@pytest.mark.parametrize("approximation", LAWS)
@pytest.mark.parametrize("prior", ["uniform", "jeffreys", "haldane", SMALLEST, LARGEST])
@pytest.mark.parametrize("feature_only", [0.0, 1.0, LARGEST, SMALLEST])
@pytest.mark.parametrize("target_only", [0.0, 1.0, LARGEST, SMALLEST])
def test_extreme_counts_have_finite_moments(
    target_only: float, feature_only: float, prior: str | float, approximation: str
) -> None:
    for joint in EXTREME:
        size = len(joint)
        for margin in (np.ones(len(joint[0])), np.eye(len(joint[0]))[0]):
            table = Table.of(joint, np.full(size, target_only), feature_only * margin)
            law = mutual_information(table, prior=prior, approximation=approximation)
            assert np.all(np.isfinite([law.mean(), law.std(), *law.interval(), law.sf(0.003)]))


# Draws that do not converge

FEW_COMPLETE = [[1, 0], [0, 1]]


@pytest.fixture
def _without_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains that only complete rows and draw again: with few complete rows they hardly move."""
    monkeypatch.setattr("credimi.inference.sampling._turn", lambda *_: None)


@pytest.mark.usefixtures("_without_turns")
def test_chains_that_have_not_converged_are_announced() -> None:
    slow = {"target_only": [3000, 2000], "feature_only": [2500, 2500], "prior": "jeffreys"}
    assert posterior(FEW_COMPLETE, **slow).sample(2000, 1).r_hat > 2.0
    with pytest.warns(UserWarning, match=r"r_hat is \d\.\d\d, above 1\.05.*draw for longer") as caught:
        law = mutual_information(FEW_COMPLETE, **slow, approximation="sampled", draws=2000, random_state=1)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert math.isfinite(law.mean())


@pytest.mark.usefixtures("_without_turns")
def test_chains_go_on_until_they_have_converged() -> None:
    """Any warning is an error in these tests."""
    arguments = {"target_only": [30, 25], "feature_only": [28, 27], "prior": "jeffreys"}
    first = posterior(FEW_COMPLETE, **arguments).sample(4000, 2)
    assert first.r_hat > 1.05
    law = mutual_information(FEW_COMPLETE, **arguments, approximation="sampled", draws=4000, random_state=2)
    longer = posterior(FEW_COMPLETE, **arguments).sample(8000, 3, burn_in=1500, thin=40)
    information = [mutual_information_of(chances) for chances in longer.probabilities]
    assert longer.r_hat < 1.02
    assert law.mean() == pytest.approx(np.mean(information), abs=0.02)


@pytest.mark.parametrize(("steps", "chains"), [(4, 2), (60, 20), (1000, 400)])
def test_the_least_r_hat_that_is_not_chance_is_a_quantile_of_f(steps: int, chains: int) -> None:
    half, parts = steps // 2, 2 * chains
    limit = math.sqrt((half - 1 + fdtri(parts - 1, parts * (half - 1), 0.99)) / half)
    judged = [
        InformationDraws(np.zeros(0), r_hat, (steps, chains)).converged(1.0) for r_hat in (limit - 1e-9, limit + 1e-9)
    ]
    assert judged == [True, False]
    assert not InformationDraws(np.zeros(0), math.inf, (steps, chains)).converged(1.0)


@pytest.mark.parametrize(("steps", "chains"), [(4, 1), (7, 1), (20, 1), (20, 5), (20, 15), (40, 100)])
def test_few_independent_draws_seldom_look_as_if_they_had_not_converged(steps: int, chains: int) -> None:
    """r_hat of a chain of four draws is above 1.05 as often as not; once in a hundred times is what is allowed."""
    traces = np.random.default_rng(3).normal(size=(4000, steps, chains))
    r_hats = [_convergence(trace)[0] for trace in traces]
    judged = [InformationDraws(np.zeros(0), r_hat, (steps, chains)).converged(1.0) for r_hat in r_hats]
    assert np.mean(judged) == pytest.approx(0.99, abs=0.006)
    apart = traces + 10.0 * (np.arange(steps) < steps // 2)[:, None]  # each chain's second half is elsewhere
    far = [InformationDraws(np.zeros(0), _convergence(trace)[0], (steps, chains)).converged(1.05) for trace in apart]
    assert np.mean(far) < (0.7 if steps < 7 else 0.02)


def test_chains_that_mix_well_are_drawn_once() -> None:
    arguments = {"target_only": TARGET_ONLY, "feature_only": FEATURE_ONLY, "prior": "jeffreys"}
    law = mutual_information(JOINT, **arguments, approximation="sampled", draws=2000, random_state=4)
    once = posterior(JOINT, **arguments).sample(2000, 4)
    assert once.r_hat < 1.05
    assert law.mean() == pytest.approx(
        np.mean([mutual_information_of(chances) for chances in once.probabilities]), rel=1e-9
    )


@pytest.mark.parametrize("draws", [1, 3, 30])
def test_few_draws_tell_nothing_of_convergence(draws: int) -> None:
    slow = {"target_only": [4, 3], "feature_only": [3, 4]}
    law = mutual_information(FEW_COMPLETE, **slow, approximation="sampled", draws=draws, random_state=5)
    assert math.isfinite(law.mean())


@pytest.mark.parametrize("approximation", ["sampled", "matched"])
def test_large_counts_bear_the_pseudo_counts_of_the_adaptive_prior(approximation: str) -> None:
    """The tightest component weighs 100 times the counts, which themselves are within their bound."""
    found = mutual_information([[3e13, 3e13], [3e13, 3e13]], approximation=approximation, random_state=1)
    assert found.mean() < 1e-12
    small = [[2.79e-6, 0.0, 4.27e-4], [34768248.0, 0.0, 3.56e13]]
    assert mutual_information(small, target_only=[0, 105], approximation=approximation).mean() >= 0.0


@pytest.mark.parametrize("count", [1e6, 1e7, 1e8, 1e9, 1e12, 1e15])
def test_very_many_rows_near_independence(count: float) -> None:
    """2 N I is then chi-square with one degree of freedom: mean 1, variance 2, 95 % of it from .00098 to 5.0239."""
    law = mutual_information([[count, count], [count, count]], prior="jeffreys")
    scale = 8.0 * count
    assert scale * law.mean() == pytest.approx(1.0, rel=1e-5)
    assert scale * law.std() == pytest.approx(math.sqrt(2.0), rel=1e-5)
    low, high = (scale * end for end in law.interval())
    assert 0.0005 < low < 0.0015
    assert high == pytest.approx(5.0239, rel=0.04)
