"""Figures, with matplotlib: axes, intervals below each other, names beside them, files."""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from credimi.core.atomic_files import plain, replacing
from credimi.core.errors import CredimiError
from credimi.core.errors import one_line as one_line_of
from credimi.results.names import shorten_distinctly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from credimi.core.types import Record

KINDS = ("png", "svg", "pdf")
MAX_NAME_CHARACTERS = 32  # of a name beside the plot
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
    axes.annotate(f"epsilon {epsilon:.3g}", (epsilon, 1.0), **position, color="#555555", fontsize="small", va="bottom")


def drawn(draw: Callable[[Axes | None], Axes], path: str | Path | Axes | None, ax: Axes | None = None) -> Axes:
    """What is drawn in these axes, or in new ones; also in a file, if one is named, of which a wrong ending is refused.

    Axes may stand where the path does, as in other libraries.
    """
    if path is None or hasattr(path, "get_figure"):
        return draw(ax if path is None else cast("Axes", path))
    picture_kind(path)
    axes = draw(ax)
    save(axes, path)
    return axes


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
    """The given axes, or new ones: from pyplot in notebooks, or if the session uses it; otherwise without a screen."""
    if given is not None:
        return given
    require_matplotlib()
    if "matplotlib.pyplot" in sys.modules or _in_notebook():  # only then will a figure be displayed
        from matplotlib import pyplot as plt

        return _padded(plt.figure(figsize=size)).subplots()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    return _padded(figure).subplots()


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this: its pyplot shows figures below the cell."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


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
