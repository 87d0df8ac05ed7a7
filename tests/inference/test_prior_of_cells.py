"""A pseudo-count for each cell; counts that are given once; what leading order does not know."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import digamma, gammaln

import credimi
from credimi import CredimiError

JOINT, TARGET_ONLY = [[3, 0, 1], [0, 2, 1]], [1, 1]
CELLS = np.array([[2.0, 0.5, 1.0], [0.25, 3.0, 0.75]])


@pytest.mark.parametrize("approximation", ["matched", "leading", "leading-beta", "sampled"])
def test_equal_pseudo_counts_are_the_named_prior(approximation: str) -> None:
    arguments = {"approximation": approximation, "random_state": 1}
    named = credimi.mutual_information(JOINT, TARGET_ONLY, prior="jeffreys", **arguments)  # type: ignore[arg-type]
    cells = credimi.mutual_information(JOINT, TARGET_ONLY, prior=np.full((2, 3), 0.5), **arguments)  # type: ignore[arg-type]
    assert cells == named


def test_exact_mean_with_a_prior_for_each_cell() -> None:
    """E[I] of complete counts with Dirichlet parameters n_ij + n''_ij, by its closed form; and all of the posterior."""
    n = np.array(JOINT) + CELLS
    rows, columns, total = n.sum(axis=1, keepdims=True), n.sum(axis=0, keepdims=True), n.sum()
    exact = (n * (digamma(n + 1) - digamma(rows + 1) - digamma(columns + 1) + digamma(total + 1))).sum() / total
    assert credimi.mutual_information(JOINT, prior=CELLS).mean() == pytest.approx(exact, rel=1e-10)
    cells = credimi.posterior(JOINT, prior=CELLS)
    assert cells.mean == pytest.approx(n / total, rel=1e-12)
    likelihood = gammaln(n).sum() - gammaln(total) - gammaln(CELLS).sum() + gammaln(CELLS.sum())
    assert cells.log_marginal_likelihood == pytest.approx(likelihood, rel=1e-12)
    draws = cells.rvs(20_000, random_state=0)
    assert draws.mean(axis=0) == pytest.approx(n / total, abs=0.01)


def test_a_prior_with_missing_values_is_the_counts_with_it() -> None:
    """With a prior for each cell, the posterior is that of the raw counts n'_ij + n''_ij (footnote 2)."""
    margins = {"target_only": TARGET_ONLY, "feature_only": [1, 0, 2]}
    one = credimi.posterior(JOINT, **margins, prior=CELLS)  # type: ignore[arg-type]
    other = credimi.posterior(np.array(JOINT) + CELLS, **margins, prior="raw-counts")  # type: ignore[arg-type]
    assert one.mode == pytest.approx(other.mode, rel=1e-10)
    assert one.covariance() == pytest.approx(other.covariance(), rel=1e-8, abs=1e-15)
    assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-10)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([1, 2], "or r x s pseudo-counts"),
        (np.ones((3, 2)), "array of 3 x 2 pseudo-counts, the table has 2 x 3 cells"),
        (-CELLS, r"prior\[0\]\[0\] is -2"),
        (
            [["", "a", "b", "z"], ["p", 1, 1, 1], ["q", 1, 1, 1]],
            "has the value 'z', which the table has not; those of the table are 'a', 'b', 'c'",
        ),
        ([["", "a", "b", "c"], ["p", 1, 1, 1], ["p", 1, 1, 1]], "must have each class once"),
        ([[1, 1, 1, 2], [1, 1, 1, 2], [1, 1, 1, "?"]], "margins of missing values"),
    ],
)
def test_a_prior_that_does_not_fit_is_refused(prior: object, message: str) -> None:
    table = credimi.Table(JOINT, TARGET_ONLY, classes=["p", "q"], values=["a", "b", "c"])  # type: ignore[arg-type]
    for function in (credimi.posterior, credimi.mutual_information):
        with pytest.raises(CredimiError, match=message):
            function(table, prior=prior)  # type: ignore[operator]


def test_a_prior_by_labels() -> None:
    table = pd.DataFrame(JOINT, index=["p", "q"], columns=["a", "b", "c"])
    prior = pd.DataFrame(CELLS, index=["p", "q"], columns=["a", "b", "c"])
    assert credimi.mutual_information(table, prior=prior) == credimi.mutual_information(JOINT, prior=CELLS)


def test_a_prior_by_labels_in_another_order() -> None:
    table = pd.DataFrame(JOINT, index=["p", "q"], columns=["a", "b", "c"])
    prior = pd.DataFrame(CELLS, index=["p", "q"], columns=["a", "b", "c"])
    turned = prior.loc[["q", "p"], ["c", "a", "b"]]
    for function in (credimi.mutual_information, credimi.complete_moments):
        assert function(table, prior=turned) == function(table, prior=prior)  # type: ignore[operator]
    assert np.array_equal(credimi.posterior(table, prior=turned).mode, credimi.posterior(table, prior=prior).mode)


@pytest.mark.parametrize(
    "settings",
    [{"prior": prior} for prior in ("jeffreys", "uniform", "perks", "haldane", CELLS)] + [{"method": "paper"}],
)
def test_fixed_priors_have_no_atom(settings: dict[str, object]) -> None:
    """As the guide to one table says; the adaptive prior has one."""
    independent = np.full((2, 3), 50.0)
    assert credimi.mutual_information(independent, **settings).p_zero == 0.0  # type: ignore[arg-type]
    assert credimi.mutual_information(independent).p_zero > 0.5


def test_counts_are_given_once() -> None:
    cells = credimi.posterior(JOINT, TARGET_ONLY)
    law = credimi.mutual_information(JOINT, TARGET_ONLY)
    assert law.posterior().mode.tolist() == cells.mode.tolist()
    assert cells.mutual_information() == credimi.mutual_information(JOINT, TARGET_ONLY, prior="jeffreys")
    assert cells.mutual_information().posterior() is cells
    with pytest.raises(CredimiError, match="pass the counts"):
        credimi.Distribution.normal(0.1, 0.01).posterior()


@pytest.mark.parametrize("approximation", ["leading", "leading-beta"])
@pytest.mark.parametrize(
    ("joint", "prior", "where"),
    [
        ([[10, 10], [10, 10]], "jeffreys", 0.0),
        ([[7, 7], [7, 7]], 0.3, 0.0),
        ([[10, 0], [0, 10]], "haldane", math.log(2)),
    ],
)
def test_no_spread_is_no_atom(joint: list[list[int]], prior: str | float, where: float, approximation: str) -> None:
    law = credimi.mutual_information(joint, prior=prior, approximation=approximation)
    assert law.p_zero == 0.0
    assert law.cautions == ("no_spread",)
    assert "caution: the variance of leading order is 0 here" in repr(law)
    assert "caution" in law._repr_html_()
    assert law.mean() == pytest.approx(where, abs=1e-12)


def test_the_atom_of_the_adaptive_prior_does_not_depend_on_the_approximation() -> None:
    laws = [credimi.mutual_information([[10, 10], [10, 10]], approximation=name) for name in ("matched", "leading")]
    assert laws[1].p_zero == pytest.approx(laws[0].p_zero, rel=1e-12)
    assert (laws[0].cautions, laws[1].cautions) == ((), ("no_spread",))


def test_a_single_column_that_can_occur_is_a_certainty() -> None:
    assert credimi.mutual_information([[10, 0], [5, 0]], prior="haldane", approximation="leading").p_zero == 1.0


def test_a_beta_whose_spread_was_reduced_says_so() -> None:
    """In leading order sd^2 may exceed mean (log 2 - mean), which no distribution on [0, log 2] does."""
    joint = [[1, 0], [0, 1.2]]
    leading = credimi.mutual_information(joint, prior=0.2, approximation="leading")
    beta = credimi.mutual_information(joint, prior=0.2, approximation="leading-beta")
    impossible = leading.var() > leading.mean() * (math.log(2) - leading.mean())
    assert impossible == (beta.cautions == ("spread_reduced",))
    assert impossible
    assert credimi.mutual_information(JOINT, prior="jeffreys", approximation="leading-beta").cautions == ()


@pytest.mark.parametrize("approximation", ["matched", "leading", "sampled"])
@pytest.mark.parametrize("joint", [[[0, 0], [3, 4]], [[0, 0], [10, 5]], [[0, 0, 0], [3, 4, 5]], [[0, 3], [0, 4]]])
@pytest.mark.parametrize("margins", [{}, {"target_only": [0, 2]}, {"feature_only": [1, 4]}])
def test_one_class_or_one_value_tells_nothing_for_sure(
    joint: list[list[int]], margins: dict[str, list[int]], approximation: str
) -> None:
    if len(joint[0]) == 3 and "feature_only" in margins:
        margins = {"feature_only": [1, 4, 2]}
    law = credimi.mutual_information(joint, prior="haldane", approximation=approximation, **margins)  # type: ignore[arg-type]
    assert (law.p_zero, law.mean(), law.interval()) == (1.0, 0.0, (0.0, 0.0))


def test_margins_on_both_sides_may_tell_what_complete_rows_cannot() -> None:
    """Against draws of the same posterior: a class that only rows without the feature have may have other values."""
    counts = [[0, 0], [3, 4]], [7, 1], [5, 2]
    law = credimi.mutual_information(*counts, prior="haldane")
    drawn = credimi.mutual_information(*counts, prior="haldane", approximation="sampled", random_state=0)
    assert law.p_zero == drawn.p_zero == 0.0
    assert law.mean() == pytest.approx(drawn.mean(), rel=0.05)
