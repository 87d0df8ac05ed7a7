"""What `pairs` returns: what every two columns tell about each other, as rows, as a matrix, and as a forest."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np
import pyarrow as pa

from credimi.core.arguments import unknown
from credimi.core.atomic_files import replacing
from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.inference.rules import false_discovery, from_share, share_of_independent
from credimi.inference.tables.pair_figures import PairFigures
from credimi.questions.pairs import pairs_view
from credimi.questions.pairs.pairs_forest import MAX_ODDS_TIMES_COLUMNS, PairsForest, forest_of
from credimi.questions.pairs.pairs_page import MAX_PAIRS, write_page
from credimi.results import remark_sentences, sentences
from credimi.results.feature_rows import FeatureRows
from credimi.results.remarks import approximate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray, Record, Value

FIELDS = ("mi", "low", "high", "p_above", "p_independent", "p_linked", "linked", "share", "log_evidence", "complete")
_FORMAT = b"credimi.pairs"
_CHOSEN_COLUMNS = ("number_of_a", "number_of_b")
_SHOWN_PAIRS = 30  # in the terminal
_ALL_PAIRS = slice(None)
_PAIRS_AT_ONCE = 1 << 12  # pairs that become dictionaries together


@public
@dataclass(frozen=True, eq=False, repr=False)
class Pairs(FeatureRows):
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
    chosen : tuple of two arrays, or None
        The numbers of the two columns of each pair, if only some pairs were asked for; then `linked` judges these.
    learned : float or None
        `independent`, learned from all pairs, if only some of them are here.
    on_weights : tuple of dict
        The remarks on the weights of the rows, as `Remark.to_dict` has them.

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

    names: tuple[str, ...]
    rows: int | float
    figures: PairFigures
    entropies: FloatArray
    settings: Record = field(default_factory=dict)
    facts: tuple[Record, ...] = ()
    chosen: tuple[IntegerArray, IntegerArray] | None = None
    learned: float | None = None
    reader: str = sentences.PYTHON
    on_weights: tuple[Record, ...] = ()

    @cached_property
    def independent(self) -> float:
        """The share of independent pairs, learned from all of them; NaN if the prior excludes independence."""
        if self.learned is not None:
            return self.learned
        if self.settings["prior"] != "adaptive":
            return float("nan")
        return share_of_independent(self.figures.p_independent)

    @property
    def places(self) -> tuple[IntegerArray, IntegerArray]:
        """The numbers of the two columns of each pair, in the order of the figures."""
        return self._places

    @cached_property
    def _places(self) -> tuple[IntegerArray, IntegerArray]:
        """The two columns of each pair."""
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
        if name == "share":
            one, other = (columns[pairs] for columns in self._places)
            smaller_entropy = np.minimum(self.entropies[one], self.entropies[other])
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
            mi, low, high, p_above, p_independent, p_linked, linked, share, log_evidence or complete.
        """
        values = self._values(name)
        one, other = self._places
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
        return forest_of(self.names, self.matrix("log_evidence").astype(np.float64), edge_odds, threads=threads)

    def __len__(self) -> int:
        return self.figures.mi.size

    def __iter__(self) -> Iterator[Record]:
        """The rows as dictionaries, best first."""
        for start in range(0, len(self), _PAIRS_AT_ONCE):
            yield from self._records(self._order[start : start + _PAIRS_AT_ONCE])

    def _records(self, pairs: IntegerArray) -> list[Record]:
        """Some pairs as dictionaries."""
        one, other = ([self.names[column] for column in indices[pairs].tolist()] for indices in self._places)
        columns = {"a": one, "b": other} | {name: self._values(name, pairs).tolist() for name in FIELDS}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def __contains__(self, pair: object) -> bool:
        """Whether there is such a pair of names."""
        if not (isinstance(pair, tuple) and len(pair) == 2 and pair[0] != pair[1] and set(pair) <= set(self.names)):
            return False
        return self._index_of(*sorted(self.names.index(name) for name in pair)) is not None

    @overload
    def __getitem__(self, pair: slice) -> list[Record]: ...

    @overload
    def __getitem__(self, pair: Value) -> Record: ...

    def __getitem__(self, pair: Value) -> Record | list[Record]:
        """The row of a pair, by its two names, or by its index, 0 for the best; a slice gives a list of rows."""
        if isinstance(pair, slice):
            return self._records(self._order[pair])
        if isinstance(pair, Integral) and not isinstance(pair, bool):
            if not -len(self) <= int(pair) < len(self):
                raise CredimiError(f"there is no pair {pair}: there are {len(self):,}, counted from 0")
            return self._records(self._order[[int(pair)]])[0]
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise CredimiError(f"{pair!r} is no pair: pass two names, pairs['x', 'y'], or a place from 0 on")
        for name in pair:
            if str(name) not in self.names:
                raise CredimiError(unknown(str(name), self.names))
        one, other = sorted(self.names.index(str(name)) for name in pair)
        if one == other:
            raise CredimiError(f"a column is no pair with itself: pass two names, not {pair[0]!r} twice")
        index = self._index_of(one, other)
        if index is None:
            raise CredimiError(f"{pair!r} is not among the {len(self):,} pairs that were asked for")
        return self._records(np.array([index]))[0]

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
        one, other = (pa.array(indices[order].astype(np.int32)) for indices in self._places)
        texts = {name: pa.DictionaryArray.from_arrays(codes, names) for name, codes in (("a", one), ("b", other))}
        return texts | {name: pa.array(self._values(name, order)) for name in FIELDS}

    def to_arrow(self, top: int | None = None) -> pa.Table:
        """A pyarrow Table of all pairs, or of the `top` best."""
        return pa.table(self._arrow(len(self) if top is None else top))

    def worded_for(self, reader: str) -> Pairs:
        """The same pairs, with remarks for this reader: "python" (arguments) or "command line" (options)."""
        return replace(self, reader=reader)

    def remark_lines(self) -> list[str]:
        """What there is to say of columns and weights, in words: what was left out and why, suspicious values."""
        on_columns = pairs_view.remarks(self.names, self.facts, self.settings, self.reader)
        return [*on_columns, *remark_sentences.lines([*self._on_figures(), *self.on_weights], self.reader)]

    def _on_figures(self) -> list[Record]:
        """The pairs whose P(independent) may be off, largest mean first, as `Remark.to_dict` has them."""
        marked = self._order[self.figures.approximate[self._order] > 0.0]
        places = ((int(indices[pair]) for indices in self._places) for pair in marked)
        pairs = zip(self.figures.mi[marked].tolist(), places, strict=True)
        epsilon, names = self.settings["epsilon"], self.names
        return [approximate(names[one], mi, epsilon, names[other]).to_dict() for mi, (one, other) in pairs]

    def to_dict(self, top: int | None = None) -> Record:
        """The content of `credimi pairs --format json`: settings, columns, remarks and pairs, or the `top` best."""
        return {
            "settings": self.settings,
            "rows": self.rows,
            "columns": list(self.names),
            "independent": None if np.isnan(self.independent) else self.independent,
            "left_out": [each["feature"] for each in self.facts if each["feature"] not in self.names],
            "remarks": self.remark_lines(),
            "cuts": {each["feature"]: each["cuts"] for each in self.facts if each["cuts"]},
            "pairs": [
                {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
                for row in self[: len(self) if top is None else top]
            ],
        }

    def __repr__(self) -> str:
        return pairs_view.pairs_text(self.to_dict(_SHOWN_PAIRS) | {"count": len(self)})

    def plot(self, name: str = "mi", path: str | Path | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the matrix of one of the columns as a heat map with matplotlib.

        Parameters
        ----------
        name : str
            As in `matrix`.
        path : path, optional
            A .png, .svg or .pdf file to write.
        ax : matplotlib axes, optional
            Where to draw. Default: a new figure.
        """
        return pairs_view.heat_map(self.matrix(name).astype(np.float64), self.names, name, path, ax)

    def to_html(self, path: str | Path, *, source: str | None = None) -> None:
        """Write one HTML page to explore the links between columns, offline: a graph, a matrix and a list.

        Parameters
        ----------
        path : path
            The file to write; it is complete or absent.
        source : str, optional
            The name of the data that the page shows.
        """
        write_page(self.to_dict(MAX_PAIRS) | {"source": source}, path)

    def save(self, path: str | Path) -> None:
        """Write to one Arrow file, which is complete or absent; `Pairs.load` reads it."""
        header = {"names": self.names, "rows": self.rows, "settings": self.settings, "facts": self.facts}
        header |= {"on_weights": self.on_weights}
        columns = {each.name: pa.array(getattr(self.figures, each.name)) for each in fields(self.figures)}
        if self.chosen is not None:
            header |= {"learned": float(self.independent)}
            columns |= {name: pa.array(each) for name, each in zip(_CHOSEN_COLUMNS, self.chosen, strict=True)}
        metadata = {_FORMAT: json.dumps(header | {"entropies": self.entropies.tolist()}).encode()}
        table = pa.table(columns).replace_schema_metadata(metadata)
        with replacing(Path(path)) as temporary, pa.ipc.new_file(str(temporary), table.schema) as writer:
            writer.write_table(table)

    @staticmethod
    def load(path: str | Path) -> Pairs:
        """Read what `save` wrote."""
        try:
            with pa.OSFile(str(path)) as source:
                table = pa.ipc.open_file(source).read_all()
            header = json.loads((table.schema.metadata or {})[_FORMAT])
            figures = PairFigures(*(table.column(each.name).to_numpy().copy() for each in fields(PairFigures)))
            facts, entropies = tuple(header["facts"]), np.array(header["entropies"])
            whole = Pairs(tuple(header["names"]), header["rows"], figures, entropies, header["settings"], facts)
            whole = replace(whole, on_weights=tuple(header.get("on_weights", ())))
            if "learned" not in header:
                return whole
            one, other = (table.column(name).to_numpy().copy() for name in _CHOSEN_COLUMNS)
            return replace(whole, chosen=(one, other), learned=header["learned"])
        except (OSError, KeyError, ValueError, TypeError) as error:
            raise CredimiError(f"cannot read {path} as saved pairs: {error}; write it with Pairs.save") from None
