"""`Result`: what every answer can do: rows as records and as tables, text, notebook, page, JSON, CSV, saved files.

A question's result says what its rows are (`columns`, or `rows_as_records` if it holds records), what JSON has
(`to_dict`) and what is shown (`sections`); all else is here.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from functools import cached_property
from io import StringIO
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, overload

from credimi.core.arguments import require_whole, similar
from credimi.core.atomic_files import write_bytes
from credimi.core.errors import CredimiError
from credimi.core.optional import frame_library
from credimi.core.public import public
from credimi.results import export, figures, remark_sentences, saved, sentences
from credimi.results.section import IN_PYTHON, NATS, Shown, in_units
from credimi.results.sentences import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import ModuleType

    import pyarrow as pa
    from matplotlib.axes import Axes

    from credimi.core.types import Foreign, Record, Value
    from credimi.results.remarks import Remark
    from credimi.results.section import Section

_CAUTIONS_ABOVE = 3  # above the table
_USUAL = {"averaged_over_cuts", "cut_into_ranges"}  # kinds of remarks that are true of most results


@public
class Result(saved.Saved):  # noqa: PLW1641  (results are compared, never keys)
    """What every question of credimi returns: rows with figures, and how they are shown, exported and stored.

    `len`, iteration and `[name]` give rows as dictionaries; a row is found by its name, by its index, or, if rows are
    pairs of columns, by both names. `settings` has the options, `remarks` what may mislead.
    """

    _key: ClassVar[tuple[str, ...]] = ("feature",)  # the columns that name a row
    _called: ClassVar[str] = "result"
    _whole_numbers: ClassVar[tuple[str, ...]] = ()  # columns that may hold only None, which has no type
    _information: ClassVar[tuple[str, ...]] = ()  # columns in nats
    rows_in_json: ClassVar[str] = "features"
    _remarked: ClassVar[str] = remark_sentences.RANKING  # what remarks are about: a selection has other options
    _styles: ClassVar[tuple[str, ...]] = ("tables.css",)
    _view: ClassVar[ModuleType]  # the question's `view.py`: the `sections` of a result, and its `plot`
    columns: dict[str, list[Value]]
    settings: Record
    remarks: Sequence[Remark]
    _names: Mapping[str, Value] = {}

    def to_dict(self, *, reader: str = PYTHON, units: str = NATS) -> Record:
        """The content of JSON, as plain data; remarks are worded for "python" (arguments) or "command line"."""
        raise NotImplementedError

    def sections(self, shown: Shown = IN_PYTHON) -> Iterator[Section]:
        """What is shown, in every medium."""
        yield from self._view.sections(self, shown)

    def _plotted(self, path: str | Path | None, ax: Axes | None = None, **chosen: Value) -> Axes:
        """What the question draws; also in a file, if one is named, of which a wrong ending is refused at once."""
        if "top" in chosen and chosen["top"] < 1:
            raise CredimiError(f"top is {chosen['top']!r}: plot at least one row")
        return figures.drawn(lambda axes: self._view.plot(self, axes, **chosen), path, ax)

    def __len__(self) -> int:
        return len(self.columns[self._key[0]])

    def __iter__(self) -> Iterator[Record]:
        """The rows as dictionaries."""
        for row in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, row, strict=True))

    def __contains__(self, name: object) -> bool:
        """Whether there is a row of this name, as text or as the data have it; or such a row."""
        if isinstance(name, dict):
            return any(row == name for row in self)
        return self._place_of(name) is not None

    @overload
    def __getitem__(self, name: slice) -> list[Record]: ...

    @overload
    def __getitem__(self, name: Value) -> Record: ...

    def __getitem__(self, name: Value) -> Record | list[Record]:
        """One row: by its name in the data, by this name as text, or by its index, 0 for the first.

        If columns are named by numbers, as those of arrays are, a number is a name. A slice gives a list of rows.
        """
        if isinstance(name, slice):
            return self._records(name)
        place = self._place_of(name)
        if place is None and isinstance(name, Integral) and not isinstance(name, bool):
            if not -len(self) <= int(name) < len(self):
                what = f"{self._key[0]} {name}" if len(self._key) == 1 else f"pair {name}"
                raise CredimiError(f"the {self._called} has no {what}, and has {len(self):,} rows, counted from 0")
            place = int(name) % len(self)
        if place is None:
            raise CredimiError(self._unknown(name))
        return self._record(place)

    def _records(self, places: slice) -> list[Record]:
        return [self._record(place) for place in range(len(self))[places]]

    def _record(self, place: int) -> Record:
        return {column: values[place] for column, values in self.columns.items()}

    def _unknown(self, name: Value) -> str:
        """The error for a name that no row has, with the most similar one."""
        return f"the {self._called} has no {self._key[0] if len(self._key) == 1 else 'pair'} {name!r}{self._hint(name)}"

    def _hint(self, name: Value) -> str:
        """The names of rows that are most similar to an unknown one, or to the first part of it that is unknown."""
        names = [each for key in self._key for each in dict.fromkeys(self.columns[key]) if isinstance(each, str)]
        parts = name if isinstance(name, tuple) and len(name) == len(self._key) else (name,)
        wrong = next((part for part in parts if isinstance(part, str) and part not in names), "")
        near = list(dict.fromkeys(similar(wrong, names))) if wrong and len(parts) == len(self._key) else []
        return f": did you mean {' or '.join(map(repr, near))}?" if near else ""

    def _place_of(self, name: object) -> int | None:
        """The index of the row of this name."""
        if len(self._key) == 1:
            named = enumerate(self.columns[self._key[0]])
            return next((place for place, own in named if own == str(name) or self._names.get(own, own) == name), None)
        if not (isinstance(name, tuple) and len(name) == len(self._key)):
            return None
        wanted = {str(each) for each in name}
        pairs = enumerate(zip(*(self.columns[key] for key in self._key), strict=True))
        return next((place for place, pair in pairs if set(pair) == wanted), None)

    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    def head(self, count: int = 5) -> list[Record]:
        """The first rows as dictionaries."""
        require_whole("count", count, 0)
        return self[:count]

    def to_arrow(self) -> pa.Table:
        """A pyarrow Table."""
        import pyarrow as pa  # noqa: PLC0415  (pyarrow takes a while to load)

        columns = self.columns
        typed = {name: pa.array(columns[name], pa.int64()) for name in self._whole_numbers}
        return pa.table(columns | typed)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Foreign:
        """A pandas DataFrame."""
        frame_library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Foreign:
        """A polars DataFrame."""
        return frame_library("polars").from_arrow(self.to_arrow())

    def to_json(self, path: str | Path | None = None) -> str:
        """The content of `to_dict` as text; also into a file, if one is named."""
        return written(json.dumps(self.to_dict(), indent=2, ensure_ascii=False), path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The rows as CSV, in full precision; also into a file, if one is named."""
        text = StringIO()
        export.csv_writer(text).writerows(export.csv_lines(self.columns, self))
        return written(text.getvalue(), path)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self is other or saved.encoded(self) == saved.encoded(other)

    def to_html(self, path: str | Path | None = None, *, source: str | None = None, reader: str = PYTHON) -> str:
        """One HTML page to explore the result, offline.

        Parameters
        ----------
        path : path, optional
            The file to write; it is complete or absent.
        source : str, optional
            The name of the data that the page shows.
        reader : "python" or "command line"
            For whom sentences are written: with arguments, or with options.
        """
        return written(self._page(source, reader), path)

    def _page(self, source: str | None, reader: str) -> str:
        """The HTML of the page: that of the sections, unless the question has a page of its own."""
        from credimi.results.page import static_page  # noqa: PLC0415  (loaded only to write a page)

        target = getattr(self, "target", None)
        return static_page(self._title(), target, self._page_sections(Shown(reader)), self._styles, source)

    def _page_sections(self, shown: Shown) -> Iterator[Section]:
        """What the page shows."""
        return self.sections(shown)

    def _title(self) -> str:
        """The heading of the page."""
        return next(iter(self.sections())).lead

    def __repr__(self) -> str:
        from credimi.results.text import printed  # noqa: PLC0415  (rich is loaded only to print)

        return printed(self.sections())

    def _repr_html_(self) -> str:
        from credimi.results.notebook import sections_html  # noqa: PLC0415  (loaded only in notebooks)

        return sections_html(self.sections())

    def remark_lines(self, *, cautions: bool = False, units: str = NATS, reader: str = PYTHON) -> list[str]:
        """The remarks in words, one line for those of one kind; all of them, or only the cautions."""
        shown = [remark.to_dict(units) for remark in self.remarks if remark.caution or not cautions]
        return remark_sentences.lines(shown, reader, self._remarked)

    def cautions_first(self, shown: Shown) -> tuple[str, list[str], list[str]]:
        """The end of a headline, which counts the cautions; the weightiest ones, for above the table; other remarks."""
        remarks = [remark.to_dict(shown.units) for remark in self.remarks]
        cautions, others = (
            remark_sentences.lines(each, shown.reader, self._remarked)
            for each in (
                [each for each in remarks if each["caution"]],
                [each for each in remarks if not each["caution"] and (shown.verbose or each["kind"] not in _USUAL)],
            )
        )
        number = f"; {sentences.counted(len(cautions), 'caution')}" if cautions else ""
        return number, cautions[:_CAUTIONS_ABOVE], cautions[_CAUTIONS_ABOVE:] + others

    def _plain_rows(self, units: str = NATS) -> list[Record]:
        """The rows as JSON has them."""
        return self._as_json(self, units)

    def _as_json(self, rows: Iterable[Record], units: str = NATS) -> list[Record]:
        """Rows as JSON has them: NaN as None, infinity as text; information in these units."""
        rows = [{name: finite(value) for name, value in row.items()} for row in rows]
        if units != NATS:
            for row in rows:
                known = [name for name in self._information if isinstance(row.get(name), float)]
                row |= {name: in_units(row[name], units) for name in known}
        return rows

    def _settings(self, units: str = NATS) -> Record:
        """The settings as JSON has them."""
        plain = {name: finite(value) for name, value in self.settings.items()}
        if hasattr(self, "target"):
            plain["target"] = self.target
        return plain if units == NATS else plain | {"units": units, "epsilon_units": NATS}


class FeatureResult(Result):
    """A result with figures of features, one list for each, and the facts that the column `note` states in words."""

    _columns: ClassVar[tuple[str, ...]]  # their names, in order
    figures: dict[str, list[Value]]
    facts: dict[str, Record]

    @cached_property
    def columns(self) -> dict[str, list[Value]]:  # type: ignore[override]  # made of the figures
        """All columns as lists."""
        known = self.figures | {"note": self.notes()}
        return {name: known[name] for name in self._columns if name in known}

    def notes(self, reader: str = PYTHON) -> list[str]:
        """For each feature, how it was read, or what is wrong with it."""
        if "note" in self.figures:
            return self.figures["note"]
        return [sentences.note(self.facts[name], reader) for name in self.figures["feature"]]

    def _worded_rows(self, units: str, reader: str) -> list[Record]:
        """The rows as JSON has them, with notes for this reader."""
        rows = self._plain_rows(units)
        return [row | {"note": note} for row, note in zip(rows, self.notes(reader), strict=True)]


class RecordResult(Result):
    """A result that holds its rows as records: those of the attribute that `rows_in_json` names."""

    _row: ClassVar[type]  # the class of the records

    def rows_as_records(self) -> list[Record]:
        """The rows, as dictionaries."""
        return records_of(getattr(self, self.rows_in_json))

    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return names_of(self._row)

    @cached_property
    def columns(self) -> dict[str, list[Value]]:  # type: ignore[override]  # made of the records
        """The figures, one list for each."""
        rows = self.rows_as_records()
        return {name: [row[name] for row in rows] for name in self.column_names()}


def finite(value: Value) -> Value:
    """A value as JSON has it: NaN as None, infinity as text."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def written(text: str, path: str | Path | None) -> str:
    """The text; also in a file, if one is named."""
    if path is not None:
        write_bytes(text.encode(errors="backslashreplace"), path)
    return text


def records_of(rows: Any) -> list[Record]:  # noqa: ANN401  (dataclasses have no common type)
    """Dataclasses as dictionaries."""
    return [asdict(row) for row in rows]


def names_of(record: type) -> tuple[str, ...]:
    """The names of a dataclass's fields."""
    return tuple(each.name for each in fields(record))
