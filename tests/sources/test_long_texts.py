"""Texts that are few and very long: bounded by their bytes, as labels are by their number."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from credimi import CredimiError, count, rank
from credimi.columns import labels
from credimi.columns.labels import MANY, TEXT, Labels
from credimi.core.arguments import unknown
from credimi.counts import batch as batches
from credimi.sources import frames
from credimi.sources.csv import csv_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def test_how_many_bytes_each_of_many_features_may_have() -> None:
    assert [labels.most_bytes(features) for features in (0, 1, 32, 64, 1 << 20)] == [
        1 << 25,
        1 << 25,
        1 << 25,
        1 << 24,
        1 << 20,
    ]


@pytest.mark.parametrize(("text", "size"), [("a", 1), ("é", 2), ("€", 3), ("\U0001f600", 4), ("\ud800", 3)])
def test_bytes_are_those_of_utf8(text: str, size: int) -> None:
    own = Labels(TEXT, (text * 10, text * 20))
    assert not labels.too_long(own, 30 * size)
    assert labels.too_long(own, 30 * size - 1)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "most_bytes", lambda _: 1_000)


@pytest.mark.usefixtures("short")
def test_what_is_left_does_not_depend_on_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifteen texts of 100 bytes: no part of a few rows has too many, and all together have."""
    path = tmp_path / "a.csv"
    rows = [(f"{row % 15:0100}x", f"{row}.5" + "0" * 100, "pq"[row % 2]) for row in range(60)]
    path.write_text("long,number,y\n" + "".join(f"{','.join(row)}\n" for row in rows))
    whole = count(path, "y")
    monkeypatch.setattr(csv_files, "_PART", 300)
    monkeypatch.setattr(csv_files, "_ROWS", 1)
    found = count(path, "y")
    assert found == whole
    assert [own.kind for own in found.labels] == [MANY, labels.NUMBER]  # as numbers they need no text
    frame = {"long": [row[0] for row in rows], "y": [row[2] for row in rows]}
    assert count(frame, "y").labels[0].kind == MANY
    note = rank(whole)["long"]["note"]
    assert note == "identifier: more different values, or longer ones, than are kept"
    with pytest.raises(CredimiError, match="'long' has more than 20 values, or longer ones than are kept"):
        count(path, "y", max_values=20)


@pytest.mark.usefixtures("short")
def test_a_sum_of_counts_is_bounded_too() -> None:
    one, other = (count({"x": [letter * 600, "b"], "y": ["p", "q"]}, "y") for letter in "ac")
    assert one.labels[0].kind == TEXT
    assert (one + other).labels[0].kind == MANY
    assert (one + one).labels[0].kind == TEXT


@pytest.mark.usefixtures("short")
def test_classes_are_bounded_too() -> None:
    with pytest.raises(CredimiError, match=r"target 'y' has classes of more than .* MiB of text in all"):
        count({"x": [1, 2], "y": ["p" * 600, "q" * 600]}, "y")
    one, other = (count({"x": [1, 2], "y": [letter * 600, "p"]}, "y") for letter in "ac")
    with pytest.raises(CredimiError, match="target 'y' has classes of more than"):
        one + other


def test_long_texts_are_not_kept_in_mind() -> None:
    """The order of a batch's labels is; of long ones it would fill memory for nothing."""
    batches._cached_order.cache_clear()  # noqa: SLF001
    count({"x": ["a" * 20_000, "b"], "y": ["p", "q"]}, "y")
    assert batches._cached_order.cache_info().currsize == 0  # noqa: SLF001
    count({"x": ["a" * 2_000, "b"], "y": ["p", "q"]}, "y")
    assert batches._cached_order.cache_info().currsize == 1  # noqa: SLF001


def test_few_batches_of_long_texts_wait_to_be_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million short rows may wait; of long ones those of a bounded number of bytes."""
    monkeypatch.setattr(frames, "_BYTES", 10_000)
    made = []

    def stream() -> Iterator[pa.RecordBatch]:
        for number in range(50):
            made.append(number)
            yield pa.record_batch({"x": ["a" * 2_000, "b"], "y": ["p", "q"]})

    waiting = []
    for batch in frames.gathered(stream(), ["x", "y"]):
        waiting.append(len(made))
        assert batch.rows <= 12
    assert waiting[0] <= 6
    assert len(made) == 50


def test_a_mistaken_name_is_compared_with_some_of_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(difflib, "get_close_matches", lambda _, offered, **__: compared.extend(offered) or [])
    names = [f"gene {number}" for number in range(200_000)]
    assert unknown("GENE 7", names) == "there is no column 'GENE 7': did you mean 'gene 7'?"
    assert 0 < len(compared) < 10_000


def test_names_in_a_list_are_shortened_and_a_quoted_comma_is_no_hint() -> None:
    assert len(unknown("y", ["\0" * 50_000])) < 400
    assert "delimiter" not in unknown("a", ["y", "a,b", "c"])
    assert "name the character between them" in unknown("a", ["a;b", "c;d"])
