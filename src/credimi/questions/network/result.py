"""`Network`: the result of `network`: its edges, what separates the other pairs, and files for other programs.

These are Graphviz (DOT) and GraphML, made from the plain data of `Network.to_dict`.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from credimi.core.arguments import require_share, unknown
from credimi.core.errors import CredimiError
from credimi.core.optional import library
from credimi.core.public import public, stored
from credimi.questions.network import view
from credimi.results.result import RecordResult, records_of, written
from credimi.results.section import NATS
from credimi.results.sentences import PYTHON

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from matplotlib.axes import Axes

    from credimi.core.types import FloatArray, Foreign, Record, Value
    from credimi.questions.pairs.pairs_forest import PairsForest

FORWARD, BACKWARD, UNDIRECTED = "->", "<-", "--"
SURE = 0.95  # that two columns depend is a claim
_BELIEVED = 0.5  # the probability from which an arrow is shown
_FIGURES = ("probability", "mi", "low", "high", "p_forward", "p_backward", "rows")
_ENTITY = re.compile("&(?=#?[0-9A-Za-z]+;)")
_FIRST_PRINTABLE = 0x20
_LINE_ENDS = {"\r": "&#13;"}  # which readers of XML would turn into line feeds
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def shown_direction(forward: float, backward: float) -> str:
    """The one rule for arrows, for text, pages, files and figures: an arrow has to be more probable than not.

    These are the probabilities of an edge in this direction. So where an arrow is shown, its edge is more probable than
    not, too, whatever level is asked for, and the arrow given the edge.

    Examples
    --------
    >>> shown_direction(0.6, 0.3), shown_direction(0.25, 0.0), shown_direction(0.1, 0.9)
    ('->', '--', '<-')
    """
    if max(forward, backward) <= _BELIEVED:
        return UNDIRECTED
    return FORWARD if forward > backward else BACKWARD


@stored
@dataclass(frozen=True, slots=True)
class Edge:
    """A pair of columns.

    `probability` is that of an edge: that the two depend whatever other columns are given. `mi`, with the 95 % interval
    `low` to `high`, is their mutual information, in nats. `p_forward` is the probability of an edge of which a comes
    before b in every network with these independencies, and `p_backward` of one of which a comes after b. `direction`
    is "->" if the first is more than 0.5, "<-" if the second is, else "--". `separated_by` names the columns given
    which the two are most probably independent, and `p_separated` is that probability. The tuple is empty if the two
    are independent given nothing; None if nothing separates them. `p_dependent` is the probability that the two depend
    at all, given nothing; it allows for the share of independent pairs, as `p_linked` of `credimi.pairs` does.
    """

    a: str
    b: str
    probability: float
    mi: float
    low: float
    high: float
    direction: str
    p_forward: float
    p_backward: float
    separated_by: tuple[str, ...] | None
    p_separated: float = 0.0
    rows: float = 0.0
    p_dependent: float = 1.0

    @property
    def turned(self) -> Edge:
        """The same pair, b first."""
        direction = {FORWARD: BACKWARD, BACKWARD: FORWARD}.get(self.direction, self.direction)
        return replace(
            self, a=self.b, b=self.a, direction=direction, p_forward=self.p_backward, p_backward=self.p_forward
        )

    @property
    def depends(self) -> bool:
        """Whether it is sure that the two depend, directly or not."""
        return self.low > 0.0 and self.p_dependent >= SURE

    def __getitem__(self, name: str) -> Value:
        """A field by its name, as in the rows of rankings."""
        if name not in self.__dataclass_fields__:
            raise KeyError(name)
        return getattr(self, name)


@stored
@dataclass(frozen=True, slots=True)
class NetworkRemark:
    """What a network points out about a column.

    `kind` is one of

    - "missing_depends": whether its values are missing depends on the column `others`, with this `probability`
    - "determined": its values are a function of `others`
    - "left_out": it is not in the network, because of its `facts`: it names rows, has one value or none, or too many
    - "lost": it surely depends on `others`, but so many values are missing that the network cannot say whether directly
    - "walks_disagree": only `walks` of all searches for networks ended among the best: probabilities are less sure
    - "approximate": P(independent) of two columns may be off, and `mi` and `p_dependent` with it; `facts` are those of
      a `Remark`
    - "weights_large", "weights_scaled": what was done with the weights of the rows; `facts` are those of a `Remark`
    """

    kind: str
    column: str | None = None
    others: tuple[str, ...] = ()
    probability: float | None = None
    facts: Record | None = None
    values: int | None = None
    walks: int | None = None

    def to_dict(self) -> Record:
        """The fields that apply, as plain data."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value is not None and value != ()
        }


@public
@dataclass(frozen=True, eq=False, repr=False)
class Network(RecordResult):
    """What `network` returns: which columns depend on each other directly, and what separates the others.

    Attributes
    ----------
    edges : tuple of Edge
        Pairs whose edge has a probability of at least `level`, surest first: a, b, probability, mi, low, high,
        direction, p_forward, p_backward, separated_by, p_separated, rows, p_dependent.
    separated : tuple of Edge
        Pairs that depend, but not directly: `separated_by` names the columns that say what they have in common.
    pairs : tuple of Edge
        Both, and all other pairs whose edge has a probability of at least 0.01.
    names : tuple of str
        The names of the columns.
    level : float
        The probability from which a pair is an edge.
    rows : float
        The number of rows, or the sum of their weights.
    remarks : tuple of NetworkRemark
        Columns that are functions of others, whose missing values depend on another, that were left out.
    settings : dict
        level, degree, max_parents, imputations and seed.

    Examples
    --------
    >>> rain = [0, 0, 1, 1] * 100
    >>> wet = [r if i % 10 else 1 - r for i, r in enumerate(rain)]
    >>> slippery = [w if i % 7 else 1 - w for i, w in enumerate(wet)]
    >>> network = credimi.network({"rain": rain, "wet": wet, "slippery": slippery})
    >>> [(edge.a, edge.b) for edge in network.edges]
    [('wet', 'slippery'), ('rain', 'wet')]
    >>> network.between("rain", "slippery").separated_by
    ('wet',)
    """

    _view: ClassVar[ModuleType] = view
    _key: ClassVar[tuple[str, ...]] = ("a", "b")
    _called: ClassVar[str] = "network"
    _information: ClassVar[tuple[str, ...]] = ("mi", "low", "high")
    rows_in_json: ClassVar[str] = "edges"
    _row: ClassVar[type] = Edge
    pairs: tuple[Edge, ...]
    names: tuple[str, ...]
    level: float
    rows: float
    missing: tuple[float, ...]
    remarks: tuple[NetworkRemark, ...] = ()  # type: ignore[assignment]  # they are about pairs of columns, too
    settings: Record = field(default_factory=dict)
    _alone: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    tables: tuple[Record, ...] = ()

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The pairs whose edge has a probability of at least `level`, surest first."""
        return tuple(pair for pair in self.pairs if pair.probability >= self.level)

    @property
    def separated(self) -> tuple[Edge, ...]:
        """The pairs that depend, but not directly; those that tell most about each other come first."""
        others = [pair for pair in self.pairs if pair.probability < self.level and pair.separated_by and pair.depends]
        return tuple(sorted(others, key=lambda pair: -pair.mi))

    @cached_property
    def forest(self) -> PairsForest:
        """The forests of the same columns, as `Pairs.forest`: what would hold if no column depended on two others.

        These are probabilities *given that a forest holds*, which is wrong for most data; those of `edges` are not.
        """
        from credimi.questions.pairs.pairs_forest import forest_of  # noqa: PLC0415  (compiled code)

        return forest_of(self.names, self.rows, self, self._alone)

    def _unknown(self, name: Value) -> str:
        if not isinstance(name, tuple):
            return f"there is no edge {name!r} among {len(self.edges):,}, counted from 0"
        for each in name:
            self._known(each)
        return f"there is no edge between {' and '.join(map(repr, name))}: see `between`"

    def remark_lines(self, *, cautions: bool = False, units: str = NATS, reader: str = PYTHON) -> list[str]:  # noqa: ARG002  (cautions are not apart here, and nothing is in nats)
        """The remarks in words."""
        return view.remark_lines([remark.to_dict() for remark in self.remarks], reader)

    def at_level(self, level: float) -> Network:
        """The same network with another level: more edges that are less sure, or fewer that are surer."""
        require_share("level", level)
        return replace(self, level=float(level), settings=self.settings | {"level": float(level)})

    def between(self, a: str, b: str) -> Edge | None:
        """What is known of two columns; None if they are independent as far as one can see."""
        for name in (a, b):
            self._known(name)
        return next((pair for pair in self.pairs if {pair.a, pair.b} == {a, b}), None)

    def neighbours(self, column: str) -> tuple[str, ...]:
        """The columns that have an edge to this column, surest first."""
        self._known(column)
        ends = [(edge.a, edge.b) for edge in self.edges if column in {edge.a, edge.b}]
        return tuple(b if a == column else a for a, b in ends)

    def _known(self, name: str) -> None:
        if name not in self.names:
            raise CredimiError(unknown(name, self.names, "the network"))

    def to_dict(self, *, reader: str = PYTHON, units: str = NATS) -> Record:
        """What `credimi network --format json` writes: settings, edges, separated pairs and remarks, as plain data."""
        remarks = [remark.to_dict() for remark in self.remarks]
        return {
            "settings": self._settings(units),
            "rows": self.rows,
            "columns": list(self.names),
            "missing": dict(zip(self.names, self.missing, strict=True)),
            "edges": self._plain_rows(units),
            "separated": self._as_json(records_of(self.separated), units),
            "remarks": [each | {"text": view.remark_lines([each], reader)[0]} for each in remarks],
        }

    def to_pandas(self, *, all_pairs: bool = False) -> Foreign:
        """A pandas DataFrame of the edges, or of all `pairs`."""
        return replace(self, level=0.0).to_pandas() if all_pairs else super().to_pandas()

    def to_networkx(self) -> Foreign:
        """A networkx graph of the edges: a DiGraph, in which an edge without a direction goes both ways.

        The attributes of an edge are those of `Edge`; those of the graph, `settings`.
        """
        networkx = library("networkx", "network")
        graph = networkx.DiGraph(**self.settings)
        graph.add_nodes_from(self.names)
        for edge in self.edges:
            attributes = {name: value for name, value in asdict(edge).items() if name not in {"a", "b", "separated_by"}}
            if edge.direction != BACKWARD:
                graph.add_edge(edge.a, edge.b, **attributes)
            if edge.direction != FORWARD:
                graph.add_edge(edge.b, edge.a, **attributes)
        return graph

    def to_dot(self, path: str | Path | None = None) -> str:
        """The edges in the language of Graphviz; also into a file, if one is named."""
        return written(dot(self.to_dict()), path)

    def to_graphml(self, path: str | Path | None = None) -> str:
        """The edges as GraphML, for networkx, igraph, Gephi, yEd and others; also into a file, if one is named.

        The graph is directed, as many programs refuse both kinds of edges in one: an edge without a direction is there
        once, and its attribute `direction` is "--".
        """
        return written(graphml(self.to_dict()), path)

    def plot(self, path: str | Path | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the edges with matplotlib: width is information, opacity probability; the axes.

        Parameters
        ----------
        path : path, optional
            A .png, .svg or .pdf file to write.
        ax : matplotlib axes, optional
            Where to draw. Default: a new figure.
        """
        return self._plotted(path, ax)

    def _page(self, source: str | None, reader: str) -> str:
        return view.page(self, source, reader)


def dot(network: Record) -> str:
    """A digraph in DOT: the wider an edge, the more information; the paler, the less probable. Arrows: directions."""
    largest = max((edge["mi"] for edge in network["edges"]), default=0.0) or 1.0
    lines = ["digraph network {", "  node [shape=box, style=rounded];"]
    lines += [f"  {_quoted(name)};" for name in network["columns"]]
    for edge in network["edges"]:
        is_backward = edge["direction"] == "<-"
        ends = (edge["b"], edge["a"]) if is_backward else (edge["a"], edge["b"])
        values = {
            "dir": "none" if edge["direction"] == "--" else "forward",
            "penwidth": f"{0.6 + 4.0 * (edge['mi'] / largest) ** 0.5:.2f}",
            "color": f"0 0 {0.85 * (1.0 - edge['probability']):.3f}",
            "tooltip": f"P(edge) {edge['probability']:.3f}, {edge['mi']:.4f} nats",
        }
        attributes = ", ".join(f"{name}={_quoted(value)}" for name, value in values.items())
        lines.append(f"  {_quoted(ends[0])} -> {_quoted(ends[1])} [{attributes}];")
    return "\n".join([*lines, "}", ""])


def graphml(network: Record) -> str:
    """A directed graph in GraphML; `direction` is "--" if the direction of an edge is not known.

    Edges have the figures of `Edge`. All figures, `direction` too, are from the source to the target. Readers such as
    networkx refuse directed and undirected edges in one graph.
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '  <key id="label" for="node" attr.name="label" attr.type="string"/>',
        *(f'  <key id="{name}" for="edge" attr.name="{name}" attr.type="double"/>' for name in _FIGURES),
        '  <key id="direction" for="edge" attr.name="direction" attr.type="string"/>',
        '  <graph id="network" edgedefault="directed">',
    ]
    node_ids = {name: f"n{index}" for index, name in enumerate(network["columns"])}
    for name, node_id in node_ids.items():
        lines.append(f'    <node id="{node_id}"><data key="label">{escape(_xml(name), _LINE_ENDS)}</data></node>')
    for edge in map(_from_cause, network["edges"]):
        data = "".join(f"<data key={quoteattr(name)}>{edge[name]!r}</data>" for name in _FIGURES)
        data += f'<data key="direction">{escape(edge["direction"])}</data>'
        lines.append(f'    <edge source="{node_ids[edge["a"]]}" target="{node_ids[edge["b"]]}">{data}</edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def _from_cause(edge: Record) -> Record:
    """The edge, reversed if its direction is "<-"."""
    if edge["direction"] != "<-":
        return edge
    reversed_ends = {"a": edge["b"], "b": edge["a"], "direction": "->"}
    return edge | reversed_ends | {"p_forward": edge["p_backward"], "p_backward": edge["p_forward"]}


def _quoted(text: str) -> str:
    """A string of DOT: quotes and backslashes are escaped, line ends stay, other control characters become visible.

    Graphviz reads `&amp;` and the like as one character, so that their `&` is written out.
    """
    escaped = _ENTITY.sub("&amp;", text.replace("\\", "\\\\")).replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(each if each.isprintable() else _visible(each) for each in escaped) + '"'


def _visible(character: str) -> str:
    """The picture of a control character; the code of others that cannot be shown, such as marks of direction."""
    code = ord(character)
    return chr(0x2400 + code) if code < _FIRST_PRINTABLE else f"\\\\u{code:04x}"


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
