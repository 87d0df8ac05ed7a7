"""Tables in memory: the same Python values as frames of every library, against a naive count of the values."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from credimi import count
from credimi.counts import tabulate
from fuzz.common import cells_of, counted, expect, expect_cells, patched, refusal, shorter, shown_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from random import Random

MISSING = ("", "?", "NA", "NaN", "null")
TEXTS = (
    "a",
    "b",
    "A",
    "é",
    "日本",
    "",
    "?",
    "NA",
    "nan",
    "null",
    "1",
    "1.0",
    "007",
    "true",
    "2024-02-29",
    "x y",
    "\n",
    "'",
    '"',
)
WHOLE = (0, 1, 2, -1, 7, 300, -40_000, 70_000, 2**31, 2**53 - 1, -(2**53))
HUGE = (2**53 + 1, 2**63 - 1, -(2**63))
REAL = (0.0, -0.0, 0.5, 0.1, 1.0, -2.5, 1e300, 5e-324, float("inf"), float("-inf"), 3.0, 999.0)
DAYS = (dt.date(1970, 1, 1), dt.date(1970, 1, 2), dt.date(2024, 2, 29), dt.date(1899, 12, 31), dt.date(2100, 1, 1))
MOMENTS = (dt.datetime(1970, 1, 1), dt.datetime(2024, 2, 29, 12, 30), dt.datetime(1969, 12, 31, 23, 59, 59))  # noqa: DTZ001
DECIMALS = tuple(map(Decimal, ("0.10", "1.00", "-2.50", "12345.67", "0.30", "0.70")))
TIMES = (dt.time(0, 0), dt.time(12, 30, 5), dt.time(23, 59, 59))
SPANS = (dt.timedelta(0), dt.timedelta(days=2, seconds=1), dt.timedelta(seconds=-30))
KINDS: dict[str, tuple[Any, ...]] = {
    "text": TEXTS,
    "whole": WHOLE,
    "real": REAL,
    "truth": (True, False),
    "day": DAYS,
    "moment": MOMENTS,
    "decimal": DECIMALS,
    "time": TIMES,
    "span": SPANS,
}
ARROW = {
    "text": (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.binary()),
    "whole": (pa.int64(), pa.dictionary(pa.int32(), pa.int64())),
    "real": (pa.float64(), pa.dictionary(pa.int16(), pa.float64())),
    "truth": (pa.bool_(),),
    "day": (pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us")),
    "moment": (pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("ms", "UTC")),
    "decimal": (pa.decimal128(12, 2), pa.decimal256(40, 4)),
    "time": (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    "span": (pa.duration("s"), pa.duration("ms"), pa.duration("us"), pa.duration("ns")),
}


def make(random: Random) -> dict[str, Any]:
    """Columns of Python values, and a library."""
    rows = random.choice([0, 1, 2, 5, 12, 40, 400])
    kinds = {"class": random.choice(["text", "text", "whole", "truth"])}
    kinds |= {name: random.choice(list(KINDS)) for name in "fgh"[: random.randint(0, 3)]}
    columns = {}
    for name, kind in kinds.items():
        pool = random.choices(KINDS[kind], k=random.randint(1, 6))
        if kind == "whole" and random.random() < 0.1:
            pool += [random.choice(HUGE)]
        if kind in {"whole", "text"} and rows == 400 and random.random() < 0.5 and name != "class":
            pool = [each if kind == "whole" else f"t{each}" for each in range(random.choice([250, 256, 300]))]
        gaps = random.choice([0.0, 0.0, 0.2, 1.0 if name != "class" else 0.1])
        columns[name] = [None if random.random() < gaps else random.choice(pool) for _ in range(rows)]
    return {
        "kinds": kinds,
        "columns": columns,
        "library": random.choice(list(LIBRARIES)),
        "form": random.randrange(10**6),
        "missing": random.choice([list(MISSING), list(MISSING), [], ["a", 1], [999], ["0.5"]]),
        "compiled": random.random() < 0.3,
        "threads": random.choice([1, 2]),
    }


def named(values: list[Any], kind: str, missing: list[Any]) -> list[str | None]:
    """Values as credimi names them; None where they are missing."""
    numbers = {float(each) for each in missing if not isinstance(each, str) or each.replace(".", "").isdigit()}
    texts = {each if isinstance(each, str) else shown_number(each) for each in missing}
    large = kind == "whole" and any(abs(value) > 2**53 for value in values if value is not None)

    def name(value: Any) -> str | None:  # noqa: ANN401
        if value is None:
            return None
        if kind == "text" or large:
            return None if {str(value), str(value).strip()} & texts else str(value)
        if kind == "truth":
            return str(value).lower()
        if kind in {"day", "moment"}:
            return value.isoformat().removesuffix("T00:00:00")
        if kind == "time":
            return shown_number((value.hour * 60 + value.minute) * 60 + value.second)
        if kind == "span":
            return shown_number(value.total_seconds())
        return None if float(value) in numbers else shown_number(float(value))

    return [name(value) for value in values]


def expected(case: dict[str, Any]) -> Any:  # noqa: ANN401
    """The cells of a naive count."""
    columns = {name: named(values, case["kinds"][name], case["missing"]) for name, values in case["columns"].items()}
    return counted(columns, "class")


def objects(values: list[Any]) -> Any:  # noqa: ANN401
    """An array of Python's objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def of_pandas(case: dict[str, Any], random: Random) -> Any:  # noqa: ANN401
    """A frame of pandas."""
    import pandas as pd  # noqa: PLC0415

    frame = {}
    for name, values in case["columns"].items():
        kind = case["kinds"][name]
        plain = pd.Series(objects(values), dtype=object)
        forms: list[Callable[[], Any]] = [lambda plain=plain: plain, lambda plain=plain: plain.astype("category")]
        forms.append(lambda plain=plain: plain.where(plain.notna(), random.choice([None, float("nan"), pd.NA])))
        if kind == "text":
            forms += [lambda plain=plain, to=to: plain.astype(to) for to in ("string", "string[pyarrow]")]
            forms += [lambda values=values: pd.Series(values, dtype="str")]
        elif kind == "whole":
            forms += [lambda values=values: pd.Series(values, dtype="Int64")]
            if None not in values:
                forms += [lambda plain=plain: plain.astype("int64")] * 2
        elif kind == "real":
            forms += [lambda values=values: pd.Series(values, dtype="float64")] * 2
            forms += [lambda values=values: pd.Series(values, dtype="Float64")]
        elif kind == "truth":
            forms += [lambda values=values: pd.Series(values, dtype="boolean")] * 2
        elif kind in {"day", "moment"}:
            forms += [
                lambda values=values, unit=unit: pd.Series(np.array(values, dtype=f"datetime64[{unit}]"))
                for unit in ("s", "us", "ns")
            ]
        elif kind == "span":
            forms += [
                lambda values=values, unit=unit: pd.Series(np.array(values, dtype=f"timedelta64[{unit}]"))
                for unit in ("s", "us", "ns")
            ]
        frame[name] = random.choice(forms)()
    return pd.DataFrame(frame)


def of_polars(case: dict[str, Any], random: Random) -> Any:  # noqa: ANN401
    """A frame of polars, perhaps lazy, perhaps in chunks."""
    import polars as pl  # noqa: PLC0415

    types = {
        "text": [pl.String(), pl.Categorical(), pl.Object()],
        "whole": [pl.Int64()],
        "real": [pl.Float64()],
        "truth": [pl.Boolean()],
        "day": [pl.Date(), pl.Datetime("ms")],
        "moment": [pl.Datetime("us"), pl.Datetime("ms"), pl.Datetime("ns")],
        "decimal": [pl.Decimal(12, 2)],
        "time": [pl.Time()],
        "span": [pl.Duration("us"), pl.Duration("ms"), pl.Duration("ns")],
    }
    columns = {}
    for name, values in case["columns"].items():
        kind = random.choice(types[case["kinds"][name]])
        if isinstance(kind, pl.Object):
            columns[name] = pl.Series(name, values, dtype=pl.Object)
        else:
            columns[name] = pl.Series(name, values, dtype=types[case["kinds"][name]][0]).cast(kind)
    frame = pl.DataFrame(columns)
    if random.random() < 0.3 and not any(str(kind) == "Object" for kind in frame.dtypes):
        cut = random.randint(0, frame.height)
        frame = pl.concat([frame[:cut], frame[cut:]], rechunk=False)
    return frame.lazy() if random.random() < 0.4 else frame


def of_arrow(case: dict[str, Any], random: Random) -> Any:  # noqa: ANN401
    """A table of pyarrow: any type that holds the values, slices, chunks, a stream."""
    columns = {}
    for name, values in case["columns"].items():
        kind = random.choice(ARROW[case["kinds"][name]])
        if pa.types.is_dictionary(kind):
            whole = pa.array(values, kind.value_type).dictionary_encode()
            whole = whole.cast(kind) if len(whole.dictionary) < 120 else whole
        elif kind == pa.binary():
            whole = pa.array(values, pa.string()).cast(kind)
        elif pa.types.is_timestamp(kind) and case["kinds"][name] == "day":
            whole = pa.array(values, pa.date32()).cast(kind)
        else:
            whole = pa.array(values, kind)
        before = random.choice([0, 0, 1, 9])  # the array begins inside of another
        if before:
            whole = pa.concat_arrays([whole[:0], pa.nulls(before, whole.type), whole])[before:]
        columns[name] = whole
    table = pa.table(columns)
    form = random.randrange(5)
    if form == 0:
        return table
    chunks = random.randint(1, 7)
    batches = [
        batch for start in range(0, table.num_rows, chunks) for batch in table[start : start + chunks].to_batches()
    ]
    if form == 1:
        return pa.Table.from_batches(batches, table.schema)
    if form == 2 and batches:
        return pa.RecordBatchReader.from_batches(table.schema, batches)
    return table.combine_chunks().to_batches()[0] if form == 3 and table.num_rows else dict(columns)


def of_numpy(case: dict[str, Any], random: Random) -> Any:  # noqa: ANN401
    """An array of objects or numbers, in either order, or one with named fields; the target among them."""
    columns = case["columns"]
    kinds = set(case["kinds"].values())
    rows = len(columns["class"])
    if random.random() < 0.4:
        fields = {name: field_of(values, case["kinds"][name]) for name, values in columns.items()}
        array = np.empty(rows, dtype=[(name, field.dtype) for name, field in fields.items()])
        for name, field in fields.items():
            array[name] = field
        return array
    if kinds <= {"whole", "real"} and all(abs(each) <= 2**53 for values in columns.values() for each in values if each):
        array = np.array(
            [[np.nan if each is None else each for each in values] for values in columns.values()], dtype=float
        ).T
        if kinds == {"whole"} and not np.isnan(array).any():
            array = array.astype(np.int64)
    else:
        array = np.empty((rows, len(columns)), dtype=object)
        for index, values in enumerate(columns.values()):
            array[:, index] = objects(values)
    array = np.asarray(array, order=random.choice("CF"))
    if random.random() < 0.3:
        array = np.repeat(array, 2, axis=0)[::2]
    return array


def field_of(values: list[Any], kind: str) -> Any:  # noqa: ANN401
    """A field of an array, with a type of its own where numpy has one that can be missing."""
    if kind == "real":
        return np.array([np.nan if each is None else each for each in values], dtype=float)
    if kind in {"day", "moment"}:
        return np.array(values, dtype="datetime64[s]")
    if kind == "span":
        return np.array(values, dtype="timedelta64[ms]")
    if kind == "truth" and None not in values:
        return np.array(values, dtype=bool)
    return np.array(values, dtype="U") if kind == "text" and values and None not in values else objects(values)


def of_records(case: dict[str, Any], random: Random) -> Any:  # noqa: ANN401
    """A list of dictionaries; a key may lack where the value is missing."""
    columns = case["columns"]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if random.random() < 0.5 and rows:
        rows[1:] = [{name: value for name, value in row.items() if value is not None} for row in rows[1:]]
    return rows


def of_mapping(case: dict[str, Any], random: Random) -> Any:  # noqa: ANN401
    """A dictionary of lists, of tuples or of arrays of objects."""
    return {name: random.choice([list, tuple, objects])(values) for name, values in case["columns"].items()}


LIBRARIES = {
    "pandas": of_pandas,
    "polars": of_polars,
    "arrow": of_arrow,
    "numpy": of_numpy,
    "records": of_records,
    "mapping": of_mapping,
}


def check(case: dict[str, Any], folder: Path) -> None:  # noqa: ARG001  (no file)
    """Count and compare."""
    from random import Random  # noqa: PLC0415

    if case["library"] == "records" and not case["columns"]["class"]:
        return  # no row has names
    data = LIBRARIES[case["library"]](case, Random(case["form"]))
    target: Any = "class"
    name_of = {}
    if isinstance(data, np.ndarray) and not data.dtype.names:
        name_of = {f"column {index}": name for index, name in enumerate(case["columns"])}
        target = 0
    min_cells = 0 if case["compiled"] else tabulate.CELLS_WORTH_COMPILING
    with patched(tabulate, CELLS_WORTH_COMPILING=min_cells):
        counts, error = refusal(lambda: count(data, target, missing_values=case["missing"], threads=case["threads"]))
    expect(error is None, f"a table of {case['library']} is counted", error)
    rows = len(case["columns"]["class"])
    expect(counts.rows == rows, f"all rows of {case['library']} are counted", counts.rows)
    cells = cells_of(counts)
    for (name, class_name, value), times in list(cells.items()) if name_of else ():
        del cells[name, class_name, value]
        cells[name_of[name], class_name, value] = times
    expected_cells = expected(case)
    kinds = case["kinds"]
    for name in list(kinds)[1:]:  # column by column: faults of two kinds are two
        one, other = (Counter({key: each[key] for key in each if key[0] == name}) for each in (cells, expected_cells))
        law = f"a {kinds[name]} column of {case['library']} is counted as a naive count does"
        expect_cells(one, other, law)


def smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Fewer rows, fewer columns, plainer ways."""
    names = list(case["columns"])
    rows = list(zip(*case["columns"].values(), strict=True))
    for fewer in shorter(rows):
        shorter_columns = list(zip(*fewer, strict=True)) or [()] * len(names)
        yield case | {"columns": {name: list(values) for name, values in zip(names, shorter_columns, strict=True)}}
    for name in names[1:]:
        fewer_columns = {each: values for each, values in case["columns"].items() if each != name}
        yield case | {"columns": fewer_columns, "kinds": {each: case["kinds"][each] for each in fewer_columns}}
    for name, value in {"compiled": False, "threads": 1, "missing": list(MISSING)}.items():
        if case[name] != value:
            yield case | {name: value}
