"""Keywords: every one is shown, known, means the same everywhere, and is written once."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import credimi
from credimi.core.keywords import Keyword, keywords_of

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
QUESTIONS = ("rank", "rank_by", "select", "interactions", "pairs", "network", "tree", "compare", "count", "prequential")
FUNCTIONS = [name for name in credimi.__all__ if inspect.isfunction(getattr(credimi, name))]
DATA = {"x": ["a", "b"] * 30, "z": ["p", "q", "q"] * 20, "y": ["u", "v"] * 30}

FOR_COLUMNS = " | Mapping[str, Option]"  # one value, or one for each column

# Words whose default differs on purpose, and why.
DIFFERING = {
    "level": "a tree and a network predict: a half; a ranking claims: .95; None of `select`: that of its rule",
    "discretize": "without a target there are no entropies to cut by",
    "max_values": "pairs and networks have no target, so that large tables are the rule",
    "epsilon": "prequential runs repeat the paper's experiments, with its .003 nats",
    "imputations": "a network averages over fewer completed tables than pairs, as it learns on each",
    "prior": "one table, where the paper's and textbooks' priors are meant, or the evidence of independence",
    "random_state": "draws of one table differ from call to call unless a seed is given",
}


def shown(name: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(getattr(credimi, name)).parameters)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_signature_hides_no_keyword(name: str) -> None:
    assert not [each for each in shown(name).values() if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]


@pytest.mark.parametrize("name", QUESTIONS)
def test_help_says_what_each_keyword_means(name: str) -> None:
    text = pydoc.render_doc(getattr(credimi, name), renderer=pydoc.plaintext)
    for each in keywords_of(getattr(credimi, name)).values():
        assert f" {each.name} : " in text or f", {each.name} : " in text or f"{each.name}, " in text, each.name
        assert each.help, each.name


@pytest.mark.parametrize("name", QUESTIONS)
def test_keywords_are_those_of_the_signature(name: str) -> None:
    named = [each.name for each in shown(name).values() if each.kind is each.KEYWORD_ONLY]
    assert sorted(keywords_of(getattr(credimi, name))) == sorted(named)


def test_a_word_means_the_same_everywhere() -> None:
    meant: dict[str, tuple[str, Keyword]] = {}
    for name in QUESTIONS:
        for word, each in keywords_of(getattr(credimi, name)).items():
            first, known = meant.setdefault(word, (name, each))
            kinds = (of.type.replace(" | None", "").replace(FOR_COLUMNS, "") for of in (each, known))
            assert len(set(kinds)) == 1, (word, first, name)
            if word not in DIFFERING:
                assert each.default == known.default, (word, first, name)


@pytest.mark.parametrize(
    ("name", "wrong", "meant"),
    [
        ("rank", "missing", "missing_as"),
        ("rank", "robustfactor", "robust_factor"),
        ("select", "rules", "rule"),
        ("pairs", "feature", "features"),
        ("network", "max_value", "max_values"),
        ("compare", "exclud", "exclude"),
        ("tree", "maxdepth", "max_depth"),
        ("count", "weight", "weights"),
    ],
)
def test_a_misspelt_keyword_is_refused_with_the_nearest(name: str, wrong: str, meant: str) -> None:
    inputs = (DATA, DATA) if name == "compare" else (DATA,)
    target = {} if name in {"pairs", "network"} else {"target": "y"}
    with pytest.raises(
        TypeError, match=f"{name}\\(\\) got an unexpected keyword argument '{wrong}': did you mean '{meant}'"
    ):
        getattr(credimi, name)(*inputs, **target, **{wrong: None})


def test_words_of_scikit_learn_are_understood() -> None:
    features, target = {name: DATA[name] for name in "xz"}, DATA["y"]
    expected = credimi.rank(DATA, "y").columns["mi"]
    assert credimi.rank(features, target).columns["mi"] == expected
    assert credimi.rank(X=features, y=target).columns["mi"] == expected
    assert credimi.select(X=features, y=target).features == credimi.select(DATA, "y").features


def test_the_stub_has_today_s_signatures() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "stubs.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (lambda: credimi.mutual_information([[1, 2], [3, 4]], targetonly=[1, 2]), "'target_only'"),
        (lambda: credimi.posterior([[1, 2], [3, 4]], prio="perks"), "'prior'"),
        (lambda: credimi.conditional_information([[[1, 2], [3, 4]]], featureonly=None), "'feature_only'"),
        (lambda: credimi.information_bounds([[1, 2], [3, 4]], robustfactor=2), "'robust_factor'"),
        (lambda: credimi.CredibleSelector(metod="paper"), "'method'"),
        (lambda: credimi.CredibleTreeClassifier(maxdepth=3), "'max_depth'"),
        (lambda: credimi.EntropyDiscretizer(max_bin=3), "'max_bins'"),
    ],
)
def test_misspelt_keywords_of_tables_and_estimators_too(asked: Callable[[], object], meant: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument .*: did you mean {meant}"):
        asked()


def test_margins_stand_after_the_table_everywhere() -> None:
    joint, target_only, feature_only = [[10, 2], [3, 15]], [4, 1], [0, 2]
    named = {"target_only": target_only, "feature_only": feature_only}
    for function in (credimi.mutual_information, credimi.posterior, credimi.information_bounds):
        assert repr(function(joint, target_only, feature_only)) == repr(function(joint, **named))
    strata = ([joint], [target_only], [feature_only])
    assert credimi.conditional_information(*strata) == credimi.mutual_information(joint, target_only, feature_only)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_threads_are_a_whole_number_from_1_up(threads: object) -> None:
    with pytest.raises(credimi.CredimiError, match=r"threads is .* it must be a whole number from 1 up"):
        credimi.rank({"x": list("ab") * 9, "y": list("ab") * 9}, "y", threads=threads)
