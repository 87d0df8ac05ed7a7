"""The posterior of the mutual information of one table, missing values included.

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

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.cli import command_files, terminal_io
from credimi.cli.table_text import is_file, read_tables
from credimi.core.command import Command, Option
from credimi.core.errors import CredimiError
from credimi.core.remote_files import identity
from credimi.inference.belief import ADAPTIVE, Belief
from credimi.results import section as kinds
from credimi.results.section import BITS, in_units, probability
from credimi.results.sentences import CAUTIONS_OF_INFORMATION
from credimi.results.text import line as text_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table as Grid

    from credimi.cli.table_text import Counts
    from credimi.core.command import Asked
    from credimi.core.table import Table
    from credimi.core.types import Foreign, Record
    from credimi.inference.distributions.distribution import Distribution
    from credimi.inference.posterior import Posterior

_Answer = tuple["Record", Callable[["Console"], Iterable["Foreign"]]]  # JSON, and what is laid out for a screen


def _answer(asked: Asked) -> None:
    """Print the posterior of one table, or with --given that of the information given the stratum."""
    options = asked.options
    inputs = [identity(Path(options.table))] if is_file(options.table) else []
    command_files.check_output(options.output, inputs)
    tables = read_tables(options)
    with asked.worded():
        belief = Belief(**asked.given)
    asked.announce()
    report, grids = (_of_strata if options.given else _of_one)(tables, belief, options.units)
    if options.format == "json":
        terminal_io.write_json(report, options.output)
        return
    screen = terminal_io.console(options.output)
    terminal_io.show(grids(screen), options.output, screen)


def _of_one(tables: list[Counts], belief: Belief, units: str) -> _Answer:
    """The posterior of one table."""
    from credimi.core.table import Table
    from credimi.inference.evidence.fixed_priors import CELLS

    joint, others = tables[0]
    table = Table(joint, **others)
    information = _information(table, belief)
    cells = information.posterior()
    labels = {name: list(given) for name in ("classes", "values") if (given := getattr(table, name)) is not None}
    belief = belief.settled(_entropy_of_target([table]))
    report = _figures(information, belief, units) | {
        "mode": cells.mode.tolist(),
        "rows": table.rows,
        "settings": _settings(belief, units) | {"prior_of_cells": CELLS if belief.prior == ADAPTIVE else belief.prior},
    }
    report |= labels | ({"cautions": list(information.cautions)} if information.cautions else {})
    return report, partial(_grids, report, cells, information)


def _of_strata(strata: list[Counts], belief: Belief, units: str) -> _Answer:
    """The posterior of the information given the stratum, and that of each stratum on its own."""
    if belief.approximation != "matched":
        asked = "approximation" if belief.method is None else "method"
        raise CredimiError(f"--given has no approximation but matched: leave out --{asked} {getattr(belief, asked)}")
    from credimi.core.table import Table
    from credimi.inference.tables.conditional_information import conditional_information

    tables = [Table(joint, **others) for joint, others in strata]
    names = ("joint", "target_only", "feature_only")
    joint, target_only, feature_only = ([getattr(table, name) for table in tables] for name in names)
    information = conditional_information(joint, target_only=target_only, feature_only=feature_only, prior=belief.prior)
    belief = belief.settled(_entropy_of_target(tables))
    of_strata = [_figures(_information(table, belief), belief, units) if table.joint.any() else {} for table in tables]
    report = _figures(information, belief, units) | {
        "rows": sum(table.rows for table in tables),
        "strata": [figures | {"rows": table.rows} for figures, table in zip(of_strata, tables, strict=True)],
        "settings": _settings(belief, units) | {"given": True},
    }
    return report, partial(_given_grids, report, tables, information)


def _entropy_of_target(tables: list[Table]) -> float:
    """The entropy of the row variable, of all tables together."""
    import numpy as np

    from credimi.core.special import entropy

    totals = sum(table.joint.sum(axis=1) + table.target_only for table in tables)
    return entropy(totals) if np.any(totals) else math.nan


def _information(table: Table, belief: Belief) -> Distribution:
    from credimi.inference.mutual_information import mutual_information

    return mutual_information(
        table,
        prior=belief.prior,
        approximation=belief.approximation,
        method=belief.method,
        random_state=belief.random_state,
    )


def _figures(information: Distribution, belief: Belief, units: str) -> Record:
    """A posterior in numbers."""
    low, high = information.interval(belief.level)
    return {
        "mean": in_units(information.mean(), units),
        "std": in_units(information.std(), units),
        "low": in_units(low, units),
        "high": in_units(high, units),
        "p_above": information.sf(belief.nats),
        "p_independent": information.p_zero,
    }


def _settings(belief: Belief, units: str) -> Record:
    names = ("prior", "approximation", "level")
    units_of_epsilon = {"epsilon_units": "nats"} if units == "bits" else {}
    method = {} if belief.method is None else {"method": belief.method}
    named = {name: getattr(belief, name) for name in names} | belief.threshold
    return method | named | {"units": units} | units_of_epsilon


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
    if settings["prior"] == ADAPTIVE:
        summary.add_row("P(independent)", probability(report["p_independent"], report["std"]))
    summary.add_row(kinds.above(settings, BITS), probability(report["p_above"], report["std"]))
    if share := kinds.meaning_of_share(settings, "of the entropy of the rows, at most of log 2"):
        summary.add_row("epsilon", share)
    lowest, highest = information.support()
    if math.isfinite(highest) and not information.cautions:
        shown = f"{in_units(lowest, unit):.4g} to {in_units(highest, unit):.4g} {unit}"
        summary.add_row("possible range", shown)
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
        is_adaptive = settings["prior"] == ADAPTIVE
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


COMMAND = Command(
    name="table",
    text=__doc__,
    summary="posterior of the mutual information of one contingency table",
    keywords=Belief.only("prior", "approximation", "method", "epsilon", "level", "random_state").keywords,
    data="",
    target=False,
    options=(
        Option(
            "table",
            'the counts ("10 2; 3 15"), a file that holds them, or - for standard input',
            settings={"metavar": "TABLE"},
        ),
        Option("--target-only", "one count per row: data rows whose feature is missing", "data", {"metavar": "COUNTS"}),
        Option(
            "--feature-only", "one count per column: data rows whose target is missing", "data", {"metavar": "COUNTS"}
        ),
        Option(
            "--given",
            "the tables are strata: what the feature tells about the target once the stratum is known",
            "data",
            {"action": "store_true"},
        ),
    ),
    formats=("table", "json"),
    units=True,
    answer=_answer,
)
