"""Make examples/clinic.csv: an invented out-patient clinic whose truth is known, for trying `credimi rank` on.

    python tools/make_example.py                                 write examples/clinic.csv again, the same bytes
    python tools/make_example.py --rows 100000 --output big.csv  more patients of the same clinic
    python tools/make_example.py --truth                         print the truth as JSON, write nothing

Real tables with holes come without the answer. Here the answer is designed: the target `diabetes` is drawn from a
logistic model (`SLOPE`, `LISTED_RISK`) of seven columns, and `TRUTH` grades every column by its mutual information with
the target in a clinic without end or holes, numbers with many values cut into fifths:

    strong    0.05 to 0.15 nats    age, bmi, glucose
    moderate  0.015 to 0.03        exercise, family_history; waist, a noisy copy of bmi; systolic_pressure, which rises
                                   with age and bmi; visits_last_year, a consequence of the target
    weak      0.004 to 0.008       smoking, diet; pressure_medication, given for a high systolic_pressure
    none      0                    patient (all distinct) and clinic (constant); region, sex, cholesterol, children,
                                   blood_group, handedness and appointment_day, drawn apart from everything

In the model are the strong columns, exercise, family_history, smoking and diet. Waist, systolic_pressure and
pressure_medication are not: they inform, and add nothing to the columns they follow from. Cholesterol and patient have
so many values that plain counting finds them informative.

Holes are made after the values are drawn. A column has two rates (`HOLES`), and which one counts depends on age, sex or
visits_last_year, columns without holes: values are missing at random, given the row. A hole is an empty field, but "NA"
in exercise and "?" in family_history.

The bytes depend on the seed and on nothing else: each column has its own raw PCG64 stream, which NumPy promises to keep
(it does not promise that for its distributions), and bell curves are sums of integers. A longer file therefore starts
with the shorter one.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

OUTPUT = Path(__file__).resolve().parent.parent / "examples" / "clinic.csv"
ROWS = 4000
SEED = 8  # the first whose 4,000 rows, holes and all, show every column (patient apart) within the bounds of its grade
TARGET = "diabetes"

TRUTH = {
    "patient": "none",
    "clinic": "none",
    "region": "none",
    "sex": "none",
    "age": "strong",
    "bmi": "strong",
    "waist": "moderate",
    "systolic_pressure": "moderate",
    "pressure_medication": "weak",
    "glucose": "strong",
    "cholesterol": "none",
    "smoking": "weak",
    "exercise": "moderate",
    "diet": "weak",
    "family_history": "moderate",
    "children": "none",
    "visits_last_year": "moderate",
    "blood_group": "none",
    "handedness": "none",
    "appointment_day": "none",
}
COLUMNS = [*TRUTH, TARGET]

# The values of the columns drawn from a list, and their chances.
CHOICES: dict[str, dict[str | int, float]] = {
    "region": {"Zürich": 0.34, "Bern": 0.26, "Genève": 0.18, "Basel": 0.13, "Ticino": 0.09},
    "sex": {"female": 0.53, "male": 0.47},
    "smoking": {"never": 0.52, "former": 0.27, "daily": 0.21},
    "exercise": {"rarely": 0.31, "weekly": 0.46, "daily": 0.23},
    "diet": {"mixed": 0.61, "vegetarian": 0.16, "fast food": 0.23},
    "family_history": {"no": 0.71, "yes": 0.29},
    "children": {0: 0.28, 1: 0.22, 2: 0.31, 3: 0.13, 4: 0.04, 5: 0.02},
    "blood_group": {"A": 0.45, "O": 0.41, "B": 0.10, "AB": 0.04},
    "handedness": {"right": 0.88, "left": 0.10, "both": 0.02},
    "appointment_day": {"Mon": 0.25, "Tue": 0.20, "Wed": 0.15, "Thu": 0.22, "Fri": 0.18},
}

# The same of visits_last_year, which follows from the target.
VISITS: dict[str, dict[str | int, float]] = {
    "no": {0: 0.25, 1: 0.29, 2: 0.21, 3: 0.13, 4: 0.07, 5: 0.03, 6: 0.01, 7: 0.01},
    "yes": {0: 0.15, 1: 0.22, 2: 0.22, 3: 0.17, 4: 0.12, 5: 0.07, 6: 0.03, 7: 0.02},
}

# Log-odds of the target: what a value of a listed column adds, or what a number adds for every unit above its middle.
BASE = -3.3
LISTED_RISK = {
    "smoking": {"never": 0.0, "former": 0.35, "daily": 1.0},
    "exercise": {"rarely": 1.8, "weekly": 0.65, "daily": 0.0},
    "diet": {"mixed": 0.0, "vegetarian": -0.4, "fast food": 0.8},
    "family_history": {"no": 0.0, "yes": 1.5},
}
MIDDLE = {"age": 54.0, "bmi": 26.5, "glucose": 5.4}
SLOPE = {"age": 0.06, "bmi": 0.215, "glucose": 1.1}


class Hole(NamedTuple):
    """How often a value is missing: in most patients, and in those of a group that the complete columns tell."""

    usual: float
    raised: float
    group: str
    mark: str = ""


HOLES = {
    "region": Hole(0.01, 0.01, "young"),
    "bmi": Hole(0.04, 0.12, "unseen"),
    "waist": Hole(0.20, 0.32, "women"),
    "systolic_pressure": Hole(0.02, 0.07, "unseen"),
    "pressure_medication": Hole(0.08, 0.08, "young"),
    "glucose": Hole(0.15, 0.35, "unseen"),
    "cholesterol": Hole(0.35, 0.50, "young"),
    "smoking": Hole(0.05, 0.05, "young"),
    "exercise": Hole(0.08, 0.14, "men", "NA"),
    "diet": Hole(0.24, 0.36, "men"),
    "family_history": Hole(0.12, 0.20, "men", "?"),
    "children": Hole(0.02, 0.02, "young"),
    "blood_group": Hole(0.30, 0.40, "unseen"),
    "handedness": Hole(0.005, 0.005, "young"),
    "appointment_day": Hole(0.01, 0.01, "young"),
    TARGET: Hole(0.05, 0.07, "men"),  # the follow-up was not attended
}


class Stream:
    """Random numbers of one purpose, one a patient, that do not change with the version of NumPy."""

    def __init__(self, purpose: str, rows: int) -> None:
        """Start the stream that belongs to this purpose."""
        self.bits = np.random.PCG64([SEED, *purpose.encode()])
        self.rows = rows

    def uniform(self) -> np.ndarray:
        """Numbers between 0 and 1."""
        return (self.bits.random_raw(self.rows) >> np.uint64(11)) * 2.0**-53

    def bell(self) -> np.ndarray:
        """Numbers with mean 0 and variance 1, nearly normal: twelve uniform ones added, in integers so exactly."""
        uniform = self.bits.random_raw(12 * self.rows) >> np.uint64(40)
        return uniform.reshape(self.rows, 12).sum(axis=1) * 2.0**-24 - 6.0


def chosen(values: dict[str | int, float], uniform: np.ndarray) -> np.ndarray:
    """Draw from a list of values by their chances."""
    places = np.searchsorted(np.cumsum(list(values.values()))[:-1], uniform, side="right")
    return np.array(list(values), dtype=object)[places]


def whole(numbers: np.ndarray, minimum: int, maximum: int) -> np.ndarray:
    """Round to integers within bounds."""
    return np.clip(np.rint(numbers), minimum, maximum).astype(int)


def with_chance(chance: np.ndarray, purpose: str) -> np.ndarray:
    """Draw yes or no, each patient by a chance of their own."""
    return np.where(Stream(purpose, len(chance)).uniform() < chance, "yes", "no")


def measured(rows: int) -> dict[str, np.ndarray]:
    """Draw the columns that are numbers with many values, and those that follow from them."""
    age = whole(18 + 36 * (Stream("age", rows).uniform() + Stream("age, again", rows).uniform()), 18, 90)
    bmi = np.clip(np.round(26.5 + 4.3 * Stream("bmi", rows).bell(), 1), 15.0, 48.0)
    older, heavier = age - 54, bmi - 26.5
    waist = 92 + 2.0 * heavier + 9.5 * Stream("waist", rows).bell()
    pressure = whole(130 + 0.45 * older + heavier + 14 * Stream("systolic_pressure", rows).bell(), 88, 205)
    medicated = np.select([pressure >= 145, pressure >= 130], [0.7, 0.2], 0.05)
    glucose = 5.4 + 0.02 * older + 0.07 * heavier + 0.6 * Stream("glucose", rows).bell()
    cholesterol = 5.2 + 0.95 * Stream("cholesterol", rows).bell()
    return {
        "age": age,
        "bmi": bmi,
        "waist": whole(waist, 55, 160),
        "systolic_pressure": pressure,
        "pressure_medication": with_chance(medicated, "pressure_medication"),
        "glucose": np.clip(np.round(glucose, 2), 3.0, 10.0),
        "cholesterol": np.clip(np.round(cholesterol, 2), 2.0, 9.0),
    }


def chance_of_target(columns: dict[str, np.ndarray]) -> np.ndarray:
    """Return each patient's chance of diabetes by the logistic model."""
    log_odds = np.full(len(columns["age"]), BASE)
    for name, slope in SLOPE.items():
        log_odds += slope * (columns[name].astype(float) - MIDDLE[name])
    for name, parts in LISTED_RISK.items():
        log_odds += [parts[value] for value in columns[name]]
    return 1.0 / (1.0 + np.exp(-log_odds))


def complete_clinic(rows: int) -> dict[str, np.ndarray]:
    """Draw every column, in the order of the file and without holes."""
    columns = {name: chosen(values, Stream(name, rows).uniform()) for name, values in CHOICES.items()}
    columns |= measured(rows)
    columns["patient"] = np.array([f"P-{number:05d}" for number in range(1, rows + 1)])
    columns["clinic"] = np.full(rows, "North")
    columns[TARGET] = with_chance(chance_of_target(columns), TARGET)
    uniform = Stream("visits_last_year", rows).uniform()
    often = {answer: chosen(values, uniform) for answer, values in VISITS.items()}
    columns["visits_last_year"] = np.where(columns[TARGET] == "yes", often["yes"], often["no"])
    return {name: columns[name] for name in COLUMNS}


def with_holes(columns: dict[str, np.ndarray]) -> dict[str, list[object]]:
    """Write the mark of a hole over the values that were not recorded."""
    groups = {
        "young": columns["age"] < 40,
        "women": columns["sex"] == "female",
        "men": columns["sex"] == "male",
        "unseen": columns["visits_last_year"] == 0,
    }
    kept = {name: values.tolist() for name, values in columns.items()}
    for name, hole in HOLES.items():
        rate = np.where(groups[hole.group], hole.raised, hole.usual)
        for row in np.flatnonzero(Stream(name + ", hole", len(rate)).uniform() < rate):
            kept[name][row] = hole.mark
    return kept


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the file to write")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"number of patients ({ROWS})")
    parser.add_argument("--truth", action="store_true", help="print the truth as JSON and write nothing")
    options = parser.parse_args()
    if options.rows < 1:
        parser.error("--rows: at least one patient is needed")
    if options.truth:
        print(json.dumps(TRUTH, indent=2))
        return 0
    columns = with_holes(complete_clinic(options.rows))
    with options.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
