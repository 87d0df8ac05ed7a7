"""`credimi rank`, `select` and `count` from outside: counting."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from command_helpers import CLINIC, Call, Refusal, Report, base, write


def test_rank_of_counts_is_rank_of_the_data(call: Call, report: Report) -> None:
    code, out, err = call("count", CLINIC, "--target", "diabetes", "--into", "all.counts")
    assert (code, out) == (0, "")
    assert err == "credimi: all.counts: 4,000 rows, 20 features\n"
    assert report("all.counts") == report(CLINIC, "--target", "diabetes")
    assert report("all.counts", "--target", "diabetes", "--level", "0.9") == report(
        CLINIC, "--target", "diabetes", "--level", "0.9"
    )


def test_counting_in_two_calls(call: Call, report: Report) -> None:
    lines = CLINIC.read_text(encoding="utf-8").splitlines(keepends=True)
    write("1.csv", "".join(lines[:1500]))
    write("2.csv", lines[0] + "".join(lines[1500:]))
    options = ["--missing", "North", "--discretize", "age=40,60"]
    assert call("count", "1.csv", "--target", "diabetes", *options, "--into", "two.counts")[0] == 0
    code, _, err = call("count", "2.csv", "--into", "two.counts")  # target and options are those of the first call
    assert code == 0
    assert err == "credimi: two.counts: 4,000 rows, 2,501 of them new, 20 features\n"
    assert call("count", CLINIC, "--target", "diabetes", *options, "--into", "one.counts")[0] == 0
    whole = report("one.counts")
    assert report("two.counts") == whole
    assert report(CLINIC, "--target", "diabetes", *options) == whole
    for path in ("1.csv", "2.csv"):
        assert call("count", path, "--target", "diabetes", *options, "--into", f"{path}.counts")[0] == 0
    assert report("1.csv.counts", "2.csv.counts") == whole
    assert report("*.csv.counts") == whole


@pytest.mark.parametrize("content", [base(), "", "credimi", b"PAR1\0\0", b"\x00\xff"])
def test_into_a_foreign_file(refusal: Refusal, content: str | bytes) -> None:
    write("data.csv", base())
    write("other", content)
    said = refusal("count", "data.csv", "--target", "y", "--into", "other")
    assert said.startswith("other does not hold counts of credimi")


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.999])
def test_counts_cut_short(refusal: Refusal, call: Call, share: float) -> None:
    write("data.csv", base())
    assert call("count", "data.csv", "--target", "y", "--into", "some.counts")[0] == 0
    content = Path("some.counts").read_bytes()
    write("some.counts", content[: max(20, int(share * len(content)))])
    for arguments in (["count", "data.csv", "--target", "y", "--into", "some.counts"], ["rank", "some.counts"]):
        assert refusal(*arguments) == "some.counts is damaged or was cut short: count the data again"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rank", "some.counts", "data.csv", "--target", "y"], "some.counts holds counts, and the other files do not"),
        (["rank", "some.counts", "--target", "a"], "the counts are of the target 'y', not 'a': count the data again"),
        (
            ["rank", "some.counts", "--missing", "9"],
            "some.counts holds counts: leave out --missing, which apply to data only",
        ),
        (["rank", "some.counts", "--features", "a"], "some.counts holds counts: leave out --features"),
        (["count", "some.counts", "--target", "y", "--into", "new.counts"], "some.counts holds counts, not data"),
        (["count", "some.counts", "--into", "some.counts"], "some.counts is the input: name another file"),
        (["count", "data.csv", "--target", "a", "--into", "some.counts"], "some.counts counts the target 'y', not 'a'"),
        (
            ["count", "data.csv", "--missing", "9", "--into", "some.counts"],
            "some.counts was counted with another --missing, --discretize, --target-cuts, --weights or --weights-are:",
        ),
        (
            ["count", "other.csv", "--into", "some.counts"],
            "there is no column 'b' in other.csv, and some.counts counts it: there are 'y', 'a', 'z'",
        ),
        (["count", "x.csv", "--into", "some.counts"], "there is no column 'y' in x.csv, and some.counts counts it"),
        (
            ["count", "other.csv", "--features", "a", "z", "--into", "some.counts"],
            "there is no column 'z' in some.counts: there are 'a', 'b'",
        ),
        (
            ["count", "data.csv", "--features", "a", "--into", "some.counts"],
            "some.counts counts the column 'b', which is left out here",
        ),
        (
            ["count", "data.csv", "--exclude", "bb", "--into", "some.counts"],
            "there is no column 'bb' in data.csv: did you mean 'b'?",
        ),
        (
            ["count", "wide.csv", "--exclude", "d", "--into", "some.counts"],
            "some.counts does not count the column 'c' of wide.csv: leave it out here, too",
        ),
    ],
)
def test_counts_and_data_that_do_not_go_together(refusal: Refusal, call: Call, arguments: list[str], said: str) -> None:
    write("data.csv", base())
    write("other.csv", base().replace("b", "z", 1))
    write("x.csv", "x,a,b\n1,2,3\n")
    write("wide.csv", "y,a,b,c,d\ny,p,1,2,3\n")
    assert call("count", "data.csv", "--target", "y", "--into", "some.counts")[0] == 0
    assert refusal(*arguments).startswith(said)


def test_a_closed_folder_is_named_not_the_lock(refusal: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    write("data.csv", base())

    def closed(*_: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("credimi.core.atomic_files._take_lock", closed)
    said = refusal("count", "data.csv", "--target", "y", "--into", "some.counts")
    assert said == f"some.counts cannot be written: Permission denied (the folder {Path.cwd()})"
