"""What a result shows, whatever the medium: `Section`s of lines and tables, and the kinds of columns that tables have.

A result yields sections (`Result.sections`); `text`, `notebook` and `page` turn them into what a terminal, a notebook
and a browser show. A kind of column knows its heading, its digits, its units, and on which side its cells are aligned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.results.sentences import COMMAND_LINE, NO_NAME, PYTHON, whole_if_many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from credimi.core.types import Record

NATS, BITS = "nats", "bits"
MEDIA = ("text", "notebook", "page")
MOST_ROWS = 60  # of a table, where nobody asked for a number
_WIDE_TERMINAL = 130


@dataclass(frozen=True, slots=True)
class Shown:
    """For whom a result is shown ("python" or "command line"), in which units, and how many rows of each table.

    With `verbose`, what is the same for most results is said, too: the method, how numbers are read, what a claim is.
    `top` is None for as many rows as usual, 0 for all.
    """

    reader: str = PYTHON
    units: str = NATS
    top: int | None = None
    width: int = 120  # of the terminal
    reasons: bool = True  # of each node of a tree
    effects: bool = False  # what the values of ranked columns mean
    verbose: bool = False

    @property
    def scale(self) -> float:
        """What nats are multiplied by."""
        return in_units(1.0, self.units)

    def rows_of(self, total: int, most: int = MOST_ROWS) -> int:
        """How many of so many rows are shown."""
        return min(total, most if self.top is None else self.top or total)

    @property
    def to_see_all(self) -> str:
        """How to see all rows, after words on those that are shown, if nobody asked for a number."""
        return " (--top 0 shows all)" if self.top is None and self.reader == COMMAND_LINE else ""

    @property
    def wide(self) -> bool:
        """Whether the terminal has room for sentences in tables."""
        return self.width >= _WIDE_TERMINAL


IN_PYTHON = Shown()


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column of a table.

    `text` gives a cell, `html` the content of a cell on pages, if that is more than the text. Where not all columns
    fit, those of the largest `importance` are left out first; all columns of importance 0 stay. `sized` gives cells for
    any width, such as bars. `media` are those that have the column, if not all have it.
    """

    heading: str
    text: Callable[[Record], str]
    right: bool = True
    importance: int = 0
    html: Callable[[Record], str] | None = None
    kind: str = "number"  # number, name, verdict, words, or whole: numbers with a heading on one line
    sized: Callable[[Record, int], str] | None = None
    media: tuple[str, ...] = MEDIA
    heading_html: str | None = None

    def cell(self, row: Record) -> str:
        """The HTML of a cell."""
        content = escape(plain(self.text(row))) if self.html is None else self.html(row)
        if self.kind == "name":
            return f'<th scope="row"><bdi>{content}</bdi></th>'
        return f'<td class="{_CSS[self.kind]}">{content}</td>' if self.kind in _CSS else f"<td>{content}</td>"

    def head(self) -> str:
        """The HTML of the heading."""
        css = {"whole": ' class="number whole"', "number": ' class="number"'}.get(self.kind, "")
        content = escape(plain(self.heading)) if self.heading_html is None else self.heading_html
        return f'<th scope="col"{css}>{content}</th>'


_CSS = {"number": "number", "whole": "number", "verdict": "verdict"}


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A part of what is shown: a line, cautions, a table, lines below it.

    `colours` has the colour of each verdict in a terminal; it is the class of the row on pages. `most` is how many rows
    are shown where nobody asked for a number. `heading` and `html` are of pages: what stands above the table there.
    """

    lead: str = ""
    columns: Sequence[Column] = ()
    rows: Sequence[Record] = ()
    lines: Sequence[str] = ()
    colours: Mapping[str, str] = field(default_factory=dict)
    most: int = MOST_ROWS
    count: int | None = None  # of all rows, if `rows` has only the first
    more: bool = True  # whether a line says how many rows are not shown
    heading: str | None = None
    html: Callable[[], str] | None = None
    picture: Callable[[], str] | None = None  # what notebooks show first: HTML that needs no style sheet
    css: str = ""  # of the table
    wraps: bool = True  # whether lines end where the terminal does
    whole: bool = False  # whether all rows are shown, whatever number of rows was asked for
    above: Sequence[str] = ()  # lines between the lead and the table: the weightiest cautions

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self.rows) if self.count is None else self.count

    def limit(self, shown: Shown) -> int:
        """How many rows a terminal or a notebook shows."""
        return len(self.rows) if self.whole else shown.rows_of(self.total, self.most)


def in_units(nats: float, units: str) -> float:
    """Information in these units."""
    return nats / math.log(2.0) if units == BITS else nats


def words(heading: str, text: Callable[[Record], str], importance: int = 0) -> Column:
    """A column of sentences or other texts."""
    return Column(heading, text, right=False, importance=importance, kind="words")


def name(field: str = "feature", heading: str | None = None, html: Callable[[Record], str] | None = None) -> Column:
    """The name of a column of the data."""
    heading = field if heading is None else heading
    return Column(heading, lambda row: row[field] or NO_NAME, right=False, kind="name", html=html)


def nats(
    field: str, heading: str, scale: float = 1.0, importance: int = 0, *, show: Callable[[float], str] | None = None
) -> Column:
    """An amount of information, in four digits."""
    return Column(
        heading, lambda row: _known(row[field], lambda value: (show or _four)(value * scale)), importance=importance
    )


def interval(
    heading: str,
    low: str = "low",
    high: str = "high",
    scale: float = 1.0,
    importance: int = 0,
    *,
    show: Callable[[float], str] | None = None,
) -> Column:
    """Both ends of an interval."""
    digits = show or _four

    def text(row: Record) -> str:
        return _known(row[low], lambda value: f"{digits(value * scale)} to {digits(row[high] * scale)}")

    return Column(heading, text, right=False, importance=importance, kind="whole")


def tail(field: str, heading: str, importance: int = 0, *, right: bool = True, spread: str = "") -> Column:
    """The probability of a tail; certain only where the distribution has no spread: an interval, or the field named."""

    def text(row: Record) -> str:
        return _known(row[field], lambda value: probability(value, row[spread] if spread else row["high"] - row["low"]))

    return Column(heading, text, importance=importance, right=right)


def count(field: str, heading: str | None = None, importance: int = 0) -> Column:
    """A number of rows, which may be a sum of weights."""
    return Column(
        field if heading is None else heading, lambda row: f"{whole_if_many(row[field]):,}", importance=importance
    )


def verdict(
    text: Callable[[Record], str] = lambda row: str(row["verdict"]),
    media: tuple[str, ...] = MEDIA,
    html: Callable[[Record], str] | None = None,
) -> Column:
    """What was decided."""
    return Column("verdict", text, right=False, kind="verdict", media=media, html=html)


def share(field: str, heading: str, importance: int = 0) -> Column:
    """A share in percent."""
    return Column(heading, lambda row: percent(row.get(field, math.nan)), importance=importance)


def _known(value: float | None, text: Callable[[float], str]) -> str:
    return "" if value is None or math.isnan(value) else text(value)


def _four(value: float) -> str:
    return f"{value:.4f}"


def signed(value: float) -> str:
    """Four digits with a sign, unless all are 0."""
    shown = f"{value:+.4f}"
    return shown if float(shown) else "0.0000"


def probability(value: float, std: float) -> str:
    """Four digits of a probability of a tail. Beyond that, only a distribution without spread is certain."""
    if std > 0.0 and value > 0.9999:
        return "> 0.9999"
    return "< 0.0001" if std > 0.0 and value < 0.0001 else f"{value:.4f}"


def percent(part: float) -> str:
    """A share of the target's entropy; three digits."""
    return "" if math.isnan(part) else f"{100 * part:.1f}" if part < 0.9995 else "100"


def above(settings: Record, units: str = NATS, what: str = "I >") -> str:
    """The heading of P(I > epsilon): epsilon is always in nats, which is said if the figures beside it are not."""
    return f"P({'>' if 'epsilon_share' in settings else what} {threshold(settings, units)})"


def threshold(settings: Record, units: str = NATS) -> str:
    """Epsilon: a share of the target's entropy, or nats, which is said if the information beside has another unit."""
    if "epsilon_share" in settings:
        return str(settings["epsilon_share"]).replace("%", " %")
    return f"{settings['epsilon']:g}{' nats' if units != NATS else ''}"


def meaning_of_share(settings: Record, of: str = "of the target's entropy, at most of log 2") -> str:
    """What a share is in nats, as a part of a sentence; empty if epsilon was given in nats."""
    of = "of log 2" if settings.get("target_as") == "number" else of
    return f"{threshold(settings)} {of}: {settings['epsilon']:.3g} nats" if "epsilon_share" in settings else ""


def level_interval(settings: Record) -> str:
    """The heading of a credible interval."""
    return f"{100 * settings['level']:g} % interval"
