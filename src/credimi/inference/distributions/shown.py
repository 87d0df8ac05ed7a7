"""How a `Distribution` is shown: its density as a figure, its figures as a table in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.results import section as kinds
from credimi.results.figures import new_axes
from credimi.results.notebook import sections_html
from credimi.results.palette import LINES
from credimi.results.section import Section
from credimi.results.sentences import CAUTIONS_OF_INFORMATION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from credimi.inference.distributions.distribution import Distribution

VISIBLE_ATOM = 1e-4  # the smallest mass at 0 that is shown
_POINTS, _POINTS_OF_PICTURE = 600, 120


def density_plot(distribution: Distribution, ax: Axes | None) -> Axes:
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


def distribution_html(distribution: Distribution) -> str:
    """Mean, standard deviation, interval and the mass at 0, for notebooks."""
    low, high = distribution.interval()
    rows = {
        "mean": f"{distribution.mean():.4g}",
        "std": f"{distribution.std():.4g}",
        "95 % interval": f"{low:.4g} to {high:.4g}",
    }
    if distribution.p_zero >= VISIBLE_ATOM:
        rows["P(I = 0)"] = f"{distribution.p_zero:.4g}"
    if distribution.cautions:
        rows["caution"] = "; ".join(CAUTIONS_OF_INFORMATION[code] for code in distribution.cautions)
    columns = (kinds.name("figure", ""), kinds.words("", lambda row: str(row["value"])))
    lines = [{"figure": figure, "value": value} for figure, value in rows.items()]
    return sections_html([Section("Mutual information, nats", columns, lines, picture=lambda: _picture(distribution))])


def _picture(distribution: Distribution) -> str:
    """The density as a small picture, the interval as a line below it, and the mass at 0 as a line of its height."""
    (low, high), atom = distribution.interval(), distribution.p_zero if distribution.p_zero >= VISIBLE_ATOM else 0.0
    left, right = min(distribution.ppf(0.001), 0.0), max(distribution.isf(0.001), high)
    if not right > left:
        return ""
    x = left + (right - left) * (np.arange(_POINTS_OF_PICTURE) + 0.5) / _POINTS_OF_PICTURE
    density = np.where(np.isfinite(pdf := distribution.pdf(x)), pdf, 0.0)
    peak = float(density[2:].max()) or 1.0
    across, down = 300.0 * (x - left) / (right - left), 60.0 * (1.0 - np.minimum(density / peak, 1.0))
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across.tolist(), down.tolist(), strict=True))
    ends = [300.0 * (end - left) / (right - left) for end in (low, high, 0.0)]
    stem = f'<line x1="{ends[2]:.1f}" x2="{ends[2]:.1f}" y1="60" y2="{60 * (1 - atom):.1f}" stroke="{LINES[1]}"/>'
    return (
        '<svg width="300" height="66" viewBox="-3 -3 306 70" role="img" aria-label="posterior density" '
        f'stroke-width="2" fill="none"><polyline points="{points}" stroke="{LINES[0]}"/>{stem if atom else ""}'
        f'<line x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="62" y2="62" stroke="{LINES[0]}" stroke-width="4"/></svg>'
    )
