"""Fixed pseudo-counts, which are added to every cell before any formula is applied.

The Dirichlet prior with the same parameter n'' for all r x s cell probabilities turns counts n_ij into n_ij + n''
wherever they occur. Two conventions are easily confused. The density of the probabilities is prod
pi_ij^(n_ij + n'' - 1) (the paper writes this exponent as n_ij, so that its uniform prior leaves the raw counts). Means
and variances of a Dirichlet depend only on its *parameters* n_ij + n''. In credimi the pseudo-count is always the
Dirichlet parameter. The reported mode is that of the density over the logarithms of the probabilities
(soft-max coordinates), in which the exponent is the parameter; for complete data it is the mean. So the paper's mode
under its uniform prior is ours under "haldane".
"""

from __future__ import annotations

import difflib
import math
from numbers import Real

from credimi.core.errors import CredimiError
from credimi.core.table import LARGEST, SMALLEST
from credimi.inference.belief import ADAPTIVE

NAMES = ("uniform", "jeffreys", "perks", "haldane")


_CHOICES = f"choose one of {', '.join(NAMES)}, or a pseudo-count such as 0.5"


def pseudo_count(prior: str | float, shape: tuple[int, int]) -> float:
    """n'' per cell: "uniform" 1, "jeffreys" 1/2, "perks" 1/(rs), "haldane" 0 (the raw counts), or a number."""
    if isinstance(prior, str):
        if prior in NAMES:
            return {"uniform": 1.0, "jeffreys": 0.5, "perks": 1.0 / (shape[0] * shape[1]), "haldane": 0.0}[prior]
        if prior == ADAPTIVE:
            raise CredimiError(
                f"unknown prior {prior!r}: it is for mutual information, not for cell probabilities; {_CHOICES}"
            )
        near = difflib.get_close_matches(prior, (*NAMES, ADAPTIVE), 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise CredimiError(f"unknown prior {prior!r}: {hint}{_CHOICES}, or 'adaptive' for mutual information")
    if not isinstance(prior, Real) or isinstance(prior, bool):
        raise CredimiError(f"prior is {prior!r}: {_CHOICES}")
    try:
        value = float(prior)
    except OverflowError:  # an integer too large for a double
        value = math.inf
    if not 0.0 <= value <= LARGEST:
        raise CredimiError(f"prior is {value:g}: a pseudo-count is a number from 0 up, at most {LARGEST:g}")
    if 0.0 < value < SMALLEST:
        raise CredimiError(f"prior is {value:g}: a pseudo-count is 0 ('haldane') or at least {SMALLEST:g}")
    return value
