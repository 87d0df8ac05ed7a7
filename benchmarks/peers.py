"""The plug-in mutual information of many features with a class, by everybody who computes it; and ours.

100,000 rows x 30 features of four values, two classes, nothing missing: what all of them can read. All answers are
checked against each other, since all estimate the same quantity. Then 20 % of the features are taken away, at random
but more often in one class, and the same is asked of those who take holes: what each makes of them, beside the truth,
which is known.

    python benchmarks/peers.py                              as in docs/comparison.md; whoever is installed takes part
    python benchmarks/peers.py --rows 2000 --features 5     a quick look
"""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from timing import best_of

import credimi

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Columns = NDArray[Any]  # rows x features, whole numbers; -1 is missing

VALUES = 4
WITH_REDUNDANCY = "MRMR, with redundancy"
LONG = 5.0  # seconds, after which a run is not repeated


def tables(rows: int, features: int) -> tuple[Columns, NDArray[Any], NDArray[Any]]:
    """Features that tell about the class more and more, the class, and the true information."""
    generator = np.random.default_rng(0)
    label = generator.integers(0, 2, rows)
    columns, truth = np.empty((rows, features), dtype=np.int64), np.empty(features)
    for column in range(features):
        lean = 0.4 * column / features
        probabilities = np.array(
            [[0.25 + lean / 2, 0.25, 0.25, 0.25 - lean / 2], [0.25 - lean / 2, 0.25, 0.25, 0.25 + lean / 2]]
        )
        columns[:, column] = (generator.random(rows)[:, None] > np.cumsum(probabilities, axis=1)[label]).sum(axis=1)
        joint = probabilities / 2
        truth[column] = (joint * np.log(joint / (joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)))).sum()
    return columns, label, truth


def with_holes(columns: Columns, label: NDArray[Any]) -> Columns:
    """One value in ten is gone in class 0, three in ten in class 1: at random, given the class."""
    generator = np.random.default_rng(1)
    return np.where(generator.random(columns.shape) < np.where(label, 0.3, 0.1)[:, None], -1, columns)


def by_credimi(columns: Columns, label: NDArray[Any]) -> NDArray[Any]:
    """The plug-in estimate, as the others, through all that a ranking is; in the order of the columns."""
    names = [f"f{column}" for column in range(columns.shape[1])]
    data = dict(zip(names, columns.T, strict=True))
    options = {"missing_values": [-1], "discretize": "categories"}
    ranking = credimi.rank(data, label, prior="haldane", approximation="leading", **options)
    return np.array([ranking[name]["mi"] for name in names])


def by_credimi_in_full(columns: Columns, label: NDArray[Any]) -> NDArray[Any]:
    """What `rank` does unless told otherwise: adaptive prior, intervals, probabilities, what the holes tell."""
    names = [f"f{column}" for column in range(columns.shape[1])]
    ranking = credimi.rank(
        dict(zip(names, columns.T, strict=True)), label, missing_values=[-1], discretize="categories"
    )
    return np.array([ranking[name]["mi"] for name in names])


def by_sklearn() -> Callable[[Columns, NDArray[Any]], NDArray[Any]]:
    """scikit-learn's plug-in estimate."""
    from sklearn.feature_selection import mutual_info_classif  # noqa: PLC0415

    return lambda columns, label: mutual_info_classif(columns, label, discrete_features=True)


def by_infomeasure() -> Callable[[Columns, NDArray[Any]], NDArray[Any]]:
    """infomeasure's plug-in estimate, a feature a call."""
    import infomeasure  # noqa: PLC0415

    logging.disable(logging.WARNING)

    def run(columns: Columns, label: NDArray[Any]) -> NDArray[Any]:
        each = (infomeasure.mutual_information(column, label, approach="discrete") for column in columns.T)
        return np.array(list(each), dtype=float)

    return run


def by_feature_engine() -> Callable[[Columns, NDArray[Any]], NDArray[Any]]:
    """The relevance that feature-engine's MRMR computes on its way, with redundancy: more work than is compared."""
    import pandas as pd  # noqa: PLC0415
    from feature_engine.selection import MRMR  # noqa: PLC0415

    def run(columns: Columns, label: NDArray[Any]) -> NDArray[Any]:
        frame = pd.DataFrame(columns, columns=[f"f{column}" for column in range(columns.shape[1])])
        return np.asarray(MRMR(method="MIQ", discrete_features=True).fit(frame, pd.Series(label)).relevance_)

    return run


def by_orange() -> Callable[[Columns, NDArray[Any]], NDArray[Any]]:
    """Orange's information gain, in bits, made nats; its table is built beforehand."""
    from Orange.data import DiscreteVariable, Domain, Table  # noqa: PLC0415
    from Orange.preprocess.score import InfoGain  # noqa: PLC0415

    made: dict[int, Any] = {}

    def run(columns: Columns, label: NDArray[Any]) -> NDArray[Any]:
        if id(columns) not in made:
            texts = tuple(map(str, range(VALUES)))
            attributes = [DiscreteVariable(f"f{column}", texts) for column in range(columns.shape[1])]
            domain = Domain(attributes, DiscreteVariable("class", ("0", "1")))
            made[id(columns)] = Table.from_numpy(domain, np.where(columns < 0, np.nan, columns), label.astype(float))
        return np.asarray(InfoGain()(made[id(columns)])) * np.log(2.0)

    return run


PEERS = {  # by package: what makes the call, its name, and what it takes holes for, if it takes them
    "scikit-learn": (by_sklearn, "mutual_info_classif", ""),
    "infomeasure": (by_infomeasure, "mutual_information", "one more value"),
    "feature-engine": (by_feature_engine, WITH_REDUNDANCY, ""),
    "Orange3": (by_orange, "InfoGain", "left out, and with it the row"),
}


def main() -> None:
    """Print who took how long, and who made what of holes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the peers' own
    columns, label, truth = tables(options.rows, options.features)
    holes = with_holes(columns, label)
    runs = {"credimi": (by_credimi, 'rank, prior="haldane", approximation="leading"')}
    runs |= {"credimi ": (by_credimi_in_full, "rank, all of it: adaptive prior, intervals")}
    for package, (make, call, _) in PEERS.items():
        try:
            runs[package] = (make(), call)
        except ImportError:
            continue
    plugin, first = by_credimi(columns, label), 0.0
    print("| who | what | seconds | times credimi |\n|---|---|---:|---:|")
    for package, (run, call) in runs.items():
        began = time.perf_counter()
        estimates = run(columns, label)
        seconds = time.perf_counter() - began
        if run is not by_credimi_in_full:
            np.testing.assert_allclose(estimates, plugin, rtol=1e-6, atol=1e-9)
        if seconds < LONG:
            seconds = best_of(options.repeats, lambda run=run: run(columns, label))
        first = first or seconds
        version = importlib.metadata.version(package.strip())
        ratio = "does more" if call == WITH_REDUNDANCY else f"{seconds / first:.1f}"
        print(f"| {package.strip()} {version} | {call} | {seconds:.3f} | {ratio} |")
    print("\n| who | what is missing is | root-mean-square error, nats |\n|---|---|---:|")
    print(f"| nobody misses anything | (the plug-in estimate) | {error(plugin, truth)} |")
    print(f"| credimi | not known | {error(by_credimi_in_full(holes, label), truth)} |")
    for package, (_, _, taken_for) in PEERS.items():
        if package in runs and taken_for:
            print(f"| {package} | {taken_for} | {error(runs[package][0](holes, label), truth)} |")


def error(estimates: NDArray[Any], truth: NDArray[Any]) -> str:
    """How far from the truth, on average over the features."""
    return f"{np.sqrt(np.mean((estimates - truth) ** 2)):.5f}"


if __name__ == "__main__":
    main()
