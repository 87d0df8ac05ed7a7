"""Missing values drawn from a network: Gibbs sampling, cells and probabilities in turns.

A table in which values are missing has no likelihood of a network in closed form. Given the values, it has; and given
a network, so have the missing values. So tables are completed by draws from what was learned, networks are learned
from the completed tables, and what they say is averaged (data augmentation, Tanner and Wong 1987). Every row counts
with all that is seen of it, and values that are missing because of another column that is seen do no harm.

Draws confirm the network that they are drawn from. So only edges that are more probable than not are used, and what
columns tell of each other is shrunk as far as the counts suggest (`_believed`).

Given the rest of the row, the probability of value x of column u is proportional to

    p(x | parents of u) prod over children w of p(w | parents of w, among them u = x).

A row may stand for several equal ones, whose values are drawn independently: the numbers of them that have each value
are multinomial, and the kernel then returns the probabilities. The cost is O(values (1 + children)) a row.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled
from credimi.core.special import log_gamma
from credimi.counts.rows.distinct_rows import DistinctRows
from credimi.inference.random_numbers import uniform

_MAX_COMPLETIONS = 1 << 16  # of all rows together, where rows of large weight lack many cells
_MAX_COMPLETIONS_OF_ROW = 16, 4096  # at least, and at most, so many where `_MAX_COMPLETIONS` limits them
_PRIOR_ROWS = np.array([1.0, 4.0, 16.0, 64.0, 256.0, 1024.0])  # of each combination of parents


class Imputation:
    """The missing cells of a table, completed again and again; `codes` and `weights` are the present completion.

    A row is completed as often as it occurs, each time for itself. How many of equal rows get each value is drawn at
    once, from a multinomial, and completions that are equal are one row again. So 10,000 equal rows that lack two cells
    of three values are at most nine rows here. A row that could have more different completions than `most` (see
    `_most_completions`) has at most so many, of equal weight.
    """

    def __init__(self, table: DistinctRows, values: IntegerArray, seed: int) -> None:
        self.values, self.generator = values, np.random.default_rng(seed)
        self.missing = table.codes >= values[:, np.newaxis]  # in each row of the table
        self.incomplete = np.flatnonzero(self.missing.any(axis=1)).tolist()
        units = _most_completions(table, self.missing, values)
        self.repeated = (units > 1) & self.missing.any(axis=0)
        self.codes, self.units = table.codes.copy(), units
        self.unit_weights = np.where(units < table.units, table.units / units, 1.0) * table.unit_weights
        self.row = np.arange(units.size)  # of the table: that of each completion
        self._cells: dict[int, IntegerArray] = {}
        self._most_rows = 2 * units.size
        for column in self.incomplete:
            observed = ~self.missing[column]
            weights = (table.units * table.unit_weights)[observed]
            counts = np.bincount(table.codes[column, observed], weights, int(values[column])).astype(np.float64)
            self._fill(column, counts / counts.sum())
        self._merge()

    @property
    def completed(self) -> DistinctRows:
        """The present completion."""
        return DistinctRows(self.codes, self.units, self.unit_weights)

    def sweep(self, parents: tuple[IntegerArray, ...], sweeps: int) -> None:
        """Draw all missing cells some times over, from the network of these parents."""
        columns, max_parents = self.values.size, max([1, *(each.size for each in parents)])
        table = np.full((columns, max_parents), -1, dtype=np.int64)
        strides = np.zeros((columns, max_parents), dtype=np.int64)
        sizes = np.empty(columns, dtype=np.int64)
        for column, chosen in enumerate(parents):
            table[column, : chosen.size] = chosen
            strides[column, : chosen.size] = np.concatenate([[1], np.cumprod(self.values[chosen])])[: chosen.size]
            sizes[column] = self.values[column] * np.prod(self.values[chosen])
        child, index = np.nonzero(table >= 0)
        parent = table[child, index]
        children = child[np.argsort(parent, kind="stable")].astype(np.int64)
        child_starts = np.concatenate([[0], np.cumsum(np.bincount(parent, minlength=columns))]).astype(np.int64)
        starts: IntegerArray = np.cumsum(sizes) - sizes
        state = self.generator.integers(1 << 63, size=1, dtype=np.uint64)
        for _ in range(sweeps):
            weights = self.completed.weights
            counts = [self._counts(column, chosen, weights) for column, chosen in enumerate(parents)]
            probabilities = np.concatenate([drawn_chances(each, self.generator).ravel() for each in counts])
            network = table, strides, child_starts, children, starts, probabilities, state
            for column in self.incomplete:
                rows = self._rows_without(column)
                several = rows[self.units[rows] > 1]
                chances = np.empty((several.size, int(self.values[column])))
                draw_missing(self.codes, self.values, column, rows, self.units, *network, chances)
                self._split(column, several, chances)
            self._merge()

    def _rows_without(self, column: int) -> IntegerArray:
        """The rows in which the column is missing in the data."""
        if column not in self._cells:
            self._cells[column] = np.flatnonzero(self.missing[column, self.row])
        return self._cells[column]

    def _fill(self, column: int, shares: FloatArray) -> None:
        """Draw the missing cells of a column with these probabilities of its values."""
        rows = self._rows_without(column)
        self.codes[column, rows] = self.generator.choice(shares.size, rows.size, p=shares)
        several = rows[self.units[rows] > 1]
        self._split(column, several, np.broadcast_to(shares, (several.size, shares.size)))

    def _split(self, column: int, rows: IntegerArray, chances: FloatArray) -> None:
        """Share out the units of these rows among the values of a column; units of the same value stay together."""
        if not rows.size:
            return
        counts = self.generator.multinomial(self.units[rows], chances)
        place, value = np.nonzero(counts)
        is_first = np.diff(place, prepend=-1) > 0
        self.codes[column, rows], self.units[rows] = value[is_first], counts[place[is_first], value[is_first]]
        place, value = place[~is_first], value[~is_first]
        if not place.size:
            return
        codes = self.codes[:, rows[place]]
        codes[column] = value
        self.codes = np.concatenate([self.codes, codes], axis=1)
        self.units = np.append(self.units, counts[place, value])
        self.unit_weights = np.append(self.unit_weights, self.unit_weights[rows[place]])
        self.row = np.append(self.row, self.row[rows[place]])
        self._cells.clear()
        if self.units.size > self._most_rows:
            self._merge()

    def _merge(self) -> None:
        """Put equal completions of the same row together."""
        repeated = self.repeated[self.row]
        if not repeated.any():
            return
        several = np.flatnonzero(repeated)
        several = several[np.lexsort((*self.codes[self.incomplete][:, several], self.row[several]))]
        codes, row = self.codes[:, several], self.row[several]
        is_new = np.ones(several.size, dtype=bool)
        is_new[1:] = (codes[:, 1:] != codes[:, :-1]).any(axis=0) | (row[1:] != row[:-1])
        kept = np.concatenate([np.flatnonzero(~repeated), several[is_new]])
        units = np.add.reduceat(self.units[several], np.flatnonzero(is_new))
        self.units = np.concatenate([self.units[~repeated], units])
        self.codes, self.unit_weights = np.ascontiguousarray(self.codes[:, kept]), self.unit_weights[kept]
        self.row = self.row[kept]
        self._most_rows = 2 * kept.size
        self._cells.clear()

    def _counts(self, column: int, parents: IntegerArray, weights: FloatArray) -> FloatArray:
        """The counts of a column's values for each combination of its parents, in the present table."""
        values, where, stride = int(self.values[column]), self.codes[column].astype(np.int64), int(self.values[column])
        for parent in parents.tolist():
            where += self.codes[parent].astype(np.int64) * stride
            stride *= int(self.values[parent])
        counts = np.bincount(where, weights if weights.size else None, minlength=stride).astype(np.float64)
        return counts.reshape(-1, values)


def _most_completions(table: DistinctRows, missing: NDArray[np.bool_], values: IntegerArray) -> IntegerArray:
    """How often each row is completed: as often as it occurs, unless that may make too many different rows."""
    possible = np.where(missing, values[:, np.newaxis].astype(np.float64), 1.0).prod(axis=0)
    several = int(np.count_nonzero((table.units > 1) & (possible > 1.0)))
    most = int(np.clip(_MAX_COMPLETIONS // max(several, 1), *_MAX_COMPLETIONS_OF_ROW))
    result: IntegerArray = np.where(possible > most, np.minimum(table.units, most), table.units)
    return result


def drawn_chances(counts: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Probabilities of a column's values, a row for each combination of its parents, drawn given these counts."""
    shares = counts.sum(axis=0) + 0.5
    prior = _believed(counts, shares / shares.sum()) * shares / shares.sum()
    drawn = generator.standard_gamma(counts + prior) + 1e-300
    probabilities: FloatArray = drawn / drawn.sum(axis=1, keepdims=True)
    return probabilities


def _believed(counts: FloatArray, shares: FloatArray) -> float:
    """How many prior rows, spread as the column is, explain the counts best: many where the parents tell nothing.

    With few, a column that depends on nothing would be drawn as if it depended on its parents, and then seem to.
    """
    filled = counts[counts.sum(axis=1) > 0.0]
    if counts.shape[0] < 2 or not filled.size:
        return float(_PRIOR_ROWS[0])
    prior = np.append(_PRIOR_ROWS[:, np.newaxis] * shares, _PRIOR_ROWS[:, np.newaxis], axis=1)  # of cells, and of all
    combinations = np.append(filled, filled.sum(axis=1, keepdims=True), axis=1)[np.newaxis]
    log_gammas = log_gamma(np.append(combinations + prior[:, np.newaxis], prior[:, np.newaxis], axis=1))
    rises = log_gammas[:, :-1].sum(axis=1) - len(filled) * log_gammas[:, -1]
    return float(_PRIOR_ROWS[np.argmax(rises[:, :-1].sum(axis=1) - rises[:, -1])])


@compiled
def draw_missing(
    codes: NDArray[np.uint16],
    values: IntegerArray,
    column: int,
    rows: IntegerArray,
    units: IntegerArray,
    parents: IntegerArray,
    strides: IntegerArray,
    child_starts: IntegerArray,
    children: IntegerArray,
    starts: IntegerArray,
    probabilities: FloatArray,
    state: NDArray[np.uint64],
    chances: FloatArray,
) -> None:
    """Draw new values of one column in these rows of `codes`, (columns, rows), whose other cells have values.

    `units` says how many equal rows each row stands for. Where it is more than 1 nothing is drawn: `chances` gets the
    probabilities of the values, a row for each of these rows, in their order. `parents` of a column are filled up with
    -1; `strides` are the distances between their values in the column's table. The table of a column in `probabilities`
    starts at `starts[column]`: one row of probabilities for each combination of the values of its parents.
    """
    size, several = values[column], 0
    weight = np.empty(size)
    for row in rows:
        table_row = starts[column]
        for index in range(parents.shape[1]):
            if parents[column, index] >= 0:
                table_row += np.int64(codes[parents[column, index], row]) * strides[column, index] * size
        for value in range(size):
            weight[value] = probabilities[table_row + value]
        for index in range(child_starts[column], child_starts[column + 1]):
            child, stride = children[index], np.int64(0)
            child_cell = starts[child] + np.int64(codes[child, row])
            for other in range(parents.shape[1]):
                if parents[child, other] == column:
                    stride = strides[child, other] * values[child]
                elif parents[child, other] >= 0:
                    child_cell += np.int64(codes[parents[child, other], row]) * strides[child, other] * values[child]
            for value in range(size):
                weight[value] *= probabilities[child_cell + value * stride]
        total = 0.0
        for value in range(size):
            total += weight[value]
        if units[row] > 1:
            for value in range(size):
                chances[several, value] = weight[value] / total if total > 0.0 else 1.0 / size
            several += 1
            continue
        threshold, cumulative, drawn = uniform(state) * total, 0.0, size - 1
        for value in range(size):
            cumulative += weight[value]
            if threshold < cumulative:
                drawn = value
                break
        codes[column, row] = drawn
