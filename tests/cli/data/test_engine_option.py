"""`--device gpu`, `--p-dependent` and `--into`: what the commands do with them; numpy stands in for the GPU."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy_device import NumpyDevice

from credimi.cli import main
from credimi.questions.pairs.gpu import pairs_on_device

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    hidden = rng.integers(0, 3, 300)
    columns = [hidden, np.where(rng.random(300) < 0.5, hidden, rng.integers(0, 3, 300)), rng.integers(0, 2, 300)]
    rows = "\n".join(",".join(f"v{value}" for value in row) for row in np.stack(columns, axis=1).tolist())
    found = tmp_path / "data.csv"
    found.write_text(f"a,b,noise\n{rows}\n", encoding="utf-8")
    return found


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, list[dict[str, object]]]:
    assert main([*arguments, "--format", "json"]) == 0
    found: dict[str, list[dict[str, object]]] = json.loads(capsys.readouterr().out)
    return found


def test_pairs_are_the_same_on_both_devices(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs_on_device, "find_gpu", NumpyDevice)
    whole = answer(capsys, "pairs", str(path))
    for device in ("cpu", "gpu"):
        some = answer(capsys, "pairs", str(path), "--device", device, "--p-dependent", "0.9", "--top", "2")
        assert [(pair["a"], pair["b"]) for pair in some["pairs"]] == [("a", "b")]
        assert some["pairs"][0]["mi"] == pytest.approx(whole["pairs"][0]["mi"])
        assert some["independent"] == pytest.approx(whole["independent"], rel=1e-6)


def test_figures_of_all_pairs_go_to_a_file(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = answer(capsys, "pairs", str(path), "--into", str(tmp_path / "all.npy"))
    assert np.load(tmp_path / "all.npy")[0].max() == whole["pairs"][0]["mi"]


@pytest.mark.parametrize("command", [["pairs"], ["interactions", "--target", "noise"]])
def test_without_a_gpu_one_line_says_what_to_do(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert main([command[0], str(path), *command[1:], "--device", "gpu"]) == 2
    error = capsys.readouterr().err
    assert "pip install 'credimi[gpu]'" in error
    assert "Traceback" not in error


def test_impossible_probabilities_are_refused(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pairs", str(path), "--p-dependent", "95"]) == 2
    assert "--p-dependent is 95" in capsys.readouterr().err
