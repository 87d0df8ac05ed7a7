"""The table or tables that are typed for `credimi table`, in a file or on standard input, read as numbers."""

from __future__ import annotations

import math
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credimi.cli.option_parser import is_number
from credimi.core.errors import CredimiError
from credimi.core.table_layouts import MISSING, layout_of, means_missing

if TYPE_CHECKING:
    import argparse

Counts = tuple[list[list[float]], dict[str, Any]]  # the rows of a table, and its margins and labels
_OTHERS = ("target_only", "feature_only", "classes", "values")
_MAX_TEXT_BYTES = 1 << 24  # of a table


def read_tables(options: argparse.Namespace) -> list[Counts]:
    """The table, or with --given one table for each stratum, with the margins of the text or of the options."""
    text, name = _table_text(options.table)
    strata = _strata(text, name) if options.given else [_read_table(text, name)]
    for margin in ("target_only", "feature_only"):
        option_text = getattr(options, margin)
        if option_text is None:
            continue
        if any(margin in margins for _, margins in strata):
            raise CredimiError(f"{_option(margin)} is given both in {options.table} and as an option: keep one of them")
        parts = option_text.split("|") if options.given else [option_text]
        if len(parts) != len(strata):
            raise CredimiError(
                f"{_option(margin)} has counts for {len(parts)} strata, {name} has {len(strata)}: separate them by '|'"
            )
        for (_, margins), part in zip(strata, parts, strict=True):
            margins[margin] = _numbers(part, _option(margin))
    return strata


def _strata(text: str, name: str) -> list[Counts]:
    """One table for each stratum; they are separated by '|' or empty lines."""
    lines = [line.split("#", 1)[0] if line.strip() else "|" for line in text.splitlines()]
    parts = [part for part in "\n".join(lines).split("|") if part.strip()]
    if not parts:
        raise CredimiError(f"{name} holds no counts: give one table for each stratum, such as 10 2; 3 15 | 4 1; 2 9")
    strata = [_read_table(part.strip("\n"), f"{name}, stratum {number}") for number, part in enumerate(parts, 1)]
    shapes = [(len(joint), len(joint[0])) for joint, _ in strata]
    for number, shape in enumerate(shapes, 1):
        if shape != shapes[0]:
            raise CredimiError(
                f"{name}: the table of stratum {number} is {shape[0]} x {shape[1]}, that of stratum 1 is "
                f"{shapes[0][0]} x {shapes[0][1]}: all need the same classes and values, with 0 for no count"
            )
    return strata


def _read_table(text: str, name: str) -> Counts:
    """The rows, and the margins that the text names."""
    is_multiline = "\n" in text.strip()
    margins: dict[str, Any] = {}
    rows: list[tuple[str, str]] = []  # and where they are
    for number, line in enumerate(text.splitlines(), 1):
        location = f"{name}, line {number}" if is_multiline else name
        for part in filter(str.strip, line.split("#", 1)[0].split(";")):
            key, colon, values = part.partition(":")
            if not colon:
                rows.append((part, location))
                continue
            margin = key.strip().replace("-", "_")
            if margin not in {"target_only", "feature_only"}:
                raise CredimiError(f"{location}: {key.strip()!r} is not known: use 'target-only:' or 'feature-only:'")
            if margin in margins:
                raise CredimiError(f"{location}: {_option(margin)} is given twice: keep one of them")
            margins[margin] = _numbers(values, location)
    rows = _without_name_of_rows(rows)
    cells = [_cells(part) for part, _ in rows]
    if _has_labels(cells):
        layout = layout_of(cells, margins.pop("target_only", None), margins.pop("feature_only", None))
        margins = {field: given for field in _OTHERS if (given := getattr(layout, field)) is not None}
        rows = [(" ".join(map(str, row)), name) for row in layout.joint]
    joint = [_numbers(part, location) for part, location in rows]
    if not joint:
        raise CredimiError(f"{name} holds no counts: give one row per target class, such as 10 2")
    for row, counts in enumerate(joint, 1):
        if len(counts) != len(joint[0]):
            raise CredimiError(
                f"{name}: row {row} has {len(counts)} counts, row 1 has {len(joint[0])}: "
                "every row needs one count per column"
            )
    return joint, margins


def _cells(row: str) -> list[str]:
    """The cells of a row: labels may hold blanks if commas or tabs separate them."""
    separator = next((each for each in ",\t" if each in row), None)
    return [cell.strip() for cell in row.split(separator)]


def _without_name_of_rows(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The rows; in the second, pandas prints the name of the rows alone."""
    cells = [_cells(part) for part, _ in rows[:3]]
    is_name = len(cells) > 2 and len(cells[1]) == 1 < len(cells[2]) and not is_number(cells[1][0])
    if not is_name:
        return rows
    (labels, location), own = rows[0], cells[0][0]
    if len(cells[0]) == len(cells[2]) and not is_number(own):  # the name of the columns: the corner is theirs alone
        labels = labels.strip().removeprefix(own)
    return [(labels, location), *rows[2:]]


def _has_labels(rows: list[list[str]]) -> bool:
    """Whether the first row or the first column are text, or the last corner is `?`; NaN is a label, no count."""
    numbers = [[is_number(cell) and not means_missing(cell) for cell in row] for row in rows]
    if len(rows) < 2:
        return False
    longest = max((len(row) for row in numbers[1:] if not row[0]), default=0)  # of the rows with a label
    is_head = not any(numbers[0]) or rows[0][0] == "" or len(rows[0]) < longest
    return is_head or not any(row[0] for row in numbers) or rows[-1][-1] == MISSING


def _table_text(source: str) -> tuple[str, str]:
    """The text that TABLE means, and its name for messages."""
    if source == "-":
        return _input_text(), "standard input"
    if not source.strip():
        raise CredimiError('the table is empty: pass counts such as "10 2; 3 15", a file name, or - for standard input')
    if is_file(source) or not _looks_like_counts(source):
        return _file_text(source), source
    return source, "the table"


def is_file(source: str) -> bool:
    """Whether the text is the name of a file."""
    with suppress(OSError):  # a long table is no file name: "File name too long"
        return Path(source).is_file()
    return False


def _looks_like_counts(text: str) -> bool:
    """Counts rather than the name of a file: something in it is a number."""
    return any(is_number(word) for word in re.split(r"[;,|\s]+", text))


def _input_text() -> str:
    if sys.stdin is None:
        raise CredimiError("standard input is closed: pipe the counts into credimi, or name a file")
    return _decoded(sys.stdin.buffer.read(_MAX_TEXT_BYTES + 1), "standard input")


def _file_text(path: str) -> str:
    try:
        with Path(path).open("rb") as file:  # a device may never end
            return _decoded(file.read(_MAX_TEXT_BYTES + 1), path)
    except FileNotFoundError:
        raise CredimiError(f'{path}: no such file; counts are written like "10 2; 3 15"') from None
    except OSError as error:
        raise CredimiError(f"{path} cannot be read: {error.strerror or error}") from None


def _decoded(content: bytes, name: str) -> str:
    if len(content) > _MAX_TEXT_BYTES:
        raise CredimiError(f"{name} is larger than {_MAX_TEXT_BYTES >> 20} MiB, too large for a table: check the name")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CredimiError(f"{name} is not text in UTF-8 (byte {error.start}): save it as UTF-8 text") from None


def _numbers(text: str, location: str) -> list[float]:
    """The counts in a text; `location` names it in errors."""
    if not text.strip():
        raise CredimiError(f"{location} holds no counts: give numbers separated by blanks or commas")
    fields = [field.split() for field in text.split(",")]
    if [] in fields:
        raise CredimiError(f"{location}: a comma in {text.strip()!r} has no number beside it: write 0 for no count")
    words = [word for field in fields for word in field]
    if "|" in text:
        raise CredimiError(f"{location}: '|' is not a count: it separates the tables of strata, for which say --given")
    for word in words:
        if not (is_number(word) and 0.0 <= float(word) < math.inf):
            raise CredimiError(
                f"{location}: {word!r} is not a count: counts are numbers from 0 up, separated by blanks or commas"
            )
    return [float(word) for word in words]


def _option(name: str) -> str:
    return name.replace("_", "-")
