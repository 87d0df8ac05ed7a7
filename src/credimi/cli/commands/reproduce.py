"""`credimi reproduce`: the experiments of Hutter and Zaffalon (2003), our results beside theirs."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.cli import argument_types, startup, terminal_io
from credimi.cli import options as shared
from credimi.core.atomic_files import write, write_bytes
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    import argparse

    from credimi.core.types import Foreign

_EXAMPLES = """\
Data come from --data, or from the folder that the environment variable
CREDIMI_DATA names: any folder that has the files, also in folders inside it.
Otherwise they are looked for in the working folder, and then downloaded into
the user's cache. Finished orders are saved in OUTPUT/runs: the same call
continues a killed run.

examples:
  credimi reproduce --output reproduction
  credimi reproduce --data uci --orders 100 --quick --output reproduction
  credimi reproduce --dataset crx --dataset horse-colic --output reproduction
"""


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "reproduce",
        run,
        summary="the paper's experiments repeated: table, figure, and more",
        description="Write one page, reproduction.html, with the paper's table beside ours and the curves of all data "
        "sets; also reproduction.json, reproduction.md and the figures.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("--data", metavar="DIR", help="the folder with the data sets, each in a folder of its own")
    parser.add_argument(
        "--orders",
        type=argument_types.positive,
        default=20,
        metavar="K",
        help="random orders of the rows (default: 20)",
    )
    shared.add_random_state(parser, " of the orders")
    parser.add_argument(
        "--output", metavar="DIR", default="reproduction", help="the folder to write to (default: %(default)s)"
    )
    parser.add_argument(
        "--dataset", metavar="NAME", action="append", help="one data set only; may be repeated (default: the paper's)"
    )
    parser.add_argument(
        "--complete", action="store_true", help="also the complete data sets of Zaffalon and Hutter (2002)"
    )
    parser.add_argument("--quick", action="store_true", help="only the paper's table and figure, no other priors")
    shared.add_threads(parser)


def run(options: argparse.Namespace) -> None:
    """Run everything, and write the results."""
    startup.announce_compiling(options.command)
    from credimi.paper import paper_datasets, paper_figures, paper_report, reproduction

    names = list(options.dataset or paper_datasets.INCOMPLETE)
    names += [name for name in paper_datasets.COMPLETE if options.complete and name not in names]
    folder = Path(options.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CredimiError(f"{folder} is not a folder that can be written to: {error.strerror or error}") from None
    with terminal_io.progress("going through the rows") as progress:
        report, runs = reproduction.reproduce(
            data=options.data,
            orders=options.orders,
            seed=options.random_state,
            names=list(dict.fromkeys(names)),
            quick=options.quick,
            keep=folder / "runs",
            threads=options.threads,
            progress=progress,
        )
    text = paper_report.markdown(report)
    write_bytes((json.dumps(report, indent=1) + "\n").encode(), folder / "reproduction.json")
    write_bytes(text.encode(), folder / "reproduction.md")
    figures = {}
    for name, by_case in runs.items():
        try:
            written = paper_figures.draw(name, reproduction.drawn(by_case), folder)
        except CredimiError as error:  # no matplotlib: all else is there
            terminal_io.say(f"without figures: {error}")
            break
        figures[name] = f"data:image/svg+xml;base64,{base64.b64encode(written[-1].read_bytes()).decode()}"
    write_bytes(paper_report.page(report, figures).encode(), folder / "reproduction.html")
    write(terminal_io.sayable(text, None), None)
    terminal_io.say(
        f"{folder}: reproduction.html (everything on one page), reproduction.json, reproduction.md, "
        f"{len(figures)} figures (png, svg)"
    )
