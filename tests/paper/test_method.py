"""`method="paper"`: one name for raw counts and leading order, the same in every function and command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import paper_formulas as paper
import pytest

import credimi
from credimi import CredimiError
from credimi.cli import main

if TYPE_CHECKING:
    from pathlib import Path

JOINT, TARGET_ONLY = [[3, 0, 1], [0, 2, 1]], [1, 1]
RAW = {"prior": "raw-counts", "approximation": "leading"}


def columns() -> dict[str, list[str | None]]:
    generator = np.random.default_rng(0)
    answer = generator.integers(2, size=120)
    data: dict[str, list[str | None]] = {"class": [f"c{each}" for each in answer]}
    for name, share in (("strong", 0.9), ("weak", 0.6), ("noise", 0.0)):
        values = np.where(generator.random(120) < share, answer, generator.integers(2, size=120))
        data[name] = [None if generator.random() < 0.1 else f"v{each}" for each in values]
    return data


def test_mean_of_the_example() -> None:
    law = credimi.mutual_information(JOINT, TARGET_ONLY, method="paper")
    assert round(law.mean(), 3) == 0.488
    assert law.mean() == pytest.approx(
        paper.information(paper.mode(np.array(JOINT, float), np.ones(2), np.zeros(3))), rel=1e-12
    )
    assert "method 'paper'" in repr(law)


def test_method_is_raw_counts_and_leading_order() -> None:
    for method, approximation in (("paper", "gaussian"), ("paper-beta", "beta")):
        law = credimi.mutual_information(JOINT, TARGET_ONLY, method=method)
        assert law == credimi.mutual_information(JOINT, TARGET_ONLY, prior="haldane", approximation=approximation)
        cells = credimi.posterior(JOINT, TARGET_ONLY, method=method)
        assert cells.pseudo_count == 0.0
        assert cells.mutual_information() == law
        assert f"method {method}" in repr(cells)
        assert law.posterior().mutual_information() == law


def test_draws_and_evidence_are_of_the_papers_density() -> None:
    """Its exponents are the counts, hence its parameters one more: those of the uniform prior."""
    cells = credimi.posterior([[3, 1], [1, 2]], method="paper")
    assert cells.log_evidence == pytest.approx(-12.6195, abs=1e-4)
    assert cells.log_marginal_likelihood == pytest.approx(-12.6195 + np.log(6.0), abs=1e-4)
    uniform = credimi.posterior(JOINT, TARGET_ONLY, [0, 1, 2], prior="uniform")
    for method in ("paper", "paper-beta"):
        ours = credimi.posterior(JOINT, TARGET_ONLY, [0, 1, 2], method=method)
        assert ours.log_evidence == uniform.log_evidence
        drawn = ours.rvs(50, random_state=0)
        assert (drawn > 0.0).all()
        assert np.array_equal(drawn, uniform.rvs(50, random_state=0))
        raw = credimi.posterior(JOINT, TARGET_ONLY, [0, 1, 2], prior="raw-counts")
        assert np.array_equal(ours.mode, raw.mode)
        assert np.array_equal(ours.mean, raw.mean)
        assert np.array_equal(ours.covariance(), raw.covariance())


def test_rank_select_and_selector_agree() -> None:
    data = columns()
    ranking = credimi.rank(data, "class", method="paper")
    by_name = credimi.rank(data, "class", epsilon=0.003, discretize="mdl", **RAW)  # type: ignore[arg-type]
    assert {name: values for name, values in ranking.settings.items() if name != "method"} == by_name.settings
    assert [row["mi"] for row in ranking] == [row["mi"] for row in by_name]
    assert "method paper" in str(ranking)
    for row in ranking:
        law = credimi.mutual_information(data["class"], data[row["feature"]], method="paper")
        assert row["mi"] == pytest.approx(law.mean(), rel=1e-12)
        assert row["p_above"] == pytest.approx(law.sf(0.003), rel=1e-9)
    kept = {str(name) for name in ranking.selected("FF")}
    selection = credimi.select(data, "class", method="paper")
    assert set(selection.features) == kept
    assert selection.settings["method"] == "paper"
    assert "raw-counts, method paper)" in str(selection)
    names = ["strong", "weak", "noise"]
    rows = [list(row) for row in zip(*(data[name] for name in names), strict=True)]
    selector = credimi.CredibleSelector("FF", method="paper").fit(rows, data["class"])
    assert {name for name, keep in zip(names, selector.get_support(), strict=True) if keep} == kept


NO_SPREAD = {  # x says nothing about y in balanced rows, and all of it where it is y
    "balanced": {"x": list("aabb") * 10, "y": list("uvuv") * 10},
    "perfect": {"x": list("aaabbb"), "y": list("uuuvvv"), "other": list("qwqwqw")},
}


@pytest.mark.parametrize("data", NO_SPREAD.values(), ids=NO_SPREAD)
@pytest.mark.parametrize("settings", [{"method": "paper"}, {"method": "paper-beta"}, RAW])
def test_a_variance_of_0_in_leading_order_is_a_caution(data: dict[str, list[str]], settings: dict[str, str]) -> None:
    """As `mutual_information` has it; one remark for all such columns."""
    assert "no_spread" in credimi.mutual_information(data["y"], data["x"], **settings).cautions  # type: ignore[arg-type]
    selector = credimi.CredibleSelector("forward", min_features=0, **settings)  # type: ignore[arg-type]
    selector.fit([[value] for value in data["x"]], data["y"])
    ranking = credimi.rank(data, "y", **settings)  # type: ignore[arg-type]
    for result in (ranking, credimi.select(data, "y", rule="forward", **settings)):  # type: ignore[arg-type]
        assert [remark.feature for remark in result.remarks if remark.kind == "no_spread"] == ["x"]
        assert "caution: the variance of leading order is 0, which is no certainty: x;" in " ".join(str(result).split())
    assert "no_spread" in {str(remark.kind) for remark in selector.ranking_.remarks}
    twins = credimi.rank({**data, "z": data["x"]}, "y", **settings)  # type: ignore[arg-type]
    assert str(twins).count("no certainty: x, z;") == 1
    usual = credimi.rank(data, "y")
    assert "no_spread" not in {str(remark.kind) for remark in usual.remarks}
    constant = credimi.rank({"x": ["a"] * 6, "y": list("uuuvvv")}, "y", **settings)  # type: ignore[arg-type]
    assert "no_spread" not in {str(remark.kind) for remark in constant.remarks}


def test_prequential_by_the_papers_names() -> None:
    data = columns()
    run = credimi.prequential(data, "class", rules=["F", "FF", "BF"], method="paper", orders=2)
    named = credimi.prequential(data, "class", **RAW, orders=2)  # type: ignore[arg-type]
    assert run.rules == ("plugin", "forward", "backward")
    assert np.array_equal(run.correct, named.correct)
    assert np.array_equal(run.used, named.used)
    assert np.array_equal(run.of("FF"), run.of("forward"))
    assert run.settings.to_dict()["method"] == "paper"


def test_what_contradicts_the_method_is_refused() -> None:
    with pytest.raises(CredimiError, match="unknown method 'papr'"):
        credimi.mutual_information(JOINT, method="papr")
    with pytest.raises(CredimiError, match="has the prior raw-counts: leave out prior='uniform'"):
        credimi.rank(columns(), "class", method="paper", prior="uniform")
    with pytest.raises(CredimiError, match="has the approximation leading"):
        credimi.mutual_information(JOINT, method="paper", prior="haldane", approximation="beta")
    for default in ({"prior": "adaptive"}, {"approximation": "matched"}):  # that were named all the same
        with pytest.raises(CredimiError, match=f"method='paper' has the .*leave out {next(iter(default))}="):
            credimi.mutual_information(JOINT, method="paper", **default)
        with pytest.raises(CredimiError, match="method='paper' has the"):
            credimi.rank(columns(), "class", method="paper", **default)
    with pytest.raises(CredimiError, match="method='paper' has the prior raw-counts: leave out prior='jeffreys'"):
        credimi.posterior(JOINT, method="paper", prior="jeffreys")
    assert credimi.mutual_information(JOINT, method="paper", **RAW) == credimi.mutual_information(JOINT, method="paper")  # type: ignore[arg-type]
    with pytest.raises(CredimiError, match="method is for the rules"):
        credimi.select(columns(), "class", method="paper", rule="relevant")


def test_remedies_name_what_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CredimiError, match="all counts are 0 and method 'paper' adds none"):
        credimi.mutual_information([[0, 0], [0, 0]], method="paper")
    with pytest.raises(CredimiError, match="all counts are 0 and prior 'raw-counts' adds none"):
        credimi.posterior([[0, 0], [0, 0]], prior="raw-counts")
    never = {"x": ["a", "b", None, None], "class": [None, None, "p", "q"]}
    with pytest.raises(CredimiError, match="method 'paper' adds nothing: choose another method"):
        credimi.rank(never, "class", method="paper")
    assert main(["table", "19 2; 1 1 | 4 6; 4 6", "--given", "--method", "paper"]) == 2
    assert "leave out --method paper" in capsys.readouterr().err
    assert main(["table", "19 2; 1 1 | 4 6; 4 6", "--given", "--approximation", "leading"]) == 2
    assert "leave out --approximation leading" in capsys.readouterr().err


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, path = columns(), tmp_path / "data.csv"
    lines = [",".join("" if cell is None else cell for cell in row) for row in zip(*data.values(), strict=True)]
    path.write_text("\n".join([",".join(data), *lines]) + "\n", encoding="utf-8")

    def answered(*arguments: str) -> dict[str, object]:
        assert main([*arguments, "--method", "paper", "--format", "json"]) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)
        return found

    of_data = [str(path), "--target", "class"]
    for command in (["rank", *of_data], ["select", *of_data], ["prequential", *of_data], ["table", "3 0 1; 0 2 1"]):
        settings = answered(*command)["settings"]
        assert isinstance(settings, dict)
        assert (settings["method"], settings["prior"]) == ("paper", "raw-counts")
    assert main(["prequential", *of_data, "--method", "paper", "--rule", "FF", "--orders", "1"]) == 0
    assert "method paper: prior raw-counts, approximation leading, epsilon 0.003, level 0.95" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main(["table", "3 0 1; 0 2 1", "--method", "paper", "--prior", "1"]) == 2
    assert "leave out" in capsys.readouterr().err
    for default in (["--prior", "adaptive"], ["--approximation", "matched"]):
        assert main(["table", "3 0 1; 0 2 1", "--method", "paper", *default]) == 2
        assert main(["rank", str(path), "--target", "class", "--method", "paper", *default]) == 2
        assert capsys.readouterr().err.count(f"leave out {default[0][2:]}={default[1]!r}") == 2
