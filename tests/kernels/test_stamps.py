"""A cached kernel is fresh while its own source and those of all kernels compiled into it are unchanged."""

from pathlib import Path

from credimi.kernels import numba_jit as jit


def _names(module: str) -> set[str]:
    root = Path(jit.__file__).parent
    return {path.relative_to(root).with_suffix("").as_posix() for path in jit._files_used_by(module)}  # noqa: SLF001


def test_stamp_covers_what_is_imported_by_way_of_others() -> None:
    names = _names("credimi.kernels.two_sided_weights")
    assert {"jit", "two_sided_weights", "mode/find", "mode/boundary", "moments/one_sided", "special"} <= names


def test_stamp_leaves_out_what_is_not_compiled_in() -> None:
    assert _names("credimi.kernels.pair_counts") == {"jit", "pair_counts"}
