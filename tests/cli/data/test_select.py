"""`credimi rank`, `select` and `count` from outside: selecting."""

from __future__ import annotations

import csv
import gzip
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_helpers import CLINIC, Call, Refusal, Report, base, columns, write, write_parquet

import credimi


def test_select_keeps_rows_as_they_are(call: Call) -> None:
    """Texts keep their zeros, blanks, quotes and missing tokens; rows keep their order."""
    noise = random.Random(2)  # noqa: S311  (no secret)
    kept = [(f"0{i % 2}", (" x, ", 'a "b"', "", "?")[i % 2 + 2 * (i % 7 == 0)]) for i in range(300)]
    text = columns("n", "y", "m", "a", rows=[(noise.randint(0, 1), y, "k", a) for y, a in kept])
    write("data.csv", text)
    code, out, err = call("select", "data.csv", "--target", "y", "--rule", "forward", "--output", "new.csv")
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


@pytest.mark.parametrize("name", ["new.xlsx", "new.XLS", "new.json", "new.html", "new.pkl", "new.json.gz"])
@pytest.mark.parametrize("goal", [("--rule", "forward"), ("--rule", "distinct")])
def test_select_refuses_names_of_formats_that_it_does_not_write(
    refusal: Refusal, name: str, goal: tuple[str, ...]
) -> None:
    write("data.csv", base())
    said = refusal("select", "data.csv", "--target", "y", *goal, "--output", name)
    assert said.startswith(f"{name} ends in .{name.split('.')[1].lower()}, which is not written: data.csv is CSV")
    assert ".csv, .tsv for CSV; .parquet, .pq for Parquet" in said
    assert not Path(name).exists()


@pytest.mark.parametrize("name", ["new.txt", "new.data", "new"])
def test_select_writes_under_names_that_say_no_other_format(call: Call, name: str) -> None:
    write("data.csv", base())
    assert call("select", "data.csv", "--target", "y", "--rule", "backward", "--output", name)[0] == 0
    assert Path(name).exists()


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
        (["data.csv", "more.csv"], "select writes one file and was given 2: call it for each, or join them first"),
        (["data.csv", "--output", "-"], "select writes a file, not standard output"),
        (["data.csv", "--output", "new.parquet"], "data.csv is CSV, and so is what is written: give new.parquet"),
        (["data.parquet", "--output", "new.csv"], "data.parquet is Parquet, and so is what is written: give new.csv"),
        (["data.parquet", "--output", "new.parquet.gz"], "data.parquet is Parquet, and so is what is written"),
        (["some.counts"], "some.counts holds counts, not rows: name the data"),
    ],
)
def test_select_of_what_cannot_be(refusal: Refusal, arguments: list[str], said: str) -> None:
    write("data.csv", base())
    write("more.csv", base())
    write_parquet("data.parquet", {"y": ["p", "q"] * 10, "a": ["p", "q"] * 10})
    credimi.count("data.csv", "y").save("some.counts")
    assert refusal("select", "--target", "y", "--output", "new.csv", *arguments).startswith(said)
