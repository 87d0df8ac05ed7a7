"""The package as a whole: what importing it costs, what it offers, what its sources may not contain."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import credimi

ROOT = Path(__file__).resolve().parent.parent
LOADED_ON_USE = ("numba", "scipy", "pyarrow", "pandas", "polars", "matplotlib", "sklearn", "dask", "pyspark", "duckdb")


def test_import_loads_no_heavy_library() -> None:
    program = "import json, sys, credimi; print(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not set(LOADED_ON_USE) & set(json.loads(answer.stdout))


def test_help_loads_no_library() -> None:
    program = "import json, sys; from credimi.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    program += "print(json.dumps(sorted(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"numpy", "rich", *LOADED_ON_USE} & set(json.loads(answer.stdout.splitlines()[-1]))


def test_ranking_by_the_command_loads_neither_linear_algebra_nor_special_functions() -> None:
    # Each takes as long to load as Numba, which loads linear algebra to compile, or where a kernel calls `sum`.
    arguments = ["rank", str(ROOT / "examples" / "clinic.csv"), "--target", "diabetes", "--format", "json"]
    program = (
        "import sys; from credimi.cli import main\n"
        f"assert main({arguments}) == 0\n"
        "print(sorted({'scipy.linalg', 'scipy.special', 'numpy.f2py'} & set(sys.modules)), file=sys.stderr)\n"
        "import gc; assert gc.isenabled()"
    )
    for _ in range(2):  # the first time kernels may have to be compiled
        answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stderr.splitlines()[-1] == "[]"


WITHOUT_SCIPY = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "scipy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import credimi
from credimi.cli import main

path, target = sys.argv[1:]
joint = [[10, 2, 0], [3, 15, 1]]
law = credimi.mutual_information(joint)
law.interval(), law.pdf(0.1), law.cdf(0.1), law.rvs(3), repr(law)
credimi.mutual_information(joint, prior="uniform", approximation="leading").interval()
credimi.mutual_information(joint, target_only=[4, 1], feature_only=[0, 2, 5], approximation="sampled").interval()
credimi.mutual_information([[3, 1, 0], [300, 200, 100]], target_only=[4000, 0]).interval()  # a thin class
credimi.information_bounds(joint, target_only=[4, 1], feature_only=[0, 2, 5])
credimi.conditional_information([joint, joint]).interval()
credimi.posterior(joint, target_only=[4, 1]).log_evidence
credimi.rank(path, target, robust_factor=2)
credimi.rank(path, target, approximation="sampled")
credimi.select(path, target)
credimi.interactions(path, target)
credimi.pairs(path)
credimi.network(path, features=["bmi", "waist", "glucose"])
credimi.compare(path, path, target=target)
assert main(["tree", path, "--target", target]) == 0
assert main(["prequential", path, "--target", target, "--orders", "1"]) == 0
assert not [name for name in sys.modules if name.partition(".")[0] == "scipy"]
"""


@pytest.mark.long
def test_nothing_needs_scipy() -> None:
    example = str(ROOT / "examples" / "clinic.csv")
    command = [sys.executable, "-c", WITHOUT_SCIPY, example, "diabetes"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.long
@pytest.mark.parametrize("command", ["rank", "count", "prequential"])
def test_garbage_is_looked_for_once_modules_are_loaded(command: str, tmp_path: Path) -> None:
    arguments = [command, str(ROOT / "examples" / "clinic.csv"), "--target", "diabetes"]
    arguments += ["--into", str(tmp_path / "a.counts")] if command == "count" else ["--format", "json"]
    arguments += ["--orders", "1"] if command == "prequential" else []
    program = (
        f"import gc; gc.disable()\nfrom credimi.cli import main\nassert main({arguments}) == 0; assert gc.isenabled()"
    )
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)


@pytest.mark.parametrize("name", credimi.__all__)
def test_public_name_resolves(name: str) -> None:
    assert getattr(credimi, name) is not None
    assert name in dir(credimi)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'mutual_knowledge'"):
        _ = credimi.mutual_knowledge


@pytest.mark.parametrize(("command", "name"), [("table", "mutual_information")])
def test_a_command_of_another_name_names_what_does_the_same(command: str, name: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{command}'; did you mean {name}[?] credimi offers"):
        getattr(credimi, command)
    assert name in credimi.__all__


def test_version_is_that_of_the_project_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert credimi.__version__ == project["version"]


def python_sources() -> list[Path]:
    """Every Python file of the project: those git knows or would add; without git, all outside hidden folders."""
    try:
        listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.py"]
        answer = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
        found = [ROOT / name for name in answer.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        found = [
            path
            for path in ROOT.rglob("*.py")
            if not any(part.startswith(".") or part in {"build", "dist"} for part in path.relative_to(ROOT).parts)
        ]
    return [path for path in found if path.is_file()]


def test_the_package_loads_no_pickle() -> None:
    sources = [path for path in python_sources() if (ROOT / "src") in path.parents]
    assert ROOT / "src" / "credimi" / "__init__.py" in sources
    assert [
        path
        for path in sources
        if re.search(r"import pickle|from pickle|pickle\.load", path.read_text(encoding="utf-8"))
    ] == []


@pytest.mark.long
def test_a_change_to_a_kernel_makes_those_that_use_it_stale(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "from credimi.compile.hooks import hooks; compiled = []; hooks.compiling = compiled.append;"
        "import numpy as np; from credimi.inference.distributions.mixture_tails import log_scales;"
        "log_scales(np.ones(1), np.ones(1), np.empty(1));"
        "print(len(compiled))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONPATH": str(tmp_path / "src")}

    def compilations() -> int:
        command = [sys.executable, "-c", program]
        return int(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)

    assert compilations() > 0
    assert compilations() == 0
    with (tmp_path / "src" / "credimi" / "inference" / "special_functions.py").open("a", encoding="utf-8") as source:
        source.write("# a change\n")
    assert compilations() > 0
