"""A column that does not exist is refused wherever columns are named, with the nearest name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import credimi

if TYPE_CHECKING:
    from collections.abc import Callable

FRAME = pd.DataFrame({"age": range(40), "height": list("ab") * 20, "y": list("pq") * 20})
X, Y = FRAME[["age", "height"]], FRAME["y"]
TYPO: dict[str, Any] = {"agee": [10]}

CALLS: dict[str, Callable[[], Any]] = {
    "naive Bayes": lambda: credimi.IncrementalNaiveBayes(discretize=TYPO).fit(X, Y),
    "naive Bayes in parts": lambda: credimi.IncrementalNaiveBayes(discretize=TYPO).partial_fit(X[:4], Y[:4]),
    "naive Bayes that selects": lambda: credimi.IncrementalNaiveBayes(
        selector=credimi.CredibleSelector(), discretize=TYPO
    ).fit(X, Y),
    "selector": lambda: credimi.CredibleSelector(discretize=TYPO).fit(X, Y),
    "selector in parts": lambda: credimi.CredibleSelector(discretize=TYPO).partial_fit(X, Y),
    "selector of sets": lambda: credimi.CredibleSelector("distinct", discretize=TYPO).fit(X, Y),
    "selector of relevant columns": lambda: credimi.CredibleSelector("relevant", discretize=TYPO).fit(X, Y),
    "tree": lambda: credimi.CredibleTreeClassifier(discretize=TYPO).fit(X, Y),
    "count": lambda: credimi.count(FRAME, "y", discretize=TYPO),
    "rank": lambda: credimi.rank(FRAME, "y", discretize=TYPO),
    "rank, exclude": lambda: credimi.rank(FRAME, "y", exclude=["agee"]),
    "rank, weights": lambda: credimi.rank(FRAME, "y", weights="agee"),
    "rank_by": lambda: credimi.rank_by(FRAME, "y", "height", discretize=TYPO),
    "rank_by, exclude": lambda: credimi.rank_by(FRAME, "y", "height", exclude=["agee"]),
    "rank_by, by": lambda: credimi.rank_by(FRAME, "y", "agee"),
    "compare": lambda: credimi.compare(FRAME, FRAME, "y", discretize=TYPO),
    "compare, exclude": lambda: credimi.compare(FRAME, FRAME, "y", exclude=["agee"]),
    "select": lambda: credimi.select(FRAME, "y", discretize=TYPO),
    "select, exclude": lambda: credimi.select(FRAME, "y", exclude=["agee"]),
    "interactions": lambda: credimi.interactions(FRAME, "y", discretize=TYPO),
    "interactions, exclude": lambda: credimi.interactions(FRAME, "y", exclude=["agee"]),
    "pairs": lambda: credimi.pairs(FRAME, discretize=TYPO),
    "pairs, exclude": lambda: credimi.pairs(FRAME, exclude=["agee"]),
    "pairs, columns": lambda: credimi.pairs(FRAME, features=["agee", "y"]),
    "network": lambda: credimi.network(FRAME, discretize=TYPO),
    "network, exclude": lambda: credimi.network(FRAME, exclude=["agee"]),
    "prequential": lambda: credimi.prequential(FRAME, "y", discretize=TYPO),
    "prequential, exclude": lambda: credimi.prequential(FRAME, "y", exclude=["agee"]),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_unknown_column_is_named_with_the_nearest(call: str) -> None:
    with pytest.raises(credimi.CredimiError, match=r"there is no column 'agee'.*: did you mean 'age'"):
        CALLS[call]()


def test_a_stream_may_bring_a_named_column_later() -> None:
    model = credimi.IncrementalNaiveBayes(discretize={"age": [20]})
    model.learn_one({"height": "a"}, "p")
    for age, label in ((30, "q"), (10, "p"), (40, "q"), (12, "p")):
        model.learn_one({"age": age}, label)
    assert model.predict_one({"age": 31}) == "q"
