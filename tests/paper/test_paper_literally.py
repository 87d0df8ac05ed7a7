"""credimi against Hutter and Zaffalon (2003), formula by formula: `paper_formulas` was written from the paper alone."""

from __future__ import annotations

import math

import numpy as np
import paper_formulas as paper
import pytest
from paper_deviations import deviations

import credimi
from credimi.inference.belief import Belief
from credimi.inference.rules import decide
from credimi.inference.tables.many_tables import Beliefs
from credimi.paper import significance

RAW = {"prior": "haldane", "approximation": "leading"}


@pytest.fixture(scope="module")
def worst() -> dict[str, float]:
    return deviations(1_000)


@pytest.mark.parametrize(
    "name",
    [
        "N", "lambda", "Cov e", "class and feature exchanged", "log N(N)",
        "(EM) fixed point", "mode", "(pimfo)",
        "(covmis)", "std of chances", "(covMFO)", "(AIGen)",
        "(EI)", "I by entropies", "(varlo)", "(varImfo)", "(varImfo), classes missing",
        "P(I > epsilon)", "interval",
        "Beta: moments", "Beta: P(I > epsilon)", "Beta: interval",
        "complete: mode", "complete: covariance", "complete: (K - J^2)/n",
    ],
)  # fmt: skip
def test_thousand_random_tables_of_all_kinds_of_missingness(worst: dict[str, float], name: str) -> None:
    assert worst[name] < 1e-9


def test_all_comparisons_are_listed(worst: dict[str, float]) -> None:
    assert len(worst) == 25


def test_footnote_2_means_raw_counts() -> None:
    """n_ij = n'_ij + n''_ij - 1 with the uniform n'' = 1: nothing is added."""
    n, n_i = np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 1.0]]), np.array([1.0, 1.0])
    mean = paper.information(paper.mode(n, n_i, np.zeros(3)))
    raw, added = (
        credimi.mutual_information(n, target_only=n_i, prior=prior, approximation="leading").mean()
        for prior in ("haldane", "uniform")
    )
    assert raw == pytest.approx(mean, rel=1e-12)
    assert (round(raw, 3), round(added, 3)) == (0.488, 0.112)


@pytest.mark.parametrize("seed", range(5))
def test_hessian_is_the_second_derivative_and_nowhere_negative(seed: int) -> None:
    """The formula of H, and v'Hv >= 0, hence a single maximum; at any chances, not only at the mode."""
    generator = np.random.default_rng(seed)
    n, n_i, n_j = paper.random_table(generator, "both")
    pi = generator.dirichlet(np.ones(n.size)).reshape(n.shape) * 0.9 + 0.1 / n.size
    matrix = paper.hessian(pi, n, n_i, n_j)
    direction = generator.normal(size=n.shape)
    step = 1e-4 * pi.min() / np.abs(direction).max()
    there, here, back = (paper.log_posterior(pi + length * direction, n, n_i, n_j) for length in (step, 0.0, -step))
    curvature = float(direction.ravel() @ matrix @ direction.ravel())
    assert (2.0 * here - there - back) / step**2 == pytest.approx(curvature, rel=1e-2)
    squares = (n / pi**2 * direction**2).sum() + (n_i / pi.sum(1) ** 2 * direction.sum(1) ** 2).sum()
    squares += (n_j / pi.sum(0) ** 2 * direction.sum(0) ** 2).sum()
    assert curvature == pytest.approx(squares, rel=1e-10)
    assert np.linalg.eigvalsh(matrix).min() > 0.0


@pytest.mark.parametrize("seed", range(5))
def test_covariance_undoes_the_hessian_at_the_mode(seed: int) -> None:
    """Cov = H^-1 along all directions whose sum is 0, with H as the paper writes it; no inverse is taken here."""
    generator = np.random.default_rng(seed)
    n, n_i, n_j = paper.random_table(generator, "both")
    n += 1.0  # every cell is counted, so that H has an inverse
    cells = credimi.posterior(n, n_i, n_j, method="paper")
    direction = generator.normal(size=n.size)
    direction -= direction.mean()
    back = cells.covariance() @ (paper.hessian(cells.mode, n, n_i, n_j) @ direction)
    np.testing.assert_allclose(back, direction, rtol=0.0, atol=1e-10 * np.abs(direction).max())


@pytest.mark.parametrize("seed", range(5))
def test_em_ends_where_ours_does_from_any_interior_start(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n, n_i, n_j = paper.random_table(generator, "both")
    ours = credimi.posterior(n, target_only=n_i, feature_only=n_j, prior="haldane").mode
    pi = generator.dirichlet(np.ones(n.size)).reshape(n.shape)
    before = paper.log_posterior(pi, n, n_i, n_j)
    for _ in range(5_000):
        pi = paper.em_step(pi, n, n_i, n_j)
    assert paper.log_posterior(pi, n, n_i, n_j) > before
    np.testing.assert_allclose(pi, ours, rtol=1e-6)


def test_em_from_the_papers_own_start_may_miss_the_maximum() -> None:
    """A cell of 0 stays 0: the claim that EM always finds the global maximum needs a start in the interior."""
    n, n_i, n_j = np.eye(2), np.array([100.0, 1.0]), np.array([1.0, 100.0])
    pi = n / paper.rows_of(n, n_i, n_j)
    for _ in range(1_000):
        pi = paper.em_step(pi, n, n_i, n_j)
    ours = credimi.posterior(n, target_only=n_i, feature_only=n_j, prior="haldane").mode
    assert paper.log_posterior(pi, n, n_i, n_j) == pytest.approx(-141.402, abs=1e-3)
    assert paper.log_posterior(ours, n, n_i, n_j) == pytest.approx(-19.688, abs=1e-3)


def test_mean_in_leading_order_is_the_mode() -> None:
    """E[pi] = mode + O(1/N): a hundred times the rows, a hundred times nearer."""
    n, n_i, n_j = np.array([[9.0, 4.0], [2.0, 7.0]]), np.array([3.0, 5.0]), np.array([4.0, 2.0])
    off = []
    for times in (1.0, 100.0):
        cells = credimi.posterior(times * n, target_only=times * n_i, feature_only=times * n_j, prior="uniform")
        off.append(np.abs(cells.mean - paper.mode(times * n, times * n_i, times * n_j)).max())
    assert off[1] < off[0] / 50.0


def test_any_prior_of_order_one_gives_the_same_in_leading_order() -> None:
    """Footnote 2: with the rows, the difference between priors vanishes like 1/N."""
    n, n_i = np.array([[9.0, 4.0], [2.0, 7.0]]), np.array([3.0, 5.0])
    means = [
        [
            credimi.mutual_information(times * n, target_only=times * n_i, prior=prior, approximation="leading").mean()
            for prior in ("haldane", "uniform")
        ]
        for times in (1.0, 1_000.0)
    ]
    assert abs(means[1][0] - means[1][1]) < abs(means[0][0] - means[0][1]) / 500.0


def test_support_of_the_information_is_footnote_5() -> None:
    for shape in ((2, 2), (2, 5), (4, 3)):
        diagonal = np.zeros(shape)
        for cell in range(max(shape)):
            diagonal[cell % shape[0], cell % shape[1]] += 12.0
        law = credimi.mutual_information(diagonal + 1.0, prior="haldane", approximation="leading-beta")
        assert law.support()[1] == pytest.approx(min(map(math.log, shape)), rel=1e-15)
    assert paper.information(np.eye(3) / 3.0) == pytest.approx(math.log(3.0), rel=1e-15)


@pytest.mark.parametrize("seed", range(30))
def test_filters(seed: int) -> None:
    """F, FF and BF of the same columns, by their definitions."""
    generator = np.random.default_rng(seed)
    n, n_i, n_j = paper.random_table(generator, "features")
    pi = paper.mode(n, n_i, n_j)
    mean, std = paper.information(pi), math.sqrt(paper.variance(pi, n, n_i, n_j))
    law = credimi.mutual_information(n, target_only=n_i, **RAW)  # type: ignore[arg-type]
    at_mode, above = np.array([law.mean()]), np.array([law.sf(paper.EPSILON)])
    found = Beliefs(at_mode, at_mode, above, np.zeros(1))
    settings = Belief(**RAW)  # type: ignore[arg-type]
    for rule, name in (("plugin", "F"), ("forward", "FF"), ("backward", "BF")):
        assert decide(rule, found, settings)[0] == paper.keeps(name, mean, paper.p_above(mean, std))


@pytest.mark.parametrize("seed", range(3))
def test_prequential_run_is_the_papers_experiment(seed: int) -> None:
    """Filters, naive Bayes and learning, row by row; before the first row nothing is known, and no filter keeps."""
    generator = np.random.default_rng(seed)
    answer = generator.integers(3, size=70)
    columns = {
        "strong": np.where(generator.random(70) < 0.8, answer, generator.integers(3, size=70)),
        "weak": np.where(generator.random(70) < 0.5, answer % 2, generator.integers(2, size=70)),
        "noise": generator.integers(4, size=70),
    }
    codes = np.stack([np.where(generator.random(70) < 0.15, -1, values) for values in columns.values()], axis=1)
    data = {name: [None if code < 0 else f"v{code}" for code in codes[:, j]] for j, name in enumerate(columns)}
    data["class"] = [f"c{each}" for each in answer]
    run = credimi.prequential(
        data, "class", prior="haldane", approximation="leading", orders=np.arange(70), discretize={"*": "categories"}
    )
    sizes = [3, 2, 4, 3]
    before: list[list[int]] = []
    classes: list[int] = []
    for step, (row, answered) in enumerate(zip(codes.tolist(), answer.tolist(), strict=True)):
        for index, rule in enumerate(("F", "FF", "BF")):
            chosen = [j for j in range(3) if _kept(before, classes, j, sizes, rule)]
            assert run.used[index, 0, step] == len(chosen)
            assert run.correct[index, 0, step] == (paper.predicted(before, classes, row, chosen, sizes) == answered)
        before.append(row)
        classes.append(answered)


def _kept(before: list[list[int]], classes: list[int], j: int, sizes: list[int], rule: str) -> bool:
    n, n_i = np.zeros((sizes[-1], sizes[j])), np.zeros(sizes[-1])
    for row, c in zip(before, classes, strict=True):
        if row[j] < 0:
            n_i[c] += 1.0
        else:
            n[c, row[j]] += 1.0
    if not n.any():
        return False
    known = n.any(axis=1)  # a class that was seen only without the feature has no share of its own: the pooled one
    pi = np.zeros(n.shape)
    total = float(n.sum() + n_i.sum())
    pi[known] = ((n.sum(axis=1) + n_i) / total)[known, None] * n[known] / n[known].sum(axis=1, keepdims=True)
    pi[~known] = (n_i / total)[~known, None] * pi[known].sum(axis=0) / pi[known].sum()
    mean = paper.information(pi)
    std = math.sqrt(max(credimi.mutual_information(n, target_only=n_i, **RAW).var(), 0.0))  # type: ignore[arg-type]
    above = paper.p_above(mean, std) if std > 0.0 else float(mean > paper.EPSILON)
    return paper.keeps(rule, mean, above)


@pytest.mark.parametrize("seed", range(3))
def test_t_test_on_the_first_rows(seed: int) -> None:
    generator = np.random.default_rng(seed)
    one, other = generator.random((2, 60)) < [[0.8], [0.6]]
    p_values, _ = significance.of_first_rows(one[None], other[None])
    for k in range(2, 61):
        literal = paper.t_test(one[:k].tolist(), other[:k].tolist())
        assert p_values[0, k - 1] == pytest.approx(literal, rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_forward_filter_is_f_with_a_threshold_that_adapts(seed: int) -> None:
    """At the level .977, p(I > epsilon) >= level is I(mode) >= epsilon + 2 sd."""
    n, n_i, n_j = paper.random_table(np.random.default_rng(seed), "features")
    law = credimi.mutual_information(n, target_only=n_i, **RAW)  # type: ignore[arg-type]
    level = 0.5 * math.erfc(-2.0 / math.sqrt(2.0))
    assert (law.sf(paper.EPSILON) >= level) == (law.mean() >= paper.EPSILON + 2.0 * law.std())
    pi = paper.mode(n, n_i, n_j)
    narrow = credimi.mutual_information(100 * n, target_only=100 * n_i, **RAW)  # type: ignore[arg-type]
    assert narrow.std() == pytest.approx(0.1 * math.sqrt(paper.variance(pi, n, n_i, n_j)), rel=1e-9)
