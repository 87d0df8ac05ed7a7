"""A reproduction as Markdown and as a page: what is reproduced, the paper's table with ours beside it, and the rest.

All of it is made from the report alone; each table is a `Part`, which either medium writes in its own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.paper.paper_findings import (
    FILTERS,
    SETTINGS,
    SHORT,
    Part,
    compared,
    deviations,
    findings,
    mean_and_deviation,
    named,
    rows_of,
)
from credimi.results.page import document, headings, numbers, paragraphs, row_heading, table, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from credimi.core.types import Record

_FIGURES = (
    "Prediction accuracy of naive Bayes with the filters F and FF on the first k rows, in the first of {orders} random "
    "orders; left with raw counts, right with one count added to each cell. White: FF and F differ significantly. "
    "Middle: in which share of all orders they do. Below: the threshold that adapts, epsilon + 2 sd, of the median "
    "feature."
)


def parts(report: Record) -> list[Part]:
    """All tables: first what is reproduced and what is not."""
    found = [
        findings(report),
        compared(report),
        _data(report),
        _priors(report),
        _epsilons(report),
        _orders(report),
        _significance(report),
        _accuracies(report),
        *_adaptive(report),
    ]
    return [part for part in found if part is not None]


def markdown(report: Record) -> str:
    """All tables, each under its heading."""
    return "\n".join(
        "\n".join([f"### {part.title}\n", *(f"{each}\n" for each in part.before), _table(part.head, part.lines)])
        + "".join(f"\n{each}\n" for each in part.after)
        for part in parts(report)
    )


def page(report: Record, figures: Mapping[str, str]) -> str:
    """One HTML file: what is reproduced, the figures (addresses of pictures by data set), and all other tables."""
    first, second, *others = map(_html, parts(report))
    orders = report["settings"]["orders"]
    drawn = "\n".join(
        f'<figure><img src="{address}" alt="accuracy of F and FF on {text(name)}" style="max-width: 100%"></figure>'
        for name, address in figures.items()
    )
    shown = f"<section><h2>Accuracy of F and FF</h2>\n{paragraphs([_FIGURES.format(orders=orders)])}\n{drawn}</section>"
    heading = "The experiments of Hutter and Zaffalon (2003), repeated"
    title = f"{heading}, in {orders} random orders of the rows"
    return document(heading, title, ("tables.css",), "\n".join([first, second, *([shown] if figures else []), *others]))


def _html(part: Part) -> str:
    of_numbers = {place for place, cells in enumerate(zip(*part.lines, strict=True)) if all(map(_is_number, cells))}
    head = "".join(headings(text(each), number=place in of_numbers) for place, each in enumerate(part.head))
    rows = [
        f"<tr>{row_heading(first)}"
        + "".join(
            numbers(cell) if place in of_numbers else f"<td>{text(cell)}</td>"
            for place, cell in enumerate(cells, start=1)
        )
        + "</tr>"
        for first, *cells in part.lines
    ]
    said = (paragraphs(each) for each in (part.before, part.after))
    before, after = (f'<div class="said">\n{each}\n</div>' if each else "" for each in said)
    return f"<section><h2>{text(part.title)}</h2>\n{before}\n{table(head, rows)}\n{after}</section>"


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell[:1] in {"+", "-"}


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [list(head), ["---"] * len(head), *map(list, lines)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _data(report: Record) -> Part:
    lines = [
        (
            dataset["dataset"],
            f"{dataset['instances']:,}",
            str(dataset["features"]),
            f"{dataset['missing']:,}",
            str(dataset["classes"]),
            f"{dataset['majority']:.3f}",
            "; ".join(dataset["differences"]) or "none",
        )
        for dataset in report["datasets"]
    ]
    head = ("data set", "instances", "features", "missing", "classes", "largest class", "differences from the paper")
    return Part("The data sets", head, lines)


def _priors(report: Record) -> Part | None:
    pairs = list(dict.fromkeys((row["prior"], row["approximation"]) for row in report["results"]))
    if len(pairs) <= len(SETTINGS):
        return None
    lines = []
    for pair in pairs:
        features_of = {(row["dataset"], row["rule"]): row["features_mean"] for row in rows_of(report, pair)}
        cells = [f"{pair[0]}, {pair[1]}"]
        ordered = 0
        for dataset in report["datasets"]:
            features_kept = [features_of[dataset["dataset"], rule] for rule in FILTERS]
            ordered += features_kept[0] < features_kept[1] < features_kept[2]
            cells.append(" / ".join(f"{value:.2f}" for value in features_kept))
        off_by = [per_cent for *_, per_cent in deviations(report, *pair)]
        near_count = sum(abs(per_cent) <= 10.0 for per_cent in off_by)
        worst = f"{max(off_by, key=abs):+.0f} %" if off_by else ""
        lines.append([*cells, f"{ordered} of {len(report['datasets'])}", str(near_count), worst])
    head = [
        "setting",
        *(dataset["dataset"] for dataset in report["datasets"]),
        "FF < F < BF",
        "within 10 %",
        "farthest",
    ]
    return Part("Features kept by prior and approximation, FF / F / BF", head, lines)


def _epsilons(report: Record) -> Part | None:
    if not report["sensitivity"]:
        return None
    pair = named(report, "nearest")
    others = [row for row in report["sensitivity"] if row["level"] == report["settings"]["level"]]
    rows = sorted([*rows_of(report, pair), *others], key=lambda row: row["epsilon"])
    row_of = {(row["epsilon"], row["dataset"], row["rule"]): row for row in rows}
    lines = []
    for epsilon in dict.fromkeys(row["epsilon"] for row in rows):
        cells = [f"{epsilon:g}"]
        for dataset in report["datasets"]:
            rows_of_filters = [row_of[epsilon, dataset["dataset"], rule] for rule in FILTERS]
            features_kept = " / ".join(f"{row['features_mean']:.2f}" for row in rows_of_filters)
            accuracies = " / ".join(f"{row['accuracy_mean']:.3f}" for row in rows_of_filters)
            cells.append(f"{features_kept}; {accuracies}")
        lines.append(cells)
    head = ["epsilon", *(dataset["dataset"] for dataset in report["datasets"])]
    title = f"Sensitivity to epsilon ({pair[0]}, {pair[1]}): features kept; accuracy, FF / F / BF"
    return Part(title, head, lines)


def _orders(report: Record) -> Part:
    pair = named(report, "nearest")
    row_of = {
        (row["dataset"], row["rule"]): row for row in report["order"] if (row["prior"], row["approximation"]) == pair
    }
    lines = []
    for dataset in report["datasets"]:
        rows_of_filters = [row_of[dataset["dataset"], rule] for rule in FILTERS]
        cells = [f"{row['least']:.2f} to {row['most']:.2f}; {row['as_filed']:.2f}" for row in rows_of_filters]
        lines.append([dataset["dataset"], *cells])
    title = f"Sensitivity to the order of the rows ({pair[0]}, {pair[1]}): features kept"
    before = ["The least and the most of all random orders; in the order of the files."]
    return Part(title, ("data set", "FF", "F", "BF"), lines, before)


def _significance(report: Record) -> Part:
    lines = [
        (
            row["dataset"],
            f"{row['prior']}, {row['approximation']}",
            SHORT[row["rule"]],
            f"{row['ahead']} of {row['orders']}",
            f"{row['behind']} of {row['orders']}",
            f"{row['ahead_rows']:.0f} / {row['behind_rows']:.0f}",
            f"{row['ahead_at_end']} / {row['behind_at_end']}",
        )
        for row in report["significance"]
    ]
    head = (
        "data set",
        "setting",
        "filter",
        "ahead of F at some k",
        "behind F at some k",
        "rows ahead / behind, mean",
        "orders ahead / behind after all rows",
    )
    claims = [
        f"The paper's claim, FF above F on hypothyroid for rows {claim['first']} to {claim['last']} "
        f"({claim['prior']}, {claim['approximation']}): significant at row {claim['first']} in "
        f"{claim['at_first']} of {claim['orders']} orders, somewhere between in {claim['somewhere']}, "
        f"in at least half of these rows in {claim['half']}, throughout in {claim['throughout']}. "
        f"Accuracy on the first {claim['first']} rows, over all orders: FF "
        f"{claim['accuracy_one']:.3f}, F {claim['accuracy_other']:.3f}."
        for claim in report["claim"] or []
    ]
    return Part("Significance on the first k rows (two-tailed paired t test, 0.05)", head, lines, after=claims)


def _accuracies(report: Record) -> Part:
    columns = [(named(report, "paper"), rule) for rule in ("all", "imputed", *FILTERS)]
    columns += [(named(report, which), "forward") for which in SETTINGS[1:]]
    columns += [(("adaptive", "matched"), "forward")]
    row_of = {((row["prior"], row["approximation"]), row["rule"], row["dataset"]): row for row in report["results"]}
    columns = [column for column in columns if (*column, report["datasets"][0]["dataset"]) in row_of]
    lines = []
    for dataset in report["datasets"]:
        rows_of_columns = [row_of[*column, dataset["dataset"]] for column in columns]
        cells = (f"{mean_and_deviation(row, 'accuracy', 3)} ({row['features_mean']:.1f})" for row in rows_of_columns)
        lines.append([dataset["dataset"], *cells])
    heads = [
        SHORT[rule] if rule in ("all", "imputed") else f"{SHORT[rule]} {pair[0]}, {pair[1]}" for pair, rule in columns
    ]
    return Part("Accuracy of naive Bayes (features kept)", ["data set", *heads], lines)


def _adaptive(report: Record) -> list[Part]:
    before = (
        "p is that of the paired t test over orders. The last column is the paper's test, on all rows of one order: "
        "in how many orders FF is significantly ahead, and behind."
    )
    found = []
    head = (
        "data set",
        "features: FF adaptive / F / the paper's FF",
        "accuracy / F's",
        "difference",
        "p",
        "FF is",
        "orders ahead / behind",
    )
    for level in dict.fromkeys(row["level"] for row in report["adaptive"]):
        rows_of_level = [row for row in report["adaptive"] if row["level"] == level]
        lines = [
            (
                row["dataset"],
                f"{row['features']:.2f} / {row['features_plugin']:.2f} / {row['paper_forward'] or '-'}",
                f"{row['accuracy']:.4f} / {row['accuracy_plugin']:.4f}",
                f"{row['difference']:+.4f}",
                f"{row['p_value']:.2g}",
                row["verdict"],
                f"{row['orders_ahead']} / {row['orders_behind']} of {row['orders']}",
            )
            for row in rows_of_level
        ]
        fewer = sum(row["features"] < row["features_plugin"] for row in rows_of_level)
        paper = [row for row in rows_of_level if row["paper_forward"]]
        than_paper = sum(row["features"] < row["paper_forward"] for row in paper)
        text = f"Fewer features than F on {fewer} of {len(rows_of_level)} data sets"
        text += f", than the paper's FF on {than_paper} of {len(paper)}." if paper else "."
        title = f"FF with the adaptive prior, level {level:g}, against F with one count added (uniform)"
        found.append(Part(title, head, lines, [before], [text]))
    return found
