"""Grow a classification tree that splits only where it is credible, and print it.

A node is split by the column that tells most about the target there, if it is
credible that the column tells something: P(I > epsilon) >= level, allowing for
the number of columns tried. Nothing is pruned or tuned. A row without the value
goes down all branches with weights. All rows are read into memory or, with
--scratch, become codes in a file there.

Ctrl-C stops the growth, and what was grown so far is printed.

examples:
  credimi tree survey.csv --target income
  credimi tree survey.csv --target income --html tree.html --plot tree.svg
  credimi tree survey.csv --target income --max-depth 3 --format json
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.command import INTERRUPTED, Command, Option

if TYPE_CHECKING:
    from credimi.core.command import Asked
    from credimi.questions.tree.result import Tree


def _finish(asked: Asked, tree: Tree) -> int:
    asked.show(tree, asked.options.output)
    if tree.interrupted:
        asked.say("interrupted: the tree has the nodes that were grown so far")
    return INTERRUPTED if tree.interrupted else 0


COMMAND = Command(
    name="tree",
    text=__doc__,
    summary="a classification tree that splits only where it is credible",
    functions=("tree",),
    means={
        "epsilon": 'What a column has to tell to be worth a split: "0.5%" of the target\'s entropy, or of log 2 where '
        "that is less; or nats.",
        "level": "How probable that has to be in nodes of up to 200 rows; the doubt that is allowed falls with the "
        "square of the rows beyond, and the root needs at least 0.95.",
    },
    options=(
        Option(
            "--no-reasons",
            "print the tree without why nodes were split or not",
            "output",
            {"action": "store_true"},
        ),
    ),
    formats=("text", "json", "csv"),
    above_csv=("rows", "classes"),
    html="also write a page, on which nodes can be opened",
    plot="draw the tree",
    finish=_finish,
)
