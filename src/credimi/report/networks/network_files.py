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
    """A digraph in DOT: width is information, grey is doubt; an edge without a direction has no arrow head."""
    most = max((edge["mi"] for edge in network["edges"]), default=0.0) or 1.0
    lines = ["digraph network {", "  node [shape=box, style=rounded];"]
    lines += [f"  {_quoted(name)};" for name in network["columns"]]
    for edge in network["edges"]:
        backward = edge["direction"] == "<-"
        ends = (edge["b"], edge["a"]) if backward else (edge["a"], edge["b"])
        shown = {
            "dir": "none" if edge["direction"] == "--" else "forward",
            "penwidth": f"{0.6 + 4.0 * (edge['mi'] / most) ** 0.5:.2f}",
            "color": f"0 0 {0.85 * (1.0 - edge['probability']):.3f}",
            "tooltip": f"P(edge) {edge['probability']:.3f}, {edge['mi']:.4f} nats",
        }
        attributes = ", ".join(f"{name}={_quoted(value)}" for name, value in shown.items())
        lines.append(f"  {_quoted(ends[0])} -> {_quoted(ends[1])} [{attributes}];")
    return "\n".join([*lines, "}", ""])


def graphml(network: Record) -> str:
    """A directed graph in GraphML, in which `direction` is "--" where none follows; figures are those of `Edge`.

    Readers such as networkx refuse directed and undirected edges in one graph. All figures, `direction` too, are meant
    from the source to the target.
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '  <key id="label" for="node" attr.name="label" attr.type="string"/>',
        *(f'  <key id="{name}" for="edge" attr.name="{name}" attr.type="double"/>' for name in _FIGURES),
        '  <key id="direction" for="edge" attr.name="direction" attr.type="string"/>',
        '  <graph id="network" edgedefault="directed">',
    ]
    number = {name: f"n{place}" for place, name in enumerate(network["columns"])}
    for name, own in number.items():
        lines.append(f'    <node id="{own}"><data key="label">{escape(_xml(name))}</data></node>')
    for each in network["edges"]:
        edge = each
        if edge["direction"] == "<-":
            turned = {"a": edge["b"], "b": edge["a"], "direction": "->"}
            edge = edge | turned | {"p_forward": edge["p_backward"], "p_backward": edge["p_forward"]}
        data = "".join(f"<data key={quoteattr(name)}>{edge[name]!r}</data>" for name in _FIGURES)
        data += f'<data key="direction">{escape(edge["direction"])}</data>'
        lines.append(f'    <edge source="{number[edge["a"]]}" target="{number[edge["b"]]}">{data}</edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def _quoted(text: str) -> str:
    """A string of DOT: quotes are escaped, and what Graphviz would read as an escape is not one."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\0", "") + '"'


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
