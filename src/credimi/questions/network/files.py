"""A network for other programs: Graphviz (DOT) and GraphML, from the plain data of `Network.to_dict`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from credimi.core.types import Record

_FIGURES = ("probability", "mi", "low", "high", "p_forward", "p_backward", "rows")
_ENTITY = re.compile("&(?=#?[0-9A-Za-z]+;)")
_FIRST_PRINTABLE = 0x20
_LINE_ENDS = {"\r": "&#13;"}  # which readers of XML would turn into line feeds
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
