"""Print what every two columns tell about each other, how much and how sure.

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

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.command import WITHOUT_TARGET, Command, Option
from credimi.core.errors import CredimiError
from credimi.results.sentences import COMMAND_LINE

if TYPE_CHECKING:
    from credimi.core.command import Asked
    from credimi.core.types import Foreign

_MAX_REASONS = 3  # in the error if there is no pair


def _answer(asked: Asked) -> Foreign:
    """The pairs, or their forests; where only the best are shown, others need not leave the GPU."""
    options, given = asked.options, asked.given
    if "imputations" in given and "refine" not in given:
        raise CredimiError("--imputations is for --refine forest: add it, or leave both out")
    if options.forest and options.plot is not None:
        raise CredimiError("--plot draws pairs, and --forest has no picture: leave one of them out, or take --html")
    all_are_needed = options.forest or "into" in given or options.html is not None or options.plot is not None
    options.top = given.pop("top", None)
    if given.get("device") == "gpu" and not all_are_needed:
        given["top"] = options.top
    compared = asked.ask("pairs", asked.files)
    if len(compared.names) < 2:
        why = "; ".join(compared.remark_lines(reader=COMMAND_LINE)[:_MAX_REASONS])
        raise CredimiError(f"a pair has two columns, and {len(compared.names)} can be used here: {why}")
    return compared.forest(threads=given.get("threads")) if options.forest else compared


def _finish(asked: Asked, result: Foreign) -> None:
    """Print the pairs, or the edges of forests."""
    known = ("rows", "columns", "given", "odds", "expected_edges") if asked.options.forest else None
    asked.show(result, asked.options.output, known, top=asked.options.top)


COMMAND = Command(
    name="pairs",
    text=__doc__,
    summary="what every two columns tell about each other",
    functions=("pairs",),
    means=WITHOUT_TARGET | {"top": "Show only the first N. Default: 30 in a table, all in json and csv."},
    target=False,
    doing="comparing",
    options=(
        Option(
            "--forest",
            "the edges of forests instead, assuming that the dependences form a forest (no cycles)",
            settings={"action": "store_true"},
        ),
    ),
    html="write a page to explore the links, or with the edges of --forest, in a browser, offline",
    plot="draw the matrix of mi",
    nothing_to_draw="there is no pair to draw",
    units=True,
    above_csv=("rows", "columns", "independent"),
    answer=_answer,
    finish=_finish,
)
