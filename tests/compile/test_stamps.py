"""A cached kernel is fresh while its own source and those of all kernels compiled into it are unchanged."""

from pathlib import Path

import pytest

from credimi.inference.distributions import mixture_tails
from credimi.compile import numba_jit as jit
from credimi.compile.hooks import wishes
from credimi.compile.signatures import SIGNATURES


def _names(module: str) -> set[str]:
    root = Path(jit.__file__).parent
    return {path.relative_to(root).with_suffix("").as_posix() for path in jit._files_used_by(module)}  # noqa: SLF001


def test_stamp_covers_what_is_imported_by_way_of_others() -> None:
    names = _names("credimi.inference.evidence.two_sided_weights")
    assert {
        "numba_jit",
        "inner_functions",
        "evidence/two_sided_weights",
        "mode/find",
        "mode/boundary",
        "moments/one_sided",
        "special",
    } <= names


def test_stamp_leaves_out_what_is_not_compiled_in() -> None:
    assert _names("credimi.columns.pair_counts") == {"numba_jit", "inner_functions", "pair_counts", "words"}


@pytest.mark.parametrize("cached", [True, False])
def test_compiling_is_announced_to_the_latest_who_wished_so(monkeypatch: pytest.MonkeyPatch, *, cached: bool) -> None:
    calls: list[str] = []
    monkeypatch.setattr(jit.NumbaKernel, "_is_cached", lambda _self, _types: cached)
    for name in ("first", "second", "third"):
        monkeypatch.setattr(wishes, "compiling", lambda _kernel, name=name: calls.append(name))
    mixture_tails.log_scales.prepare(SIGNATURES["mixture_tails.log_scales"][0])  # type: ignore[attr-defined]
    assert calls == ([] if cached else ["third"])
