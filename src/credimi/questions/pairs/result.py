"""What `pairs` returns: what every two columns tell about each other, as rows, as a matrix, and as a forest."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from credimi.core.arguments import unknown
from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.inference.rules import false_discovery, from_share, share_of_independent
from credimi.inference.tables.association import association
from credimi.questions.pairs import view
from credimi.questions.pairs.pairs_forest import MAX_ODDS_TIMES_COLUMNS, PairsForest, forest_of
from credimi.results import remark_sentences
from credimi.results.remarks import Remark, approximate
from credimi.results.result import Result
from credimi.results.section import NATS
from credimi.results.sentences import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray, Record, Value
    from credimi.inference.tables.pair_figures import PairFigures

_FIGURES = ("mi", "low", "high", "p_above", "p_independent")
FIELDS = (*_FIGURES, "p_linked", "linked", "share", "log_evidence", "complete", "association")
_ALL_PAIRS = slice(None)
_PAIRS_AT_ONCE = 1 << 12  # pairs that become dictionaries together


@public
@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Result):
    """What `pairs` returns: one row for each pair of columns, best first. It provides Arrow data; prints as a table.

    Its columns:

    - a, b: the names, in the order of the data
    - mi, low, high: posterior mean and interval of the mutual information, in nats
    - p_above: P(I > epsilon)
    - p_independent: P(I = 0), from even odds, as `mutual_information` has it; 0 with priors without such a probability
    - p_linked: the probability that the two depend on each other, with the share of independent pairs that all pairs
      together suggest (`independent`) instead of even odds
    - linked: whether the pair is among the largest set of which, by P(I > epsilon) with these odds, at most one in
      twenty is expected to tell less than epsilon (the rule fdr)
    - share: mi as a share of the smaller entropy of the two; 1 if one is a function of the other, or nearly
    - log_evidence: the logarithm of the Bayes factor of dependence
    - complete: the rows that have both
    - association: mi on a scale from 0 (independent) to 1 (one is a function of the other); for two normal variables it
      is the absolute correlation

    Attributes
    ----------
    names : tuple of str
        The columns that were compared.
    rows : int or float
        The rows of the data.
    independent : float
        The share of independent pairs, learned from all of them; at least 1/2.
    entropies : array
        The entropy of each column in these rows, in nats.
    settings : dict
        epsilon, level, prior, approximation and refine; if that is not None, also imputations, seed, rounds (how often
        missing values were drawn in all) and settled (whether the rounds before the first table sufficed).
    facts : tuple of dict
        What each column is, those that were left out last: `kind`, `values`, `cuts` and more; `missing_depends` names
        the column that tells most of where values are missing, if any does.
    remarks : tuple of Remark
        What was done with the weights of the rows.
    chosen : tuple of two arrays, or None
        The numbers of the two columns of each pair, if only some pairs were asked for; then `linked` judges these.
    learned : float or None
        `independent`, learned from all pairs, if only some of them are here.

    Examples
    --------
    >>> pairs = credimi.pairs({"x": list("aabb") * 25, "y": list("ccdd") * 25, "noise": list("abab") * 25})
    >>> pairs["x", "y"]["linked"], pairs[0]["a"], len(pairs)
    (True, 'x', 3)
    >>> pairs.matrix("mi").shape, pairs.names
    ((3, 3), ('x', 'y', 'noise'))
    >>> pairs.forest().best
    [('x', 'y')]
    """

    _view: ClassVar[ModuleType] = view
    _key: ClassVar[tuple[str, ...]] = ("a", "b")
    _information: ClassVar[tuple[str, ...]] = ("mi", "low", "high")
    rows_in_json: ClassVar[str] = "pairs"
    names: tuple[str, ...]
    rows: int | float
    figures: PairFigures
    entropies: FloatArray
    settings: Record = field(default_factory=dict)
    facts: tuple[Record, ...] = ()
    remarks: tuple[Remark, ...] = ()
    chosen: tuple[IntegerArray, IntegerArray] | None = None
    learned: float | None = None

    @cached_property
    def independent(self) -> float:
        """The share of independent pairs, learned from all of them; NaN if the prior excludes independence."""
        if self.learned is not None:
            return self.learned
        if self.settings["prior"] != "adaptive":
            return float("nan")
        return share_of_independent(self.figures.p_independent)

    @cached_property
    def places(self) -> tuple[IntegerArray, IntegerArray]:
        """The numbers of the two columns of each pair, in the order of the figures."""
        if self.chosen is not None:
            return self.chosen
        count = len(self.names)
        lengths = np.arange(count - 1, -1, -1)
        one = np.repeat(np.arange(count), lengths)
        other = np.arange(one.size) - np.repeat(np.cumsum(lengths) - lengths, lengths) + one + 1
        return one, other

    @cached_property
    def _order(self) -> IntegerArray:
        """The pairs, best first."""
        return np.argsort(-self.figures.mi, kind="stable")

    @cached_property
    def _p_linked(self) -> FloatArray:
        dependent, share = 1.0 - self.figures.p_independent, self.independent
        if np.isnan(share):
            return dependent
        result: FloatArray = (
            (1.0 - share) * dependent / (share * self.figures.p_independent + (1.0 - share) * dependent)
        )
        return result

    @cached_property
    def _linked(self) -> NDArray[np.bool_]:
        if np.isnan(self.independent):
            return false_discovery(self.figures.p_above, 0.05)
        p_above = from_share(self.figures.p_above, self.figures.p_independent, self.independent)
        return false_discovery(p_above, 0.05)

    def _values(self, name: str, pairs: IntegerArray | slice = _ALL_PAIRS) -> NDArray[np.generic]:
        """One of the columns, in the order of the pairs, or that of some pairs."""
        if name not in FIELDS:
            raise CredimiError(f"pairs have no {name!r}: choose one of {', '.join(FIELDS)}")
        if name in {"share", "association"}:
            one, other = (columns[pairs] for columns in self.places)
            smaller_entropy = np.minimum(self.entropies[one], self.entropies[other])
            if name == "association":
                return association(self.figures.mi[pairs], smaller_entropy)
            return np.divide(
                self.figures.mi[pairs], smaller_entropy, out=np.zeros(smaller_entropy.size), where=smaller_entropy > 0.0
            )
        computed = {"p_linked": "_p_linked", "linked": "_linked"}
        values: NDArray[np.generic] = getattr(self, computed[name]) if name in computed else getattr(self.figures, name)
        return values[pairs]

    def matrix(self, name: str = "mi") -> NDArray[np.generic]:
        """One of the columns as a symmetric matrix, in the order of `names`; NaN on the diagonal, or False.

        Parameters
        ----------
        name : str
            mi, low, high, p_above, p_independent, p_linked, linked, share, association, log_evidence or complete.
        """
        values = self._values(name)
        one, other = self.places
        empty = False if values.dtype == bool else np.nan
        matrix = np.full((len(self.names), len(self.names)), empty, dtype=values.dtype)
        matrix[one, other] = values
        matrix[other, one] = values
        return matrix

    def forest(self, *, odds: float | None = None, threads: int | None = None) -> PairsForest:
        """How probable each edge is, over all forests of the columns, *given that a forest holds*.

        Most data are no forest: these say which of the links a forest would have, not which links there are (see
        `p_linked`).

        Parameters
        ----------
        odds : float, optional
            The prior odds of an edge between two columns that have no other. Default: those learned from all pairs,
            (1 - independent)/independent, but at most 1/(10 p) for p columns: of independent columns no more than about
            one edge for twenty columns is then expected.
        threads : int, optional
            Default: all cores.
        """
        if self.chosen is not None:
            raise CredimiError("a forest needs all pairs: leave out top and p_dependent")
        if np.isnan(self.independent):
            raise CredimiError("a forest needs the evidence of independence: use prior='adaptive'")
        if odds is not None and not 0.0 < odds < np.inf:
            raise CredimiError(f"odds is {odds!r}: pass a number above 0")
        learned_odds = min(
            (1.0 - self.independent) / self.independent, MAX_ODDS_TIMES_COLUMNS / max(len(self.names), 1)
        )
        edge_odds = learned_odds if odds is None else float(odds)
        evidence = self.matrix("log_evidence").astype(np.float64)
        return forest_of(self.names, self.rows, self, evidence, edge_odds, threads=threads)

    def __len__(self) -> int:
        return self.figures.mi.size

    def __iter__(self) -> Iterator[Record]:
        """The rows as dictionaries, best first."""
        for start in range(0, len(self), _PAIRS_AT_ONCE):
            yield from self._records(slice(start, start + _PAIRS_AT_ONCE))

    def _records(self, places: slice) -> list[Record]:
        pairs = self._order[places]
        one, other = ([self.names[column] for column in indices[pairs].tolist()] for indices in self.places)
        columns = {"a": one, "b": other} | {name: self._values(name, pairs).tolist() for name in FIELDS}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _record(self, place: int) -> Record:
        return self._records(slice(place, place + 1))[0]

    def _place_of(self, name: object) -> int | None:
        if not (isinstance(name, tuple) and len(name) == 2 and len({*map(str, name)} & {*self.names}) == 2):
            return None
        index = self._index_of(*sorted(self.names.index(str(each)) for each in name))
        return None if index is None else int(np.flatnonzero(self._order == index)[0])

    def _unknown(self, name: Value) -> str:
        if not isinstance(name, tuple) or len(name) != 2:
            return f"{name!r} is no pair: pass two names, pairs['x', 'y'], or a place from 0 on"
        for each in name:
            if str(each) not in self.names:
                return unknown(str(each), self.names)
        if str(name[0]) == str(name[1]):
            return f"a column is no pair with itself: pass two names, not {name[0]!r} twice"
        return f"{name!r} is not among the {len(self):,} pairs that were asked for"

    def _index_of(self, one: int, other: int) -> int | None:
        """The index of the pair of columns `one` < `other`; None if the pair is not included."""
        if self.chosen is None:
            return one * (2 * len(self.names) - one - 1) // 2 + other - one - 1
        matches = np.flatnonzero((self.chosen[0] == one) & (self.chosen[1] == other))
        return int(matches[0]) if matches.size else None

    @property
    def columns(self) -> dict[str, list[Value]]:  # type: ignore[override]
        """All columns as lists, best pair first."""
        return {name: column.to_pylist() for name, column in self._arrow(len(self)).items()}

    def _arrow(self, top: int) -> dict[str, pa.Array]:
        order, names = self._order[:top], pa.array(self.names, pa.string())
        one, other = (pa.array(indices[order].astype(np.int32)) for indices in self.places)
        texts = {name: pa.DictionaryArray.from_arrays(codes, names) for name, codes in (("a", one), ("b", other))}
        return texts | {name: pa.array(self._values(name, order)) for name in FIELDS}

    def to_arrow(self, top: int | None = None) -> pa.Table:
        """A pyarrow Table of all pairs, or of the `top` best."""
        return pa.table(self._arrow(len(self) if top is None else top))

    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return "a", "b", *FIELDS

    def remark_lines(self, *, cautions: bool = False, units: str = NATS, reader: str = PYTHON) -> list[str]:
        """What there is to say of columns and weights, in words: what was left out and why, suspicious values."""
        on_others = super().remark_lines(cautions=cautions, units=units, reader=reader)
        on_figures = remark_sentences.lines([each.to_dict(units) for each in self._on_figures()], reader)
        return [*view.remarks(self, reader), *on_figures, *on_others]

    def _on_figures(self) -> list[Remark]:
        """The pairs whose P(independent) may be off, largest mean first."""
        marked = self._order[self.figures.approximate[self._order] > 0.0]
        places = ((int(indices[pair]) for indices in self.places) for pair in marked)
        pairs = zip(self.figures.mi[marked].tolist(), places, strict=True)
        epsilon, names = self.settings["epsilon"], self.names
        return [approximate(names[one], mi, epsilon, names[other]) for mi, (one, other) in pairs]

    def to_dict(self, top: int | None = None, *, reader: str = PYTHON, units: str = NATS) -> Record:
        """The content of `credimi pairs --format json`: settings, columns, remarks and pairs, or the `top` best."""
        rows = self[:top]
        return {
            "settings": self._settings(units),
            "rows": self.rows,
            "columns": list(self.names),
            "independent": None if np.isnan(self.independent) else self.independent,
            "left_out": [each["feature"] for each in self.facts if each["feature"] not in self.names],
            "remarks": self.remark_lines(reader=reader, units=units),
            "cuts": {each["feature"]: each["cuts"] for each in self.facts if each["cuts"]},
            "pairs": self._as_json(rows, units),
        }

    def plot(self, path: str | Path | None = None, *, name: str = "mi", ax: Axes | None = None) -> Axes:
        """Draw the matrix of one of the columns as a heat map with matplotlib.

        Parameters
        ----------
        path : path, optional
            A .png, .svg or .pdf file to write.
        name : str
            As in `matrix`.
        ax : matplotlib axes, optional
            Where to draw. Default: a new figure.
        """
        return self._plotted(path, ax, name=name)

    def _page(self, source: str | None, reader: str) -> str:
        return view.page(self, source, reader)
