"""`credimi count --into`: killed at any moment it leaves the old or the new file, whole; two at once lose nothing.

The next command deletes the temporary files that a killed one left.

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
from credimi.cli import count_command as count
import credimi.sources.count, credimi.counts.counts, credimi.sources.files, pyarrow.csv
count.SAVE_EVERY = 0.0
print("ready", flush=True)
sys.stdin.readline()
sys.exit(main(["count", *sys.argv[1:]]))
"""
INTO = "some.counts"
MAX_SECONDS = 120.0  # a command that takes longer is stuck


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
    """Let the command begin."""
    assert running.stdin is not None  # noqa: S101  (a pipe, see above)
    running.stdin.write(b"\n")
    running.stdin.flush()


def ended(running: subprocess.Popen[bytes]) -> tuple[int, str]:
    """The exit code, and what the command wrote to standard error."""
    _, errors = running.communicate(timeout=MAX_SECONDS)
    return running.returncode, errors.decode(errors="replace")


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
    """How long a whole command takes."""
    names = write(folder, {"files": [[("a", "p")]] * 3})
    running = start(folder, names)
    began = time.monotonic()
    go(running)
    ended(running)
    return time.monotonic() - began


def check(case: dict[str, Any], folder: Path) -> None:
    """Kill a command, look at the file, and continue; or let two commands write at once."""
    whole_duration = duration(folder / "first")
    run_folder = folder / "kills"
    first, *others = write(run_folder, case)
    if case["before"] or case["kind"] == "two":
        code, errors = run(run_folder, [first])
        expect(code == 0, "a proper file is counted", errors)
    if case["kind"] == "two":
        check_two(run_folder, case, first, others)
    else:
        check_kills(run_folder, case, others, whole_duration)


def check_kills(folder: Path, case: dict[str, Any], names: list[str], whole_duration: float) -> None:
    """A killed command leaves a whole file with the old, the new or intermediate counts; in the end they are right."""
    before = ["0.csv"] if case["before"] else []
    for moment in case["moments"]:
        running = start(folder, names)
        go(running)
        time.sleep(moment * whole_duration)
        running.kill()
        ended(running)
        if not (folder / INTO).exists():
            expect(
                not before,
                "a killed command leaves the file that was there",
                sorted(path.name for path in folder.iterdir()),
            )
            continue
        left_counts = Counts.load(folder / INTO)  # an error is a finding
        done = sorted(Path(source.path).name for source in left_counts.sources)
        expect(set(before) <= set(done) <= {*before, *names}, "a killed command leaves what it names", done)
        whole = count([folder / name for name in done], "y")
        expect(left_counts == whole, "a killed command leaves counts of the files that it names", (left_counts, whole))
    code, errors = run(folder, names)
    finished = code == 2 and "was counted into" in errors  # the command was killed when all was done
    expect(code == 0 or finished, "a command can be made again after it was killed", errors)
    check_whole(folder, [*before, *names], "a command made again ends with the right counts")


def check_two(folder: Path, case: dict[str, Any], first: str, names: list[str]) -> None:
    """Of two commands that write the same file, each is counted or refused with exit code 2."""
    halves = [names[: len(names) // 2 or 1], names[len(names) // 2 or 1 :]]
    runs = [(half, start(folder, half)) for half in halves if half]
    for index, (_, running) in enumerate(runs):
        time.sleep(case["late"] * index)
        go(running)
    done = [first]
    for half, running in runs:
        code, errors = ended(running)
        expect(code in {0, 2}, "of two writers each is done or refused", errors)
        done += half if code == 0 else []
    expect(len(done) > 1, "of two writers one gets its turn", done)
    check_whole(folder, done, "two writers at once lose nothing")


def check_whole(folder: Path, names: list[str], law: str) -> None:
    """The counts are those of these files, each once."""
    counts, whole = Counts.load(folder / INTO), count([folder / name for name in names], "y")
    listed = sorted(Path(source.path).name for source in counts.sources)
    expect(counts == whole and listed == sorted(names), law, f"{counts} of {listed}, not {whole} of {sorted(names)}")
    expect(not any(source.unfinished for source in counts.sources), f"{law}, and says so", counts.sources)
    left = sorted(path.name for path in folder.iterdir() if path.suffix != ".csv" and path.name != INTO)
    expect(not left, f"{law}, and leaves no other file", left)


def smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """None: what happens is up to the moment, and the files are few."""
    del case
    yield from ()
