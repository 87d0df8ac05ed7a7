"""Tables in Weka's format ARFF: nominal columns are text, others numbers, "?" is missing, the last column is the class.

Names of rows tell nothing about new rows: a column of text with a value of its own in more than half of the rows is
left out. Of long tables `MAX_ROWS` rows are drawn.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

MAX_ROWS = 2_500


def read(path: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The columns, numbers as doubles with NaN and text with None, and the classes as numbers."""
    nominal, lines = [], []
    for line in path.read_text(encoding="latin-1").replace("\t", " ").splitlines():
        text = line.strip()
        if text.lower().startswith("@attribute"):
            nominal.append(text.endswith("}"))
        elif text and text[0] not in "%@":
            lines.append(text)
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, quotechar="'", skipinitialspace=True)]
    rows = [rows[index] for index in np.random.default_rng(0).permutation(len(rows))[:MAX_ROWS]]
    columns = {}
    for number, values in enumerate(zip(*rows, strict=True)):
        if not nominal[number]:
            columns[f"c{number}"] = np.array([np.nan if value == "?" else float(value) for value in values])
        elif 2 * len(set(values)) <= len(values):
            columns[f"c{number}"] = np.array([None if value == "?" else value for value in values], dtype=object)
    target = columns.pop(f"c{len(nominal) - 1}")
    known = target != None  # noqa: E711  (of each element)
    return {name: column[known] for name, column in columns.items()}, np.unique(
        target[known].astype(str), return_inverse=True
    )[1]
