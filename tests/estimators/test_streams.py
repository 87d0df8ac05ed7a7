"""Rows that are learned one at a time: what is counted, and how much work a row is."""

from __future__ import annotations

import datetime as dt
import random
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from credimi import IncrementalNaiveBayes, count
from credimi.columns import labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def learned(rows: Iterable[tuple[dict[str, Any], Any]], **settings: Any) -> IncrementalNaiveBayes:  # noqa: ANN401
    model = IncrementalNaiveBayes(**settings)
    for row, label in rows:
        model.learn_one(row, label)
    return model


VALUES: dict[str, Callable[[random.Random], Any]] = {
    "texts": lambda chance: chance.choice("abcdefgh"),
    "numbers": lambda chance: chance.choice([chance.randrange(30), chance.gauss(0, 1), -0.0, 2**53, np.int8(3)]),
    "truths": lambda chance: chance.choice([True, False, np.True_]),
    "dates": lambda chance: dt.date(2020, 1, 1) + dt.timedelta(days=chance.randrange(40)),
    "texts, numbers, truths": lambda chance: chance.choice(["a", "5", 5, 5.5, 7.0, True, "true", 10**20]),
    "dates and numbers": lambda chance: chance.choice([dt.date(2020, 1, 1), 18262, 3.5]),
    "new texts": lambda chance: f"{chance.random()}",
    "new numbers": lambda chance: chance.random(),
    "halves of characters": lambda chance: chance.choice(["\ud800", "é", "\udfff"]),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("most", [8, 1 << 15])
@pytest.mark.parametrize("seed", range(3))
def test_rows_one_by_one_are_counted_as_rows_together(
    kind: str, most: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum of the counts of each row, whose labels `union` puts together, whatever comes in what order."""
    monkeypatch.setattr(labels, "most_labels", lambda _features, _groups: most)
    monkeypatch.setattr("credimi.counts.incremental_counts.most_labels", lambda _features, _groups: most, raising=False)
    chance = random.Random(seed)  # noqa: S311
    rows = []
    for _ in range(60):
        cells = {name: VALUES[kind](chance) if chance.random() < 0.9 else None for name in "pq"}
        rows.append((cells, chance.choice(["x", "y", "z", None])))
    single = [
        count({name: [row[name]] for name in "pq"} | {"target": [label]}, "target") for row, label in rows if label
    ]
    assert learned(rows).counts_ == sum(single)
    window = learned(rows, window=20)
    assert window.counts_.rows == sum(label is not None for _, label in rows[-20:])
    if most > 8 and kind != "dates and numbers":  # which are numbers from then on
        assert cells_of(window) == cells_of(learned(rows[-20:]))


def cells_of(model: IncrementalNaiveBayes) -> dict[Any, float]:
    counts, found = model.counts_, {}
    for name, own, block in zip(counts.features, counts.labels, counts.blocks(), strict=True):
        for place in zip(*np.nonzero(block), strict=True):
            group, value = (*counts.classes.shown(), None)[place[0]], (*own.shown(), None)[place[1]]
            found[name, group, value] = block[place]
    return found


def test_unlearned_rows_leave_room() -> None:
    model = IncrementalNaiveBayes(window=5)
    for row in range(2_000):
        model.learn_one({"new": f"text {row}", "number": row + 0.5}, f"class {row % 40}")
    assert cells_of(model) == cells_of(
        learned(({"new": f"text {row}", "number": row + 0.5}, f"class {row % 40}") for row in range(1_995, 2_000))
    )
    assert model._ledger._cells.size < 1_000  # noqa: SLF001


@pytest.mark.parametrize("factor", [0.9, 0.5])
def test_what_fades_for_long_counts_as_it_should(factor: float) -> None:
    model = learned((({"a": "pq"[row % 3 == 0]}, "xy"[row % 2]) for row in range(3_000)), decay=factor)
    weights = factor ** np.arange(3_000)[::-1]
    expected = sum(weight for row, weight in enumerate(weights) if row % 3 == 0 and row % 2 == 0)
    assert cells_of(model)["a", "x", "q"] == pytest.approx(expected, rel=1e-12)
    assert model.counts_.rows == pytest.approx(weights.sum(), rel=1e-12)


def new_texts(row: int) -> dict[str, Any]:
    return {"many": f"text {row // 2}", "few": "abc"[row % 3]}


def new_numbers(row: int) -> dict[str, Any]:
    return {"many": (row // 2) ** 0.5, "few": row % 3}


def new_dates(row: int) -> dict[str, Any]:
    return {"many": dt.date(1900, 1, 1) + dt.timedelta(days=row // 2), "few": "abc"[row % 3]}


def mixed(row: int) -> dict[str, Any]:
    return {"many": f"text {row}" if row % 2 else row, "few": ("a", 5, True)[row % 3]}


def large_steps(act: Callable[[int], None], seen: int = 2_400, looked_at: int = 200) -> list[int]:
    """Act on many rows; of the last ones, how many bytes were asked for at once, where that is much."""
    for row in range(seen):
        act(row)
    found = []
    tracemalloc.start()
    try:
        for row in range(seen, seen + looked_at):
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            act(row)
            found.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    return [size for size in found if size > 16_384]


KINDS = [(new_texts, {}), (new_numbers, {}), (new_dates, {}), (mixed, {})]
FORGETTING = [
    (kind, settings) for kind in (new_texts, new_numbers) for settings in ({"window": 2_000}, {"decay": 0.999})
]


@pytest.mark.parametrize(("kind", "settings"), KINDS + FORGETTING)
def test_to_learn_a_row_copies_nothing_of_the_others(kind: Callable[[int], Any], settings: dict[str, Any]) -> None:
    """All counts are at least 28 KB by then; a growth, which doubles the room, copies them once."""
    model = learned([({}, "x"), ({}, "y")], **settings)
    large = large_steps(lambda row: model.learn_one(kind(row), "xy"[row % 2]))
    assert len(large) <= 2, large


@pytest.mark.parametrize(("kind", "settings"), [(new_texts, {}), (mixed, {}), *FORGETTING[:2]])
def test_to_predict_and_learn_copies_nothing_of_the_others(
    kind: Callable[[int], Any], settings: dict[str, Any]
) -> None:
    model = learned([({}, "x"), ({}, "y")], **settings)

    def act(row: int) -> None:
        model.predict_one(kind(row))
        model.learn_one(kind(row), "xy"[row % 2])

    large = large_steps(act)
    assert len(large) <= 2, large


@pytest.mark.long
def test_to_predict_cut_numbers_looks_at_these_alone() -> None:
    """Texts beside them that are no numbers cost what they cost without."""
    model = learned([({}, "x"), ({}, "y")])

    def act(row: int) -> None:
        model.predict_one({"number": row % 30, "text": f"word {row}"})
        model.learn_one({"number": row % 30, "text": f"word {row}"}, "xy"[row % 2])

    assert len(large_steps(act, looked_at=100)) <= 2


class Watched(dict[Any, int]):
    """Labels that count how many of them are looked at, other than by a lookup."""

    looked_at = 0

    def __iter__(self) -> Iterator[Any]:
        for key in super().__iter__():
            self.looked_at += 1
            yield key

    def all_of_them(self) -> Any:  # noqa: ANN401
        self.looked_at += len(self)
        return list(super().__iter__())

    keys = items = values = all_of_them


@pytest.mark.parametrize("kind", [new_texts, new_numbers, new_dates, mixed])
def test_to_learn_a_row_looks_at_none_of_the_other_labels(kind: Callable[[int], Any]) -> None:
    model = learned((kind(row), "xy"[row % 2]) for row in range(1_000))
    column = model._ledger.columns[0]  # noqa: SLF001
    column.where = labels_of = Watched(column.where)
    for row in range(1_000, 1_100):
        if kind is not new_numbers:  # which are cut anew
            model.predict_one(kind(row))
        model.learn_one(kind(row), "xy"[row % 2])
    assert model._ledger.columns[0].where is labels_of  # noqa: SLF001
    assert labels_of.looked_at <= 100 * 21  # as many as tell that they are more than a few
