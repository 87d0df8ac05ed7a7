"""A ranking as a table for the terminal: rank, feature, a bar with its interval, P(I > epsilon), verdict."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Any

from credimi.core.atomic_files import plain
from credimi.core.shell_options import option

if TYPE_CHECKING:
    from collections.abc import Iterator

_BAR, _LONG_BAR = 12, 24
_ROOM_FOR_INTERVALS, _ROOM_FOR_TAILS = 56, 72  # columns of a terminal; a narrow one is for names and verdicts
_ROOM_FOR_COMPLETE = 90
_ROOM_FOR_BARS = 96
_ROOM_FOR_ALL = 130
_LINES = 60  # of a ranking that is printed in Python
_NEARLY_ALL = 0.9  # of the target's entropy
_MANY, _FEW_ROWS = 50, 20  # values, and rows of each, that look like identifiers of groups
_WRITTEN = re.compile(r"categories, not (?:numbers|dates): .* as in (.*) \(write ")
_MISSING = "missing_values, --missing TOKEN: for each that does, and then in all columns"
_COLOUR = {"keep": "green", "unsure": "yellow", "drop": "dim", "not ranked": "dim"}


def probability(value: float, std: float) -> str:
    """Four digits of P(I > epsilon); beyond them only a law without spread is certain."""
    if std > 0.0 and value > 0.9999:
        return "> 0.9999"
    return "< 0.0001" if std > 0.0 and value < 0.0001 else f"{value:.4f}"


def ranking_text(ranking: Any, *, units: str = "nats", width: int = 120) -> str:  # noqa: ANN401
    """The ranking as plain text."""
    from rich.console import Console  # noqa: PLC0415  (rich is loaded only to print)

    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        for part in ranking_grid(ranking, units=units, width=width, top=_LINES):
            console.print(part)
    return capture.get().rstrip("\n")


def ranking_grid(
    ranking: Any,  # noqa: ANN401
    *,
    units: str = "nats",
    top: int | None = None,
    width: int = 120,
) -> Iterator[Any]:
    """The table and the lines below it, for rich to print."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table as Grid  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415  (a plain str would be read as markup, and :names: as pictures)

    settings = ranking.settings
    scale = 1.0 / math.log(2.0) if units == "bits" else 1.0
    grid = Grid(
        title=Text(_title(ranking, units)),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        show_edge=False,
    )
    grid.add_column("#", justify="right")
    grid.add_column("feature", overflow="fold", min_width=12)
    grid.add_column(units, justify="right", no_wrap=True)
    intervals, tails = width >= _ROOM_FOR_INTERVALS, width >= _ROOM_FOR_TAILS
    if intervals:
        grid.add_column(f"{100 * settings['level']:g} % interval", no_wrap=True)
    bars, everything = width >= _ROOM_FOR_BARS, width >= _ROOM_FOR_ALL
    if bars:
        grid.add_column("", no_wrap=True)
    if tails:
        grid.add_column(f"P(I > {settings['epsilon']:g})", justify="right", no_wrap=True)
    grid.add_column("verdict", no_wrap=True)
    complete = width >= _ROOM_FOR_COMPLETE
    if complete:
        grid.add_column("complete", justify="right", no_wrap=True)
    if everything:
        grid.add_column("values", overflow="fold")
    most = max((row["high"] for row in ranking if not math.isnan(row["high"])), default=0.0)
    for place, row in enumerate(ranking, 1):
        if top is not None and place > top:
            break
        known = not math.isnan(row["mi"])
        cells: list[str | Text] = [
            str(place) if known else "",
            Text(plain(row["feature"]) or "(no name)"),
            f"{row['mi'] * scale:.4f}" if known else "",
        ]
        cells += [f"{row['low'] * scale:.4f} to {row['high'] * scale:.4f}" if known else ""] if intervals else []
        cells += [_bar(row, most, _LONG_BAR if everything else _BAR) if known else ""] if bars else []
        cells += [probability(row["p_above"], row["std"]) if known else ""] if tails else []
        cells += [row["verdict"]]
        cells += [f"{row['complete']:,}"] if complete else []
        cells += [Text(plain(_values(row)))] if everything else []
        grid.add_row(*cells, style=_COLOUR[row["verdict"]])
    yield grid
    for remark in _remarks(ranking, top, narrow=not everything):
        yield Text(plain(remark))


def _title(ranking: Any, units: str) -> str:  # noqa: ANN401
    classes = ", ".join(ranking.classes[:6]) + (", ..." if len(ranking.classes) > 6 else "")
    if not math.isnan(ranking.entropy):  # which is known if there is a feature to compare with it
        classes += f"; entropy {ranking.entropy / (math.log(2.0) if units == 'bits' else 1.0):.4f} {units}"
    return plain(f"What informs about {ranking.target} ({classes}), {ranking.rows:,} rows")


def _values(row: dict[str, Any]) -> str:
    note = str(row["note"])
    if row["verdict"] == "not ranked" or row["values"] < 2:
        return note
    return (
        f"{row['values']:,} ranges: {note.split(':', maxsplit=1)[0]}" if _is_cut(row) else f"{row['values']:,} {note}"
    )


def _is_cut(row: dict[str, Any]) -> bool:
    return bool(row["values"] > 1 and row["note"].startswith(("mdl,", "quantile,", "quarters,", "given cuts,")))


def _bar(row: dict[str, Any], most: float, length: int) -> str:
    """The interval as a line on the scale of the largest, the mean as a dot on it."""
    if most <= 0.0:
        return ""
    low, mean, high = (
        min(length - 1, max(0, round(row[name] / most * (length - 1)))) for name in ("low", "mi", "high")
    )
    line = "".join("─" if low <= place <= high else " " for place in range(length))
    return line[:mean] + "●" + line[mean + 1 :]


def _remarks(ranking: Any, top: int | None, *, narrow: bool) -> Iterator[str]:  # noqa: ANN401
    settings = ranking.settings
    rows = list(ranking)
    verdicts = [row["verdict"] for row in rows]
    counted = ", ".join(f"{verdicts.count(each):,} {each}" for each in _COLOUR if each in verdicts)
    shown = f"; the best {top:,} shown" if top is not None and top < len(rows) else ""
    yield f"{len(rows):,} {'feature' if len(rows) == 1 else 'features'}: {counted or 'none'}{shown}"
    yield (
        f"keep: P(I > {settings['epsilon']:g} nats) >= {settings['level']:g}; drop: P(I <= {settings['epsilon']:g}) >= "
        f"{settings['level']:g}; prior {settings['prior']}, approximation {settings['approximation']}"
    )
    yield from _cautions(ranking, rows)
    near = [row for row in rows if row["rows_to_decide"]]
    if near:
        told = ", ".join(f"{row['feature']} at about {row['rows_to_decide']:,} rows" for row in near[:3])
        yield f"unsure would be decided, if shares stay as they are: {told}{', ...' * (len(near) > 3)}"
    at_epsilon = [row["feature"] for row in rows if row["at_epsilon"]]
    if at_epsilon:
        told = ", ".join(at_epsilon[:3] + ["..."] * (len(at_epsilon) > 3))
        yield f"unsure, and no sample would decide, since I lies at epsilon: {told}"
    if narrow:
        for row in rows[: top or None]:
            if row["verdict"] == "not ranked" or row["values"] < 2:
                yield f"{row['feature'] or '(no name)'}: {row['note']}"
    if any(map(_is_cut, rows)):
        yield (
            "numbers were cut into ranges by what tells most of the target (mdl) or as asked; whole numbers of at most "
            "20 values are categories (see --discretize)"
        )


def _cautions(ranking: Any, rows: list[dict[str, Any]]) -> Iterator[str]:  # noqa: ANN401
    settings = ranking.settings
    yield from (f"caution: {doubt}" for doubt in ranking.doubts)
    doubtful = [row["feature"] for row in rows if row["keep_forward"] and _may_be_noise(row, ranking)]
    if doubtful and settings["prior"] != "adaptive":
        yield (
            f"caution: {len(doubtful):,} of those kept ({', '.join(doubtful[:3] + ['...'] * (len(doubtful) > 3))}) "
            "have too few rows for their values to be told from noise by this prior (--prior adaptive can)"
        )
    telling = [row for row in rows if row["missing_p_above"] >= settings["level"] and row["verdict"] != "not ranked"]
    if telling and settings["missing"] == "ignore":
        told = ", ".join(f"{row['feature']} ({row['missing_mi']:.4f} nats)" for row in telling[:3])
        yield (
            f"caution: where it is missing tells about the target: {told}{', ...' * (len(telling) > 3)}; holes are "
            "taken for values that are not known; to take them for a value: --missing-as category"
        )
    suspects = [row for row in rows if row["note"].endswith(" may mean missing")]
    if suspects:
        told = "; ".join(f"{row['feature']}: {_suspicion(row['note'])}" for row in suspects[:3])
        yield f"caution: {plain(told)}{'; ...' * (len(suspects) > 3)} ({_MISSING})"
    copies = [row["feature"] for row in rows if row["low"] > _NEARLY_ALL * ranking.entropy]
    if copies:
        yield (
            f"caution: {', '.join(copies[:3] + ['...'] * (len(copies) > 3))}: as good as the target itself; make sure "
            "that it is known before the target is (--exclude COLUMN)"
        )
    groups = [row for row in rows if row["verdict"] == "keep" and _may_name_groups(row)]
    if groups:
        told = "; ".join(
            f"{plain(row['feature'])} ({row['values']:,} values, {row['complete'] / row['values']:.2g} rows each)"
            for row in groups[:3]
        )
        yield (
            f"caution: so many values that they may name people or places rather than say something of them: {told}"
            f"{'; ...' * (len(groups) > 3)}; new ones will tell nothing (--exclude COLUMN)"
        )
    yield from _taken_for_text(rows)


def _suspicion(note: str) -> str:
    """What may mean missing; a note says it last."""
    return note.removeprefix("categories; ") if note.startswith("categories; ") else note.rpartition("; ")[2]


def _taken_for_text(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What columns of text look like, and how they would be read as such."""
    for why in ("decimal commas", "dates", "numerals"):
        texts = [row["feature"] for row in rows if row["note"] == f"categories, not numbers: {why}"]
        if texts:
            yield (
                f"caution: {', '.join(texts[:3] + ['...'] * (len(texts) > 3))}: {why} are taken for text; to cut them "
                f"as numbers: {option('--discretize', f'{texts[0]}=mdl')}"
            )
    written = [(row["feature"], match[1]) for row in rows if (match := _WRITTEN.match(row["note"]))]
    if written:
        told = ", ".join(f"{feature} ({example})" for feature, example in written[:3])
        yield (
            f"caution: {told}{', ...' * (len(written) > 3)}: taken for text, and each value for a category; write "
            "plain numbers (1234.5), which are cut into ranges, as are dates (2024-12-31) by --discretize COLUMN=mdl"
        )


def _may_name_groups(row: dict[str, Any]) -> bool:
    """Whether categories look like identifiers that come back: many, and of a few rows each."""
    return bool(row["values"] >= _MANY and row["complete"] < _FEW_ROWS * row["values"] and not _is_cut(row))


def _may_be_noise(row: dict[str, Any], ranking: Any) -> bool:  # noqa: ANN401
    """Whether an independent column of this shape would show as much: (r - 1)(s - 1)/2N against epsilon and the mean.

    2N times the information of an independent sample is distributed as chi square, of deviation sqrt(2 freedom).
    """
    freedom = (len(ranking.classes) - 1) * (row["values"] - 1)
    noise = (freedom + 2.0 * math.sqrt(2.0 * freedom)) / (2.0 * max(row["complete"], 1))
    return bool(noise > ranking.settings["epsilon"] and row["mi"] < 2.0 * noise)
