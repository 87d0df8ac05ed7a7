"""`PosteriorOptions`: how the posteriors of many tables are computed and read; checked once, when it is made."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from credimi.core.arguments import make_generator, require_information, require_share
from credimi.core.errors import CredimiError
from credimi.inference.fixed_priors import ADAPTIVE, pseudo_count

APPROXIMATIONS = ("matched", "leading", "leading-beta", "sampled")


@dataclass(frozen=True, slots=True, kw_only=True)
class PosteriorOptions:
    """The same for all tables: prior, approximation, the threshold of P(I > epsilon), the level of intervals and rules.

    `random_state` is the seed of draws. `threads` are all cores by default.
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
        numbers = ("epsilon", "level") if isinstance(self.prior, str) else ("epsilon", "level", "prior")
        for name in numbers:  # numpy numbers or fractions become plain floats
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def adds_nothing(self) -> bool:
        """Whether nothing is added to the counts, so that a table without counts has no posterior."""
        return self.prior != ADAPTIVE and pseudo_count(self.prior, (2, 2)) == 0.0

    @property
    def gaussian(self) -> bool:
        """Whether the components are normal distributions; otherwise they are Betas."""
        return self.approximation == "leading"

    @property
    def matched(self) -> bool:
        """Whether moments are near-exact, as those of draws are, rather than of leading order."""
        return self.approximation in {"matched", "sampled"}


def checked_approximation(approximation: str) -> str:
    """The approximation, if it is a known one."""
    if approximation not in APPROXIMATIONS:
        near = difflib.get_close_matches(str(approximation), APPROXIMATIONS, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise CredimiError(f"unknown approximation {approximation!r}: {hint}choose one of {', '.join(APPROXIMATIONS)}")
    return approximation
