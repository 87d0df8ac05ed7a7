"""All results speak one language: a column is explained where its result is, and one name has one kind of value."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

import credimi

CLINIC, TARGET = str(Path(__file__).parents[2] / "examples" / "clinic.csv"), "diabetes"
FEW = ["age", "bmi", "sex", "family_history"]
RESULTS = {
    "rank": lambda: credimi.rank(CLINIC, TARGET, robust_factor=2),
    "rank_by": lambda: credimi.rank_by(CLINIC, TARGET, "sex", features=["age", "bmi"]),
    "select": lambda: credimi.select(CLINIC, TARGET),
    "interactions": lambda: credimi.interactions(CLINIC, TARGET, features=FEW, top=3),
    "pairs": lambda: credimi.pairs(CLINIC, features=FEW),
    "network": lambda: credimi.network(CLINIC, features=FEW, imputations=1),
    "tree": lambda: credimi.tree(CLINIC, TARGET),
    "compare": lambda: credimi.compare(CLINIC, CLINIC, TARGET, features=["age", "bmi"]),
}
_ALSO = {"rank_by": (credimi.Ranking,)}


@pytest.fixture(scope="module")
def results() -> dict[str, credimi.Result]:
    return {name: make() for name, make in RESULTS.items()}


@pytest.mark.parametrize("question", RESULTS)
def test_each_column_is_explained(question: str, results: dict[str, credimi.Result]) -> None:
    result = results[question]
    module = import_module(credimi._MODULE_OF[type(result).__name__])  # noqa: SLF001  (the list of public names)
    records = [
        each for each in vars(module).values() if inspect.isclass(each) and each.__module__.startswith("credimi")
    ]
    explained = " ".join(inspect.getdoc(each) or "" for each in [*records, *_ALSO.get(question, ())])
    unexplained = [name for name in result.column_names() if not re.search(rf"\b{name}\b", explained)]
    assert not unexplained


def test_one_name_has_one_kind_of_value(results: dict[str, credimi.Result]) -> None:
    kinds: dict[str, dict[type, str]] = defaultdict(dict)
    for question, result in results.items():
        for row in result:
            for name in result.column_names():
                value = row[name]
                if value is not None:
                    kinds[name].setdefault(
                        float if isinstance(value, int) and value is not True and value is not False else type(value),
                        question,
                    )
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}


def test_settings_that_are_shared_are_called_alike(results: dict[str, credimi.Result]) -> None:
    kinds: dict[str, set[object]] = defaultdict(set)
    for result in results.values():
        for name in ("epsilon_share", "prior", "approximation", "missing_values"):
            if name in result.settings:
                kinds[name].add(str(result.settings[name]))
    assert all(len(values) == 1 for values in kinds.values()), kinds
