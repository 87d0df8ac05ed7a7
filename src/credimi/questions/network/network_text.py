"""A network in words and as tables for the terminal, from the plain data of `Network.to_dict`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from credimi.results import remark_sentences, sentences
from credimi.results.names import shorten_distinctly
from credimi.results.remarks import RemarkKind
from credimi.results.terminal import and_more, printed, text_line, text_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record

    Facts = Mapping[str, Any]

ARROW_MEANS = "a direction that follows from what is independent of what, if no common cause is missing"
_MAX_EDGES, _MAX_SEPARATED = 60, 20  # lines
_MAX_NAMED = 5
_MAX_NAME_CHARACTERS = 28
_NO_DIRECTION = "--"
_NUMBERS = {"nats", "P(edge)", "P(arrow)"}


def network_text(network: Record, reader: str = sentences.PYTHON, *, width: int = 120) -> str:
    """The network as plain text."""
    return printed(network_grids(network, reader), width)


def title(network: Record) -> str:
    """How many edges there are, and at which level."""
    edges, level = network["edges"], network["settings"]["level"]
    size = f"{sentences.counted(len(edges), 'edge')} among {sentences.counted(len(network['columns']), 'column')}"
    return f"{size} of {sentences.counted(network['rows'], 'row')}: P(edge) >= {level:g}"


def direction_line(network: Record) -> str:
    """How many edges have a direction, and what arrows mean."""
    edges = network["edges"]
    undirected = sum(edge["direction"] == _NO_DIRECTION for edge in edges)
    if not edges:
        return "no two columns hang together as far as these rows tell"
    if undirected == len(edges):
        return "no edge has a direction; --: the direction cannot be told"
    arrow = f"->: {ARROW_MEANS}"
    if not undirected:
        return f"all edges have a direction; {arrow}"
    counted_edges = f"{undirected:,} of {len(edges):,} edges {'has' if undirected == 1 else 'have'} no direction"
    return f"{counted_edges}; {arrow}; --: the direction cannot be told"


def network_grids(network: Record, reader: str = sentences.PYTHON, *, top: int | None = None) -> Iterator[Grid | Text]:
    """The edges, what separates other pairs, and remarks, for rich to print."""
    edges, separated = network["edges"], network["separated"]
    lines = _MAX_EDGES if top is None else top
    shown = dict(zip(network["columns"], shorten_distinctly(network["columns"], _MAX_NAME_CHARACTERS), strict=True))
    shown[""] = sentences.NO_NAME
    headings = ["a", "", "b", "P(edge)", "P(arrow)", "nats", "95 % interval"]
    yield text_line(title(network))
    if edges:
        yield text_table("", headings, (_edge_cells(edge, shown) for edge in edges[:lines]), right=_NUMBERS)
    yield from and_more(len(edges), lines)
    if separated:
        headings = ["depend, but not directly", "", "nats", "separated by", "P(independent then)"]
        cells = (_separated_cells(pair, shown) for pair in separated[:_MAX_SEPARATED])
        yield text_table("", headings, cells, right=_NUMBERS)
        yield from and_more(len(separated), _MAX_SEPARATED)
    yield text_line(direction_line(network))
    yield from map(text_line, remark_lines(network["remarks"], reader))
    imputed = network["settings"]["imputations"]
    if imputed:
        yield text_line(f"missing values were completed {imputed} times from the network, and the results averaged")


def _edge_cells(edge: Record, shown: dict[str, str]) -> list[str]:
    p_arrow = {"->": edge["p_forward"], "<-": edge["p_backward"]}.get(edge["direction"])
    interval = f"{edge['low']:.4f} to {edge['high']:.4f}"
    return [
        shown[edge["a"]],
        edge["direction"],
        shown[edge["b"]],
        probability_text(edge["probability"]),
        "" if p_arrow is None else probability_text(p_arrow),
        f"{edge['mi']:.4f}",
        interval,
    ]


def _separated_cells(pair: Record, shown: dict[str, str]) -> list[str]:
    given = ", ".join(shown[name] for name in pair["separated_by"])
    names = [shown[pair[name]] for name in ("a", "b")]
    return [*names, f"{pair['mi']:.4f}", given, probability_text(pair["p_separated"])]


def probability_text(probability: float) -> str:
    """A probability in two digits: it is an average over a few hundred networks, so more would not be exact."""
    if probability > 0.995:
        return "> 0.99"
    return "< 0.01" if probability < 0.005 else f"{probability:.2f}"


def remark_lines(remarks: Sequence[Facts], reader: str = sentences.PYTHON) -> list[str]:
    """The remarks in words; columns that were left out are worded as in a ranking."""
    lines = []
    for kind, group in groupby(remarks, lambda each: str(each["kind"])):
        alike = list(group)
        if kind == "left_out":
            lines += _left_out_lines(alike, reader)
            continue
        if kind == "missing_depends":
            lines.append(_missing_depends(alike))
            continue
        if kind == RemarkKind.APPROXIMATE:
            lines += remark_sentences.lines([each["facts"] for each in alike], reader)
            continue
        lines += [remark_sentence(each, reader) for each in alike[:_MAX_NAMED]]
        if len(alike) > _MAX_NAMED:
            lines.append(f"... and {len(alike) - _MAX_NAMED:,} more columns of which the same holds")
    return lines


def _missing_depends(remarks: Sequence[Facts]) -> str:
    """One line for all columns whose missing values depend on another."""
    pairs = [(each["column"], each["others"][0]) for each in remarks[:_MAX_NAMED]]
    named = [f"{column or sentences.NO_NAME} (on {other or sentences.NO_NAME})" for column, other in pairs]
    more = f" and {len(remarks) - _MAX_NAMED:,} more" * (len(remarks) > _MAX_NAMED)
    return (
        f"caution: whether values are missing depends on another column: {', '.join(named)}{more}; that is allowed for "
        "as far as it depends on what is seen in the row"
    )


def _left_out_lines(remarks: Sequence[Facts], reader: str) -> list[str]:
    columns = [each["facts"] for each in remarks if not _too_many(each)]
    return [
        *(f"left out: {line}" for line in sentences.unranked_lines(columns, reader)),
        *(remark_sentence(each, reader) for each in remarks if _too_many(each)),
    ]


def _quoted(name: str | None) -> str:
    """The name of a column within a sentence."""
    return repr(name) if name else sentences.NO_NAME


def _too_many(remark: Facts) -> bool:
    return bool(remark["facts"]["kind"] in {"categories", "ranges"})


def remark_sentence(remark: Facts, reader: str = sentences.PYTHON) -> str:
    """One remark in words."""
    kind, others = remark["kind"], " and ".join(map(_quoted, remark.get("others", ())))
    column = _quoted(remark.get("column"))
    if kind == "determined":
        return f"{column} is a function of {others} in these rows: what it tells of others, they tell too"
    if kind == "missing_depends":
        return (
            f"caution: whether {column} is missing depends on {others} "
            f"(probability {probability_text(remark['probability'])}): that is allowed for as far as it "
            "depends on what is seen"
        )
    if kind == "lost":
        named = ", ".join(name or sentences.NO_NAME for name in remark["others"][:_MAX_NAMED])
        more = f" and {len(remark['others']) - _MAX_NAMED:,} more" * (len(remark["others"]) > _MAX_NAMED)
        return (
            f"caution: {column} depends on {named}{more}, but too many of its values are missing to say "
            "whether directly: no edge does not mean independent here"
        )
    if kind == "walks_disagree":
        return (
            f"caution: only {remark['walks']} of the searches ended among the best networks: probabilities are less "
            "sure than they look; fewer columns, or another seed, show how much"
        )
    return _of_facts(remark, column, reader)


def _of_facts(remark: Facts, column: str, reader: str) -> str:
    """A remark on the weights of the rows, or on a column that was left out."""
    if remark["kind"].startswith("weights") or remark["kind"] == RemarkKind.APPROXIMATE:
        return remark_sentences.lines([remark["facts"]], reader)[0]
    if _too_many(remark):
        advice = "--discretize" if reader == sentences.COMMAND_LINE else "discretize"
        return (
            f"left out: {column} has {remark['values']:,} values, too many for tables with others: group "
            f"them, or cut numbers ({advice})"
        )
    return f"left out: {column}: {sentences.note(remark['facts'], reader)}"
