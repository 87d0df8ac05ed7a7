"""The code of the pages runs, block after block, in a folder with a copy of examples/, and prints what they show.

```python    runs, with the names of the blocks before it; a ```text block at once behind it is what it prints
```console   a line that starts with "$ " is a command, the lines below it are what it prints, if there are any
```text      output, a formula or a drawing

A block below the comment `<!-- not run: why, and what runs it instead -->` does not run; all of these are listed here.
The examples of the docstrings run, too.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import credimi

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
)
NOT_RUN = re.compile(r"<!--\s*not run: (.*?)\s*-->", re.DOTALL)
SHOWN = ("python", "console", "text")
MARK = "=-=-= done "
HOME = "/home/you"  # what the pages call the folder
VERSION = "credimi 0.1.0"  # and the release
COMPILING = re.compile("credimi: compiling what .*\n")

# What no default test runs, by page: how each block begins. A block that is new here needs a reason on its page.
EXPECTED_NOT_RUN = {
    "README.md": ["python3 tools/bootstrap.py demo"],
    "docs/accuracy.md": [
        "$ .venv/bin/python studies/accuracy.py",
        "$ .venv/bin/python studies/lopsided_tables.py --tables 25",
        "$ .venv/bin/python studies/thin_classes.py",
        "$ .venv/bin/python studies/thin_tables.py",
        "$ .venv/bin/python studies/robust.py",
        "$ .venv/bin/python studies/both_missing_bounds.py",
        "$ .venv/bin/python studies/both_missing_bounds.py --against-solver 60 --seed 4",
    ],
    "docs/adaptive.md": [
        "$ .venv/bin/python studies/adaptive.py --tables 400",
        "$ .venv/bin/python studies/fixed_information.py",
        "$ .venv/bin/python studies/many_values.py",
        "$ .venv/bin/python studies/both_missing.py",
        "$ .venv/bin/python studies/both_missing_exact.py",
        "$ .venv/bin/python studies/cuts.py",
        "$ .venv/bin/python studies/discoveries.py",
        "$ .venv/bin/python benchmarks/moments.py",
    ],
    "docs/architecture.md": ["$ python3 tools/bootstrap.py fuzz --seconds 3600"],
    "docs/comparison.md": ["$ .venv/bin/pip install scikit-learn infomeasure feature-engine orange3"],
    "docs/explanation/forests.md": ["$ .venv/bin/python studies/refined_pairs.py --sets 40"],
    "docs/explanation/networks.md": [
        "$ .venv/bin/python studies/networks.py --nets 1 --data FOLDER",
        "$ .venv/bin/python studies/edge_calibration.py",
    ],
    "docs/explanation/paper.md": ["$ credimi reproduce --data DIR --output reproduction"],
    "docs/how-to/choosing-epsilon.md": [
        "$ .venv/bin/python studies/rare_targets.py",
        "$ .venv/bin/python studies/few_rows.py",
    ],
    "docs/how-to/comparing.md": ["$ .venv/bin/python studies/compare.py"],
    "docs/how-to/gpu.md": [
        'pip install "credimi[gpu]"',
        "import credimi",
        "$ credimi pairs genotypes.parquet --device gpu --top 1000",
    ],
    "docs/how-to/install.md": ["python3 tools/bootstrap.py wheel", "credimi warm-up"],
    "docs/how-to/spark.md": [
        "from pyspark.sql import SparkSession",
        '$ credimi rank examples/clinic.csv --target diabetes --engine spark --master "local[2]" --top 3',
        'credimi.select(clinic, "diabetes")',
    ],
    "docs/performance.md": [
        "$ .venv/bin/python benchmarks/moments.py",
        "$ .venv/bin/python benchmarks/counting.py",
        "$ .venv/bin/pip install pandas && .venv/bin/python benchmarks/ranking.py --repeats 5",
        "$ .venv/bin/python benchmarks/robust.py",
        "$ .venv/bin/python benchmarks/comparing.py",
        "$ .venv/bin/pip install polars && .venv/bin/python benchmarks/reading.py",
        "$ .venv/bin/python benchmarks/layouts.py --repeats 15",
        "$ .venv/bin/python benchmarks/wide.py --repeats 2",
        "$ .venv/bin/python benchmarks/pairs.py",
        "$ .venv/bin/python benchmarks/networks.py",
        "$ .venv/bin/python benchmarks/sets.py",
        "$ .venv/bin/python benchmarks/interactions.py",
        "$ .venv/bin/python benchmarks/trees.py",
        "$ .venv/bin/python benchmarks/discretizing.py",
        "$ .venv/bin/pip install river && .venv/bin/python benchmarks/streaming.py",
        "$ .venv/bin/python benchmarks/gpu_pairs.py --repeats 2",
        "sed -n",
    ],
    "docs/reproduction.md": [
        "$ credimi reproduce --data DIR --output reproduction",
        "$ credimi reproduce --data DIR --orders 5 --output complete --dataset australian --dataset chess",
    ],
    "docs/scikit-learn.md": ["$ OMP_NUM_THREADS=1 CREDIMI_DATA=FOLDER .venv/bin/python studies/selecting.py"],
    "docs/scale.md": [
        "credimi.rank(spark.read.parquet(",
        "$ credimi rank 2024/ --target churn --engine spark",
        "$ .venv/bin/python benchmarks/clusters.py",
        "$ .venv/bin/python studies/coarse_numbers.py",
        "$ credimi count january/ --target churn",
        "$ .venv/bin/pip install duckdb polars",
    ],
    "docs/explanation/numbers.md": ["$ .venv/bin/python studies/all_cuts.py relations"],
    "docs/how-to/surveys.md": ["$ .venv/bin/python studies/survey_weights.py --samples 300 --seed 31"],
    "docs/tutorial.md": ["$ python3 -m venv .venv"],
}


@dataclass(frozen=True)
class Block:
    """Some code of a page."""

    kind: str
    text: str
    line: int
    reason: str = ""  # why it does not run
    output: str | None = None  # what the page says that it prints


def blocks_of(page: str) -> list[Block]:
    """The code of a page, in order; a block of Python with its output."""
    found: list[Block] = []
    before = None
    for token in MarkdownIt("commonmark").enable("table").parse((ROOT / page).read_text(encoding="utf-8")):
        if token.type in {"fence", "code_block"} and not token.info.startswith("{"):
            reason = NOT_RUN.search(before.content) if before is not None and before.type == "html_block" else None
            block = Block(
                token.info.strip() if token.type == "fence" else "indented",
                token.content,
                token.map[0] + 1 if token.map else 0,
                " ".join(reason[1].split()) if reason else "",
            )
            if block.kind == "text" and found and before is not None and before.info.strip() == "python":
                block = Block("python", found[-1].text, found[-1].line, found[-1].reason, block.text)
                found.pop()
            found.append(block)
        if token.nesting >= 0:
            before = token
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_of_a_known_kind(page: str) -> None:
    for block in blocks_of(page):
        assert block.kind in SHOWN or block.reason, f"{page}, line {block.line}: a block of {block.kind or 'no kind'}"


def test_what_does_not_run_is_what_is_known_not_to() -> None:
    found = {page: [block.text.splitlines()[0] for block in blocks_of(page) if block.reason] for page in PAGES}
    assert {page for page, lines in found.items() if lines} == set(EXPECTED_NOT_RUN)
    for page, begins in EXPECTED_NOT_RUN.items():
        assert len(found[page]) == len(begins), page
        assert all(line.startswith(begin) for line, begin in zip(found[page], begins, strict=True)), found[page]


@pytest.mark.long
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(block.kind != "text" and not block.reason for block in blocks_of(page))],
)
def test_blocks_run_and_print_what_the_page_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for needed in ("matplotlib", "pandas", "polars", "sklearn"):
        pytest.importorskip(needed)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page):
        if block.kind == "python" and not block.reason:
            run_python(page, block, names)
        elif block.kind == "console" and not block.reason:
            run_commands(page, block)


def run_python(page: str, block: Block, names: dict[str, object]) -> None:
    printed = io.StringIO()
    code = compile("\n" * block.line + block.text, page, "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, names)  # noqa: S102  (the project's own page)
    if block.output is not None:
        assert plain(printed.getvalue()) == plain(block.output), f"{page}, line {block.line}"


def session_of(block: Block) -> list[tuple[str, str]]:
    """The commands of a block, each with what it prints."""
    return [
        (part[1].replace(".venv/bin/", ""), part[2])
        for part in re.finditer(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE)
    ]


def run_commands(page: str, block: Block) -> None:
    """All commands of a block in one shell; one that fails has to be followed by `echo $?`."""
    session = session_of(block)
    assert session, f"{page}, line {block.line}: no command"
    script = "".join(f'{command}\n__code=$?; echo "{MARK}$__code"; (exit $__code)\n' for command, _ in session)
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    settings = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    settings |= {"PATH": programs, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8", "MPLBACKEND": "agg"}
    shell = shutil.which("bash") or pytest.skip("the commands of the pages are for bash")
    answer = subprocess.run(
        [shell, "-c", script],
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    text = COMPILING.sub("", answer.stdout).replace(str(Path.cwd()), HOME)
    text = text.replace(f"credimi {credimi.__version__}", VERSION)
    printed = re.split(rf"^{MARK}(\d+)\n", text, flags=re.MULTILINE)
    for place, (command, shown) in enumerate(session):
        where = f"{page}, line {block.line}: {command}"
        output, code = printed[2 * place : 2 * place + 2]
        asked = place + 1 < len(session) and session[place + 1][0] == "echo $?"
        assert code == "0" or asked, f"{where}\n{output}"
        if shown.strip():
            assert plain(output) == plain(shown), where


def plain(text: str) -> str:
    """Without blanks at the ends of lines, which nobody sees."""
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


@pytest.mark.parametrize("name", [name for name in credimi.__all__ if name != "__version__"])
def test_examples_of_the_docstrings(name: str) -> None:
    public = getattr(credimi, name)
    assert public.__doc__, name
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in finder.find(public, name, globs={"credimi": credimi}):
        runner.run(test)
    assert runner.failures == 0


def test_the_reference_has_all_public_names() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"auto(?:function|class|exception):: (\w+)", page))
    listed = set(re.findall(r"\{py:\w+\}`credimi\.(\w+)`", page))
    assert set(credimi.__all__) - {"__version__"} == shown & listed
