"""CSV: random texts, cut into tiny parts everywhere, against Python's csv module and a naive count.

Half of the texts are tables written with random quotes, half are letters in any order. Where csv sees a line with
another number of fields than the header, or a quote that is never closed, credimi has to refuse the file.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from credimi import count
from credimi.columns.meaning.meaning import CATEGORIES
from credimi.counts import tabulate
from credimi.sources.csv import csv_coder, csv_files, csv_split
from credimi.sources.formats import PACKED
from fuzz.common import Cells, as_read, cells_of, counted, expect, expect_cells, is_number, patched, refusal, shorter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from random import Random

MISSING = ("", "?", "NA", "NaN", "null")
WORDS = (
    *("a", "b", "ab", "A", " a", "a ", "é", "日本", "\U0001f600", "x\u2028y", "\x85", "\ufeff", "'", "#", "\\", "\\n"),
    *(
        '5" pipe',
        'say "hi"',
        '"',
        '""',
        "a\0",
        "\0",
        "two\nlines",
        "two\r\nlines",
        "cr\rhere",
        "a,b",
        "a;b",
        "a\tb",
        "a|b",
        ", ,",
    ),
    *("", "?", "NA", "NaN", "null", "nan", "-nan", "+NaN", " nan ", "na", "None", "N/A", " ", "nan(1)", "nanx"),
    *("1", "1.0", "01", "1e0", "+1", "-0", "0", "0.0", ".5", "5.", "1,5", "1_0", "0x10", "inf", "-Infinity", "1e400"),
    *("1" * 16, "9" * 15, "-" + "9" * 15, "٣", "\u00a01", "1 ", " 1", "1\t", "1e-400", "999", "999.0"),
    *("true", "false", "True", "FALSE", "TRUE", "tRuE", "2024-02-29", "2024-02-30", "12:30"),
)
NAMES = ("x", "y", "a b", "é", '"q"', "n\nl", "t,u", "u;v", "1", "", "X", " x")
WILD = ('a"\n,', 'ab""\n\n,,', '"\n\r,,a', "a,\r\n", '1"\n,,0.', 'é",\n ', '"\n,""\n')


def make(random: Random) -> dict[str, Any]:
    """A header, a body, and how it is cut and counted."""
    delimiter = random.choice(",,,,;\t|^:")
    case = {
        "names": random.sample(NAMES, random.randint(1, 4)),
        "delimiter": delimiter,
        "named": delimiter in "^:" or random.random() < 0.3,
        "bom": random.random() < 0.2,
        "blank": random.choice(["", "", "", "\n", "\r\n\n"]),
        "line_end": random.choice(["\n", "\n", "\r\n"]),
        "part": random.choice([1, 2, 3, 5, 8, 16, 33, 64, 1000, 1 << 20]),
        "block": random.choice([2, 4, 16, 64, 1 << 20]),  # of 1, pyarrow takes an LF alone for the end
        "rows": random.choice([1, 2, 10, 2048]),
        "near": random.choice([1, 2, 8, 1 << 16]),
        "compiled": random.random() < 0.5,
        "plain": random.choice(["", "", "bare", "quoted"]),  # lines of one kind: from bytes to codes at once
        "threads": random.choice([1, 1, 2, 3]),
        "missing": random.choice([list(MISSING), list(MISSING), [], ["a"], [999], ["999"], [1.0, "b"], [10, "nan"]]),
        "packed": random.choice(["", "", "", ".gz", ".bz2", ".zst"]),
        "bad": random.random() if random.random() < 0.03 else None,  # where a byte is that is no text
    }
    if random.random() < 0.4:
        letters = random.choice(WILD).replace(",", delimiter)
        case["names"] = ["x", "y"][: random.randint(1, 2)]
        case["body"] = "".join(random.choice(letters) for _ in range(random.randint(0, 60)))
    else:
        case["body"] = table(random, case)
    case["named"] |= len(case["names"]) == 1  # a header without a delimiter does not tell which it is
    return case


def table(random: Random, case: dict[str, Any]) -> str:
    """Lines of a table, with quotes where they are needed and where they are not."""
    many = random.random() < 0.1  # more distinct texts than a batch keeps as they are spelled
    pools = [
        [str(number) for number in range(300)] + ["7.0", "1e1", "x", "NA"][: random.randint(0, 4)]
        if many and index
        else random.choices(WORDS, k=random.randint(1, 6))
        for index in range(len(case["names"]))
    ]
    ends = random.choice([["\n"], ["\r\n"], ["\n", "\r\n"], ["\n", "\r\n", "\n\n", "\n\r\n"]])
    if case["plain"]:
        odd = '"' if case["plain"] == "quoted" else '"\r\n' + case["delimiter"]
        pools = [[text for text in pool if not any(letter in text for letter in odd)] or ["a"] for pool in pools]
        ends = [case["line_end"]]
    elif random.random() < 0.05:
        ends = [*ends, "\r"]
    out = []
    ragged = random.random() < 0.05
    for _ in range(random.randint(500, 900) if many else random.randint(0, 30)):
        chosen = [random.choice(pool) for pool in pools]
        bare = case["plain"] == "bare"
        fields = chosen if bare else [written(random, each, case["delimiter"]) for each in chosen]
        if ragged and random.random() < 0.1:
            fields = fields[:-1] if random.random() < 0.5 else [*fields, "more"]
        out += [case["delimiter"].join(fields), random.choice(ends)]
    if out and random.random() < 0.3:
        out.pop()
    return "".join(out)


def written(random: Random, text: str, delimiter: str) -> str:
    """A field: in quotes where it has to be, and sometimes where it has not."""
    needed = text.startswith('"') or any(letter in text for letter in (delimiter, "\n", "\r"))
    if needed or random.random() < 0.2:
        return '"' + text.replace('"', '""') + '"'
    return text


def whole(case: dict[str, Any]) -> str:
    """The text of the file, but for its mark of byte order."""
    header = io.StringIO()
    clear = case["named"] or not any(letter in name for name in case["names"] for letter in ",;\t|")
    quoting = csv.QUOTE_MINIMAL if clear else csv.QUOTE_ALL  # what stands in quotes is not taken for the delimiter
    csv.writer(header, delimiter=case["delimiter"], quoting=quoting).writerow(case["names"])
    return case["blank"] + header.getvalue().removesuffix("\r\n") + case["line_end"] + case["body"]


def unclosed(text: str, delimiter: str) -> bool:
    """Whether the text ends inside quotes, letter by letter."""
    inside, at_field_start, index = False, True, 0
    while index < len(text):
        character = text[index]
        if inside:
            if character == '"' and text[index + 1 : index + 2] == '"':
                index += 1
            elif character == '"':
                inside = False
        elif character in ("\n", "\r", delimiter):
            at_field_start = True
        else:
            inside, at_field_start = character == '"' and at_field_start, False
        index += 1
    return inside


def expected(case: dict[str, Any]) -> Any:  # noqa: ANN401
    """The rows and cells that csv and a naive count find, and whether the target is a number; None where refused."""
    text = whole(case)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=case["delimiter"]) if row]
    names, *rows = rows
    if any(len(row) != len(names) for row in rows) or unclosed(text, case["delimiter"]):
        return None
    columns = {}
    for name, values in zip(names, zip(*rows, strict=True) if rows else [()] * len(names), strict=True):
        seen = {text for text in values if not means_missing(text, case["missing"])}
        read = as_read(sorted(seen))
        columns[name] = [read.get(text) for text in values]
    values = {text for text in columns[names[-1]] if text is not None}
    is_cut = len(values) > CATEGORIES and all(map(is_number, values))
    return len(rows), counted(columns, names[-1]), is_cut


def means_missing(text: str, missing: list[Any]) -> bool:
    """Whether a field of a CSV file is missing: empty, not a number, or what the user says, as text or as a number."""
    if text.strip() in {"", *missing} or text.strip().lstrip("+-").lower() == "nan" or text in missing:
        return True
    numbers = {float(each) for each in missing if not isinstance(each, str) or is_number(each)}
    return is_number(text) and float(text) in numbers


def check(case: dict[str, Any], folder: Path) -> None:
    """Count the file and compare."""
    path = folder / f"table.csv{case['packed']}"
    text = whole(case).encode()
    expected_result = expected(case)
    if case["bad"] is not None and case["body"].strip("\r\n"):
        position = len(text) - int(case["bad"] * len(case["body"].encode()))
        text, expected_result = text[:position] + b"\x81" + text[position:], None
    write(path, (b"\xef\xbb\xbf" if case["bom"] else b"") + text, case["packed"])
    options = {"delimiter": case["delimiter"] if case["named"] else None, "threads": case["threads"]}
    sizes = {"_PART": case["part"], "_BLOCK": case["block"], "_ROWS": case["rows"]}
    min_cells = 0 if case["compiled"] else tabulate.CELLS_WORTH_COMPILING
    with (
        patched(csv_files, **sizes),
        patched(csv_split, _CHUNK_BYTES=case["near"]),
        patched(tabulate, CELLS_WORTH_COMPILING=min_cells),
    ):
        counts, error = refusal(lambda: count(path, case["names"][-1], missing_values=case["missing"], **options))
        if case["compiled"]:
            with patched(csv_coder, MAX_COLUMNS=0):
                other, refused = refusal(
                    lambda: count(path, case["names"][-1], missing_values=case["missing"], **options)
                )
            expect(str(error) == str(refused), "a file is refused alike, whoever parses it", f"{error}, {refused}")
            same = error is not None or counts.to_bytes() == other.to_bytes()
            expect(same, "counts are the same, whoever parses the file", (counts, other))
    if expected_result is None:
        expect(error is not None, "ragged lines, open quotes and bytes that are no text are refused", counts)
        return
    expect(error is None, "a proper file is counted", error)
    rows, cells, is_cut = expected_result
    expect(counts.rows == rows, "the rows of a CSV file are those of csv", f"{counts.rows}, not {rows}")
    cuts = counts.settings.target_cuts
    expect((cuts is not None) == is_cut, "a target of many numbers is a number, and no other is", cuts)
    expect_cells(
        cells_of(counts), in_ranges(cells, cuts) if is_cut else cells, "the cells of a CSV file are those of csv"
    )


def in_ranges(cells: Cells, cuts: Sequence[float]) -> Cells:
    """The same cells; a class that is a number is the position of its range, which is the number of cuts below it."""
    found: Cells = Counter()
    for (name, number, value), rows in cells.items():
        found[name, None if number is None else str(bisect_left(cuts, float(number))), value] += rows
    return found


def write(path: Path, content: bytes, packed: str) -> None:
    """A file, packed if its name says so."""
    if packed:
        with pa.output_stream(str(path), compression=PACKED[packed]) as stream:
            stream.write(content)
    else:
        path.write_bytes(content)


def smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Shorter bodies, then plainer ways to count."""
    for body in shorter(case["body"].splitlines(keepends=True)):
        yield case | {"body": "".join(body)}
    if len(case["body"]) < 200:
        for body in shorter(case["body"]):
            yield case | {"body": body}
    plain: dict[str, Any] = {"bom": False, "blank": "", "line_end": "\n", "compiled": False, "threads": 1, "packed": ""}
    plain |= {"near": 1 << 16, "part": 1 << 20, "block": 1 << 20, "rows": 2048, "missing": list(MISSING)}
    for name, value in plain.items():
        if case[name] != value:
            yield case | {name: value}
