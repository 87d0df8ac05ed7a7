"""The runner of the fuzzers: a planted fault is found, made small, told once with its command, and fails the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLANTED = """
import sys, types
from fuzz import __main__ as runner, common

def make(random):
    return [random.randrange(9) for _ in range(50)]

def check(case, folder):
    common.expect(8 not in case, "no eights", case)

runner.FUZZERS = {"planted": "fuzz.planted"}
sys.modules["fuzz.planted"] = types.SimpleNamespace(make=make, check=check, smaller=common.shorter)
sys.exit(runner.main(sys.argv[1:]))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_planted_fault_is_found_made_small_and_told_once() -> None:
    answer = run("-c", PLANTED, "--seed", "1", "--seconds", "0.5")
    assert answer.returncode == 1, answer.stderr
    assert "replay: python -m fuzz --only planted --seed 1 --case 0" in answer.stdout
    assert "case:   [8]" in answer.stdout
    assert answer.stdout.count("FOUND") == 1
    again = run("-c", PLANTED, "--seed", "1", "--case", "0")
    assert again.returncode == 1
    assert "case:   [8]" in again.stdout


@pytest.mark.parametrize("how", [["-m", "fuzz"], ["fuzz"]])
def test_a_case_is_replayed_alike_from_the_checkout(how: list[str]) -> None:
    answer = run(*how, "--only", "csv", "--seed", "1", "--case", "3")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "1 cases" in answer.stdout


def test_a_fuzzer_that_is_none_is_named() -> None:
    answer = run("-m", "fuzz", "--only", "nothing")
    assert answer.returncode == 2
    assert "there is no fuzzer 'nothing'" in answer.stderr
