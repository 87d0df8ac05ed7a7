"""`credimi select`: prints which columns to keep, or writes the same rows with only those that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from credimi.cli import argument_types, command_files, startup, terminal_io
from credimi.cli import options as shared
from credimi.core.atomic_files import replacing
from credimi.core.errors import CredimiError
from credimi.results import remark_sentences
from credimi.results.sentences import COMMAND_LINE

if TYPE_CHECKING:
    import argparse

    from credimi.core.types import Foreign
    from credimi.questions.select.result import Selection
    from credimi.sources.data_file import DataFile

_EXAMPLES = """\
rules: smallest (the default) takes the fewest columns that tell all there is to
tell together, and says what each adds; relevant takes all that matter, alone or
with a partner. Both need all rows. The others look at each column alone:
forward keeps what is surely informative, P(I > epsilon) >= level; backward
drops what is surely not; plugin uses the estimate alone; fdr keeps as many as
it can while at most a share --fdr of them is expected to be noise.

Without --output the columns are printed, with what each adds and why others
were not taken. With it, the same rows are written with only the target, the
weights, if they are named, and what is kept. Where a file should lack no column
that somebody else may need, --rule forward or backward is the safer choice.

Ctrl-C ends the search for the smallest set with the steps so far.

exit codes: 0, or 3 if no feature is kept.

examples:
  credimi select survey.csv --target income
  credimi select survey.csv --target income --html steps.html --plot steps.svg
  credimi select survey.csv --target income --output reduced.csv
  credimi select survey.csv --target income --rule forward --output reduced.csv
  credimi select survey.csv --target income --max-features 10 --output less.csv
  credimi select old.parquet --target income --rule plugin --output new.parquet
"""

_RULES = ("smallest", "relevant", "forward", "backward", "plugin", "fdr")
_MAX_FEATURES_NAMED = 10  # in the last line
_LEVEL_HELP = "probability that a column needs (default: 0.5 for the rule smallest, 0.95 for the others)"
_NOTHING_KEPT, _INTERRUPTED = 3, 130  # exit codes


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "select",
        run,
        summary="the columns that tell about the target together, or the data with only those",
        description="Print which columns tell about the target together, or write only these.",
        epilog=_EXAMPLES,
    )
    shared.add_data_options(parser)
    shared.add_posterior_options(parser, level=None, level_means=_LEVEL_HELP, units=False)
    shared.add_ranking_options(parser)
    parser.add_argument(
        "--rule",
        type=argument_types.rule,
        choices=_RULES,
        default="smallest",
        help="smallest or relevant: columns are looked at together; forward or FF, backward or BF, plugin or F, fdr: "
        "each alone (default: smallest; forward with --method)",
    )
    shared.add_robust_factor(parser)
    parser.add_argument("--max-features", type=argument_types.positive, metavar="N", help="take at most N columns")
    parser.add_argument(
        "--min-features",
        type=argument_types.seed,
        default=0,
        metavar="N",
        help="take at least N columns, if fewer are credible the most probable ones, for pipelines",
    )
    parser.add_argument("--scratch", metavar="DIR", help="keep codes in a file there, if memory is short")
    parser.add_argument(
        "--top", type=argument_types.positive, metavar="K", help="show only the first K (with --format table)"
    )
    parser.add_argument(
        "--format", choices=["table", "json"], default="table", help="of what is printed (default: %(default)s)"
    )
    parser.add_argument(
        "--csv-safe",
        action="store_true",
        help="with --output of CSV: put an apostrophe before names and values that a spreadsheet would take for a "
        "formula, and make control characters visible; this changes the data that are written",
    )
    parser.add_argument("--html", metavar="PAGE", help="write a page that shows the steps, offline")
    parser.add_argument("--plot", metavar="PICTURE", help="draw the steps in a .png, .svg or .pdf file")
    parser.add_argument("--output", metavar="REDUCED", help="the file to write, in the input's format")


def run(options: argparse.Namespace) -> int:
    """Select; then print the columns, or copy those that are kept."""
    data = _checked(options)
    selection = _selected(options, data)
    if options.html is not None:
        selection.to_html(options.html, reader=COMMAND_LINE)
    if options.plot is not None:
        selection.plot(options.plot)
    if options.output is None or not selection.complete:
        return _show(selection, options)
    return _write(selection, data, options)


def _checked(options: argparse.Namespace) -> DataFile:
    """The file with the rows, after all that can be refused before they are read."""
    from credimi.sources import files

    if options.output == "-":
        raise CredimiError("select writes a file, not standard output: name it with --output")
    if options.output is not None and options.format != "table":
        raise CredimiError("--format is of what is printed, and --output writes rows: leave one of them out")
    if options.output is not None and options.top is not None:
        raise CredimiError(
            f"--top is of what is printed, and --output writes rows: to keep at most {options.top}, write "
            f"--max-features {options.top}"
        )
    shared.check_thresholds(options)
    command_files.check_outputs(options)
    files_given = command_files.files_with_rows(options, twice=True)
    if len(files_given) != 1:
        raise CredimiError(
            f"select writes one file and was given {len(files_given)}: call it for each, or join them first"
        )
    data = files_given[0]
    if options.output is not None:
        files.check_format(data, Path(options.output))
    if options.csv_safe and (options.output is None or data.kind != "CSV"):
        raise CredimiError("--csv-safe is for CSV that is written with --output: leave it out")
    shared.require_target(options)
    command_files.check_features(data, options.target)
    return data


def _selected(options: argparse.Namespace, data: DataFile) -> Selection:
    """The columns that the rule keeps."""
    startup.announce_compiling(options.command)
    from credimi.questions.select.select import select

    with terminal_io.progress("reading") as progress:
        return select(
            [data],
            options.target,
            rule=options.rule,
            prior=argument_types.prior(options.prior),
            approximation=options.approximation,
            method=options.method,
            epsilon=options.epsilon,
            level=options.level,
            fdr=options.fdr,
            missing_as=options.missing_as,
            robust_factor=options.robust_factor,
            random_state=options.random_state,
            max_features=options.max_features,
            min_features=options.min_features,
            max_values=options.max_values,
            scratch=options.scratch,
            progress=progress,
            **shared.counting(options),
        )


def _show(selection: Selection, options: argparse.Namespace) -> int:
    """Print the steps; return the exit code."""
    if not selection.complete:
        written = "" if options.output is None else f", and {options.output} is not written"
        terminal_io.say(f"interrupted: the steps so far are {len(selection.steps)}{written}")
    terminal_io.write_shown(selection, options, None)
    return _INTERRUPTED if not selection.complete else 0 if selection.features else _NOTHING_KEPT


def _write(selection: Selection, data: DataFile, options: argparse.Namespace) -> int:
    """Copy the rows with the columns that are kept, and say which; return the exit code."""
    from credimi.sources import files

    output, kept = Path(options.output), set(selection.features)
    columns = [name for name in data.names if name in kept or name in (options.target, options.weights)]
    with replacing(output) as temporary:
        files.copy_columns(data, columns, temporary, output.suffix, safe=options.csv_safe)
    on_weights = [remark.to_dict() for remark in selection.remarks if remark.kind.startswith("weights")]
    for line in remark_sentences.lines(on_weights, COMMAND_LINE):
        terminal_io.say(line)
    rule, names = selection.settings["goal"], [name for name in columns if name in kept]
    if not names:
        alone = (
            f"the target {options.target!r} alone" if options.weights is None else "the target and the weights alone"
        )
        terminal_io.say(f"no feature is kept by the rule {rule}: {output} has {alone}")
        return _NOTHING_KEPT
    shown = ", ".join(map(repr, names[:_MAX_FEATURES_NAMED])) + (", ..." if len(names) > _MAX_FEATURES_NAMED else "")
    features = shared.features(len(selection) + len(selection.left_out))
    terminal_io.say(f"{output}: {len(kept):,} of {features} kept by the rule {rule}: {shown}")
    if forced := sum(step.forced for step in selection.steps):
        terminal_io.say(f"not credible, kept because of --min-features: {forced:,} of them")
    return 0
