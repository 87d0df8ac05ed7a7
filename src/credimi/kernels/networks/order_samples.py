"""Networks of columns sampled from their posterior, by a walk over the orders of the columns.

Given an order, every column chooses its parents among those before it, and chooses for itself: the evidence of an order
is a product, one sum over sets of parents for each column (Friedman and Koller 2003). The walk takes one column out and
puts it elsewhere; only this column, and those that it jumped over and that may have it as a parent, change.

A column's sets are sorted, best first, so that a sum ends where what follows is negligible. In the first half of the
burn-in the walk is heated, and cools down: it does not stay where it started.

From each recorded order the probability of every arc is summed exactly, and one network is drawn. Its arcs that have
the same direction in all networks with the same independencies are counted: those into a common child of two columns
that are not joined, and what follows from them by Meek's rules. O(sets) a column that changes, O(arcs degree) a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray

_NEGLIGIBLE = 30.0  # e^-30 of the largest term
_LITTLE, _TINY = 1e-250, 1e-13
_HOTTEST = 1e-3
_LOCAL = 6  # positions: half of all steps go no farther
_EITHER, _ARROW = 1, 2  # marks of an edge


@inlined
def uniform(state: NDArray[np.uint64]) -> float:
    """The next number between 0 and 1 of splitmix64: the kernels of a wheel have no generator of numpy's."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return float(np.float64(mixed >> np.uint64(11))) / 9007199254740992.0


@inlined
def _log_sum(masks: IntegerArray, scores: FloatArray, plain: FloatArray, first: int, after: int, allowed: int) -> float:
    """The log evidence of a column that may choose among `allowed`; the empty set is always among its sets.

    `plain` has what the sets are worth beside the best: where that is not too little, no exponentials are needed.
    """
    top, total, least = 0.0, 0.0, 0.0
    for place in range(first, after):
        if masks[place] & ~allowed:
            continue
        if plain[place] < _LITTLE:
            break
        if total == 0.0:
            least = plain[place] * _TINY
        elif plain[place] < least:
            break
        total += plain[place]
    if total > 0.0:
        return float(scores[first] + np.log(total))
    for place in range(first, after):
        if masks[place] & ~allowed:
            continue
        if total == 0.0:
            top, total = scores[place], 1.0
        elif scores[place] < top - _NEGLIGIBLE:
            break
        else:
            total += np.exp(scores[place] - top)
    return float(top + np.log(total))


@inlined
def _allowed(candidates: IntegerArray, column: int, position: IntegerArray) -> int:
    """The candidates that are before a column, as bits."""
    found: int = np.int64(0)  # type: ignore[assignment]  # the compiler needs to know how wide it is
    for place in range(candidates.shape[1]):
        other = candidates[column, place]
        if other >= 0 and position[other] < position[column]:
            found |= np.int64(1) << place  # type: ignore[assignment]  # see above
    return found


@inlined
def _orient(
    parents: IntegerArray, counts: IntegerArray, mark: NDArray[np.int8], near: IntegerArray, starts: IntegerArray
) -> None:
    """Fill `mark` with the arcs that have one direction, and the others as EITHER; `near` has neighbours, by column."""
    columns = counts.size
    for column in range(columns):
        starts[column + 1] = counts[column]
    for column in range(columns):
        for place in range(counts[column]):
            starts[parents[column, place] + 1] += 1
    starts[0] = 0
    for column in range(columns):
        starts[column + 1] += starts[column]
    filled = np.zeros(columns, dtype=np.int64)
    for column in range(columns):
        for place in range(counts[column]):
            parent = parents[column, place]
            near[starts[column] + filled[column]] = parent
            near[starts[parent] + filled[parent]] = column
            filled[column] += 1
            filled[parent] += 1
            mark[parent, column] = mark[column, parent] = _EITHER
    for column in range(columns):
        for one in range(counts[column]):
            for other in range(one):
                a, b = parents[column, one], parents[column, other]
                if mark[a, b] == 0 and mark[b, a] == 0:
                    mark[a, column] = mark[b, column] = _ARROW
                    mark[column, a] = mark[column, b] = 0
    changed = True
    while changed:
        changed = False
        for a in range(columns):
            for place in range(starts[a], starts[a + 1]):
                b = near[place]
                if mark[a, b] != _EITHER or mark[b, a] != _EITHER:
                    continue
                forced = False
                for other in range(starts[a], starts[a + 1]):
                    c = near[other]
                    if c == b:
                        continue
                    joined = mark[c, b] != 0 or mark[b, c] != 0
                    if mark[c, a] == _ARROW and not joined:
                        forced = True  # c -> a - b
                    elif mark[a, c] == _ARROW and mark[c, b] == _ARROW:
                        forced = True  # a -> c -> b
                    elif mark[a, c] == _EITHER and mark[c, b] == _ARROW:
                        for third in range(starts[a], other):
                            d = near[third]
                            apart = mark[c, d] == 0 and mark[d, c] == 0
                            if d != b and mark[a, d] == _EITHER and mark[d, b] == _ARROW and apart:
                                forced = True  # a - c -> b, a - d -> b
                if forced:
                    mark[a, b], mark[b, a] = _ARROW, 0
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
    """Walk from `order`, which ends as the last; after `burn` steps record `every` so many, `totals.size` at most.

    `candidates` (columns, most) are possible parents, -1 where there are fewer; those who have column x as a candidate
    are `holders[holder_starts[x] : holder_starts[x + 1]]`. The sets of a column are `masks` of its candidates from
    `starts[column]` on, with their log evidence. `arcs`, laid out as the candidates, gets P(candidate -> column), and
    `forced` the share of drawn networks in which the arc has this direction for certain; `drawn` gets the parents, as
    masks, of the last network drawn.
    """
    columns = order.size
    position, current = np.empty(columns, dtype=np.int64), np.empty(columns)
    changed, proposed = np.empty(columns, dtype=np.int64), np.empty(columns)
    for place in range(columns):
        position[order[place]] = place
    plain = np.empty(scores.size)
    for column in range(columns):
        for place in range(starts[column], starts[column + 1]):
            plain[place] = np.exp(scores[place] - scores[starts[column]])
    total = 0.0
    for column in range(columns):
        allowed = _allowed(candidates, column, position)
        current[column] = _log_sum(masks, scores, plain, starts[column], starts[column + 1], allowed)
        total += current[column]
    mark = np.zeros((columns, columns), dtype=np.int8)
    most = candidates.shape[1]
    parents, counts = np.empty((columns, most), dtype=np.int64), np.empty(columns, dtype=np.int64)
    near, near_starts = np.empty(2 * columns * most, dtype=np.int64), np.empty(columns + 1, dtype=np.int64)
    records = 0
    for step in range(steps):
        here = np.int64(uniform(state) * columns)
        if uniform(state) < 0.5:
            there = here + np.int64(uniform(state) * (2 * _LOCAL + 1)) - _LOCAL
        else:
            there = np.int64(uniform(state) * columns)
        if here != there and 0 <= there < columns:  # the way back is as likely: beyond the ends means no step
            moved, way = order[here], 1 if there > here else -1
            for place in range(here, there, way):
                order[place] = order[place + way]
                position[order[place]] = place
            order[there] = moved
            position[moved] = there
            low, high, many, gain = min(here, there), max(here, there), 1, 0.0
            changed[0] = moved
            for place in range(holder_starts[moved], holder_starts[moved + 1]):
                if low <= position[holders[place]] <= high:
                    changed[many] = holders[place]
                    many += 1
            for place in range(many):
                column = changed[place]
                allowed = _allowed(candidates, column, position)
                proposed[place] = _log_sum(masks, scores, plain, starts[column], starts[column + 1], allowed)
                gain += proposed[place] - current[column]
            heat = 1.0 if 2 * step >= burn else _HOTTEST ** (1.0 - 2.0 * step / burn)
            if gain >= 0.0 or np.log(uniform(state)) < gain * heat:
                total += gain
                for place in range(many):
                    current[changed[place]] = proposed[place]
            else:
                for place in range(there, here, -way):
                    order[place] = order[place - way]
                    position[order[place]] = place
                order[here] = moved
                position[moved] = here
        if step < burn or (step - burn) % every or records == totals.size:
            continue
        totals[records] = total
        records += 1
        for column in range(columns):
            allowed, chance = _allowed(candidates, column, position), uniform(state)
            drawn[column], below, found = 0, 0.0, False
            for place in range(starts[column], starts[column + 1]):
                if masks[place] & ~allowed:
                    continue
                share = np.exp(scores[place] - current[column])
                if share < 1e-9:
                    break
                below += share
                if not found and chance < below:
                    drawn[column], found = masks[place], True
                for bit in range(most):
                    if masks[place] >> bit & 1:
                        arcs[column, bit] += share
            counts[column] = 0
            for bit in range(most):
                if drawn[column] >> bit & 1:
                    parents[column, counts[column]] = candidates[column, bit]
                    counts[column] += 1
        _orient(parents, counts, mark, near, near_starts)
        for column in range(columns):
            for bit in range(most):
                if drawn[column] >> bit & 1 and mark[candidates[column, bit], column] == _ARROW:
                    forced[column, bit] += 1.0
        for column in range(columns):
            for place in range(counts[column]):
                parent = parents[column, place]
                mark[parent, column] = mark[column, parent] = 0
    for column in range(columns):
        for bit in range(most):
            arcs[column, bit] /= max(records, 1)
            forced[column, bit] /= max(records, 1)
