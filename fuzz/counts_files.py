"""Counts: parts add up, files come back as they were saved, and damaged or hostile files are refused."""

from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from credimi import Counts, CredimiError, count
from credimi.columns.labels import LOOSE
from fuzz.common import Broken, cells_of, expect, expect_cells, refusal, shorter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

VALUES: tuple[tuple[Any, ...], ...] = (
    ("a", "b", "é", "", None),
    (1, 2, 3, None),
    (0.5, -1.0, 1e300, None),
    (True, False, None),
    ("1", "2", "x"),
    ("1", "1.0", "01", "1e0", " 1", "NA", "nan"),
    ("true", "TRUE", "False", "0"),
    ("2024-02-29", "2024-02-29T12:00", "2024-02-30", ""),
    tuple(str(number) for number in range(400)),
    (*(f"{number}.0" for number in range(260)), "7", "x"),
)
JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    2**62,
    10**30,
    1.5,
    1e308,
    "",
    "a",
    [],
    [1],
    {},
    {"a": 1},
    ["a", "a"],
    [None],
)
START = len(b"credimi counts 1\n") + 8


def make(random: Random) -> dict[str, Any]:
    """Rows, where they are cut into parts, and what is done to the file."""
    pools = {name: random.choice(VALUES) for name in "fgh"[: random.randint(1, 3)]}
    rows = [
        {name: random.choice(pool) for name, pool in pools.items()} | {"class": random.choice(["p", "q", None])}
        for _ in range(random.choice([1, 2, 5, 12, 25, 600]))
    ]
    damage = random.choice(["flips", "cut", "header", "header", "length"])
    return {
        "rows": rows,
        "cuts": sorted(random.randint(0, len(rows)) for _ in range(random.randint(1, 4))),
        "csv": random.random() < 0.5,
        "damage": damage,
        "form": random.randrange(10**6),
    }


def parts_of(case: dict[str, Any], folder: Path) -> tuple[Counts, list[Counts]]:
    """The counts of all rows, and those of the parts."""

    def one(rows: list[dict[str, Any]]) -> Counts:
        names = list(case["rows"][0])
        if case["csv"]:
            path = folder / "part.csv"
            lines = [names, *([str(row[name]) if row[name] is not None else "" for name in names] for row in rows)]
            path.write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf-8")
            return count(path, "class")
        return count({name: [row[name] for row in rows] for name in names}, "class")

    bounds = [0, *case["cuts"], len(case["rows"])]
    bounds = [min(bound, len(case["rows"])) for bound in bounds]
    return one(case["rows"]), [one(case["rows"][low:high]) for low, high in pairwise(bounds)]


def check(case: dict[str, Any], folder: Path) -> None:
    """Add, take away, save, load; then damage the file."""
    from random import Random  # noqa: PLC0415

    random = Random(case["form"])
    whole, parts = parts_of(case, folder)
    random.shuffle(parts)
    total = sum(parts[1:], parts[0])
    expect(total == whole, "counts of parts add up", total)
    expect_cells(cells_of(total), cells_of(whole), "the cells of parts add up")
    rest = sum(parts[2:], parts[1])
    left = total - parts[0]
    same = left == rest or (left.rows == rest.rows and texts_of(left) == texts_of(rest) and is_loose(left))
    expect(same, "what was added can be taken away", f"{left} and {rest}")
    path = folder / "some.counts"
    whole.save(path)
    expect(Counts.load(path) == whole, "counts load as they were saved", whole)
    content = path.read_bytes()
    expect(content == whole.to_bytes(), "a file holds what travels", whole)
    expect(Counts.from_bytes(content).to_bytes() == content, "loaded counts are saved as they were", whole)
    harmed = damaged(content, case["damage"], random)
    loaded, error = refusal(lambda: Counts.from_bytes(harmed))
    if case["damage"] in {"flips", "cut"}:
        expect(error is not None or loaded == whole, "a damaged file is refused", loaded)
    elif error is None:
        used(loaded)


def texts_of(counts: Counts) -> list[tuple[str, ...]]:
    """The labels as they are spelled."""
    return [each.texts for each in counts.labels]


def is_loose(counts: Counts) -> bool:
    """Whether some text meant missing, now or in rows that were taken away: numbers beside it stay numbers."""
    return any(each.kind == LOOSE for each in counts.labels)


def used(counts: Counts) -> None:
    """Do what one does with counts: a file that loads has to be fit for it, or refused by name."""
    for use in (
        repr,
        Counts.to_bytes,
        cells_of,
        lambda counts: counts == counts + counts,
        lambda counts: counts - counts,
        Counts.interpreted,
    ):
        try:
            use(counts)
        except CredimiError:
            continue
        except Exception as error:
            raise Broken("a file that loads can be used, or is refused by name", repr(error)) from error


def damaged(content: bytes, how: str, random: Random) -> bytes:
    """The file with bits turned or an end missing; or with another header, and a digest that is right."""
    if how == "cut":
        return content[: random.randrange(len(content))]
    if how == "flips":
        letters = bytearray(content)
        for _ in range(random.choice([1, 1, 2, 9])):
            letters[random.randrange(len(letters))] ^= 1 << random.randrange(8)
        return bytes(letters)
    size = int.from_bytes(content[START - 8 : START], "little")
    text, arrays = content[START : START + size], content[START + size : -32]
    if how == "length":
        size = random.choice([0, 1, size - 1, size + 1, size + 8, 2**40, 2**63, 2**64 - 1])
    else:
        header = json.loads(text)
        for _ in range(random.choice([1, 1, 2])):
            spoil(header, random)
        text = json.dumps(header).encode()
        size = len(text)
    body = content[: START - 8] + size.to_bytes(8, "little") + text + arrays
    return body + hashlib.sha256(body).digest()


def spoil(header: Any, random: Random) -> None:  # noqa: ANN401
    """Replace or delete a random entry of the header."""
    container, key = header, random.choice(list(header))
    while isinstance(container[key], dict | list) and container[key] and random.random() < 0.7:
        container = container[key]
        key = random.choice(list(container) if isinstance(container, dict) else range(len(container)))
    if random.random() < 0.2:
        del container[key]
    else:
        container[key] = deepcopy(random.choice(JUNK))  # it may be spoilt itself


def smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Fewer rows and parts."""
    for rows in shorter(case["rows"]):
        if rows:
            yield case | {"rows": rows}
    for cuts in shorter(case["cuts"]):
        if cuts:
            yield case | {"cuts": cuts}
    for name in list(case["rows"][0])[:-1]:
        if len(case["rows"][0]) > 2:
            yield case | {"rows": [{each: row[each] for each in row if each != name} for row in case["rows"]]}
