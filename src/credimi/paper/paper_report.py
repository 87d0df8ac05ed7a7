"""A reproduction as Markdown: the paper's table with ours beside it, and the findings; made from the report alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from credimi.core.types import Record

_SHORT = {"forward": "FF", "plugin": "F", "backward": "BF", "all": "none", "imputed": "imputed F"}
_FILTERS = ("forward", "plugin", "backward")


def markdown(report: Record) -> str:
    """All tables, each under its heading."""
    parts = [
        _data(report),
        _main(report, "nearest"),
        _main(report, "paper"),
        _priors(report),
        _epsilons(report),
        _orders(report),
        _significance(report),
        _accuracies(report),
        _adaptive(report),
    ]
    return "\n".join(part for part in parts if part)


def deviations(report: Record, prior: str, approximation: str) -> list[tuple[str, str, float]]:
    """Data set, rule, and by how many per cent our number of kept features deviates from the paper's."""
    return [
        (row["dataset"], row["rule"], 100.0 * (row["features_mean"] / row["paper_features"] - 1.0))
        for row in report["results"]
        if (row["prior"], row["approximation"]) == (prior, approximation) and row["paper_features"]
    ]


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [list(head), ["---"] * len(head), *map(list, lines)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _named(report: Record, which: str) -> tuple[str, str]:
    setting = report["settings"][which]
    return setting["prior"], setting["approximation"]


def _rows(report: Record, pair: tuple[str, str], rules: Sequence[str] = _FILTERS) -> list[Record]:
    return [row for row in report["results"] if (row["prior"], row["approximation"]) == pair and row["rule"] in rules]


def _data(report: Record) -> str:
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
    return f"### The data sets\n\n{_table(head, lines)}"


def _main(report: Record, which: str) -> str:
    pair = _named(report, which)
    row_of = {(row["dataset"], row["rule"]): row for row in _rows(report, pair)}
    deviation_of = {(name, rule): percent for name, rule, percent in deviations(report, *pair)}
    names = [dataset["dataset"] for dataset in report["datasets"]]
    lines = []
    for name in names:
        cells = [name]
        for rule in _FILTERS:
            row = row_of[name, rule]
            ours = f"{row['features_mean']:.2f} ± {row['features_sd']:.2f}"
            paper = row["paper_features"]
            cells.append(ours if paper is None else f"{paper:g}: {ours} ({deviation_of[name, rule]:+.1f} %)")
        lines.append(cells)
    words = {"nearest": "the setting nearest to the paper's figures", "paper": "the paper's method"}[which]
    text = f"### Features kept: {words} ({pair[0]}, {pair[1]})\n\n"
    text += "The paper's figure: ours, mean and standard deviation over orders (deviation).\n\n"
    text += _table(("data set", "FF", "F", "BF"), lines)
    if deviation_of:
        near_count = sum(abs(percent) <= 10.0 for percent in deviation_of.values())
        worst = max(deviation_of.items(), key=lambda item: abs(item[1]))
        text += (
            f"\n{near_count} of {len(deviation_of)} within 10 %; the farthest: {worst[0][0]}, {_SHORT[worst[0][1]]}, "
        )
        text += f"{worst[1]:+.1f} %.\n"
    return text


def _priors(report: Record) -> str:
    pairs = list(dict.fromkeys((row["prior"], row["approximation"]) for row in report["results"]))
    if len(pairs) < 3:
        return ""
    lines = []
    for pair in pairs:
        features_of = {(row["dataset"], row["rule"]): row["features_mean"] for row in _rows(report, pair)}
        cells = [f"{pair[0]}, {pair[1]}"]
        ordered = 0
        for dataset in report["datasets"]:
            features_kept = [features_of[dataset["dataset"], rule] for rule in _FILTERS]
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
    return f"### Features kept by prior and approximation, FF / F / BF\n\n{_table(head, lines)}"


def _epsilons(report: Record) -> str:
    if not report["sensitivity"]:
        return ""
    pair = _named(report, "nearest")
    others = [row for row in report["sensitivity"] if row["level"] == report["settings"]["level"]]
    rows = sorted([*_rows(report, pair), *others], key=lambda row: row["epsilon"])
    row_of = {(row["epsilon"], row["dataset"], row["rule"]): row for row in rows}
    lines = []
    for epsilon in dict.fromkeys(row["epsilon"] for row in rows):
        cells = [f"{epsilon:g}"]
        for dataset in report["datasets"]:
            rows_of_filters = [row_of[epsilon, dataset["dataset"], rule] for rule in _FILTERS]
            features_kept = " / ".join(f"{row['features_mean']:.2f}" for row in rows_of_filters)
            accuracies = " / ".join(f"{row['accuracy_mean']:.3f}" for row in rows_of_filters)
            cells.append(f"{features_kept}; {accuracies}")
        lines.append(cells)
    head = ["epsilon", *(dataset["dataset"] for dataset in report["datasets"])]
    title = f"### Sensitivity to epsilon ({pair[0]}, {pair[1]}): features kept; accuracy, FF / F / BF"
    return f"{title}\n\n{_table(head, lines)}"


def _orders(report: Record) -> str:
    pair = _named(report, "nearest")
    row_of = {
        (row["dataset"], row["rule"]): row for row in report["order"] if (row["prior"], row["approximation"]) == pair
    }
    lines = []
    for dataset in report["datasets"]:
        rows_of_filters = [row_of[dataset["dataset"], rule] for rule in _FILTERS]
        cells = [f"{row['least']:.2f} to {row['most']:.2f}; {row['as_filed']:.2f}" for row in rows_of_filters]
        lines.append([dataset["dataset"], *cells])
    title = f"### Sensitivity to the order of the rows ({pair[0]}, {pair[1]}): features kept"
    text = f"{title}\n\nThe least and the most of all random orders; in the order of the files.\n\n"
    return text + _table(("data set", "FF", "F", "BF"), lines)


def _significance(report: Record) -> str:
    lines = [
        (
            row["dataset"],
            f"{row['prior']}, {row['approximation']}",
            _SHORT[row["rule"]],
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
    text = f"### Significance on the first k rows (two-tailed paired t test, 0.05)\n\n{_table(head, lines)}"
    for claim in report["claim"] or []:
        text += (
            f"\nThe paper's claim, FF above F on hypothyroid for rows {claim['first']} to {claim['last']} "
            f"({claim['prior']}, {claim['approximation']}): significant at row {claim['first']} in "
            f"{claim['at_first']} of {claim['orders']} orders, somewhere between in {claim['somewhere']}, "
            f"in at least half of these rows in {claim['half']}, throughout in {claim['throughout']}. "
            f"Accuracy on the first {claim['first']} rows, over all orders: FF "
            f"{claim['accuracy_one']:.3f}, F {claim['accuracy_other']:.3f}.\n"
        )
    return text


def _accuracies(report: Record) -> str:
    columns = [(_named(report, "paper"), rule) for rule in ("all", "imputed", *_FILTERS)]
    columns += [(_named(report, "nearest"), "forward"), (("adaptive", "matched"), "forward")]
    row_of = {((row["prior"], row["approximation"]), row["rule"], row["dataset"]): row for row in report["results"]}
    columns = [column for column in columns if (*column, report["datasets"][0]["dataset"]) in row_of]
    lines = []
    for dataset in report["datasets"]:
        rows_of_columns = [row_of[*column, dataset["dataset"]] for column in columns]
        cells = (
            f"{row['accuracy_mean']:.3f} ± {row['accuracy_sd']:.3f} ({row['features_mean']:.1f})"
            for row in rows_of_columns
        )
        lines.append([dataset["dataset"], *cells])
    heads = [
        _SHORT[rule] if rule in ("all", "imputed") else f"{_SHORT[rule]} {pair[0]}, {pair[1]}" for pair, rule in columns
    ]
    return f"### Accuracy of naive Bayes (features kept)\n\n{_table(['data set', *heads], lines)}"


def _adaptive(report: Record) -> str:
    if not report["adaptive"]:
        return ""
    text = (
        "### FF with the adaptive prior against F with the paper's\n\n"
        "p is that of the paired t test over orders. The last column is the paper's test, on all rows of one order: "
        "in how many orders FF is significantly ahead, and behind.\n"
    )
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
        text += f"\nLevel {level:g}:\n\n{_table(head, lines)}"
        fewer = sum(row["features"] < row["features_plugin"] for row in rows_of_level)
        paper = [row for row in rows_of_level if row["paper_forward"]]
        than_paper = sum(row["features"] < row["paper_forward"] for row in paper)
        text += f"\nFewer features than F on {fewer} of {len(rows_of_level)} data sets"
        text += f", than the paper's FF on {than_paper} of {len(paper)}.\n" if paper else ".\n"
    return text
