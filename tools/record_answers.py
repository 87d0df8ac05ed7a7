"""Record what the commands and functions answer, in one JSON file; or compare two such files.

    python tools/record_answers.py answers.json [--data FOLDER]
    python tools/record_answers.py --compare before.json after.json [--ignore note] [--ignore printed]

A change that only moves code must not change an answer: record before it, record after it, compare. The inputs are
copied into a temporary folder under fixed names, so that no path of a machine gets into the file. FOLDER holds more
data sets (`uci`, `networks`); where it does not exist, they are left out, and the comparison says so.

Numbers are compared with a relative tolerance of 1e-12, everything else exactly. `--ignore` leaves out every entry of
that name, at any depth: `printed` is the text of a command, `errors` what it wrote to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import math
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 1e-12
MAX_SHOWN = 200  # differences

TARGETS = {  # the target of each data set
    "clinic": "diabetes",
    "traps": "class",
    "asia-500": "dysp",
    "sachs-500": "Akt",
    "alarm-500": "BP",
    "crx": "c16",
    "horse-colic": "c24",
    "vote": "c1",
}
WITHOUT_HEADER = {
    "crx": "uci/crx/crx.data",
    "horse-colic": "uci/horse-colic/horse-colic.data",
    "vote": "uci/vote/house-votes-84.data",
}
RANK_OPTIONS = {
    "plain": [],
    "uniform leading": ["--prior", "uniform", "--approximation", "leading"],
    "jeffreys leading-beta": ["--prior", "jeffreys", "--approximation", "leading-beta"],
    "perks": ["--prior", "perks", "--epsilon", "0.01", "--level", "0.9"],
    "number": ["--prior", "0.3", "--fdr", "0.2"],
    "sampled": ["--approximation", "sampled", "--seed", "3"],
    "quantile": ["--discretize", "quantile"],
    "categories": ["--discretize", "categories"],
    "missing as category": ["--missing-as", "category"],
    "missing token": ["--missing", "no", "--missing", "0"],
    "one thread": ["--threads", "1"],
}
FACES = {
    "table": [],
    "bits": ["--units", "bits", "--top", "3"],
    "csv": ["--format", "csv"],
}
TABLES = {
    "small": ["10 2; 3 15"],
    "incomplete": ["10 2; 3 15", "--target-only", "4 1", "--feature-only", "0 2"],
    "wide": ["4 0 1 9; 2 7 0 3; 1 1 8 0", "--target-only", "1 2 3"],
    "bits": ["10 2; 3 15", "--units", "bits", "--epsilon", "0.1"],
    "uniform": ["10 2; 3 15", "--prior", "uniform", "--approximation", "leading"],
    "haldane": ["10 2; 3 15", "--prior", "haldane", "--approximation", "leading-beta"],
    "sampled": ["10 2; 3 15", "--approximation", "sampled", "--target-only", "4 1"],
    "refused": ["10 2; 3"],
}


def record(data: Path) -> dict[str, Any]:
    """All answers, by the command or function that gave them."""
    sys.path.insert(0, str(ROOT / "tests"))
    answers: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["COLUMNS"] = "132"  # of the terminal that tables are laid out for
        present = list(_inputs(data))
        for name in present:
            answers |= _of_commands(name)
        for name, arguments in TABLES.items():
            answers[f"table {name}"] = _command("table", *arguments)
            answers[f"table {name} json"] = _command("table", *arguments, "--format", "json")
        if (data / "uci/lymphography").is_dir():
            answers["reproduce"] = _reproduced(data / "uci")
        answers["functions"] = _of_functions()
        answers["traps"] = _of_traps()
    return answers


def _inputs(data: Path) -> Iterator[str]:
    """Write the inputs into this folder, and give their names; those that are not there are left out."""
    import pyarrow.csv  # noqa: PLC0415
    import trap_table  # noqa: PLC0415  (of tests/)

    shutil.copy(ROOT / "examples" / "clinic.csv", "clinic.csv")
    pyarrow.csv.write_csv(trap_table.table(), "traps.csv")
    yield from ("clinic", "traps")
    for name in TARGETS:
        if (data / "networks" / f"{name}.csv").is_file():
            shutil.copy(data / "networks" / f"{name}.csv", f"{name}.csv")
            yield name
        elif name in WITHOUT_HEADER and (data / WITHOUT_HEADER[name]).is_file():
            text = (data / WITHOUT_HEADER[name]).read_text(encoding="utf-8")
            rows = [re.split(r"[,\s]+", line.strip()) for line in text.splitlines() if line.strip()]
            with Path(f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([[f"c{number}" for number in range(1, len(rows[0]) + 1)], *rows])
            yield name


def _of_commands(name: str) -> dict[str, Any]:
    """What the commands say of one data set."""
    data_and_target = [f"{name}.csv", "--target", TARGETS[name]]
    answers = {}
    for case, options in RANK_OPTIONS.items():
        answers[f"rank {name} {case}"] = _command("rank", *data_and_target, *options, "--format", "json")
    for case, options in FACES.items():
        answers[f"rank {name} {case}"] = _command("rank", *data_and_target, *options)
    for rule in ("forward", "backward", "plugin", "fdr"):
        answers[f"select {name} {rule}"] = _command(
            "select", *data_and_target, "--rule", rule, "--output", "reduced.csv"
        )
        if Path("reduced.csv").is_file():
            answers[f"select {name} {rule}"]["header"] = _header(Path("reduced.csv"))
            Path("reduced.csv").unlink()
    answers[f"count {name}"] = _command("count", *data_and_target, "--into", f"{name}.counts")
    answers[f"rank counts of {name}"] = _command("rank", f"{name}.counts", "--format", "json")
    answers[f"count {name} again"] = _command("count", *data_and_target, "--into", f"{name}.counts")
    answers[f"rank no target of {name}"] = _command("rank", f"{name}.csv", "--target", "nothing of that name")
    if name in {"traps", "asia-500", "crx"}:  # the others take longer
        rules = ["--rule", "plugin", "--rule", "forward", "--rule", "imputed"]
        options = ["--orders", "1", "--format", "json"]
        answers[f"prequential {name}"] = _command("prequential", *data_and_target, *rules, *options)
    return answers


def _command(*arguments: str) -> dict[str, Any]:
    """The exit code of a command, and what it wrote; JSON as data."""
    from credimi.cli import main  # noqa: PLC0415

    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main(arguments)
        except SystemExit as end:  # argparse's way to refuse
            code = end.code if isinstance(end.code, int) else 1
    folder = str(Path.cwd()) + os.sep  # has another name each time
    messages = [line.replace(folder, "") for line in errors.getvalue().splitlines() if "compiling for this" not in line]
    answer: dict[str, Any] = {"exit": code, "errors": messages}
    try:
        answer["json"] = json.loads(out.getvalue())
    except ValueError:
        answer["printed"] = out.getvalue().splitlines()
    return answer


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def _reproduced(data: Path) -> dict[str, Any]:
    answer = _command(
        *("reproduce", "--data", str(data), "--dataset", "lymphography", "--quick", "--orders", "1"),
        *("--output", "reproduction"),
    )
    answer["json"] = json.loads(Path("reproduction/reproduction.json").read_text(encoding="utf-8"))
    return answer


def _of_functions() -> dict[str, Any]:
    """What the public functions and the estimators give."""
    import numpy as np  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    import credimi  # noqa: PLC0415

    joint, rows, columns = [[10, 2, 0], [3, 15, 1]], [4, 1], [0, 2, 5]
    answers: dict[str, Any] = {}
    for prior in ("adaptive", "uniform", "jeffreys", "perks", 0.25):
        for approximation in ("matched", "leading", "leading-beta"):
            distribution = credimi.mutual_information(
                joint, target_only=rows, feature_only=columns, prior=prior, approximation=approximation
            )
            answers[f"mutual_information {prior} {approximation}"] = [
                *(
                    distribution.mean(),
                    distribution.std(),
                    *distribution.interval(0.9),
                    distribution.cdf(0.05),
                    distribution.sf(0.2),
                    distribution.pdf(0.1),
                    distribution.ppf(0.3),
                )
            ]
    for prior in ("uniform", "jeffreys", 2.0):
        cells = credimi.posterior(joint, target_only=rows, feature_only=columns, prior=prior)
        answers[f"posterior {prior}"] = [
            *(cells.mode, cells.mean, cells.covariance(), cells.log_evidence, cells.rvs(2, random_state=1))
        ]
    clinic = pd.read_csv("clinic.csv", dtype=str, keep_default_na=False).head(1500)
    features, target = clinic.drop(columns=["diabetes", "patient"]), clinic["diabetes"]
    selector = credimi.CredibleSelector().fit(features, target)
    answers["CredibleSelector"] = [list(selector.get_feature_names_out()), selector.get_support()]
    learner = credimi.IncrementalNaiveBayes().fit(features, target)
    answers["IncrementalNaiveBayes"] = [learner.predict_proba(features.head(50)), learner.support_]
    numbers = clinic[["age", "bmi"]].replace("", None).dropna().astype(float)
    discretizer = credimi.EntropyDiscretizer().fit(numbers, target[numbers.index])
    answers["EntropyDiscretizer"] = [
        *(discretizer.cut_points_, np.asarray(discretizer.transform(numbers.head(40)), dtype=str))
    ]
    return json.loads(json.dumps(answers, default=_plain))


def _of_traps() -> dict[str, Any]:
    """The table of traps, counted whole, in parts and from a frame."""
    import trap_table  # noqa: PLC0415

    from credimi import count, rank  # noqa: PLC0415

    table = trap_table.table()
    whole = count(table, "class")
    parts = count(table.slice(0, 100), "class") + count(table.slice(100), "class")
    answers = {
        "expected": trap_table.expected(),
        "whole": trap_table.digest(whole),
        "parts": trap_table.digest(parts),
        "pandas": trap_table.digest(count(table.to_pandas(), "class")),
        "ranking": list(rank(whole)),
        "tables": {name: [whole[name].joint, whole[name].target_only, whole[name].feature_only] for name in ("word",)},
    }
    return json.loads(json.dumps(answers, default=_plain))


def _plain(value: Any) -> Any:  # noqa: ANN401  (what numpy gives)
    return value.tolist() if hasattr(value, "tolist") else list(value)


def compare(before: Any, after: Any, ignored: frozenset[str], path: str = "") -> Iterator[str]:  # noqa: ANN401
    """One line for each difference."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            if name in ignored:
                continue
            entry_path = f"{path} / {name}" if path else name
            if name not in before or name not in after:
                yield f"{entry_path}: only {'after' if name in after else 'before'}"
            else:
                yield from compare(before[name], after[name], ignored, entry_path)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{path}: {len(before)} entries before, {len(after)} after"
        for index, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from compare(one, other, ignored, f"{path}[{index}]")
    elif not _same(before, after):
        yield f"{path}: {before!r} before, {after!r} after"


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=TOLERANCE) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def main() -> int:
    """Record or compare; 1 where answers differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", nargs="?", type=Path, help="the file to write")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="(default: %(default)s)")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--ignore", action="append", default=[], metavar="NAME", help="leave out entries of this name")
    options = parser.parse_args()
    if options.compare:
        before, after = (json.loads(path.read_text(encoding="utf-8")) for path in options.compare)
        differences = list(compare(before, after, frozenset(options.ignore)))
        print("\n".join(differences[:MAX_SHOWN]))
        print(f"{len(differences):,} differences in {len(before):,} and {len(after):,} answers")
        return int(bool(differences))
    if options.output is None:
        parser.error("name the file to write, or two files to --compare")
    answers = record(options.data.resolve())
    options.output.write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{options.output}: {len(answers):,} answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
