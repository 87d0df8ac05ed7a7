"""What may mislead in a selection: the remarks of `rank` that a user would act upon, as records and in words."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import credimi
from credimi.results.remarks import RemarkKind

Columns = dict[str, list[object]]


@pytest.fixture(scope="module")
def columns() -> Columns:
    """A column and its copy, a column that tells only by where it is missing, one with a code of missing, noise."""
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, 3_000)
    tells = np.where(generator.random(3_000) < 0.5, target, generator.integers(0, 2, 3_000))
    known = generator.random(3_000) < np.where(target == 1, 0.7, 0.3)
    return {
        "tells": tells.tolist(),
        "copy": np.array(["a", "b"])[tells].tolist(),
        "tested": np.where(known, generator.choice(["p", "q"], 3_000), None).tolist(),
        "coded": generator.choice(["u", "v", "-"], 3_000).tolist(),
        "noise": generator.choice(["u", "v"], 3_000).tolist(),
        "y": target.tolist(),
    }


def kinds(selection: credimi.Selection) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for remark in selection.remarks:
        found.setdefault(remark.kind.value, []).append(remark.feature)
    return found


@pytest.mark.parametrize("goal", ["distinct", "relevant"])
def test_what_missing_values_tell_is_said_as_rank_says_it(columns: Columns, goal: str) -> None:
    selection = credimi.select(columns, "y", rule=goal)
    assert "tested" not in selection.features
    of_rank = [remark for remark in credimi.rank(columns, "y").remarks if remark.kind == RemarkKind.MISSING_TELLS]
    assert [remark for remark in selection.remarks if remark.kind == RemarkKind.MISSING_TELLS] == of_rank
    assert of_rank[0].nats == pytest.approx(0.073, abs=0.01)


def test_a_column_of_one_value_may_tell_by_where_it_is_missing(columns: Columns) -> None:
    constant = [None if value is None else "yes" for value in columns["tested"]]
    selection = credimi.select(columns | {"tested": constant}, "y")
    assert [facts["feature"] for facts in selection.left_out] == ["tested"]
    assert kinds(selection)["missing_tells"] == ["tested"]


def test_a_copy_is_remarked_on_only_if_both_columns_are_taken(columns: Columns) -> None:
    assert "copy" not in kinds(credimi.select(columns, "y"))  # the reason says that it is redundant
    relevant = credimi.select(columns, "y", rule="relevant")
    assert {"tells", "copy"} <= set(relevant.features)
    assert kinds(relevant)["copy"] == ["tells"]  # of two that are equal, the second by name is the copy
    assert next(each.other for each in relevant.remarks if each.kind == RemarkKind.COPY) == "copy"


def test_columns_as_good_as_the_target_codes_of_missing_and_doubtful_targets(columns: Columns) -> None:
    leak = [{0: "no", 1: "yes"}[value] for value in columns["y"]]  # type: ignore[index]
    found = kinds(credimi.select(columns | {"leak": leak}, "y"))
    assert found["nearly_target"] == ["leak"]
    assert found["may_mean_missing"] == ["coded"]
    spelled = [
        "YES" if value and index % 2 else word
        for index, (value, word) in enumerate(zip(columns["y"], leak, strict=True))
    ]
    assert "target_spelled_alike" in kinds(credimi.select(columns | {"y": spelled}, "y"))


def test_identifiers_and_dates_are_cautioned_if_they_are_taken() -> None:
    generator = np.random.default_rng(3)
    groups = generator.integers(0, 200, 2_000)
    target = np.where(generator.random(2_000) < 0.8, groups % 2, generator.integers(0, 2, 2_000))
    days = np.datetime64("2024-01-01") + groups + 200 * target
    table = {"group": [f"g{each}" for each in groups], "y": target.tolist()}
    taken = credimi.select(table, "y")
    assert taken.features == ("group",)
    assert kinds(taken) == {"possible_identifier": ["group"], "much_of_target": ["group"]}
    dated = credimi.select(table | {"day": days.astype(str).tolist()}, "y", discretize={"day": "mdl"})
    assert "day" in dated.features
    assert kinds(dated)["time"] == ["day"]


def test_a_missing_target_that_depends_on_a_column(columns: Columns) -> None:
    generator = np.random.default_rng(1)
    lost = [
        value if other or generator.random() < 0.5 else None
        for value, other in zip(columns["y"], columns["tells"], strict=True)
    ]
    selection = credimi.select(columns | {"y": lost}, "y")
    assert set(kinds(selection)["target_missing_depends"]) == {"tells", "copy"}
    assert "the selection is right only if the target is missing at random" in " ".join(str(selection).split())


def test_clean_tables_have_no_cautions() -> None:
    table = {"x": list("aabb") * 25, "z": list("abab") * 25, "y": list("ppqq") * 10 + list("pqqp") * 15}
    assert credimi.select(table, "y").remarks == ()


def test_terminal_json_page_and_pickle_show_the_same_remarks(columns: Columns) -> None:
    selection = credimi.select(columns, "y")
    record = json.loads(json.dumps(selection.to_dict()))
    assert [each["kind"] for each in record["remarks"]] == ["missing_tells", "may_mean_missing"]
    assert record["remarks"][0] | {"feature": "tested", "caution": True} == record["remarks"][0]
    first = "caution: whether the column is missing is itself informative about the target: tested"
    said = " ".join(str(selection).split())
    assert first in said
    assert "missing_as='category'" not in said  # `select` has no such option
    assert "caution: coded: '-' may mean missing" in said
    html = selection.to_html()
    assert first in html
    assert "may mean missing" in selection.to_dict(reader="command line")["remarks"][1]["text"]
    assert pickle.loads(pickle.dumps(selection)).remarks == selection.remarks  # noqa: S301  (its own pickle)


def test_scratch_files_have_the_same_remarks(columns: Columns, tmp_path: object) -> None:
    import pandas as pd  # noqa: PLC0415

    path = f"{tmp_path}/table.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    options: dict[str, object] = {"missing_values": [""], "rule": "relevant"}
    in_memory, in_file = (credimi.select(path, "y", **options, **more) for more in ({}, {"scratch": str(tmp_path)}))
    assert in_file.remarks == in_memory.remarks
    assert {"missing_tells", "copy"} <= set(kinds(in_file))
