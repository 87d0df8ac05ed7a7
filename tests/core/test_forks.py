"""A process that is forked while another thread works: the child can rank, or it says why not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")

FIRST_CALL = """
import os, sys, threading, time
import credimi

table = {"y": ["a", "b"] * 2_000, "x": [1, 2, 3, 4] * 1_000, "z": ["u", "v", "v", "w"] * 1_000}
thread = threading.Thread(target=lambda: credimi.rank(table, "y"), daemon=True)
thread.start()
time.sleep(float(sys.argv[1]))
child = os.fork()
if child == 0:
    credimi.rank(table, "y")
    os._exit(0)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
STUCK = """
import os, threading
import credimi
from credimi.core import forks
from credimi.compile.hooks import hooks

forks.PATIENCE = 0.05
held = threading.Event()
threading.Thread(target=lambda: (hooks.loading.acquire(), held.set(), threading.Event().wait()), daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    try:
        credimi.rank({"y": [0, 1], "x": [0, 1]}, "y")
    except credimi.CredimiError as error:
        os._exit(5 if "spawn" in str(error) else 6)
    os._exit(7)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
POOL = """
import multiprocessing, sys
import credimi

def ranked(_):
    return credimi.rank({"y": ["a", "b"] * 50, "x": [1, 2] * 50}, "y").selected()

expected = ranked(0)
for _ in range(3):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(ranked, range(4)).get(50) == [expected] * 4
"""


def _run(program: str, *arguments: str) -> int:
    command = [sys.executable, "-W", "ignore", "-c", program, *arguments]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)  # the child as well
        process.wait()
        return -1


@pytest.mark.long
@pytest.mark.parametrize("delay", ["0.01", "0.05", "0.1", "0.2", "0.3"])
def test_child_of_a_first_call_can_rank(delay: str) -> None:
    assert _run(FIRST_CALL, delay) == 0


def test_child_that_cannot_go_on_names_the_remedy() -> None:
    assert _run(STUCK) == 5


@pytest.mark.long
def test_pools_after_the_parent_has_ranked() -> None:
    assert _run(POOL) == 0
