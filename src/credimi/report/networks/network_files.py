"""A network for other programs: Graphviz (DOT) and GraphML, from the plain data of `Network.to_dict`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from credimi.core.types import Record

_FIGURES = ("probability", "mi", "low", "high", "p_forward", "p_backward", "rows")
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
    """A graph in GraphML; edges have the figures of `Edge`, and are directed if their direction is known."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '  <key id="label" for="node" attr.name="label" attr.type="string"/>',
        *(f'  <key id="{name}" for="edge" attr.name="{name}" attr.type="double"/>' for name in _FIGURES),
        '  <graph id="network" edgedefault="undirected">',
    ]
    node_ids = {name: f"n{index}" for index, name in enumerate(network["columns"])}
    for name, node_id in node_ids.items():
        lines.append(f'    <node id="{node_id}"><data key="label">{escape(_xml(name))}</data></node>')
    for edge in network["edges"]:
        ends = [node_ids[edge["a"]], node_ids[edge["b"]]]
        if edge["direction"] == "<-":
            ends.reverse()
        directed = "false" if edge["direction"] == "--" else "true"
        data = "".join(f"<data key={quoteattr(name)}>{edge[name]!r}</data>" for name in _FIGURES)
        lines.append(f'    <edge source="{ends[0]}" target="{ends[1]}" directed="{directed}">{data}</edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def _quoted(text: str) -> str:
    """A string of DOT: quotes and backslashes are escaped."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\0", "") + '"'


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
