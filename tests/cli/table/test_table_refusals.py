"""`credimi table` from outside: what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from table_helpers import LITERAL, Call

import credimi

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10 2; 3", "row 2 has 1 counts, row 1 has 2"),
        ("10 2\n3 15 7\n", "row 2 has 3 counts, row 1 has 2"),
        ("10 two; 3 15", "'two' is not a count"),
        ("10 -2; 3 15", "'-2' is not a count: counts are numbers from 0 up"),
        ("10 nan; 3 15", "'nan' is not a count"),
        ("1_0 2; 3 15", "'1_0' is not a count: counts are numbers from 0 up"),
        ("10 2; 3 15; target-only: 4 1_0", "'1_0' is not a count"),
        ("10 inf; 3 15", "'inf' is not a count"),
        ("10 1e999; 3 15", "'1e999' is not a count"),
        ("10 1e200; 3 15", "at most 1e+15"),
        ("10 2 | 3 15", "'|' is not a count"),
        ("10 ,,2; 3 15", "write 0 for no count"),
        ("10, ; 3 15", "write 0 for no count"),
        ("10 2; 3 15; classes: 4 1", "'classes' is not known: use 'target-only:' or 'feature-only:'"),
        ("10 2; 3 15; target-only:", "holds no counts"),
        ("10 2; 3 15; target-only: 4 x", "'x' is not a count"),
        ("10 2; 3 15; target-only: 4 1; target-only: 4 1", "target-only is given twice"),
        ("10 2; 3 15; target-only: 4 1 0", "target_only needs one count for each row of joint (a target class): 2"),
        ("target-only: 4 1", "holds no counts"),
        ("0 0; 0 0; target-only: 0 0", "all counts are 0"),
    ],
)
def test_text_that_is_no_table(refusal: Callable[..., str], tmp_path: Path, text: str, said: str) -> None:
    """The same fault is refused in the argument, in a file and on standard input."""
    path = tmp_path / "counts.txt"
    path.write_text(text, encoding="utf-8")
    for source, stdin in ((text, b""), (path, b""), ("-", text.encode())):
        assert said in refusal(source, "--prior", "haldane", stdin=stdin)


def test_fault_in_a_file_is_named_with_its_line(refusal: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    for text, line, word in (
        ("# counts\n10 2\n3 x\n", 3, "'x'"),
        ("\n\n10 -2\n3 15\n", 3, "'-2'"),
        ("10 2\r\n3 15\r\nrows: 1 2\r\n", 3, "'rows'"),
    ):
        path.write_text(text, encoding="utf-8", newline="")
        assert refusal(path).startswith(f"{path}, line {line}: {word} is not ")
        assert refusal("-", stdin=text.encode()).startswith(f"standard input, line {line}: {word} is not ")


@pytest.mark.parametrize("content", ["", "   ", "\n\n", "# only\n# comments\n", "#", "\ufeff", ";;\n;"])
def test_file_without_counts(refusal: Callable[..., str], tmp_path: Path, content: str) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(content, encoding="utf-8")
    assert refusal(path).startswith(f"{path} holds no counts: give one row per target class")
    assert refusal("-", stdin=content.encode()).startswith("standard input holds no counts")


@pytest.mark.parametrize("source", ["", " ", "\n"])
def test_empty_argument(refusal: Callable[..., str], source: str) -> None:
    assert refusal(source).startswith('the table is empty: pass counts such as "10 2; 3 15", a file name, or -')


@pytest.mark.parametrize("content", [b"\xff\xfe1\x000\x00", b"10 2\n3 \xe9\n", bytes(range(256))])
def test_file_that_is_no_text(refusal: Callable[..., str], tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "counts.bin"
    path.write_bytes(content)
    assert "is not text in UTF-8 (byte" in refusal(path)
    assert "standard input is not text in UTF-8 (byte" in refusal("-", stdin=content)


def test_source_that_cannot_be_read(refusal: Callable[..., str], tmp_path: Path) -> None:
    assert refusal(tmp_path / "absent.txt") == (
        f'{tmp_path / "absent.txt"}: no such file; counts are written like "10 2; 3 15"'
    )
    assert refusal(tmp_path) == f"{tmp_path} cannot be read: Is a directory"
    assert refusal("[[a,b],\n[c,d]]").startswith("[[a,b], [c,d]]: no such file")
    assert refusal("x" * 5000).endswith("cannot be read: File name too long")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--prior", "jefreys"], "unknown prior 'jefreys': did you mean 'jeffreys'?"),
        (["--prior", "zzz"], "unknown prior 'zzz': choose one of uniform, jeffreys, perks, haldane"),
        (["--prior", ""], "unknown prior ''"),
        (["--prior=-1"], "--prior is -1: a pseudo-count is a number from 0 up"),
        (["--prior", "1_0"], "unknown prior '1_0'"),
        (["--prior", "nan"], "--prior is nan: "),
        (["--prior", "inf"], "--prior is inf: "),
        (["--approximation", "matchd"], "unknown approximation 'matchd': did you mean 'matched'?"),
        (["--approximation", ""], "unknown approximation '': choose one of matched, leading, leading-beta, sampled"),
        (["--level", "0"], "--level is 0: it must lie between 0 and 1"),
        (["--level", "1"], "--level is 1: it must lie between 0 and 1"),
        (["--level", "2"], "--level is 2: it must lie between 0 and 1"),
        (["--level", "nan"], "--level is nan: it must lie between 0 and 1"),
        (["--level", "-0.5"], "--level is -0.5: it must lie between 0 and 1"),
        (["--epsilon", "-0.1"], "--epsilon is -0.1: it must be a finite number of nats from 0 up"),
        (["--epsilon", "nan"], "--epsilon is nan: it must be a finite number"),
        (["--epsilon", "inf"], "--epsilon is inf: it must be a finite number"),
        (
            ["--target-only", "4"],
            "target_only needs one count for each row of joint (a target class): 2 numbers, got 1",
        ),
        (["--feature-only", "4 1 0"], "feature_only needs one count for each column of joint (a feature value): 2"),
        (["--target-only", ""], "target-only holds no counts"),
        (["--target-only", "4 x"], "target-only: 'x' is not a count"),
        (["--feature-only", "4 -1"], "feature-only: '-1' is not a count"),
        (["--feature-only", "4; 1"], "feature-only: '4;' is not a count"),
    ],
)
def test_option_that_is_wrong(refusal: Callable[..., str], options: list[str], said: str) -> None:
    assert refusal(LITERAL, *options).startswith(said)


@pytest.mark.parametrize("name", ["target-only", "feature-only"])
def test_margin_given_twice(refusal: Callable[..., str], tmp_path: Path, name: str) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(f"10 2\n3 15\n{name}: 4 1\n", encoding="utf-8")
    assert refusal(path, f"--{name}", "4 1") == f"{name} is given both in {path} and as an option: keep one of them"
    path.write_text(f"10 2\n3 15\n{name}: 4 1\n{name}: 4 1\n", encoding="utf-8")
    assert refusal(path) == f"{path}, line 4: {name} is given twice: keep one of them"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["tabel"], "invalid choice: 'tabel'"),
        (["table"], "the following arguments are required: TABLE"),
        (["table", "10", "2"], "unrecognized arguments: 2"),
        (["table", LITERAL, "--units", "hartleys"], "argument --units: invalid choice: 'hartleys'"),
        (["table", LITERAL, "--format", "xml"], "argument --format: invalid choice: 'xml'"),
        (["table", LITERAL, "--level", "high"], "argument --level: 'high' is not a number"),
        (["table", LITERAL, "--epsilon", ""], "argument --epsilon: '' is neither a share, such as 0.5%, nor a number"),
        (["table", LITERAL, "--random-state", "-1"], "argument --random-state: '-1' is not a whole number from 0 up"),
        (["table", LITERAL, "--random-state", "1.5"], "argument --random-state: '1.5' is not a whole number from 0 up"),
        (["table", LITERAL, "--output"], "argument --output: expected one argument"),
        (["table", LITERAL, "--colour"], "unrecognized arguments: --colour"),
        (["table", LITERAL, "two\nlines"], "unrecognized arguments: two lines"),
    ],
)
def test_arguments_that_are_wrong(call: Call, arguments: list[str], said: str) -> None:
    code, out, err = call(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("credimi: ")
    program = "credimi table" if arguments[:1] == ["table"] else "credimi"
    assert err.endswith(f" (see {program} --help)\n")
    assert said in err
    assert err.count("\n") == 1


def test_version(call: Call) -> None:
    assert call("--version") == (0, f"credimi {credimi.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["table", "--help"]])
def test_help_fits_in_80_columns(call: Call, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    assert out.startswith("usage: credimi")
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_help_names_every_option_and_its_default(call: Call) -> None:
    out = " ".join(call("table", "--help")[1].split())
    for option in (
        "target-only",
        "feature-only",
        "prior",
        "approximation",
        "epsilon",
        "level",
        "random-state",
        "units",
    ):
        assert f"--{option} " in out
    for default in ("adaptive", "matched", "0.5%", "0.95", "nats", "table"):
        assert f"(default: {default})" in out
