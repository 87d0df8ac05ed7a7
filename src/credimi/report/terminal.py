"""A ranking as a table for the terminal: rank, feature, interval as a bar, P(I > epsilon), verdict.

`text_table`, `text_line` and `printed` are what other results are shown with.
"""

from __future__ import annotations

import io
import math
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from credimi.core.atomic_files import plain
from credimi.report import sentences
from credimi.report.names import told_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record, Value
    from credimi.report.shown import ShownRanking

_SHORT_BAR, _BAR, _LONG_BAR = 6, 12, 24
LEAST_NAME = 14  # least columns of a terminal for long names; less important things give way
_VALUES = 20  # columns for how each feature was read
_ROOM_FOR_ALL = 130
GAP = 2  # columns between two of the table
_LINES = 60  # of a ranking that is printed in Python
_COLOUR = {"keep": "green", "unsure": "yellow", "drop": "dim", "not ranked": "dim"}


def probability(value: float, std: float) -> str:
    """Four digits of P(I > epsilon). Beyond that, only a distribution without spread is certain."""
    if std > 0.0 and value > 0.9999:
        return "> 0.9999"
    return "< 0.0001" if std > 0.0 and value < 0.0001 else f"{value:.4f}"


def ranking_text(ranking: ShownRanking, *, units: str = "nats", width: int = 120) -> str:
    """The ranking as plain text."""
    return printed(ranking_grid(ranking, units=units, width=width, top=_LINES), width)


def printed(parts: Iterable[Grid | Text], width: int) -> str:
    """Tables and lines as plain text."""
    from rich.console import Console  # noqa: PLC0415  (rich is loaded only to print)

    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    return without_trailing_blanks(capture.get()).rstrip("\n")


def text_line(words: str) -> Text:
    """One line as it is: in a plain str, rich would read markup, and :names: as pictures."""
    from rich.text import Text  # noqa: PLC0415  (rich is loaded only to print)

    return Text(plain(words))


def text_table(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Container[str] = (),
    unbroken: Container[str] = (),
    widths: Mapping[str, int] | None = None,
    overflow: Literal["fold", "ellipsis"] = "fold",
    **layout: Value,
) -> Grid:
    """A table: which columns end at the `right`, which are on one line (`unbroken`), the least widths of some."""
    from rich import box  # noqa: PLC0415  (rich is loaded only to print)
    from rich.table import Table as Grid  # noqa: PLC0415  (rich is loaded only to print)

    shown = text_line(title) if title else None
    grid = Grid(title=shown, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, **layout)
    for each in headings:
        grid.add_column(
            each,
            justify="right" if each in right else "left",
            no_wrap=each in unbroken,
            overflow=overflow,
            min_width=(widths or {}).get(each),
        )
    for row in rows:
        grid.add_row(*map(text_line, row))
    return grid


def and_more(total: int, shown: int) -> Iterator[Text]:
    """A line that says how many are not shown, if any."""
    if total > shown:
        yield text_line(f"... and {total - shown:,} more")


def without_trailing_blanks(text: str) -> str:
    """The same lines; those of tables are padded with blanks."""
    return "\n".join(line.rstrip(" ") for line in text.split("\n"))


class Column(NamedTuple):
    """One column of the table."""

    head: str
    cells: Sequence[str]
    right: bool = False  # where its cells end
    wraps: bool = False  # whether cells may take several lines

    @property
    def width(self) -> int:
        """Columns of the terminal that it takes."""
        from rich.cells import cell_len  # noqa: PLC0415  (rich is loaded only to print)

        return max(map(cell_len, (self.head, *self.cells)))


def ranking_grid(
    ranking: ShownRanking,
    *,
    units: str = "nats",
    top: int | None = None,
    width: int = 120,
) -> Iterator[Grid | Text]:
    """The title, the table and the lines below it, for rich to print."""
    yield text_line(_title(ranking, units))
    rows = list(islice(ranking, top))
    most = max((row["high"] for row in ranking if not math.isnan(row["high"])), default=0.0)
    columns = _fitting(rows, ranking.settings, units, width, most)
    everything = width >= _ROOM_FOR_ALL
    if everything:
        facts = ranking.facts or (None,) * len(ranking)  # None for a ranking that was made by hand
        notes = [_values(row, known, ranking.reader) for row, known in zip(rows, facts, strict=False)]
        columns["values"] = Column("values", list(map(plain, notes)), wraps=True)
    yield coloured_grid(list(columns.values()), [_COLOUR[row["verdict"]] for row in rows])
    for remark in _remarks(ranking, rows, units, narrow=not everything):
        yield text_line(remark)


def coloured_grid(columns: Sequence[Column], colours: Iterable[str]) -> Grid:
    """The columns side by side, each line in its colour."""
    from rich import box  # noqa: PLC0415  (rich is loaded only to print)
    from rich.table import Table as Grid  # noqa: PLC0415  (rich is loaded only to print)
    from rich.text import Text  # noqa: PLC0415  (a plain str would be read as markup, and :names: as pictures)

    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_edge=False)
    for column in columns:
        justify: Literal["right", "left"] = "right" if column.right else "left"
        grid.add_column(Text(column.head), justify=justify, no_wrap=not column.wraps, overflow="fold")
    for colour, *cells in zip(colours, *(column.cells for column in columns), strict=True):
        grid.add_row(*map(Text, cells), style=colour)
    return grid


def _fitting(rows: Sequence[Record], settings: Record, units: str, width: int, most: float) -> dict[str, Column]:
    """The columns that there is room for, and the names as long as they may be; bars get what is left."""
    from rich.cells import cell_len  # noqa: PLC0415  (rich is loaded only to print)

    names = [plain(row["feature"]) or sentences.NO_NAME for row in rows]
    scale, longest = 1.0 / math.log(2.0) if units == "bits" else 1.0, max(map(cell_len, [*names, "feature"]))
    known = [not math.isnan(row["mi"]) for row in rows]

    def column(head: str, text: Callable[[Record], str], *, right: bool = True) -> Column:
        return Column(head, [text(row) if is_known else "" for row, is_known in zip(rows, known, strict=True)], right)

    found = {
        "#": Column("#", [str(place) if is_known else "" for place, is_known in enumerate(known, 1)], right=True),
        "feature": Column("feature", names),
        "mi": column(units, lambda row: f"{row['mi'] * scale:.4f}"),
        "share": column("%", lambda row: percent(row.get("entropy_share", math.nan))),
        "interval": column(
            f"{100 * settings['level']:g} % interval",
            lambda row: f"{row['low'] * scale:.4f} to {row['high'] * scale:.4f}",
            right=False,
        ),
        "bar": Column("", []),
        "tail": column(f"P(I > {threshold(settings, units)})", lambda row: probability(row["p_above"], row["std"])),
        "robust": Column("", []),
        "verdict": Column("verdict", [sentences.standing(row) for row in rows]),
        "complete": Column("complete", [f"{row['complete']:,}" for row in rows], right=True),
    }
    optional = ["interval", "tail", "complete", "share"]
    if "factor" in settings:
        optional.insert(1, "robust")
        found["robust"] = column(
            f"at factor {settings['factor']:g}",
            lambda row: f"{row['robust_low'] * scale:.4f} to {row['robust_high'] * scale:.4f}",
            right=False,
        )
    room = width - min(longest, LEAST_NAME) - (_VALUES + GAP) * (width >= _ROOM_FOR_ALL)
    room -= sum(found[name].width + GAP for name in ("#", "mi", "verdict"))
    chosen = {"#", "feature", "mi", "verdict"}
    for name in optional:
        if found[name].width + GAP > room:
            break
        chosen.add(name)
        room -= found[name].width + GAP
    if room >= _SHORT_BAR + GAP and "share" in chosen:
        left = room - GAP - max(longest - LEAST_NAME, 0)  # once names are whole
        length = max(min(left, _LONG_BAR if width >= _ROOM_FOR_ALL else _BAR), _SHORT_BAR)
        found["bar"] = column("", lambda row: _bar(row, most, length), right=False)
        chosen.add("bar")
        room -= length + GAP
    found["feature"] = Column("feature", told_apart(names, min(longest, LEAST_NAME) + max(room, 0)))
    return {name: each for name, each in found.items() if name in chosen}


def verdict_counts(verdicts: Sequence[str], order: Iterable[str], shown: int) -> str:
    """How many features have each verdict, and how many lines are shown, if not all."""
    counted = ", ".join(f"{verdicts.count(each):,} {each}" for each in order if each in verdicts)
    number = f" {shown:,}" if shown > 1 else ""
    fewer = f"; the first{number} shown" if shown < len(verdicts) else ""
    return f"{sentences.counted(len(verdicts), 'feature')}: {counted or 'none'}{fewer}"


def threshold(settings: Record, units: str) -> str:
    """Epsilon, with its unit if the information beside it has another one: epsilon is always in nats."""
    return f"{settings['epsilon']:g}{' nats' if units != 'nats' else ''}"


def percent(share: float) -> str:
    """A share of the target's entropy; three digits."""
    return "" if math.isnan(share) else f"{100 * share:.1f}" if share < 0.9995 else "100"


def _title(ranking: ShownRanking, units: str) -> str:
    classes = ", ".join(ranking.classes[:6]) + (", ..." if len(ranking.classes) > 6 else "")
    if not math.isnan(ranking.entropy):  # it is known if there is at least one feature
        classes += f"; entropy {ranking.entropy / (math.log(2.0) if units == 'bits' else 1.0):.4f} {units}"
    rows = sentences.rows_told(ranking.rows, ranking.rows_with_target)
    return f"What informs about {ranking.target or sentences.NO_NAME} ({classes}): {rows}"


def _values(row: Record, facts: Record | None, reader: str) -> str:
    return str(row["note"]) if facts is None else sentences.short_note(facts, row["values"], reader)


def _bar(row: Record, most: float, length: int) -> str:
    """The interval as a line on the scale of the largest, the mean as a dot on it."""
    if most <= 0.0:
        return ""
    low, mean, high = (
        min(length - 1, max(0, round(row[name] / most * (length - 1)))) for name in ("low", "mi", "high")
    )
    line = "".join("─" if low <= place <= high else " " for place in range(length))
    return line[:mean] + "●" + line[mean + 1 :]


def _remarks(ranking: ShownRanking, shown: Sequence[Record], units: str, *, narrow: bool) -> Iterator[str]:
    settings = ranking.settings
    yield verdict_counts(ranking.columns["verdict"], _COLOUR, len(shown))
    level, method = f"{settings['level']:g}", f"prior {settings['prior']}, approximation {settings['approximation']}"
    keep = f"keep: P(I > {settings['epsilon']:g} nats) >= {level}"
    yield f"{keep}; drop: P(I <= {threshold(settings, units)}) >= {level}; {method}"
    if "factor" in settings:
        yield (
            "up to Gx: the verdict stands if the odds of being missing differ at most G-fold between the values of a "
            "feature"
        )
    yield from ranking.remark_lines(units=units)
    if narrow:
        facts = [
            known
            for row, known in zip(shown, ranking.facts, strict=False)
            if row["verdict"] == "not ranked" or row["values"] < 2
        ]
        yield from sentences.unranked_lines(facts, ranking.reader)
