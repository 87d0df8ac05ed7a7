"""`credimi table` from outside: what it reads."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from table_helpers import LITERAL, ROOT, Call, expected, without_settings

if TYPE_CHECKING:
    from collections.abc import Callable


def test_literal(report: Callable[..., dict[str, object]]) -> None:
    assert without_settings(report(LITERAL)) == expected()


@pytest.mark.parametrize(
    "text",
    [
        "10,2;3,15",
        "10, 2; 3, 15",
        " 10 ,2 ;\t3\t15 ;",
        "10 2\n3 15",
        "10 2\n\n3 15\n",
        "1e1 2.0; +3 15.",
        "10 2; 3 15 # a remark",
        "10 2 # no\n3 15 # yes",
    ],
)
def test_ways_to_write_the_same_counts(report: Callable[..., dict[str, object]], text: str) -> None:
    assert without_settings(report(text)) == expected()


@pytest.mark.parametrize(
    "content",
    [
        b"10 2\n3 15\n",
        b"10 2\n3 15",
        b"10,2\r\n3,15\r\n",
        b"10 2\r3 15\r",
        b"\xef\xbb\xbf10 2\n3 15\n",
        b"\xef\xbb\xbf# counts\r\n10 2\r\n3 15\r\n",
        b"# caf\xc3\xa9 against tea\n\n10 2 # one\n  # another\n3 15\n\n",
        b"10 2; 3 15",
    ],
)
def test_file_and_standard_input(report: Callable[..., dict[str, object]], tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "counts.txt"
    path.write_bytes(content)
    assert without_settings(report(path)) == expected()
    assert without_settings(report("-", stdin=content)) == expected()


def test_margins_as_lines_of_the_file(report: Callable[..., dict[str, object]], tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    answer = expected(target_only=[4, 1], feature_only=[0, 2])
    for text in (
        "10 2\n3 15\ntarget-only: 4 1\nfeature-only: 0 2\n",
        "feature-only: 0, 2  # first\ntarget-only:4,1\r\n10 2\r\n3 15\r\n",
        "10 2; 3 15; target_only : 4 1; feature_only: 0 2",
    ):
        path.write_text(text, encoding="utf-8", newline="")
        assert without_settings(report(path)) == answer
        assert without_settings(report("-", stdin=text.encode())) == answer
    assert without_settings(report("10 2; 3 15; target-only: 4 1; feature-only: 0 2")) == answer


def test_margins_as_options(report: Callable[..., dict[str, object]], tmp_path: Path) -> None:
    answer = expected(target_only=[4, 1], feature_only=[0, 2])
    assert without_settings(report(LITERAL, "--target-only", "4 1", "--feature-only", "0,2")) == answer
    path = tmp_path / "counts.txt"
    path.write_text("10 2\n3 15\ntarget-only: 4 1\n", encoding="utf-8")
    assert without_settings(report(path, "--feature-only", "0 2")) == answer
    assert without_settings(report(LITERAL, "--target-only", "4 1")) == expected(target_only=[4, 1])


def test_counts_of_all_sizes(report: Callable[..., dict[str, object]]) -> None:
    assert without_settings(report("1e12 2.5e11; 0.125 3e12")) == expected([[1e12, 2.5e11], [0.125, 3e12]])


def test_file_with_an_unusual_name(
    report: Callable[..., dict[str, object]],
    refusal: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("zählung.txt", "計数 表.txt", "10 2; 3 99", "7", "a:b", "#1"):
        Path(name).write_text(LITERAL, encoding="utf-8")
        assert without_settings(report(name)) == expected()
    assert refusal("não existe.txt").startswith("não existe.txt: no such file")


def test_long_table_is_not_taken_for_a_file_name(report: Callable[..., dict[str, object]]) -> None:
    """No file name may have 4,096 characters, and asking for one is an error of its own."""
    joint = [[10 + row % 7, 20, 30] for row in range(1000)]
    answer = report("; ".join(" ".join(map(str, row)) for row in joint))
    assert without_settings(answer) == expected(joint)


def test_example_of_the_documentation(report: Callable[..., dict[str, object]]) -> None:
    """The file of the command holds the numbers of the Python example."""
    page = (ROOT / "docs" / "how-to" / "python.md").read_text(encoding="utf-8")
    assert "credimi table examples/smoking.txt" in page
    names = {}
    for name in ("joint", "target_only", "feature_only"):
        found = re.search(rf"^{name} = (\[.*\])", page, re.MULTILINE)
        assert found is not None
        names[name] = json.loads(found.group(1))
    answer = report(ROOT / "examples" / "smoking.txt")
    assert (answer.pop("classes"), answer.pop("values")) == (["no-cough", "cough"], ["never", "formerly", "daily"])
    assert without_settings(answer) == expected(**names)


def test_examples_of_the_help_work(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counts.txt").write_text(LITERAL, encoding="utf-8")
    examples = re.findall(r"^  (?:echo (\".*\") \| )?credimi (table .*)$", call("table", "--help")[1], re.MULTILINE)
    assert len(examples) == 6
    for piped, arguments in examples:
        code, out, _ = call(*shlex.split(arguments), stdin=piped.strip('"').encode())
        assert code == 0
        assert "mean" in out


LABELLED = """          never formerly daily  ?
no-cough   143    74    61   19
cough       21    24    48   11
?           14     9    12
"""


@pytest.mark.parametrize(
    "text",
    [
        LABELLED,
        "143 74 61 19; 21 24 48 11; 14 9 12 ?",
        ",never,formerly,daily,?\nno-cough,143,74,61,19\ncough,21,24,48,11\n?,14,9,12,\n",
    ],
)
def test_margins_in_the_table_are_those_of_the_options(report: Callable[..., dict[str, object]], text: str) -> None:
    plain = report("143 74 61; 21 24 48", "--target-only", "19 11", "--feature-only", "14 9 12")
    answer = report("-", stdin=text.encode())
    labels = {"classes": answer.pop("classes", None), "values": answer.pop("values", None)}
    assert answer == plain
    if "never" in text:
        assert labels == {"classes": ["no-cough", "cough"], "values": ["never", "formerly", "daily"]}


def test_labels_are_shown(call: Call) -> None:
    shown = call("table", "-", stdin=LABELLED.encode())[1]
    assert re.search(r"class . value .*never.*formerly.*daily", shown)
    assert re.search(r"no-cough .*0\.3765", shown)


def test_missing_marked_in_the_table_and_given_beside_it_is_refused(refusal: Callable[..., str]) -> None:
    assert "given both in" in refusal("10 2 4; 3 15 1; 0 2 ?", "--target-only", "4 1")
    assert "a second time" in refusal("10 2 4; 3 15 1; 0 2 ?; target-only: 4 1")


@pytest.mark.parametrize("label", ["NaN", "NA", "?"])
@pytest.mark.parametrize("heads", ["habit  a   b  {}\n", "habit  a   b  {}\ncough            \n"])
def test_a_table_is_read_as_pandas_prints_it(
    report: Callable[..., dict[str, object]], tmp_path: Path, label: str, heads: str
) -> None:
    path = tmp_path / "printed.txt"
    path.write_text(f"{heads}n      4  10    2\ny     12   3    5\n{label}    5   0    0\n".replace("{}", label))
    plain = report("4 10; 12 3", "--target-only", "2 5", "--feature-only", "5 0")
    assert without_settings(report(str(path)))["mean"] == without_settings(plain)["mean"]


@pytest.mark.parametrize(
    "text",
    [
        ",0,1\nno,10,2\nyes,3,15",
        ",2019,2020\n1,10,2\n2,3,15\n",
        "   0  1\nno 10 2\nyes 3 15",
        "habit   0   1\ncough        \nno     10   2\nyes     3  15",
        "0 1\nno 10 2\nyes 3 15",
    ],
)
def test_labels_may_be_numbers(report: Callable[..., dict[str, object]], text: str) -> None:
    found = without_settings(report("-", stdin=text.encode()))
    assert {name: found[name] for name in expected()} == expected()


def test_labels_that_may_be_counts_are_refused(refusal: Callable[..., str]) -> None:
    assert "may be the labels 2019, 2020" in refusal("-", stdin=b"cough,2019,2020\nno,30,4\nyes,1,20")
