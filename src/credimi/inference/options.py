"""`PosteriorOptions`: how the posteriors of many tables are computed and summarized; checked once, on creation."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from credimi.core.arguments import make_generator, require_information, require_share
from credimi.core.errors import CredimiError
from credimi.inference.evidence.fixed_priors import ADAPTIVE, pseudo_count

APPROXIMATIONS = ("matched", "leading", "leading-beta", "sampled")


@dataclass(frozen=True, slots=True, kw_only=True)
class PosteriorOptions:
    """Prior, approximation, the threshold of P(I > epsilon), the level of intervals and rules: one for all tables.

    `random_state` is the seed of draws. `threads` is the number of threads, by default one per core.
    """

    prior: str | float = ADAPTIVE
    approximation: str = "matched"
    epsilon: float = 0.003
    level: float = 0.95
    threads: int | None = None
    random_state: int = 0

    def __post_init__(self) -> None:
        checked_approximation(self.approximation)
        require_information("epsilon", self.epsilon)
        require_share("level", self.level)
        if self.prior != ADAPTIVE:
            pseudo_count(self.prior, (2, 2))
        if self.approximation == "sampled":
            make_generator(self.random_state)
        float_fields = ("epsilon", "level") if isinstance(self.prior, str) else ("epsilon", "level", "prior")
        for name in float_fields:  # numpy numbers or fractions become plain floats
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def adds_nothing(self) -> bool:
        """Whether the prior adds nothing to the counts: a table without counts has no posterior then."""
        return self.prior != ADAPTIVE and pseudo_count(self.prior, (2, 2)) == 0.0

    @property
    def gaussian(self) -> bool:
        """Whether the components are normal distributions; otherwise they are Betas."""
        return self.approximation == "leading"

    @property
    def matched(self) -> bool:
        """Whether moments are near-exact; otherwise they are of leading order. Those of draws are near-exact."""
        return self.approximation in {"matched", "sampled"}


def checked_approximation(approximation: str) -> str:
    """Return the approximation; an unknown one is an error."""
    if approximation not in APPROXIMATIONS:
        close_matches = difflib.get_close_matches(str(approximation), APPROXIMATIONS, 1)
        hint = f"did you mean {close_matches[0]!r}? " if close_matches else ""
        raise CredimiError(f"unknown approximation {approximation!r}: {hint}choose one of {', '.join(APPROXIMATIONS)}")
    return approximation
