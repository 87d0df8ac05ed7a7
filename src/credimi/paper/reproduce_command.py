"""Write reproduction.html, a page with the paper's table beside ours; also JSON, Markdown and figures.

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

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.core.command import Command, Option
from credimi.core.errors import CredimiError
from credimi.core.keywords import Keyword
from credimi.inference.belief import Belief

if TYPE_CHECKING:
    from credimi.core.command import Asked


def _answer(asked: Asked) -> None:
    """Run everything, and write the results."""
    from credimi.paper import paper_datasets, paper_figures, paper_report, reproduction

    options = asked.options
    names = list(options.dataset or paper_datasets.INCOMPLETE)
    names += [name for name in paper_datasets.COMPLETE if options.complete and name not in names]
    folder = Path(options.output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CredimiError(f"{folder} is not a folder that can be written to: {error.strerror or error}") from None
    with asked.progress() as progress:
        report, runs = reproduction.reproduce(
            data=options.data,
            orders=asked.given.get("orders", 20),
            seed=asked.given.get("random_state", 0),
            names=list(dict.fromkeys(names)),
            quick=options.quick,
            keep=folder / "runs",
            threads=asked.given.get("threads"),
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
            asked.say(f"without figures: {error}")
            break
        figures[name] = f"data:image/svg+xml;base64,{base64.b64encode(written[-1].read_bytes()).decode()}"
    write_bytes(paper_report.page(report, figures).encode(), folder / "reproduction.html")
    asked.print(text)
    asked.say(
        f"{folder}: reproduction.html (everything on one page), reproduction.json, reproduction.md, "
        f"{len(figures)} figures (png, svg)"
    )


COMMAND = Command(
    name="reproduce",
    text=__doc__,
    summary="the paper's experiments repeated: table, figure, and more",
    keywords={"orders": Keyword("orders", "int", 20, "Random orders of the rows.")}
    | Belief.only("random_state", "threads").keywords,
    means={"random_state": "The seed of the orders."},
    data="",
    target=False,
    doing="going through the rows",
    options=(
        Option("--data", "the folder with the data sets, each in a folder of its own", "data", {"metavar": "DIR"}),
        Option(
            "--dataset",
            "one data set only; may be repeated (default: the paper's)",
            "data",
            {"metavar": "NAME", "action": "append"},
        ),
        Option(
            "--complete",
            "also the complete data sets of Zaffalon and Hutter (2002)",
            "data",
            {"action": "store_true"},
        ),
        Option("--quick", "only the paper's table and figure, no other priors", settings={"action": "store_true"}),
        Option(
            "--output",
            "the folder to write to (default: %(default)s)",
            "output",
            {"metavar": "DIR", "default": "reproduction"},
        ),
    ),
    formats=(),
    output="",
    answer=_answer,
)
