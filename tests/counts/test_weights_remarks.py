"""What each question says of weights: that survey weights were scaled, or that whole ones look like survey weights."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import credimi
from credimi.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WEIGHTS = np.random.default_rng(0).integers(50, 900, 400)
WORTH = round(WEIGHTS.sum() ** 2 / (WEIGHTS @ WEIGHTS))
LARGE, SCALED = f"{WEIGHTS.sum():,} in all, though they look like survey weights", f"{WORTH:,} rows (the effective"
KINDS = [
    (WEIGHTS, None, "weights_large", LARGE),
    (WEIGHTS, "rows", None, ""),
    (WEIGHTS, "survey", "weights_scaled", SCALED),
    (WEIGHTS / 7.0, None, "weights_scaled", SCALED),
    (WEIGHTS % 3 + 1, None, None, ""),
]
QUESTIONS: dict[str, Callable[..., Any]] = {
    "rank": lambda data, **options: credimi.rank(data, "y", **options),
    "select": lambda data, **options: credimi.select(data, "y", **options),
    "relevant": lambda data, **options: credimi.select(data, "y", rule="relevant", **options),
    "interactions": lambda data, **options: credimi.interactions(data, "y", top=1, **options),
    "pairs": credimi.pairs,
    "forest": lambda data, **options: credimi.pairs(data, refine="forest", imputations=1, **options),
    "network": lambda data, **options: credimi.network(data, imputations=0, **options),
    "compare": lambda data, **options: credimi.compare(
        *({name: values[part] for name, values in data.items()} for part in (slice(200), slice(200, None))),
        "y",
        **options,
    ),
}
COMMANDS = {
    "rank": ["rank", "--target", "y"],
    "rank by": ["rank", "--target", "y", "--by", "other"],
    "select": ["select", "--target", "y"],
    "interactions": ["interactions", "--target", "y", "--top", "1"],
    "tree": ["tree", "--target", "y"],
    "tree without reasons": ["tree", "--target", "y", "--no-reasons"],
    "pairs": ["pairs"],
    "forest": ["pairs", "--forest"],
    "network": ["network"],
    "compare": ["compare", "--target", "y"],
    "rule": ["select", "--target", "y", "--rule", "forward", "--output", "reduced.csv"],
    "goal": ["select", "--target", "y", "--rule", "distinct", "--output", "reduced.csv"],
}
PAGES = ("select", "interactions", "tree", "pairs", "network", "compare")
WITH_JSON = ("rank", "select", "interactions", "tree", "pairs", "forest", "network", "compare")


def data(weights: np.ndarray) -> dict[str, np.ndarray]:
    """A column that tells about y, another, and these weights."""
    generator = np.random.default_rng(1)
    target = generator.integers(0, 2, weights.size)
    told = np.where(generator.random(weights.size) < 0.8, target, 1 - target)
    return {"y": target, "x": told, "other": generator.integers(0, 3, weights.size), "w": weights}


def kinds_in(result: object) -> list[str]:
    """The kinds of the remarks on weights."""
    kinds = [str(remark.kind) for remark in getattr(result, "remarks", ())]
    return [kind for kind in kinds if kind.startswith("weights")]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("weights", "kind", "expected", "text"), KINDS)
def test_each_question_says_what_was_done_with_weights(
    question: str, weights: np.ndarray, kind: str | None, expected: str | None, text: str
) -> None:
    result = QUESTIONS[question](data(weights), weights="w", weights_are=kind)
    shown, written = " ".join(str(result).split()), json.dumps(result.to_dict())
    assert kinds_in(result) == ([] if expected is None else [expected])
    if expected is None:
        assert "survey" not in shown
        assert "survey" not in written
        return
    if question == "compare" and expected == "weights_scaled":  # the samples are scaled separately
        text = "(the effective"
    assert text in shown
    assert text in written
    assert shown.count("the weights are") == 1
    assert ("caution: the weights are" in shown) == (expected == "weights_large")


def test_saved_pairs_keep_the_remark(tmp_path: Path) -> None:
    pairs = credimi.pairs(data(WEIGHTS), weights="w")
    pairs.save(tmp_path / "pairs.json")
    assert credimi.load(tmp_path / "pairs.json").remark_lines() == pairs.remark_lines()


def test_the_weights_of_an_estimator_are_what_they_are_in_scikit_learn() -> None:
    table = data(WEIGHTS)
    features = np.column_stack([table["x"], table["other"]])
    model = credimi.CredibleTreeClassifier().fit(features, table["y"], sample_weight=WEIGHTS)
    assert model.tree_.remarks == ()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the data and both halves of them as files; lines are not broken."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    table = data(WEIGHTS)
    for name, part in (("all.csv", slice(None)), ("a.csv", slice(200)), ("b.csv", slice(200, None))):
        rows = zip(*(values[part].tolist() for values in table.values()), strict=True)
        lines = [",".join(table), *(",".join(map(str, row)) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("kind", "expected"), [("", LARGE), ("survey", "(the effective"), ("rows", "")])
def test_each_command_says_what_was_done_with_weights(
    command: str, kind: str, expected: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*COMMANDS[command], "--weights", "w", *(["--weights-are", kind] if kind else [])]
    arguments += ["a.csv", "b.csv"] if command == "compare" else ["all.csv"]
    page = ["--html", "page.html"] if command in PAGES else []
    if command == "rank by" and expected == LARGE:  # each group has its own sum
        expected = "look like survey weights"
    main([*arguments, *page])
    output = capsys.readouterr()
    shown = " ".join((output.out + output.err).split())
    assert expected in shown
    assert ("weights are" in shown) == bool(expected)
    assert not expected or kind or "--weights-are survey" in shown
    if page:
        written = (folder / "page.html").read_text()
        assert expected in " ".join(written.split())
        assert bool(expected) == ("the weights are" in written)
    if command in WITH_JSON:
        main([*arguments, "--format", "json"])
        written = capsys.readouterr().out
        assert expected in written
        assert not expected or kind or "--weights-are survey" in written


def test_texts_show_whole_rows() -> None:
    for question in ("select", "interactions", "pairs", "network"):
        result = QUESTIONS[question](data(WEIGHTS / 7.0), weights="w")
        assert f" {WORTH:,} rows" in str(result)
