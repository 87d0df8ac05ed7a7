"""Laws of the numbers: what `mutual_information`, `posterior` and `rank` say of a table, whatever the table is.

The order of rows and columns does not matter, nor which of the two is called the target; probabilities are in [0, 1],
information in [0, log min(r, s)], intervals around medians; P(I > epsilon) falls with epsilon; counts of parts that
are added are the counts of the whole; margins of zeros are no margins; `rank` says what `mutual_information` says.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi import Counts, CredimiError, mutual_information, posterior, rank
from credimi.columns.labels import Labels
from credimi.columns.reading_options import ReadingOptions
from fuzz.common import expect, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

PRIORS = ("adaptive", "adaptive", "jeffreys", "uniform", "perks", "haldane", 0.5, 2.0, 1e-3, 1e-9, 1e6)
APPROXIMATIONS = ("matched", "matched", "leading", "leading-beta")
EPSILONS = (0.0, 1e-9, 1e-6, 0.001, 0.003, 0.01, 0.05, 0.2, 0.5, 1.0, 3.0)


def make(random: Random) -> dict[str, Any]:
    """A table, a prior, an approximation."""
    shape = random.choice([(2, 2), (2, 3), (3, 2), (3, 4), (1, 3), (4, 1), (2, 9), (6, 5), (2, 30), (12, 2)])
    size = random.choice(["small", "sparse", "large", "real", "huge", "one"])
    missing = random.choice(["none", "none", "target_only", "feature_only", "both", "both", "mostly"])
    rows, columns = shape

    def cell() -> float:
        if size == "sparse" or (size == "one" and random.random() < 0.9):
            return random.choice([0, 0, 0, 1, 3])
        if size == "real":
            return round(random.uniform(0.0, 30.0), 3)
        if size == "huge":
            return random.choice([0, 1, 5, 10**6, 10**9])
        return (
            random.randint(0, 9)
            if size != "large"
            else random.choice([random.randint(0, 9), random.randint(10**3, 10**6)])
        )

    joint = [[float(cell()) for _ in range(columns)] for _ in range(rows)]
    if size == "one":
        joint[random.randrange(rows)][random.randrange(columns)] = 1e9
    if random.random() < 0.2:
        empty = random.randrange(columns)
        for line in joint:
            line[empty] = 0.0
    scale = 10 if missing == "mostly" else 1
    target_only = [scale * float(cell()) if missing in {"target_only", "both", "mostly"} else 0.0 for _ in range(rows)]
    feature_only = [
        scale * float(cell()) if missing in {"feature_only", "both", "mostly"} else 0.0 for _ in range(columns)
    ]
    return {
        "joint": joint,
        "target_only": target_only,
        "feature_only": feature_only,
        "prior": random.choice(PRIORS),
        "approximation": random.choice(APPROXIMATIONS),
        "form": random.randrange(10**6),
    }


def distribution_of(case: dict[str, Any], joint: Any, target_only: Any, feature_only: Any) -> Any:  # noqa: ANN401
    """The distribution of the mutual information of a table, or the refusal."""
    options = {"prior": case["prior"], "approximation": case["approximation"]}
    return refusal(lambda: mutual_information(joint, target_only=target_only, feature_only=feature_only, **options))


def close(one: Any, other: Any, case: dict[str, Any]) -> bool:  # noqa: ANN401
    """Whether two results are the same except for rounding.

    Sums in another order, and iterations that end elsewhere, differ a little. Weights of mixtures are differences of
    log Gamma of all counts: the more counts, the fewer digits are left after the point. If both sides have missing
    values, a cell that only margins count for has the mode c/t. Its slack t = N - m_i/x_i - k_j/y_j is a difference of
    numbers near N: the larger N/c, the fewer digits are left of it, and none above 1e14.
    """
    total = sum(map(sum, case["joint"])) + sum(case["target_only"]) + sum(case["feature_only"])
    pseudo_count = case["prior"] if isinstance(case["prior"], float) else 1.0
    both = any(case["target_only"]) and any(case["feature_only"])
    relative = 1e-14 * (total / min(pseudo_count, 1.0) if both else total)
    absolute = max(1e-9, 1e-15 * total if both else 0.0)
    largest = np.maximum(np.abs(one), np.abs(other))
    return bool(np.all(np.abs(np.subtract(one, other)) <= absolute + max(1e-6, relative) * largest))


def summary(distribution: Any, upper: float) -> Any:  # noqa: ANN401
    """The distribution of I in numbers."""
    low, high = distribution.interval(0.9)
    return np.array(
        [
            distribution.mean(),
            distribution.std(),
            low,
            distribution.median(),
            high,
            *distribution.sf(upper * np.array([0.001, 0.1, 0.5])),
        ]
    )


def check(case: dict[str, Any], folder: Path) -> None:  # noqa: ARG001  (no file)
    """All laws."""
    from random import Random  # noqa: PLC0415

    random = Random(case["form"])
    tables = [np.array(case[name]) for name in ("joint", "target_only", "feature_only")]
    distribution, error = distribution_of(case, *tables)
    context = f"{pattern(*tables[1:])}, prior {case['prior']}, {case['approximation']}"
    if error is not None:
        nothing_known = case["prior"] == "haldane" and not tables[0].any()
        expect(nothing_known, f"a table is refused only if nothing is known: {context}", error)
        return
    upper = math.log(min(tables[0].shape))
    check_distribution(distribution, upper, context, gaussian=case["approximation"] == "leading")
    numbers = summary(distribution, upper)
    joint, target_only, feature_only = tables
    rows, columns = joint.shape
    by_row, by_column = random.sample(range(rows), rows), random.sample(range(columns), columns)
    others = {
        "the order of rows and columns": (joint[by_row][:, by_column], target_only[by_row], feature_only[by_column]),
        "which of the two is the target": (joint.T, feature_only, target_only),
        "a type of the counts": (joint.tolist(), target_only.tolist(), feature_only.tolist()),
    }
    if not target_only.any():
        others["a margin of zeros"] = (joint, None, feature_only if feature_only.any() else None)
    for name, other in others.items():
        if name == "which of the two is the target" and case["prior"] == "adaptive":
            continue  # the adaptive prior speaks of the feature given the class
        other_distribution, _ = distribution_of(case, *other)
        expect(other_distribution is not None, f"{name} changes nothing: {context}", "it is refused")
        other_numbers = summary(other_distribution, upper)
        expect(
            close(other_numbers, numbers, case), f"{name} changes nothing: {context}", f"{other_numbers} and {numbers}"
        )
        if case["prior"] == "adaptive":  # fixed pseudo-counts have no atom, unless I = 0 up to rounding
            atoms = distribution.p_zero, other_distribution.p_zero
            expect(close(*atoms, case), f"{name} does not change P(I = 0): {context}", atoms)
    if case["prior"] != "adaptive":
        check_posterior(case, tables, by_row, by_column, pattern(target_only, feature_only))
    check_rank(case, tables, distribution, context)


def pattern(target_only: Any, feature_only: Any) -> str:  # noqa: ANN401
    """Which sides miss values."""
    return {(0, 0): "complete", (1, 0): "no feature", (0, 1): "no target", (1, 1): "both missing"}[
        int(target_only.any()), int(feature_only.any())
    ]


def check_distribution(distribution: Any, upper: float, context: str, *, gaussian: bool) -> None:  # noqa: ANN401
    """Probabilities are in [0, 1] and in order; quantiles are in order, and in the range of information."""
    above = [float(distribution.sf(epsilon)) for epsilon in EPSILONS]
    expect(all(0.0 <= probability <= 1.0 for probability in above), f"P(I > epsilon) is a chance: {context}", above)
    expect(all(one >= other for one, other in pairwise(above)), f"P(I > epsilon) falls: {context}", above)
    below = [float(distribution.cdf(epsilon)) for epsilon in EPSILONS]
    sums = np.array(above) + np.array(below)
    expect(np.allclose(sums, 1.0, atol=1e-9), f"cdf + sf = 1: {context}", sums)
    quantiles = [float(distribution.ppf(share)) for share in (0.01, 0.05, 0.5, 0.95, 0.99)]
    expect(quantiles == sorted(quantiles), f"quantiles rise: {context}", quantiles)
    low, high = distribution.interval(0.9)
    expect(
        low <= distribution.median() <= high, f"low <= median <= high: {context}", (low, distribution.median(), high)
    )
    expect(
        math.isfinite(distribution.mean()) and distribution.std() >= 0.0,
        f"mean and std are numbers: {context}",
        (distribution.mean(), distribution.std()),
    )
    expect(0.0 <= distribution.p_zero <= 1.0, f"P(I = 0) is a chance: {context}", distribution.p_zero)
    expect(
        0.0 <= distribution.mean() <= upper,
        f"the mean lies in [0, log min(r, s)]: {context}",
        (distribution.mean(), upper),
    )
    if not gaussian:
        expect(quantiles[0] >= 0.0 and quantiles[-1] <= upper, f"I lies in [0, log min(r, s)]: {context}", quantiles)


def check_posterior(
    case: dict[str, Any], tables: list[Any], by_row: list[int], by_column: list[int], sides: str
) -> None:
    """The posterior of the cell probabilities: a distribution, permuted and transposed with its table."""
    joint, target_only, feature_only = tables
    context = f"{sides}, prior {case['prior']}"
    original = posterior(joint, target_only=target_only, feature_only=feature_only, prior=case["prior"])
    turned = posterior(
        joint[by_row][:, by_column],
        target_only=target_only[by_row],
        feature_only=feature_only[by_column],
        prior=case["prior"],
    )
    transposed_posterior = posterior(joint.T, target_only=feature_only, feature_only=target_only, prior=case["prior"])
    # If only margins count for a cell, the shift of the mean is a quotient of numbers that rounding destroys.
    smallest_cell = float(joint.min()) + original.pseudo_count
    is_stable = smallest_cell >= 1e-5 or not (target_only.any() and feature_only.any())
    for name in ("mode", "mean") if is_stable else ("mode",):
        probabilities = getattr(original, name)
        expect(bool(np.all(probabilities >= 0.0)), f"the {name} has no negative chance: {context}", probabilities)
        expect(
            abs(probabilities.sum() - 1.0) < 1e-9,
            f"the chances of the {name} add up to 1: {context}",
            probabilities.sum(),
        )
        other, transposed = getattr(turned, name), getattr(transposed_posterior, name).T
        expect(
            close(other, probabilities[by_row][:, by_column], case),
            f"the {name} turns with its table: {context}",
            other,
        )
        expect(
            close(transposed, probabilities, case), f"the {name} is transposed with its table: {context}", transposed
        )
    if not is_stable and not joint.any():  # rounding leaves few digits of such evidence
        return
    try:
        evidences = original.log_evidence, turned.log_evidence, transposed_posterior.log_evidence
    except CredimiError:  # it is refused where margins outweigh the complete rows
        expect(not is_stable, f"the evidence is there: {context}", joint)
        return
    margin = max(target_only.max(), feature_only.max())  # relative to a cell that only margins count for, see `close`
    rounding = max(1e-6, max(1e-14, 1e-16 * margin) / smallest_cell) if smallest_cell > 0.0 else 1e-6
    expect(
        np.allclose(evidences, evidences[0], rtol=1e-8, atol=rounding),
        f"the evidence does not turn: {context}",
        evidences,
    )


def check_rank(case: dict[str, Any], tables: list[Any], distribution: Any, context: str) -> None:  # noqa: ANN401
    """`rank` on counts of this one table, whole and as the sum of two parts, says what `mutual_information` says."""
    joint, target_only, feature_only = tables
    rows, columns = joint.shape
    block = np.block([[joint, target_only[:, None]], [feature_only[None, :], np.zeros((1, 1))]])
    if min(rows, columns) < 2 or not block.any():
        return
    half = np.floor(block / 2.0)
    whole, parts = counts_of(block), counts_of(half) + counts_of(block - half)
    expect(whole == parts or not np.array_equal(block, np.floor(block)), "counts of two halves add up", parts)
    options = {"prior": case["prior"], "approximation": case["approximation"], "epsilon": 0.003, "threads": 1}
    one, other = (rank(counts, **options)["f"] for counts in (whole, parts))
    for name in ("mi", "std", "low", "high", "p_above"):
        same = one[name] == other[name] or close(one[name], other[name], case)
        expect(bool(same), f"{name} of parts that were added is that of the whole: {context}", (one[name], other[name]))
    low, high = distribution.interval(0.95)
    alone = {
        "mi": distribution.mean(),
        "std": distribution.std(),
        "low": low,
        "high": high,
        "p_above": distribution.sf(0.003),
    }
    for name, value in alone.items():
        law_name = f"{name} of rank is that of mutual_information: {context}"
        expect(close(one[name], value, case), law_name, (one[name], value))


def counts_of(block: Any) -> Counts:  # noqa: ANN401
    """Counts of one feature."""
    rows, columns = block.shape
    classes = Labels("text", tuple(f"c{index:03}" for index in range(rows - 1)))
    values = Labels("text", tuple(f"v{index:03}" for index in range(columns - 1)))
    settings = ReadingOptions(discretize="categories")
    return Counts("class", classes, ("f",), (values,), block.ravel().copy(), float(block.sum()), settings)


def smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Fewer rows and columns, smaller counts."""
    whole = [[*line, only] for line, only in zip(case["joint"], case["target_only"], strict=True)]
    whole.append([*case["feature_only"], 0.0])
    block = np.array(whole)
    rows, columns = block.shape
    tables = [np.delete(block, row, axis=0) for row in range(rows - 1) if rows > 2]
    tables += [np.delete(block, column, axis=1) for column in range(columns - 1) if columns > 2]
    for cell in np.argwhere(block):
        for smaller_count in {0.0, 1.0, float(np.floor(block[*cell]))}:
            if smaller_count < block[*cell]:
                tables.append(block.copy())
                tables[-1][*cell] = smaller_count
    for other in tables:
        joint, target_only, feature_only = other[:-1, :-1], other[:-1, -1], other[-1, :-1]
        smaller_counts = {"joint": joint, "target_only": target_only, "feature_only": feature_only}
        yield case | {name: counts.tolist() for name, counts in smaller_counts.items()}
