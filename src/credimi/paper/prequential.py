"""`prequential`: filters and naive Bayes on a stream of rows; each row is first predicted, then learned.

`prequential_loop` has the formulas, and goes through several orders of the rows side by side. Here blocks of orders are
shared among threads. An order's result does not depend on its block, so finished blocks can be stored in files
(`checkpoints`), and a killed run can continue.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from credimi.core.arguments import require_whole
from credimi.core.defaults import PAPER_EPSILON
from credimi.core.errors import CredimiError
from credimi.core.keywords import question
from credimi.core.public import stored
from credimi.core.special import entropy
from credimi.core.tables import Tables
from credimi.core.threads import cores, share
from credimi.counts.reading import Reading
from credimi.inference.belief import Belief
from credimi.inference.rules import AS_IN_THE_PAPER
from credimi.inference.tables.many_tables import summarize
from credimi.paper import checkpoints, prequential_view
from credimi.paper.prequential_loop import go_through
from credimi.paper.prequential_options import PrequentialOptions
from credimi.paper.rows import MISSING, Rows, rows_of
from credimi.results.result import Result
from credimi.results.section import NATS
from credimi.results.sentences import PYTHON, why_left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import ModuleType

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from credimi.core.types import BooleanArray, Data, FloatArray, IntegerArray, Record, Value, Values
    from credimi.paper.rows import Codes

    Progress = Callable[[float], None]

_THRESHOLDS = 40  # numbers of rows for which the threshold is drawn
_ORDERS_AT_ONCE = 10  # enough to make numpy's overhead small, few enough that a killed run loses little


@stored
@dataclass(frozen=True, eq=False, repr=False)
class Prequential(Result):
    """The result of each row: `correct` and `used` are rules x orders x rows, with the rows as in each order.

    As a table it has one row per rule, those of `summary`: `run["forward"]["accuracy_mean"]`.
    """

    _view: ClassVar[ModuleType] = prequential_view
    _key: ClassVar[tuple[str, ...]] = ("rule",)
    _called: ClassVar[str] = "prequential run"
    rows_in_json: ClassVar[str] = "results"
    remarks: ClassVar = ()  # type: ignore[misc]  # nothing misleads here
    rows: Rows
    settings: PrequentialOptions  # type: ignore[assignment]  # a record: what an order's result depends on
    orders: IntegerArray
    correct: BooleanArray
    used: NDArray[np.int16]
    seed: int | None = None  # of the orders, if they were drawn

    @property
    def rules(self) -> tuple[str, ...]:
        """The filters, in the order of the results' first axis."""
        return self.settings.rules

    @property
    def accuracy(self) -> FloatArray:
        """The share of rows whose class was predicted correctly, rules x orders."""
        return np.asarray(self.correct.mean(axis=2))

    @property
    def features(self) -> FloatArray:
        """How many features were used, on average over the rows, rules x orders."""
        return np.asarray(self.used.mean(axis=2))

    def running_accuracy(self, rule: str) -> FloatArray:
        """Orders x rows: the accuracy on the first k rows, each k from 1."""
        correct = self.correct[self._rule_index(rule)]
        return np.asarray(np.cumsum(correct, axis=1) / np.arange(1, correct.shape[1] + 1))

    def of(self, rule: str) -> BooleanArray:
        """Orders x rows: whether the class was predicted correctly."""
        return np.asarray(self.correct[self._rule_index(rule)])

    def adapting_threshold(self, order: int = 0) -> tuple[IntegerArray, FloatArray]:
        """Numbers of rows k, and there epsilon + 2 sd of I, the median over the features; of one order of the rows.

        This is what the paper calls a self-adapting threshold: at the level .977, FF with a Gaussian keeps what F would
        keep with it. It falls to epsilon as sd vanishes. Features that are not seen yet have none.
        """
        lengths = np.unique(np.geomspace(min(10, len(self.rows)), len(self.rows), _THRESHOLDS).astype(np.int64))
        blocks, at = [], []
        for place, length in enumerate(lengths):
            first_rows = self.orders[order, :length]
            for codes, values in zip(self.rows.codes[first_rows].T, self.rows.values, strict=True):
                block = _table(self.rows.target[first_rows], codes, (len(self.rows.classes), len(values)))
                if block[:-1, :-1].any():
                    blocks.append(block)
                    at.append(place)
        std = summarize(Tables.of(blocks), self.settings, if_dependent=False).std
        medians = [
            np.median(own) if (own := std[np.array(at) == place]).size else np.nan for place in range(lengths.size)
        ]
        return lengths, self.settings.nats + 2.0 * np.array(medians)

    @property
    def target(self) -> str:
        """The target's name."""
        return self.rows.target_name

    @cached_property
    def columns(self) -> dict[str, list[Value]]:  # type: ignore[override]  # made of the summary
        """The figures of `summary`, one list for each."""
        rows = self.summary()
        return {name: [row[name] for row in rows] for name in rows[0]}

    def summary(self) -> list[Record]:
        """One row per rule: means and standard deviations over the orders, NaN for a single order."""
        return [
            {
                "rule": rule,
                "orders": self.orders.shape[0],
                "accuracy_mean": float(accuracy.mean()),
                "accuracy_sd": _deviation(accuracy),
                "features_mean": float(features.mean()),
                "features_sd": _deviation(features),
            }
            for rule, accuracy, features in zip(self.rules, self.accuracy, self.features, strict=True)
        ]

    def to_dict(self, *, reader: str = PYTHON, units: str = NATS) -> Record:  # noqa: ARG002  (nothing is in nats)
        """The content of `credimi prequential --format json`; reasons are worded for this reader."""
        return {
            "settings": self.settings.to_dict() | {"target": self.target, "seed": self.seed},
            "rows": len(self.rows),
            "rows_without_target": self.rows.without_target,
            "classes": list(self.rows.classes),
            "features": list(self.rows.features),
            "left_out": {name: why_left_out(facts, reader) for name, facts in self.rows.left_out.items()},
            "results": self._plain_rows(),
        }

    def plot(self, path: str | Path | Axes | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the accuracy of each filter on the first k rows, with matplotlib; see `credimi.plot_prequential`."""
        return prequential_view.plot_prequential(self, path, ax=ax)

    def _place_of(self, name: object) -> int | None:
        return super()._place_of(AS_IN_THE_PAPER.get(name, name) if isinstance(name, str) else name)

    def _rule_index(self, rule: str) -> int:
        rule = AS_IN_THE_PAPER.get(rule, rule)
        if rule not in self.rules:
            raise CredimiError(f"the rule {rule!r} was not run: there are {', '.join(self.rules)}")
        return self.rules.index(rule)


@question(
    reading=Reading.only(
        "features", "exclude", "missing_values", "discretize", "target_cuts", "delimiter", "progress", discretize="mdl"
    ),
    belief=Belief.only("prior", "approximation", "method", "level", "random_state", "threads", epsilon=PAPER_EPSILON),
)
def prequential(
    data: Data | Rows,
    target: Values = None,
    *,
    rules: Sequence[str] = ("plugin", "forward", "backward"),
    orders: int | ArrayLike = 10,
    keep: str | Path | None = None,
    reading: Reading,
    belief: Belief,
) -> Prequential:
    """Accuracy of naive Bayes and number of features, row by row, with each filter.

    Numbers are cut once, from all rows: "mdl" looks at the classes that are to be predicted, "quantile" does not.
    Columns in which "mdl" finds no cut are left out (`run.rows.left_out` names them), unlike in `rank`, which takes
    quarters then. The approximation "sampled" would take days. `method="paper"` makes this the paper's experiment.
    Order k depends only on the seed and on k.

    Parameters
    ----------
    data
        What `credimi.count` accepts: paths, data frames, arrays.
    target : str or array
        The name of the target's column, or its values beside the data. Rows without it are left out.
    rules : some of "plugin", "forward", "backward", "all", "imputed"
        The filters: "plugin" (or "F"), "forward" ("FF"), "backward" ("BF"), "all" (no filter), "imputed" (common
        practice: missing values are replaced by the most frequent one, then the estimate decides).
    orders : int or array
        The number of random orders of the rows; or the orders themselves, one permutation of the row numbers per line.
    keep : path, optional
        A folder for the results of finished orders, so that a killed run can continue.

    Returns
    -------
    Prequential
        The result of each row, by rule and order.

    Examples
    --------
    >>> columns = {"tells": ["a", "b"] * 30, "class": ["p", "q"] * 30}
    >>> run = credimi.prequential(columns, "class", rules=["forward", "all"], orders=2)
    >>> [row["rule"] for row in run.summary()]
    ['forward', 'all']
    """
    settings = PrequentialOptions(
        rules=tuple([rules] if isinstance(rules, str) else rules),
        prior=belief.prior,
        approximation=belief.approximation,
        method=belief.method,
        epsilon=belief.epsilon,
        level=belief.level,
    )
    threads, progress = belief.threads, None if reading.progress is None else reading.step("running")
    folder = None if keep is None else checkpoints.folder(keep)
    rows = data if isinstance(data, Rows) else _read(data, target, reading)
    if len(rows) == 0:
        raise CredimiError("no row has a target: nothing can be learned")
    if len(rows.classes) < 2:
        raise CredimiError(f"the target has one class only, {rows.classes[0]!r}: there is nothing to predict")
    settings = settings.settled(entropy(np.bincount(rows.target)))
    seed = None
    if isinstance(orders, int | np.integer):
        require_whole("orders", orders, 1)
        require_whole("random_state", belief.random_state, 0)
        seed = int(belief.random_state)
        orders_of_rows = shuffled(len(rows), range(int(orders)), seed)
    else:
        orders_of_rows = _checked_orders(orders, len(rows))
    correct, used = _run(rows, orders_of_rows, settings, keep=folder, threads=threads, progress=progress)
    return Prequential(rows, settings, orders_of_rows, correct, used, seed)


def shuffled(rows: int, orders: Sequence[int], seed: int, name: str = "") -> IntegerArray:
    """Random orders: each depends only on the seed, the data's name and its own number."""
    name_seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    permutations = [np.random.default_rng([seed, name_seed, order]).permutation(rows) for order in orders]
    return np.array(permutations, dtype=np.int64).reshape(len(orders), rows)


def _read(data: Data, target: Values, reading: Reading) -> Rows:
    if target is None:
        raise CredimiError('name the target: prequential(data, "column"), or pass its values')
    if reading.target_cuts is None:  # each number is a class, as in the paper
        reading = replace(reading, target_as="categories")
    return rows_of(data, target, reading)


def _checked_orders(orders: ArrayLike, rows: int) -> IntegerArray:
    permutations = np.atleast_2d(np.asarray(orders))
    if (
        permutations.dtype.kind not in "iu"
        or permutations.shape[1] != rows
        or np.any(np.sort(permutations, axis=1) != np.arange(rows))
    ):
        raise CredimiError(f"orders must be a number, or permutations of the {rows:,} row numbers from 0, one per line")
    return permutations.astype(np.int64)


def _run(
    rows: Rows,
    orders: IntegerArray,
    settings: PrequentialOptions,
    *,
    keep: Path | None,
    threads: int | None,
    progress: Progress | None,
) -> tuple[BooleanArray, NDArray[np.int16]]:
    """Go through all orders, in blocks that are shared among threads; finished blocks are stored in `keep`."""
    count = orders.shape[0]
    shape = (len(settings.rules), *orders.shape)
    correct, used = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=np.int16)
    orders_per_block = max(1, min(_ORDERS_AT_ONCE, -(-count // cores(threads))))
    parts = [slice(start, min(start + orders_per_block, count)) for start in range(0, count, orders_per_block)]
    steps_done, lock = [0], Lock()
    failed: list[BaseException] = []

    def report(steps: int) -> None:
        if failed:  # on another thread, perhaps by Ctrl-C: a block may take minutes, and its rest is not needed
            raise failed[0]
        with lock:
            steps_done[0] += steps
            if progress is not None:
                progress(steps_done[0] / max(orders.size, 1))

    def work(part: slice) -> None:
        try:
            run_block(part)
        except BaseException as error:
            failed.append(error)
            raise

    def run_block(part: slice) -> None:
        block_orders = orders[part]
        path = None if keep is None else keep / f"{checkpoints.key(rows, block_orders, settings)}.npz"
        results = None if path is None else checkpoints.load(path, (shape[0], *block_orders.shape))
        if results is None:
            results = go_through(rows, block_orders, settings, report)
            if path is not None:
                checkpoints.save(path, *results)
        else:
            report(block_orders.size)
        correct[:, part], used[:, part] = results

    share(work, parts, threads)
    return correct, used


def _table(target: Codes, codes: Codes, shape: tuple[int, int]) -> FloatArray:
    """The block of a feature: the counts of its codes by class, those of missing values last."""
    columns = np.where(codes == MISSING, shape[1], codes)
    block = np.zeros((shape[0] + 1, shape[1] + 1))
    np.add.at(block, (target, columns), 1.0)
    return block


def _deviation(values: FloatArray) -> float:
    """The standard deviation over orders; a single order has none."""
    return float(values.std(ddof=1)) if values.size > 1 else math.nan
