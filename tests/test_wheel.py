"""The wheel with compiled kernels, in an empty environment with an empty home: nothing compiles, Numba is not there.

Run by `tools/bootstrap.py wheel`, which builds the wheel first.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = str(ROOT / "examples" / "clinic.csv")
COMMANDS = {
    "rank": ["rank", EXAMPLE, "--target", "diabetes", "--format", "json"],
    "leading": ["rank", EXAMPLE, "--target", "diabetes", "--prior", "uniform", "--approximation", "leading"],
    "sampled": ["rank", EXAMPLE, "--target", "diabetes", "--approximation", "sampled"],
    "page": ["rank", EXAMPLE, "--target", "diabetes", "--html", "page.html"],
    "robust": ["rank", EXAMPLE, "--target", "diabetes", "--robust-factor", "2", "--top", "3"],
    "groups": ["rank", EXAMPLE, "--target", "diabetes", "--by", "sex"],
    "select": ["select", EXAMPLE, "--target", "diabetes", "--output", "reduced.csv"],
    "relevant": ["select", EXAMPLE, "--target", "diabetes", "--rule", "relevant"],
    "robust selection": [
        *("select", EXAMPLE, "--target", "diabetes", "--rule", "forward", "--robust-factor", "2"),
        *("--output", "robust.csv"),
    ],
    "interactions": ["interactions", EXAMPLE, "--target", "diabetes"],
    "pairs": ["pairs", EXAMPLE, "--top", "4"],
    "forest": ["pairs", EXAMPLE, "--forest"],
    "network": ["network", EXAMPLE, "--features", "bmi", "waist", "glucose", "--level", "0.95"],
    "tree": ["tree", EXAMPLE, "--target", "diabetes"],
    "compare": ["compare", EXAMPLE, EXAMPLE, "--target", "diabetes"],
    "count": ["count", EXAMPLE, "--target", "diabetes", "--into", "counts.credimi"],
    "counts": ["rank", "counts.credimi"],
    "table": ["table", "10 2; 3 15", "--target-only", "4 1", "--feature-only", "0 2"],
    "given": ["table", "190 20; 12 1 | 40 60; 40 62", "--target-only", "9 2 | 10 9", "--given"],
    "prequential": ["prequential", EXAMPLE, "--target", "diabetes"],
    "report": ["report", EXAMPLE, "--target", "diabetes", "--html", "report.html"],
    "warm-up": ["warm-up"],
}

pytestmark = pytest.mark.wheel


@pytest.fixture(scope="module")
def wheel() -> Path:
    found = sorted((ROOT / "dist").glob("credimi-*-py3-none-*.whl"))
    assert found, "no wheel in dist: run tools/bootstrap.py wheel"
    return found[-1]


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel and its dependencies only."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    return programs


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def _run(programs: Path, home: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "SYSTEMROOT", "LANG"}}
    return subprocess.run(
        [str(programs / program), *arguments],
        env=kept | {"HOME": str(home), "USERPROFILE": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_compiles(programs: Path, home: Path, name: str) -> None:
    ran = _run(programs, home, "credimi", *COMMANDS[name])
    assert ran.returncode == 0, ran.stderr
    assert "compiling" not in ran.stderr
    assert "Error" not in ran.stderr


@pytest.mark.parametrize("name", ["numba", "scipy"])
def test_what_is_not_needed_is_not_installed(programs: Path, home: Path, name: str) -> None:
    ran = _run(programs, home, "python", "-c", f"import credimi, {name}")
    assert f"No module named '{name}'" in ran.stderr


def test_answers_are_those_of_the_checkout(programs: Path, home: Path) -> None:
    ours = subprocess.run(
        [sys.executable, "-m", "credimi.cli", *COMMANDS["rank"]], capture_output=True, text=True, check=True
    )
    theirs = _run(programs, home, "credimi", *COMMANDS["rank"])
    assert _rounded(theirs.stdout) == _rounded(ours.stdout)


def _rounded(text: str) -> list[object]:
    """The values of a ranking to ten digits: processors may add in another order."""
    import json  # noqa: PLC0415

    return [
        [round(value, 10) if isinstance(value, float) else value for value in feature.values()]
        for feature in json.loads(text)["features"]
    ]


def test_installed_size(programs: Path) -> None:
    packages = next((programs.parent / "lib").glob("python*/site-packages"), programs.parent / "Lib" / "site-packages")
    apart = [path for name in ("pip", "setuptools") for path in packages.glob(f"{name}*")]
    files = [file for file in packages.rglob("*") if file.is_file() and not any(path in file.parents for path in apart)]
    assert sum(file.stat().st_size for file in files) < 400e6


def test_the_wheel_is_small_and_whole(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    libraries = [name for name in names if "/compile/compiled/" in name and not name.endswith(".json")]
    assert len(libraries) >= 1
    assert all(name.rsplit(".", 1)[0] + ".json" in names for name in libraries)
    assert wheel.stat().st_size < 4e6
