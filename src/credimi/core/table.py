"""`Table`: the counts of one target and one feature, checked once when it is made.

    joint (r x s)           n_ij   both seen; rows are target classes, columns feature values
    target_only (r)         n_i?   the feature is missing
    feature_only (s)        n_?j   the target is missing

Data rows with neither seen carry no information on the pair. Counts are real numbers (weights are allowed), so they are
stored as doubles. How the counts may be written down, with labels or with `?` for what is missing: `table_layouts`.
"""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.core.table_layouts import CORNER_REMEDY, MISSING, layout_of, refuse_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from credimi.core.types import FloatArray, Foreign

    Labels: TypeAlias = tuple[str, ...] | None


# The range in which every formula works, whatever is missing. Beyond 9e15 a double does not hold every whole number,
# and beyond 9e18 the draws that replace closed forms exceed numpy's 64-bit counts. v = pi^2/c is squared, which
# overflows if a count, or a pseudo-count, is below 1e-150.
LARGEST = 1e15
SMALLEST = 1e-100  # of the counts that are not 0
_MOST_LINES = 20  # of a table that is printed


@public
@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Table:
    """The counts of one target and one feature, checked and frozen.

    Parameters
    ----------
    joint
        r x s counts with both seen: one row per target class, one column per feature value. Also a frame or lists with
        labels, where the row and the column labelled "?" (or NaN, as `pandas.crosstab(dropna=False)` has it) are the
        counts of missing values; or numbers with "?" in the last corner, whose last row and column are these counts.
        Or a column of the data, and as the second argument another.
    target_only
        r counts of data rows whose feature is missing.
    feature_only
        s counts of data rows whose target is missing.
    classes, values
        Labels of the rows and of the columns, if they are known.

    Examples
    --------
    >>> credimi.Table([["", "daily", "never", "?"], ["cough", 10, 2, 4], ["none", 3, 15, 1], ["?", 0, 2]])
    Table: 2 target classes x 2 feature values, 37 rows
           daily  never  ?
    cough     10      2  4
    none       3     15  1
    ?          0      2
    >>> table = credimi.Table(["yes", "no", "no", None], ["x", "y", None, "y"])
    >>> table.rows, table.misses_feature, table.misses_target
    (4.0, True, True)
    """

    joint: FloatArray
    target_only: FloatArray
    feature_only: FloatArray
    classes: tuple[str, ...] | None
    values: tuple[str, ...] | None

    def __init__(
        self,
        joint: ArrayLike,
        target_only: ArrayLike | None = None,
        feature_only: ArrayLike | None = None,
        classes: Iterable[object] | None = None,
        values: Iterable[object] | None = None,
    ) -> None:
        layout = layout_of(joint, target_only, feature_only)
        cells = _numbers(layout.joint, "joint")
        if cells.ndim != 2 or cells.size == 0:
            raise CredimiError(
                f"joint must be a table of at least one row and one column, got shape {cells.shape}: "
                "pass rows of counts, one row per target class, one column per feature value; or two columns of data"
            )
        if layout.classes is layout.values is classes is values is None and _may_have_sums(cells):
            refuse_sums(cells.tolist())
        rows, columns = cells.shape
        without_feature = _margin(layout.target_only, "target_only", rows, "row", "target class")
        without_target = _margin(layout.feature_only, "feature_only", columns, "column", "feature value")
        object.__setattr__(self, "joint", _frozen(_checked(cells, "joint")))
        object.__setattr__(self, "target_only", without_feature)
        object.__setattr__(self, "feature_only", without_target)
        for name, given, length in (("classes", classes, rows), ("values", values, columns)):
            labels = getattr(layout, name) if given is None else tuple(map(str, given))
            if labels is not None and len(labels) != length:
                raise CredimiError(
                    f"{name} has {len(labels)} labels for {length} lines of the table: give one for each"
                )
            object.__setattr__(self, name, labels)

    @classmethod
    def of(
        cls, joint: ArrayLike | Table, target_only: ArrayLike | None = None, feature_only: ArrayLike | None = None
    ) -> Table:
        """Make a table; a margin that is not given is 0. A `Table` is returned as it is, unless a margin is given."""
        if isinstance(joint, Table):
            if target_only is not None or feature_only is not None:
                raise CredimiError(
                    "the Table already holds its margins: do not pass target_only or feature_only with it"
                )
            return joint
        return cls(joint, target_only, feature_only)

    @property
    def shape(self) -> tuple[int, int]:
        """r target classes, s feature values."""
        rows, columns = self.joint.shape
        return rows, columns

    @property
    def rows(self) -> float:
        """N, the data rows (or their weight) in which at least one of the two was seen."""
        return float(self.joint.sum() + self.target_only.sum() + self.feature_only.sum())

    @property
    def misses_feature(self) -> bool:
        """Whether some data rows have only the target."""
        return bool(self.target_only.any())

    @property
    def misses_target(self) -> bool:
        """Whether some data rows have only the feature."""
        return bool(self.feature_only.any())

    @staticmethod
    def of_block(block: NDArray[np.number]) -> Table:
        """A table from an (r + 1) x (s + 1) block with the missing counts last; its counts are known to be valid."""
        counts = np.array(block, dtype=np.float64)
        return _unchecked_table(counts[:-1, :-1].copy(), counts[:-1, -1].copy(), counts[-1, :-1].copy())

    def transposed(self) -> Table:
        """The table with target and feature exchanged."""
        turned = _unchecked_table(self.joint.T.copy(), self.feature_only, self.target_only)
        return turned.labelled(self.values, self.classes)

    def labelled(self, classes: tuple[str, ...] | None, values: tuple[str, ...] | None) -> Table:
        """Give these labels to a table that was just made; it is returned."""
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "values", values)
        return self

    def with_added(self, counts: FloatArray) -> Table:
        """The table with these counts added to those of rows in which both are seen."""
        return _unchecked_table(self.joint + counts, self.target_only, self.feature_only)

    def lines(self) -> list[list[str]]:
        """The table as text, in rows of cells: labels first, or numbers if there are none; the missing as `?`."""
        block = self.block()
        named = self.classes is not None or self.values is not None
        classes = self.classes or tuple(str(number + 1) for number in range(self.shape[0]) if named)
        values = self.values or tuple(str(number + 1) for number in range(self.shape[1]) if named)
        height = self.shape[0] + self.misses_target
        width = self.shape[1] + self.misses_feature
        body = [[f"{count:,.10g}" for count in row[:width]] for row in block[:height]]
        if self.misses_target and self.misses_feature:
            body[-1][-1] = "" if named else MISSING
        if not named:
            return body
        heads = ["", *(*values, MISSING)[:width]]
        return [heads, *([label, *row] for label, row in zip((*classes, MISSING)[:height], body, strict=True))]

    def block(self) -> FloatArray:
        """The counts as one (r + 1) x (s + 1) array, with the missing counts last."""
        rows, columns = self.shape
        block = np.zeros((rows + 1, columns + 1))
        block[:rows, :columns] = self.joint
        block[:rows, columns] = self.target_only
        block[rows, :columns] = self.feature_only
        return block

    def __add__(self, other: Table) -> Table:
        if not isinstance(other, Table):
            return NotImplemented
        labels = ((self.classes, other.classes), (self.values, other.values))
        if self.shape != other.shape or any(None not in pair and pair[0] != pair[1] for pair in labels):
            raise CredimiError(f"tables of shapes {self.shape} and {other.shape} do not add: use the same labels")
        return Table(
            self.joint + other.joint,
            self.target_only + other.target_only,
            self.feature_only + other.feature_only,
            self.classes or other.classes,
            self.values or other.values,
        )

    def __repr__(self) -> str:
        rows, columns = self.shape
        title = f"Table: {rows} target class{'es' * (rows > 1)} x {columns} feature value{'s' * (columns > 1)}, "
        title += f"{self.rows:,.10g} rows"
        lines = self.lines()
        if max(rows, columns) > _MOST_LINES:
            return title
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        labelled = self.classes is not None or self.values is not None
        text = [
            "  ".join(
                cell.ljust(width) if labelled and place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([title, *text])

    def _repr_html_(self) -> str:
        lines = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in self.lines()
        )
        return f"<div><p>{self.rows:,.10g} rows</p><table><tbody>{lines}</tbody></table></div>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and np.array_equal(self.block(), other.block())

    def __hash__(self) -> int:
        return hash(self.block().tobytes())

    @classmethod
    def _as_it_was(cls, joint: FloatArray, target_only: FloatArray, feature_only: FloatArray, *labels: Labels) -> Table:
        return _unchecked_table(joint, target_only, feature_only).labelled(*labels)

    def __reduce__(self) -> tuple[Callable[..., Table], tuple[object, ...]]:
        # Not as they are: pickle and deepcopy lose the write lock of an array.
        return Table._as_it_was, (self.joint, self.target_only, self.feature_only, self.classes, self.values)


def stratified_blocks(
    joint: Foreign, target_only: ArrayLike | None = None, feature_only: ArrayLike | None = None
) -> FloatArray:
    """Tables of one shape, one for each stratum, checked: t x (r + 1) x (s + 1), the missing counts last in each."""
    if isinstance(joint, list | tuple) and joint and all(isinstance(each, Table) for each in joint):
        return _blocks_of(joint, target_only, feature_only)
    cells = _numbers(joint, "joint")
    if cells.ndim != 3 or cells.size == 0:
        raise CredimiError(
            f"joint must be a list of tables of one shape, strata x classes x values, got shape {cells.shape}: "
            "pass one table for each stratum; for a single table use mutual_information, or put it into a list"
        )
    strata, rows, columns = cells.shape
    blocks = np.zeros((strata, rows + 1, columns + 1))
    blocks[:, :rows, :columns] = _checked(cells, "joint")
    for values, name, length, destination in (
        (target_only, "target_only", rows, blocks[:, :rows, columns]),
        (feature_only, "feature_only", columns, blocks[:, rows, :columns]),
    ):
        if values is None:
            continue
        margin = _numbers(values, name)
        if margin.shape != (strata, length):
            meaning = "target class" if name == "target_only" else "feature value"
            raise CredimiError(
                f"{name} needs one count for each stratum and {meaning}: shape {(strata, length)}, got {margin.shape}"
            )
        destination[...] = _checked(margin, name)
    return blocks


def _blocks_of(tables: Sequence[Table], target_only: object, feature_only: object) -> FloatArray:
    if target_only is not None or feature_only is not None:
        raise CredimiError("tables have their margins: do not pass target_only and feature_only beside them")
    first = tables[0]
    for number, table in enumerate(tables, 1):
        labels = (table.shape, table.classes, table.values) == (first.shape, first.classes, first.values)
        if not labels:
            raise CredimiError(
                f"the table of stratum {number} has another shape or other labels than that of stratum 1: all need the "
                "same classes and values in one order, with 0 for no count"
            )
    return np.stack([table.block() for table in tables]).astype(np.float64)


def _may_have_sums(cells: FloatArray) -> bool:
    """Whether the last cell is a fourth of the sum of all: so it is with the sums of all rows and columns."""
    corner = float(cells[-1, -1])
    return corner > 0.0 and math.isclose(4.0 * corner, float(cells.sum()), rel_tol=1e-6)


def _margin(values: ArrayLike | None, name: str, length: int, line: str, meaning: str) -> FloatArray:
    if values is None:
        return _frozen(np.zeros(length))
    margin = _numbers(values, name)
    if margin.shape != (length,):
        got = f"{margin.size}" if margin.ndim == 1 else f"shape {margin.shape}"
        raise CredimiError(
            f"{name} needs one count for each {line} of joint (a {meaning}): {length} numbers, got {got}"
        )
    return _frozen(_checked(margin, name))


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    try:
        if isinstance(values, np.ma.MaskedArray):  # masked values were not counted
            values = np.ma.filled(values.astype(np.float64), np.nan)
        array = np.asarray(values)
        if array.dtype.kind in "OSTUc":
            array = np.asarray(_parsed(array.tolist(), name, ""))
    except CredimiError:
        raise
    except (ValueError, TypeError) as error:
        raise CredimiError(
            f"{name} is not a table of numbers ({_unequal_lengths(values, name) or error}): "
            "pass rows of equal length that hold counts"
        ) from error
    if array.dtype.kind not in "biuf":
        raise CredimiError(f"{name} holds values of type {array.dtype}: counts are numbers from 0 up")
    with np.errstate(over="ignore"):  # a number too large for a double is refused as infinite
        return array.astype(np.float64, order="C")


def _parsed(values: object, name: str, position: str) -> object:
    """Convert text and objects to numbers one by one, so that the wrong one can be named."""
    if isinstance(values, list):
        return [_parsed(value, name, f"{position}[{index}]") for index, value in enumerate(values)]
    try:
        return float(values)  # type: ignore[arg-type]
    except OverflowError:  # an integer too large for a double
        return math.inf
    except (TypeError, ValueError):
        raise CredimiError(
            f"{name}{position} is {reprlib.repr(values)}, not a number: counts are numbers from 0 up"
        ) from None


def _unequal_lengths(values: object, name: str) -> str:
    """Which row has another length than the first, if any."""
    lengths = [len(row) if hasattr(row, "__len__") else 1 for row in values] if hasattr(values, "__iter__") else []
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            return f"{name}[{row}] has length {length}, {name}[0] has length {lengths[0]}"
    return ""


def _checked(counts: FloatArray, name: str) -> FloatArray:
    wrong = ~((counts >= SMALLEST) & (counts <= LARGEST))
    if wrong.any() and (wrong := wrong & (counts != 0.0)).any():
        position = tuple(int(index) for index in np.argwhere(wrong)[0])
        value = float(counts[position])
        index_text = "".join(f"[{index}]" for index in position)
        last = tuple(length - 1 for length in counts.shape)
        at_corner = position == last and counts.ndim == 2 and min(last) > 1
        remedy = CORNER_REMEDY if at_corner and math.isnan(value) else _remedy(value)
        raise CredimiError(f"{name}{index_text} is {value:g}: {remedy}")
    return counts + 0.0  # no -0.0, so that equal tables have equal bytes


def _remedy(value: float) -> str:
    if math.isnan(value):
        return "leave out what was not counted, or put 0"
    if 0.0 < value < SMALLEST:
        return f"a count is 0 or at least {SMALLEST:g}, so put 0 for a smaller one"
    return f"counts are numbers from 0 up, at most {LARGEST:g}; scale weights to this range"


def _unchecked_table(joint: FloatArray, target_only: FloatArray, feature_only: FloatArray) -> Table:
    """A table without checks: posteriors transpose tables often, and pseudo-counts may exceed the limits of counts."""
    table = object.__new__(Table)
    for name, counts in (("joint", joint), ("target_only", target_only), ("feature_only", feature_only)):
        object.__setattr__(table, name, _frozen(counts))
    return table.labelled(None, None)


def _frozen(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array
