"""What kernels share has a public name, and kernels are built of kernels only: files of arrays and loops."""

from __future__ import annotations

import ast
from pathlib import Path

import credimi
from credimi.compile.signatures import SIGNATURES, files_used_by

ROOT = Path(credimi.__file__).parent
SOURCES = [path for path in ROOT.rglob("*.py") if path.parent.name != "compile"]
KERNELS = files_used_by(*{name.rpartition(".")[0] for name in SIGNATURES})
KNOWN = {"_digamma_tail"}  # it has one user, next to it


def _imports(path: Path) -> list[tuple[str, str]]:
    """The modules and names that a file takes from credimi when it is loaded."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return [(node.module or "", name.name) for node in nodes for name in node.names if "credimi" in (node.module or "")]


def test_no_kernel_takes_what_is_private_to_another_file() -> None:
    assert {name for path in KERNELS for _, name in _imports(path) if name.startswith("_")} <= KNOWN


def test_kernels_import_kernels_only() -> None:
    for path in KERNELS:
        if path.parent.name != "compile":
            for module, name in _imports(path):
                files = [
                    ROOT.joinpath(*each.split(".")[1:]).with_suffix(".py") for each in (module, f"{module}.{name}")
                ]
                of_kernels = any(file in KERNELS for file in files)
                assert of_kernels or module in {"credimi.compile.jit", "credimi.compile.signatures"}, (path, module)


def test_only_the_room_compile_knows_numba() -> None:
    assert len(SOURCES) > 200
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not {module.partition(".")[0] for module in modules} & {"numba", "llvmlite"}, path
        named = {
            node.args[0].value
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
        }  # as for `importlib.import_module`
        assert not named & {"numba", "llvmlite"}, path
        assert not modules & {"credimi.compile.numba_jit", "credimi.compile.inner_functions"}, path
