"""The CUDA sources say of a table what the kernels of the CPU say: here compiled for the CPU, where there is no GPU."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from gpu_helpers import ORDER, assert_near, random_tables

import credimi.questions.pairs.gpu
from credimi.inference.belief import Belief
from credimi.inference.tables.pair_figures import figures_of
from credimi.questions.pairs.gpu.pairs_on_device import hyper

COMPILER = shutil.which("g++") or shutil.which("clang++")
OPTIONS = Belief(threads=1)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if COMPILER is None:
        pytest.skip("needs a compiler of C++")
    built = tmp_path_factory.mktemp("gpu") / "tables.so"
    source, folder = Path(__file__).with_name("tables.cpp"), Path(credimi.questions.pairs.gpu.__file__).parent
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", f"-I{folder}", "-o", str(built)]
    subprocess.run([COMPILER, *flags, str(source)], check=True)
    return ctypes.CDLL(str(built))


@pytest.mark.parametrize(
    ("missing", "most_left"), [("", 0.02), ("target", 0.2), ("feature", 0.2), ("target feature", 0.1)]
)
def test_figures_are_those_of_the_cpu(library: ctypes.CDLL, missing: str, most_left: float) -> None:
    tables = random_tables(missing, 200)
    count = tables.rows.size
    found, done = np.full((count, len(ORDER)), np.nan), np.zeros(count, dtype=np.uint8)
    arrays = [np.ascontiguousarray(each) for each in (tables.flat, tables.offsets, tables.rows, tables.columns)]
    numbers = np.array(hyper(OPTIONS), dtype=np.float64)
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*arrays, numbers, found, done)]
    library.figures(*pointers[:4], ctypes.c_longlong(count), *pointers[4:])
    known = done.astype(bool)
    assert np.mean(~known) <= most_left, "few are left to the CPU"
    assert_near(dict(zip(ORDER, found[known].T, strict=True)), figures_of(tables.chosen(known), OPTIONS))
