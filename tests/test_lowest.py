"""The lowest versions that pyproject.toml declares, which tools/bootstrap.py lowest installs and tests."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
HOOK = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]
DEPENDENCIES = [*HOOK["always"], *HOOK["compiler"]]


def bootstrap() -> Any:  # noqa: ANN401
    specification = importlib.util.spec_from_file_location("bootstrap", ROOT / "tools" / "bootstrap.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_each_dependency_declares_one_lowest_version() -> None:
    found = defaultdict(set)
    for line in [*DEPENDENCIES, *(line for extra in EXTRAS.values() for line in extra)]:
        name, version = re.fullmatch(r"([a-z0-9-]+)(?:\[[a-z]+\])?>=([0-9.]+)", line).groups()  # type: ignore[union-attr]
        found[name].add(version)
    assert {name: versions for name, versions in found.items() if len(versions) > 1} == {}


def test_the_lowest_versions_are_the_declared_ones() -> None:
    pins = dict(pin.split("==") for pin in bootstrap().lowest_versions("test"))
    declared = [line.split(">=") for line in (*DEPENDENCIES, *EXTRAS["test"])]
    assert pins == {name.split("[")[0]: version for name, version in declared}
    assert {"numpy", "pyarrow", "dask", "polars"} <= set(pins)
