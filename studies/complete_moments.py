"""Moments of I for complete tables, beside exact draws: the table of docs/how-to/complete-tables.

    .venv/bin/python studies/complete_moments.py

takes some seconds. The draws are those of numpy's Dirichlet, with the counts and Jeffreys' 1/2 as parameters.
"""

from __future__ import annotations

import argparse

import numpy as np

import credimi

TABLES = ([[40, 12], [9, 30]], [[400, 120], [90, 300]], [[26, 24], [19, 22]])


def drawn(joint: list[list[int]], size: int) -> np.ndarray:
    """I of exact draws of the cell probabilities."""
    counts = np.array(joint)
    pi = np.random.default_rng(0).dirichlet(counts.ravel() + 0.5, size).reshape(-1, *counts.shape)
    expected = pi.sum(axis=2, keepdims=True) * pi.sum(axis=1, keepdims=True)
    return (pi * np.log(pi / expected)).sum(axis=(1, 2))


def skewness_of(law: credimi.Distribution) -> float:
    """The skewness, by the quantiles of many equal parts."""
    quantiles = np.asarray(law.ppf((np.arange(200_000) + 0.5) / 200_000))
    centred = quantiles - quantiles.mean()
    return float((centred**3).mean() / (centred**2).mean() ** 1.5)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=400_000)
    options = parser.parse_args()
    print("| table | figure | `complete_moments` | `mutual_information`, matched | leading | draws |")
    print("|---|---|---:|---:|---:|---:|")
    for joint in TABLES:
        moments = credimi.complete_moments(joint, prior="jeffreys")
        laws = [
            credimi.mutual_information(joint, prior="jeffreys", approximation=name) for name in ("matched", "leading")
        ]
        draws = drawn(joint, options.draws)
        centred = draws - draws.mean()
        rows = {
            "mean": (moments.mean, *(law.mean() for law in laws), draws.mean()),
            "variance": (moments.variance, *(law.var() for law in laws), draws.var()),
            "skewness": (moments.skewness, *map(skewness_of, laws), (centred**3).mean() / draws.std() ** 3),
        }
        for name, figures in rows.items():
            shown = " | ".join(
                f"{round(figure, 2) + 0.0:.2f}" if name == "skewness" else f"{figure:.4g}" for figure in figures
            )
            print(f"| {joint if name == 'mean' else ''} | {name} | {shown} |")


if __name__ == "__main__":
    main()
