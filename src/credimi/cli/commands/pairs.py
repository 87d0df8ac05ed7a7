"""`credimi pairs`: prints what every two columns tell about each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.cli import argument_types, command_files, startup, terminal_io
from credimi.cli import options as shared
from credimi.core.errors import CredimiError
from credimi.core.remote_files import source_of
from credimi.report import sentences

if TYPE_CHECKING:
    import argparse

    from credimi.core.types import Foreign
    from credimi.selection.pairwise.pairs_result import Pairs

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
  credimi pairs survey.csv --columns age income region --top 10
  credimi pairs survey.csv --html pairs.html
  credimi pairs survey.parquet --format csv --output pairs.csv --plot pairs.png
  credimi pairs survey.csv --forest
  credimi pairs survey.csv --refine forest --imputations 20
  credimi pairs genotypes.parquet --engine gpu --top 1000
"""

_LINES = 30  # of a table
_COMPLETED = 10  # tables
_REASONS = 3  # why columns cannot be compared
_MOST = "leave out columns of more values (default: %(default)s)"
_P_DEPENDENT = "only pairs that depend with at least this probability"
_INTO = "also write the figures of all pairs to this file of numpy, a row each"
_FOREST = "the edges of forests instead, assuming that the dependences form a forest (no cycles)"
_REFINE = "allow for values that are missing because of a third column: draw them from forests of the columns"
_IMPUTATIONS = f"completed tables that are averaged with --refine (default: {_COMPLETED})"
_TOP = "show only the first K (default: 30 in a table, all in json and csv)"


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
    shared.add_data_options(parser, target=False)
    shared.add_posterior_options(parser, seed_for="--refine and --approximation sampled", units=False)
    parser.add_argument("--max-values", type=argument_types.positive, default=1000, metavar="N", help=_MOST)
    parser.add_argument("--top", type=argument_types.positive, metavar="K", help=_TOP)
    parser.add_argument("--p-dependent", type=argument_types.number, metavar="P", help=_P_DEPENDENT)
    add_engine_option(parser, "where pairs are counted")
    parser.add_argument("--into", metavar="FILE.npy", help=_INTO)
    parser.add_argument("--forest", action="store_true", help=_FOREST)
    parser.add_argument("--refine", choices=("forest",), help=_REFINE)
    parser.add_argument("--imputations", type=argument_types.positive, metavar="N", help=_IMPUTATIONS)
    shared.add_output_options(parser)
    parser.add_argument("--html", metavar="PAGE", help="write a page to explore the links in a browser, offline")
    parser.add_argument("--plot", metavar="PICTURE", help="draw the matrix of mi in a .png, .svg or .pdf file")


def add_engine_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --engine, which says where something is done."""
    text = f"{what}: cpu, or gpu, one NVIDIA GPU (default: %(default)s)"
    parser.add_argument("--engine", choices=("cpu", "gpu"), default="cpu", help=text)


def run(options: argparse.Namespace) -> None:
    """Print the pairs, or the edges of forests."""
    shared.check_thresholds(options)
    if options.p_dependent is not None:
        from credimi.core.arguments import require_share

        require_share("--p-dependent", options.p_dependent)
    if options.imputations is not None and options.refine is None:
        raise CredimiError("--imputations is for --refine forest: add it, or leave both out")
    found = _compared(options)
    if options.html is not None:
        found.to_html(options.html, source=source_of(options.data))
    if options.plot is not None and len(found):
        found.plot("mi", options.plot)
    elif options.plot is not None:  # all pairs are below --p-dependent
        terminal_io.say(f"{options.plot} is not written: there is no pair to draw")
    if options.forest:
        _show_forest(found, options)
    else:
        _show(found, options)


def _compared(options: argparse.Namespace) -> Pairs:
    """The pairs that the options ask for."""
    command_files.check_outputs(options)
    files = command_files.files_with_rows(options)
    startup.announce_compiling(options.command)
    from credimi.selection.pairwise.pairs import pairs

    asked = shared.counting_all(options) | {"epsilon": options.epsilon, "level": options.level}
    asked |= {"prior": argument_types.prior(options.prior), "approximation": options.approximation}
    asked |= {"engine": options.engine, "p_dependent": options.p_dependent, "into": options.into}
    asked |= {"refine": options.refine, "imputations": options.imputations or _COMPLETED, "random_state": options.seed}
    shown_whole = options.forest or any(each is not None for each in (options.into, options.html, options.plot))
    if options.engine == "gpu" and not shown_whole:
        asked["top"] = options.top  # the others need not come back
    with terminal_io.progress("comparing") as progress:
        found = pairs(files, max_values=options.max_values, progress=progress, **asked)
    if len(found.names) < 2:
        why = "; ".join(found.remark_lines()[:_REASONS])
        raise CredimiError(f"a pair has two columns, and {len(found.names)} can be used here: {why}")
    return found.worded_for(sentences.COMMAND_LINE)


def _show(found: Pairs, options: argparse.Namespace) -> None:
    from credimi.report.pairs_view import pairs_grids

    terminal_io.write_result(
        options.format,
        options.output,
        lambda: found.to_dict(options.top),
        lambda screen: pairs_grids(found.to_dict(options.top or _LINES) | {"count": len(found)}, screen.width),
        records="pairs",
        known=("rows", "columns", "independent"),
    )


def _show_forest(found: Pairs, options: argparse.Namespace) -> None:
    forest = found.forest(threads=options.threads)
    best = {frozenset(edge) for edge in forest.best}
    edges = [
        {"a": a, "b": b, "probability": probability, "in_best": frozenset((a, b)) in best}
        for a, b, probability in forest.edges(least=0.0)[: options.top]
    ]
    report = {
        "settings": found.settings,
        "rows": found.rows,
        "columns": list(found.names),
        "given": "that a forest holds",
        "odds": forest.odds,
        "expected_edges": forest.expected_edges,
        "remarks": found.remark_lines(),
        "edges": edges,
    }
    from credimi.report.pairs_view import forest_grids

    terminal_io.write_result(
        options.format,
        options.output,
        lambda: report,
        lambda screen: forest_grids(report, options.top or _LINES, screen.width),
        records="edges",
        known=("rows", "columns", "given", "odds", "expected_edges"),
    )
