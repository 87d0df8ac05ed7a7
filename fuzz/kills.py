"""`credimi count --into`: killed at any moment it leaves the old or the new file, whole; two at once lose nothing.

When a process is killed, and who comes first of two, is up to the machine: a case that is replayed may end otherwise.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import credimi
from credimi import Counts, count
from fuzz.common import expect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

PROGRAM = """
import sys, time
from credimi.cli import main
from credimi.cli.commands import count
from credimi.counting import count as door; from credimi.counting.engines import dispatch as paths
import credimi.counting.counts, pyarrow.csv
count.SAVE_EVERY = 0.0
print("ready", flush=True)
sys.stdin.readline()
sys.exit(main(["count", *sys.argv[1:]]))
"""
INTO = "some.counts"
LONGEST = 120.0  # seconds that a command may take before it counts as stuck


def make(random: Random) -> dict[str, Any]:
    """Files, and either moments to kill at, as shares of a whole run, or two commands at once."""
    files = random.randint(1, 5)
    return {
        "kind": random.choice(["kill", "kill", "two"]),
        "files": [
            [(random.choice("ab"), random.choice("pq")) for _ in range(random.randint(1, 9))] for _ in range(files + 1)
        ],
        "before": random.random() < 0.7,
        "moments": [random.uniform(0.0, 1.1) for _ in range(random.randint(1, 3))],
        "late": random.choice([0.0, 0.0, random.uniform(0.0, 0.05)]),
    }


def start(folder: Path, names: list[str]) -> subprocess.Popen[bytes]:
    """A command that has loaded all it needs, and waits for a line."""
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *names, "--target", "y", "--into", INTO],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(credimi.__file__).parents[1])},
    )
    assert running.stdout is not None  # noqa: S101  (a pipe, see above)
    running.stdout.readline()
    return running


def go(running: subprocess.Popen[bytes]) -> None:
    """Let it begin."""
    assert running.stdin is not None  # noqa: S101  (a pipe, see above)
    running.stdin.write(b"\n")
    running.stdin.flush()


def ended(running: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Exit code, and what it said."""
    _, said = running.communicate(timeout=LONGEST)
    return running.returncode, said.decode(errors="replace")


def run(folder: Path, names: list[str]) -> tuple[int, str]:
    """A whole command."""
    running = start(folder, names)
    go(running)
    return ended(running)


def write(folder: Path, case: dict[str, Any]) -> list[str]:
    """The files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    names = []
    for index, rows in enumerate(case["files"]):
        names.append(f"{index}.csv")
        (folder / names[-1]).write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows), encoding="utf-8")
    return names


@lru_cache(maxsize=1)
def duration(folder: Path) -> float:
    """How long a command is at work."""
    names = write(folder, {"files": [[("a", "p")]] * 3})
    running = start(folder, names)
    began = time.monotonic()
    go(running)
    ended(running)
    return time.monotonic() - began


def check(case: dict[str, Any], folder: Path) -> None:
    """Kill, look, go on; or let two write."""
    share = duration(folder / "first")
    place = folder / "kills"
    first, *others = write(place, case)
    if case["before"] or case["kind"] == "two":
        code, said = run(place, [first])
        expect(code == 0, "a proper file is counted", said)
    if case["kind"] == "two":
        check_two(place, case, first, others)
    else:
        check_kills(place, case, others, share)


def check_kills(place: Path, case: dict[str, Any], names: list[str], share: float) -> None:
    """Old or new or between, but whole; and in the end right."""
    before = ["0.csv"] if case["before"] else []
    for moment in case["moments"]:
        running = start(place, names)
        go(running)
        time.sleep(moment * share)
        running.kill()
        ended(running)
        if not (place / INTO).exists():
            expect(
                not before,
                "a killed command leaves the file that was there",
                sorted(each.name for each in place.iterdir()),
            )
            continue
        left = Counts.load(place / INTO)  # an error is a finding
        done = sorted(Path(source.path).name for source in left.sources)
        expect(set(before) <= set(done) <= {*before, *names}, "a killed command leaves what it names", done)
        whole = count([place / name for name in done], "y")
        expect(left == whole, "a killed command leaves counts of the files that it names", (left, whole))
    code, said = run(place, names)
    finished = code == 2 and "was counted into" in said  # the command was killed when all was done
    expect(code == 0 or finished, "a command can be made again after it was killed", said)
    check_whole(place, [*before, *names], "a command made again ends with the right counts")


def check_two(place: Path, case: dict[str, Any], first: str, names: list[str]) -> None:
    """Of two commands that write the same file, each is counted or refused with exit code 2."""
    halves = [names[: len(names) // 2 or 1], names[len(names) // 2 or 1 :]]
    runs = [(own, start(place, own)) for own in halves if own]
    for index, (_, running) in enumerate(runs):
        time.sleep(case["late"] * index)
        go(running)
    done = [first]
    for own, running in runs:
        code, said = ended(running)
        expect(code in {0, 2}, "of two writers each is done or refused", said)
        done += own if code == 0 else []
    expect(len(done) > 1, "of two writers one gets its turn", done)
    check_whole(place, done, "two writers at once lose nothing")


def check_whole(place: Path, names: list[str], law: str) -> None:
    """The counts are those of these files, each once."""
    found, whole = Counts.load(place / INTO), count([place / name for name in names], "y")
    listed = sorted(Path(source.path).name for source in found.sources)
    expect(found == whole and listed == sorted(names), law, f"{found} of {listed}, not {whole} of {sorted(names)}")
    expect(not any(source.unfinished for source in found.sources), f"{law}, and says so", found.sources)


def smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """None: what happens is up to the moment, and the files are few."""
    del case
    yield from ()
