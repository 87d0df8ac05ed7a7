"""`credimi select`: prints which columns to keep together, or writes the same rows with only those that are kept."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from credimi.cli import argument_types, command_files, startup, terminal_io
from credimi.cli import options as shared
from credimi.cli.commands.rank import check_factor, ranked
from credimi.core.atomic_files import replacing
from credimi.core.errors import CredimiError
from credimi.results import remark_sentences
from credimi.results.sentences import COMMAND_LINE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from credimi.core.types import Foreign
    from credimi.questions.rank.result import Ranking
    from credimi.questions.select.result import Selection
    from credimi.results.remarks import Remark
    from credimi.sources.data_file import DataFile

_EXAMPLES = """\
goals look at columns together: smallest takes the fewest that tell all there
is to tell, and says what each adds; relevant takes all that matter, alone or
with a partner. They need all rows. Without --output the steps are printed.
The default is --goal smallest without --output, which explains a choice, and
--rule forward with it, which keeps every column that is surely informative: a
file should lack no column that somebody else may need. Name one to be sure.

rules look at each column alone: forward keeps what is surely informative,
P(I > epsilon) >= level; backward drops what is surely not; plugin uses the
estimate alone; fdr keeps as many as it can while at most a share --fdr of them
is expected to be noise.

Ctrl-C ends the search for the smallest set with the steps so far.

The file has the target and, if named, the weights besides what is kept.

exit codes: 0, or 3 if no feature is kept.

examples:
  credimi select survey.csv --target income
  credimi select survey.csv --target income --html steps.html --plot steps.svg
  credimi select survey.csv --target income --goal smallest --output reduced.csv
  credimi select survey.csv --target income --output reduced.csv
  credimi select survey.csv --target income --top 10 --output reduced.csv
  credimi select old.parquet --target income --rule plugin --output new.parquet
"""

_MAX_FEATURES_NAMED = 10  # in the last line
_DEFAULT_RULE_LEVEL = 0.95
_LEVEL_HELP = "probability that a column needs (default: 0.5 for the goal smallest, 0.95 for relevant and for rules)"
_FIXED_FOR_GOALS: dict[str, object] = {
    "method": None,
    "prior": "adaptive",
    "approximation": "matched",
    "missing_as": "ignore",
    "units": "nats",
    "fdr": 0.05,
    "robust_factor": None,
}
_RULE_DEFAULTS: dict[str, object] = {"top": None, "sort": "mean", "seed": 0}
_GOAL_DEFAULTS: dict[str, object] = {"max_features": None, "scratch": None, "html": None, "plot": None}
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
    shared.add_posterior_options(parser, level=None, level_means=_LEVEL_HELP)
    shared.add_ranking_options(parser)
    by = parser.add_mutually_exclusive_group()
    by.add_argument(
        "--goal",
        choices=["smallest", "relevant"],
        metavar="GOAL",
        help="look at columns together: smallest (default without --output) or relevant",
    )
    by.add_argument(
        "--rule",
        type=argument_types.rule,
        choices=["forward", "backward", "plugin", "fdr"],
        metavar="RULE",
        help="look at each column alone: forward or FF (default with --output), backward or BF, plugin or F, or fdr",
    )
    shared.add_order(parser)
    parser.add_argument(
        "--top", type=argument_types.positive, metavar="K", help="with a rule: keep the first K of what it keeps"
    )
    parser.add_argument(
        "--robust-factor",
        type=argument_types.number,
        metavar="G",
        help="with a rule: keep only what stands if the odds of being missing differ up to G-fold",
    )
    parser.add_argument(
        "--max-features", type=argument_types.positive, metavar="N", help="with a goal: take at most N columns"
    )
    parser.add_argument(
        "--min-features",
        type=argument_types.positive,
        default=0,
        metavar="N",
        help="take at least N columns, if fewer are credible the most probable ones, for pipelines",
    )
    parser.add_argument("--scratch", metavar="DIR", help="with a goal: keep codes in a file there, if memory is short")
    parser.add_argument(
        "--format", choices=["table", "json"], default="table", help="of the steps (default: %(default)s)"
    )
    parser.add_argument(
        "--csv-safe",
        action="store_true",
        help="with --output of CSV: put an apostrophe before names and values that a spreadsheet would take for a "
        "formula, and make control characters visible; this changes the data that are written",
    )
    parser.add_argument("--html", metavar="PAGE", help="with a goal: write a page that shows the steps, offline")
    parser.add_argument("--plot", metavar="PICTURE", help="with a goal: draw the steps (.png, .svg, .pdf)")
    parser.add_argument("--output", metavar="REDUCED", help="the file to write, in the input's format")


def run(options: argparse.Namespace) -> int:
    """Select; then print the steps, or copy the columns that are kept."""
    from credimi.sources import files

    if options.output == "-":
        raise CredimiError("select writes a file, not standard output: name it with --output")
    if options.rule is not None and options.output is None:
        raise CredimiError(f"the rule {options.rule} selects columns to be written: name a file with --output")
    shared.check_thresholds(options)
    _check_used(options)
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
    if options.goal is not None or options.output is None:
        selection = _selected(options, data)
        if options.output is None or not selection.complete:
            return _show(selection, options)
        forced, total = sum(step.forced for step in selection.steps), len(selection)
        kept = _Kept(set(selection.features), total, forced, f"goal {options.goal}", selection.remarks)
    else:
        kept = _kept_by_rule(options, data)
    output = Path(options.output)
    columns = [name for name in data.names if name in kept.features or name in (options.target, options.weights)]
    with replacing(output) as temporary:
        files.copy_columns(data, columns, temporary, output.suffix, safe=options.csv_safe)
    _say_of_weights(kept.remarks)
    names = [name for name in columns if name in kept.features]
    if not names:
        alone = (
            f"the target {options.target!r} alone" if options.weights is None else "the target and the weights alone"
        )
        terminal_io.say(f"no feature is kept by the {kept.criterion}: {output} has {alone}")
        return _NOTHING_KEPT
    shown = ", ".join(map(repr, names[:_MAX_FEATURES_NAMED])) + (", ..." if len(names) > _MAX_FEATURES_NAMED else "")
    count = f"{len(kept.features):,} of {shared.features(kept.total)}"
    terminal_io.say(f"{output}: {count} kept by the {kept.criterion}: {shown}")
    if kept.forced:
        terminal_io.say(f"not credible, kept because of --min-features: {kept.forced:,} of them")
    return 0


class _Kept(NamedTuple):
    """The features that are kept, of how many, how many of them only for --min-features, by what, and remarks."""

    features: set[str]
    total: int
    forced: int
    criterion: str
    remarks: Sequence[Remark]


def _say_of_weights(remarks: Sequence[Remark]) -> None:
    on_weights = [remark.to_dict() for remark in remarks if remark.kind.startswith("weights")]
    for line in remark_sentences.lines(on_weights, COMMAND_LINE):
        terminal_io.say(line)


def _kept_by_rule(options: argparse.Namespace, data: DataFile) -> _Kept:
    """Rank the columns, and keep those that the rule keeps."""
    options.rule = options.rule or "forward"
    options.level = _DEFAULT_RULE_LEVEL if options.level is None else options.level
    options.factor, options.robust = options.robust_factor, options.robust_factor is not None
    check_factor(options, "--robust-factor")
    ranking = ranked(options, [data])
    credible = _kept_features(ranking, options)
    features = set(_with_most_probable(ranking, credible, options))
    return _Kept(features, len(ranking), len(features) - len(credible), f"rule {options.rule}", ranking.remarks)


def _check_used(options: argparse.Namespace) -> None:
    """Refuse options that would have no effect."""

    def given(names: dict[str, object]) -> list[str]:
        return [name for name, value in names.items() if getattr(options, name) != value]

    if options.output is not None and options.format != "table":
        raise CredimiError("--format is of the printed steps, and --output writes rows: leave one of them out")
    if options.goal is not None or options.output is None:
        of_method = {"method", "prior", "approximation"} if options.goal is None and options.method else set()
        for name in (name for name in given(_FIXED_FOR_GOALS) if name not in of_method):
            fixed_value = "none" if _FIXED_FOR_GOALS[name] is None else f"{_FIXED_FOR_GOALS[name]} only"
            remedy = "leave it out, or use a rule, which needs --output"
            raise CredimiError(f"{_option(name)} is for rules: a goal has {fixed_value}; {remedy}")
        for name in given(_RULE_DEFAULTS):
            raise CredimiError(f"{_option(name)} is for rules, and a rule needs --output: leave it out")
        return
    for name in given(_GOAL_DEFAULTS):
        raise CredimiError(f"{_option(name)} is for goals: name one with --goal, or leave it out")
    if options.fdr != _FIXED_FOR_GOALS["fdr"] and options.rule != "fdr":
        raise CredimiError(f"--fdr is for --rule fdr: the rule {options.rule or 'forward'} has none")
    if options.units != _FIXED_FOR_GOALS["units"]:
        raise CredimiError("--units is of what is printed, and --output writes rows: leave one of them out")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _kept_features(ranking: Ranking, options: argparse.Namespace) -> list[str]:
    """The features that the rule keeps, and that stand at the factor."""
    kept = [str(name) for name in ranking.selected(options.rule)]
    if options.robust:
        tipping_factor = {row["feature"]: row["tipping_factor"] for row in ranking if row["verdict"] == "keep"}
        kept = [name for name in kept if tipping_factor.get(name, 0.0) >= options.factor]
    return kept[: options.top]


def _with_most_probable(ranking: Ranking, kept: list[str], options: argparse.Namespace) -> list[str]:
    """The features that the rule keeps, and the most probable others until there are --min-features."""
    from credimi.questions.select.answer import check_min_features

    check_min_features(options.min_features, len(ranking), options.top, "--top")
    others = [row for row in ranking if row["feature"] not in kept and not math.isnan(row["p_above"])]
    others.sort(key=lambda row: (-row["p_above"], -row["mi"]))
    return kept + [str(row["feature"]) for row in others[: max(options.min_features - len(kept), 0)]]


def _selected(options: argparse.Namespace, data: DataFile) -> Selection:
    """The columns that tell about the target together; a page and a picture of them, if asked for."""
    shared.require_target(options)
    command_files.check_features(data, options.target)
    command_files.check_outputs(options)
    startup.announce_compiling(options.command)
    from credimi.questions.select.select import select

    goal, arguments = options.goal or "smallest", shared.counting(options)
    arguments |= {"epsilon": options.epsilon, "level": options.level, "max_features": options.max_features}
    arguments |= {"min_features": options.min_features, "scratch": options.scratch, "method": options.method}
    with terminal_io.progress("reading") as progress:
        selection = select([data], options.target, rule=goal, progress=progress, **arguments)
    if options.html is not None:
        selection.to_html(options.html, reader=COMMAND_LINE)
    if options.plot is not None:
        selection.plot(options.plot)
    return selection


def _show(selection: Selection, options: argparse.Namespace) -> int:
    """Print the steps; return the exit code."""
    if not selection.complete:
        terminal_io.say(_interrupted(selection, options.output))
    code = _INTERRUPTED if not selection.complete else 0 if selection.features else _NOTHING_KEPT
    terminal_io.write_shown(selection, options, None)
    return code


def _interrupted(selection: Selection, output: str | None) -> str:
    written = "" if output is None else f", and {output} is not written"
    return f"interrupted: the steps so far are {len(selection.steps)}{written}"
