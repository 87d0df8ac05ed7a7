"""`credimi pairs`: prints what every two columns tell about each other."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from credimi.cli import argument_types, command_files, startup, terminal_io
from credimi.cli import options as shared
from credimi.core.errors import CredimiError
from credimi.core.remote_files import source_of
from credimi.results import sentences

if TYPE_CHECKING:
    from credimi.core.types import Foreign
    from credimi.questions.pairs.result import Pairs
    from credimi.results.result import Result

_EXAMPLES = """\
There is no target: every column is compared with every other. Numbers are cut
into 3 to 10 ranges of about equal counts, as many as the rows allow. Rows that
lack one of two columns still tell how often the other's values occur.

P(indep.), the probability of independence, is that of each pair alone, from
even odds. "linked" uses the share of independent pairs that all pairs together
suggest: of those so marked at most one in twenty is expected to tell less than
epsilon. json and csv also have P(linked), with the same odds.

--forest asks for more: the probability of each edge over all forests of the
columns, assuming that the dependences form a forest (no cycles), which is
seldom quite true.

Using rows that lack one of two columns is correct if it depends only on these
two whether a value is missing. If it depends on a third column, --refine forest
draws missing values from forests of the columns, and averages what the
completed tables say.

examples:
  credimi pairs survey.csv
  credimi pairs survey.csv --features age income region --top 10
  credimi pairs survey.csv --html pairs.html
  credimi pairs survey.parquet --format csv --output pairs.csv --plot pairs.png
  credimi pairs survey.csv --forest
  credimi pairs survey.csv --refine forest --imputations 20
  credimi pairs genotypes.parquet --device gpu --top 1000
"""

_DEFAULT_IMPUTATIONS = 10
_MAX_REASONS = 3  # in the error if there is no pair
_MAX_VALUES_HELP = "leave out columns of more values (default: %(default)s)"
_P_DEPENDENT_HELP = "only pairs that depend with at least this probability"
_INTO_HELP = "also write the figures of all pairs to this file of numpy, a row each"
_FOREST_HELP = "the edges of forests instead, assuming that the dependences form a forest (no cycles)"
_REFINE_HELP = "allow for values that are missing because of a third column: draw them from forests of the columns"
_IMPUTATIONS_HELP = f"completed tables that are averaged with --refine (default: {_DEFAULT_IMPUTATIONS})"
_TOP_HELP = "show only the first K (default: 30 in a table, all in json and csv)"


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "pairs",
        run,
        summary="what every two columns tell about each other",
        description="Print what every two columns tell about each other, how much and how sure.",
        epilog=_EXAMPLES,
    )
    shared.add_data_options(parser, target=False, max_values=False)
    shared.add_posterior_options(parser, drawn="--refine and --approximation sampled", units=False, method=False)
    parser.add_argument("--max-values", type=argument_types.positive, default=1000, metavar="N", help=_MAX_VALUES_HELP)
    parser.add_argument("--top", type=argument_types.positive, metavar="K", help=_TOP_HELP)
    parser.add_argument("--p-dependent", type=argument_types.number, metavar="P", help=_P_DEPENDENT_HELP)
    add_device_option(parser, "where pairs are counted")
    parser.add_argument("--into", metavar="FILE.npy", help=_INTO_HELP)
    parser.add_argument("--forest", action="store_true", help=_FOREST_HELP)
    parser.add_argument("--refine", choices=("forest",), help=_REFINE_HELP)
    parser.add_argument(
        "--imputations", type=argument_types.positive, default=argparse.SUPPRESS, metavar="N", help=_IMPUTATIONS_HELP
    )
    shared.add_output_options(parser)
    parser.add_argument("--html", metavar="PAGE", help="write a page to explore the links in a browser, offline")
    parser.add_argument("--plot", metavar="PICTURE", help="draw the matrix of mi in a .png, .svg or .pdf file")


def add_device_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --device, which says where something is done."""
    text = f"{what}: cpu, or gpu, one NVIDIA GPU (default: %(default)s)"
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help=text)


def run(options: argparse.Namespace) -> None:
    """Print the pairs, or the edges of forests."""
    shared.check_thresholds(options)
    if options.p_dependent is not None:
        from credimi.core.arguments import require_share

        require_share("--p-dependent", options.p_dependent)
    if "imputations" in options and options.refine is None:
        raise CredimiError("--imputations is for --refine forest: add it, or leave both out")
    compared_pairs = _all_pairs(options)
    if options.html is not None:
        compared_pairs.to_html(options.html, source=source_of(options.data), reader=sentences.COMMAND_LINE)
    if options.plot is not None and len(compared_pairs):
        compared_pairs.plot("mi", options.plot)
    elif options.plot is not None:  # all pairs are below --p-dependent
        terminal_io.say(f"{options.plot} is not written: there is no pair to draw")
    shown: Result = compared_pairs
    known: tuple[str, ...] = ("rows", "columns", "independent")
    if options.forest:
        shown = compared_pairs.forest(threads=options.threads)
        known = ("rows", "columns", "given", "odds", "expected_edges")
    terminal_io.write_shown(shown, options, options.output, known=known, top=options.top)


def _all_pairs(options: argparse.Namespace) -> Pairs:
    """The pairs that the options ask for."""
    command_files.check_outputs(options)
    files = command_files.files_with_rows(options)
    startup.announce_compiling(options.command)
    from credimi.questions.pairs.pairs import pairs

    arguments = shared.counting_all(options) | {"epsilon": options.epsilon, "level": options.level}
    arguments |= {"prior": argument_types.prior(options.prior), "approximation": options.approximation}
    arguments |= {"device": options.device, "p_dependent": options.p_dependent, "into": options.into}
    arguments |= {
        "refine": options.refine,
        "imputations": getattr(options, "imputations", _DEFAULT_IMPUTATIONS),
        "random_state": options.random_state,
    }
    needs_all_pairs = options.forest or any(option is not None for option in (options.into, options.html, options.plot))
    if options.device == "gpu" and not needs_all_pairs:
        arguments["top"] = options.top  # other pairs need not leave the GPU
    with terminal_io.progress("comparing") as progress:
        compared_pairs = pairs(files, max_values=options.max_values, progress=progress, **arguments)
    if len(compared_pairs.names) < 2:
        reasons = compared_pairs.remark_lines(reader=sentences.COMMAND_LINE)
        why = "; ".join(reasons[:_MAX_REASONS])
        raise CredimiError(f"a pair has two columns, and {len(compared_pairs.names)} can be used here: {why}")
    return compared_pairs
