"""The header of a counts file: writing, reading and checking it (docs/counts-format.md).

The digest of a file shows that its bytes are those that were written, not who wrote them. So everything that is read is
checked once, here: types, signs, sizes, repeated names and labels. The result is safe to add and to rank.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.labels import BOOLEAN, LOOSE, MANY, NUMBER, RAW, TEXT, Labels
from credimi.columns.reading_options import ReadingOptions
from credimi.core.defaults import TARGET_AS
from credimi.counts.saved.counted_files import CountedFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from credimi.core.types import AnyArray, FloatArray, Record, Value
    from credimi.counts.counts import Counts

    Header = Mapping[str, Value]
    Arrays = Mapping[str, AnyArray]

_KINDS = (RAW, LOOSE, TEXT, BOOLEAN, NUMBER, MANY)
_BITS = 64  # of a double
_MAX_ROWS = 2**63
_ROUNDING = 1e-9  # of sums of very many rows


class FaultError(ValueError):
    """What is wrong with a header."""


def described(labels: Labels) -> Record:
    """Labels as a record of the header; the numbers themselves are in an array."""
    numbers = {"numbers": labels.numbers.size, "dropped_bits": labels.dropped_bits} if labels.kind == NUMBER else {}
    instants = {"instants": True} if labels.instants else {}
    return {"kind": labels.kind, "texts": list(labels.texts)} | numbers | instants


def written(counts: Counts) -> tuple[Record, dict[str, AnyArray]]:
    """Header and arrays of a counts file."""
    header = {
        "target": counts.target,
        "rows": counts.rows,
        "missing_values": list(counts.settings.missing_values),
        "discretize": counts.settings.discretize,
        "classes": described(counts.classes),
        "features": [
            {"name": name} | described(column_labels)
            for name, column_labels in zip(counts.features, counts.labels, strict=True)
        ],
    }
    if counts.settings.target_cuts is not None:
        header["target_cuts"] = list(counts.settings.target_cuts)
    if counts.settings.target_as is not None:
        header["target_as"] = counts.settings.target_as
    if counts.settings.weights is not None:
        header |= {"weights": counts.settings.weights, "squares": counts.squares}
    if counts.settings.weights_are is not None:
        header["weights_are"] = counts.settings.weights_are
    if counts.sources:
        header["sources"] = [source.described() for source in counts.sources]
    numbers = [column_labels.numbers for column_labels in (counts.classes, *counts.labels)]
    arrays = {"numbers": np.concatenate(numbers), "counts": counts.flat}
    return header, arrays if counts.flat_squares is None else arrays | {"squares": counts.flat_squares}


def read(header: Header, arrays: Arrays) -> Record:
    """The fields of `Counts` by their names; a `FaultError` or another ValueError says what is wrong."""
    target, rows = _text(_required(header, "target"), "target"), _rows(_required(header, "rows"))
    numbers, flat = _required(arrays, "numbers"), _required(arrays, "counts")
    feature_records = [_object(record, "features") for record in _list(header, "features")]
    names = tuple(_text(_required(record, "name"), "the name of a feature") for record in feature_records)
    _require(target not in names, f"the target {target!r} is a feature as well")
    _require(len(set(names)) == len(names), "two features have the same name")
    all_labels, start = [], 0
    for name, record in zip(
        (target, *names), (_object(_required(header, "classes"), "classes"), *feature_records), strict=True
    ):
        size = _whole(record.get("numbers", 0), f"numbers of {name!r}")
        all_labels.append(_labels(record, numbers[start : start + size], size, name))
        start += size
    _require(numbers.dtype.kind == "f", "the array numbers does not hold doubles")
    _require(start == numbers.size, f"the labels use {start} of {numbers.size} numbers")
    _check_counts(flat, rows, names, all_labels)
    settings, squares = _settings(header, all_labels[0]), arrays.get("squares")
    if squares is not None:
        _check_squares(squares, flat, settings)
    return {
        "target": target,
        "classes": all_labels[0],
        "features": names,
        "labels": tuple(all_labels[1:]),
        "flat": flat,
        "rows": rows,
        "settings": settings,
        "squares": _rows(header.get("squares", 0.0)),
        "flat_squares": squares,
        "sources": tuple(_source(_object(record, "sources")) for record in _list(header, "sources", ())),
    }


def _settings(header: Header, classes: Labels) -> ReadingOptions:
    """The settings; if the target was cut, its labels have to be positions of ranges."""
    cuts = tuple(_list(header, "target_cuts", ())) or None
    if cuts is not None:
        positions = classes.numbers
        fits = classes.kind == NUMBER and classes.integral and bool(np.all((positions >= 0) & (positions <= len(cuts))))
        _require(fits, f"the classes are no places of the {len(cuts) + 1} ranges that target_cuts makes")
    weights = header.get("weights")
    named = None if weights is None else _text(weights, "weights")
    kind = header.get("weights_are")
    _require(kind is None or named is not None, "weights_are is given, but no column of weights")
    target_as = header.get("target_as")
    _require(target_as in (*TARGET_AS, None), f"target_as is {target_as!r}")
    missing, methods = _list(header, "missing_values"), _required(header, "discretize")
    return ReadingOptions.of(missing, methods, cuts, named, kind, target_as=target_as)


def _labels(record: Header, numbers: FloatArray, size: int, name: str) -> Labels:
    kind, texts = _required(record, "kind"), tuple(_list(record, "texts"))
    bits, instants = _whole(record.get("dropped_bits", 0), "dropped_bits"), record.get("instants", False)
    _require(kind in _KINDS, f"labels of {name!r} have the kind {kind!r}")
    for text in texts:
        _text(text, f"a label of {name!r}")
    _require(isinstance(instants, bool) and bits < _BITS, f"instants or dropped_bits of {name!r} is out of range")
    _require(kind == NUMBER or not (size or bits or instants), f"labels of {name!r} are not numbers, but have some")
    _require(kind != NUMBER or not texts, f"labels of {name!r} are numbers, but have texts")
    _require(kind != MANY or len(texts) < 2, f"labels of {name!r} were given up, but have {len(texts)} texts")
    _require(kind != BOOLEAN or {"false", "true"} >= set(texts), f"labels of {name!r} are not booleans")
    _require(numbers.size == size, f"there are not {size} numbers of {name!r}")
    rising = all(one < other for one, other in pairwise(texts)) and bool(np.all(numbers[1:] > numbers[:-1]))
    _require(rising and not np.isnan(numbers).any(), f"labels of {name!r} are repeated, or not in order")
    return Labels(kind, texts, numbers, bits, instants)


def _check_counts(flat: AnyArray, rows: float, names: tuple[str, ...], all_labels: list[Labels]) -> None:
    """Refuse counts that do not fill their blocks, or that do not match the number of rows."""
    height = len(all_labels[0]) + 1
    sizes = [height * (len(labels) + 1) for labels in all_labels[1:]]
    _require(sum(sizes) == flat.size, f"{flat.size} counts do not fill {sum(sizes)} cells")
    _require(bool(np.all(np.isfinite(flat) & (flat >= 0))), "counts are negative, or not numbers")
    if flat.dtype.kind == "f" or not names:  # sums of weights are rounded, and drift when some are subtracted
        return
    _require(isinstance(rows, int), f"rows is {rows!r}, but counts are whole numbers")
    for name, total in zip(names, np.add.reduceat(flat, np.cumsum([0, *sizes[:-1]]), dtype=np.float64), strict=True):
        _require(
            math.isclose(total, rows, rel_tol=_ROUNDING),
            f"counts of {name!r} are those of {total:.0f} rows, not {rows}",
        )


def _check_squares(squares: AnyArray, flat: AnyArray, settings: ReadingOptions) -> None:
    """Refuse squares of weights that do not belong to the counts."""
    _require(settings.weights is not None, "there are squares of weights, but no column of weights")
    _require(squares.dtype.kind == "f" and squares.size == flat.size, f"{squares.size} squares are not one per count")
    _require(bool(np.all(np.isfinite(squares) & (squares >= 0.0))), "squares are negative, or not numbers")
    _require(not squares[flat == 0].any(), "there are squares in cells without a count")


def _source(record: Header) -> CountedFile:
    source = CountedFile(**{name: record[name] for name in CountedFile.__dataclass_fields__ if name in record})
    for text in (source.path, source.digest):
        _text(text, "the path or digest of a source")
    _whole(source.size, "the size of a source")
    _require(isinstance(source.modified, int), "the time of a source is not a whole number")
    _require(isinstance(source.unfinished, bool), "unfinished of a source is not a boolean")
    return source


def _rows(rows: Value) -> int | float:
    is_number = isinstance(rows, int | float) and not isinstance(rows, bool)
    _require(is_number and 0 <= rows < _MAX_ROWS, f"rows is {_short(rows)}")  # false for NaN
    result: int | float = rows
    return result


def _required(record: Header, name: str) -> Value:
    _require(name in record, f"{name} is absent")
    return record[name]


def _list(record: Header, name: str, default: Value = None) -> Value:
    values = _required(record, name) if default is None else record.get(name, default)
    _require(isinstance(values, list | tuple), f"{name} is no list")
    return values


def _object(value: Value, name: str) -> Record:
    _require(isinstance(value, dict), f"{name} is, or holds, {_short(value)}")
    result: Record = value
    return result


def _text(value: Value, name: str) -> str:
    _require(isinstance(value, str), f"{name} is {_short(value)}, not text")
    text: str = value
    _require(text.isascii() or _is_unicode(text), f"{name} has half a character")
    return text


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: Value, name: str) -> int:
    _require(isinstance(value, int) and not isinstance(value, bool) and value >= 0, f"{name} is {_short(value)}")
    result: int = value
    return result


def _short(value: Value) -> str:
    """A value of any size for a message."""
    if isinstance(value, int) and abs(value) >= _MAX_ROWS:  # Python limits the length of whole numbers that it writes
        return "a number that is far too large"
    return f"a {type(value).__name__}" if isinstance(value, list | dict) else repr(value)[:80]


def _require(holds: bool, fault: str) -> None:  # noqa: FBT001  (read as: require that it holds)
    if not holds:
        raise FaultError(fault)
