"""Helpers of several files of tests."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import credimi
from credimi.core.special import entropy

ROOT = Path(__file__).resolve().parents[1]

COMMAND = [sys.executable, "-m", "credimi.cli"]

JOINT = [[10, 2], [3, 15]]

LITERAL = "10 2; 3 15"

Answer = tuple[int, str, str]

Call = Callable[..., Answer]


def expected(
    joint: list[list[float]] = JOINT,
    *,
    target_only: list[float] | None = None,
    feature_only: list[float] | None = None,
    prior: str | float = "adaptive",
    approximation: str = "matched",
    epsilon: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, object]:
    """The same answer from Python, in nats."""
    table = credimi.Table.of(joint, target_only, feature_only)
    if epsilon is None:  # .5 % of the entropy of the rows, at most of log 2
        epsilon = 0.005 * min(entropy(table.joint.sum(axis=1) + table.target_only), math.log(2.0))
    law = credimi.mutual_information(table, prior=prior, approximation=approximation, random_state=seed)
    low, high = law.interval(level)
    return {
        "mean": law.mean(),
        "std": law.std(),
        "low": low,
        "high": high,
        "p_above": law.sf(epsilon),
        "p_independent": law.p_zero,
        "mode": credimi.posterior(table, prior="jeffreys" if prior == "adaptive" else prior).mode.tolist(),
        "rows": table.rows,
    }


def without_settings(answer: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in answer.items() if name != "settings"}


def process(*arguments: str, stdin: bytes | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        env=buffered_environment() | environment,
    )


def buffered_environment() -> dict[str, str]:
    """Our own environment, with standard output buffered as users have it."""
    return {name: value for name, value in os.environ.items() if name not in {"PYTHONUNBUFFERED", "COLUMNS"}}
