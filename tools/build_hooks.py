"""What hatchling asks when it builds a package: the dependencies, and the kernels compiled ahead.

With CREDIMI_COMPILE_KERNELS=1 in the environment a wheel is for this platform: it brings all kernels compiled
(tools/compile_kernels.py) and does not need Numba, nor a certain version of Python. Any other wheel, editable ones
too, is plain Python, needs Numba, and compiles on first use.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

COMPILED = os.environ.get("CREDIMI_COMPILE_KERNELS") == "1"
FOLDER = "src/credimi/compile/compiled"


class Dependencies(MetadataHookInterface):
    """The dependencies in pyproject.toml, with Numba where kernels are compiled on first use."""

    def update(self, metadata: dict[str, object]) -> None:
        """Fill in what the package depends on."""
        metadata["dependencies"] = [*self.config["always"], *([] if COMPILED else self.config["compiler"])]


class Kernels(BuildHookInterface):
    """Compile the kernels into a wheel."""

    def dependencies(self) -> list[str]:
        """What the build itself needs."""
        custom = self.metadata.hatch.metadata.hook_config["custom"]
        return [*custom["always"], *custom["compiler"]] if COMPILED and self.target_name == "wheel" else []

    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        """Compile before files are collected."""
        if not COMPILED or self.target_name != "wheel" or version == "editable":
            return
        into = Path(self.root, FOLDER)
        for old in into.glob("*"):
            old.unlink()
        subprocess.run([sys.executable, Path(self.root, "tools", "compile_kernels.py")], check=True)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["artifacts"] = [f"/{FOLDER}/*"]
