"""`credimi prequential`: accuracy of naive Bayes and number of features, row by row, for each filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.cli import argument_types, command_files, startup, terminal_io
from credimi.cli import options as shared
from credimi.results import sentences

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from credimi.core.types import Foreign, Record
    from credimi.paper.prequential import Prequential
    from credimi.paper.rows import Rows

_EXAMPLES = """\
The rows come in random orders. For each row, a filter first picks columns from
the rows before it, naive Bayes predicts the class from these columns, and only
then is the row learned. rules: plugin (F), forward (FF), backward (BF), all
(no filter), imputed (missing values replaced by the most frequent value, then
as plugin).

Numbers are cut once, from all rows. With mdl, the default, the cuts look at the
classes that are to be predicted, which makes the accuracy too good if there are
many such columns; --discretize quantile does not look at the classes. Columns
in which no cut passes the test are left out, and named; only `rank` cuts them
into quarters.

Rows are learned one at a time, so that there are no weights: repeat the rows.

examples:
  credimi prequential survey.csv --target income
  credimi prequential survey.csv --target income --rule forward --rule all
  credimi prequential survey.csv --target income --method paper
"""
_RULES = ("plugin", "forward", "backward", "all", "imputed")
_COLUMNS = ("rule", "orders", "accuracy_mean", "accuracy_sd", "features_mean", "features_sd")


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "prequential",
        run,
        summary="how the filters affect naive Bayes, row by row",
        description="Accuracy of naive Bayes and number of features; each row is first predicted, then learned.",
        epilog=_EXAMPLES,
    )
    shared.add_data_options(parser, weights=False, max_values=False)
    shared.add_posterior_options(parser, drawn="the orders of the rows", units=False)
    parser.add_argument(
        "--rule",
        action="append",
        type=argument_types.rule,
        choices=_RULES,
        help="a filter; F, FF and BF are understood; may be repeated (default: plugin, forward and backward)",
    )
    parser.add_argument(
        "--orders",
        type=argument_types.positive,
        default=10,
        metavar="K",
        help="random orders of the rows (default: 10)",
    )
    parser.add_argument("--keep", metavar="DIR", help="a folder for finished orders, so that a killed run can continue")
    shared.add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Print one line per rule."""
    shared.check_thresholds(options)
    shared.require_target(options)
    command_files.check_outputs(options)
    startup.announce_compiling(options.command)
    from credimi.paper.prequential import prequential

    files = command_files.files_with_rows(options)
    with terminal_io.progress("going through the rows") as progress:
        prequential_run = prequential(
            files,
            options.target,
            rules=tuple(options.rule or ("plugin", "forward", "backward")),
            prior=argument_types.prior(options.prior),
            approximation=options.approximation,
            method=options.method,
            epsilon=options.epsilon,
            level=options.level,
            orders=options.orders,
            random_state=options.random_state,
            keep=options.keep,
            progress=progress,
            **shared.counting(options),
        )
    terminal_io.write_result(
        options.format,
        options.output,
        lambda: _report(prequential_run, options),
        lambda _: _table(prequential_run, options),
        records="results",
        names=_COLUMNS,
        known=("rows", "classes"),
        safe=options.csv_safe,
    )


def _report(prequential_run: Prequential, options: argparse.Namespace) -> Record:
    return {
        "settings": prequential_run.settings.to_dict() | {"target": options.target, "seed": options.random_state},
        "rows": len(prequential_run.rows),
        "rows_without_target": prequential_run.rows.without_target,
        "classes": list(prequential_run.rows.classes),
        "features": list(prequential_run.rows.features),
        "left_out": _left_out(prequential_run.rows),
        "results": prequential_run.summary(),
    }


def _table(prequential_run: Prequential, options: argparse.Namespace) -> Iterator[Foreign]:
    from rich.table import Table

    grid = Table(box=None, header_style="", pad_edge=False)
    for name in ("rule", "accuracy", "sd", "features", "sd"):
        grid.add_column(name, justify="left" if name == "rule" else "right", no_wrap=True)
    for row in prequential_run.summary():
        figures = (row["accuracy_mean"], row["accuracy_sd"], row["features_mean"], row["features_sd"])
        grid.add_row(row["rule"], *(f"{value:.{4 if index < 2 else 2}f}" for index, value in enumerate(figures)))
    rows, without_target = prequential_run.rows, prequential_run.rows.without_target
    title = (
        f"Naive Bayes on {options.target}, {sentences.counted(len(rows), 'row')} in {shared.orders(options.orders)}, "
    )
    yield title + shared.features(len(rows.features))
    yield grid
    with_method = "" if options.method is None else f"method {options.method}: "
    yield (
        "accuracy and features kept: means over the rows, then mean and sd over the orders; "
        f"{with_method}prior {options.prior}, approximation {options.approximation}, epsilon {options.epsilon:g}, "
        f"level {options.level:g}, seed {options.random_state}"
    )
    if without_target:
        are = "is" if without_target == 1 else "are"
        yield f"{sentences.counted(without_target, 'row')} without the target {are} left out"
    for name, why in _left_out(rows).items():
        yield f"{name}: left out: {why}"


def _left_out(rows: Rows) -> dict[str, str]:
    return {name: sentences.why_left_out(facts, sentences.COMMAND_LINE) for name, facts in rows.left_out.items()}
