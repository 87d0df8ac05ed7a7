"""`credimi interactions`: prints pairs of columns that tell more about the target together than apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.cli import argument_types, command_files, startup, terminal_io
from credimi.cli import options as shared
from credimi.cli.commands.pairs import add_device_option
from credimi.results.sentences import COMMAND_LINE

if TYPE_CHECKING:
    import argparse

    from credimi.core.types import Foreign

_EXAMPLES = """\
synergy is what two columns tell together beyond what each tells alone: positive
where only the combination tells something, negative (redundancy) where both say
the same. All pairs are looked at; of those called synergy at most 5 % are
expected to be wrong (1 - level). It needs all rows, as codes in memory or, with
--scratch, in a file. Ctrl-C ends the search with the pairs found so far.

examples:
  credimi interactions survey.csv --target income
  credimi interactions survey.csv --target income --top 50 --format csv
  credimi interactions survey.csv --target income --html pairs.html --plot pairs.png
"""


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "interactions",
        run,
        summary="pairs of columns that tell more together than apart, or overlap",
        description="Find pairs of columns that tell more about the target together than apart, or that overlap.",
        epilog=_EXAMPLES,
    )
    shared.add_data_options(parser)
    shared.add_thresholds(
        parser,
        epsilon_means="the synergy worth knowing, in nats",
        level_means="share of the reported pairs that is expected to be right; also of the intervals",
    )
    parser.add_argument(
        "--top",
        type=argument_types.positive,
        metavar="N",
        help="list N pairs of each kind, sure or not (default: those that are more probable than not)",
    )
    add_device_option(parser, "where all pairs are looked at first")
    parser.add_argument("--scratch", metavar="DIR", help="keep codes in files there, if memory is short")
    shared.add_output_options(parser)
    parser.add_argument("--html", metavar="PAGE", help="write a page with the pairs and heat maps, for a browser")
    parser.add_argument(
        "--plot", metavar="PICTURE", help="draw heat maps of the first six in a .png, .svg or .pdf file"
    )


def run(options: argparse.Namespace) -> None:
    """Search; then print the pairs."""
    shared.check_thresholds(options)
    command_files.check_outputs(options)
    files = command_files.files_with_rows(options)
    shared.require_target(options)
    startup.announce_compiling(options.command)
    from credimi.questions.interactions.interactions import interactions

    arguments = shared.counting(options)
    arguments |= {"epsilon": options.epsilon, "level": options.level, "top": options.top, "device": options.device}
    arguments |= {"scratch": options.scratch, "max_values": options.max_values}
    with terminal_io.progress("looking at pairs") as progress:
        interacting_pairs = interactions(files, options.target, progress=progress, **arguments)
    if options.html is not None:
        interacting_pairs.to_html(options.html, reader=COMMAND_LINE)
    if options.plot is not None:
        if interacting_pairs.tables:
            interacting_pairs.plot(options.plot)
        else:
            terminal_io.say(f"{options.plot} is not written: there is no pair to draw; --top N lists unsure ones")
    known = ("rows", "classes", "columns_tried", "pairs_tried", "all_pairs", "share_without_synergy")
    terminal_io.write_shown(interacting_pairs, options, options.output, known=known)
