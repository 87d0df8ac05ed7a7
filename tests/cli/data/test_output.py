"""`credimi rank`, `select` and `count` from outside: what is written, and where."""

from __future__ import annotations

import csv
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest
from command_helpers import (
    AS_ROOT,
    COMMAND,
    Call,
    Refusal,
    base,
    buffered_environment,
    columns,
    contents,
    process,
    write,
    write_parquet,
)

import credimi
from credimi.core import atomic_files as outlet
from credimi.sources.csv import csv_files

OUTPUTS = [
    ["rank", "data.csv", "--target", "y", "--output"],
    ["select", "data.csv", "--target", "y", "--output"],
    ["count", "data.csv", "--target", "y", "--force", "--into"],
]


def test_rank_onto_its_input(refusal: Refusal) -> None:
    write("data.csv", base())
    Path("link.csv").symlink_to("data.csv")
    for name in ("data.csv", "link.csv"):
        said = refusal("rank", "data.csv", "--target", "y", "--output", name)
        assert said == f"{name} is the input: name another file"


@pytest.mark.parametrize("arguments", OUTPUTS)
def test_output_into_no_directory(refusal: Refusal, arguments: list[str]) -> None:
    write("data.csv", base())
    said = refusal(*arguments, "absent/new")
    assert said == "absent/new cannot be written: there is no directory absent"


@pytest.mark.parametrize("arguments", OUTPUTS)
@pytest.mark.parametrize(("name", "said"), [("folder", "'folder' is a directory"), ("", "'' is empty")])
def test_output_that_is_no_file(refusal: Refusal, arguments: list[str], name: str, said: str) -> None:
    write("data.csv", base())
    Path("folder").mkdir()
    assert refusal(*arguments, name) == f"{said}: name a file to write"


@pytest.mark.parametrize("arguments", OUTPUTS)
def test_output_of_a_name_that_is_too_long(refusal: Refusal, arguments: list[str]) -> None:
    write("data.csv", base())
    assert refusal(*arguments, "x" * 300) == f"{'x' * 300} cannot be written: File name too long"


@pytest.mark.skipif(AS_ROOT, reason="root may write everywhere")
@pytest.mark.parametrize("arguments", OUTPUTS)
def test_output_into_a_directory_that_is_closed(refusal: Refusal, arguments: list[str]) -> None:
    write("data.csv", base())
    Path("folder").mkdir(mode=0o500)
    assert refusal(*arguments, "folder/new") == "folder/new cannot be written: Permission denied"


@pytest.mark.parametrize("arguments", OUTPUTS)
@pytest.mark.parametrize("step", ["write", "rename"])
def test_full_disk_leaves_what_was_there(
    refusal: Refusal, call: Call, monkeypatch: pytest.MonkeyPatch, arguments: list[str], step: str
) -> None:
    write("data.csv", base())
    assert call(*arguments, "new")[0] == 0  # what was there: for count, counts to add to

    def full(*_: object, **__: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    if step == "rename":
        monkeypatch.setattr(Path, "replace", full)
    elif arguments[0] == "select":
        monkeypatch.setattr(csv, "writer", full)
    else:
        monkeypatch.setattr(Path, "write_bytes", full)
    assert refusal(*arguments, "new") == "new cannot be written: No space left on device"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_device_that_is_full(refusal: Refusal) -> None:
    write("data.csv", base())
    write_parquet("data.parquet", {"y": ["p", "q"] * 10, "a": ["p", "q"] * 10})
    for arguments in (OUTPUTS[0], OUTPUTS[1], ["select", "data.parquet", "--target", "y", "--output"]):
        assert refusal(*arguments, "/dev/full") == "/dev/full cannot be written: No space left on device"


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs limits of a process")
@pytest.mark.parametrize("arguments", OUTPUTS)
def test_disk_full_halfway(arguments: list[str]) -> None:
    """A real one: the process may write no file beyond one kilobyte, and fails in the middle of it."""
    write("data.csv", columns("y", "a" * 3000, rows=[(i % 2, i % 2) for i in range(2000)]))
    write("new", "what was there\n")
    if arguments[0] == "count":
        credimi.count("data.csv", "y").save("new")
    credimi.rank("data.csv", "y")  # what is compiled for it is kept in files that are larger
    before = contents()
    program = (
        "import resource, signal, sys\n"
        "from credimi.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, *arguments, "new"],
        capture_output=True,
        timeout=120,
        check=False,
        env=buffered_environment(),
    )
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == b""
    assert answer.stderr.splitlines()[-1] == b"credimi: new cannot be written: File too large"
    assert contents() == before


@pytest.mark.parametrize("arguments", OUTPUTS)
def test_interrupted(call: Call, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    """Once while data are read, once while the result is written."""
    write("data.csv", base())
    assert call(*arguments, "new")[0] == 0
    before = contents()

    def interrupt(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    for place, name in ((csv_files.Header, "batches"), (outlet, "_sync")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, interrupt)
            assert call(*arguments, "new") == (130, "", "credimi: interrupted\n")
        assert contents() == before


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_interrupted_while_the_program_loads() -> None:
    started = (
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'credimi.questions.rank.command':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from credimi.cli import command\n"  # as the installed program does
        "command()\n"
    )
    answer = subprocess.run([sys.executable, "-c", started, "--version"], capture_output=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (130, b"", b"credimi: interrupted\n")


def test_interrupted_by_a_signal() -> None:
    noise = random.Random(3)  # noqa: S311  (no secret)
    names = [f"c{i}" for i in range(40)]
    block = "".join(",".join(str(noise.randint(0, 9)) for _ in range(41)) + "\n" for _ in range(5000))
    write("data.csv", ",".join(["y", *names]) + "\n" + block * 60)
    with subprocess.Popen(
        [*COMMAND, "count", "data.csv", "--target", "y", "--into", "new.counts", "--threads", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=buffered_environment(),
    ) as running:
        deadline = time.monotonic() + 60
        while not _has_open(running.pid, "data.csv") and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert out == b""
    assert err.splitlines()[-1] == b"credimi: interrupted"
    assert list(contents()) == ["data.csv"]


def _has_open(process_id: int, name: str) -> bool:
    """Whether a process has a file open, as far as /proc tells; without it, wait a little."""
    folder = Path(f"/proc/{process_id}/fd")
    if not folder.exists():
        time.sleep(3.0)
        return True
    try:
        return any(each.readlink().name == name for each in folder.iterdir())
    except OSError:
        return False


@pytest.mark.long
def test_reader_that_leaves_is_no_fault() -> None:
    """As in `credimi rank ... | head -1`, with more than a pipe holds."""
    write("data.csv", columns("y", *(f"column {i}" for i in range(2000)), rows=[(i % 2,) * 2001 for i in range(20)]))
    for form in ("table", "json", "csv"):
        with subprocess.Popen(
            [*COMMAND, "rank", "data.csv", "--target", "y", "--format", form],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=buffered_environment(),
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            assert running.stdout.readline()
            running.stdout.close()
            complaint = running.stderr.read()
            assert running.wait(60) == 0
        for word in (b"Traceback", b"Exception ignored", b"Broken"):
            assert word not in complaint


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["rank", "data.csv", "--target", "y"], 0, b""),
        (["rank", "data.csv", "--target", "z"], 2, b"credimi: there is no column 'z'"),
        (["rank", "absent.csv", "--target", "y"], 2, b"credimi: cannot read absent.csv: No such file or directory"),
        (["select", "data.csv", "--target", "y", "--output", "new.csv"], 0, b"credimi: new.csv: 1 of 2 features kept"),
        (["count", "data.csv", "--target", "y", "--into", "new.counts"], 0, b"credimi: new.counts: 60 rows, 2 feature"),
    ],
)
def test_exit_code_of_the_process(arguments: list[str], code: int, said: bytes) -> None:
    write("data.csv", base())
    answer = process(*arguments)
    assert answer.returncode == code
    assert said in answer.stderr
    assert b"Traceback" not in answer.stderr
    assert bool(answer.stdout) == (arguments[0] == "rank" and code == 0)
