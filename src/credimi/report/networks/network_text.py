"""A network in words and as tables for the terminal, from the plain data of `Network.to_dict`."""

from __future__ import annotations

import io
from itertools import groupby
from typing import TYPE_CHECKING, Any

from credimi.core.atomic_files import plain
from credimi.report import sentences
from credimi.report.terminal import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record

    Facts = Mapping[str, Any]

_LINES, _SEPARATED = 60, 20
_NAMED = 5
_LONGEST = 28
_NO_DIRECTION = "--"


def network_text(network: Record, reader: str = sentences.PYTHON, *, width: int = 120) -> str:
    """The network as plain text."""
    from rich.console import Console  # noqa: PLC0415  (rich is loaded only to print)

    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        for part in network_grids(network, reader):
            console.print(part)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def title(network: Record) -> str:
    """How many edges there are, and how sure."""
    edges, level = network["edges"], network["settings"]["level"]
    told = f"{sentences.counted(len(edges), 'edge')} among {sentences.counted(len(network['columns']), 'column')}"
    return f"{told} of {sentences.counted(network['rows'], 'row')}: P(edge) >= {level:g}"


def direction_line(network: Record) -> str:
    """What arrows mean, and how many edges have none."""
    edges = network["edges"]
    without = sum(edge["direction"] == _NO_DIRECTION for edge in edges)
    if not edges:
        return "no two columns hang together as far as these rows tell"
    many = f"{without} of {sentences.counted(len(edges), 'edge')} {'has' if without == 1 else 'have'} no direction"
    many = many if without else "all edges have a direction"
    return f"{many}: -> follows from what is independent of what, if no common cause is missing; -- may go either way"


def network_grids(network: Record, reader: str = sentences.PYTHON, *, top: int | None = None) -> Iterator[Grid | Text]:
    """The edges, what separates other pairs, and remarks, for rich to print."""
    from rich.text import Text  # noqa: PLC0415  (a plain str would be read as markup, and :names: as pictures)

    edges, separated = network["edges"], network["separated"]
    lines = _LINES if top is None else top
    headings = ["a", "", "b", "P(edge)", "P(arrow)", "nats", "95 % interval"]
    yield (
        _grid(title(network), headings, [_edge_cells(edge) for edge in edges[:lines]])
        if edges
        else Text(title(network))
    )
    if len(edges) > lines:
        yield Text(f"... and {len(edges) - lines:,} more")
    if separated:
        headings = ["depend, but not directly", "", "nats", "separated by", "P(independent then)"]
        yield _grid("", headings, [_separated_cells(pair) for pair in separated[:_SEPARATED]])
        if len(separated) > _SEPARATED:
            yield Text(f"... and {len(separated) - _SEPARATED:,} more")
    yield Text(direction_line(network))
    for line in remark_lines(network["remarks"], reader):
        yield Text(plain(line))
    imputed = network["settings"]["imputations"]
    if imputed:
        yield Text(f"missing values were completed {imputed} times from the network, and the results averaged")


def _edge_cells(edge: Record) -> list[str]:
    forced = {"->": edge["p_forward"], "<-": edge["p_backward"]}.get(edge["direction"])
    interval = f"{edge['low']:.4f} to {edge['high']:.4f}"
    return [
        _named(edge["a"]),
        edge["direction"],
        _named(edge["b"]),
        chance(edge["probability"]),
        "" if forced is None else chance(forced),
        f"{edge['mi']:.4f}",
        interval,
    ]


def _separated_cells(pair: Record) -> list[str]:
    given = ", ".join(map(_named, pair["separated_by"]))
    names = [_named(pair[name]) for name in ("a", "b")]
    return [*names, f"{pair['mi']:.4f}", given, chance(pair["p_separated"])]


def _named(name: str) -> str:
    return shortened(name or sentences.NO_NAME, _LONGEST)


def chance(probability: float) -> str:
    """A probability that was averaged over a few hundred networks: two digits say all that is known."""
    if probability > 0.995:
        return "> 0.99"
    return "< 0.01" if probability < 0.005 else f"{probability:.2f}"


def _grid(heading: str, headings: list[str], rows: list[list[str]]) -> Grid:
    from rich import box, table, text  # noqa: PLC0415  (rich is loaded only to print)

    told = text.Text(plain(heading)) if heading else None
    grid = table.Table(title=told, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for each in headings:
        grid.add_column(each, justify="right" if each in {"nats", "P(edge)", "P(arrow)"} else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(text.Text(plain(cell)) for cell in row))
    return grid


def remark_lines(remarks: Sequence[Facts], reader: str = sentences.PYTHON) -> list[str]:
    """The remarks in words; those of columns that were left out as those of a ranking."""
    found = []
    for kind, group in groupby(remarks, lambda each: str(each["kind"])):
        same = list(group)
        if kind == "left_out":
            found += _left_out_lines(same, reader)
            continue
        if kind == "missing_depends":
            found.append(_missing_depends(same))
            continue
        found += [remark_sentence(each, reader) for each in same[:_NAMED]]
        if len(same) > _NAMED:
            found.append(f"... and {len(same) - _NAMED:,} more columns of which the same holds")
    return found


def _missing_depends(same: Sequence[Facts]) -> str:
    """One line for all columns whose missing values depend on another."""
    told = [f"{each['column']} (on {each['others'][0]})" for each in same[:_NAMED]]
    more = f" and {len(same) - _NAMED:,} more" * (len(same) > _NAMED)
    return (
        f"caution: whether values are missing depends on another column: {', '.join(told)}{more}; that is allowed for "
        "as far as it depends on what is seen in the row"
    )


def _left_out_lines(same: Sequence[Facts], reader: str) -> list[str]:
    plainly = [each["facts"] for each in same if not _too_many(each)]
    return [
        *(f"left out: {line}" for line in sentences.unranked_lines(plainly, reader)),
        *(remark_sentence(each, reader) for each in same if _too_many(each)),
    ]


def _too_many(remark: Facts) -> bool:
    return bool(remark["facts"]["kind"] in {"categories", "ranges"})


def remark_sentence(remark: Facts, reader: str = sentences.PYTHON) -> str:
    """One remark in words."""
    kind, others = remark["kind"], " and ".join(repr(name) for name in remark.get("others", ()))
    if kind == "determined":
        return f"{remark['column']!r} is a function of {others} in these rows: what it tells of others, they tell too"
    if kind == "missing_depends":
        return (
            f"caution: whether {remark['column']!r} is missing depends on {others} "
            f"(probability {chance(remark['probability'])}): that is allowed for as far as it depends on what is seen"
        )
    if kind == "walks_disagree":
        return (
            f"caution: only {remark['walks']} of the searches ended among the best networks: probabilities are less "
            "sure than they look; fewer columns, or another seed, show how much"
        )
    if _too_many(remark):
        asked = "--discretize" if reader == sentences.COMMAND_LINE else "discretize"
        return (
            f"left out: {remark['column']!r} has {remark['values']:,} values, too many for tables with others: group "
            f"them, or cut numbers ({asked})"
        )
    return f"left out: {remark['column']!r}: {sentences.note(remark['facts'], reader)}"
