"""What kernels share has a public name."""

from __future__ import annotations

import re
from pathlib import Path

import credimi

KERNELS = Path(credimi.__file__).parent / "kernels"
PRIVATE = re.compile(r"^from credimi\.kernels\S* import .*\b(_[a-z]\w*)", re.MULTILINE)
KNOWN = {"_margins_evidence", "_digamma_tail"}  # each has one user, next to it


def test_no_kernel_takes_what_is_private_to_another_file() -> None:
    taken = {name for path in KERNELS.rglob("*.py") for name in PRIVATE.findall(path.read_text(encoding="utf-8"))}
    assert taken <= KNOWN
