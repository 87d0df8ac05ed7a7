"""The cases of the command line for `record_answers`: their inputs, what is typed, and what came back."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
TARGETS = {  # the target of each data set
    "clinic": "diabetes",
    "traps": "class",
    "asia-500": "dysp",
    "sachs-500": "Akt",
    "crx": "c16",
    "horse-colic": "c24",
    "vote": "c1",
}
WITHOUT_HEADER = {
    "crx": "uci/crx/crx.data",
    "horse-colic": "uci/horse-colic/horse-colic.data",
    "vote": "uci/vote/house-votes-84.data",
}
SMALL = {  # a few lines with a trap, target `t`
    "nan": ["a,b,t", *[f"{('nan', 'NaN', row / 4, '')[row % 4]},{'?xy'[row % 3]},{row % 2}" for row in range(40)]],
    "mixed": ["a,b,t", *[f"{(1, '1.0', 'one', 'true', 2)[row % 5]},{row % 3},{'yn'[row % 2]}" for row in range(60)]],
    "one class": ["a,t", *[f"{row % 3},yes" for row in range(20)]],
    "header only": ["a,b,t"],
    "no target known": ["a,t", *[f"{row % 2},?" for row in range(9)]],
    "unnamed": [",b,t", *[f"{row % 3},{row % 2},{'yn'[row % 2]}" for row in range(30)]],
    "named twice": ["a,a,t", "1,2,y", "2,1,n"],
    "short row": ["a,b,t", "1,2,y", "1,2", "2,2,n"],
    "empty": [],
    "semicolons": ["a;b;t", *[f"{row % 3};{row % 7};{'yn'[row % 2]}" for row in range(50)]],
    "identifiers": ["id,a,t", *[f"P{row:03d},{row % 4},{'yn'[row % 4 // 2]}" for row in range(80)]],
    "weights": [
        "w,s,a,b,t",
        *[f"{row % 4},{row % 5 + 0.5},{row * row % 3},{row % 2},{'yn'[row % 3 // 2]}" for row in range(90)],
    ],
    "xor": ["a,b,c,t", *[f"{row % 2},{row // 2 % 2},{row * row % 5},{(row + row // 2) % 2}" for row in range(120)]],
}  # fmt: skip
RANK = {
    "plain": [],
    "uniform leading": ["--prior", "uniform", "--approximation", "leading"],
    "jeffreys leading-beta": ["--prior", "jeffreys", "--approximation", "leading-beta"],
    "perks": ["--prior", "perks", "--epsilon", "0.01", "--level", "0.9"],
    "number": ["--prior", "0.3", "--fdr", "0.2"],
    "sampled": ["--approximation", "sampled", "--random-state", "3"],
    "quantile": ["--discretize", "quantile"],
    "categories": ["--discretize", "categories"],
    "missing as category": ["--missing-as", "category"],
    "missing token": ["--missing", "never", "--missing", "1"],
    "robust": ["--robust-factor", "3"],
}
CLINIC = {  # one case for each option that is not among those of `rank` above
    "rank table": ["rank"],
    "rank bits": ["rank", "--units", "bits", "--top", "3"],
    "rank csv": ["rank", "--format", "csv", "--csv-safe"],
    "rank by name": ["rank", "--sort", "name", "--exclude", "patient", "--exclude", "region", "--top", "4"],
    "rank by low": ["rank", "--sort", "low", "--features", "age", "bmi", "glucose", "smoking"],
    "rank by p": ["rank", "--sort", "p", "--threads", "1"],
    "rank robust": ["rank", "--robust-factor", "2"],
    "rank groups": ["rank", "--by", "sex"],
    "rank groups json": ["rank", "--by", "sex", "--p-same", "0.8", "--format", "json"],
    "rank cut": ["rank", "--target", "age", "--target-cuts", "30,50"],
    "rank quantiles": ["rank", "--target", "bmi", "--target-cuts", "quantile:4", "--format", "json"],
    "rank uncut": ["rank", "--target", "bmi"],
    "rank few values": ["rank", "--max-values", "5"],
    "rank identifiers": ["rank", "--target", "patient"],
    "rank discretized": ["rank", "--discretize", "age=quantile:3", "--discretize", "bmi=quantile"],
    "rank weights": ["rank", "--weights", "visits_last_year", "--format", "json"],
    "rank survey": ["rank", "--weights", "children", "--weights-are", "survey", "--top", "5"],
    "rank duckdb": ["rank", "--engine", "duckdb", "--format", "json"],
    "rank target misspelt": ["rank", "--target", "diabets"],
    "rank prior misspelt": ["rank", "--prior", "jefreys"],
    "rank epsilon below 0": ["rank", "--epsilon", "-1"],
    "rank level above 1": ["rank", "--level", "1.5"],
    "rank option misspelt": ["rank", "--epsiln", "0.1"],
    "rank method misspelt": ["rank", "--discretize", "mld"],
    "rank cuts wrong": ["rank", "--target-cuts", "a,b"],
    "select distinct": ["select"],
    "select distinct json": ["select", "--format", "json"],
    "select relevant json": ["select", "--rule", "relevant", "--format", "json"],
    "select at most": ["select", "--max-features", "2", "--units", "bits"],
    "select at least": ["select", "--min-features", "9", "--level", "0.9"],
    "select forward": ["select", "--rule", "forward", "--max-features", "4"],
    "select robust": ["select", "--rule", "forward", "--robust-factor", "2"],
    "interactions table": ["interactions"],
    "interactions top": ["interactions", "--top", "4", "--epsilon", "0.01", "--format", "json"],
    "interactions csv": ["interactions", "--top", "2", "--format", "csv"],
    "pairs table": ["pairs"],
    "pairs csv": ["pairs", "--format", "csv", "--top", "20"],
    "pairs likely": ["pairs", "--p-dependent", "0.9", "--epsilon", "0.01", "--format", "json"],
    "pairs forest": ["pairs", "--forest"],
    "pairs forest json": ["pairs", "--forest", "--format", "json"],
    "pairs refined": ["pairs", "--features", "age", "bmi", "glucose", "waist", "sex", "--refine", "forest"],
    "pairs few values": ["pairs", "--max-values", "4", "--top", "3"],
    "network table": ["network"],
    "network dot": ["network", "--format", "dot", "--imputations", "1"],
    "network graphml": ["network", "--format", "graphml", "--imputations", "1"],
    "network csv": ["network", "--format", "csv", "--degree", "2", "--max-parents", "3", "--imputations", "1"],
    "tree text": ["tree"],
    "tree depth": ["tree", "--max-depth", "2", "--no-reasons", "--level", "0.9"],
    "count": ["count", "--into", "clinic.counts"],
    "count again": ["count", "--into", "clinic.counts"],
    "count forced": ["count", "--into", "clinic.counts", "--force"],
    "rank of counts": ["rank", "of clinic.counts", "--format", "json"],
    "compare table": ["compare", "older.csv"],
    "compare json": ["compare", "older.csv", "--p-same", "0.5", "--format", "json"],
    "compare csv": ["compare", "older.csv", "--top", "3", "--format", "csv", "--missing-as", "category"],
    "compare itself": ["compare", "clinic.csv", "--units", "bits"],
}  # fmt: skip
TABLES = {
    "small": ["10 2; 3 15"],
    "incomplete": ["10 2; 3 15", "--target-only", "4 1", "--feature-only", "0 2"],
    "wide": ["4 0 1 9; 2 7 0 3; 1 1 8 0", "--target-only", "1 2 3"],
    "bits": ["10 2; 3 15", "--units", "bits", "--epsilon", "0.1"],
    "uniform": ["10 2; 3 15", "--prior", "uniform", "--approximation", "leading"],
    "haldane": ["10 2; 3 15", "--prior", "haldane", "--approximation", "leading-beta"],
    "sampled": ["10 2; 3 15", "--approximation", "sampled", "--target-only", "4 1"],
    "given": ["10 2; 3 15 | 4 4; 5 1", "--given"],
    "refused": ["10 2; 3"],
    "negative": ["10 -2; 3 4"],
}
WITH_PAGES = ("rank", "select", "interactions", "pairs", "network", "tree", "compare")
WITHOUT_TARGET = ("pairs", "network")


def inputs(data: Path) -> Iterator[str]:
    """Write the inputs into this folder, and give their names; those that are not there are left out."""
    import pyarrow.csv  # noqa: PLC0415
    import trap_table  # noqa: PLC0415  (of tests/)

    shutil.copy(ROOT / "examples" / "clinic.csv", "clinic.csv")
    header, *rows = Path("clinic.csv").read_text(encoding="utf-8").splitlines()
    old = [row for row in rows if row.split(",")[4] > "50"]
    Path("older.csv").write_text("\n".join([header, *old]) + "\n", encoding="utf-8")
    pyarrow.csv.write_csv(trap_table.table(), "traps.csv")
    for name, lines in SMALL.items():
        Path(f"{name}.csv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
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


def commands(present: list[str]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """The cases of the command line: their names, and what is typed; group by group."""
    for name in present:
        given = [f"{name}.csv", "--target", TARGETS[name]]
        cases = {
            f"rank {name} {case}": ["rank", *given, *options, "--format", "json"] for case, options in RANK.items()
        }
        for rule in ("forward", "backward", "plugin", "fdr"):
            cases[f"select {name} {rule}"] = ["select", *given, "--rule", rule, "--output", "reduced.csv"]
        if name in {"traps", "asia-500", "crx"}:  # the others take longer
            rules = ["--rule", "plugin", "--rule", "forward", "--rule", "imputed"]
            cases[f"prequential {name}"] = ["prequential", *given, *rules, "--orders", "1", "--format", "json"]
        for command in WITH_PAGES:
            data = given[:1] if command in WITHOUT_TARGET else given
            data = [data[0], *data] if command == "compare" else data
            if name != "horse-colic" or command not in {"pairs", "network"}:  # which has many columns
                cases[f"{command} {name} page"] = [command, *data, "--format", "json", "--html", "page.html"]
        yield name, cases
    yield "options", {f"clinic {case}": _of_clinic(*typed) for case, typed in CLINIC.items()}
    small = {
        f"{command} {name}": _of_small(command, name)
        for name in SMALL
        for command in (*WITH_PAGES, "count", "prequential")
        if command != "compare" or name == "mixed"
    }
    for command in ("rank", "select", "interactions", "tree", "pairs", "network"):
        for column, kind in (("w", "rows"), ("s", "survey")):
            weights = ["--weights", column, "--weights-are", kind]
            small[f"{command} weighted {kind}"] = [*_of_small(command, "weights"), *weights]
    yield "small", small
    yield (
        "tables",
        {
            f"table {name}{' json' if faces else ''}": ["table", *typed, *faces]
            for name, typed in TABLES.items()
            for faces in ([], ["--format", "json"])
        },
    )
    yield (
        "no file",
        {
            f"{command} no file": _of_small(command, "nothing")
            for command in ("rank", "select", "network", "tree", "count")
        },
    )


def _of_clinic(command: str, *options: str) -> list[str]:
    if command == "compare":
        return [command, "clinic.csv", options[0], "--target", "diabetes", *options[1:]]
    if options[:1] == ("of clinic.counts",):
        return [command, "clinic.counts", *options[1:]]
    asked = "--target" in options or command in WITHOUT_TARGET
    return [command, "clinic.csv", *(() if asked else ("--target", "diabetes")), *options]


def _of_small(command: str, name: str) -> list[str]:
    file = f"{name}.csv"
    if command == "count":
        return [command, file, "--target", "t", "--into", f"{name}.counts"]
    if command == "prequential":
        return [command, file, "--target", "t", "--orders", "2", "--format", "json"]
    data = [file] if command in WITHOUT_TARGET else [file, "--target", "t"]
    return [command, *([file] if command == "compare" else []), *data]


def command(*typed: str) -> dict[str, Any]:
    """The exit code of a command, and what it wrote; JSON as data."""
    from credimi.cli import main  # noqa: PLC0415

    code, out, errors = _run(main, [*typed])
    folder = str(Path.cwd()) + os.sep  # has another name each time
    progress = re.compile(r"compiling|: \d+ %")  # which depends on how busy the machine is
    messages = [line.replace(folder, "") for line in errors.splitlines() if not progress.search(line)]
    answer: dict[str, Any] = {"exit": code, "errors": messages}
    try:
        answer["json"] = json.loads(out)
    except ValueError:
        answer["printed"] = out.splitlines()
    for path, read in ((Path("page.html"), _of_page), (Path("reduced.csv"), _header)):
        if path.is_file():
            answer[path.stem] = read(path)
            path.unlink()
    return answer


def _run(main: Callable[[list[str]], int], arguments: list[str]) -> tuple[int, str, str]:
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main(arguments)
        except SystemExit as end:  # argparse's way to refuse
            code = end.code if isinstance(end.code, int) else 1
        except Exception as error:  # noqa: BLE001  (a fault: it is recorded like any answer)
            code = -1
            errors.write(f"{type(error).__name__}: {error}\n")
    return code, out.getvalue(), errors.getvalue()


def _of_page(path: Path) -> dict[str, Any]:
    """The data of a page, and the text that it shows."""
    text = path.read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    shown = re.sub(r"<svg\b.*?</svg>", "", shown, flags=re.DOTALL)
    lines = [" ".join(line.split()) for line in re.sub(r"<[^>]*>", "\n", shown).splitlines()]
    return {"data": json.loads(data[1]) if data else None, "shown": [line for line in lines if line]}


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def reproduced(data: Path) -> dict[str, Any]:
    """The shortest run of the paper's experiments."""
    answer = command(
        *("reproduce", "--data", str(data), "--dataset", "lymphography", "--quick", "--orders", "1"),
        *("--output", "reproduction"),
    )
    if not answer["exit"]:
        answer["json"] = json.loads(Path("reproduction/reproduction.json").read_text(encoding="utf-8"))
    return answer
