"""Cuts against a brute-force oracle, by hand, at the ends of the doubles, and on known data sets."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credimi import CredimiError
from credimi.columns.numbers.discretize import mdl_cuts
from credimi.columns.numbers.ranges import bins_of, interval_labels, quantile_cuts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntegerArray = NDArray[np.int64]
    Instances = list[tuple[float, int]]

UCI = Path(__file__).parents[3] / "shared/data/uci"
LARGEST = np.finfo(np.float64).max
SMALLEST = 5e-324


def counted(instances: Iterable[tuple[float, object]]) -> tuple[FloatArray, IntegerArray]:
    """Distinct values and the counts of each class at each, as `mdl_cuts` takes them."""
    column, classes = zip(*instances, strict=True)
    values, at = np.unique(np.array(column, dtype=np.float64), return_inverse=True)
    names, of = np.unique(np.array(classes), return_inverse=True)
    counts = np.zeros((values.size, names.size), dtype=np.int64)
    np.add.at(counts, (at, of), 1)
    return values, counts


# The oracle: instances one by one, whole numbers where cuts are compared, every candidate tried.


def oracle_surprise(classes: list[int]) -> Fraction:
    """2^(n Ent), exactly."""
    return Fraction(len(classes) ** len(classes), math.prod(n**n for n in Counter(classes).values()))


def oracle_entropy(classes: list[int]) -> float:
    return -sum(n / len(classes) * math.log2(n / len(classes)) for n in Counter(classes).values())


def oracle_cuts(instances: Instances) -> list[float]:
    values = sorted({value for value, _ in instances})
    candidates = [(low + high) / 2 for low, high in pairwise(values)]
    if not candidates:
        return []

    def sides(cut: float) -> tuple[Instances, Instances]:
        return [pair for pair in instances if pair[0] <= cut], [pair for pair in instances if pair[0] > cut]

    def remaining(cut: float) -> Fraction:
        left, right = sides(cut)
        return oracle_surprise([c for _, c in left]) * oracle_surprise([c for _, c in right])

    cut = min(candidates, key=remaining)  # the first of equals
    left, right = sides(cut)
    whole, *parts = ([c for _, c in part] for part in (instances, left, right))
    n = len(whole)
    gain = oracle_entropy(whole) - sum(len(part) / n * oracle_entropy(part) for part in parts)
    delta = math.log2(3 ** len(set(whole)) - 2) - len(set(whole)) * oracle_entropy(whole)
    delta += sum(len(set(part)) * oracle_entropy(part) for part in parts)
    if gain <= (math.log2(n - 1) + delta) / n:
        return []
    return [*oracle_cuts(left), cut, *oracle_cuts(right)]


@st.composite
def labelled(draw: st.DrawFn) -> Instances:
    """Few values and many ties; each value has its usual class, from which some instances differ."""
    classes = draw(st.integers(2, 4))
    usual = draw(st.lists(st.integers(0, classes - 1), min_size=1, max_size=9))
    value, other = st.integers(0, len(usual) - 1), st.sampled_from([0] * 9 + [1, 2, 3])
    pairs = draw(st.lists(st.tuples(value, other), min_size=draw(st.sampled_from([1, 20])), max_size=45))
    return [(float(value), (usual[value] + other) % classes) for value, other in pairs]


@st.composite
def mirrored(draw: st.DrawFn) -> Instances:
    """Each instance has its image at the other end, with the other class: every cut has one that is equally good."""
    return [pair for value, label in draw(labelled()) for pair in ((value, label), (17.0 - value, label ^ 1))]


@given(st.one_of(labelled(), mirrored()))
def test_cuts_are_those_of_the_oracle(instances: Instances) -> None:
    assert mdl_cuts(*counted(instances)).tolist() == oracle_cuts(instances)


def test_price_is_that_of_the_oracle_wherever_it_is_nearly_paid() -> None:
    for counts in product(range(8), repeat=4):
        instances = [(float(at // 2), at % 2) for at, count in enumerate(counts) for _ in range(count)]
        assert mdl_cuts([0, 1], np.reshape(counts, (2, 2))).tolist() == oracle_cuts(instances), counts


@pytest.mark.parametrize("seed", range(5))
def test_cuts_are_those_of_the_oracle_where_there_are_many(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 120, 400)
    classes = np.where(generator.random(400) < 0.1, generator.integers(0, 5, 400), values // 13 % 5)
    instances = list(zip(values.astype(float).tolist(), classes.tolist(), strict=True))
    expected = oracle_cuts(instances)
    assert len(expected) > 3
    assert mdl_cuts(*counted(instances)).tolist() == expected


def test_worked_by_hand() -> None:
    # a a a a | b b b b at 1 .. 8. In the middle: gain 1 bit each, 8 in all. The price is log2 7 for the place, log2 7
    # for the sides, less 2 bits for the code that is saved: 3.61 bits. Three and one on either side (a a a b | b b b a)
    # gain 8 (1 - 0.811) = 1.51 bits, less than that.
    values = np.arange(1.0, 9.0)
    pure = np.repeat([[1, 0], [0, 1]], 4, axis=0)
    assert mdl_cuts(values, pure).tolist() == [4.5]
    mixed = pure.copy()
    mixed[[3, 7]] = mixed[[7, 3]]
    assert mdl_cuts(values, mixed).size == 0
    # Two instances of two classes: 2 bits are gained, log2 1 + log2 7 - 2 = 0.81 are paid.
    assert mdl_cuts([0, 1], np.eye(2)).tolist() == [0.5]


def test_value_at_which_classes_meet_stands_alone() -> None:
    assert mdl_cuts([1, 2, 3], [[50, 0], [25, 25], [0, 50]]).tolist() == [1.5, 2.5]


def test_lowest_of_equal_cuts_is_taken() -> None:
    # 1.5 and 3.5 are equally good. After either of them the other does not pay.
    counts = np.array([[5, 0], [1, 1], [1, 1], [0, 5]])
    assert mdl_cuts([1, 2, 3, 4], counts).tolist() == [1.5]
    assert mdl_cuts([1, 2, 3, 4], counts[::-1]).tolist() == [1.5]


def test_equal_cuts_are_equal_whatever_the_sums_round_to() -> None:
    counts = np.array([[3, 0, 9, 0], [0, 0, 0, 3], [0, 0, 3, 0], [0, 3, 0, 9]])  # 1.5 and 3.5 again
    for order in permutations(range(4)):
        assert mdl_cuts([1, 2, 3, 4], counts[:, order]).tolist() == [1.5]


@given(st.one_of(labelled(), mirrored()), st.permutations(range(4)))
def test_names_of_classes_do_not_matter(instances: Instances, names: list[int]) -> None:
    renamed = [(value, names[label]) for value, label in instances]
    assert mdl_cuts(*counted(renamed)).tolist() == mdl_cuts(*counted(instances)).tolist()


@given(labelled(), st.integers(-900, 900))
def test_cuts_scale_with_the_values(instances: Instances, exponent: int) -> None:
    values, counts = counted(instances)
    np.testing.assert_array_equal(
        mdl_cuts(np.ldexp(values, exponent), counts), np.ldexp(mdl_cuts(values, counts), exponent)
    )


@given(labelled(), st.integers(0, 9), st.integers(0, 4))
def test_values_and_classes_without_counts_do_not_matter(instances: Instances, row: int, column: int) -> None:
    values, counts = counted(instances)
    row, column = min(row, values.size), min(column, counts.shape[1])
    wider = np.insert(np.insert(counts, row, 0, axis=0), column, 0, axis=1)
    between = np.insert(values, row, (values[row - 1] if row else -9.0) + 0.25)
    np.testing.assert_array_equal(mdl_cuts(between, wider), mdl_cuts(values, counts))


@given(labelled())
def test_kinds_of_numbers_do_not_matter(instances: Instances) -> None:
    values, counts = counted(instances)
    expected = mdl_cuts(values, counts)
    for kind in (np.int32, np.uint8, np.float64, np.float32):
        np.testing.assert_array_equal(mdl_cuts(values, np.asfortranarray(counts, dtype=kind)), expected)


@given(labelled())
def test_cuts_are_in_order_and_no_bin_is_empty(instances: Instances) -> None:
    values, counts = counted(instances)
    cuts = mdl_cuts(values, counts)
    assert (np.diff(cuts) > 0).all()
    assert np.unique(bins_of(values, cuts)).tolist() == list(range(cuts.size + 1))


@pytest.mark.parametrize("kind", ["noise", "one class", "no counts", "no values", "one value"])
def test_nothing_to_cut(kind: str) -> None:
    generator = np.random.default_rng(7)
    values, counts = {
        "noise": (np.arange(1000.0), np.eye(2)[generator.integers(0, 2, 1000)]),
        "one class": (np.arange(10.0), np.ones((10, 1))),
        "no counts": (np.arange(10.0), np.zeros((10, 3))),
        "no values": (np.zeros(0), np.zeros((0, 2))),
        "one value": (np.zeros(1), np.ones((1, 2))),
    }[kind]
    cuts = mdl_cuts(values, counts)
    assert cuts.size == 0
    assert cuts.dtype == np.float64


def test_weights_of_less_than_an_instance_are_not_split() -> None:
    for weight in (1e-300, 1e-9, 0.1, 0.4):
        assert mdl_cuts([0, 1], weight * np.eye(2)).size == 0
    assert mdl_cuts([0, 1], 1e90 * np.eye(2)).tolist() == [0.5]


def test_thousands_of_classes() -> None:
    # 3^1000 is beyond the doubles. The first split gains n bits, and pays log2(n - 1) + k log2 3 - k: much less.
    assert mdl_cuts(np.arange(1000.0), 1000.0 * np.eye(1000)).size == 999


EXTREMES = [
    (1.0, np.nextafter(1.0, 2.0)),
    (np.nextafter(1.0, 0.0), 1.0),
    (np.nextafter(2.0, 0.0), 2.0),
    (0.5 * LARGEST, LARGEST),
    (np.nextafter(LARGEST, 0.0), LARGEST),
    (-LARGEST, LARGEST),
    (-LARGEST, np.nextafter(-LARGEST, 0.0)),
    (0.0, SMALLEST),
    (-SMALLEST, 0.0),
    (-SMALLEST, -0.0),
    (SMALLEST, 2 * SMALLEST),
    (2 * SMALLEST, 3 * SMALLEST),
    (-np.inf, np.inf),
    (-np.inf, -LARGEST),
    (LARGEST, np.inf),
    (0.0, np.inf),
]


@pytest.mark.parametrize(("low", "high"), EXTREMES)
def test_cut_lies_between_its_values(low: float, high: float) -> None:
    for cuts in (mdl_cuts([low, high], 10 * np.eye(2)), quantile_cuts([low, high], [10, 10], 2)):
        assert cuts.size == 1
        assert low <= cuts[0] < high
        assert bins_of([low, high], cuts).tolist() == [0, 1]


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2, unique=True))
def test_cut_lies_between_any_two_values(pair: list[float]) -> None:
    low, high = sorted(pair)
    cut = mdl_cuts([low, high], 10 * np.eye(2))[0]
    assert low <= cut < high
    if max(abs(low), abs(high)) < 1e300 and min(abs(low), abs(high)) > 1e-300:
        assert cut in {(low + high) / 2, low}


def test_quantiles_by_hand() -> None:
    assert quantile_cuts(np.arange(1.0, 9.0), np.ones(8), 4).tolist() == [2.5, 4.5, 6.5]
    assert quantile_cuts(np.arange(1.0, 9.0), np.ones(8), 1).tolist() == []
    assert quantile_cuts([1, 2, 3], [1, 1, 1], 2).tolist() == [1.5]  # the middle is in 2: the lower side of it
    assert quantile_cuts([1, 2, 3], [97, 2, 1], 4).tolist() == [1.5]
    assert quantile_cuts([1, 2, 3], [1, 2, 97], 4).tolist() == [2.5]
    assert quantile_cuts([1, 2, 3, 4], [5, 0, 0, 5], 10).tolist() == [2.5]
    assert quantile_cuts([1, 2], [1, 1], 1000).tolist() == [1.5]
    assert quantile_cuts([], [], 3).tolist() == []
    assert quantile_cuts([1], [9], 3).tolist() == []


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.integers(1, 8))
def test_quantiles_are_at_the_nearest_place(totals: list[int], bins: int) -> None:
    occurring = [value for value, total in enumerate(totals) if total]
    places = {}  # how much lies below each cut
    for low, high in pairwise(occurring):
        places[(low + high) / 2] = sum(totals[: low + 1])
    wanted = [Fraction(k * sum(totals), bins) for k in range(1, bins)] if places else []
    expected = sorted({min(places, key=lambda cut: (abs(places[cut] - quantile), cut)) for quantile in wanted})
    assert quantile_cuts(np.arange(len(totals)), totals, bins).tolist() == expected


def test_value_at_a_cut_goes_left() -> None:
    bins = bins_of([[2.0, 2.5], [2.6, 8.0]], [2.5, 7.0])
    assert bins.tolist() == [[0, 0], [1, 2]]
    assert bins.dtype == np.int64
    assert bins_of([1, 2], []).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("cuts", "labels"),
    [
        ([], ["all"]),
        ([2.5], ["<= 2.5", "> 2.5"]),
        ([2.5, 7.0], ["<= 2.5", "2.5 to 7", "> 7"]),
        ([0.1 + 0.2], ["<= 0.3", "> 0.3"]),
        ([1 / 3], ["<= 0.333333", "> 0.333333"]),
        ([-0.0], ["<= 0", "> 0"]),
        ([1.0, 1.0000001], ["<= 1", "1 to 1.0000001", "> 1.0000001"]),
        ([-1e20, 1e-9], ["<= -1e+20", "-1e+20 to 1e-09", "> 1e-09"]),
    ],
)
def test_labels(cuts: list[float], labels: list[str]) -> None:
    assert interval_labels(cuts) == labels


def test_labels_say_where_each_value_is() -> None:
    assert interval_labels([123457.5]) == ["<= 123458", "> 123458"]
    assert interval_labels([123457.5], [123457, 123458]) == ["<= 123457.5", "> 123457.5"]
    assert interval_labels([123457.5], [100000, 150000]) == ["<= 123458", "> 123458"]


@given(st.sets(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_labels_are_distinct_and_true(numbers: set[float]) -> None:
    values = np.array(sorted(numbers))
    cuts = values[:-1]
    labels = interval_labels(cuts, values)
    assert len(set(labels)) == len(labels) == values.size
    named = [float(label.split()[-1]) for label in labels[:-1]]
    assert bins_of(values, named).tolist() == list(range(values.size))


def test_labels_of_neighbouring_doubles_are_distinct() -> None:
    cuts = [1.0, np.nextafter(1.0, 2.0), np.nextafter(np.nextafter(1.0, 2.0), 2.0)]
    assert len(set(interval_labels(cuts))) == 4


@pytest.mark.parametrize(
    ("values", "counts", "fault"),
    [
        ([1, 2], [[1, 0]], "one row of counts for each"),
        ([1, 2], [1, 0], "one row of counts for each"),
        ([[1, 2]], [[1, 0]], "one row of counts for each"),
        ([2, 1], [[1, 0], [0, 1]], "sort them"),
        ([1, 1], [[1, 0], [0, 1]], "distinct"),
        ([np.nan], [[1, 0]], "leave out NaN"),
        ([1, np.nan], [[1, 0], [0, 1]], "leave out NaN"),
        ([1, 2], [[1, -1], [0, 1]], "from 0 up"),
        ([1, 2], [[1, np.nan], [0, 1]], "from 0 up"),
        ([1, 2], [[1, np.inf], [0, 1]], "from 0 up"),
    ],
)
def test_refusals(values: list[float], counts: list[list[float]], fault: str) -> None:
    with pytest.raises(CredimiError, match=fault):
        mdl_cuts(values, counts)


def test_no_bins_are_refused() -> None:
    with pytest.raises(CredimiError, match="bins is 0"):
        quantile_cuts([1, 2], [1, 1], 0)


# What the entropy discretization of MLC++ keeps of well-known data sets. Columns are numbered from 1.

CRX = {2: 1, 3: 1, 8: 1, 11: 2, 14: 1, 15: 1}
HORSE_COLIC = {4: 0, 5: 1, 6: 1, 16: 0, 19: 1, 20: 0, 22: 0}
HYPOTHYROID = {2: 0, 16: 2, 18: 1, 20: 3, 22: 1, 24: 3, 26: 0}
LYMPHOGRAPHY = {10: 1, 11: 1, 19: 1}


def rows_of(*names: str) -> list[list[str]]:
    if not UCI.exists():
        pytest.skip("the data sets are not beside the checkout")
    lines = [line for name in names for line in (UCI / name).read_text().splitlines() if line.strip()]
    return [line.replace(",", " ").split() for line in lines]


def numbers_of_cuts(rows: list[list[str]], target: int, columns: Iterable[int]) -> dict[int, int]:
    seen = {
        column: [(float(row[column - 1]), row[target - 1]) for row in rows if row[column - 1] != "?"]
        for column in columns
    }
    return {column: mdl_cuts(*counted(instances)).size for column, instances in seen.items()}


@pytest.mark.parametrize(
    ("names", "target", "expected"),
    [
        (["crx/crx.data"], 16, CRX),
        (["horse-colic/horse-colic.data", "horse-colic/horse-colic.test"], 24, HORSE_COLIC),
        (["hypothyroid/hypothyroid.data"], 1, HYPOTHYROID),
        (["lymphography/lymphography.data"], 1, LYMPHOGRAPHY),
    ],
)
def test_cuts_of_known_data(names: list[str], target: int, expected: dict[int, int]) -> None:
    assert numbers_of_cuts(rows_of(*names), target, expected) == expected


@pytest.mark.parametrize(
    ("name", "target", "continuous", "nominal", "features"),
    [
        ("australian/australian.dat", 15, (2, 3, 7, 10, 13, 14), 8, 14),
        ("german/german.data-numeric", 25, range(1, 13), 12, 17),
        ("german/german.data", 21, (2, 5, 8, 11, 13, 16, 18), 13, 15),
        ("crx/crx.data", 16, CRX, 9, 15),
        ("hypothyroid/hypothyroid.data", 1, HYPOTHYROID, 18, 23),
    ],
)
def test_features_left_of_known_data(
    name: str, target: int, continuous: Iterable[int], nominal: int, features: int
) -> None:
    kept = [column for column, cuts in numbers_of_cuts(rows_of(name), target, continuous).items() if cuts]
    assert nominal + len(kept) == features
    if name.endswith("numeric"):
        assert kept == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("name", "target", "continuous", "complete"),
    [("crx/crx.data", 16, CRX, 653), ("hypothyroid/hypothyroid.data", 1, HYPOTHYROID, 2338)],
)
def test_features_left_of_complete_rows(name: str, target: int, continuous: dict[int, int], complete: int) -> None:
    kept = [column for column, cuts in continuous.items() if cuts]
    dropped = {column for column, cuts in continuous.items() if not cuts}
    rows = rows_of(name)
    rows = [row for row in rows if all(cell != "?" or at in dropped for at, cell in enumerate(row, 1))]
    assert len(rows) == complete
    assert all(numbers_of_cuts(rows, target, kept).values())
