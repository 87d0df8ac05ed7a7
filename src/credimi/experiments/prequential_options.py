"""`Settings`: which filters a prequential run compares, and by which posterior they go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from credimi.core.arguments import require_information, require_share
from credimi.core.errors import CredimiError
from credimi.inference.fixed_priors import ADAPTIVE, pseudo_count
from credimi.inference.mutual_information import checked_approximation

ALL, IMPUTED = "all", "imputed"
RULES = ("plugin", "forward", "backward", ALL, IMPUTED)


@dataclass(frozen=True, slots=True)
class PrequentialOptions:
    """What an order's result depends on, besides the data and the order."""

    rules: tuple[str, ...] = ("plugin", "forward", "backward")
    prior: str | float = "adaptive"
    approximation: str = "matched"
    epsilon: float = 0.003
    level: float = 0.95

    def __post_init__(self) -> None:
        if not self.rules:
            raise CredimiError(f"there are no rules: choose some of {', '.join(RULES)}")
        for rule in self.rules:
            if rule not in RULES:
                raise CredimiError(f"unknown rule {rule!r}: choose one of {', '.join(RULES)}")
        if self.prior != ADAPTIVE:
            pseudo_count(self.prior, (2, 2))
        if checked_approximation(self.approximation) == "sampled":
            raise CredimiError("draws for every row would take days: choose matched, leading or leading-beta")
        require_information("epsilon", self.epsilon)
        require_share("level", self.level)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        prior = self.prior if isinstance(self.prior, str) else float(self.prior)
        return {
            "rules": list(self.rules),
            "prior": prior,
            "approximation": self.approximation,
            "epsilon": float(self.epsilon),
            "level": float(self.level),
        }
