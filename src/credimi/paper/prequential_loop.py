"""The prequential loop: choose features, predict the class, then learn the row; many orders of the rows side by side.

Rows come in a random order. For each row, a filter chooses features by the counts of all rows before it; naive Bayes
predicts the class from the chosen features that the row has; then the class is revealed and the row is counted. With
n_c rows of class c among the N before, of which n_cj have feature j, n_cjx of them its value x, the predicted class is
the c with the largest

    log (n_c + 1)/(N + r) + sum_j log (n_cjx + 1)/(n_cj + s_j)        over the chosen features j that the row has;

r classes, s_j values of feature j, known beforehand from all rows, as are the cuts of numbers. If the scores of several
classes are equal within rounding, the first class wins. A feature that was never seen is judged by the prior alone;
"haldane" adds nothing, and then I = 0 is regarded as certain.

The orders run side by side: at step t the K orders and p features make K p small tables in one flat array, and one call
of `inference.tables.many_tables.beliefs` is enough for all rules. A step costs those moments and O(K p r) for naive
Bayes; it does not depend on the number of rows counted so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.moments.moments import moments
from credimi.inference.naive_bayes import log_shares, log_value_shares
from credimi.inference.rules import decide
from credimi.inference.tables.many_tables import Beliefs, beliefs
from credimi.paper.prequential_options import ALL, IMPUTED, PrequentialOptions
from credimi.paper.rows import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.paper.rows import Rows

_PSEUDO_COUNT = 1.0  # of naive Bayes, for classes and values
_ROUNDING = 1e-9  # scores that differ by less are equal
_STEPS_PER_REPORT = 50  # of the progress


def go_through(
    rows: Rows, orders: IntegerArray, settings: PrequentialOptions, progress: Callable[[int], None] = lambda _: None
) -> tuple[BooleanArray, NDArray[np.int16]]:
    """Go through the rows in all these orders. Rules x orders x rows: right or not, number of features."""
    count, length = orders.shape
    classes, sizes = len(rows.classes), np.array([len(values) for values in rows.values], dtype=np.int64)
    widths = sizes + 1
    cells = (classes + 1) * widths
    starts = np.cumsum(np.append(0, count * cells))[:-1] + np.arange(count)[:, None] * cells  # orders x features
    flat = np.zeros(int(count * cells.sum()))
    blocks = Tables(flat, np.full(count * sizes.size, classes, dtype=np.int64), np.repeat(sizes, count))
    class_counts = np.zeros((count, classes))
    order_indices, class_indices = np.arange(count), np.arange(classes)
    columns = np.where(rows.codes == MISSING, sizes, rows.codes)  # missing values have the last column
    correct = np.zeros((len(settings.rules), count, length), dtype=bool)
    used = np.zeros((len(settings.rules), count, length), dtype=np.int16)
    for step in range(length):
        row = orders[:, step]
        column, answer = columns[row], rows.target[row]
        chosen = _chosen_features(blocks, settings, (sizes.size, count))
        usable = chosen & (column < sizes)
        cell_indices = (starts + column)[:, :, None] + class_indices * widths[:, None]  # orders x features x classes
        seen = class_counts[:, None, :] - flat[cell_indices + (sizes - column)[:, :, None]]
        evidence = log_value_shares(flat[cell_indices], seen, sizes[:, None], _PSEUDO_COUNT)
        scores = (
            log_shares(class_counts, _PSEUDO_COUNT)
            + np.matmul(usable[:, :, None, :].astype(np.float64), evidence)[:, :, 0, :]
        )
        predicted = np.argmax(scores >= scores.max(axis=2, keepdims=True) - _ROUNDING, axis=2)
        correct[:, :, step] = predicted == answer
        used[:, :, step] = chosen.sum(axis=2)
        flat[starts + column + answer[:, None] * widths] += 1.0
        class_counts[order_indices, answer] += 1.0
        if step % _STEPS_PER_REPORT == _STEPS_PER_REPORT - 1 or step == length - 1:
            progress(count * (step % _STEPS_PER_REPORT + 1))
    return correct, used


def _chosen_features(blocks: Tables, settings: PrequentialOptions, shape: tuple[int, int]) -> BooleanArray:
    """Rules x orders x features: which features each rule chooses now."""
    decided = {ALL: np.ones(blocks.rows.size, dtype=bool)}
    if IMPUTED in settings.rules and blocks.rows.size:
        estimate, unknown = _imputed(blocks, shape), np.full(blocks.rows.size, np.nan)
        decided[IMPUTED] = decide("plugin", Beliefs(estimate, estimate, unknown, unknown), settings)
    others = set(settings.rules) - {ALL, IMPUTED}
    if others and blocks.rows.size:
        posteriors = beliefs(blocks, settings, shaped=False)
        decided |= {rule: decide(rule, posteriors, settings) for rule in others}
    # Without features only ALL is decided: all rules choose nothing then.
    return np.array([decided.get(rule, decided[ALL]).reshape(shape).T for rule in settings.rules])


def _imputed(blocks: Tables, shape: tuple[int, int]) -> FloatArray:
    """I of the raw counts after missing values are replaced by the most frequent value so far, the first of equals.

    This is `mutual_info_classif(..., discrete_features=True)` of scikit-learn after its `SimpleImputer(strategy=
    "most_frequent")`, from the counts: those of the missing column move to the most frequent one.
    """
    filled = np.array(blocks.flat)
    ends = np.append(blocks.offsets, filled.size)
    for feature in range(shape[0]):
        first, last = feature * shape[1], (feature + 1) * shape[1]
        tables = filled[ends[first] : ends[last]].reshape(shape[1], blocks.rows[first] + 1, -1)
        most_frequent = tables[:, :-1, :-1].sum(axis=1).argmax(axis=1)
        order_indices = np.arange(shape[1])
        tables[order_indices, :-1, most_frequent] += tables[:, :-1, -1]
        tables[:, :, -1] = 0.0
    return moments(Tables(filled, blocks.rows, blocks.columns), 0.0, matched=False, threads=1).mean
