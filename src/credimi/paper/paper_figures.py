"""The paper's figure, for each data set: accuracy of F and FF against the number of rows, and where they differ.

The upper part shows only the first order of the rows, as in the paper: the accuracy on the first k rows, with a band
where the paired t test is significant. The lower part shows in which share of all orders it is significant, at each k.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.atomic_files import replacing
from credimi.core.errors import CredimiError
from credimi.paper import significance

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from credimi.paper.prequential import Prequential

_FORWARD, _PLUGIN, _BAND = "#1f5fa8", "#c4560f", "#9aa5b1"


def draw(name: str, run: Prequential, folder: Path) -> list[Path]:
    """Write NAME.png and NAME.svg into the folder; the same bytes for the same run."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise CredimiError("matplotlib is not installed: pip install 'credimi[reproduce]'") from None
    written = []
    with mpl.rc_context({"svg.hashsalt": "credimi", "svg.fonttype": "none", "font.size": 9.0}):
        figure = Figure(figsize=(7.0, 5.0), layout="constrained")
        FigureCanvasAgg(figure)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        _one_order(above, run)
        _all_orders(below, run)
        setting = f"prior {run.settings.prior}, approximation {run.settings.approximation}"
        above.set_title(f"{name}: naive Bayes behind the filters F and FF ({setting})", fontsize=9.0)
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
    axes.fill_between(
        rows, 0.0, 1.0, where=significant[0].tolist(), transform=axes.get_xaxis_transform(), color=_BAND, alpha=0.35,
        linewidth=0.0, label="significant (paired t test, 0.05)",
    )  # fmt: skip
    axes.plot(rows[shown], plugin[shown], color=_PLUGIN, linewidth=1.3, label="F")
    axes.plot(rows[shown], forward[shown], color=_FORWARD, linewidth=1.3, label="FF")
    axes.set_ylabel("accuracy on the first k rows,\nfirst order")
    axes.legend(loc="lower right", frameon=False)
    axes.grid(visible=True, linewidth=0.3)


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
    axes.set_xlabel("rows k")
    axes.set_ylabel(f"share of {one.shape[0]} orders,\nsignificant")
    axes.legend(loc="upper right", frameon=False)
