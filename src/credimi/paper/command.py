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

from credimi.core.command import Command

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
)
