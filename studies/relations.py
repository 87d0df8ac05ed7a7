"""Pairs of numbers with a known mutual information, for `two_numbers.py`: how to draw them, and the truth.

The truth is a closed form, or a numerical integral: I = h(Y) - E[h(Y | X)] for Y = f(X) + noise, by a fine sample of X
and a grid of Y; by a grid of both for other densities; by sums where Y is a count or has an atom.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special, stats

if TYPE_CHECKING:
    from collections.abc import Callable

    Draw = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]

POINTS = 4000
UNIFORM = (np.arange(POINTS) + 0.5) / POINTS
NORMAL = special.ndtri(UNIFORM)
LOOKED_AT: dict[str, tuple[Draw, Callable[[], float]]] = {}  # while the method was built
REPORTED: dict[str, tuple[Draw, Callable[[], float]]] = {}  # not looked at before it was finished


def differential_entropy(density: np.ndarray, grid: np.ndarray) -> float:
    """The entropy of a density on a grid."""
    density = density / np.trapezoid(density, grid)
    return float(-np.trapezoid(special.xlogy(density, density), grid))


def additive(centre: np.ndarray, spread: float | np.ndarray, noise: str = "normal") -> float:
    """I(X; Y) for Y = centre + spread times noise, at equally probable X."""
    spread = np.broadcast_to(spread, centre.shape)
    reach = 7.0 if noise == "normal" else 1.05
    grid = np.linspace((centre - reach * spread).min(), (centre + reach * spread).max(), 8001)
    density = np.zeros_like(grid)
    for start in range(0, centre.size, 250):
        width = spread[start : start + 250, None]
        z = (grid[None] - centre[start : start + 250, None]) / width
        height = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) if noise == "normal" else 0.5 * (np.abs(z) <= 1)
        density += (height / width).sum(axis=0)
    own = 0.5 * math.log(2 * math.pi * math.e) if noise == "normal" else math.log(2.0)
    return differential_entropy(density, grid) - float(np.log(spread).mean()) - own


def on_grid(density: np.ndarray) -> float:
    """I of a density on a regular grid of both numbers."""
    joint = density / density.sum()
    margins = joint.sum(axis=1)[:, None] * joint.sum(axis=0)[None]
    return float(special.xlogy(joint, joint / np.maximum(margins, 1e-300)).sum())


def by_class(chances: np.ndarray) -> float:
    """I(X; Y) of a discrete Y: `chances` are P(y | x), (values of Y, equally probable X)."""
    return float(special.entr(chances.mean(axis=1)).sum() - special.entr(chances).sum(axis=0).mean())


def relation(where: dict, name: str, truth: Callable[[], float]) -> Callable[[Draw], Draw]:
    """Add a relation to a list."""

    def add(draw: Draw) -> Draw:
        where[name] = draw, lru_cache(truth)
        return draw

    return add


def shaped(where: dict, name: str, shape: Callable, x: str, spread: float, *, noise: str = "normal") -> None:
    """Add Y = shape(X) + spread times noise, X normal or uniform."""
    values = NORMAL if x == "normal" else UNIFORM

    def draw(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        drawn = generator.standard_normal(rows) if x == "normal" else generator.random(rows)
        error = generator.standard_normal(rows) if noise == "normal" else generator.uniform(-1.0, 1.0, rows)
        return drawn, shape(drawn) + spread * error

    where[name] = draw, lru_cache(lambda: additive(shape(values), spread, noise))


def normal_pair(rho: float) -> Draw:
    """Two normal numbers."""

    def draw(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        x = generator.standard_normal(rows)
        return x, rho * x + math.sqrt(1 - rho * rho) * generator.standard_normal(rows)

    return draw


for _rho in (0.2, 0.5, 0.9):
    LOOKED_AT[f"normal {_rho}"] = normal_pair(_rho), lambda rho=_rho: -0.5 * math.log(1 - rho * rho)
shaped(LOOKED_AT, "square", np.square, "normal", 1.0)
shaped(LOOKED_AT, "sine", lambda u: np.sin(4 * np.pi * u), "uniform", 0.5)
shaped(LOOKED_AT, "sine, sharp", lambda u: np.sin(4 * np.pi * u), "uniform", 0.1)
shaped(LOOKED_AT, "ladder", lambda u: np.floor(5 * u), "uniform", 0.3)


@relation(LOOKED_AT, "spread", lambda: additive(0 * NORMAL, 0.3 + np.abs(NORMAL)))
def _spread(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = generator.standard_normal(rows)
    return x, (0.3 + np.abs(x)) * generator.standard_normal(rows)


def _circle() -> float:
    grid = np.linspace(-3, 3, 1600)
    radius = np.hypot(grid[:, None], grid[None])
    return on_grid(np.exp(-0.5 * (radius - 1) ** 2 / 0.0625) * special.ive(0, radius / 0.0625))


@relation(LOOKED_AT, "circle", _circle)
def _draw_circle(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    angle = 2 * np.pi * generator.random(rows)
    error = 0.25 * generator.standard_normal((2, rows))
    return np.cos(angle) + error[0], np.sin(angle) + error[1]


def _student(degrees: float, rho: float) -> float:
    """I of the copula of two Student t: log of its density, at draws of its own, on a fine grid of ranks."""
    size = 3000
    scores = stats.t.ppf((np.arange(size) + 0.5) / size, degrees)
    constant = (
        special.gammaln((degrees + 2) / 2) + special.gammaln(degrees / 2) - 2 * special.gammaln((degrees + 1) / 2)
    )
    constant -= 0.5 * math.log(1 - rho * rho)
    total = 0.0
    for start in range(0, size, 300):
        x, y = scores[start : start + 300, None], scores[None]
        form = (x * x + y * y - 2 * rho * x * y) / (1 - rho * rho)
        log_density = constant - (degrees + 2) / 2 * np.log1p(form / degrees)
        log_density += (degrees + 1) / 2 * (np.log1p(x * x / degrees) + np.log1p(y * y / degrees))
        total += float((np.exp(log_density) * log_density).sum())
    return total / size**2


@relation(LOOKED_AT, "Student t", lambda: _student(3.0, 0.5))
def _draw_student(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x, y = normal_pair(0.5)(rows, generator)
    scale = np.sqrt(generator.chisquare(3, rows) / 3)
    return x / scale, y / scale


@relation(LOOKED_AT, "half zeros", lambda: additive(np.concatenate([np.zeros(POINTS), -np.log(UNIFORM)]), 0.7))
def _half_zeros(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = np.where(generator.random(rows) < 0.5, 0.0, generator.exponential(size=rows))
    return x, x + 0.7 * generator.standard_normal(rows)


_CENTRES = np.array([(-1, -1), (0, 1), (1, -0.2), (1.5, 1.5)])


def _clusters() -> float:
    grid = np.linspace(-4, 4, 1600)
    return on_grid(
        sum(
            np.exp(-0.5 * (grid - x) ** 2 / 0.1225)[:, None] * np.exp(-0.5 * (grid - y) ** 2 / 0.1225)[None]
            for x, y in _CENTRES
        )
    )


@relation(LOOKED_AT, "clusters", _clusters)
def _draw_clusters(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    drawn = _CENTRES[generator.integers(0, 4, rows)] + 0.35 * generator.standard_normal((rows, 2))
    return drawn[:, 0], drawn[:, 1]


# Reported.
REPORTED["normal 0.35"] = normal_pair(0.35), lambda: -0.5 * math.log(1 - 0.35**2)
shaped(REPORTED, "uniform band", lambda u: u, "uniform", 0.3, noise="uniform")
shaped(REPORTED, "waves, six", lambda u: np.sin(12 * np.pi * u), "uniform", 0.4)
shaped(REPORTED, "W", lambda u: np.abs(np.abs(4 * u - 2) - 1), "uniform", 0.25)
shaped(REPORTED, "growth", lambda z: 2.0 / (1.0 + np.exp(-4.0 * z)), "normal", 0.4)


def _cross() -> float:
    grid = np.linspace(-6, 6, 2000)
    rising = np.exp(-0.5 * (grid[:, None] - grid[None]) ** 2 / 0.09)
    falling = np.exp(-0.5 * (grid[:, None] + grid[None]) ** 2 / 0.09)
    return on_grid((rising + falling) * np.exp(-0.5 * grid**2)[:, None])


@relation(REPORTED, "cross", _cross)
def _draw_cross(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = generator.standard_normal(rows)
    return x, x * generator.choice([-1.0, 1.0], rows) + 0.3 * generator.standard_normal(rows)


def _clayton() -> float:
    theta, size = 1.5, 4000
    u = (np.arange(size) + 0.5) / size
    total = 0.0
    for start in range(0, size, 400):
        a, b = u[start : start + 400, None], u[None]
        log_density = math.log(1 + theta) - (1 + theta) * (np.log(a) + np.log(b))
        log_density -= (2 + 1 / theta) * np.log(a**-theta + b**-theta - 1)
        total += float((np.exp(log_density) * log_density).sum())
    return total / size**2


@relation(REPORTED, "Clayton", _clayton)
def _draw_clayton(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    u, w = generator.random((2, rows))
    return u, (u**-1.5 * (w ** (-1.5 / 2.5) - 1) + 1) ** (-1 / 1.5)


@relation(REPORTED, "Cauchy", lambda: _student(1.0, 0.0))
def _draw_cauchy(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x, y, scale = generator.standard_normal((3, rows))
    return x / np.abs(scale), y / np.abs(scale)


def _poisson() -> float:
    counts = np.arange(400)[:, None]
    return by_class(stats.poisson.pmf(counts, np.exp(1.0 + 0.7 * NORMAL)[None]))


@relation(REPORTED, "counts", _poisson)
def _draw_poisson(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = generator.standard_normal(rows)
    return x, generator.poisson(np.exp(1.0 + 0.7 * x)).astype(float)


def _censored() -> float:
    centre = NORMAL
    zero = special.ndtr(-centre)  # Y = max(0, X + noise)
    grid = np.linspace(0.0, 9.0, 6001)
    density = np.exp(-0.5 * (grid[None] - centre[:, None]) ** 2) / math.sqrt(2 * math.pi)
    mean = density.mean(axis=0)
    own = -np.trapezoid(special.xlogy(density, density), grid, axis=1).mean()
    own += special.entr(zero).mean()
    return float(-np.trapezoid(special.xlogy(mean, mean), grid) + special.entr(zero.mean()) - own)


@relation(REPORTED, "target half zeros", _censored)
def _draw_censored(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = generator.standard_normal(rows)
    return x, np.maximum(x + generator.standard_normal(rows), 0.0)


def _rounded() -> float:
    edges = np.arange(-12, 13) / 2.0 + 0.25
    below = special.ndtr((edges[:, None] - 0.8 * NORMAL[None]) / 0.6)
    below = np.vstack([np.zeros(POINTS), below, np.ones(POINTS)])
    return by_class(np.diff(below, axis=0))


@relation(REPORTED, "rounded target", _rounded)
def _draw_rounded(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x, y = normal_pair(0.8)(rows, generator)
    return x, np.round(2 * y) / 2


@relation(REPORTED, "lognormal spread", lambda: additive(0.5 * NORMAL, np.exp(0.5 * NORMAL)))
def _draw_lognormal(rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = generator.standard_normal(rows)
    return x, 0.5 * x + np.exp(0.5 * x) * generator.standard_normal(rows)
