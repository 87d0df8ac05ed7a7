"""`credimi table`: the posterior of one contingency table or one per stratum, as text, in a file or standard input."""

from __future__ import annotations

import math
import re
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credimi.cli import argument_types, command_files, startup, terminal_io
from credimi.cli import options as shared
from credimi.core.errors import CredimiError
from credimi.core.remote_files import identity
from credimi.core.table_layouts import MISSING, layout_of
from credimi.results.section import probability
from credimi.results.sentences import CAUTIONS_OF_INFORMATION
from credimi.results.text import line as text_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table as Grid

    from credimi.core.table import Table
    from credimi.core.types import Foreign, Record
    from credimi.inference.distributions.distribution import Distribution
    from credimi.inference.posterior import Posterior

_ADAPTIVE = "adaptive"  # as in credimi.inference.evidence.fixed_priors, which is not imported to keep `--help` fast
_Counts = tuple[list[list[float]], dict[str, Any]]  # the rows of a table, and its margins and labels
_OTHERS = ("target_only", "feature_only", "classes", "values")
_MAX_TEXT_BYTES = 1 << 24  # of a table
_EXAMPLES = """\
a table is text: one row per target class, one column per feature value, numbers
separated by blanks or commas, rows by ';' or new lines. A first row and a first
column of text are labels; the row and the column labelled '?' are the counts of
data rows with a missing value. Without labels, '?' in the last corner says that
the last row and column are these counts. Or the lines 'target-only: 4 1' and
'feature-only: 0 2' give them. '#' starts a comment. With --given there is one
table a stratum, separated by '|' or empty lines, as are the counts of the
options.

examples:
  credimi table "10 2; 3 15"
  credimi table "10 2 4; 3 15 1; 0 2 ?"
  credimi table "10 2; 3 15" --target-only "4 1" --feature-only "0 2"
  credimi table "81 9; 9 1 | 1 9; 9 81" --given
  credimi table counts.txt --method paper --format json
  echo "10 2; 3 15" | credimi table -
"""


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "table",
        run,
        summary="posterior of the mutual information of one contingency table",
        description="The posterior of the mutual information of one table, missing values included.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "table", metavar="TABLE", help='the counts ("10 2; 3 15"), a file that holds them, or - for standard input'
    )
    parser.add_argument("--target-only", metavar="COUNTS", help="one count per row: data rows whose feature is missing")
    parser.add_argument(
        "--feature-only", metavar="COUNTS", help="one count per column: data rows whose target is missing"
    )
    parser.add_argument(
        "--given",
        action="store_true",
        help="the tables are strata: what the feature tells about the target once the stratum is known",
    )
    shared.add_posterior_options(parser)
    shared.add_output_options(parser, ("table", "json"))


def run(options: argparse.Namespace) -> None:
    """Print the posterior of one table, or with --given that of the information given the stratum."""
    command_files.check_output(options.output, [identity(Path(options.table))] if _is_file(options.table) else [])
    strata = _read_tables(options)
    shared.check_thresholds(options)
    prior = argument_types.prior(options.prior)  # that of the method, if one is named
    startup.announce_compiling(options.command)
    if options.given:
        _run_given(options, strata, prior)
        return
    joint, others = strata[0]
    from credimi.core.table import Table
    from credimi.inference.evidence.fixed_priors import CELLS
    from credimi.inference.mutual_information import mutual_information

    table = Table(joint, **others)
    information = mutual_information(
        table,
        prior=prior,
        approximation=options.approximation,
        method=options.method,
        random_state=options.random_state,
    )
    cells = information.posterior()
    labels = {name: list(given) for name in ("classes", "values") if (given := getattr(table, name)) is not None}
    report = _figures(information, options) | {
        "mode": cells.mode.tolist(),
        "rows": table.rows,
        "settings": _settings(options, prior) | {"prior_of_cells": CELLS if prior == _ADAPTIVE else prior},
    }
    report |= labels | ({"cautions": list(information.cautions)} if information.cautions else {})
    grids = partial(_grids, report, cells, information)
    terminal_io.write_result(options.format, options.output, lambda: report, grids)


def _run_given(options: argparse.Namespace, strata: list[_Counts], prior: str | float) -> None:
    """Print the posterior of the information given the stratum, and that of each stratum on its own."""
    if options.approximation != "matched":
        raise CredimiError(
            f"--given has no approximation but matched: leave out --approximation {options.approximation}"
        )
    from credimi.core.table import Table
    from credimi.inference.mutual_information import mutual_information
    from credimi.inference.strata.conditional_information import conditional_information

    tables = [Table(joint, **others) for joint, others in strata]
    names = ("joint", "target_only", "feature_only")
    joint, target_only, feature_only = ([getattr(table, name) for table in tables] for name in names)
    information = conditional_information(joint, target_only=target_only, feature_only=feature_only, prior=prior)
    of_strata = [
        _figures(mutual_information(table, prior=prior), options) if table.joint.any() else {} for table in tables
    ]
    report = _figures(information, options) | {
        "rows": sum(table.rows for table in tables),
        "strata": [figures | {"rows": table.rows} for figures, table in zip(of_strata, tables, strict=True)],
        "settings": _settings(options, prior) | {"given": True},
    }
    grids = partial(_given_grids, report, tables, information)
    terminal_io.write_result(options.format, options.output, lambda: report, grids)


def _figures(information: Distribution, options: argparse.Namespace) -> Record:
    """A posterior in numbers."""
    low, high = information.interval(options.level)
    scale = math.log(2.0) if options.units == "bits" else 1.0
    return {
        "mean": information.mean() / scale,
        "std": information.std() / scale,
        "low": low / scale,
        "high": high / scale,
        "p_above": information.sf(options.epsilon),
        "p_independent": information.p_zero,
    }


def _settings(options: argparse.Namespace, prior: str | float) -> Record:
    names = ("approximation", "epsilon", "level", "units")
    units_of_epsilon = {"epsilon_units": "nats"} if options.units == "bits" else {}
    method = {} if options.method is None else {"method": options.method}
    return method | {"prior": prior} | {name: getattr(options, name) for name in names} | units_of_epsilon


def _summary(title: str, report: Record, tables: list[Table], information: Distribution) -> Grid:
    """The figures of a posterior, one in each line."""
    from rich.table import Table as Grid

    settings = report["settings"]
    unit = settings["units"]
    summary = Grid(title=title, show_header=False, title_justify="left")
    sums = (
        sum(float(getattr(table, name).sum()) for table in tables) for name in ("joint", "target_only", "feature_only")
    )
    summary.add_row("rows", f"{report['rows']:,.10g} ({_complete_and_missing(*sums)})")
    summary.add_row("mean", f"{report['mean']:.4g} {unit}")
    summary.add_row("standard deviation", f"{report['std']:.4g} {unit}")
    summary.add_row(f"{100 * settings['level']:g} % interval", f"{report['low']:.4g} to {report['high']:.4g} {unit}")
    if settings["prior"] == _ADAPTIVE:
        summary.add_row("P(independent)", probability(report["p_independent"], report["std"]))
    summary.add_row(f"P(I > {settings['epsilon']:g} nats)", probability(report["p_above"], report["std"]))
    lowest, highest = information.support()
    if math.isfinite(highest) and not information.cautions:
        scale = math.log(2.0) if unit == "bits" else 1.0
        summary.add_row("possible range", f"{lowest / scale:.4g} to {highest / scale:.4g} {unit}")
    if min(tables[0].shape) == 1:
        summary.add_row("note", "one row or one column: there is nothing to depend on (rows are separated by ';')")
    for code in information.cautions:
        summary.add_row("caution", CAUTIONS_OF_INFORMATION[code])
    if "method" in settings:
        summary.add_row("method", settings["method"])
    summary.add_row("prior, approximation", f"{settings['prior']}, {settings['approximation']}")
    return summary


def _given_grids(report: Record, tables: list[Table], information: Distribution, _: Console) -> Iterator[Grid | str]:
    """The report on strata, laid out for a screen."""
    from rich.table import Table as Grid

    (rows, columns), settings = tables[0].shape, report["settings"]
    strata = "1 stratum" if len(tables) == 1 else f"{len(tables)} strata"
    title = f"Conditional mutual information, {strata} of {rows} x {columns} tables"
    yield _summary(title, report, tables, information)
    grid = Grid(title="Each stratum on its own", title_justify="left")
    headings = ("rows", f"mean, {settings['units']}", f"{100 * settings['level']:g} % interval", "P(independent)")
    for number, heading in enumerate(("stratum", *headings)):
        grid.add_column(heading, justify="right" if number else "left")
    for number, stratum in enumerate(report["strata"], 1):
        cells = [str(number), f"{stratum['rows']:,.10g}"]
        if "mean" in stratum:
            atom = probability(stratum["p_independent"], stratum["std"])
            cells += [f"{stratum['mean']:.4g}", f"{stratum['low']:.4g} to {stratum['high']:.4g}", atom]
        grid.add_row(*cells)
    yield grid


def _grids(report: Record, cells: Posterior, information: Distribution, console: Console) -> Iterator[Grid | str]:
    """The report, laid out for a screen."""
    table, settings = cells.table, report["settings"]
    rows, columns = table.shape
    summary = _summary(f"Mutual information, {rows} x {columns} table", report, [table], information)
    mode = _mode_grid(report["mode"], table) if rows <= 30 and columns <= 12 else None
    unbounded = console.options.update(width=1_000)
    yield summary
    if mode is not None and console.measure(mode, options=unbounded).maximum <= console.width:
        is_adaptive = settings["prior"] == _ADAPTIVE
        with_prior = f", prior {settings['prior_of_cells']}: the adaptive prior is one of I alone"
        yield f"Mode of the cell probabilities{with_prior * is_adaptive}"
        yield mode
    else:
        yield "(the mode of the cell probabilities is not shown here: see --format json)"


def _mode_grid(mode: list[list[float]], table: Table) -> Grid:
    from rich.table import Table as Grid

    grid = Grid()
    grid.add_column("class \\ value")
    for heading in table.values or range(1, len(mode[0]) + 1):
        grid.add_column(text_line(str(heading)), justify="right")
    for label, probabilities in zip(table.classes or range(1, len(mode) + 1), mode, strict=True):
        grid.add_row(text_line(str(label)), *(f"{value:.4f}" for value in probabilities))
    return grid


def _complete_and_missing(complete: float, target_only: float, feature_only: float) -> str:
    return (
        f"{complete:,.10g} complete, {target_only:,.10g} without the feature, {feature_only:,.10g} without the target"
    )


def _read_tables(options: argparse.Namespace) -> list[_Counts]:
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


def _strata(text: str, name: str) -> list[_Counts]:
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


def _read_table(text: str, name: str) -> _Counts:
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


def _has_labels(rows: list[list[str]]) -> bool:
    """Whether the first row or the first column are text, or the last corner is `?`."""
    numbers = [[argument_types.is_number(cell) for cell in row] for row in rows]
    return len(rows) > 1 and (not any(numbers[0]) or not any(row[0] for row in numbers) or rows[-1][-1] == MISSING)


def _table_text(source: str) -> tuple[str, str]:
    """The text that TABLE means, and its name for messages."""
    if source == "-":
        return _input_text(), "standard input"
    if not source.strip():
        raise CredimiError('the table is empty: pass counts such as "10 2; 3 15", a file name, or - for standard input')
    if _is_file(source) or not _looks_like_counts(source):
        return _file_text(source), source
    return source, "the table"


def _is_file(source: str) -> bool:
    with suppress(OSError):  # a long table is no file name: "File name too long"
        return Path(source).is_file()
    return False


def _looks_like_counts(text: str) -> bool:
    """Counts rather than the name of a file: something in it is a number."""
    return any(argument_types.is_number(word) for word in re.split(r"[;,|\s]+", text))


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
        if not (argument_types.is_number(word) and 0.0 <= float(word) < math.inf):
            raise CredimiError(
                f"{location}: {word!r} is not a count: counts are numbers from 0 up, separated by blanks or commas"
            )
    return [float(word) for word in words]


def _option(name: str) -> str:
    return name.replace("_", "-")
