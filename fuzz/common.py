"""What the fuzzers share: a broken law, the cells of counts, a naive count, and lists made smaller."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from credimi import CredimiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from credimi import Counts
    from credimi.columns.labels import Labels

Cells = Counter[tuple[str, Any, Any]]  # (column, class, value) -> rows; None where it is missing
TRUTHS = {"true", "True", "TRUE", "false", "False", "FALSE"}
NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")  # digits and blanks as Python's float has them
INFINITE = re.compile(r"\s*[+-]?(inf|infinity)\s*", re.IGNORECASE)
NAME_OF_DIGITS = re.compile(r"\s*[+-]?(0\d|\d{16,}\s*$)")
MAX_RAW_TEXTS = 255  # columns of more distinct texts are read as numbers where these are numbers


class Broken(Exception):  # noqa: N818  (it is a law that is broken)
    """A law does not hold."""

    def __init__(self, law: str, detail: object) -> None:
        super().__init__(f"{law}: {detail}")
        self.law = law


def expect(holds: bool, law: str, detail: object) -> None:  # noqa: FBT001
    """Raise if the law does not hold."""
    if not holds:
        raise Broken(law, detail)


def refusal(call: Callable[[], Any]) -> tuple[Any, CredimiError | None]:
    """What a call returns, or how it refuses; another error is a finding, and goes on."""
    try:
        return call(), None
    except CredimiError as error:
        return None, error


@contextmanager
def patched(module: Any, **values: Any) -> Iterator[None]:  # noqa: ANN401
    """A module with other constants, such as tiny sizes of parts."""
    with patch.multiple(module, **values):
        yield


def shown_number(number: float) -> str:
    """A number as credimi shows it."""
    return repr(float(number) + 0.0).removesuffix(".0")


def is_number(text: str) -> bool:
    """Whether a text of a CSV file is a number, and no name such as 007."""
    return bool(NUMBER.fullmatch(text) or INFINITE.fullmatch(text)) and not NAME_OF_DIGITS.match(text)


def as_read(texts: Sequence[str]) -> dict[str, str]:
    """What the distinct texts of a CSV column are read as: truth values, numbers, or text."""
    if texts and TRUTHS.issuperset(texts):
        return {text: text.lower() for text in texts}
    if len(set(texts)) > MAX_RAW_TEXTS or all(map(is_number, texts)):
        return {text: shown_number(float(text)) if is_number(text) else text for text in texts}
    return {text: text for text in texts}


def names_of(labels: Labels) -> list[str]:
    """The names of labels; two may be the same, as 1 and 1.0 are."""
    if labels.kind == "many":
        return ["(many)"]
    if labels.kind != "raw":
        return list(labels.shown())
    read = as_read(labels.texts)
    return [read[text] for text in labels.texts]


def cells_of(counts: Counts) -> Cells:
    """All cells of counts that are not 0."""
    cells: Cells = Counter()
    classes = [*names_of(counts.classes), None]
    for name, labels, block in zip(counts.features, counts.labels, counts.blocks(), strict=True):
        values = [*names_of(labels), None]
        for row, column in np.argwhere(block).tolist():
            cells[name, classes[row], values[column]] += block[row, column].item()
    return cells


def counted(columns: Mapping[str, Sequence[Any]], target: str) -> Cells:
    """The naive count of columns whose values have their names already, None where they are missing."""
    return Counter(
        (name, class_name, value)
        for name, values in columns.items()
        if name != target
        for class_name, value in zip(columns[target], values, strict=True)
    )


def expect_cells(cells: Cells, expected: Cells, law: str) -> None:
    """Raise if two counts differ, and say where."""
    more, less = cells - expected, expected - cells
    expect(
        not more and not less, law, f"too many {dict(list(more.items())[:4])}, too few {dict(list(less.items())[:4])}"
    )


def shorter(items: Sequence[Any]) -> Iterator[Any]:
    """The items without some of them: without a half first, without a single one last."""
    size = len(items) // 2
    while size:
        for start in range(0, len(items), size):
            yield items[:start] + items[start + size :]
        size //= 2
    if len(items) == 1:
        yield items[:0]
