"""`Labels`: those of two batches become those of both, whatever the order; text turns out to be what it looks like."""

from __future__ import annotations

import math
from functools import reduce
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credimi.columns import labels, text_types
from credimi.columns.labels import BOOLEAN, MANY, NUMBER, RAW, TEXT, Labels, of_numbers, of_texts, typed, union
from credimi.columns.text_types import shown_number

WORDS = ("", "a", "b", "B", "é", "1", "1.0", "-2", "007", "true", "True", "false", "1e3", " 5", "?")


def some(kind: str) -> st.SearchStrategy[Labels]:
    if kind == NUMBER:
        numbers = st.floats(allow_nan=False) | st.integers(-3, 3).map(float)
        return st.lists(numbers).map(lambda values: of_numbers(np.array(values))[0])
    if kind == MANY:
        return st.just(Labels(MANY))
    words = ("false", "true") if kind == BOOLEAN else WORDS
    return st.lists(st.sampled_from(words)).map(lambda texts: of_texts(texts, kind)[0])


# What one source gives: text, numbers or truth values in all batches, or nothing at all, or too much
of_one_source = st.sampled_from((RAW, TEXT, BOOLEAN, NUMBER)).flatmap(
    lambda kind: st.lists(
        st.one_of(some(kind), some(kind), some(kind), st.just(Labels(TEXT)), some(MANY)), min_size=3, max_size=3
    )
)
of_any_kind = st.sampled_from((RAW, TEXT, BOOLEAN, NUMBER, MANY)).flatmap(some)


def values_of(own: Labels) -> list[Any]:
    return own.numbers.tolist() if own.kind == NUMBER else list(own.texts)


# Making them


@pytest.mark.long
@given(st.lists(st.text(max_size=3)))
def test_texts_are_sorted_and_each_is_found_where_it_went(texts: list[str]) -> None:
    own, positions = of_texts(texts, TEXT)
    assert own.texts == tuple(sorted(set(texts)))
    assert [own.texts[position] for position in positions] == texts
    assert len(own) == len(set(texts))


@given(st.lists(st.floats(allow_nan=False)))
def test_numbers_are_sorted_and_each_is_found_where_it_went(numbers: list[float]) -> None:
    own, positions = of_numbers(np.array(numbers))
    assert own.numbers.tolist() == sorted(set(numbers))
    assert [own.numbers[position] for position in positions] == numbers
    assert own.dropped_bits == 0
    assert not any(number == 0.0 and math.copysign(1.0, number) < 0.0 for number in own.numbers)


@given(st.lists(st.text(" 0123456789+-.eEinf\n", max_size=20), min_size=1, max_size=3))
def test_raw_texts_are_numbers_if_each_is(texts: list[str]) -> None:
    whole = labels.typed(labels.of_texts(texts, RAW)[0])[0]
    assert (whole.kind == NUMBER) == all(map(text_types.is_number, texts))


@pytest.mark.parametrize("text", ["007", " -012", "1234567890123456", "+1234567890123456 ", "1234567890123456\n"])
def test_names_of_digits_are_numbers_only_if_asked(text: str) -> None:
    assert not text_types.is_number(text)
    assert text_types.is_number(text, names_too=True)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1.0, "1"), (-3.0, "-3"), (0.5, "0.5"), (0.1, "0.1"), (1e300, "1e+300"), (math.inf, "inf"), (2.0**53, str(2**53))],
)
def test_number_is_shown_in_the_shortest_way(number: float, text: str) -> None:
    assert shown_number(number) == text


@given(st.floats(allow_nan=False))
def test_shown_number_means_the_number(number: float) -> None:
    assert float(shown_number(number)) == number


@pytest.mark.parametrize(
    ("numbers", "whole"), [([1, 2], True), ([], True), ([1.5], False), ([math.inf], False), ([-1e300], True)]
)
def test_integral_means_that_all_are_whole(numbers: list[float], *, whole: bool) -> None:
    assert of_numbers(np.array(numbers))[0].integral is whole
    assert not of_texts(["1"], TEXT)[0].integral


def test_equal_labels_have_equal_hashes() -> None:
    one, other = of_numbers(np.array([2.0, 1.0]))[0], of_numbers(np.array([1.0, 2.0, 2.0]))[0]
    assert one == other
    assert hash(one) == hash(other)
    assert one != of_numbers(np.array([1.0]))[0]
    assert of_texts(["a"], TEXT)[0] != of_texts(["a"], RAW)[0]
    assert one != "labels"


# Union


@given(one=of_any_kind, other=of_any_kind)
def test_union_is_commutative(one: Labels, other: Labels) -> None:
    forward, here, there = union(one, other)
    backward, there_again, here_again = union(other, one)
    assert forward == backward
    np.testing.assert_array_equal(here, here_again)
    np.testing.assert_array_equal(there, there_again)


@given(of_one_source)
def test_union_is_associative(parts: list[Labels]) -> None:
    results = [reduce(lambda one, other: union(one, other)[0], order) for order in permutations(parts)]
    results += [union(one, union(other, third)[0])[0] for one, other, third in permutations(parts)]
    assert all(typed(result)[0] == typed(results[0])[0] for result in results)


def test_union_is_associative_where_sources_differ_in_kind() -> None:
    """A CSV file, a Parquet file of numbers, and a CSV file that turns out to hold text."""
    csv, parquet, text = of_texts(["1.0"], RAW)[0], of_numbers(np.array([1.0]))[0], of_texts(["x"], RAW)[0]
    assert union(union(csv, parquet)[0], text)[0] == union(union(csv, text)[0], parquet)[0]


@given(one=of_any_kind, other=of_any_kind)
def test_union_says_where_each_label_went(one: Labels, other: Labels) -> None:
    merged, here, there = union(one, other)
    for own, positions in ((one, here), (other, there)):
        assert positions.shape == (len(own),)
        assert all(0 <= position < len(merged) for position in positions)
        if merged.kind == own.kind != MANY:
            assert [values_of(merged)[position] for position in positions] == values_of(own)
    if len(merged) and merged.kind != MANY:
        assert set(range(len(merged))) == {*here.tolist(), *there.tolist()}


@given(of_any_kind)
def test_union_with_itself_or_with_nothing_changes_nothing(own: Labels) -> None:
    assert union(own, own)[0] == own
    if len(own):
        for empty in (Labels(TEXT), Labels(RAW), Labels(BOOLEAN), Labels(NUMBER)):
            assert union(own, empty)[0] == own
            assert union(empty, own)[0] == own


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        (of_texts(["1", "2.5"], RAW), of_numbers(np.array([1.0, 3.0])), of_numbers(np.array([1.0, 2.5, 3.0]))),
        (of_texts(["True"], RAW), of_texts(["false"], BOOLEAN), of_texts(["true", "false"], BOOLEAN)),
        (of_texts(["1", "x"], RAW), of_numbers(np.array([1.0, 3.0])), of_texts(["1", "x", "3"], TEXT)),
        (of_texts(["1"], RAW), of_texts(["x"], TEXT), of_texts(["1", "x"], TEXT)),
        (of_texts(["true"], BOOLEAN), of_numbers(np.array([1.0])), of_texts(["true", "1"], TEXT)),
        (of_texts(["1"], TEXT), of_numbers(np.array([1.0])), of_texts(["1"], TEXT)),
    ],
)
def test_kinds_that_differ(one: Any, other: Any, merged: Any) -> None:  # noqa: ANN401
    assert union(one[0], other[0])[0] == merged[0]


# Raw text


@pytest.mark.parametrize(
    ("texts", "kind", "shown"),
    [
        (["1", "2", "10"], NUMBER, ["1", "2", "10"]),
        (["1", "1.0", "1e0", "+1", " 1", "1 "], NUMBER, ["1"]),
        (["-0", "0"], NUMBER, ["0"]),
        ([".5", "5.", "-.5e-3"], NUMBER, ["-0.0005", "0.5", "5"]),
        (["inf", "-Infinity", "1"], NUMBER, ["-inf", "1", "inf"]),
        (["0", "0.5", "10"], NUMBER, ["0", "0.5", "10"]),
        (["007", "1"], TEXT, ["007", "1"]),
        (["-01", "1"], TEXT, ["-01", "1"]),
        (["1", "x"], TEXT, ["1", "x"]),
        (["1", ""], TEXT, ["", "1"]),
        (["nan", "1"], TEXT, ["1", "nan"]),
        (["1_000"], TEXT, ["1_000"]),
        (["0x10"], TEXT, ["0x10"]),
        (["1,5"], TEXT, ["1,5"]),
        (["1 2"], TEXT, ["1 2"]),
        (["+"], TEXT, ["+"]),
        (["."], TEXT, ["."]),
        (["e5"], TEXT, ["e5"]),
        (["True", "FALSE"], BOOLEAN, ["false", "true"]),
        (["true", "True", "TRUE"], BOOLEAN, ["true"]),
        (["true", "yes"], TEXT, ["true", "yes"]),
        (["true", "1"], TEXT, ["1", "true"]),
        (["tRUE"], TEXT, ["tRUE"]),
        ([], TEXT, []),
    ],
)
def test_raw_text_is_what_all_of_it_looks_like(texts: list[str], kind: str, shown: list[str]) -> None:
    raw = of_texts(texts, RAW)[0]
    own, positions = typed(raw)
    assert own.kind == kind
    assert list(own.shown()) == shown
    assert positions.shape == (len(raw),)
    if kind == TEXT:
        assert [own.texts[position] for position in positions] == list(raw.texts)
    if kind == NUMBER:
        assert [own.numbers[position] for position in positions] == [float(text) for text in raw.texts]


@pytest.mark.parametrize("own", [Labels(TEXT, ("1",)), Labels(BOOLEAN, ("true",)), Labels(NUMBER), Labels(MANY)])
def test_only_raw_text_is_typed(own: Labels) -> None:
    assert typed(own)[0] is own


# Growth


@pytest.mark.parametrize("size", [labels.MAX_LABELS, labels.MAX_LABELS + 1, 100_000])
def test_numbers_are_never_more_than_are_kept(size: int) -> None:
    numbers = np.random.default_rng(1).normal(size=size)
    own, positions = of_numbers(numbers)
    assert len(own) <= labels.MAX_LABELS
    assert (own.dropped_bits == 0) == (size <= labels.MAX_LABELS)
    np.testing.assert_allclose(own.numbers[positions], numbers, rtol=2.0 ** (own.dropped_bits - 52))


def test_as_few_bits_are_dropped_as_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "MAX_LABELS", 4)
    assert of_numbers(np.arange(8.0, 12.0))[0].dropped_bits == 0
    assert of_numbers(np.arange(8.0, 16.0))[0].numbers.tolist() == [8.0, 10.0, 12.0, 14.0]
    assert of_numbers(np.arange(8.0, 17.0))[0].numbers.tolist() == [8.0, 12.0, 16.0]


def coarse(numbers: list[float], most: int) -> tuple[int, list[float]]:
    """The oracle: drop bits of the whole set until it is small enough."""
    for bits in range(64):
        kept = {_without_bits(number, bits) for number in numbers}
        if len(kept) <= most:
            return bits, sorted(kept)
    raise AssertionError


def _without_bits(number: float, bits: int) -> float:
    pattern = np.array(number).view(np.uint64).item()
    return np.array(pattern >> bits << bits, dtype=np.uint64).view(np.float64).item() + 0.0


@given(
    numbers=st.lists(st.floats(allow_nan=False) | st.integers(-50, 50).map(float), max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=5),
    order=st.randoms(use_true_random=False),
    most=st.integers(6, 30),
)
@settings(deadline=None)
def test_coarse_numbers_depend_on_the_set_alone(numbers: list[float], cuts: list[int], order: Any, most: int) -> None:  # noqa: ANN401
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labels, "MAX_LABELS", most)
        whole = of_numbers(np.array(numbers))[0]
        bits, kept = coarse(numbers, most)
        assert (whole.dropped_bits, whole.numbers.tolist()) == (bits, kept)
        shuffled = list(numbers)
        order.shuffle(shuffled)
        bounds = [0, *sorted(cuts), len(shuffled)]
        parts = [of_numbers(np.array(shuffled[low:high]))[0] for low, high in pairwise(bounds)]
        order.shuffle(parts)
        assert reduce(lambda one, other: union(one, other)[0], parts) == whole


def test_coarse_numbers_say_where_each_went_through_unions() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.normal(size=30_000), generator.normal(size=40_000)
    one, other = of_numbers(first), of_numbers(second)
    merged, here, there = union(one[0], other[0])
    whole, positions = of_numbers(np.concatenate([first, second]))
    assert merged == whole
    np.testing.assert_array_equal(np.concatenate([here[one[1]], there[other[1]]]), positions)


@pytest.mark.parametrize(
    ("features", "groups", "most"),
    [(1, 3, 32_768), (100, 3, 32_768), (1000, 3, 11_184), (10, 1001, 3_352), (100_000, 3, 1_024), (0, 1, 32_768)],
)
def test_fewer_labels_are_kept_where_features_and_groups_are_many(features: int, groups: int, most: int) -> None:
    assert labels.most_labels(features, groups) == most


def test_labels_that_are_given_up_are_one() -> None:
    kept, positions = labels.collapsed(Labels(TEXT, ("a", "b", "c")))
    assert (kept.kind, len(kept)) == (MANY, 1)
    assert positions.tolist() == [0] * 3


def test_numbers_whose_names_were_lost_do_not_become_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """As text they would be names that no row ever had."""
    monkeypatch.setattr(labels, "MAX_LABELS", 4)
    own = of_numbers(np.arange(8.0, 17.0))[0]
    for text in (Labels(RAW, ("x",)), Labels(TEXT, ("9",))):
        merged, here, there = union(own, text)
        assert merged == Labels(MANY)
        assert here.tolist() == [0] * len(own)
        assert there.tolist() == [0]


def test_zeros_of_either_sign_are_one_among_many_texts() -> None:
    """As in parts of the same column that are numbers alone."""
    numbers = [f"{number}.5" for number in range(labels.FEW_TEXTS)]
    whole = typed(of_texts(["-0.0", "0.0", "n.d.", *numbers], RAW)[0])[0]
    parts = union(
        of_numbers(np.array([float(text) for text in ("-0.0", "0.0", *numbers)]))[0], of_texts(["n.d."], RAW)[0]
    )[0]
    assert whole.texts == parts.texts
