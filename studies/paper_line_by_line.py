"""The worst relative deviation of credimi from each formula of Hutter and Zaffalon (2003), over random tables.

    .venv/bin/python studies/paper_line_by_line.py --tables 1500

takes half a minute. The formulas are in `tests/paper/paper_formulas.py`, written from the paper's text alone, and
`tests/paper/test_paper_literally.py` bounds what is printed here.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "paper"))
from paper_deviations import deviations


def main() -> None:
    """Print one line for each formula."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| formula | worst deviation |")
    print("|---|---:|")
    for name, worst in deviations(options.tables, options.seed).items():
        print(f"| {name} | {worst:.1e} |")


if __name__ == "__main__":
    main()
