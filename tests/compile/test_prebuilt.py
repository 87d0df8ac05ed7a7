"""Kernels compiled ahead of time: the same numbers as Numba's, whatever arrays they are called with."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from credimi.columns.numbers import best_split
from credimi.compile import jit, prebuilt
from credimi.compile.signatures import FIRST_NEEDED, SIGNATURES
from credimi.compile.warm_up import kernel, tasks
from credimi.inference.distributions import mixture_tails as tails

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(jit.LIBRARY is not None, reason="the kernels of this checkout are compiled ahead")

ROOT = Path(__file__).parents[2]
LEVEL = "x86-64" if platform.machine().lower() in {"x86_64", "amd64"} else "generic"
SOME = (
    "inference.distributions.mixture_tails.log_scales",
    "columns.numbers.best_split.fill_table",
    "columns.pair_counts.count_cells",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> prebuilt.Library:
    """Three kernels, compiled as a wheel has them."""
    if shutil.which(os.environ.get("CC", "cc")) is None:
        pytest.skip("there is no C compiler to link with")
    folder = tmp_path_factory.mktemp("compiled")
    command = [sys.executable, str(ROOT / "tools" / "compile_kernels.py"), "--level", LEVEL, "--into", str(folder)]
    environment = os.environ | {"NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": "", "CREDIMI_KERNELS": "numba"}
    subprocess.run([*command, "--only", *SOME], check=True, env=environment, capture_output=True)
    found = prebuilt.library(folder)
    assert found is not None
    return found


def _both(library: prebuilt.Library, name: str) -> tuple[Callable[..., object], Callable[..., object]]:
    by_numba = kernel(name)
    return library.compiled(by_numba.dispatcher.py_func), by_numba


def test_numbers_are_those_of_numba(library: prebuilt.Library) -> None:
    alpha, beta = np.array([0.5, 3.0, 70.0]), np.array([2.0, 9.0, 4.0])
    out, expected = np.empty(3), np.empty(3)
    ahead, by_numba = _both(library, "inference.distributions.mixture_tails.log_scales")
    assert isinstance(ahead, prebuilt.PrebuiltKernel)
    ahead(alpha, beta, out)
    by_numba(alpha, beta, expected)
    np.testing.assert_allclose(out, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32])
def test_each_type_has_its_own_function(library: prebuilt.Library, dtype: type) -> None:
    codes, groups = np.array([0, 2, 1, 1, 0, 2, 2, 0] * 9, dtype=dtype), np.array([0, 1] * 36, dtype=np.uint8)
    ahead, by_numba = _both(library, "columns.pair_counts.count_cells")
    out, expected = np.zeros((2, 4), dtype=np.int64), np.zeros((2, 4), dtype=np.int64)
    ahead(codes, groups, out)
    by_numba(codes, groups, expected)
    assert out.tolist() == expected.tolist() == [[18, 9, 9, 0], [9, 9, 18, 0]]


@pytest.mark.parametrize("make", [lambda a: np.repeat(a, 2)[::2], lambda a: a.astype(">f8"), lambda a: a.astype("f4")])
def test_other_arrays_are_copied(library: prebuilt.Library, make: Callable[..., object]) -> None:
    alpha, beta = np.array([0.5, 3.0]), np.array([2.0, 9.0])
    wide, expected = np.zeros(4), np.empty(2)
    ahead, by_numba = _both(library, "inference.distributions.mixture_tails.log_scales")
    ahead(make(alpha), beta, wide[::2])
    by_numba(alpha, beta, expected)
    np.testing.assert_allclose(wide, [expected[0], 0.0, expected[1], 0.0], rtol=1e-14)


def test_arrays_that_would_lose_digits_are_refused(library: prebuilt.Library) -> None:
    ahead, _ = _both(library, "columns.numbers.best_split.fill_table")
    with pytest.raises(TypeError, match=r"best_split\.fill_table is not compiled for f8\[:\] f8"):
        ahead(np.zeros(3), 1.0)


def test_a_library_of_other_sources_is_not_taken(library: prebuilt.Library, tmp_path: Path) -> None:
    for file in library.file.parent.iterdir():
        text = file.read_bytes().replace(prebuilt.sources_digest().encode(), b"0" * 64)
        (tmp_path / file.name).write_bytes(text)
    assert prebuilt.library(library.file.parent) is not None
    assert prebuilt.library(tmp_path) is None


def test_a_damaged_library_is_not_taken(library: prebuilt.Library, tmp_path: Path) -> None:
    for file in library.file.parent.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes() if file.suffix == ".json" else b"no library")
    assert prebuilt.library(tmp_path) is None


def test_without_a_library_and_without_numba_the_remedy_is_named() -> None:
    hide = "import importlib.util as u; f = u.find_spec; u.find_spec = lambda n: None if n == 'numba' else f(n)\n"
    code = hide + "from credimi.cli.runner import run; raise SystemExit(run(['table', '10 2; 3 15']))"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert 'pip install "credimi[compile]"' in ran.stderr
    assert "Traceback" not in ran.stderr


def test_every_kernel_of_the_list_exists() -> None:
    assert {name: hasattr(kernel(name), "prepare") for name in SIGNATURES} == dict.fromkeys(SIGNATURES, True)
    assert set(FIRST_NEEDED) <= set(SIGNATURES)
    everything = tasks()
    assert sorted(everything) == sorted((name, types) for name, each in SIGNATURES.items() for types in each)
    assert set(tasks("rank")) < set(everything)
    assert tails.log_scales is kernel("inference.distributions.mixture_tails.log_scales")
    assert best_split.fill_table is kernel("columns.numbers.best_split.fill_table")
