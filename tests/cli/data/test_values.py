"""`credimi rank`, `select` and `count` from outside: values of all kinds."""

from __future__ import annotations

import csv
import math
import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_helpers import Call, Refusal, Report, by_name, columns, write, write_parquet

import credimi


def test_numbers_and_letters_in_one_column(report: Report) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, (1, "b", 2, "c")[i % 4]) for i in range(20)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert (feature["values"], feature["note"]) == (4, "categories")


def test_list_column(refusal: Refusal, report: Report) -> None:
    write_parquet("data.parquet", {"y": ["p", "q"] * 10, "words": [[1, 2]] * 20, "a": ["x", "y"] * 10})
    for named in (["--features", "words"], ["--discretize", "words=mdl"]):
        said = refusal("rank", "data.parquet", "--target", "y", *named)
        assert said.startswith("column 'words' holds values of type list<")
        assert "leave it out (exclude, --exclude; for scikit-learn, of X)" in said
    assert refusal("rank", "data.parquet", "--target", "words").startswith("column 'words' holds values of type list<")
    assert len(report("data.parquet", "--target", "y", "--features", "a")["features"]) == 1
    first, last = report("data.parquet", "--target", "y")["features"]
    assert (first["feature"], first["verdict"]) == ("a", "keep")
    assert (last["feature"], last["verdict"], last["complete"], last["mi"]) == ("words", "not ranked", 20, None)
    assert last["note"] == (
        "cannot be counted: values of type list (convert them to text, numbers or booleans, or leave the column out: "
        "--exclude words)"
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
    found = by_name(report("data.csv", "--target", "y"))
    assert {name: row["note"].partition("; ")[2] for name, row in found.items()} == {
        "day": "dates, '01.01.2024' as 2024-01-01",
        "price": "amounts of money, '10,50 €' as 10.5",
        "share": "percentages, '10 %' as 10",
    }
    out = " ".join(call("rank", "data.csv", "--target", "y")[1].split())
    assert "text that was read as numbers or dates: " in out
    assert "=categories takes it as text" in out
    rows[7] = (1, "some day", "free", "some")
    write("data.csv", "y;day;price;share\n" + "".join(";".join(map(str, row)) + "\n" for row in rows))
    notes = {name: row["note"] for name, row in by_name(report("data.csv", "--target", "y")).items()}
    assert notes == {
        "day": "categories, not dates: written as in '01.01.2024' and 'some day' (write YYYY-MM-DD)",
        "price": "categories, not numbers: currency signs as in '10,50 €' and 'free' (write plain numbers, such as "
        "12.5)",
        "share": "categories, not numbers: percent signs as in '10 %' and 'some' (write plain numbers, such as 12.5)",
    }
    out = " ".join(call("rank", "data.csv", "--target", "y")[1].split())
    assert "day ('01.01.2024', but also 'some day'): read as text; write YYYY-MM-DD" in out


def test_numbers_that_may_mean_missing_and_a_target_that_is_measured(call: Call, report: Report) -> None:
    rows = [(i % 60, (1, 2, 3, -9)[i % 4], i % 3 if i % 7 else 99) for i in range(300)]
    write("data.csv", columns("y", "a", "b", rows=rows))
    out = " ".join(call("rank", "data.csv", "--target", "y", "--target-as", "categories")[1].split())
    assert "caution: the target 'y' has 60 classes, all of them numbers, and looks like a measurement" in out
    assert "taken as missing: " in out
    assert "a: '-9'" in out
    out = " ".join(call("rank", "data.csv", "--target", "b")[1].split())
    assert "the target 'b' has the class 99, which may mean missing (--missing 99: then in all" in out
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
    write("dates.csv", columns("y", name, rows=[(i % 2, f"2024-01-{i % 19 + 1:02}") for i in range(100)]))
    code, out, _ = call("rank", "dates.csv", "--target", "y")
    assert code == 0
    (hint_,) = re.findall(r"as numbers:\s+(--discretize.*)", out.replace("\n", " ").replace("  ", " "))
    hint_ = hint_.partition(" # feature")[0]
    words = shlex.split(hint_)
    assert "quarters" in report("dates.csv", "--target", "y", *words)["features"][0]["note"]


def test_hint_of_a_token_that_means_missing_is_quoted(report: Report) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, i if i % 40 else "72 kg") for i in range(80)]))
    note = report("data.csv", "--target", "y")["features"][0]["note"]
    assert note.startswith("numbers but for '72 kg' (--missing '72 kg'); as text, an identifier")


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


@pytest.mark.parametrize(("distinct", "note"), [(30, "categories"), (80, "identifier")])
def test_numbers_of_many_digits_are_text_for_that_reason(report: Report, distinct: int, note: str) -> None:
    write("data.csv", columns("key", "y", rows=[(2**53 + i % distinct, i % 3 % 2) for i in range(90)]))
    found = report("data.csv", "--target", "y")
    (feature,) = found["features"]
    assert feature["note"].startswith(note)
    assert "16 digits or more" in feature["note"]
    told = [each for each in found["remarks"] if each["kind"] == "readable_text"]
    assert [each["notation"] for each in told] == ["many_digits"] * (note == "categories")
    assert "leading zeros" not in str(found)
    write("data.csv", columns("key", "y", rows=[(f"0{2**53 + i % distinct}", i % 3 % 2) for i in range(90)]))
    assert "leading zeros" in str(report("data.csv", "--target", "y"))


def test_many_numbers_with_leading_zeros_are_pointed_out(report: Report, call: Call) -> None:
    """Ten names may be codes; hundreds may be amounts that a program filled up with zeros."""
    rows = [(i % 2, f"{i * 37 % 101 + 60 * (i % 2):05}", f"{i % 10:02}") for i in range(600)]
    write("data.csv", columns("y", "amount", "code", rows=rows))
    found = report("data.csv", "--target", "y")
    told = [(each["feature"], each["notation"]) for each in found["remarks"] if each["kind"] == "readable_text"]
    assert told == [("amount", "leading_zeros")]
    sentence = "amount: read as text because of leading zeros; to bin them, if they are numbers: --discretize "
    assert f"caution: {sentence}amount=mdl" in " ".join(call("rank", "data.csv", "--target", "y")[1].split())
    cut = report("data.csv", "--target", "y", "--discretize", "amount=mdl")["features"]
    assert next(each["note"] for each in cut if each["feature"] == "amount").startswith(("mdl, ", "quarters"))


def test_decimal_commas_are_read(report: Report, call: Call) -> None:
    """As a spreadsheet writes them in many countries; the column says it, and can be left as text."""
    values = [f"{(i * 37 % 211 + 60 * (i % 2)) / 10:.1f}" for i in range(1200)]
    write("points.csv", columns("y", "a", rows=[(i % 2, value) for i, value in enumerate(values)]))
    write("commas.csv", "y;a\n" + "".join(f"{i % 2};{value.replace('.', ',')}\n" for i, value in enumerate(values)))
    (unasked,) = report("commas.csv", "--target", "y")["features"]
    assert unasked["note"].endswith("; numbers with separators, '10,0' as 10")
    assert "text that was read as numbers or dates: a (" in call("rank", "commas.csv", "--target", "y")[1]
    (asked,) = report("commas.csv", "--target", "y", "--discretize", "a=mdl")["features"]
    (points,) = report("points.csv", "--target", "y", "--discretize", "a=mdl")["features"]
    assert asked == points
    (averaged,) = report("points.csv", "--target", "y")["features"]
    assert {**unasked, "note": ""} == {**averaged, "note": ""}
    assert asked["note"].startswith("mdl, ")
    (left,) = report("commas.csv", "--target", "y", "--discretize", "a=categories")["features"]
    assert left["note"] == "categories, not numbers: decimal commas"


@pytest.mark.parametrize("time", ["", " 12:30", "T23:59:59.25"])
def test_dates_are_those_of_typed_files(report: Report, time: str) -> None:
    days = [i * 37 % 211 + 60 * (i % 2) for i in range(400)]
    texts = [str(np.datetime64("1969-10-01") + day) + time for day in days]
    write("dates.csv", columns("y", "a", rows=[(i % 2, text) for i, text in enumerate(texts)]))
    arrow = pa.array([np.datetime64(text.replace(" ", "T"), "us") for text in texts])
    pq.write_table(pa.table({"y": [i % 2 for i in range(400)], "a": arrow}), "dates.parquet")
    (unasked,) = report("dates.csv", "--target", "y")["features"]
    assert "; dates, '1969-10-" in unasked["note"]
    (asked,) = report("dates.csv", "--target", "y", "--discretize", "a=mdl")["features"]
    (typed,) = report("dates.parquet", "--target", "y", "--discretize", "a=mdl")["features"]
    assert {name: asked[name] for name in asked if name != "note"} == {
        name: typed[name] for name in typed if name != "note"
    }
    (averaged,) = report("dates.parquet", "--target", "y")["features"]
    assert {**unasked, "note": ""} == {**averaged, "note": ""}
    cuts = asked["note"].removeprefix("mdl, ").split(": ", 1)[1].split(", ")
    assert asked["values"] == len(cuts) + 1 > 1
    assert all(np.datetime64("1969-10-01") <= np.datetime64(cut) <= np.datetime64("1970-07-01") for cut in cuts)


def test_dates_of_several_rows_each_are_categories_with_a_remark(report: Report, call: Call) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, f"2024-03-{1 + i % 9:02d}") for i in range(90)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert feature["note"] == "categories, not numbers: dates"
    assert "caution: a: dates are read as text" in call("rank", "data.csv", "--target", "y")[1]


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


def test_thousands_are_not_taken_for_decimal_commas(report: Report) -> None:
    numbers = [250 + 137 * i % 4001 for i in range(120)]
    for name, form in (("plain", "{}"), ("thousands", "{:,}")):
        lines = [f"{i % 2};{form.format(number)}" for i, number in enumerate(numbers)]
        write(f"{name}.csv", "y;a\n" + "\n".join(lines))
    plain, thousands = (report(f"{name}.csv", "--target", "y")["features"][0] for name in ("plain", "thousands"))
    assert {**plain, "note": ""} == {**thousands, "note": ""}
    assert thousands["note"].endswith("; numbers with separators, '1,016' as 1016")


def test_a_stray_text_among_numbers_is_named(report: Report, call: Call, refusal: Refusal) -> None:
    """One text keeps a column from being numbers: it is shown, and what to do."""
    values = ["gone" if i % 10 == 0 else f"{i * 37 % 101}.5" for i in range(600)]
    write("data.csv", columns("y", "a", rows=[(i % 2, value) for i, value in enumerate(values)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert feature["note"] == "categories; numbers but for 'gone', which may mean missing"
    told = " ".join(call("rank", "data.csv", "--target", "y")[1].split())
    assert "caution: a: numbers but for 'gone', which may mean missing" in told
    assert "text such as 'gone'" in refusal("rank", "data.csv", "--target", "y", "--discretize", "a=mdl")
    (feature,) = report("data.csv", "--target", "y", "--missing", "gone")["features"]
    assert feature["missing"] == 60
    write("many.csv", columns("y", "a", rows=[(i % 2, "Total" if i == 7 else i / 7) for i in range(90)]))
    (feature,) = report("many.csv", "--target", "y")["features"]
    assert feature["note"].startswith("numbers but for 'Total' (--missing Total); as text, an identifier")


@pytest.mark.parametrize("code", ["NULL", "n/a", "-", "."])
def test_what_means_missing_among_words_is_missing(report: Report, code: str) -> None:
    write("data.csv", columns("y", "a", rows=[(i % 2, ("red", "blue", code)[i % 3]) for i in range(60)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert feature["missing"] == 20
    assert feature["note"] == ("categories" if code[0] in "Nn" else f"categories; taken as missing: {code!r}")


@pytest.mark.parametrize("code", ["nil", "missing", "n.a."])
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
    assert "What informs about größe (ß, ä; entropy 0.6931 nats): 30 rows" in out
    assert "年齢" in out
    assert refusal("rank", "größe.csv", "--target", "grösse") == "there is no column 'grösse': did you mean 'größe'?"
    assert call("select", "größe.csv", "--target", "größe", "--output", "neu.csv")[0] == 0
    assert Path("neu.csv").read_text(encoding="utf-8") == columns("größe", "年齢", rows=[row[:2] for row in rows])


def test_markup_is_shown_as_it_is(call: Call) -> None:
    rows = [(("[/]", "[red]z")[i % 2], i % 2, f"[red]{i % 3}", "[/x]", i % 2) for i in range(20)]
    write("data.csv", columns("[bold]y[/bold]", "[bold]x[/bold]", "[/]", "[link]", ":smile:", rows=rows))
    code, out, err = call("rank", "data.csv", "--target", "[bold]y[/bold]")
    assert (code, err) == (0, "")
    assert "What informs about [bold]y[/bold] ([/], [red]z; entropy 0.6931 nats): 20 rows" in out
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
    assert call("select", "data.csv", "--target", "y", "--rule", "forward", "--output", "new.csv")[0] == 0
    with Path("new.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["y", "a\nb", "c\n\nd"], *([str(field) for field in row] for row in rows)]


def test_fields_longer_than_python_reads_by_itself(call: Call) -> None:
    text = columns("y", "a", rows=[(i % 2, "k" * 200_000 if i == 3 else i % 2) for i in range(30)])
    write("data.csv", text)
    limit = csv.field_size_limit()
    assert call("select", "data.csv", "--target", "y", "--rule", "forward", "--output", "new.csv")[0] == 0
    assert Path("new.csv").read_text(encoding="utf-8") == text
    assert csv.field_size_limit() == limit
