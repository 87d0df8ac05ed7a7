"""`Table`: the counts of one target and one feature, checked once when it is made.

    joint (r x s)           n_ij   both seen; rows are target classes, columns feature values
    target_only (r)         n_i?   the feature is missing
    feature_only (s)        n_?j   the target is missing

Data rows with neither seen carry no information on the pair. Counts are real numbers (weights are allowed), so they are
stored as doubles.
"""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.public import public

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from credimi.core.types import FloatArray


# The range in which every formula works, whatever is missing. Beyond 9e15 a double does not hold every whole number,
# and beyond 9e18 the draws that replace closed forms exceed numpy's 64-bit counts. v = pi^2/c is squared, which
# overflows if a count, or a pseudo-count, is below 1e-150.
LARGEST = 1e15
SMALLEST = 1e-100  # of the counts that are not 0


@public
@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The counts of one target and one feature, checked and frozen. With `Table.of` the margins are optional.

    Parameters
    ----------
    joint
        r x s counts with both seen: one row per target class, one column per feature value.
    target_only
        r counts of data rows whose feature is missing.
    feature_only
        s counts of data rows whose target is missing.

    Examples
    --------
    >>> table = credimi.Table.of([[10, 2], [3, 15]], target_only=[4, 1])
    >>> table.rows, table.misses_feature, table.misses_target
    (35.0, True, False)
    """

    joint: FloatArray
    target_only: FloatArray
    feature_only: FloatArray

    def __post_init__(self) -> None:
        cells = _numbers(self.joint, "joint")
        if cells.ndim != 2 or cells.size == 0:
            raise CredimiError(
                f"joint must be a table of at least one row and one column, got shape {cells.shape}: "
                "pass rows of counts, one row per target class, one column per feature value"
            )
        rows, columns = cells.shape
        target_only = _margin(self.target_only, "target_only", rows, "row", "target class")
        feature_only = _margin(self.feature_only, "feature_only", columns, "column", "feature value")
        object.__setattr__(self, "joint", _frozen(_checked(cells, "joint")))
        object.__setattr__(self, "target_only", target_only)
        object.__setattr__(self, "feature_only", feature_only)

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
        return cls(joint, target_only, feature_only)  # type: ignore[arg-type]  # `__post_init__` makes them arrays

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
        return _unchecked_table(self.joint.T.copy(), self.feature_only, self.target_only)

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
        if self.shape != other.shape:
            raise CredimiError(f"tables of shapes {self.shape} and {other.shape} do not add: use the same labels")
        return Table(
            self.joint + other.joint,
            self.target_only + other.target_only,
            self.feature_only + other.feature_only,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and np.array_equal(self.block(), other.block())

    def __hash__(self) -> int:
        return hash(self.block().tobytes())

    def __reduce__(self) -> tuple[type[Table], tuple[FloatArray, FloatArray, FloatArray]]:
        # Through the constructor: pickle and deepcopy lose the write lock of an array.
        return Table, (self.joint, self.target_only, self.feature_only)


def stratified_blocks(
    joint: ArrayLike, target_only: ArrayLike | None = None, feature_only: ArrayLike | None = None
) -> FloatArray:
    """Tables of one shape, one for each stratum, checked: t x (r + 1) x (s + 1), the missing counts last in each."""
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
        raise CredimiError(f"{name}{index_text} is {value:g}: {_remedy(value)}")
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
    return table


def _frozen(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array
