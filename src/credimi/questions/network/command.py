"""Learn which columns hang together directly, missing values included.

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

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.command import WITHOUT_TARGET, Command
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from credimi.core.command import Asked
    from credimi.core.types import Foreign


def _answer(asked: Asked) -> Foreign:
    if asked.options.top is not None and asked.options.format != "table":
        raise CredimiError(f"--top is for --format table: {asked.options.format} has all edges")
    return asked.ask("network", asked.files)


COMMAND = Command(
    name="network",
    text=__doc__,
    summary="which columns hang together directly, with the probability of every edge",
    functions=("network",),
    means=WITHOUT_TARGET,
    target=False,
    doing="learning",
    formats=("table", "json", "csv", "dot", "graphml"),
    top="show only the first edges (with --format table)",
    html="write a page to explore the network in a browser, offline",
    plot="draw the network",
    units=True,
    above_csv=("rows", "columns"),
    answer=_answer,
)
