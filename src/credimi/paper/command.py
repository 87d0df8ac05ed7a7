"""Accuracy of naive Bayes and number of features; each row is first predicted, then learned.

The rows come in random orders. For each row, a filter first picks columns from
the rows before it, naive Bayes predicts the class from these columns, and only
then is the row learned. rules: plugin (F), forward (FF), backward (BF), all
(no filter), imputed (missing values replaced by the most frequent value, then
as plugin).

Numbers are cut once, from all rows. With mdl, the default, the cuts look at the
classes that are to be predicted, which makes the accuracy too good if there are
many such columns; --discretize quantile does not look at the classes. Columns
in which no cut passes the test are left out, and named; only `rank` cuts them
into quarters.

Rows are learned one at a time, so that there are no weights: repeat the rows.

examples:
  credimi prequential survey.csv --target income
  credimi prequential survey.csv --target income --rule forward --rule all
  credimi prequential survey.csv --target income --method paper
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.command import Command
from credimi.results.figures import save
from credimi.results.section import Column, Section
from credimi.results.sentences import COMMAND_LINE, counted, why_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from credimi.core.command import Asked
    from credimi.core.types import Record
    from credimi.paper.prequential import Prequential
    from credimi.results.section import Shown


def _answer(asked: Asked) -> _Shown:
    return _Shown(asked.ask("prequential", asked.files), asked)


class _Shown:
    """A prequential run, to be shown like other results: one row for each rule."""

    rows_in_json = "results"

    def __init__(self, run: Prequential, asked: Asked) -> None:
        self._run, self._seed, self._target = run, asked.given.get("random_state", 0), asked.options.target
        self._left_out = {name: why_left_out(facts, COMMAND_LINE) for name, facts in run.rows.left_out.items()}

    def __len__(self) -> int:
        return len(self._run.rules)

    def plot(self, path: str) -> None:
        """Draw the accuracy of each filter on the first rows."""
        save(self._run.plot(), path)

    def column_names(self) -> tuple[str, ...]:
        return "rule", "orders", "accuracy_mean", "accuracy_sd", "features_mean", "features_sd"

    def to_dict(self, **_: str) -> Record:
        rows = self._run.rows
        return {
            "settings": self._run.settings.to_dict() | {"target": self._target, "seed": self._seed},
            "rows": len(rows),
            "rows_without_target": rows.without_target,
            "classes": list(rows.classes),
            "features": list(rows.features),
            "left_out": self._left_out,
            "results": self._run.summary(),
        }

    def sections(self, _: Shown) -> Iterator[Section]:
        rows, settings = self._run.rows, self._run.settings
        orders = counted(self._run.orders.shape[0], "random order")
        title = f"Naive Bayes on {self._target}, {counted(len(rows), 'row')} in {orders}, "
        columns = (
            Column("rule", lambda row: str(row["rule"]), right=False, kind="name"),
            Column("accuracy", lambda row: f"{row['accuracy_mean']:.4f}"),
            Column("sd", lambda row: f"{row['accuracy_sd']:.4f}"),
            Column("features", lambda row: f"{row['features_mean']:.2f}"),
            Column("sd", lambda row: f"{row['features_sd']:.2f}"),
        )
        with_method = "" if settings.method is None else f"method {settings.method}: "
        asked = f"prior {settings.prior}, approximation {settings.approximation}, epsilon {settings.epsilon:g}"
        means = "accuracy and features kept: means over the rows, then mean and sd over the orders"
        lines = [f"{means}; {with_method}{asked}, level {settings.level:g}, seed {self._seed}"]
        if rows.without_target:
            are = "is" if rows.without_target == 1 else "are"
            lines.append(f"{counted(rows.without_target, 'row')} without the target {are} left out")
        lines += [f"{name}: left out: {why}" for name, why in self._left_out.items()]
        yield Section(title + counted(len(rows.features), "feature"), columns, self._run.summary(), lines)


COMMAND = Command(
    name="prequential",
    text=__doc__,
    summary="how the filters affect naive Bayes, row by row",
    functions=("prequential",),
    means={
        "rules": "A filter; F, FF and BF are understood; may be repeated. Default: plugin, forward and backward.",
        "orders": "Random orders of the rows",
        "random_state": "The seed of the orders of the rows.",
    },
    doing="going through the rows",
    plot="draw the accuracy of each filter on the first rows",
    above_csv=("rows", "classes"),
    answer=_answer,
)
