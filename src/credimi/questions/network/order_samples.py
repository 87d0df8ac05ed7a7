"""Networks of columns sampled from their posterior, by a random walk over the orders of the columns.

Given an order, each column chooses its parents among those before it, independently of the others. So the evidence of
an order is a product, with one sum over sets of parents for each column (Friedman and Koller 2003). A step of the walk
moves one column to another position. Only its own sum changes, and the sums of columns that it passed and that may
have it as a parent.

The sets of a column are sorted, best first, so that a sum ends where the remaining terms are negligible. In the first
half of the burn-in the walk has a high temperature that falls, so that it does not stay near its start.

For each recorded order the probability of every arc is summed exactly, and one network is drawn. The arcs that have the
same direction in all networks with the same independencies are counted: those into a common child of two columns that
are not joined, and those that follow from them by Meek's rules. The cost is O(sets) a column that changes, and
O(arcs degree) a record.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled, inlined
from credimi.inference.random_numbers import uniform

_NEGLIGIBLE = 30.0  # terms below e^-30 of the largest are left out
_MIN_RELATIVE, _RELATIVE_TOLERANCE = 1e-250, 1e-13
_MIN_INVERSE_TEMPERATURE = 1e-3
_MAX_LOCAL_MOVE = 6  # positions; half of all steps go no farther
_UNDIRECTED, _DIRECTED = 1, 2  # marks of an edge


@inlined
def _log_sum(
    masks: IntegerArray, scores: FloatArray, relative: FloatArray, first: int, after: int, allowed: int
) -> float:
    """The log evidence of a column whose parents must be among `allowed`; the empty set is always one of its sets.

    `relative` is the evidence of the sets relative to the best. Unless it is too small, no exponentials are needed.
    """
    top, total, least = 0.0, 0.0, 0.0
    for index in range(first, after):
        if masks[index] & ~allowed:
            continue
        if relative[index] < _MIN_RELATIVE:
            break
        if total == 0.0:
            least = relative[index] * _RELATIVE_TOLERANCE
        elif relative[index] < least:
            break
        total += relative[index]
    if total > 0.0:
        return float(scores[first] + np.log(total))
    for index in range(first, after):
        if masks[index] & ~allowed:
            continue
        if total == 0.0:
            top, total = scores[index], 1.0
        elif scores[index] < top - _NEGLIGIBLE:
            break
        else:
            total += np.exp(scores[index] - top)
    return float(top + np.log(total))


@inlined
def _allowed(candidates: IntegerArray, column: int, position: IntegerArray) -> int:
    """The candidates that are before a column in the order, as bits."""
    allowed: int = np.int64(0)  # type: ignore[assignment]  # the compiler needs its width
    for bit in range(candidates.shape[1]):
        other = candidates[column, bit]
        if other >= 0 and position[other] < position[column]:
            allowed |= np.int64(1) << bit  # type: ignore[assignment]  # see above
    return allowed


@inlined
def _orient(
    parents: IntegerArray, counts: IntegerArray, mark: NDArray[np.int8], neighbours: IntegerArray, starts: IntegerArray
) -> None:
    """Fill `mark` with the arcs: directed if the direction is certain, else undirected.

    `neighbours` (of each column, from `starts[column]` on) and `starts` are scratch.
    """
    columns = counts.size
    for column in range(columns):
        starts[column + 1] = counts[column]
    for column in range(columns):
        for index in range(counts[column]):
            starts[parents[column, index] + 1] += 1
    starts[0] = 0
    for column in range(columns):
        starts[column + 1] += starts[column]
    filled = np.zeros(columns, dtype=np.int64)
    for column in range(columns):
        for index in range(counts[column]):
            parent = parents[column, index]
            neighbours[starts[column] + filled[column]] = parent
            neighbours[starts[parent] + filled[parent]] = column
            filled[column] += 1
            filled[parent] += 1
            mark[parent, column] = mark[column, parent] = _UNDIRECTED
    for column in range(columns):
        for one in range(counts[column]):
            for other in range(one):
                a, b = parents[column, one], parents[column, other]
                if mark[a, b] == 0 and mark[b, a] == 0:
                    mark[a, column] = mark[b, column] = _DIRECTED
                    mark[column, a] = mark[column, b] = 0
    changed = True
    while changed:
        changed = False
        for a in range(columns):
            for index in range(starts[a], starts[a + 1]):
                b = neighbours[index]
                if mark[a, b] != _UNDIRECTED or mark[b, a] != _UNDIRECTED:
                    continue
                forced = False
                for other in range(starts[a], starts[a + 1]):
                    c = neighbours[other]
                    if c == b:
                        continue
                    joined = mark[c, b] != 0 or mark[b, c] != 0
                    if mark[c, a] == _DIRECTED and not joined:
                        forced = True  # c -> a - b
                    elif mark[a, c] == _DIRECTED and mark[c, b] == _DIRECTED:
                        forced = True  # a -> c -> b
                    elif mark[a, c] == _UNDIRECTED and mark[c, b] == _DIRECTED:
                        for third in range(starts[a], other):
                            d = neighbours[third]
                            apart = mark[c, d] == 0 and mark[d, c] == 0
                            if d != b and mark[a, d] == _UNDIRECTED and mark[d, b] == _DIRECTED and apart:
                                forced = True  # a - c -> b, a - d -> b
                if forced:
                    mark[a, b], mark[b, a] = _DIRECTED, 0
                    changed = True


@compiled
def sample_orders(
    candidates: IntegerArray,
    holder_starts: IntegerArray,
    holders: IntegerArray,
    starts: IntegerArray,
    masks: IntegerArray,
    scores: FloatArray,
    order: IntegerArray,
    steps: int,
    burn: int,
    every: int,
    state: NDArray[np.uint64],
    arcs: FloatArray,
    forced: FloatArray,
    totals: FloatArray,
    drawn: IntegerArray,
) -> None:
    """Walk from `order`, which is overwritten; after `burn` steps record one step of `every`, at most `totals.size`.

    `candidates` (columns, maximum number) are the possible parents, filled up with -1. The columns that have x as a
    candidate are `holders[holder_starts[x] : holder_starts[x + 1]]`. The sets of a column are `masks` of its candidates
    from `starts[column]` on; `scores` are their log evidence. Results: `arcs`, laid out like the candidates, receives
    P(candidate -> column), `forced` the share of drawn networks in which this direction of the arc is certain,
    `totals` the log evidence of each record, and `drawn` the parents in the last network drawn, as masks.
    """
    columns = order.size
    position, current = np.empty(columns, dtype=np.int64), np.empty(columns)
    changed, proposed = np.empty(columns, dtype=np.int64), np.empty(columns)
    for index in range(columns):
        position[order[index]] = index
    relative = np.empty(scores.size)
    for column in range(columns):
        for index in range(starts[column], starts[column + 1]):
            relative[index] = np.exp(scores[index] - scores[starts[column]])
    total = 0.0
    for column in range(columns):
        allowed = _allowed(candidates, column, position)
        current[column] = _log_sum(masks, scores, relative, starts[column], starts[column + 1], allowed)
        total += current[column]
    mark = np.zeros((columns, columns), dtype=np.int8)
    max_candidates = candidates.shape[1]
    parents, counts = np.empty((columns, max_candidates), dtype=np.int64), np.empty(columns, dtype=np.int64)
    neighbours, neighbour_starts = (
        np.empty(2 * columns * max_candidates, dtype=np.int64),
        np.empty(columns + 1, dtype=np.int64),
    )
    records = 0
    for step in range(steps):
        from_position = np.int64(uniform(state) * columns)
        if uniform(state) < 0.5:
            to_position = from_position + np.int64(uniform(state) * (2 * _MAX_LOCAL_MOVE + 1)) - _MAX_LOCAL_MOVE
        else:
            to_position = np.int64(uniform(state) * columns)
        # A step beyond the ends is not made, so that a step and its reverse are equally likely to be proposed.
        if from_position != to_position and 0 <= to_position < columns:
            moved, direction = order[from_position], 1 if to_position > from_position else -1
            for index in range(from_position, to_position, direction):
                order[index] = order[index + direction]
                position[order[index]] = index
            order[to_position] = moved
            position[moved] = to_position
            low, high, changed_count, gain = min(from_position, to_position), max(from_position, to_position), 1, 0.0
            changed[0] = moved
            for index in range(holder_starts[moved], holder_starts[moved + 1]):
                if low <= position[holders[index]] <= high:
                    changed[changed_count] = holders[index]
                    changed_count += 1
            for index in range(changed_count):
                column = changed[index]
                allowed = _allowed(candidates, column, position)
                proposed[index] = _log_sum(masks, scores, relative, starts[column], starts[column + 1], allowed)
                gain += proposed[index] - current[column]
            inverse_temperature = 1.0 if 2 * step >= burn else _MIN_INVERSE_TEMPERATURE ** (1.0 - 2.0 * step / burn)
            if gain >= 0.0 or np.log(uniform(state)) < gain * inverse_temperature:
                total += gain
                for index in range(changed_count):
                    current[changed[index]] = proposed[index]
            else:
                for index in range(to_position, from_position, -direction):
                    order[index] = order[index - direction]
                    position[order[index]] = index
                order[from_position] = moved
                position[moved] = from_position
        if step < burn or (step - burn) % every or records == totals.size:
            continue
        totals[records] = total
        records += 1
        for column in range(columns):
            allowed, draw = _allowed(candidates, column, position), uniform(state)
            drawn[column], cumulative, is_drawn = 0, 0.0, False
            for index in range(starts[column], starts[column + 1]):
                if masks[index] & ~allowed:
                    continue
                share = np.exp(scores[index] - current[column])
                if share < 1e-9:
                    break
                cumulative += share
                if not is_drawn and draw < cumulative:
                    drawn[column], is_drawn = masks[index], True
                for bit in range(max_candidates):
                    if masks[index] >> bit & 1:
                        arcs[column, bit] += share
            counts[column] = 0
            for bit in range(max_candidates):
                if drawn[column] >> bit & 1:
                    parents[column, counts[column]] = candidates[column, bit]
                    counts[column] += 1
        _orient(parents, counts, mark, neighbours, neighbour_starts)
        for column in range(columns):
            for bit in range(max_candidates):
                if drawn[column] >> bit & 1 and mark[candidates[column, bit], column] == _DIRECTED:
                    forced[column, bit] += 1.0
        for column in range(columns):
            for index in range(counts[column]):
                parent = parents[column, index]
                mark[parent, column] = mark[column, parent] = 0
    for column in range(columns):
        for bit in range(max_candidates):
            arcs[column, bit] /= max(records, 1)
            forced[column, bit] /= max(records, 1)
