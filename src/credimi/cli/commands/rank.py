"""`credimi rank`: the columns of a table, ranked by what they tell about the target."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from credimi.cli import argument_types, command_files, startup, terminal_io
from credimi.cli import options as shared
from credimi.cli.commands import compare
from credimi.core.errors import CredimiError
from credimi.core.remote_files import source_of
from credimi.results import sentences

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign
    from credimi.counts.counts import Counts
    from credimi.questions.rank.result import Ranking
    from credimi.sources.data_file import DataFile

_EXAMPLES = """\
numbers: whole numbers of at most 20 different values are categories. Other
numbers are cut where that tells most about the target (mdl), or into quarters
if no cut passes; the note says which. A column whose values are nearly all
different is called an identifier and not ranked. In CSV files, decimal commas
(1,5) and dates (2024-12-31) are text unless --discretize COLUMN=mdl asks to
cut them; 31.12.2024, 1,001.18, 12 % and $12.50 are always text.

examples:
  credimi rank survey.csv --target income
  credimi rank "2024/*.parquet" --target churn --epsilon 0.01 --units bits
  credimi rank survey.csv --target income --missing -9 --discretize age=18,65
  credimi rank survey.csv --target age --target-cuts quantile:4
  credimi rank survey.csv --target income --robust-factor 3
  credimi rank survey.csv --target income --format json --output ranking.json
  credimi rank survey.csv --target income --html report.html --plot best.svg
  credimi rank income.counts
"""


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "rank",
        run,
        summary="which columns inform about a target, how much, and how surely",
        description="Rank columns by their mutual information with a target, missing values included.",
        epilog=_EXAMPLES,
    )
    shared.add_data_options(parser, engines=True)
    shared.add_posterior_options(parser)
    shared.add_ranking_options(parser)
    shared.add_robust_factor(parser)
    parser.add_argument(
        "--by", metavar="COLUMN", help="rank each group of rows separately, and compare them (see credimi compare)"
    )
    compare.add_p_same(parser, "of --by: ")
    shared.add_order(parser, by_name=True)
    parser.add_argument(
        "--top", type=argument_types.positive, metavar="K", help="show only the first K (with --format table)"
    )
    shared.add_output_options(parser)
    parser.add_argument("--html", metavar="PAGE", help="write a page to explore the ranking in a browser, offline")
    parser.add_argument("--plot", metavar="PICTURE", help="draw the best 30, or --top, in a .png, .svg or .pdf file")


def run(options: argparse.Namespace) -> None:
    """Print the ranking."""
    if options.by is not None:
        compare.run_groups(options)
        return
    command_files.check_outputs(options)
    check_factor(options)
    ranking = ranked(options)
    if options.html is not None:
        ranking.to_html(options.html, source=source_of(options.data), reader=sentences.COMMAND_LINE)
    if options.plot is not None:
        ranking.plot(options.plot, top=options.top or 30)
    known = ("rows", "rows_with_target", "classes", "entropy")
    terminal_io.write_shown(ranking, options, options.output, known=known)


def check_factor(options: argparse.Namespace) -> None:
    """Refuse an impossible factor before the data are read."""
    if options.robust_factor is not None and not options.robust_factor >= 1.0:
        raise CredimiError(
            f"--robust-factor is {options.robust_factor:g}: it must be 1 or more; 1 is missing at random, inf is "
            "anything"
        )


def ranked(options: argparse.Namespace, given: Sequence[DataFile] = ()) -> Ranking:
    """The ranking that the options ask for; `given` are the files, if they are already known."""
    shared.check_thresholds(options)
    files = given or command_files.files(options)
    counts = counted(options, files)
    from credimi.questions.rank.rank import rank

    ranking = rank(
        counts,
        options.target,
        epsilon=options.epsilon,
        level=options.level,
        fdr=options.fdr,
        prior=argument_types.prior(options.prior),
        approximation=options.approximation,
        method=options.method,
        missing_as=options.missing_as,
        robust_factor=options.robust_factor,
        random_state=options.random_state,
        threads=options.threads,
    )
    return ranking.sorted_by(options.sort)


def counted(options: argparse.Namespace, files: Sequence[DataFile]) -> Counts:
    """The counts of the rows in the files, or the sum of the counts that the files hold."""
    counts_files = [file.place for file in files if file.is_counts]
    if not counts_files:
        shared.require_target(options)
    if counts_files and len(counts_files) < len(files):
        raise CredimiError(f"{counts_files[0]} holds counts, and the other files do not: rank one or the other")
    startup.announce_compiling(options.command)
    if counts_files:
        return _loaded(counts_files, options)
    if not any(shared.engine(options).values()):  # other engines may start processes, best from a single thread
        startup.load_meanwhile("credimi.questions.rank.answer")
    from credimi.sources.door import count

    with terminal_io.progress("counting") as progress:
        arguments = shared.counting(options) | shared.engine(options)
        counts = count(
            files, options.target, max_values=getattr(options, "max_values", None), progress=progress, **arguments
        )
    if not counts.rows:
        weights = arguments.get("weights")
        fault = "has no rows" if weights is None else f"has no rows whose weight {weights!r} is above 0"
        raise CredimiError(f"{files[0]} {fault}: nothing can be said about {options.target!r}")
    if not len(counts):
        raise CredimiError(f"{files[0]} has no column besides the target {options.target!r}: nothing to rank")
    return counts


def _loaded(paths: Sequence[Place], options: argparse.Namespace) -> Counts:
    """The sum of the counts in these files."""
    from credimi.counts.counts import Counts

    data_options = [
        options.features,
        options.exclude,
        options.missing,
        options.discretize,
        options.target_cuts,
        getattr(options, "weights", None),
        getattr(options, "weights_are", None),
        options.delimiter is not None,
        getattr(options, "max_values", None),
    ]
    if any(data_options) or any(shared.engine(options).values()):
        raise CredimiError(
            f"{paths[0]} holds counts: --features, --exclude, --missing, --discretize, --target-cuts, --weights, "
            "--weights-are, --delimiter, --max-values and --engine apply to data only"
        )
    counts = Counts.load(paths[0])
    for path in paths[1:]:
        counts = counts + Counts.load(path)
    if any(source.unfinished for source in counts.sources):
        warnings.warn(
            "these counts come from a call that was killed: the same `credimi count` again would finish them",
            stacklevel=2,
        )
    if not counts.rows:
        raise CredimiError(f"{paths[0]} counts no rows: nothing can be said about {counts.target!r}")
    return counts
