"""A table in memory is encoded once, whatever is asked of it; counts and rows are made of the same codes."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from credimi import CredibleSelector, count, prequential, rank, select
from credimi.columns import encode as encode_module
from credimi.counts.batch import count_coded
from credimi.counts.codes import Codebook, EncodedTable
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from collections.abc import Mapping

_RANDOM = np.random.default_rng(1)
X = _RANDOM.integers(0, 3, (60, 4)).astype(float)
X[_RANDOM.random(X.shape) < 0.2] = np.nan
Y = np.array(["p", "q", "r"])[_RANDOM.integers(0, 3, 60)]
TABLE = {f"x{place}": column for place, column in enumerate(X.T)} | {"y": Y}


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often which column was encoded."""
    found: Counter[str] = Counter()
    own = encode_module.encode

    def encode(values: Any, name: str, **options: Any) -> Any:  # noqa: ANN401
        found[name] += 1
        return own(values, name, **options)

    for name, module in list(sys.modules.items()):
        if name.startswith("credimi.") and module is not encode_module and getattr(module, "encode", None) is own:
            monkeypatch.setattr(module, "encode", encode)
    return found


@pytest.mark.parametrize("way", [count, rank, prequential])
@pytest.mark.parametrize("kind", ["dictionary", "arrow"])
def test_every_column_is_encoded_once(encoded: Counter[str], way: Any, kind: str) -> None:  # noqa: ANN401
    data = TABLE if kind == "dictionary" else pa.table(TABLE)
    way(data, "y", missing_values=["?"])
    assert encoded == {"x0": 1, "x1": 1, "x2": 1, "x3": 1, "y": 1}


def test_the_same_of_the_selector(encoded: Counter[str]) -> None:
    selector = CredibleSelector(rule="backward").fit(X, Y)
    selector.transform(X)
    assert set(encoded.values()) == {1}
    assert len(encoded) == 5


def table_of(data: Mapping[str, Any], **asked: Any) -> EncodedTable:  # noqa: ANN401
    return encoded_table(data, CountRequest.of("y", Reading(**asked)))


def test_counts_are_those_of_the_codes() -> None:
    table = table_of(TABLE)
    assert table.counts == count(TABLE, "y") == count_coded(table.coded)
    with pytest.raises(FrozenInstanceError):
        table.counts = None  # type: ignore[misc, assignment]


@pytest.mark.parametrize("missing", [["?"], ["?", 0.0], ["p"]])
def test_values_of_rows_have_the_counts_of_their_features(missing: list[Any]) -> None:
    """Also numbers that are cut, and texts of which one means missing."""
    text = np.array(["a", "b", "?", "c"], dtype=object)[_RANDOM.integers(0, 4, 60)]
    data = TABLE | {"real": _RANDOM.normal(size=60) + (Y == "p") * 4.0, "text": text}
    table = table_of(data, missing_values=missing)
    codes = table.codes(book=Codebook.of(table.counts, wanted=lambda _feature: True))
    assert codes.names == table.counts.features
    for feature, values in zip(codes.features, codes.columns, strict=True):
        block = np.zeros_like(feature.block)
        np.add.at(block, (codes.groups, values), 1)  # a missing class is the last line, a missing value the last column
        assert np.array_equal(block, feature.block), feature.name
    assert codes.classes == table.counts.class_names()


def test_more_numbers_than_are_kept_are_coarser_in_rows_as_in_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credimi.columns.labels.most_labels", lambda *_: 16)
    data = {"real": _RANDOM.normal(size=60), "y": Y}
    table = table_of(data, discretize={"real": [0.0]})
    codes = table.codes()
    (feature,), (values,) = codes.features, codes.columns
    assert np.bincount(values, minlength=2)[:2].tolist() == feature.block[:, :-1].sum(axis=0).tolist()


def test_rows_of_no_weight_bring_no_labels() -> None:
    table = {"x": [0.5, 1.5, 2.5, 9.5] * 30, "y": ["a", "b", "a", "c"] * 30}
    weights = [1.0, 2.0, 1.0, 0.0] * 30
    codes = encoded_table(table, CountRequest.of("y", Reading(weights=weights, discretize="quantile:3"))).codes()
    assert codes.columns[0][:4].tolist() == [0, 1, 2, 3]
    assert select(table, "y", weights=weights).features == ("x",)


def test_a_text_that_only_rows_of_no_weight_have_is_no_value_of_the_selector() -> None:
    table = np.array([["p", "u"], ["q", "v"]] * 40 + [["only here", "u"]], dtype=object)
    selector = CredibleSelector(rule="distinct")
    selector.fit(table, ["x", "y"] * 40 + ["x"], sample_weight=[1.0] * 80 + [0.0])
    assert selector.selection_.features == ("x0",)
