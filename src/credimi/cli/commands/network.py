"""`credimi network`: which columns hang together directly, with the probability of every edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.cli import argument_types, command_files, startup, terminal_io
from credimi.cli import options as shared
from credimi.core.atomic_files import write
from credimi.core.errors import CredimiError
from credimi.core.remote_files import source_of
from credimi.results import sentences

if TYPE_CHECKING:
    import argparse

    from credimi.core.types import Foreign
    from credimi.questions.network.result import Network

_EXAMPLES = """\
An edge joins two columns that depend whatever other columns are given; its
probability is that of all networks that have it. -> is a direction that follows
from what is independent of what; -- means that the direction cannot be told.
Pairs that depend, but not directly, are listed with the columns that separate
them. The rows are held in memory. Numbers are cut into ranges of about equal
counts.

examples:
  credimi network survey.csv
  credimi network survey.csv --html network.html
  credimi network survey.csv --level 0.95 --exclude id --format json
  credimi network survey.csv --output network.dot --format dot
"""


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "network",
        run,
        summary="which columns hang together directly, with the probability of every edge",
        description="Learn which columns hang together directly, missing values included.",
        epilog=_EXAMPLES,
    )
    shared.add_data_options(parser, target=False, max_values=False)
    parser.add_argument(
        "--level",
        type=argument_types.number,
        default=0.5,
        help="probability from which a pair is an edge (default: %(default)s)",
    )
    parser.add_argument(
        "--degree",
        type=argument_types.number,
        metavar="K",
        help="neighbours that a column is expected to have (default: 2, or fewer if the data show fewer)",
    )
    parser.add_argument(
        "--max-parents",
        type=argument_types.positive,
        metavar="N",
        default=8,
        help="the most columns that one may depend on directly (default: %(default)s)",
    )
    parser.add_argument(
        "--imputations",
        type=argument_types.seed,
        metavar="N",
        default=4,
        help="completed tables that are averaged if values are missing; 0: only complete rows of each test count "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--max-values",
        type=argument_types.positive,
        default=200,
        metavar="N",
        help="leave out columns of more values (default: %(default)s)",
    )
    shared.add_random_state(parser)
    parser.add_argument(
        "--top", type=argument_types.positive, metavar="K", help="show only the first K edges (with --format table)"
    )
    shared.add_output_options(parser, ("table", "json", "csv", "dot", "graphml"))
    parser.add_argument("--html", metavar="PAGE", help="write a page to explore the network in a browser, offline")
    parser.add_argument("--plot", metavar="PICTURE", help="draw the network in a .png, .svg or .pdf file")


def run(options: argparse.Namespace) -> None:
    """Learn the network, and print it."""
    from credimi.core.arguments import require_share

    require_share("--level", options.level)
    if options.degree is not None and not options.degree > 0.0:
        raise CredimiError(f"--degree is {options.degree:g}: it must be a number above 0, such as 2")
    if options.top is not None and options.format != "table":
        raise CredimiError(f"--top is for --format table: {options.format} has all edges")
    command_files.check_outputs(options)
    learned_network = _learned(options)
    if options.html is not None:
        learned_network.to_html(options.html, source=source_of(options.data), reader=sentences.COMMAND_LINE)
    if options.plot is not None:
        learned_network.plot(options.plot)
    if options.format in {"dot", "graphml"}:
        text = learned_network.to_dot() if options.format == "dot" else learned_network.to_graphml()
        write(terminal_io.sayable(text, options.output), options.output)
        return
    terminal_io.write_shown(learned_network, options, options.output, known=("rows", "columns"))


def _learned(options: argparse.Namespace) -> Network:
    """The network that the options ask for."""
    files = command_files.files_with_rows(options)
    startup.announce_compiling(options.command)
    from credimi.questions.network.network import network

    with terminal_io.progress("learning") as progress:
        return network(
            files,
            level=options.level,
            degree=options.degree,
            max_parents=options.max_parents,
            imputations=options.imputations,
            max_values=options.max_values,
            random_state=options.random_state,
            progress=progress,
            **shared.counting_all(options),
        )
