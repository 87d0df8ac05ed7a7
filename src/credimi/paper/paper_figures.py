"""The paper's figure, for each data set: accuracy of F and FF against the number of rows, and where they differ.

There is a column for each setting. The upper part shows only the first order of the rows, as in the paper: the accuracy
on the first k rows, white where the paired t test is significant and grey elsewhere, as in the paper; on hypothyroid
dashed lines mark the range that the paper reports. The middle part shows in which share of all orders the test is
significant, at each k, and the lower one the threshold that adapts, epsilon + 2 sd, by which the paper explains FF.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.atomic_files import replacing
from credimi.paper import significance
from credimi.results.figures import require_matplotlib

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from credimi.paper.prequential import Prequential

CLAIMED = ("hypothyroid", 71, 374)  # the paper: FF significantly above F on the first k rows, for these k
_FORWARD, _PLUGIN, _GREY = "#1f5fa8", "#c4560f", "#eceef1"


def draw(name: str, runs: Sequence[Prequential], folder: Path) -> list[Path]:
    """Write NAME.png and NAME.svg into the folder, with a column for each run; the same bytes for the same runs."""
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    written = []
    with mpl.rc_context({"svg.hashsalt": "credimi", "svg.fonttype": "none", "font.size": 9.0}):
        figure = Figure(figsize=(5.2 * len(runs), 6.2), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(3, len(runs), sharex=True, sharey="row", height_ratios=(3, 1, 1), squeeze=False)
        for place, (run, (above, middle, below)) in enumerate(zip(runs, panels.T, strict=True)):
            _one_order(above, run)
            if name == CLAIMED[0]:
                _mark_claim(above)
            _all_orders(middle, run)
            _threshold(below, run)
            above.set_title(f"prior {run.settings.prior}, approximation {run.settings.approximation}", fontsize=9.0)
            if place == 0:
                above.set_ylabel("accuracy on the first k rows,\nfirst order")
                middle.set_ylabel(f"share of {run.orders.shape[0]} orders,\nsignificant")
                below.set_ylabel("threshold, nats")
        figure.suptitle(
            f"{name}: naive Bayes behind the filters F and FF (grey: no significant difference, paired t test, 0.05)",
            fontsize=10.0,
        )
        for kind in ("png", "svg"):
            path = folder / f"{name}.{kind}"
            with replacing(path) as temporary:
                metadata = {"Date": None} if kind == "svg" else {"Software": None}
                figure.savefig(temporary, format=kind, dpi=130, metadata=metadata)
            written.append(path)
    return written


def _one_order(axes: Axes, run: Prequential) -> None:
    forward, plugin = run.running_accuracy("forward")[0], run.running_accuracy("plugin")[0]
    _, significant = significance.of_first_rows(run.of("forward")[:1], run.of("plugin")[:1])
    rows = np.arange(1, forward.size + 1)
    shown = slice(min(10, forward.size - 1), None)  # accuracies of fewer rows jump between 0 and 1
    grey = (~significant[0]).tolist()
    axes.fill_between(rows, 0.0, 1.0, where=grey, transform=axes.get_xaxis_transform(), color=_GREY, linewidth=0.0)
    axes.plot(rows[shown], plugin[shown], color=_PLUGIN, linewidth=1.3, label="F")
    axes.plot(rows[shown], forward[shown], color=_FORWARD, linewidth=1.3, label="FF")
    axes.legend(loc="lower right", frameon=False)
    axes.grid(visible=True, linewidth=0.3)


def _mark_claim(axes: Axes) -> None:
    for row in CLAIMED[1:]:
        axes.axvline(row, color="black", linewidth=0.7, linestyle="--")
    axes.annotate(
        f"the paper: {CLAIMED[1]} to {CLAIMED[2]}", (CLAIMED[2], 0.5), xycoords=("data", "axes fraction"),
        xytext=(4, 0), textcoords="offset points", fontsize="small",
    )  # fmt: skip


def _threshold(axes: Axes, run: Prequential) -> None:
    axes.plot(*run.adapting_threshold(), color=_FORWARD, linewidth=1.1, label="FF: epsilon + 2 sd, median feature")
    axes.axhline(run.settings.nats, color=_PLUGIN, linewidth=1.1, label="F: epsilon")
    axes.set_yscale("log")
    axes.margins(y=0.4)  # room for the legend
    axes.set_xlabel("rows k")
    axes.legend(loc="upper right", frameon=False, ncols=2, fontsize="small")


def _all_orders(axes: Axes, run: Prequential) -> None:
    one, other = run.of("forward"), run.of("plugin")
    _, significant = significance.of_first_rows(one, other)
    lead = np.cumsum(one.astype(np.int64) - other.astype(np.int64), axis=1)
    rows = np.arange(1, one.shape[1] + 1)
    for sign, colour, word in ((1, _FORWARD, "FF above F"), (-1, _PLUGIN, "F above FF")):
        share = (significant & (np.sign(lead) == sign)).mean(axis=0)
        axes.plot(rows, share, color=colour, linewidth=1.1, label=word)
    axes.axhline(0.025, color="black", linewidth=0.5, linestyle=":")  # expected by chance on either side
    axes.set_ylim(0.0, 1.0)
    axes.legend(loc="upper right", frameon=False)
