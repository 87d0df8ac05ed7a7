"""`Belief`: what is believed beforehand, what is worth having, and how sure decisions have to be.

The one record of the keywords by which all questions judge; checked once, on creation. Nothing heavy is imported
before it is checked, because the command line reads the keywords to print its help.

**Epsilon** is a number of nats, or a share of what there is to know about the target: "0.5%" is .005 min(H, log 2), H
the entropy of the target in the rows that have it. The same ratio of rates is worth having of a rare class and of a
common one: if a value doubles the rate, I is in proportion to the rate, and so is H but for a logarithm. Log 2 is the
cap, because a column that tells two of a hundred classes apart tells little of their entropy. A share becomes nats once
for each question, by `settled`; where there is no target, it is one of log 2.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from credimi.core.defaults import EPSILON, FDR, LEVEL, PAPER_EPSILON
from credimi.core.errors import CredimiError
from credimi.core.keywords import Keywords, keyword
from credimi.core.public import stored

if TYPE_CHECKING:
    from credimi.core.types import Option, Record

ADAPTIVE = "adaptive"
OTHERS = "*"  # in priors by column: the columns that are not named
APPROXIMATIONS = ("matched", "leading", "leading-beta", "sampled")
_AS_IN_THE_PAPER = {"gaussian": "leading", "beta": "leading-beta"}  # other names of approximations
METHODS = {  # of Hutter and Zaffalon (2003), with natural logarithms, PAPER_EPSILON and LEVEL; and of their footnote
    "paper": {"prior": "raw-counts", "approximation": "leading"},
    "paper-beta": {"prior": "raw-counts", "approximation": "leading-beta"},
}


class Unnamed(str):
    """A default, which a method replaces: the same text is refused beside a method where a caller typed it."""

    __slots__ = ()


USUAL_PRIOR, USUAL_APPROXIMATION, USUAL_EPSILON = Unnamed(ADAPTIVE), Unnamed("matched"), Unnamed(EPSILON)
_SHARE = re.compile(r"(\d+\.?\d*|\.\d+) ?%")


@stored
@dataclass(frozen=True, slots=True, kw_only=True)
class Belief(Keywords):
    """Prior, approximation, and the thresholds of intervals and decisions: one for all tables of a question."""

    prior: str | float = keyword(
        USUAL_PRIOR,
        'The prior of the cell probabilities: "adaptive", which also gives independence a probability; "uniform", '
        '"jeffreys", "perks", "raw-counts" or "haldane"; or a number, the pseudo-count of each cell.',
        group="decision",
    )
    approximation: str = keyword(
        USUAL_APPROXIMATION,
        'How the distribution of I is found. "matched": near-exact moments, and a Beta distribution. "leading", '
        '"leading-beta": moments of leading order, and a normal or a Beta distribution. "sampled": draws.',
        group="decision",
        choices=APPROXIMATIONS,
    )
    method: str | None = keyword(
        None,
        'A name for prior and approximation together. "paper": raw counts, and the Gaussian of leading order, as '
        'Hutter and Zaffalon (2003) used them, with their epsilon and level by default. "paper-beta": with a Beta.',
        group="decision",
        choices=METHODS,
    )
    epsilon: float | str = keyword(
        USUAL_EPSILON,
        'The information that is worth having: what has to be exceeded for a decision. "0.5%": this share of the '
        "target's entropy, or of log 2 where that is less. A number: nats.",
        group="decision",
    )
    level: float = keyword(
        LEVEL, "How probable a claim has to be; also the probability of the credible intervals.", group="decision"
    )
    fdr: float = keyword(
        FDR,
        "The largest expected share of features with I <= epsilon among those that the rule fdr keeps. How many "
        "features are independent of the target is learned from all of them.",
        group="decision",
    )
    robust_factor: float | None = keyword(
        None,
        "Find out what holds if values are missing not quite at random: the odds of being missing may differ by so "
        "much (inf: without limit), as in `information_bounds`. It takes about ten times as long, and a hundred times "
        "if rows lack both a feature and the target. Default: not asked for.",
        group="decision",
    )
    random_state: int = keyword(0, "The seed of what is drawn.", group="decision")
    threads: int | None = keyword(None, "How many threads work. Default: all cores.", group="data")
    epsilon_share: str | None = None  # what epsilon was before it was settled, if that was a share

    def __post_init__(self) -> None:
        from credimi.core.arguments import (  # noqa: PLC0415  (numpy takes a while to load)
            make_generator,
            require_information,
            require_share,
        )

        if isinstance(self.prior, Mapping):
            raise CredimiError("prior is a dictionary, and only rank takes priors by column: name one for all columns")
        prior, approximation = by_method(self.method, self.prior, self.approximation)
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "approximation", approximation)
        if isinstance(self.epsilon, str):
            has_own = self.method is not None and isinstance(self.epsilon, Unnamed)
            object.__setattr__(self, "epsilon", PAPER_EPSILON if has_own else _checked_share(self.epsilon))
        else:
            require_information("epsilon", self.epsilon)
        require_share("level", self.level)
        require_share("fdr", self.fdr)
        if self.prior != ADAPTIVE:
            self._pseudo_count()
        if self.approximation == "sampled":
            make_generator(self.random_state)
        if self.robust_factor is not None:
            from credimi.inference.bounds.information_bounds import checked_factor  # noqa: PLC0415  (as above)

            object.__setattr__(self, "robust_factor", checked_factor(self.robust_factor))
        for name in ("epsilon", "level", "fdr", "prior"):  # numpy numbers or fractions become plain floats
            if not isinstance(getattr(self, name), str):
                object.__setattr__(self, name, float(getattr(self, name)))

    def _pseudo_count(self) -> float:
        from credimi.inference.evidence.fixed_priors import pseudo_count  # noqa: PLC0415  (numpy takes a while to load)

        return pseudo_count(self.prior, (2, 2))

    def settled(self, entropy: float = math.inf) -> Self:
        """The same with epsilon in nats; `entropy` is that of the target, and is left out where there is no target."""
        if not isinstance(self.epsilon, str):
            return self
        return replace(self, epsilon=_nats(self.epsilon, entropy), epsilon_share=self.epsilon)

    @property
    def nats(self) -> float:
        """Epsilon in nats; a share that was not settled for a target is one of log 2."""
        return _nats(self.epsilon) if isinstance(self.epsilon, str) else self.epsilon

    @property
    def threshold(self) -> Record:
        """Epsilon as the settings of results have it: in nats, and as a share if it was one."""
        return {"epsilon": self.epsilon} | ({} if self.epsilon_share is None else {"epsilon_share": self.epsilon_share})

    @property
    def adds_nothing(self) -> bool:
        """Whether the prior adds nothing to the counts: a table without counts has no posterior then."""
        return self.prior != ADAPTIVE and self._pseudo_count() == 0.0

    @property
    def averages_cuts(self) -> bool:
        """Whether numbers may be averaged over all cuts; otherwise the most probable ranges are the table."""
        return self.prior == ADAPTIVE and self.approximation == USUAL_APPROXIMATION

    @property
    def gaussian(self) -> bool:
        """Whether the components are normal distributions; otherwise they are Betas."""
        return self.approximation == "leading"

    @property
    def matched(self) -> bool:
        """Whether moments are near-exact; otherwise they are of leading order. Those of draws are near-exact."""
        return self.approximation in {"matched", "sampled"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBelief(Belief):
    """A `Belief` whose prior may be one for each column, by name."""

    prior: str | float | Mapping[str, Option] = keyword(  # type: ignore[assignment]  # once made, as that of a `Belief`
        USUAL_PRIOR,
        'The prior of the cell probabilities: "adaptive", which also gives independence a probability; "uniform", '
        '"jeffreys", "perks", "raw-counts" or "haldane"; or a number, the pseudo-count of each cell. Or a dictionary '
        'of columns, "*" for the others: each has one of these, or a frame (or rows with labels) of pseudo-counts, '
        "one for each class and value.",
        group="decision",
    )
    of_columns: Mapping[str, Option] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.prior, Mapping):
            if self.method is not None:
                raise CredimiError(f"method={self.method!r} has one prior for all columns: leave out the dictionary")
            own = {str(name): prior for name, prior in self.prior.items() if name != OTHERS}
            object.__setattr__(self, "of_columns", own)
            object.__setattr__(self, "prior", self.prior.get(OTHERS, ADAPTIVE))
        Belief.__post_init__(self)


def _checked_share(text: str) -> str:
    """A share of the entropy in its shortest form, such as 0.5%."""
    written = _SHARE.fullmatch(text.strip())
    if not written or not 0.0 <= float(written[1]) < 100.0:
        raise CredimiError(
            f"epsilon is {text!r}: pass a share of the target's entropy, such as '0.5%', or a number of nats"
        )
    return f"{float(written[1]):.12g}%"


def _nats(share: str, entropy: float = math.inf) -> float:
    return float(share[:-1]) / 100.0 * (math.log(2.0) if math.isnan(entropy) else min(entropy, math.log(2.0)))


def by_method(method: str | None, prior: Option, approximation: str) -> tuple[Option, str]:
    """Prior and approximation: those of the method, if one is named, otherwise those that are given."""
    known = checked_approximation(approximation)
    if method is None:
        return str(prior) if isinstance(prior, Unnamed) else prior, known
    if method not in METHODS:
        raise CredimiError(f"unknown method {method!r}: choose one of {', '.join(METHODS)}, or leave it out")
    named = METHODS[method]
    for name, given, value in (("prior", prior, prior), ("approximation", approximation, known)):
        is_same = isinstance(value, str) and value in {named[name], "haldane"}
        if not (is_same or isinstance(given, Unnamed)):
            raise CredimiError(f"method={method!r} has the {name} {named[name]}: leave out {name}={given!r}")
    return named["prior"], named["approximation"]


def checked_approximation(approximation: str) -> str:
    """Return the approximation, by our name if it was given the paper's; an unknown one is an error."""
    approximation = _AS_IN_THE_PAPER.get(approximation, approximation)
    if approximation not in APPROXIMATIONS:
        import difflib  # noqa: PLC0415  (only a mistake needs it)

        close_matches = difflib.get_close_matches(str(approximation), APPROXIMATIONS, 1)
        hint = f"did you mean {close_matches[0]!r}? " if close_matches else ""
        raise CredimiError(f"unknown approximation {approximation!r}: {hint}choose one of {', '.join(APPROXIMATIONS)}")
    return str(approximation)  # plain, if it is a default
