"""`PrequentialOptions`: which filters a prequential run compares, and with which posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.inference.belief import Belief
from credimi.inference.rules import AS_IN_THE_PAPER

if TYPE_CHECKING:
    from credimi.core.types import Record

ALL, IMPUTED = "all", "imputed"
RULES = ("plugin", "forward", "backward", ALL, IMPUTED)


@stored
@dataclass(frozen=True, slots=True, kw_only=True)
class PrequentialOptions(Belief):
    """What an order's result depends on, besides the data and the order; epsilon is in nats, as in the paper."""

    rules: tuple[str, ...] = ("plugin", "forward", "backward")
    threads: int | None = 1  # orders are shared among threads; each order runs on one

    def __post_init__(self) -> None:
        if not self.rules:
            raise CredimiError(f"there are no rules: choose some of {', '.join(RULES)}")
        object.__setattr__(self, "rules", tuple(AS_IN_THE_PAPER.get(rule, rule) for rule in self.rules))
        for rule in self.rules:
            if rule not in RULES:
                raise CredimiError(f"unknown rule {rule!r}: choose one of {', '.join(RULES)}")
        Belief.__post_init__(self)
        if self.approximation == "sampled":
            raise CredimiError("draws for every row would take days: choose matched, leading or leading-beta")

    def to_dict(self) -> Record:
        """The options as plain data."""
        names = ("prior", "approximation", "level")
        method = {} if self.method is None else {"method": self.method}
        return {"rules": list(self.rules)} | {name: getattr(self, name) for name in names} | self.threshold | method
