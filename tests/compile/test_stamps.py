"""A cached kernel is fresh while its own source and those of all kernels compiled into it are unchanged."""

from pathlib import Path

import pytest

from credimi.compile import numba_jit as jit
from credimi.compile import signatures
from credimi.compile.hooks import hooks
from credimi.compile.signatures import SIGNATURES
from credimi.inference.distributions import mixture_tails


def _names(module: str) -> set[str]:
    root = Path(signatures.__file__).parents[1]
    return {path.relative_to(root).with_suffix("").as_posix() for path in signatures.files_used_by(module)}


def test_stamp_covers_what_is_imported_by_way_of_others() -> None:
    names = _names("inference.evidence.two_sided_weights")
    assert {
        "inference/evidence/two_sided_weights",
        "inference/mode/find",
        "inference/mode/newton",
        "inference/moments/one_sided",
        "inference/special_functions",
    } <= names


def test_stamp_leaves_out_what_is_not_compiled_in() -> None:
    assert _names("columns.pair_counts") == {"columns/pair_counts", "compile/words"}


@pytest.mark.parametrize("cached", [True, False])
def test_compiling_is_announced_to_the_latest_who_wished_so(monkeypatch: pytest.MonkeyPatch, *, cached: bool) -> None:
    calls: list[str] = []
    monkeypatch.setattr(jit.NumbaKernel, "_is_cached", lambda _self, _types: cached)
    for name in ("first", "second", "third"):
        monkeypatch.setattr(hooks, "compiling", lambda _kernel, name=name: calls.append(name))
    mixture_tails.log_scales.prepare(SIGNATURES["inference.distributions.mixture_tails.log_scales"][0])  # type: ignore[attr-defined]
    assert calls == ([] if cached else ["third"])
