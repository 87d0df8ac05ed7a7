"""What is compiled before a command, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_helpers import CLINIC

from credimi.cli import main, startup, terminal_io
from credimi.compile import jit, warm_up
from credimi.compile.hooks import hooks
from credimi.compile.signatures import FIRST_NEEDED, NEEDED_BY, NEEDED_FOR_MANY_CELLS, SIGNATURES

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = ("--target", "diabetes")
RUNS = {
    "rank": (CLINIC, *TARGET),
    "select": (CLINIC, *TARGET, "--rule", "relevant"),
    "interactions": (CLINIC, *TARGET, "--features", "age", "bmi", "glucose", "sex"),
    "pairs": (CLINIC, "--features", "age", "bmi", "glucose", "sex"),
    "network": (CLINIC, "--features", "age", "bmi", "glucose", "sex"),
    "tree": (CLINIC, *TARGET),
    "report": (CLINIC, *TARGET, "--features", "age", "bmi", "glucose", "sex", "--format", "json"),
    "compare": (CLINIC, CLINIC, *TARGET),
    "table": ("9 1; 2 8", "--target-only", "3 4", "--feature-only", "3 3"),
}


@pytest.fixture(autouse=True)
def _same_wishes() -> Iterator[None]:
    before = hooks.while_numba_loads, hooks.compiling
    yield
    hooks.while_numba_loads, hooks.compiling = before


@pytest.mark.parametrize("command", RUNS)
def test_a_command_calls_only_kernels_that_are_compiled_for_it(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if jit.LIBRARY is not None:
        pytest.skip("nothing is compiled here")
    from credimi.compile.numba_jit import NumbaKernel  # noqa: PLC0415  (only where Numba compiles)

    called, call = set(), NumbaKernel.__call__

    def noted(kernel: NumbaKernel, *arguments: object) -> object:
        called.add(kernel.__name__)
        return call(kernel, *arguments)

    monkeypatch.setattr(NumbaKernel, "__call__", noted)
    assert main([command, *map(str, RUNS[command])]) == 0
    assert called
    assert called <= {name for name, _ in warm_up.tasks(command)}, "list the others in signatures.NEEDED_BY"


def test_the_message_names_the_command_and_comes_once_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled: list[list[tuple[str, str]]] = []
    monkeypatch.setattr(startup, "compile_with_bar", compiled.append)
    startup.announce_compiling("network")
    hooks.compiling("core.table_patterns.classify")
    hooks.compiling("columns.pair_counts.count_bits")
    told = capsys.readouterr().err
    assert told.count("compiling what `network` needs") == 1
    assert "warm-up" in told
    assert compiled == [warm_up.tasks("network")]
    assert "questions.network.order_samples.sample_orders" in [name for name, _ in compiled[0]]


def test_kernels_that_read_many_cells_are_compiled_where_one_of_them_is_asked_for_first() -> None:
    few = {name for name, _ in warm_up.tasks("rank", FIRST_NEEDED[0])}
    many = {name for name, _ in warm_up.tasks("rank", "sources.csv.csv_fields.copy_fields")}
    assert few == set(FIRST_NEEDED)
    assert few < many
    assert {"columns.pair_counts.count_bits", "sources.csv.csv_fields.encode_fields"} <= many


def test_every_beginning_is_that_of_a_kernel() -> None:
    for each in (*NEEDED_BY.values(), NEEDED_FOR_MANY_CELLS):
        assert all(any(name.startswith(start) for name in SIGNATURES) for start in each)


def test_warm_up_says_what_it_does_before_it_does_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    monkeypatch.setattr(jit, "LIBRARY", None)
    monkeypatch.setattr(startup, "compile_with_bar", lambda _: said.append(capsys.readouterr().err))
    assert main(["warm-up"]) == 0
    number = len(warm_up.tasks())
    assert said == [f"credimi: compiling {number} kernels on all cores: the first time this takes minutes\n"]
    assert capsys.readouterr().err == f"credimi: {number} kernels are ready\n"


def test_long_work_says_in_a_log_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = iter([0.0, 10.0, 31.0, 31.0, 40.0, 90.0, 90.0])
    monkeypatch.setattr(terminal_io.time, "monotonic", lambda: next(seconds))
    with terminal_io.progress("learning") as told:
        for share in (0.1, 0.2, 0.3, 0.5):
            told(share)
        told(1.0)
    assert capsys.readouterr().err == "credimi: learning: 20 %\ncredimi: learning: 50 %\n"
