"""Epsilon as a share of the target's entropy: settled once in every question, said with its nats, and kept in files."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from page_helpers import data_of

import credimi
from credimi import CredimiError
from credimi.inference.belief import Belief
from credimi.questions.pairs.gpu import pairs_on_device

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RARE = 0.05
H = -(RARE * math.log(RARE) + (1 - RARE) * math.log(1 - RARE))


def table(rows: int = 4_000, seed: int = 0) -> dict[str, list[Any]]:
    """A target with 5 % positives, missing in every fifth row; a column with threefold rates; others; two groups."""
    generator = np.random.default_rng(seed)
    positive = np.arange(rows) % 20 == 0
    target: list[Any] = np.where(positive, "yes", "no").tolist()
    target += [None] * (rows // 4)
    tells = np.where(generator.random(rows) < np.where(positive, 0.75, 0.5), "a", "b").tolist()
    columns = {"tells": tells + ["a"] * (rows // 4)}
    columns |= {f"x{place}": generator.integers(0, 3, len(target)).astype(str).tolist() for place in range(3)}
    groups = [*np.where(np.arange(rows) // 20 % 2 == 0, "one", "two"), *["one"] * (rows // 4)]
    return columns | {"group": groups, "y": target}


DATA = table()
OF_RULES = [
    ("rank", lambda **asked: credimi.rank(DATA, "y", **asked)),
    ("rank_by", lambda **asked: credimi.rank_by(DATA, "y", "group", **asked)),
    ("compare", lambda **asked: credimi.compare(DATA, table(seed=1), "y", **asked)),
    ("interactions", lambda **asked: credimi.interactions(DATA, "y", **asked)),
    ("tree", lambda **asked: credimi.tree(DATA, "y", **asked)),
    *(
        (f"select {rule}", lambda rule=rule, **asked: credimi.select(DATA, "y", rule=rule, **asked))
        for rule in ("distinct", "relevant", "forward", "fdr")
    ),
]
ASKED: dict[str, Callable[..., Any]] = dict(OF_RULES)


def settings_of(result: Any) -> dict[str, Any]:  # noqa: ANN401
    return (next(iter(result.rankings.values())) if hasattr(result, "rankings") else result).settings


@pytest.mark.parametrize("question", ASKED)
def test_every_question_settles_a_share_by_the_rows_that_have_the_target(question: str) -> None:
    asked = ASKED[question]
    settings = settings_of(asked(epsilon="2%"))
    assert settings["epsilon"] == pytest.approx(0.02 * H, rel=1e-12)
    assert settings["epsilon_share"] == "2%"
    usual = settings_of(asked())
    assert (usual["epsilon"], usual["epsilon_share"]) == (pytest.approx(0.005 * H, rel=1e-12), "0.5%")
    number = settings_of(asked(epsilon=0.003))
    assert number["epsilon"] == 0.003
    assert "epsilon_share" not in number


@pytest.mark.parametrize("question", ASKED)
def test_a_share_decides_as_its_nats(question: str) -> None:
    by_share = ASKED[question](epsilon="2%")
    by_number = ASKED[question](epsilon=settings_of(by_share)["epsilon"])
    assert without_epsilon(by_share.to_dict()) == without_epsilon(by_number.to_dict())


def without_epsilon(answer: Any) -> Any:  # noqa: ANN401
    if isinstance(answer, dict):
        return {name: without_epsilon(value) for name, value in answer.items() if name != "epsilon_share"}
    return [without_epsilon(each) for each in answer] if isinstance(answer, list | tuple) else repr(answer)


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("wrong", ["5", "abc%", "-1%", "100%", "%", "nan%", "0.5 percent"])
def test_what_is_no_share_is_refused_everywhere(question: str, wrong: str) -> None:
    with pytest.raises(CredimiError, match=f"epsilon is '{wrong}': pass a share of the target's entropy, such as "):
        ASKED[question](epsilon=wrong)


def test_where_there_is_no_target_it_is_a_share_of_log_2() -> None:
    columns = {name: values for name, values in DATA.items() if name != "y"}
    found = credimi.pairs(columns, epsilon="1%")
    assert found.settings["epsilon"] == pytest.approx(0.01 * math.log(2.0), rel=1e-12)
    assert found.settings["epsilon_share"] == "1%"
    assert "P(> 1 %)" in str(found)
    assert "1 % of log 2: 0.00693 nats" in str(found)
    assert pairs_on_device.hyper(Belief(epsilon="1%")).epsilon == found.settings["epsilon"]


@pytest.mark.parametrize(
    ("written", "entropy", "nats"),
    [
        ("0.5%", math.log(2.0), 0.005 * math.log(2.0)),
        (".5 %", 0.2, 0.001),
        ("0.50%", 0.2, 0.001),
        (" 1% ", 0.2, 0.002),
        ("0%", 0.2, 0.0),
        ("0.5%", math.log(100.0), 0.005 * math.log(2.0)),  # the cap: two of a hundred classes
        ("0.5%", math.nan, 0.005 * math.log(2.0)),
        ("0.5%", 0.0, 0.0),
    ],
)
def test_shares_by_hand(written: str, entropy: float, nats: float) -> None:
    belief = Belief(epsilon=written)
    assert isinstance(belief.epsilon, str)
    settled = belief.settled(entropy)
    assert settled.epsilon == settled.nats == pytest.approx(nats, rel=1e-14, abs=0.0)
    assert settled.settled(0.1) == settled
    assert Belief(epsilon=0.2).settled(entropy) == Belief(epsilon=0.2)


def test_a_method_has_the_papers_epsilon_unless_another_is_named() -> None:
    for method in ("paper", "paper-beta"):
        assert credimi.rank(DATA, "y", method=method).settings["epsilon"] == 0.003
        assert credimi.rank(DATA, "y", method=method, epsilon="0.5%").settings["epsilon_share"] == "0.5%"
    assert credimi.prequential(DATA, "y", orders=1, features=["tells"]).settings.epsilon == 0.003


def test_the_table_says_the_share_and_its_nats() -> None:
    told = " ".join(str(credimi.rank(DATA, "y")).split())
    assert "P(> 0.5 %)" in told
    assert f"0.5 % of the target's entropy, at most of log 2: {0.005 * H:.3g} nats" in told
    assert "keep: P(I > 0.5 %) >= 0.95; drop: P(I <= 0.5 %) >= 0.95" in told
    number = " ".join(str(credimi.rank(DATA, "y", epsilon=0.003)).split())
    assert "P(I > 0.003)" in number
    assert "log 2" not in number


def test_rankings_keep_the_share_in_files_and_earlier_ones_have_none(tmp_path: Path) -> None:
    ranking, other = credimi.rank(DATA, "y"), credimi.rank(table(seed=1), "y")
    ranking.save(tmp_path / "ranking.json")
    again = credimi.load(tmp_path / "ranking.json")
    assert again.settings["epsilon_share"] == "0.5%"
    assert again.to_dict() == ranking.to_dict()
    exact = credimi.compare(again, other)
    assert exact.settings["epsilon"] == pytest.approx(0.005 * H, rel=1e-9)
    assert str(again) == str(ranking)
    credimi.rank(DATA, "y", epsilon=0.003).save(tmp_path / "earlier.json")
    earlier = json.loads((tmp_path / "earlier.json").read_text())
    del earlier["figures"]["keep_informative"]  # as before there was such a rule
    (tmp_path / "earlier.json").write_text(json.dumps(earlier))
    loaded, new = credimi.load(tmp_path / "earlier.json"), credimi.rank(DATA, "y", epsilon=0.003)
    assert "epsilon_share" not in loaded.settings
    assert str(loaded) == str(new)
    assert loaded.selected("informative") == new.selected("informative")
    assert "P(I &gt; 0.003)" in loaded._repr_html_()
    assert credimi.compare(loaded, other).settings["epsilon_share"] == "0.5%"
    loaded.to_html(tmp_path / "page.html")
    plain = loaded.to_dict()
    (tmp_path / "plain.json").write_text(json.dumps(plain))
    assert credimi.compare(tmp_path / "plain.json", other).settings["epsilon"] == pytest.approx(0.005 * H, rel=1e-6)


def test_the_page_starts_at_the_nats() -> None:
    report = data_of(credimi.rank(DATA, "y"))
    assert report["settings"]["epsilon"] == pytest.approx(0.005 * H, rel=1e-12)
    assert report["settings"]["epsilon_share"] == "0.5%"


def test_the_selector_settles_by_all_rows_that_it_has_seen() -> None:
    selector = pytest.importorskip("credimi.estimators.selector").CredibleSelector
    names = ["tells", "x0", "x1", "x2"]
    rows, target = np.array([DATA[name] for name in names], dtype=object).T, np.array(DATA["y"], dtype=object)
    ranking = credimi.rank({name: DATA[name] for name in names}, DATA["y"], epsilon="2%")
    kept = ["tells"] if ranking["tells"]["keep_forward"] else []
    parts = selector("forward", epsilon="2%", min_features=0)
    for part in (slice(0, 1_000), slice(1_000, None)):
        parts.partial_fit(rows[part], target[part])
    whole = selector("forward", epsilon="2%", min_features=0).fit(rows, target)
    for fitted in (parts, whole):
        assert [name for name, keep in zip(names, fitted.get_support(), strict=True) if keep] == kept
        assert fitted.ranking_.settings["epsilon"] == pytest.approx(0.02 * H, rel=1e-12)


def test_twofold_rates_of_a_rare_class_are_worth_having() -> None:
    """1 % positives, in halves with rates of .4 and 1.6 %: 10,000 rows, as in the study of rare targets."""
    rows = {"x": ["a"] * 5_000 + ["b"] * 5_000, "y": [*["p"] * 20, *["n"] * 4_980, *["p"] * 80, *["n"] * 4_920]}
    assert credimi.rank(rows, "y")["x"]["verdict"] == "keep"
    assert credimi.rank(rows, "y", epsilon=0.003)["x"]["verdict"] == "drop"
