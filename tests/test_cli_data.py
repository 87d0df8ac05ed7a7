"""`credimi rank`, `select` and `count` from outside: what they read, answer and refuse, and what they leave behind."""

import csv
import gzip
import io
import json
import math
import os
import random
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credimi
from credimi import output as outlet
from credimi.cli import main
from credimi.engines import delimited

ROOT = Path(__file__).resolve().parent.parent
CLINIC = ROOT / "examples" / "clinic.csv"
COMMAND = [sys.executable, "-m", "credimi.cli"]
AS_ROOT = not hasattr(os, "geteuid") or os.geteuid() == 0

Answer = tuple[int, str, str]
Call = Callable[..., Answer]
Refusal = Callable[..., str]
Report = Callable[..., dict[str, Any]]


def base(rows: int = 60, delimiter: str = ",", end: str = "\n") -> str:
    """A target y, a column a that tells of it and a column b that hardly does."""
    lines = [("y", "a", "b")]
    lines += [("yn"[i % 2], "pq"[i % 2 if i % 3 else i // 2 % 2], str(i % 5)) for i in range(rows)]
    return "".join(delimiter.join(line) + end for line in lines)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compile before the first command, which would otherwise say on standard error that it does."""
    credimi.rank(str(CLINIC), "diabetes")
    credimi.rank({"y": ["a", "b"] * 10, "x": ["c", "d"] * 10}, "y")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names in these tests are short, and stand in a directory of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """The command inside this process: exit code, standard output, standard error."""

    def run(*arguments: object) -> Answer:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse leaves this way
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def report(call: Call) -> Report:
    """What `credimi rank ... --format json` answers."""

    def run(*arguments: object) -> dict[str, Any]:
        code, out, err = call("rank", *arguments, "--format", "json")
        assert code == 0, err
        assert err == ""
        return json.loads(out)

    return run


@pytest.fixture
def refusal(call: Call) -> Refusal:
    """The one line that is said when the input is refused; no file has come, gone or changed."""

    def run(*arguments: object) -> str:
        before = contents()
        code, out, err = call(*arguments)
        assert code == 2, err
        assert out == ""
        assert err.startswith("credimi: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        assert contents() == before
        return err.removeprefix("credimi: ").rstrip("\n")

    return run


def contents() -> dict[str, bytes]:
    """All files here, hidden ones included."""
    return {
        str(path): path.read_bytes() if os.access(path, os.R_OK) else b""
        for path in Path().rglob("*")
        if path.is_file()
    }


def write(name: str, content: str | bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def write_parquet(name: str, columns: dict[str, Any]) -> str:
    pq.write_table(pa.table(columns), name)
    return name


def columns(*names: str, rows: list[tuple[object, ...]]) -> str:
    """CSV of a header and rows."""
    text = io.StringIO()
    delimited.csv_writer(text).writerows([names, *rows])
    return text.getvalue()


def by_name(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {feature["feature"]: feature for feature in answer["features"]}


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own."""
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, timeout=120, check=False, env=buffered_environment() | environment
    )


def buffered_environment() -> dict[str, str]:
    """Our own environment, with standard output buffered as users have it, and with this credimi."""
    inherited = {name: value for name, value in os.environ.items() if name not in {"PYTHONUNBUFFERED", "COLUMNS"}}
    return inherited | {"PYTHONPATH": str(Path(credimi.__file__).resolve().parent.parent)}


# Which column


def test_unknown_target_suggests_the_nearest(refusal: Refusal) -> None:
    said = refusal("rank", CLINIC, "--target", "diabets")
    assert said.startswith("there is no column 'diabets': did you mean 'diabetes'")


def test_unknown_target_in_other_case(refusal: Refusal) -> None:
    assert refusal("rank", CLINIC, "--target", "DIABETES") == "there is no column 'DIABETES': did you mean 'diabetes'?"


def test_unknown_target_like_none(refusal: Refusal) -> None:
    write("data.csv", base())
    assert refusal("rank", "data.csv", "--target", "zzz") == "there is no column 'zzz': there are 'y', 'a', 'b'"


def test_unknown_target_names_few_of_many(refusal: Refusal) -> None:
    write("data.csv", ",".join(f"c{i:04}" for i in range(3000)) + "\n")
    assert len(refusal("rank", "data.csv", "--target", "outcome")) < 200


@pytest.mark.parametrize("command", [["rank"], ["select", "--output", "new.csv"], ["count", "--into", "new.counts"]])
def test_no_target(refusal: Refusal, command: list[str]) -> None:
    write("data.csv", base())
    assert refusal(command[0], "data.csv", *command[1:]) == "name the target: --target COLUMN"


def test_unknown_feature(refusal: Refusal) -> None:
    said = refusal("rank", CLINIC, "--target", "diabetes", "--features", "age", "bmj")
    assert said == "there is no column 'bmj': did you mean 'bmi'?"


def test_target_among_the_features(refusal: Refusal) -> None:
    write("data.csv", base())
    assert refusal("rank", "data.csv", "--target", "y", "--features", "y").startswith("'y' is the target")


def test_two_columns_of_one_name(refusal: Refusal) -> None:
    write("data.csv", "y,a,a\n1,2,3\n0,3,2\n")
    said = refusal("rank", "data.csv", "--target", "y")
    assert said == "two columns are called 'a': give each column a name of its own"


def test_nothing_but_the_target(refusal: Refusal) -> None:
    write("data.csv", "y\n" + "p\nq\n" * 10)
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv has no column besides the target 'y'")


def test_nameless_columns_show(call: Call) -> None:
    """A row index that some program wrote without a name, or a comma at the end of each line."""
    write("data.csv", columns("", "y", "a", rows=[(7, i % 2, i % 2) for i in range(30)]))
    assert "(no name): one value only: 7" in call("rank", "data.csv", "--target", "y")[1]


# Too little


@pytest.mark.parametrize("content", ["", "\n\n\n"])
def test_empty_file(refusal: Refusal, content: str) -> None:
    write("data.csv", content)
    said = refusal("rank", "data.csv", "--target", "y")
    assert said == "data.csv is empty: a table needs a first line with the columns' names, and rows"


@pytest.mark.parametrize("arguments", [["rank"], ["count", "--into", "c"], ["select", "--output", "new.parquet"]])
def test_empty_file_that_is_named_as_parquet(refusal: Refusal, arguments: list[str]) -> None:
    write("data.parquet", "")
    said = refusal(*arguments, "data.parquet", "--target", "y")
    assert said == "data.parquet is empty, which no Parquet file is: write it again, or leave it out"


@pytest.mark.parametrize("content", ["y,a,b\n", "y,a,b", "y,a,b\r\n", "\ufeffy,a,b\n", "y,a,b\n\n\n"])
def test_header_only(refusal: Refusal, content: str) -> None:
    write("data.csv", content)
    said = refusal("rank", "data.csv", "--target", "y")
    assert said == "data.csv has no rows: nothing can be said about 'y'"


def test_counts_without_rows(call: Call, refusal: Refusal) -> None:
    """An empty month adds nothing, and is no fault; with nothing else there is nothing to rank."""
    write("data.csv", "y,a\n")
    code, _, err = call("count", "data.csv", "--target", "y", "--into", "no.counts")
    assert (code, err) == (0, "credimi: no.counts: 0 rows, 1 feature\n")
    assert refusal("rank", "no.counts") == "no.counts counts no rows: nothing can be said about 'y'"


def test_parquet_without_rows(refusal: Refusal) -> None:
    write_parquet("data.parquet", {"y": pa.array([], pa.string()), "a": pa.array([], pa.int64())})
    assert refusal("rank", "data.parquet", "--target", "y").startswith("data.parquet has no rows")


def test_target_of_one_class(refusal: Refusal) -> None:
    write("data.csv", columns("y", "a", rows=[("only", i % 2) for i in range(20)]))
    said = refusal("rank", "data.csv", "--target", "y")
    assert said == "target 'y' has one class only, 'only': nothing can inform about it"


def test_target_all_missing(refusal: Refusal) -> None:
    write("data.csv", columns("y", "a", rows=[(("", "?", "NA")[i % 3], i % 2) for i in range(20)]))
    assert refusal("rank", "data.csv", "--target", "y").startswith("target 'y' is missing in all 20 rows")


def test_target_of_many_numbers(refusal: Refusal) -> None:
    write("data.csv", columns("y", "a", rows=[(i / 7, i % 2) for i in range(60)]))
    assert refusal("rank", "data.csv", "--target", "y").startswith("target 'y' holds 60 different numbers, not classes")


def test_columns_of_one_value_or_none_come_last(call: Call, report: Report) -> None:
    write("data.csv", columns("c", "m", "y", "a", rows=[("k", "", i % 2, i % 2) for i in range(20)]))
    features = report("data.csv", "--target", "y")["features"]
    assert [feature["feature"] for feature in features] == ["a", "c", "m"]
    assert [feature["mi"] for feature in features[1:]] == [0.0, 0.0]
    assert [feature["note"] for feature in features[1:]] == ["one value only: k", "all values are missing"]
    assert [feature["verdict"] for feature in features[1:]] == ["drop", "drop"]
    out = call("rank", "data.csv", "--target", "y")[1]
    assert "c: one value only: k\n" in out
    assert "m: all values are missing\n" in out
    assert "3 features: 1 keep, 2 drop\n" in out


def test_file_of_ids(report: Report) -> None:
    write("data.csv", columns("y", "id", rows=[(i % 2, f"u{i:05}") for i in range(60)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert feature["verdict"] == "not ranked"
    assert feature["mi"] is None
    assert feature["note"].startswith("identifier: 60 different values in 60 rows (--discretize")


def test_select_from_ids_keeps_the_target_alone(call: Call) -> None:
    write("data.csv", columns("y", "id", rows=[(i % 2, f"u{i:05}") for i in range(60)]))
    code, out, err = call("select", "data.csv", "--target", "y", "--output", "new.csv")
    assert (code, out) == (0, "")
    assert err == "credimi: new.csv: 0 of 1 feature kept by the rule forward\n"
    assert Path("new.csv").read_text(encoding="utf-8") == "y\n" + "0\n1\n" * 30


# Values of all kinds


def test_numbers_and_letters_in_one_column(report: Report) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, (1, "b", 2, "c")[i % 4]) for i in range(20)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert (feature["values"], feature["note"]) == (4, "categories")


def test_list_column(refusal: Refusal, report: Report) -> None:
    write_parquet("data.parquet", {"y": ["p", "q"] * 10, "words": [[1, 2]] * 20, "a": ["x", "y"] * 10})
    for named in (["--features", "words"], ["--discretize", "words=mdl"]):
        said = refusal("rank", "data.parquet", "--target", "y", *named)
        assert said.startswith("column 'words' holds values of type list<")
        assert "leave it out (exclude, --exclude)" in said
    assert refusal("rank", "data.parquet", "--target", "words").startswith("column 'words' holds values of type list<")
    assert len(report("data.parquet", "--target", "y", "--features", "a")["features"]) == 1
    first, last = report("data.parquet", "--target", "y")["features"]
    assert (first["feature"], first["verdict"]) == ("a", "keep")
    assert (last["feature"], last["verdict"], last["complete"], last["mi"]) == ("words", "not ranked", 20, None)
    assert last["note"] == (
        "cannot be counted: values of type list (convert them to text, numbers or truth values, or leave the column "
        "out: --exclude words)"
    )


def test_list_column_is_shown_everywhere_and_kept_nowhere(call: Call) -> None:
    columns_ = {"y": ["p", "q"] * 20, "words": [[1], None] * 20, "raw": [b"\xff"] * 40, "a": ["x", "y"] * 20}
    write_parquet("data.parquet", columns_)
    code, out, _ = call("rank", "data.parquet", "--target", "y", "--html", "page.html")
    assert code == 0
    assert "3 features: 1 keep, 2 not ranked" in out
    assert "words: cannot be counted: values of type list (" in out
    assert "raw: cannot be counted: bytes that are not UTF-8 (" in out
    assert "cannot be counted: values of type list" in Path("page.html").read_text()
    code, out, _ = call("rank", "data.parquet", "--target", "y", "--format", "csv")
    assert {line.split(",")[0] for line in out.splitlines() if ",not ranked," in line} == {"words", "raw"}
    assert call("select", "data.parquet", "--target", "y", "--rule", "backward", "--output", "less.parquet")[0] == 0
    assert pq.read_schema("less.parquet").names == ["y", "a"]


def test_other_notations_of_numbers_and_dates(call: Call, report: Report) -> None:
    rows = [(i % 2, f"{i % 28 + 1:02}.01.2024", f"{i % 30},50 €", f"{i % 40} %") for i in range(200)]
    write("data.csv", "y;day;price;share\n" + "".join(";".join(map(str, row)) + "\n" for row in rows))
    notes = {name: row["note"] for name, row in by_name(report("data.csv", "--target", "y")).items()}
    assert notes == {
        "day": "categories, not dates: written as in '01.01.2024' (write YYYY-MM-DD)",
        "price": "categories, not numbers: signs of currency as in '10,50 €' (write plain numbers, such as 12.5)",
        "share": "categories, not numbers: percent signs as in '10 %' (write plain numbers, such as 12.5)",
    }
    out = " ".join(call("rank", "data.csv", "--target", "y")[1].split())
    assert "('01.01.2024')" in out
    assert "taken for text, and each value for a category" in out


def test_numbers_that_may_mean_missing_and_a_target_that_is_measured(call: Call, report: Report) -> None:
    rows = [(i % 60, (1, 2, 3, -9)[i % 4], i % 3 if i % 7 else 99) for i in range(300)]
    write("data.csv", columns("y", "a", "b", rows=rows))
    out = " ".join(call("rank", "data.csv", "--target", "y")[1].split())
    assert "caution: the target 'y' has 60 classes, all of them numbers, and looks like a measurement" in out
    assert "a: -9 may mean missing" in out
    out = " ".join(call("rank", "data.csv", "--target", "b")[1].split())
    assert "the target 'b' has the class 99, which may mean missing (missing_values, --missing 99: then in all" in out
    answer = report("data.csv", "--target", "b", "--missing", "99", "--missing", "-9")
    assert answer["classes"] == ["0", "1", "2"]
    assert by_name(answer)["a"]["note"] == "categories"
    assert call("count", "data.csv", "--target", "b", "--into", "c.counts")[0] == 0
    assert "has the class 99" in " ".join(call("rank", "c.counts")[1].split())


@pytest.mark.parametrize("name", ["my column", "it's", "-n", "a;b", "$x", "Größe"])
def test_hints_can_be_pasted_into_a_shell(call: Call, report: Report, name: str) -> None:
    """What the notes say to write is split by a shell into what the command takes."""
    write("data.csv", columns("y", name, rows=[(i % 2, f"v{i}") for i in range(40)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    hint = re.search(r"\((--discretize.*) ranks it\)", feature["note"])
    assert hint is not None
    assert report("data.csv", "--target", "y", *shlex.split(hint[1]))["features"][0]["note"] == "categories"
    write("dates.csv", columns("y", name, rows=[(i % 2, f"2024-01-{i % 25 + 1:02}") for i in range(100)]))
    code, out, _ = call("rank", "dates.csv", "--target", "y")
    assert code == 0
    (hint_,) = re.findall(r"as numbers:\s+(--discretize.*)", out.replace("\n", " ").replace("  ", " "))
    hint_ = hint_.partition(" unsure would be decided")[0]
    words = shlex.split(hint_)
    assert "quarters" in report("dates.csv", "--target", "y", *words)["features"][0]["note"]


def test_hint_of_a_token_that_means_missing_is_quoted(report: Report) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, i if i % 40 else "72 kg") for i in range(80)]))
    note = report("data.csv", "--target", "y")["features"][0]["note"]
    assert note.endswith("numbers but for '72 kg' (--missing '72 kg')")


def test_list_column_in_counts_that_grow(call: Call, report: Report) -> None:
    write_parquet("one.parquet", {"y": ["p", "q"] * 20, "words": [[1], None] * 20, "a": ["x", "y"] * 20})
    write_parquet("two.parquet", {"y": ["p", "q"] * 20, "words": ["u", "v"] * 20, "a": ["x", "y"] * 20})
    for name in ("one.parquet", "two.parquet"):
        assert call("count", name, "--target", "y", "--into", "c.counts")[0] == 0
    at_once = report("one.parquet", "two.parquet", "--target", "y")["features"]
    assert report("c.counts")["features"] == at_once
    assert (at_once[1]["verdict"], at_once[1]["complete"], at_once[1]["missing"]) == ("not ranked", 60, 20)


def test_target_all_missing_names_the_option(refusal: Refusal) -> None:
    write("data.csv", columns("y", "a", rows=[("", i % 2) for i in range(20)]))
    assert "--missing" in refusal("rank", "data.csv", "--target", "y")


def test_texts_of_numbers_that_are_none(report: Report) -> None:
    """NaN is missing; inf is a number beyond all cuts."""
    rows = [(i % 2, ("NaN", "NaN", "inf", "-inf", "1.5", "2.5")[i % 6]) for i in range(60)]
    write("data.csv", columns("y", "a", rows=rows))
    (feature,) = report("data.csv", "--target", "y", "--discretize", "a=0,2")["features"]
    assert (feature["missing"], feature["complete"], feature["values"]) == (20, 40, 3)
    assert all(math.isfinite(feature[name]) for name in ("mi", "std", "low", "high", "p_above"))


@pytest.mark.parametrize("token", ["nan", "NAN", "-nan"])
def test_nan_in_small_letters_is_missing(report: Report, token: str) -> None:
    """As numpy, C and many programs write it."""
    write("data.csv", columns("y", "a", rows=[(i % 2, token if i % 3 else i / 7) for i in range(60)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert feature["missing"] == 40


def test_leading_zeros_are_names(report: Report) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, ("007", "07", "7")[i % 3]) for i in range(60)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert (feature["values"], feature["note"]) == (3, "categories, not numbers: leading zeros")


def test_decimal_commas_are_text_unless_asked(report: Report, call: Call) -> None:
    """As a spreadsheet writes them in many countries; but "1,3" may also be a list of choices."""
    values = [f"{(i * 37 % 211 + 60 * (i % 2)) / 10:.1f}" for i in range(1200)]
    write("points.csv", columns("y", "a", rows=[(i % 2, value) for i, value in enumerate(values)]))
    write("commas.csv", "y;a\n" + "".join(f"{i % 2};{value.replace('.', ',')}\n" for i, value in enumerate(values)))
    (unasked,) = report("commas.csv", "--target", "y")["features"]
    assert unasked["note"] == "categories, not numbers: decimal commas"
    assert "caution: a: decimal commas are taken for text" in call("rank", "commas.csv", "--target", "y")[1]
    (asked,) = report("commas.csv", "--target", "y", "--discretize", "a=mdl")["features"]
    (points,) = report("points.csv", "--target", "y")["features"]
    assert asked == points
    assert asked["note"].startswith("mdl, ")


@pytest.mark.parametrize("time", ["", " 12:30", "T23:59:59.25"])
def test_dates_are_text_unless_asked(report: Report, time: str) -> None:
    days = [i * 37 % 211 + 60 * (i % 2) for i in range(400)]
    texts = [str(np.datetime64("1969-10-01") + day) + time for day in days]
    write("dates.csv", columns("y", "a", rows=[(i % 2, text) for i, text in enumerate(texts)]))
    arrow = pa.array([np.datetime64(text.replace(" ", "T"), "us") for text in texts])
    pq.write_table(pa.table({"y": [i % 2 for i in range(400)], "a": arrow}), "dates.parquet")
    (unasked,) = report("dates.csv", "--target", "y")["features"]
    assert unasked["verdict"] == "not ranked"
    assert unasked["note"].endswith("(--discretize a=mdl ranks it)")
    (asked,) = report("dates.csv", "--target", "y", "--discretize", "a=mdl")["features"]
    (typed,) = report("dates.parquet", "--target", "y", "--discretize", "a=mdl")["features"]
    assert {name: asked[name] for name in asked if name != "note"} == {
        name: typed[name] for name in typed if name != "note"
    }
    cuts = asked["note"].removeprefix("mdl, ").split(": ", 1)[1].split(", ")
    assert asked["values"] == len(cuts) + 1 > 1
    assert all(np.datetime64("1969-10-01") <= np.datetime64(cut) <= np.datetime64("1970-07-01") for cut in cuts)


def test_dates_of_several_rows_each_are_categories_with_a_remark(report: Report, call: Call) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, f"2024-03-{1 + i % 9:02d}") for i in range(90)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert feature["note"] == "categories, not numbers: dates"
    assert "caution: a: dates are taken for text" in call("rank", "data.csv", "--target", "y")[1]


def test_times_of_a_zone_are_those_of_utc(report: Report) -> None:
    days = [i * 37 % 211 + 60 * (i % 2) for i in range(400)]
    dates = [np.datetime64("1969-10-01") + day for day in days]
    write("utc.csv", columns("y", "a", rows=[(i % 2, f"{date}T01:30:00Z") for i, date in enumerate(dates)]))
    write("east.csv", columns("y", "a", rows=[(i % 2, f"{date}T03:30:00+02:00") for i, date in enumerate(dates)]))
    utc, east = (report(name, "--target", "y", "--discretize", "a=mdl")["features"] for name in ("utc.csv", "east.csv"))
    assert utc == east


def test_what_is_no_date_cannot_be_cut(refusal: Refusal) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, f"2020-02-{27 + i % 4}") for i in range(60)]))
    message = refusal("rank", "data.csv", "--target", "y", "--discretize", "a=mdl")
    assert "text such as '2020-02-30', and discretize" in message
    assert "only numbers and dates can be cut" in message


def test_an_identifier_of_more_numbers_than_are_kept_has_at_least_those(report: Report) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, i) for i in range(40_000)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    found = re.match(r"identifier: at least ([\d,]+) different values in 40,000 rows", feature["note"])
    assert found
    assert int(found[1].replace(",", "")) < 40_000


def test_thousands_are_not_taken_for_decimal_commas(refusal: Refusal) -> None:
    texts = [f"{250 + 137 * i % 4001:,}" for i in range(120)]
    write("data.csv", "y;a\n" + "".join(f"{i % 2};{text}\n" for i, text in enumerate(texts)))
    assert "text such as '1,0" in refusal("rank", "data.csv", "--target", "y", "--discretize", "a=mdl")


def test_a_stray_text_among_numbers_is_named(report: Report, call: Call, refusal: Refusal) -> None:
    """One text keeps a column from being numbers: it is shown, and what to do."""
    values = ["N/A" if i % 10 == 0 else f"{i * 37 % 101}.5" for i in range(600)]
    write("data.csv", columns("y", "a", rows=[(i % 2, value) for i, value in enumerate(values)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert feature["note"] == "categories; numbers but for 'N/A', which may mean missing"
    told = " ".join(call("rank", "data.csv", "--target", "y")[1].split())
    assert "caution: a: numbers but for 'N/A', which may mean missing" in told
    assert "text such as 'N/A'" in refusal("rank", "data.csv", "--target", "y", "--discretize", "a=mdl")
    (feature,) = report("data.csv", "--target", "y", "--missing", "N/A")["features"]
    assert feature["missing"] == 60
    write("many.csv", columns("y", "a", rows=[(i % 2, "Total" if i == 7 else i / 7) for i in range(90)]))
    (feature,) = report("many.csv", "--target", "y")["features"]
    assert feature["note"].endswith("numbers but for 'Total' (--missing Total)")


@pytest.mark.parametrize("code", ["NULL", "None", "n/a", "-", "."])
def test_what_often_means_missing_is_pointed_out(report: Report, code: str) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, ("red", "blue", code)[i % 3]) for i in range(60)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert feature["note"] == f"categories; {code!r} may mean missing"


@pytest.mark.parametrize("pair", [("1.1", "1.10"), ("1e3", "1000"), ("+5", "5"), (".5", "0.5")])
def test_text_that_looks_like_a_number_stays_as_it_is_spelled(report: Report, pair: tuple[str, str]) -> None:
    """Versions and part numbers, in a column that also holds text."""
    rows = [(i % 2, "beta" if i % 5 == 0 else pair[i % 2]) for i in range(200)]
    write("data.csv", columns("y", "a", rows=rows))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert feature["values"] == 3
    assert feature["verdict"] == "keep"
    (frame,) = credimi.rank({"y": [row[0] for row in rows], "a": [row[1] for row in rows]}, "y")
    assert feature["mi"] == frame["mi"]


def test_missing_number_is_not_a_name_made_of_digits(report: Report) -> None:
    """Codes 08 and 09 are text, so that --missing 9 does not mean 09."""
    write("data.csv", columns("y", "a", rows=[(i % 2, ("08", "09")[i // 2 % 2]) for i in range(60)]))
    (feature,) = report("data.csv", "--target", "y", "--missing", "9")["features"]
    assert feature["missing"] == 0


def test_truth_values(report: Report) -> None:
    rows = [("false" if i % 2 else "true", "False" if i % 2 else "TRUE") for i in range(60)]
    write("data.csv", columns("y", "a", rows=rows))
    write_parquet("data.parquet", {"y": [i % 2 == 0 for i in range(60)], "a": [i % 2 == 0 for i in range(60)]})
    texts, truths = report("data.csv", "--target", "y"), report("data.parquet", "--target", "y")
    assert texts == truths
    assert texts["classes"] == ["false", "true"]
    assert texts["features"][0]["values"] == 2


def test_unicode(call: Call, report: Report, refusal: Refusal) -> None:
    rows = [("äß"[i % 2], "日本"[i % 2], "αβγ"[i % 3]) for i in range(30)]
    write("größe.csv", columns("größe", "年齢", "é 😀", rows=rows))
    answer = report("größe.csv", "--target", "größe")
    assert answer["settings"]["target"] == "größe"
    assert answer["classes"] == ["ß", "ä"]
    assert list(by_name(answer)) == ["年齢", "é 😀"]
    out = call("rank", "größe.csv", "--target", "größe")[1]
    assert "What informs about größe (ß, ä; entropy 0.6931 nats), 30 rows" in out
    assert "年齢" in out
    assert refusal("rank", "größe.csv", "--target", "grösse") == "there is no column 'grösse': did you mean 'größe'?"
    assert call("select", "größe.csv", "--target", "größe", "--output", "neu.csv")[0] == 0
    assert Path("neu.csv").read_text(encoding="utf-8") == columns("größe", "年齢", rows=[row[:2] for row in rows])


def test_markup_is_shown_as_it_is(call: Call) -> None:
    rows = [(("[/]", "[red]z")[i % 2], i % 2, f"[red]{i % 3}", "[/x]", i % 2) for i in range(20)]
    write("data.csv", columns("[bold]y[/bold]", "[bold]x[/bold]", "[/]", "[link]", ":smile:", rows=rows))
    code, out, err = call("rank", "data.csv", "--target", "[bold]y[/bold]")
    assert (code, err) == (0, "")
    assert "What informs about [bold]y[/bold] ([/], [red]z; entropy 0.6931 nats), 20 rows" in out
    for name in ("[bold]x[/bold]", "[/]", "[link]", ":smile:"):
        assert f"  {name} " in out
    assert "[link]: one value only: [/x]\n" in out


def test_names_do_not_steer_the_terminal(call: Call) -> None:
    write("data.csv", columns("y", "a\x1b[31m", "b\rc", rows=[(i % 2, "k\x07", i % 2) for i in range(20)]))
    code, out, _ = call("rank", "data.csv", "--target", "y")
    assert code == 0
    assert not {"\x1b", "\r", "\x07"} & set(out)
    assert r"a\x1b[31m: one value only: k\x07" in out
    assert r"b\rc" in out


def test_line_ends_in_quotes(call: Call, report: Report) -> None:
    rows = [(f"{i % 2}\nk", f"q\r\n{i % 2}", f"{i % 2}\r") for i in range(20)]
    write("data.csv", columns("y", "a\nb", "c\n\nd", rows=rows))
    answer = report("data.csv", "--target", "y")
    assert (answer["rows"], answer["classes"]) == (20, ["0\nk", "1\nk"])
    assert list(by_name(answer)) == ["a\nb", "c\n\nd"]
    assert r"a\nb" in call("rank", "data.csv", "--target", "y")[1]
    assert call("select", "data.csv", "--target", "y", "--output", "new.csv")[0] == 0
    with Path("new.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["y", "a\nb", "c\n\nd"], *([str(field) for field in row] for row in rows)]


def test_fields_longer_than_python_reads_by_itself(call: Call) -> None:
    text = columns("y", "a", rows=[(i % 2, "k" * 200_000 if i == 3 else i % 2) for i in range(30)])
    write("data.csv", text)
    limit = csv.field_size_limit()
    assert call("select", "data.csv", "--target", "y", "--output", "new.csv")[0] == 0
    assert Path("new.csv").read_text(encoding="utf-8") == text
    assert csv.field_size_limit() == limit


# Files of all kinds


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("semicolon.csv", base(delimiter=";")),
        ("tab.csv", base(delimiter="\t")),
        ("tab.tsv", base(delimiter="\t")),
        ("bar.csv", base(delimiter="|")),
        ("bom.csv", "\ufeff" + base()),
        ("crlf.csv", base(end="\r\n")),
        ("bom-crlf.csv", "\ufeff" + base(end="\r\n")),
        ("blank-first.csv", "\n\r\n" + base()),
        ("bom-blank-first.csv", "\ufeff\n" + base()),
        ("blank-within.csv", base() + "\n\n"),
        ("no-last-end.csv", base().rstrip("\n")),
        ("quoted.csv", re.sub(r"\w+", r'"\g<0>"', base())),
        ("capital.CSV", base()),
        ("no-suffix", base()),
        ("na[1]me.csv", base()),
        ("packed.csv.gz", gzip.compress(base().encode(), mtime=0)),
        ("really-csv.parquet", base()),
    ],
)
def test_same_answer_from(report: Report, name: str, content: str | bytes) -> None:
    write("plain.csv", base())
    write(name, content)
    assert report(name, "--target", "y") == report("plain.csv", "--target", "y")


def test_csv_that_is_really_parquet(report: Report) -> None:
    rows = list(csv.reader(io.StringIO(base())))
    write_parquet("data.csv", dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True)))
    write("plain.csv", base())
    assert report("data.csv", "--target", "y") == report("plain.csv", "--target", "y")


@pytest.mark.parametrize("size", [1, 7, 40, 1000])
@pytest.mark.parametrize("start", ["", "\ufeff", "\ufeff\n\r\n"])
def test_small_parts(report: Report, monkeypatch: pytest.MonkeyPatch, size: int, start: str) -> None:
    """As in files that are larger than a part; also where the header alone is."""
    rows = [(f"{i % 2}\nk", f"{i % 3}, q") for i in range(40)]
    write("data.csv", start + columns("y", "a\n\nb", rows=rows))
    whole = report("data.csv", "--target", "y")
    monkeypatch.setattr(delimited, "_PART", size)
    monkeypatch.setattr(delimited, "_GATHERED", 0)
    assert report("data.csv", "--target", "y") == whole


def test_identifiers_that_come_back_are_pointed_out(call: Call) -> None:
    """Each patient has one class and five rows: the name tells all, of these patients only."""
    patients = [(row // 5, f"P{row // 5:03}", "pq"[row // 5 % 2]) for row in range(600)]
    rows = [(name, town, "yn"[number % 3 == 0]) for number, name, town in patients]
    write("data.csv", columns("patient", "town", "y", rows=rows))
    out = call("rank", "data.csv", "--target", "y")[1]
    told = " ".join(out.split())
    assert "may name people or places rather than say something of them: patient (120 values, 5 rows each);" in told
    write("few.csv", columns("town", "y", rows=[row[1:] for row in rows]))
    assert "may name people" not in call("rank", "few.csv", "--target", "y")[1]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"PK\x03\x04\x14\x00", "a zip archive or an Excel workbook: unpack it, or save the sheet as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel workbook: save the sheet as CSV"),
        (b"SQLite format 3\x00", "an SQLite database: export the table as CSV or Parquet"),
        (b"ARROW1\x00\x00", "an Arrow (Feather) file: read it with pyarrow and pass the table, or write Parquet"),
    ],
)
def test_files_of_other_programs_are_called_what_they_are(refusal: Refusal, start: bytes, said: str) -> None:
    write("data.csv", start + bytes(range(256)) * 10)
    assert refusal("rank", "data.csv", "--target", "y") == f"data.csv is no CSV but {said}"


def test_line_for_excel_alone(refusal: Refusal) -> None:
    write("data.csv", "sep=;\n" + base(delimiter=";"))
    assert "starts with the line 'sep=;'" in refusal("rank", "data.csv", "--target", "y")


@pytest.mark.parametrize("width", [40, 56, 60, 71, 72, 80])
def test_names_and_verdicts_are_whole_in_narrow_windows(
    call: Call, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = call("rank", CLINIC, "--target", "diabetes")[1].splitlines()
    (glucose,) = [line.split() for line in lines if " glucose " in line]
    (patient,) = [line.split() for line in lines if line.split()[:1] == ["patient"]]
    assert glucose[-1] == "keep"
    assert patient[-2:] == ["not", "ranked"]


def test_cuts_that_are_dates(report: Report) -> None:
    write("data.csv", "y,day\n" + "".join(f"{row % 2},2024-02-{row % 29 + 1:02}\n" for row in range(290)))
    found = by_name(report("data.csv", "--target", "y", "--discretize", "day=2024-02-10,2024-02-20"))
    assert found["day"]["note"] == "given cuts, 2 cuts: 2024-02-10, 2024-02-20"
    assert found["day"]["values"] == 3


def test_cuts_that_are_no_dates(refusal: Refusal) -> None:
    write("data.csv", "y,day\n" + "".join(f"{row % 2},2024-02-{row % 29 + 1:02}\n" for row in range(290)))
    assert "is no list of cuts" in refusal("rank", "data.csv", "--target", "y", "--discretize", "day=2024-02-30")


def test_delimiters_in_quotes_do_not_count(report: Report) -> None:
    write("data.csv", 'y;"a, b, c, d"\n' + "0;0\n1;1\n" * 10)
    assert list(by_name(report("data.csv", "--target", "y"))) == ["a, b, c, d"]


def test_wide_file(report: Report) -> None:
    """It takes about a second; minutes would mean that something is done for each column anew."""
    rng = random.Random(1)  # noqa: S311  (no secret)
    rows = [tuple(rng.randint(0, 2) for _ in range(3000)) for _ in range(20)]
    write("data.csv", columns("y", *(f"c{i}" for i in range(2999)), rows=rows))
    start = time.perf_counter()
    assert len(report("data.csv", "--target", "y")["features"]) == 2999
    assert time.perf_counter() - start < 20.0


def test_top_prints_the_best_only(call: Call) -> None:
    out = call("rank", CLINIC, "--target", "diabetes", "--top", "3")[1]
    assert "the best 3 shown" in out
    assert re.findall(r"^ *(\d+)  ", out, re.MULTILINE) == ["1", "2", "3"]
    answer = json.loads(call("rank", CLINIC, "--target", "diabetes", "--top", "3", "--format", "json")[1])
    assert len(answer["features"]) == 20


def test_several_files_a_directory_and_a_pattern(report: Report) -> None:
    write("all.csv", base(120))
    lines = base(120).splitlines(keepends=True)
    write("data/1.csv", "".join(lines[:50]))
    write("data/deep/2.csv", lines[0] + "".join(lines[50:]))
    write("data/.hidden.csv", "junk\n")
    write("data/notes.md", "notes\n")
    whole = report("all.csv", "--target", "y")
    assert report("data/1.csv", "data/deep/2.csv", "--target", "y") == whole
    assert report("data", "--target", "y") == whole
    assert report("data/**/*.csv", "--target", "y") == whole


def test_columns_in_another_order(report: Report) -> None:
    write("1.csv", columns("y", "a", rows=[(i % 2, i % 3) for i in range(30)]))
    write("2.csv", columns("a", "y", rows=[(i % 3, i % 2) for i in range(30)]))
    write("3.csv", columns("y", "a", rows=[(i % 2, i % 3) for i in range(30)] * 2))
    assert report("1.csv", "2.csv", "--target", "y") == report("3.csv", "--target", "y")


def test_two_files_of_different_columns(refusal: Refusal) -> None:
    write("1.csv", base())
    write("2.csv", base().replace("b", "z", 1))
    said = refusal("rank", "1.csv", "2.csv", "--target", "y")
    assert said == "1.csv and 2.csv differ: only one of them has the column 'b'"


def test_bytes_that_are_not_text_in_the_header(refusal: Refusal) -> None:
    write("data.csv", b"y,a\xff,b\n1,2,3\n0,3,2\n")
    said = refusal("rank", "data.csv", "--target", "y")
    assert said.startswith("data.csv, line 1: byte 0xff at position 4 is not UTF-8: convert the file")


@pytest.mark.parametrize("command", [["rank"], ["select", "--output", "new.csv"], ["count", "--into", "new.counts"]])
def test_bytes_that_are_not_text_in_a_late_line(refusal: Refusal, command: list[str]) -> None:
    write("data.csv", base().encode() + b"y,\xe9,1\n")
    said = refusal(command[0], "data.csv", "--target", "y", *command[1:])
    assert said.startswith("data.csv, line 62: byte 0xe9 is not UTF-8: convert the file")


def test_utf_16(refusal: Refusal) -> None:
    write("data.csv", base().encode("utf-16"))
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv is not UTF-8 but UTF-16: convert")


def test_lines_that_end_with_cr_alone(refusal: Refusal) -> None:
    write("data.csv", base(end="\r"))
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv ends its lines with CR alone: convert")


@pytest.mark.parametrize(("line", "fields"), [("y,p,1,9", 4), ("y,p", 2), ("y", 1)])
@pytest.mark.parametrize(
    ("before", "number"),
    [
        (base(), 62),
        ("\ufeff" + base(end="\r\n"), 62),
        ("\n" + base(), 63),
        ("y,a,b\n" + 'y,"x\nz",1\nn,"x\n\nz",2\n' * 10, 52),
    ],
)
def test_line_with_too_many_or_few_fields(refusal: Refusal, before: str, number: int, line: str, fields: int) -> None:
    write("data.csv", before + line + "\n" + "y,p,1\n" * 5)
    said = refusal("rank", "data.csv", "--target", "y")
    assert said.startswith(f"data.csv, line {number}: {fields} field{'s' * (fields != 1)}, the header has 3: correct")


def test_quote_that_is_never_closed(refusal: Refusal) -> None:
    write("data.csv", 'y,"a\n' + "0,0\n1,1\n" * 10)
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv: a quote in the header is never closed")
    write("data.csv", 'y,a\n0,0\n1,"1\n' + "0,0\n1,1\n" * 10 + '0,"x",1\n')
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv, line 3: ")
    write("data.csv", 'y,a\n0,0\n1,"1\n' + "0,0\n1,1\n" * 10)  # which is a row like others, of a long last field
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv, line 3: a quote is never closed")


@pytest.mark.parametrize("command", [["rank"], ["select", "--output", "new.csv"], ["count", "--into", "new.counts"]])
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("absent.csv", "cannot read absent.csv: No such file or directory"),
        ("absent/data.csv", "cannot read absent/data.csv: No such file or directory"),
        ("data.csv/deeper", "cannot read data.csv/deeper: Not a directory"),
        ("x" * 300, f"cannot read {'x' * 300}: File name too long"),
        ("folder", "the directory folder holds no CSV or Parquet file"),
        ("*.nothing", "no file matches *.nothing"),
        ("fold*", "no file matches fold*"),
        ("", "a path is empty: name a file, a directory or a pattern"),
        ("-", "data are not read from standard input: save them to a file"),
        ("/dev/null", "/dev/null is empty"),
    ],
)
def test_path_that_leads_nowhere(refusal: Refusal, command: list[str], path: str, said: str) -> None:
    write("data.csv", base())
    write("folder/readme.md", "nothing here\n")
    assert refusal(command[0], path, "--target", "y", *command[1:]).startswith(said)


def test_pipe_is_refused_rather_than_read_in_part(refusal: Refusal) -> None:
    os.mkfifo("pipe")
    assert refusal("rank", "pipe", "--target", "y").startswith("pipe is a pipe, and data are read more than once")


@pytest.mark.skipif(AS_ROOT, reason="root may read everything")
def test_file_that_may_not_be_read(refusal: Refusal) -> None:
    write("data.csv", base())
    Path("data.csv").chmod(0)
    assert refusal("rank", "data.csv", "--target", "y") == "cannot read data.csv: Permission denied"


def test_compressed_file_cut_short(refusal: Refusal) -> None:
    noise = random.Random(1)  # noqa: S311  (no secret)
    packed = gzip.compress(columns("y", "a", rows=[(i % 2, noise.random()) for i in range(20_000)]).encode(), mtime=0)
    write("data.csv.gz", packed[: len(packed) // 2])
    assert refusal("rank", "data.csv.gz", "--target", "y").startswith("cannot read data.csv.gz: ")


def test_compressed_by_name_only(refusal: Refusal) -> None:
    write("data.csv.gz", base())
    assert refusal("rank", "data.csv.gz", "--target", "y").startswith("cannot read data.csv.gz: ")


def test_parquet_cut_short(refusal: Refusal) -> None:
    content = Path(write_parquet("data.parquet", {"y": ["p", "q"] * 500, "a": list(range(1000))})).read_bytes()
    write("data.parquet", content[: len(content) // 2])
    assert refusal("rank", "data.parquet", "--target", "y").startswith("data.parquet is no readable Parquet file: ")


# Options


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--discretize", "bins"], "unknown discretization 'bins': choose one of mdl, quantile, categories"),
        (["--discretize", "b=bins"], "unknown discretization 'bins'"),
        (["--discretize", "b=1,x"], "unknown discretization '1,x'"),
        (["--discretize", "b="], "unknown discretization ''"),
        (["--discretize", "b=nan"], "[nan] is no list of cuts: pass finite numbers"),
        (["--discretize", "1,2"], "--discretize 1,2: cuts are for one column: write COLUMN=1,2"),
        (["--discretize", "bb=1"], "there is no column 'bb': did you mean 'b'?"),
        (["--epsilon", "-0.1"], "--epsilon is -0.1: it must be a finite number of nats from 0 up"),
        (["--epsilon", "inf"], "--epsilon is inf: it must be a finite number"),
        (["--epsilon", "nan"], "--epsilon is nan: it must be a finite number"),
        (["--level", "0"], "--level is 0: it must lie between 0 and 1"),
        (["--level", "95"], "--level is 95: it must lie between 0 and 1"),
        (["--level", "nan"], "--level is nan: it must lie between 0 and 1"),
        (["--prior", "jefreys"], "unknown prior 'jefreys': did you mean 'jeffreys'?"),
        (["--prior", "-1"], "prior is -1: a pseudo-count is a number from 0 up"),
        (["--prior", "nan"], "prior is nan: a pseudo-count is a number from 0 up"),
        (["--approximation", "matchd"], "unknown approximation 'matchd': did you mean 'matched'?"),
    ],
)
@pytest.mark.parametrize("command", [["rank"], ["select", "--output", "new.csv"]])
def test_option_that_is_wrong(refusal: Refusal, command: list[str], options: list[str], said: str) -> None:
    write("data.csv", base())
    assert refusal(command[0], "data.csv", "--target", "y", *command[1:], *options).startswith(said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rank"], "the following arguments are required: DATA"),
        (["rank", "data.csv", "--missing"], "argument --missing: expected one argument"),
        (["rank", "data.csv", "--discretize"], "argument --discretize: expected one argument"),
        (["rank", "data.csv", "--epsilon", "small"], "argument --epsilon: 'small' is not a number"),
        (["rank", "data.csv", "--level", "95%"], "argument --level: '95%' is not a number"),
        (["rank", "data.csv", "--threads", "0"], "argument --threads: '0' is not a whole number from 1 up"),
        (["rank", "data.csv", "--threads", "-1"], "argument --threads: '-1' is not a whole number from 1 up"),
        (["rank", "data.csv", "--threads", "all"], "argument --threads: 'all' is not a whole number from 1 up"),
        (["rank", "data.csv", "--top", "0"], "argument --top: '0' is not a whole number from 1 up"),
        (["rank", "data.csv", "--units", "hartleys"], "argument --units: invalid choice: 'hartleys'"),
        (["rank", "data.csv", "--format", "xml"], "argument --format: invalid choice: 'xml'"),
        (["rank", "--features", "a", "b", "data.csv"], "the following arguments are required: DATA"),
        (["select", "data.csv", "--target", "y"], "the following arguments are required: --output"),
        (["select", "data.csv", "--output", "o", "--rule", "best"], "argument --rule: invalid choice: 'best'"),
        (["count", "data.csv", "--target", "y"], "the following arguments are required: --into"),
        (["count", "data.csv", "--into", "c", "--prior", "1"], "unrecognized arguments: --prior 1"),
    ],
)
def test_arguments_that_are_wrong(call: Call, arguments: list[str], said: str) -> None:
    write("data.csv", base())
    before = contents()
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("credimi: ")
    assert err.endswith(f" (see credimi {arguments[0]} --help)\n")
    assert said in err
    assert err.count("\n") == 1
    assert contents() == before


@pytest.mark.parametrize("option", ["--features", "--exclude"])
def test_a_list_of_columns_that_takes_the_data(call: Call, option: str) -> None:
    write("data.csv", base())
    code, out, err = call("rank", option, "a", "data.csv", "--target", "y")
    assert (code, out) == (2, "")
    assert f"{option} takes all words up to the next option: put DATA before it, or -- between them (see" in err
    answers = [
        call("rank", "data.csv", option, "a", "--target", "y"),
        call("rank", "--target", "y", option, "a", "--", "data.csv"),
    ]
    assert answers[0] == answers[1]
    assert answers[0][0] == 0
    assert "before it" not in call("rank", "--target", "y")[2]


def test_missing_tokens_and_cuts(report: Report) -> None:
    rows = [("-9" if i % 10 == 9 else i % 2, "-9.0" if i % 5 == 0 else i, "none" if i % 4 else "x") for i in range(60)]
    write("data.csv", columns("y", "a", "b", rows=rows))
    options = ["--missing", "-9", "--missing", "none", "--discretize", "a=30"]
    answer = report("data.csv", "--target", "y", *options)
    assert answer["settings"]["missing_values"][-2:] == ["-9", "none"]
    assert answer["settings"]["discretize"] == {"a": [30.0]}
    assert answer["classes"] == ["0", "1"]
    features = by_name(answer)
    assert (features["a"]["missing"], features["a"]["values"], features["a"]["note"]) == (
        12,
        2,
        "given cuts, 1 cut: 30",
    )
    assert features["b"]["missing"] == 45


# The answer


def test_json_is_the_answer_from_python(report: Report) -> None:
    answer = report(CLINIC, "--target", "diabetes")
    ranking = credimi.rank(str(CLINIC), "diabetes")
    assert answer == json.loads(json.dumps(ranking.to_dict()))
    for feature in answer["features"]:
        if feature["mi"] is not None:
            assert {name: ranking[feature["feature"]][name] for name in feature} == feature


def test_json_follows_the_options(report: Report) -> None:
    options = ["--prior", "0.25", "--approximation", "leading-beta", "--epsilon", "0.02", "--level", "0.9"]
    answer = report(CLINIC, "--target", "diabetes", "--features", "age", "sex", "--discretize", "quantile", *options)
    ranking = credimi.rank(
        str(CLINIC),
        "diabetes",
        features=["age", "sex"],
        discretize="quantile",
        prior=0.25,
        approximation="leading-beta",
        epsilon=0.02,
        level=0.9,
    )
    assert answer == json.loads(json.dumps(ranking.to_dict()))
    settings = {"prior": 0.25, "approximation": "leading-beta", "epsilon": 0.02, "level": 0.9, "discretize": "quantile"}
    assert settings.items() <= answer["settings"].items()


def test_holes_that_tell_of_the_target_are_reported_and_can_be_a_value(call: Call, report: Report) -> None:
    rows = [(label, "" if label == "a" and row % 3 else "pq"[row // 2 % 2]) for row in range(90) for label in "ab"]
    write("data.csv", "y,tested\n" + "".join(f"{label},{value}\n" for label, value in rows))
    code, out, _ = call("rank", "data.csv", "--target", "y")
    assert code == 0
    assert "caution: where it is missing tells about the target: tested (" in out
    ignored = report("data.csv", "--target", "y")
    taken = report("data.csv", "--target", "y", "--missing-as", "category")
    assert (ignored["settings"]["missing"], taken["settings"]["missing"]) == ("ignore", "category")
    assert ignored["features"][0]["missing_p_above"] > 0.99
    assert ignored["features"][0]["keep_forward"] is False
    assert taken["features"][0]["keep_forward"] is True
    assert taken["features"][0]["values"] == 3
    assert "caution" not in call("rank", "data.csv", "--target", "y", "--missing-as", "category")[1]
    assert call("rank", "data.csv", "--target", "y", "--missing-as", "value")[0] == 2


def test_json_names_the_seed(report: Report) -> None:
    write("data.csv", base())
    answer = report("data.csv", "--target", "y", "--approximation", "sampled", "--seed", "5")
    assert 5 in answer["settings"].values()


def test_bits(call: Call, report: Report) -> None:
    nats, bits = report(CLINIC, "--target", "diabetes"), report(CLINIC, "--target", "diabetes", "--units", "bits")
    assert bits["settings"] == nats["settings"] | {"units": "bits"}
    for one, other in zip(nats["features"], bits["features"], strict=True):
        ends = ("mi", "low", "high")
        named = ("std", *ends, *(f"{each}_if_dependent" for each in ends), *(f"missing_{each}" for each in ends))
        converted = {name: one[name] and one[name] / math.log(2.0) for name in named}
        assert other == one | converted
    out = call("rank", CLINIC, "--target", "diabetes", "--units", "bits")[1]
    assert " bits " in out
    assert f"{bits['features'][0]['mi']:.4f}" in out


def test_csv_reads_back(call: Call, report: Report) -> None:
    write("data.csv", columns("y", 'a,"b"', "c\rd", rows=[(i % 2, i % 3, i % 2) for i in range(30)]))
    for path, target in ((CLINIC, "diabetes"), ("data.csv", "y")):
        code, out, err = call("rank", path, "--target", target, "--format", "csv")
        assert (code, err) == (0, "")
        answer = report(path, "--target", target)
        remarks = [line for line in out.splitlines() if line.startswith("# ")]
        told = {name: json.loads(value) for name, value in (line[2:].split(": ", 1) for line in remarks)}
        assert told == answer["settings"] | {name: answer[name] for name in ("rows", "classes", "entropy")}
        table = "".join(line for line in out.splitlines(keepends=True) if not line.startswith("# "))
        rows = list(csv.DictReader(io.StringIO(table, newline="")))
        assert len(rows) == len(answer["features"])
        for row, feature in zip(rows, answer["features"], strict=True):
            assert row == {name: "" if value is None else str(value) for name, value in feature.items()}
            assert [float(row["mi"] or "nan")] == pytest.approx(
                [math.nan if feature["mi"] is None else feature["mi"]], rel=0, abs=0, nan_ok=True
            )


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_output_is_what_would_be_printed(call: Call, form: str) -> None:
    write("data.csv", base())
    printed = call("rank", "data.csv", "--target", "y", "--format", form)[1]
    assert call("rank", "data.csv", "--target", "y", "--format", form, "--output", "-") == (0, printed, "")
    assert call("rank", "data.csv", "--target", "y", "--format", form, "--output", "new") == (0, "", "")
    assert Path("new").read_text(encoding="utf-8") == printed
    assert stat.S_IMODE(Path("new").stat().st_mode) == stat.S_IMODE(Path("data.csv").stat().st_mode)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_terminals_without_unicode(encoding: str) -> None:
    write("data.csv", columns("größe", "年齢", rows=[(i % 2, i % 2) for i in range(20)]))
    for form in ("table", "json", "csv"):
        answer = process("rank", "data.csv", "--target", "größe", "--format", form, PYTHONIOENCODING=encoding)
        assert answer.returncode == 0
        assert b"Traceback" not in answer.stderr
        if form == "json":
            assert json.loads(answer.stdout.decode(encoding))["features"][0]["feature"] == "年齢"
        else:
            assert rb"\u5e74\u9f62" in answer.stdout


# Selecting


def test_select_keeps_rows_as_they_are(call: Call) -> None:
    """Texts keep their zeros, blanks, quotes and missing tokens; rows keep their order."""
    noise = random.Random(2)  # noqa: S311  (no secret)
    kept = [(f"0{i % 2}", (" x, ", 'a "b"', "", "?")[i % 2 + 2 * (i % 7 == 0)]) for i in range(300)]
    text = columns("n", "y", "m", "a", rows=[(noise.randint(0, 1), y, "k", a) for y, a in kept])
    write("data.csv", text)
    code, out, err = call("select", "data.csv", "--target", "y", "--output", "new.csv")
    assert (code, out) == (0, "")
    assert err == "credimi: new.csv: 1 of 3 features kept by the rule forward: 'a'\n"
    assert Path("new.csv").read_text(encoding="utf-8") == columns("y", "a", rows=kept)
    assert Path("data.csv").read_text(encoding="utf-8") == text


def test_select_from_parquet(call: Call) -> None:
    table = pa.table(
        {
            "k": pa.array(["k"] * 40),
            "a": pa.array([None if i % 9 == 0 else ("p", "q")[i % 2] for i in range(40)]).dictionary_encode(),
            "when": pa.array([i % 2 for i in range(40)], pa.timestamp("us")),
            "y": pa.array([i % 2 for i in range(40)], pa.int8()),
            "x.1": pa.array([i % 2 + 0.5 for i in range(40)], pa.float32()),
        }
    )
    pq.write_table(table, "data.parquet")
    assert call("select", "data.parquet", "--target", "y", "--rule", "plugin", "--output", "new.parquet")[0] == 0
    reduced = pq.read_table("new.parquet")
    assert reduced.equals(table.select(["a", "when", "y", "x.1"]))


@pytest.mark.parametrize("rule", ["forward", "backward", "plugin"])
def test_select_goes_by_its_rule(call: Call, rule: str) -> None:
    kept = credimi.rank(str(CLINIC), "diabetes").selected(rule)
    code, _, err = call("select", CLINIC, "--target", "diabetes", "--rule", rule, "--output", "new.csv")
    assert code == 0
    assert f"{len(kept)} of 20 features kept by the rule {rule}: " in err
    with Path("new.csv").open(encoding="utf-8", newline="") as file, CLINIC.open(encoding="utf-8", newline="") as old:
        new_rows, old_rows = list(csv.DictReader(file)), list(csv.DictReader(old))
    assert set(new_rows[0]) == {*kept, "diabetes"}
    assert new_rows == [{name: row[name] for name in new_rows[0]} for row in old_rows]


@pytest.mark.parametrize(("delimiter", "end"), [(";", "\n"), ("\t", "\r\n")])
def test_select_keeps_the_dialect(call: Call, delimiter: str, end: str) -> None:
    write("data.csv", base(delimiter=delimiter, end=end))
    assert call("select", "data.csv", "--target", "y", "--rule", "backward", "--output", "new.csv")[0] == 0
    assert Path("new.csv").read_bytes() == base(delimiter=delimiter, end=end).encode()


def test_select_compresses_by_name(call: Call, report: Report) -> None:
    write("data.csv.gz", gzip.compress(base().encode(), mtime=0))
    for name in ("new.csv.gz", "new.csv.zst", "new.csv.bz2", "new.csv"):
        assert call("select", "data.csv.gz", "--target", "y", "--rule", "backward", "--output", name)[0] == 0
        assert report(name, "--target", "y") == report("data.csv.gz", "--target", "y")
    assert gzip.decompress(Path("new.csv.gz").read_bytes()) == base().encode()
    assert Path("new.csv").read_text(encoding="utf-8") == base()


def test_select_onto_its_input(refusal: Refusal) -> None:
    write("data.csv", base())
    Path("link.csv").symlink_to("data.csv")
    Path("twin.csv").hardlink_to("data.csv")
    for name in ("data.csv", "./data.csv", "link.csv", "twin.csv"):
        said = refusal("select", "data.csv", "--target", "y", "--output", name)
        assert said == f"{name} is the input: name another file"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["data.csv", "data.csv"], "select writes one file and was given 2: call it for each, or join them first"),
        (["data.csv", "--output", "-"], "select writes a file, not standard output"),
        (["data.csv", "--output", "new.parquet"], "data.csv is CSV, and so is what is written: give new.parquet"),
        (["data.parquet", "--output", "new.csv"], "data.parquet is Parquet, and so is what is written: give new.csv"),
        (["data.parquet", "--output", "new.parquet.gz"], "data.parquet is Parquet, and so is what is written"),
        (["some.counts"], "some.counts holds counts, which have no rows to write: name the data"),
    ],
)
def test_select_of_what_cannot_be(refusal: Refusal, arguments: list[str], said: str) -> None:
    write("data.csv", base())
    write_parquet("data.parquet", {"y": ["p", "q"] * 10, "a": ["p", "q"] * 10})
    credimi.count("data.csv", "y").save("some.counts")
    assert refusal("select", "--target", "y", "--output", "new.csv", *arguments).startswith(said)


# Counting


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
            "some.counts holds counts: --features, --exclude, --missing, --discretize, --delimiter and --max-levels",
        ),
        (["rank", "some.counts", "--features", "a"], "some.counts holds counts: --features, --exclude, --missing"),
        (["count", "some.counts", "--target", "y", "--into", "new.counts"], "some.counts holds counts, not data"),
        (["count", "some.counts", "--into", "some.counts"], "some.counts holds counts, not data"),
        (["count", "data.csv", "--target", "a", "--into", "some.counts"], "some.counts counts the target 'y', not 'a'"),
        (
            ["count", "data.csv", "--missing", "9", "--into", "some.counts"],
            "some.counts was counted with another --missing or --discretize: leave them out",
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


# What is written, and where

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

    for place, name in ((delimited, "batches"), (outlet, "_sync")):
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
        "        if name == 'credimi.cli.rank':\n"
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


# Help


@pytest.mark.parametrize("command", ["rank", "select", "count"])
def test_help_fits_in_80_columns(call: Call, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call(command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: credimi {command}")
    assert [line for line in out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("command", ["rank", "select", "count"])
def test_examples_of_the_help_run(call: Call, command: str) -> None:
    rows = [(("low", "high")[i % 2], -9 if i % 11 == 0 else 18 + i % 60, "pq"[i % 2]) for i in range(120)]
    text = columns("income", "age", "town", rows=rows)
    write("survey.csv", text)
    for name in ("january.csv", "february.csv"):
        write(name, text.replace("income", "churn"))
    fields = dict(zip(("income", "age", "town"), map(list, zip(*rows, strict=True)), strict=True))
    write_parquet("old.parquet", fields)
    Path("2024").mkdir()
    for name in ("2024/1.parquet", "2024/2.parquet"):
        write_parquet(name, {"churn" if field == "income" else field: values for field, values in fields.items()})
    credimi.count("survey.csv", "income").save("income.counts")
    examples = call(command, "--help")[1].split("examples:\n")[1].strip().splitlines()
    assert len(examples) > 1
    for example in examples:
        words = shlex.split(example, comments=True)
        assert words[0] == "credimi"
        code, out, err = call(*words[1:])
        assert code == 0, err
        assert bool(out) == (words[1] == "rank" and "--output" not in words)
    made = {"rank": "ranking.json", "select": "reduced.csv", "count": "churn.counts"}[command]
    assert Path(made).exists()


@pytest.mark.parametrize("command", ["rank", "select", "count"])
def test_help_names_every_option(call: Call, command: str) -> None:
    out = " ".join(call(command, "--help")[1].split())
    options = ["target", "features", "missing", "discretize", "threads"]
    options += ["into"] if command == "count" else ["prior", "approximation", "epsilon", "level", "seed", "units"]
    for option in options:
        assert f"--{option} " in out


def test_columns_left_out_by_name(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    write("data.csv", columns("y", "a", "b", "c", rows=[(row % 2, row % 3, "x", "z") for row in range(60)]))
    found = report("data.csv", "--target", "y", "--exclude", "b", "c")
    assert [feature["feature"] for feature in found["features"]] == ["a"]
    assert main(["rank", "data.csv", "--target", "y", "--exclude", "bb"]) == 2
    assert "there is no column 'bb': did you mean 'b'?" in capsys.readouterr().err
    assert main(["count", "data.csv", "--target", "y", "--exclude", "b", "--into", "some.counts"]) == 0
    assert credimi.Counts.load("some.counts").features == ("a", "c")
    assert main(["count", "data.csv", "--exclude", "b", "--into", "some.counts", "--force"]) == 0
    assert main(["count", "data.csv", "--target", "y", "--exclude", "c", "--into", "some.counts", "--force"]) == 2
    assert "some.counts counts the column 'c', which is left out here" in capsys.readouterr().err
    assert main(["rank", "data.csv", "--target", "y", "--exclude", "b", "y"]) == 2
    assert "'y' is the target and cannot be left out: take it out of exclude" in capsys.readouterr().err
    assert main(["prequential", "data.csv", "--target", "y", "--exclude", "b", "c", "--orders", "1"]) == 0
    assert "1 feature\n" in capsys.readouterr().out


def test_a_file_named_twice_is_not_ranked(refusal: Refusal) -> None:
    write("data.csv", base())
    assert "data.csv is named twice" in refusal("rank", "data.csv", "*.csv", "--target", "y")
    assert "is named twice" in refusal("rank", "data.csv", Path("data.csv").absolute(), "--target", "y")
    assert "is named twice" in refusal("prequential", "data.csv", "data.csv", "--target", "y")
    credimi.count("data.csv", "y").save("some.counts")
    assert "some.counts is named twice" in refusal("rank", "some.counts", "some.counts")


# The delimiter


def caret(name: str = "a.csv", delimiter: str = "^", rows: int = 40) -> str:
    """A table whose header holds more commas than delimiters."""
    lines = (delimiter.join(("uv"[row % 2], str(row % 3), "pq"[row % 2])) for row in range(rows))
    return write(name, delimiter.join(("size, in cm, bare", "noise", "class")) + "\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("delimiter", "word"),
    [("^", "^"), ("\t", "tab"), ("\t", r"\t"), ("\t", "\t"), ("\x01", r"\x01"), ("\x01", "\x01"), (":", ":")],
)
def test_delimiter_is_named_in_signs_or_words(report: Report, delimiter: str, word: str) -> None:
    found = report(caret(delimiter=delimiter), "--target", "class", "--delimiter", word)
    assert {feature["feature"] for feature in found["features"]} == {"size, in cm, bare", "noise"}


def test_delimiter_may_be_a_blank(report: Report) -> None:
    found = report(write("a.csv", "f class\n" + "a p\nb q\n" * 20), "--target", "class", "--delimiter", "space")
    assert [feature["feature"] for feature in found["features"]] == ["f"]


def test_select_writes_the_delimiter_that_it_was_told(call: Call) -> None:
    code, _, err = call("select", caret(), "--target", "class", "--delimiter", "^", "--output", "b.csv")
    assert code == 0, err
    assert Path("b.csv").read_text().splitlines()[:2] == ["size, in cm, bare^class", "u^p"]


def test_counts_are_extended_by_files_of_another_delimiter(call: Call, report: Report, refusal: Refusal) -> None:
    """Counts know of no delimiter: each call names that of its own files."""
    assert call("count", caret(), "--target", "class", "--into", "all.counts", "--delimiter", "^")[0] == 0
    said = refusal("count", caret("b.csv", ":"), "--into", "all.counts")
    assert said.startswith("there is no column 'class'")
    assert call("count", "b.csv", "--into", "all.counts", "--delimiter", ":")[0] == 0
    assert report("all.counts")["rows"] == 80
    assert "--delimiter" in refusal("rank", "all.counts", "--delimiter", ":")


def test_prequential_takes_a_delimiter(call: Call) -> None:
    code, out, err = call("prequential", caret(), "--target", "class", "--delimiter", "^", "--orders", "1")
    assert code == 0, err
    assert "2 features" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rank", "a.csv", "--target", "class"], "name the character between them (delimiter, --delimiter)"),
        (["rank", "a.csv", "--target", "class", "--delimiter", "||"], "the delimiter '||' is 2 characters"),
        (["count", "a.csv", "--target", "class", "--into", "c", "--delimiter", ""], "the delimiter '' is 0 characters"),
        (["rank", "a.parquet", "--target", "class", "--delimiter", ";"], "a.parquet is Parquet, and has no delimiter"),
    ],
)
def test_delimiters_that_cannot_be_meant(refusal: Refusal, arguments: list[str], said: str) -> None:
    caret()
    write_parquet("a.parquet", {"f": ["a", "b"], "class": ["p", "q"]})
    assert said in refusal(*arguments)
