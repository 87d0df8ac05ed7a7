"""Figures, with matplotlib: intervals below each other, a posterior as a density, a prequential run as curves."""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.atomic_files import plain, replacing
from credimi.core.errors import CredimiError
from credimi.core.errors import one_line as one_line_of
from credimi.results.names import shorten_distinctly
from credimi.results.notebook import VISIBLE_ATOM
from credimi.results.palette import GREY, LINES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from credimi.core.types import Foreign, Record
    from credimi.results.shown import ShownDistribution, ShownRun

KINDS = ("png", "svg", "pdf")
MAX_NAME_CHARACTERS = 32  # of a name beside the plot
_POINTS = 600
_PADDING = 0.1  # inches
_MISSING_GLYPH = re.compile(r"Glyph (\d+) ")  # how matplotlib warns of a character that its font lacks


def require_matplotlib() -> None:
    """Raise an error that says how to install matplotlib, if it is missing."""
    try:
        import matplotlib as mpl  # noqa: F401  (only whether it is there)
    except ImportError:
        raise CredimiError("matplotlib is not installed: pip install 'credimi[plot]'") from None


def picture_kind(path: str | Path) -> str:
    """The format of a picture, by the ending of its name."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise CredimiError(f"{path} is no picture: name a file that ends in .{', .'.join(KINDS)}")
    return kind


def draw_intervals(
    axes: Axes, rows: Sequence[Record], marks: Sequence[Record], mean: str, *, shift: float = 0.0
) -> None:
    """A line for each row, the first on top: its interval, and a mark at the mean."""
    for place, (row, mark) in enumerate(zip(rows, marks, strict=True)):
        line = place + shift
        axes.plot([row["low"], row["high"]], [line, line], color=mark["color"], linewidth=1.6, solid_capstyle="round")
        axes.plot([row[mean]], [line], clip_on=False, zorder=3, linestyle="", **mark)
    axes.set_yticks(range(len(rows)), short_names(row["feature"] for row in rows))
    axes.set_ylim(max(len(rows), 1) - 0.4, -0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(visible=True, axis="x", linewidth=0.3)


def mark_epsilon(axes: Axes, epsilon: float) -> None:
    """A dashed line at epsilon, with its name above."""
    axes.axvline(epsilon, color="#555555", linewidth=0.8, linestyle="--")
    position: Record = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "xytext": (0, 2)}
    axes.annotate(f"epsilon {epsilon:g}", (epsilon, 1.0), **position, color="#555555", fontsize="small", va="bottom")


def density_plot(distribution: ShownDistribution, ax: Axes | None) -> Axes:
    """The density of the continuous part, filled within the 95 % interval; the atom at 0 as a line of its height."""
    axes = new_axes(ax, (5.0, 3.0))
    (low, high), atom = distribution.interval(0.95), distribution.p_zero if distribution.p_zero >= VISIBLE_ATOM else 0.0
    left, right = min(distribution.ppf(0.0005), 0.0), max(distribution.isf(0.0005), high)
    width = (right - left) or 1.0
    x = left + width * 1.05 * (np.arange(_POINTS) + 0.5) / _POINTS
    density = np.where(np.isfinite(pdf := distribution.pdf(x)), pdf, 0.0)
    axes.plot(x, density, color=LINES[0], linewidth=1.5)
    in_interval = (x >= low) & (x <= high)
    axes.fill_between(x[in_interval], density[in_interval], color=LINES[0], alpha=0.2, linewidth=0.0)
    shown = density[x > left + 0.01 * width] if atom > 0.0 else density
    peak = float(shown.max()) or 1.0
    axes.set_ylim(0.0, 1.1 * peak)
    axes.set_xlabel("mutual information, nats")
    axes.set_ylabel("posterior density")
    axes.spines[["top", "right"]].set_visible(False)
    masses = [(0.0, atom)] if atom > 0.0 else []
    masses += [
        (component.mean, weight)
        for component, weight in zip(distribution.components, distribution.weights, strict=True)
        if component.std == 0.0
    ]
    if masses:
        mass_axes = axes.twinx()
        for location, mass in masses:
            mass_axes.plot([location, location], [0.0, mass], color=LINES[1], linewidth=2.2)
            mass_axes.plot([location], [mass], "o", color=LINES[1], markersize=5)
        mass_axes.set_ylim(0.0, 1.1)
        mass_axes.set_ylabel("mass at one point, P(I = 0)", color=LINES[1])
        mass_axes.spines[["top", "left"]].set_visible(False)
        axes.set_xlim(left=left - 0.03 * width)
    return axes


def plot_prequential(result: Foreign, ax: Axes | None = None) -> Axes:
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
    ax : matplotlib axes, optional
        Where to draw. Default: a new figure.

    Returns
    -------
    matplotlib axes
        You can change them; `ax.figure.savefig("accuracy.svg")` saves the picture.

    Examples
    --------
    >>> columns = {"tells": ["a", "b"] * 30, "class": ["p", "q"] * 30}
    >>> axes = credimi.plot_prequential(credimi.prequential(columns, "class", orders=2))
    >>> axes.get_ylabel()
    'accuracy on the first k rows'
    """
    axes = new_axes(ax, (6.4, 3.6))
    if hasattr(result, "running_accuracy"):
        _draw_curves(result, axes)
    else:
        _draw_points(_summary(result), axes)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, linewidth=0.3)
    axes.legend(frameon=False)
    return axes


def _draw_curves(run: ShownRun, axes: Axes) -> None:
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


def _draw_threshold(run: ShownRun, axes: Axes) -> None:
    """The threshold that makes F of FF: it adapts to the number of rows."""
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
        import pyarrow as pa

        result = pa.table(result).to_pylist()
    rows = result.get("results") if isinstance(result, dict) else result
    needed = {"rule", "accuracy_mean", "accuracy_sd", "features_mean", "features_sd"}
    if not isinstance(rows, list) or not all(isinstance(row, dict) and needed <= set(row) for row in rows):
        raise CredimiError(
            f"a {type(result).__name__} is no result of prequential: pass the result of `credimi.prequential`, its "
            f"summary(), or the output of `credimi prequential --format json`, which have {', '.join(sorted(needed))}"
        )
    return rows


def save(axes: Axes, path: str | Path) -> None:
    """Save the figure of these axes to a file that is complete or absent; the same ranking gives the same bytes."""
    import matplotlib as mpl

    kind = picture_kind(path)
    metadata: Record = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with _one_warning_of_glyphs(path), mpl.rc_context({"svg.hashsalt": "credimi"}), replacing(path) as temporary:
        try:
            axes.get_figure(root=True).savefig(temporary, format=kind, dpi=150, metadata=metadata)  # type: ignore[union-attr]
        except (ValueError, MemoryError) as error:  # it has too many pixels
            raise CredimiError(
                f"{path} cannot be drawn ({one_line_of(error)}): name a .svg file, or draw less"
            ) from error


@contextmanager
def _one_warning_of_glyphs(path: str | Path) -> Iterator[None]:
    """Say once which characters the font lacks: matplotlib warns of each of them, again and again."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing_glyphs = {}
    for warning in caught:
        if match := _MISSING_GLYPH.match(str(warning.message)):
            missing_glyphs[repr(chr(int(match[1])))] = True
        else:
            warnings.warn(warning.message, warning.category, stacklevel=4)
    if missing_glyphs:
        warnings.warn(
            f"{path} shows boxes for {', '.join(missing_glyphs)}: matplotlib's font has no such characters; "
            "choose another font in matplotlibrc (font.family)",
            stacklevel=4,
        )


def new_axes(given: Axes | None, size: tuple[float, float]) -> Axes:
    """The given axes, or new ones: from pyplot if the session uses it (as notebooks do), otherwise without a screen."""
    if given is not None:
        return given
    require_matplotlib()
    if "matplotlib.pyplot" in sys.modules:  # only then will a figure be displayed
        from matplotlib import pyplot as plt

        return _padded(plt.figure(figsize=size)).subplots()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    return _padded(figure).subplots()


def _padded(figure: Figure) -> Figure:
    """The figure, laid out so that nothing touches its edges."""
    figure.set_layout_engine("constrained", w_pad=_PADDING, h_pad=_PADDING)
    return figure


def short_name(text: str) -> str:
    """A name on one line, shortened, and not read as a formula."""
    return short_names([text])[0]


def short_names(texts: Iterable[str]) -> list[str]:
    """Names on one line each, shortened so that they stay different."""
    lines = [" ".join(text.split()) or "(no name)" for text in texts]
    return list(map(one_line, shorten_distinctly(lines, MAX_NAME_CHARACTERS)))


def one_line(text: str) -> str:
    """A text on one line that is not read as a formula."""
    return plain(" ".join(text.split())).replace("$", r"\$")  # SVG is XML, which has no control characters
