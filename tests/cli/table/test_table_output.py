"""`credimi table` from outside: --output; processes."""

from __future__ import annotations

import json
import math
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from table_helpers import COMMAND, LITERAL, Call, buffered_environment, process

if TYPE_CHECKING:
    from collections.abc import Callable


def test_output_is_what_would_have_been_printed(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "répons.json"
    for form in ("json", "table"):
        printed = call("table", LITERAL, "--format", form)[1]
        assert call("table", LITERAL, "--format", form, "--output", path) == (0, "", "")
        assert path.read_text(encoding="utf-8") == printed
    assert list(tmp_path.iterdir()) == [path]


def test_output_in_the_current_folder(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("table", LITERAL, "--format", "json", "--output", "out.json")[0] == 0
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["rows"] == 30.0
    assert list(tmp_path.iterdir()) == [tmp_path / "out.json"]


def test_output_replaces_a_file(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("x" * 100_000, encoding="utf-8")
    assert call("table", LITERAL, "--format", "json", "--output", path)[0] == 0
    assert json.loads(path.read_text(encoding="utf-8"))["rows"] == 30.0
    assert list(tmp_path.iterdir()) == [path]


def test_output_is_not_the_input(refusal: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(LITERAL, encoding="utf-8")
    assert refusal(str(path), "--output", str(path)) == f"{path} is the input: name another file"
    assert path.read_text(encoding="utf-8") == LITERAL


def test_output_has_the_permissions_of_any_file(call: Call, tmp_path: Path) -> None:
    plain, private, fresh = tmp_path / "plain", tmp_path / "private", tmp_path / "fresh"
    plain.touch()
    private.touch(mode=0o600)
    for path in (private, fresh):
        assert call("table", LITERAL, "--output", path)[0] == 0
    assert stat.S_IMODE(fresh.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_output_follows_a_link(call: Call, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert call("table", LITERAL, "--format", "json", "--output", link)[0] == 0
    assert link.is_symlink()
    assert json.loads(target.read_text(encoding="utf-8"))["rows"] == 30.0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_output_to_a_pipe_leaves_it_a_pipe(call: Call, tmp_path: Path) -> None:
    """A device such as /dev/null must not be replaced by a file; a pipe stands for it here."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # held open, so that writing does not wait for a reader
    try:
        assert call("table", LITERAL, "--format", "json", "--output", path)[0] == 0
        content = os.read(reader, 65536)
    finally:
        os.close(reader)
    assert json.loads(content)["rows"] == 30.0
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


def test_output_that_cannot_be_written_leaves_nothing_behind(
    refusal: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("folder").mkdir()
    for path, reason in (
        ("absent/out.json", "absent/out.json cannot be written: there is no directory absent"),
        ("file/out.json", "file/out.json cannot be written: there is no directory file"),
        ("folder", "'folder' is a directory: name a file to write"),
        (".", "'.' is a directory: name a file to write"),
        ("", "'' is empty: name a file to write"),
    ):
        assert refusal(LITERAL, "--output", path) == reason
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "file", tmp_path / "folder"]
    assert Path("file").read_bytes() == b""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_output_in_a_folder_that_may_not_be_written(refusal: Callable[..., str], tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o500)
    assert refusal(LITERAL, "--output", folder / "out.json").endswith("cannot be written: Permission denied")
    assert list(folder.iterdir()) == []


def test_refused_input_leaves_the_old_output(refusal: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old", encoding="utf-8")
    refusal("10 2; 3", "--output", path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("fault", "code"), [(OSError(28, "No space left on device"), 2), (KeyboardInterrupt(), 130)])
def test_output_broken_off_leaves_the_old_one(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException, code: int
) -> None:
    path = tmp_path / "out.json"
    path.write_text("old", encoding="utf-8")

    def break_off(*_: object) -> None:
        raise fault

    monkeypatch.setattr(Path, "replace", break_off)
    answer = call("table", LITERAL, "--output", path)
    assert answer[0] == code
    assert answer[1] == ""
    assert answer[2].startswith("credimi: ")
    assert answer[2].count("\n") == 1
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_warning_is_one_line_on_standard_error(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credimi.inference.sampling._turn", lambda *_: None)  # so that chains hardly move
    margins = ["--target-only", "3000 2000", "--feature-only", "2500 2500"]
    code, out, err = call(
        "table", "1 0; 0 1", *margins, "--prior", "jeffreys", "--approximation", "sampled", "--format", "json"
    )
    assert code == 0
    assert math.isfinite(json.loads(out)["mean"])
    assert err.startswith("credimi: warning: the draws have not converged: r_hat is ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, b"arguments are required: COMMAND"),
        (["--version"], 0, b""),
        (["table", "10 2; 3"], 2, b"credimi: the table: row 2 has 1 counts, row 1 has 2"),
        (["table", LITERAL, "--prior", "jefreys"], 2, b"credimi: unknown prior 'jefreys': did you mean 'jeffreys'?"),
    ],
)
def test_exit_code_of_the_process(arguments: list[str], code: int, said: bytes) -> None:
    answer = process(*arguments)
    assert answer.returncode == code
    assert said in answer.stderr
    assert b"Traceback" not in answer.stderr
    assert (answer.stdout == b"") == (code == 2)


def test_reader_that_leaves_is_no_fault(tmp_path: Path) -> None:
    """As in `credimi table ... | head -1`: once before anything was written, once with more than a pipe holds."""
    path = tmp_path / "counts.txt"
    path.write_text("\n".join(" ".join(["7"] * 50) for _ in range(100)), encoding="utf-8")
    for arguments, first in (([LITERAL], b""), ([str(path), "--format", "json"], b"{\n")):
        with subprocess.Popen(
            [*COMMAND, "table", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=buffered_environment(),
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            if first:
                assert running.stdout.readline() == first
            running.stdout.close()
            complaint = running.stderr.read()
            assert running.wait(60) == 0
        assert b"Traceback" not in complaint
        assert b"Exception ignored" not in complaint
        assert b"Broken" not in complaint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        answer = subprocess.run(
            [*COMMAND, "table", LITERAL],
            stdout=full,
            stderr=subprocess.PIPE,
            env=buffered_environment(),
            timeout=60,
            check=False,
        )
    assert answer.returncode == 2
    assert answer.stderr.endswith(b"credimi: standard output cannot be written: No space left on device\n")
    assert b"Exception ignored" not in answer.stderr


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="needs a shell that closes standard streams")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("table - <&-", "credimi: standard input is closed"),
        (f"table '{LITERAL}' >&-", "credimi: standard output is closed"),
    ],
)
def test_closed_streams_are_told(command: str, said: str) -> None:
    answer = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -m credimi.cli {command}', sys.executable],
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 2
    assert said in answer.stderr.splitlines()[-1]
    assert "Traceback" not in answer.stderr
