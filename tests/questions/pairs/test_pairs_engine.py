"""`pairs` with device="gpu", where numpy stands in for the GPU; and pairs of which only some are asked for."""

from __future__ import annotations

import errno
import os
import pickle
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy_device import NumpyDevice

import credimi
from credimi import CredimiError
from credimi.questions.pairs.gpu import pairs_on_device
from credimi.questions.pairs.result import FIELDS

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.questions.pairs.result import Pairs

DEPENDENT = 0.7


@pytest.fixture(scope="module")
def data() -> dict[str, list[object]]:
    rng = np.random.default_rng(8)
    hidden = rng.integers(0, 4, 500)
    columns: dict[str, list[object]] = {}
    for number in range(9):
        own = np.where(rng.random(500) < 0.1 * number, hidden % (2 + number % 3), rng.integers(0, 2 + number % 3, 500))
        seen = rng.random(500) >= (0.2 if number % 2 else 0.0)
        columns[f"c{number}"] = [f"v{value}" if there else None for value, there in zip(own, seen, strict=True)]
    columns["number"] = (hidden + rng.normal(size=500)).tolist()
    return columns


@pytest.fixture(scope="module")
def on_cpu(data: dict[str, list[object]]) -> Pairs:
    return credimi.pairs(data, threads=1)


@pytest.fixture
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_on_device, "find_gpu", lambda: NumpyDevice(30_000))


def assert_same(found: Pairs, expected: Pairs) -> None:
    assert found.to_arrow().column_names == expected.to_arrow().column_names
    for name, values in expected.columns.items():
        if isinstance(values[0], float):
            np.testing.assert_allclose(found.columns[name], values, rtol=1e-9, err_msg=name)
        else:
            assert found.columns[name] == values, name


@pytest.mark.usefixtures("_stand_in")
@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
def test_engines_agree(data: dict[str, list[object]], prior: str) -> None:
    shares: list[float] = []
    found = credimi.pairs(data, device="gpu", prior=prior, progress=lambda share, _: shares.append(share))
    assert_same(found, credimi.pairs(data, prior=prior))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.usefixtures("_stand_in")
@pytest.mark.parametrize(("top", "p_dependent"), [(7, None), (None, DEPENDENT), (3, DEPENDENT)])
def test_some_pairs_are_the_first_of_all(
    data: dict[str, list[object]], on_cpu: Pairs, top: int | None, p_dependent: float | None
) -> None:
    rows = [row for row in on_cpu if p_dependent is None or 1.0 - row["p_independent"] >= p_dependent][:top]
    for device in ("cpu", "gpu"):
        found = credimi.pairs(data, device=device, top=top, p_dependent=p_dependent)
        assert len(found) == len(rows) < len(on_cpu)
        assert found.independent == pytest.approx(on_cpu.independent, rel=1e-7), "learned from all pairs"
        for row, expected in zip(found, rows, strict=True):
            assert (row["a"], row["b"]) == (expected["a"], expected["b"])
            numbers = [name for name in FIELDS if name != "linked"]
            assert [row[name] for name in numbers] == pytest.approx([expected[name] for name in numbers], rel=1e-6)


def test_some_pairs_are_found_by_name_saved_and_shown_but_are_no_forest(
    data: dict[str, list[object]], on_cpu: Pairs, tmp_path: Path
) -> None:
    found = credimi.pairs(data, top=4)
    first, last = on_cpu[0], on_cpu[-1]
    assert found[first["a"], first["b"]]["mi"] == pytest.approx(first["mi"])
    assert (first["b"], first["a"]) in found
    assert (last["a"], last["b"]) not in found
    with pytest.raises(CredimiError, match="not among the 4 pairs"):
        found[last["a"], last["b"]]
    with pytest.raises(CredimiError, match="all pairs"):
        found.forest()
    assert np.count_nonzero(~np.isnan(found.matrix("mi"))) == 2 * 4
    found.save(tmp_path / "some.json")
    for copy in (credimi.load(tmp_path / "some.json"), pickle.loads(pickle.dumps(found))):  # noqa: S301  (ours)
        assert_same(copy, found)
        assert copy.independent == found.independent
    assert first["a"] in repr(found)


@pytest.mark.usefixtures("_stand_in")
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_figures_go_to_a_file(data: dict[str, list[object]], on_cpu: Pairs, tmp_path: Path, device: str) -> None:
    path = tmp_path / "figures.npy"
    assert_same(credimi.pairs(data, device=device, into=path), on_cpu)
    figures = np.load(path)
    assert figures.shape == (8, len(on_cpu))
    np.testing.assert_allclose(figures[0], on_cpu.figures.mi)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="this system reserves no space")
@pytest.mark.usefixtures("_stand_in")
@pytest.mark.parametrize("options", [{}, {"top": 3}])
def test_devices_mark_the_same_pairs(options: dict[str, int]) -> None:
    """Tables of which P(independent) may be off are left to the CPU; the device marks none."""
    one = ["p"] * 30_105 + ["q"] * 500 + [None] * 15_400
    other = ["a"] * 104 + ["b"] + [None] * 30_500 + ["a"] * 15_000 + ["b"] * 400
    data = {"one": one, "other": other, "full": [*"xy" * 23_002, "x"]}
    marks = [credimi.pairs(data, device=device, **options).figures.approximate for device in ("cpu", "gpu")]
    assert sorted(marks[0].tolist()) == [0.0, 0.0, 1.0]
    assert marks[1].tolist() == marks[0].tolist()


def test_a_full_disk_is_noticed_before_figures_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are written through memory: if there were no space then, the process would crash."""
    reserved: list[int] = []

    def full(_descriptor: int, _offset: int, size: int) -> None:
        reserved.append(size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    path = tmp_path / "figures.npy"
    with pytest.raises(CredimiError, match=r"figures\.npy cannot be written: No space left on device"):
        credimi.pairs({"x": ["a", "b"] * 9, "y": ["a", "b"] * 9, "z": ["a", "b", "b"] * 6}, into=path)
    assert reserved == [128 + 8 * 3 * 8]  # the header and all figures
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "tpu"}, "device is 'tpu': choose one of cpu, gpu"),
        ({"top": 0}, "top is 0"),
        ({"top": True}, "top is True"),
        ({"p_dependent": 1.5}, "p_dependent is 1.5"),
        ({"into": "figures.npy", "top": 3}, "leave out top"),
        ({"into": "figures.csv"}, r"does not end with \.npy"),
    ],
)
def test_impossible_requests_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        credimi.pairs({"x": ["a", "b"], "y": ["a", "b"]}, **options)


def test_without_cupy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(CredimiError, match=r"pip install 'credimi\[gpu\]'"):
        credimi.pairs("no such file.csv", device="gpu")  # said before anything is read


@pytest.mark.parametrize(
    ("count", "able", "message"),
    [
        (0, "90", r"no NVIDIA GPU.*device='cpu'"),
        (None, "90", r"no NVIDIA GPU.*no CUDA-capable device.*device='cpu'"),
        (1, "75", r"too old.*7\.5.*device='cpu'"),
    ],
)
def test_without_a_device_the_other_engine_is_named(
    monkeypatch: pytest.MonkeyPatch, count: int | None, able: str, message: str
) -> None:
    class CUDARuntimeError(RuntimeError):
        pass

    def devices() -> int:
        if count is None:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return count

    cupy = ModuleType("cupy")
    runtime = SimpleNamespace(getDeviceCount=devices, CUDARuntimeError=CUDARuntimeError)
    cuda = SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(compute_capability=able))
    monkeypatch.setattr(cupy, "cuda", cuda, raising=False)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    with pytest.raises(CredimiError, match=message):
        credimi.pairs({"x": ["a", "b"], "y": ["a", "b"]}, device="gpu")


@pytest.mark.usefixtures("_stand_in")
def test_a_column_of_more_values_than_a_byte_holds_is_named() -> None:
    many = {"many": [str(number % 300) for number in range(900)], "x": [str(number % 2) for number in range(900)]}
    with pytest.raises(CredimiError, match=r"column 'many' has 300 values.*max_values=255"):
        credimi.pairs(many, device="gpu")
