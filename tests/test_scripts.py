"""The benchmarks and studies run, at toy size: what they print is read in docs, not here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("script", "arguments", "lines"),
    [
        ("studies/paper_line_by_line.py", ["--tables", "9"], 2 + 25),
        ("benchmarks/moments.py", ["--tables", "3", "--repeats", "1"], 2 * 3 * 2 + 2 + (1 + 2 + 12) + 1 + 2 + 2),
        ("benchmarks/counting.py", ["--rows", "800", "--features", "3", "--repeats", "1"], 2 + 2 + 2 + 7),
        ("benchmarks/comparing.py", ["--rows", "300", "--columns", "4", "--repeats", "1"], 2 + 3),
        ("benchmarks/pairs.py", ["--columns", "6", "--rows", "100", "--nodes", "5"], None),
        ("benchmarks/networks.py", ["--columns", "6", "--rows", "60"], 2 + 3),
        ("benchmarks/discretizing.py", ["--rows", "500", "--columns", "3", "--repeats", "1"], 2 + 4),
        ("benchmarks/layouts.py", ["--rows", "500", "--repeats", "1"], 2 + 8 + 16 + 3 + 2 + 3),
        ("benchmarks/ranking.py", ["--rows", "400", "--columns", "4", "--repeats", "1"], 2 + 9 + 2),
        ("benchmarks/dictionaries.py", ["--rows", "200", "--repeats", "1"], 2 + 6),
        ("benchmarks/reading.py", ["--rows", "200", "--repeats", "1"], 2 + 6),
        ("benchmarks/rent.py", ["--share", ".002", "--repeats", "1"], 2 + 20),
        ("benchmarks/robust.py", ["--repeats", "1", "--tables", "1"], 2 + 2 + 1 + 2 + 16),
        (
            "benchmarks/sets.py",
            ["--rows", "2000", "--columns", "60", "--noise", "500", "--repeats", "1"],
            2 + 1 + 1 + 2 + 1 + 1 + 2 + 3,
        ),
        ("benchmarks/trees.py", ["--rows", "3000", "--columns", "7", "--repeats", "1"], 2 + 2),
        ("benchmarks/wide.py", ["--rows", "30", "--columns", "20", "--repeats", "1"], 2 + 6),
        (
            "benchmarks/gpu_pairs.py",
            [
                *("--stand-in", "--columns", "12", "--rows", "300", "--wide", "15", "--wide-rows", "100"),
                *("--cpu-columns", "6", "--repeats", "1"),
            ],
            2 + 2 * 5 + 1 + 4 + 2,
        ),
        (
            "benchmarks/engines.py",
            [
                "--rows",
                "400",
                "--columns",
                "6",
                "--wide-rows",
                "40",
                "--wide-columns",
                "20",
                "--only",
                "reading",
                "files",
            ],
            2 + 4,
        ),
        ("benchmarks/clusters.py", ["--rows", "400", "--partitions", "2"], 2 + 9),
        ("benchmarks/peers.py", ["--rows", "300", "--features", "2", "--repeats", "1"], None),
        ("benchmarks/streaming.py", ["--rows", "30", "--repeats", "1", "--seen", "20", "50"], None),
        ("benchmarks/interactions.py", ["--columns", "30", "--wide", "40", "--rows", "300"], None),
        ("studies/interactions.py", ["--power", "1", "--additive", "1"], 2 + 10 + 2 + 5),
        ("studies/interactions.py", ["--draws", "1", "--screen", "4"], 2 + 12 + 2 + 10),
        ("studies/refined_pairs.py", ["--sets", "1", "--rows", "200", "--imputations", "2"], 1 + 4 * 4),
        ("studies/other_networks.py", ["--columns", "8", "--rows", "100", "--missing", "0"], 1 + 5 + 1),
        ("studies/edge_calibration.py", ["--nets", "1", "--rows", "50", "--kinds", "trees", "rings"], 2 + 2 + 2),
        ("studies/relevant.py", ["--seeds", "1", "--rows", "200", "--columns", "25", "--missing", "0"], None),
        ("studies/adaptive.py", ["--tables", "1"], 2 + 15 + 3 + 2 + 9 + 1 + 2 + 15),
        ("studies/accuracy.py", ["--sizes", "30", "--draws", "100", "--most", "2"], 2 + 2),
        ("studies/few_complete_rows.py", [], 2 + 4),
        ("studies/selecting.py", ["--tables", "iris,wine", "--rows", "100"], None),
        ("studies/selecting.py", ["--wide", "1", "--sizes", "60x20 40x60"], 2 + 6),
        ("studies/trees.py", ["--known", "1"], 2 + 4),
        ("studies/trees.py", ["--data", "iris", "--ways", "credible,CART", "--encode-once"], 2 + 2),
        ("studies/missing_cells.py", ["--data", "iris", "--ways", "credible tree,naive Bayes"], 2 + 3),
        ("studies/missing_cells.py", ["--display"], 2 + 1),
        ("studies/missing_cells.py", ["--data", "iris", "--copies", "1"], 2 + 1),
        ("studies/both_missing.py", ["--tables", "1"], 2 + 24 + 1 + 2 + 3),
        ("studies/both_missing_exact.py", ["--tables", "2", "--steps", "4"], 2 + 12 + 1 + 2 + 7),
        pytest.param(
            "studies/conditional.py",
            ["--tables", "1", "--draws", "50"],
            2 + 21 + 1 + 2 + 21,
            marks=pytest.mark.slow,
        ),
        ("studies/thin_classes.py", ["--tables", "1"], 2 + 12),
        ("studies/lopsided_tables.py", ["--tables", "1"], 2 + 9),
        ("studies/few_rows.py", ["--samples", "5"], 2 + 21),
        ("studies/rare_targets.py", ["--samples", "5"], 2 + 5 + 1 + 2 + 15),
        ("studies/thin_tables.py", ["--every", "9000", "--tables", "1"], 2 + 4 + 1 + 2 + 15),
        ("studies/both_missing_bounds.py", ["--populations", "2", "--solved", "1"], 2 + 6),
        ("studies/robust.py", ["--tables", "1"], 2 + 39),
        ("studies/many_values.py", ["--tables", "1"], 2 + 21),
        ("studies/cuts.py", ["--columns", "2"], 2 + 18),
        ("studies/all_cuts.py", ["noise", "--runs", "1"], 35 + 1),
        ("studies/all_cuts.py", ["age", "--runs", "1"], 2),
        (
            "studies/discoveries.py",
            ["--draws", "1", "--shape", "2", "2", "--columns", "20"],
            2 + 27 + 3,
        ),
        ("studies/fixed_information.py", ["--tables", "2"], 2 + 36 + 1 + 2 + 12),
        ("studies/compare.py", ["--columns", "1"], 2 + 15 + 1 + 3 + 9 + 3 + 18),
        ("studies/networks.py", ["--nets", "1", "--rows", "60", "--missing", "0.2"], None),
        ("studies/coarse_numbers.py", ["--rows", "2000", "--limits", "256"], 2 + 6),
    ],
)
def test_runs_at_toy_size(script: str, arguments: list[str], lines: int | None) -> None:
    command = [sys.executable, "-W", "error", str(ROOT / script), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert lines in (None, len(answer.stdout.splitlines()))  # some have a line for each peer that is installed
    assert "nan" not in answer.stdout


def test_tables_in_the_format_of_weka_are_compared(tmp_path: Path) -> None:
    rows = [f"'n {row}',{row % 7},{'?' if row % 9 == 0 else 'a b' if row % 2 else 'c'},{row % 2}" for row in range(60)]
    kinds = ["{" + ",".join(f"'n {row}'" for row in range(60)) + "}", "real", "{'a b', c}", "{0,1}"]
    head = [
        "% a comment",
        "@relation toy",
        *(f"@attribute x{place} {kind}" for place, kind in enumerate(kinds)),
        "@data",
    ]
    (tmp_path / "toy.arff").write_text("\n".join(head + rows) + "\n", encoding="utf-8")
    command = [
        sys.executable,
        "-W",
        "error",
        str(ROOT / "studies/trees.py"),
        "--data",
        "toy.arff",
        "--ways",
        "credible",
    ]
    answer = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "CREDIMI_DATA": str(tmp_path)}
    )
    assert float(answer.stdout.splitlines()[2].split("|")[2].split()[0]) > 80.0
