"""A ranking as a table for the terminal: rank, feature, interval as a bar, P(I > epsilon), verdict.

Other results are shown with `text_table`, `text_line` and `printed`, too.
"""

from __future__ import annotations

import io
import math
from itertools import islice
from typing import TYPE_CHECKING, Literal

from credimi.core.atomic_files import plain
from credimi.results import sentences
from credimi.results.names import shorten_distinctly
from credimi.results.text import GAP
from credimi.results.text import Cells as Column
from credimi.results.text import Lines as ColouredLines

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record, Value
    from credimi.results.shown import ShownRanking

_SHORT_BAR, _BAR, _LONG_BAR = 6, 12, 24
MIN_NAME_WIDTH = 14  # columns of the terminal for long names; other columns of the table are left out first
_VALUES_WIDTH = 20  # columns of the terminal for how each feature was read
_WIDE_TERMINAL = 130
_MAX_LINES = 60  # of a ranking that is printed in Python
_COLOUR = {"keep": "green", "unsure": "yellow", "drop": "dim", "not ranked": "dim"}


def probability(value: float, std: float) -> str:
    """Four digits of P(I > epsilon). Beyond that, only a distribution without spread is certain."""
    if std > 0.0 and value > 0.9999:
        return "> 0.9999"
    return "< 0.0001" if std > 0.0 and value < 0.0001 else f"{value:.4f}"


def ranking_text(ranking: ShownRanking, *, units: str = "nats", width: int = 120) -> str:
    """The ranking as plain text."""
    return printed(ranking_grid(ranking, units=units, width=width, top=_MAX_LINES), width)


def printed(parts: Iterable[ColouredLines | Grid | Text], width: int) -> str:
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
    """A table. `right`: columns aligned at the right; `unbroken`: columns on one line; `widths`: minimum widths."""
    from rich import box  # noqa: PLC0415  (rich is loaded only to print)
    from rich.table import Table as Grid  # noqa: PLC0415  (rich is loaded only to print)

    title_line = text_line(title) if title else None
    grid = Grid(title=title_line, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, **layout)
    for heading in headings:
        grid.add_column(
            heading,
            justify="right" if heading in right else "left",
            no_wrap=heading in unbroken,
            overflow=overflow,
            min_width=(widths or {}).get(heading),
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


def ranking_grid(
    ranking: ShownRanking,
    *,
    units: str = "nats",
    top: int | None = None,
    width: int = 120,
) -> Iterator[ColouredLines | Text]:
    """The title, the table and the lines below it, for rich to print."""
    yield text_line(_title(ranking, units))
    rows = list(islice(ranking, top))
    largest = max((row["high"] for row in ranking if not math.isnan(row["high"])), default=0.0)
    columns = _columns_that_fit(rows, ranking.settings, units, width, largest)
    is_wide = width >= _WIDE_TERMINAL
    if is_wide:
        facts = ranking.facts or (None,) * len(ranking)  # None for a ranking that was made by hand
        notes = [_values(row, fact, ranking.reader) for row, fact in zip(rows, facts, strict=False)]
        columns["values"] = Column("values", list(map(plain, notes)), wraps=True)
    yield ColouredLines(list(columns.values()), [_COLOUR[row["verdict"]] for row in rows])
    for remark in _remarks(ranking, rows, units, narrow=not is_wide):
        yield text_line(remark)


def _columns_that_fit(
    rows: Sequence[Record], settings: Record, units: str, width: int, largest: float
) -> dict[str, Column]:
    """The columns that fit into the width. Names are shortened to the room that is left; bars come last."""
    from rich.cells import cell_len  # noqa: PLC0415  (rich is loaded only to print)

    columns = _all_columns(rows, settings, units)
    names = columns["feature"].cells
    longest = max(map(cell_len, [*names, "feature"]))
    optional = ["interval", *(["robust"] if "factor" in settings else []), "tail", "complete", "share"]
    room = width - min(longest, MIN_NAME_WIDTH) - (_VALUES_WIDTH + GAP) * (width >= _WIDE_TERMINAL)
    room -= sum(columns[name].width + GAP for name in ("#", "mi", "verdict"))
    chosen = {"#", "feature", "mi", "verdict"}
    for name in optional:
        if columns[name].width + GAP > room:
            break
        chosen.add(name)
        room -= columns[name].width + GAP
    if room >= _SHORT_BAR + GAP and "share" in chosen:
        left = room - GAP - max(longest - MIN_NAME_WIDTH, 0)  # what is left after whole names
        length = max(min(left, _LONG_BAR if width >= _WIDE_TERMINAL else _BAR), _SHORT_BAR)
        columns["bar"] = _column_of_ranked(rows, "", lambda row: _bar(row, largest, length), right=False)
        chosen.add("bar")
        room -= length + GAP
    columns["feature"] = Column("feature", shorten_distinctly(names, min(longest, MIN_NAME_WIDTH) + max(room, 0)))
    return {name: cells for name, cells in columns.items() if name in chosen}


def _all_columns(rows: Sequence[Record], settings: Record, units: str) -> dict[str, Column]:
    """All columns in their order; that of the bars is empty, as their length depends on the others."""
    scale = 1.0 / math.log(2.0) if units == "bits" else 1.0
    positions = [str(position) if _is_ranked(row) else "" for position, row in enumerate(rows, 1)]
    columns = {
        "#": Column("#", positions, right=True),
        "feature": Column("feature", [plain(row["feature"]) or sentences.NO_NAME for row in rows]),
        "mi": _column_of_ranked(rows, units, lambda row: f"{row['mi'] * scale:.4f}"),
        "share": _column_of_ranked(rows, "%", lambda row: percent(row.get("entropy_share", math.nan))),
        "interval": _column_of_ranked(
            rows,
            f"{100 * settings['level']:g} % interval",
            lambda row: f"{row['low'] * scale:.4f} to {row['high'] * scale:.4f}",
            right=False,
        ),
        "bar": Column("", []),
        "tail": _column_of_ranked(
            rows, f"P(I > {threshold(settings, units)})", lambda row: probability(row["p_above"], row["std"])
        ),
        "robust": Column("", []),
        "verdict": Column("verdict", [sentences.verdict_with_factor(row) for row in rows]),
        "complete": Column("complete", [f"{row['complete']:,}" for row in rows], right=True),
    }
    if "factor" in settings:
        columns["robust"] = _column_of_ranked(
            rows,
            f"at factor {settings['factor']:g}",
            lambda row: f"{row['robust_low'] * scale:.4f} to {row['robust_high'] * scale:.4f}",
            right=False,
        )
    return columns


def _column_of_ranked(
    rows: Sequence[Record], head: str, text: Callable[[Record], str], *, right: bool = True
) -> Column:
    """A column that is empty for features that were not ranked."""
    return Column(head, [text(row) if _is_ranked(row) else "" for row in rows], right)


def _is_ranked(row: Record) -> bool:
    return not math.isnan(row["mi"])


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
    rows = sentences.rows_in_words(ranking.rows, ranking.rows_with_target)
    return f"What informs about {ranking.target or sentences.NO_NAME} ({classes}): {rows}"


def _values(row: Record, facts: Record | None, reader: str) -> str:
    return str(row["note"]) if facts is None else sentences.short_note(facts, row["values"], reader)


def _bar(row: Record, largest: float, length: int) -> str:
    """The interval as a line on a scale from 0 to `largest`, the mean as a dot on it."""
    if largest <= 0.0:
        return ""
    low, mean, high = (
        min(length - 1, max(0, round(row[name] / largest * (length - 1)))) for name in ("low", "mi", "high")
    )
    line = "".join("─" if low <= position <= high else " " for position in range(length))
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
            fact
            for row, fact in zip(shown, ranking.facts, strict=False)
            if row["verdict"] == "not ranked" or row["values"] < 2
        ]
        yield from sentences.unranked_lines(facts, ranking.reader)
