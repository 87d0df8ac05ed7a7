"""`credimi tree`: a classification tree that splits only where it is credible, as text, JSON or a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.cli import argument_types, command_files, startup, terminal_io
from credimi.cli import options as shared
from credimi.results.sentences import COMMAND_LINE

if TYPE_CHECKING:
    import argparse

    from credimi.core.types import Foreign
    from credimi.questions.tree.result import Tree
    from credimi.sources.data_file import DataFile

_EXAMPLES = """\
A node is split by the column that tells most about the target there, if it is
credible that the column tells something: P(I > epsilon) >= level, allowing for
the number of columns tried. Nothing is pruned or tuned. A row without the value
goes down all branches with weights. All rows are read into memory.

Ctrl-C stops the growth, and what was grown so far is printed.

examples:
  credimi tree survey.csv --target income
  credimi tree survey.csv --target income --html tree.html --plot tree.svg
  credimi tree survey.csv --target income --max-depth 3 --format json
"""


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "tree",
        run,
        summary="a classification tree that splits only where it is credible",
        description="Grow a classification tree that splits only where it is credible, and print it.",
        epilog=_EXAMPLES,
    )
    shared.add_data_options(parser)
    shared.add_thresholds(
        parser,
        level=0.5,
        epsilon_means="the information, in nats, that a column has to tell to be worth a split",
        level_means="how probable that has to be in nodes of up to 200 rows; the doubt that is allowed falls with the "
        "square of the rows beyond, and the root needs at least 0.95",
    )
    parser.add_argument(
        "--max-depth", type=argument_types.positive, metavar="N", help="the largest depth (default: any)"
    )
    parser.add_argument("--no-reasons", action="store_true", help="print the tree without why nodes were split or not")
    shared.add_output_options(parser, ("text", "json"))
    parser.add_argument("--html", metavar="PAGE", help="also write a page, on which nodes can be opened")
    parser.add_argument("--plot", metavar="PICTURE", help="draw the tree in a .png, .svg or .pdf file")


def run(options: argparse.Namespace) -> int:
    """Grow the tree, print it, and write the page."""
    shared.check_thresholds(options)
    command_files.check_outputs(options)
    data = command_files.files_with_rows(options, twice=True)
    shared.require_target(options)
    for file in data:
        command_files.check_features(file, options.target)
    tree = _grown(options, data)
    if options.html is not None:
        tree.to_html(options.html, reader=COMMAND_LINE)
    if options.plot is not None:
        tree.plot(options.plot)
    terminal_io.write_shown(tree, options, options.output)
    if tree.interrupted:
        terminal_io.say("interrupted: the tree has the nodes that were grown so far")
        return 130
    return 0


def _grown(options: argparse.Namespace, data: list[DataFile]) -> Tree:
    startup.announce_compiling(options.command)
    from credimi.questions.tree.tree import tree

    with terminal_io.progress("reading") as progress:
        asked = {"max_depth": options.max_depth, "epsilon": options.epsilon, "level": options.level}
        asked["max_values"] = options.max_values
        return tree(data, options.target, **asked, progress=progress, **shared.counting(options))
