"""Columns without a name, and with odd names, are columns like others, wherever results name them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import credimi
from credimi import CredimiError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 300
NAMES = {
    "empty": ("", "b", "copy"),
    "None": (None, "b", "copy"),
    "NaN": (float("nan"), "b", "copy"),
    "numbers": (0, 1, 2),
    "quotes and lines": ('"q" of \\ it', "new\nline", "<b>&"),
    "blanks": (" ", "  ", "\t"),
    "words of the house": ("(no name)", "a", "--"),
}


def frame(names: tuple[Any, ...]) -> pd.DataFrame:
    """Two columns that depend, a copy of one of them, some values missing, and a target."""
    generator = np.random.default_rng(0)
    one = generator.integers(0, 3, ROWS)
    other = np.where(generator.random(ROWS) < 0.3, generator.integers(0, 3, ROWS), one)
    gone = generator.random(ROWS) < np.where(one == 0, 0.5, 0.02)
    columns = [one.astype(object), np.where(gone, None, other), one.astype(object), (one + other > 2).astype(object)]
    return pd.concat([pd.Series(column) for column in columns], axis=1, keys=[*names, "target"])


def tree_of(table: pd.DataFrame) -> Any:  # noqa: ANN401
    """scikit-learn refuses names of which some are texts and some are not."""
    features = table.iloc[:, :-1].set_axis(map(str, table.columns[:-1]), axis=1)
    return credimi.CredibleTreeClassifier().fit(features, table["target"]).tree_


CALLS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "network": lambda table: credimi.network(table, imputations=1, threads=1),
    "pairs": lambda table: credimi.pairs(table, threads=1),
    "pairs, refined": lambda table: credimi.pairs(table, refine="forest", imputations=1, threads=1),
    "rank": lambda table: credimi.rank(table, target="target"),
    "select": lambda table: credimi.select(table, target="target"),
    "interactions": lambda table: credimi.interactions(table, target="target"),
    "tree": tree_of,
    "compare": lambda table: credimi.compare(table[: ROWS // 2], table[ROWS // 2 :], target="target"),
    "rank_by": lambda table: credimi.rank_by(table.assign(part=np.arange(ROWS) % 2), target="target", by="part"),
}


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("call", CALLS)
def test_odd_names_do_no_harm(call: str, names: str, tmp_path: Path) -> None:
    result = CALLS[call](frame(NAMES[names]))
    assert repr(result)
    json.dumps(result.to_dict())
    if hasattr(result, "to_html"):
        result.to_html(tmp_path / "page.html")
        assert (tmp_path / "page.html").stat().st_size > 1000
    for form in ("to_dot", "to_graphml"):
        if hasattr(result, form):
            assert getattr(result, form)()


@pytest.mark.parametrize("call", CALLS)
def test_two_columns_of_one_name_are_refused(call: str) -> None:
    with pytest.raises(CredimiError, match="two columns are called 'x'"):
        CALLS[call](frame(("x", "x", "y")))


def test_a_column_without_a_name_is_named_in_remarks() -> None:
    found = credimi.network(frame(("", "b", "copy")), imputations=1, threads=1)
    remarks = {(remark.kind, remark.column) for remark in found.remarks}
    assert {("determined", ""), ("determined", "copy")} <= remarks
    assert "(no name) is a function of 'copy'" in repr(found)
    assert "'copy' is a function of (no name)" in repr(found)
    assert [each["column"] for each in found.to_dict()["remarks"] if each["kind"] == "determined"][:1] == [""]
