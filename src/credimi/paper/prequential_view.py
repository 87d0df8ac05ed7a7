"""How a prequential run is shown: a table, and the accuracy of each filter as a figure, by rows or by columns kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.results.figures import drawn, new_axes, short_name
from credimi.results.palette import GREY, LINES
from credimi.results.section import Column, Section
from credimi.results.sentences import counted, why_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

    from credimi.core.types import Foreign, Record
    from credimi.paper.prequential import Prequential
    from credimi.results.section import Shown


def sections(run: Prequential, shown: Shown) -> Iterator[Section]:
    """A line for each rule."""
    rows, settings = run.rows, run.settings
    orders = counted(run.orders.shape[0], "order" if run.seed is None else "random order")
    title = f"Naive Bayes on {run.target}, {counted(len(rows), 'row')} in {orders}, "
    columns = (
        Column("rule", lambda row: str(row["rule"]), right=False, kind="name"),
        Column("accuracy", lambda row: f"{row['accuracy_mean']:.4f}"),
        Column("sd", lambda row: _deviation(row["accuracy_sd"], 4)),
        Column("features", lambda row: f"{row['features_mean']:.2f}"),
        Column("sd", lambda row: _deviation(row["features_sd"], 2)),
    )
    with_method = "" if settings.method is None else f"method {settings.method}: "
    asked = f"prior {settings.prior}, approximation {settings.approximation}, epsilon {settings.nats:g}"
    seed = "" if run.seed is None else f", seed {run.seed}"
    means = "accuracy and features kept: means over the rows, then mean and sd over the orders"
    lines = [f"{means}; {with_method}{asked}, level {settings.level:g}{seed}"]
    if rows.without_target:
        are = "is" if rows.without_target == 1 else "are"
        lines.append(f"{counted(rows.without_target, 'row')} without the target {are} left out")
    lines += [f"{name}: left out: {why_left_out(facts, shown.reader)}" for name, facts in rows.left_out.items()]
    yield Section(title + counted(len(rows.features), "feature"), columns, run.summary(), lines)


def _deviation(value: float, digits: int) -> str:
    """The standard deviation over orders, of which a single order has none."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def plot_prequential(result: Foreign, path: str | Path | Axes | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the result of `credimi.prequential`, the accuracy of each filter, with matplotlib.

    Parameters
    ----------
    result : Prequential, dict, list of dicts or data frame
        The result of `credimi.prequential`: it is drawn as one curve per filter, the accuracy on the first k rows, mean
        over the orders; with the rule "forward" also epsilon + 2 sd of I, the threshold with which F would keep about
        what FF keeps (`adapting_threshold`). Or only its summary, as `credimi prequential --format json` writes it or a
        data frame holds it.
        A summary has no single rows: it is drawn as one point per filter, accuracy against features kept, with the
        standard deviations over the orders.
    path : path, optional
        A .png, .svg or .pdf file to write; or matplotlib axes, as `ax`.
    ax : matplotlib axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    matplotlib axes
        You can change them.

    Examples
    --------
    >>> columns = {"tells": ["a", "b"] * 30, "class": ["p", "q"] * 30}
    >>> axes = credimi.plot_prequential(credimi.prequential(columns, "class", orders=2))
    >>> axes.get_ylabel()
    'accuracy on the first k rows'
    """
    return drawn(lambda given: _draw(result, new_axes(given, (6.4, 3.6))), path, ax)


def _draw(result: Foreign, axes: Axes) -> Axes:
    if hasattr(result, "running_accuracy"):
        _draw_curves(result, axes)
    else:
        _draw_points(_summary(result), axes)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, linewidth=0.3)
    axes.legend(frameon=False)
    return axes


def _draw_curves(run: Prequential, axes: Axes) -> None:
    for index, rule in enumerate(run.rules):
        accuracy = run.running_accuracy(rule).mean(axis=0)
        rows = np.arange(1, accuracy.size + 1)
        shown = slice(min(10, accuracy.size - 1), None)  # accuracies of fewer rows jump between 0 and 1
        colour, style = LINES[index % len(LINES)], ("-", "--", "-.", ":")[index % 4]
        axes.plot(rows[shown], accuracy[shown], color=colour, linestyle=style, linewidth=1.4, label=rule)
    axes.set_xlabel("rows k")
    axes.set_ylabel("accuracy on the first k rows")
    if "forward" in run.rules:
        _draw_threshold(run, axes)


def _draw_threshold(run: Prequential, axes: Axes) -> None:
    """The threshold that makes FF of F: it adapts to the number of rows."""
    beside = axes.twinx()
    beside.plot(*run.adapting_threshold(), color=GREY, linestyle=":", linewidth=1.2)
    beside.set_yscale("log")
    beside.set_ylabel("dotted: epsilon + 2 sd,\nmedian feature, nats", color=GREY)
    beside.spines[["top", "left"]].set_visible(False)


def _draw_points(rows: list[Record], axes: Axes) -> None:
    for index, row in enumerate(rows):
        axes.errorbar(
            row["features_mean"],
            row["accuracy_mean"],
            xerr=row["features_sd"],
            yerr=row["accuracy_sd"],
            color=LINES[index % len(LINES)],
            fmt="os^Dv"[index % 5],
            label=short_name(str(row["rule"])),
        )
    axes.set_xlabel("features kept")
    axes.set_ylabel("accuracy")


def _summary(result: Foreign) -> list[Record]:
    """One dictionary per filter."""
    if hasattr(result, "__arrow_c_stream__"):
        import pyarrow as pa  # noqa: PLC0415  (pyarrow takes a while to load)

        result = pa.table(result).to_pylist()
    rows = result.get("results") if isinstance(result, dict) else result
    needed = {"rule", "accuracy_mean", "accuracy_sd", "features_mean", "features_sd"}
    if not isinstance(rows, list) or not all(isinstance(row, dict) and needed <= set(row) for row in rows):
        raise CredimiError(
            f"a {type(result).__name__} is no result of prequential: pass the result of `credimi.prequential`, its "
            f"summary(), or the output of `credimi prequential --format json`, which have {', '.join(sorted(needed))}"
        )
    return rows
