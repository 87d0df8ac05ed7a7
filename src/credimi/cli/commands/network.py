"""`credimi network`: which columns hang together directly, with the probability of every edge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from credimi.cli import argument_types, startup, terminal_io
from credimi.cli import options as shared
from credimi.core.atomic_files import write
from credimi.core.errors import CredimiError
from credimi.core.remote_files import source_of
from credimi.report import sentences

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from credimi.core.types import Foreign, Record, Value
    from credimi.selection.networks.network import Network

_EXAMPLES = """\
An edge joins two columns that depend whatever other columns are given; its
probability is that of all networks that have it. -> is a direction that follows
from what is independent of what, -- may go either way. Pairs that depend, but
not directly, are listed with the columns that separate them. The rows are held
in memory. Numbers are cut into ranges of about equal counts.

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
    shared.add_data_options(parser, target=False)
    shared.add_weights_option(parser)
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
        default=5,
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
    parser.add_argument("--seed", type=argument_types.seed, default=0, help="random seed (default: %(default)s)")
    parser.add_argument("--top", type=argument_types.positive, metavar="K", help="show only the first K edges")
    parser.add_argument(
        "--format",
        choices=["table", "json", "csv", "dot", "graphml"],
        default="table",
        help="output format (default: %(default)s)",
    )
    parser.add_argument("--output", metavar="FILE", help="the file to write (default, or -: standard output)")
    parser.add_argument("--html", metavar="PAGE", help="write a page to explore the network in a browser, offline")
    parser.add_argument("--plot", metavar="PICTURE", help="draw the network in a .png, .svg or .pdf file")


def run(options: argparse.Namespace) -> None:
    """Learn the network, and print it."""
    from credimi.core.arguments import require_share

    require_share("--level", options.level)
    if options.degree is not None and not options.degree > 0.0:
        raise CredimiError(f"--degree is {options.degree:g}: it must be a number above 0, such as 2")
    _check_outputs(options)
    found = _learned(options)
    if options.html is not None:
        found.to_html(options.html, source=source_of(options.data))
    if options.plot is not None:
        found.plot(options.plot)
    if options.format == "table":
        from credimi.report.networks.network_text import network_grids

        console = terminal_io.console(options.output)
        grids = network_grids(found.to_dict(), sentences.COMMAND_LINE, top=options.top)
        terminal_io.show(grids, options.output, console)
    elif options.format == "json":
        terminal_io.write_json(found.to_dict(), options.output)
    elif options.format == "csv":
        _write_csv(found, options.output)
    else:
        text = found.to_dot() if options.format == "dot" else found.to_graphml()
        write(terminal_io.sayable(text, options.output), options.output)


def _check_outputs(options: argparse.Namespace) -> None:
    """Before the work is done, refuse files that could not be written."""
    for path in (options.html, options.plot):
        if path == "-":
            raise CredimiError("a page or a picture needs a file of its own, not standard output")
    named = [Path(path) for path in (options.output, options.html, options.plot) if path not in {None, "-"}]
    if len({path.resolve() for path in named}) < len(named):
        raise CredimiError("--output, --html and --plot name the same file: give each its own")
    if options.plot is not None:
        from credimi.report import figures

        figures.picture_kind(options.plot)
        figures.require_matplotlib()


def _learned(options: argparse.Namespace) -> Network:
    """The network that the options ask for."""
    files = shared.files(options)
    for file in files:
        if file.is_counts:
            raise CredimiError(f"{file} holds counts of columns with a target, not rows: name the data")
    for output in (options.output, options.html, options.plot):
        shared.check_output(output, [file.identity for file in files])
    startup.announce_compiling(options.command)
    from credimi.selection.networks.build import network

    with terminal_io.progress("learning") as told:
        found = network(
            files,
            level=options.level,
            degree=options.degree,
            max_parents=options.max_parents,
            imputations=options.imputations,
            random_state=options.seed,
            weights=options.weights,
            progress=told,
            **shared.counting_all(options),
        )
    return found.worded_for(sentences.COMMAND_LINE)


def _write_csv(found: Network, output: str | None) -> None:
    """One line for each edge; separating columns are in one field, apart by semicolons."""
    from credimi.selection.networks.network import Edge

    def cells(edge: Record) -> Iterable[Value]:
        given = edge["separated_by"]
        return (edge | {"separated_by": "" if given is None else "; ".join(given)}).values()

    terminal_io.write_csv(Edge.__dataclass_fields__, map(cells, found.to_dict()["edges"]), output)
