"""Rank columns by their mutual information with a target, missing values included.

numbers: whole numbers of at most 20 different values are categories. Other
numbers are cut where that tells most about the target (mdl), or into quarters
if no cut passes; the note says which. A column whose values are nearly all
different is called an identifier and not ranked. In CSV files, decimal commas
(1,5) and dates (2024-12-31) are text unless --discretize COLUMN=mdl asks to
cut them; 31.12.2024, 1,001.18, 12 % and $12.50 are always text.

examples:
  credimi rank survey.csv --target income
  credimi rank "2024/*.parquet" --target churn --epsilon 0.01 --units bits
  credimi rank survey.csv --target income --missing -9 --discretize age=18,65
  credimi rank survey.csv --target age --target-cuts quantile:4
  credimi rank survey.csv --target income --robust-factor 3
  credimi rank survey.csv --target income --format json --output ranking.json
  credimi rank survey.csv --target income --html report.html --plot best.svg
  credimi rank income.counts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.command import TOP, Command, Option
from credimi.core.errors import CredimiError
from credimi.inference.belief import Belief

if TYPE_CHECKING:
    from credimi.core.command import Asked
    from credimi.core.types import Foreign

_OF_BELIEF = {"method", "prior", "approximation", "random_state"}  # not of comparisons
_ORDERS = ("mean", "low", "p", "name")


def _answer(asked: Asked) -> Foreign:
    """The ranking; with --by, one of each group."""
    by = asked.options.by
    if by is None:
        if "p_same" in asked.given:
            raise CredimiError("--p-same is for --by: add it, or leave it out")
        if "by_cuts" in asked.given:
            raise CredimiError("--by-cuts cuts the column of --by: add --by COLUMN, or leave it out")
        return asked.ask("rank", asked.counts(), counted=True).sorted_by(asked.options.sort)
    if asked.options.effects:
        raise CredimiError("--effects is of one ranking: leave out --by, or --effects")
    if asked.options.format == "csv":
        raise CredimiError("--by writes tables, JSON, a page and a picture: leave out --format csv")
    why = "leave one of them out"
    if not _OF_BELIEF.isdisjoint(asked.given):
        why = f"groups are compared with the adaptive prior and near-exact moments, and nothing is drawn; {why}"
    return asked.ask("rank_by", asked.files, by=by, refused=f"does not go with --by: {why}").sorted_by(
        asked.options.sort
    )


COMMAND = Command(
    name="rank",
    text=__doc__,
    summary="which columns inform about a target, how much, and how surely",
    functions=("rank", "rank_by"),
    means={"prior": Belief.only("prior").keywords["prior"].help},  # no dictionary of columns
    doing="counting",
    options=(
        Option(
            "--by",
            "rank each group of rows separately, and compare them (see credimi compare); --by-cuts makes groups of "
            "ranges of numbers or dates",
            settings={"metavar": "COLUMN"},
        ),
        Option(
            "--sort",
            "best first by the mean of I, by the lower end of its interval or by P(I > epsilon); or by name "
            "(default: %(default)s)",
            "output",
            {"choices": _ORDERS, "default": "mean"},
        ),
        Option(
            "--effects",
            "also what the values of each column mean: the share of a class by value or range, with intervals, and its "
            "direction; with --format json, all classes",
            "output",
            {"action": "store_true"},
        ),
    ),
    units=True,
    top=TOP,
    verbose="by which prior and approximation, and how numbers were read",
    html="write a page to explore the ranking in a browser, offline",
    plot="draw the best 30, or --top,",
    above_csv=("rows", "rows_with_target", "classes", "entropy"),
    draws_top=True,
    answer=_answer,
)
