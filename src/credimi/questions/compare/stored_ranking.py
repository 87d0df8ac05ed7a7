"""Compares two rankings without their counts: outputs of `rank --format json`, or `Ranking`s.

A ranking has P(I = 0), mean and standard deviation of each posterior. The continuous part is approximated by one Beta
distribution with these moments; from counts it would be a mixture. The prior of I is that of a table with even margins
and the same number of rows; it hardly depends on the margins. Columns with different cuts are different columns.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.inference.evidence.adaptive_prior import PosteriorComponents
from credimi.questions.compare import change
from credimi.questions.compare.alignment import mean_entropy
from credimi.questions.compare.change_records import check_classes, in_order, record, settings_of
from credimi.questions.compare.many_changes import Samples
from credimi.questions.compare.result import Comparison
from credimi.questions.rank.result import Ranking
from credimi.results import sentences
from credimi.results.remarks import RemarkKind, approximate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from credimi.core.types import Record, Value
    from credimi.questions.compare.change_records import CompareOptions

_TYPES = {"settings": dict, "rows": int | float, "classes": list, "features": list, "cuts": dict}
_FIGURES = ("mi", "std", "low", "high", "p_independent")
_REQUIRED_FIGURES = (
    "feature",
    "values",
    "complete",
    *_FIGURES,
    "mi_if_dependent",
    "note",
)


def read(data: object) -> Record | None:
    """The ranking, if the data are one: a `Ranking`, or the path of a file that ends in .json."""
    if isinstance(data, Ranking):
        return data.to_dict()
    if not isinstance(data, str | Path) or Path(data).suffix.lower() != ".json":
        return None
    try:
        content = json.loads(Path(data).read_bytes())
    except OSError as error:
        raise CredimiError(f"{data} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        content = None
    if not _is_ranking(content):
        raise CredimiError(
            f"{data} is no ranking that can be compared: write one with `credimi rank --format json`, or pass data or "
            "counts files"
        )
    ranking: Record = content
    return ranking


def _is_ranking(content: Value) -> bool:
    """Whether this has all that is read here, each of its type; the file may be of another program, or changed."""
    if not isinstance(content, dict) or any(not isinstance(content.get(key), kind) for key, kind in _TYPES.items()):
        return False
    settings, features = content["settings"], content["features"]
    if "target" not in settings or not isinstance(settings.get("missing"), str) or not _is_count(content["rows"]):
        return False
    if not all(isinstance(label, str) for label in content["classes"]):
        return False
    remarks = content.get("remarks", [])
    if not isinstance(remarks, list) or not all(isinstance(remark, dict) for remark in remarks):
        return False
    comparable = settings.get("prior") == "adaptive" and settings.get("approximation") == "matched"
    if not all(isinstance(row, dict) and _is_row(row, comparable=comparable) for row in features):
        return False
    return len({row["feature"] for row in features}) == len(features)


def _is_row(row: Record, *, comparable: bool) -> bool:
    """Whether this is a row of a ranking; the figures of a ranking that is not comparable are not looked at."""
    if any(name not in row for name in _REQUIRED_FIGURES) or not isinstance(row["feature"], str | int | float):
        return False
    if not (isinstance(row["values"], int) and _is_count(row["values"]) and _is_count(row["complete"])):
        return False
    if not comparable or row["mi"] is None:  # it is not ranked
        return True
    figures = [row[name] for name in _FIGURES] + ([] if row["mi_if_dependent"] is None else [row["mi_if_dependent"]])
    return all(map(_is_count, figures)) and row["p_independent"] <= 1.0


def _is_count(value: Value) -> bool:
    """Whether this is a finite number from 0 up, as counts, information and probabilities are."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value < math.inf


def compared(first: Record, second: Record, options: CompareOptions, names: tuple[str, str]) -> Comparison:
    """The comparison of two rankings."""
    missing = _checked(first, second)
    others = {row["feature"]: row for row in second["features"]}
    pairs = [(row, others[row["feature"]]) for row in first["features"] if row["feature"] in others]
    if not pairs:
        raise CredimiError("the two rankings have no column in common: compare rankings of the same columns")
    options = options.settled(_mean_entropy(first, second))
    rows = _rows(pairs, (first, second), options)
    common = {row["feature"] for row, _ in pairs}
    only = [
        tuple(row["feature"] for row in ranking["features"] if row["feature"] not in common)
        for ranking in (first, second)
    ]
    classes = tuple(dict.fromkeys((*first["classes"], *second["classes"])))
    check_classes(first["settings"]["target"], first["classes"], second["classes"], classes)
    marked = {
        remark.get("feature")
        for ranking in (first, second)
        for remark in ranking.get("remarks", ())
        if remark.get("kind") == RemarkKind.APPROXIMATE
    }
    remarks = [
        approximate(row["feature"], row["mi"] or 0.0, options.nats) for row, _ in pairs if row["feature"] in marked
    ]
    settings = settings_of(options, missing) | {"counts": False}
    return Comparison(
        in_order(rows),
        first["settings"]["target"],
        classes,
        names,
        (first["rows"], second["rows"]),
        (only[0], only[1]),
        settings,
        remarks=tuple(sorted(remarks, key=lambda each: -each.stake)),
    )


def _mean_entropy(*rankings: Record) -> float:
    """The mean entropy of the targets in nats; NaN where an older ranking does not have it."""
    entropies = [ranking.get("entropy") or math.nan for ranking in rankings]
    nats = [
        entropy * (math.log(2.0) if ranking["settings"].get("units") == "bits" else 1.0)
        for entropy, ranking in zip(entropies, rankings, strict=True)
    ]
    return mean_entropy(nats, [ranking.get("rows_with_target") or 0.0 for ranking in rankings])


def _checked(first: Record, second: Record) -> str:
    """How missing values were treated, which must be the same in both; an error if the two cannot be compared."""
    for name, what in (("target", "target"), ("missing", "missing"), ("missing_values", "missing_values")):
        one, other = (ranking["settings"].get(name) for ranking in (first, second))
        if one != other:
            raise CredimiError(
                f"the two rankings have different settings, {what} {one!r} and {other!r}: rank both in the same way"
            )
    for ranking in (first, second):
        prior, approximation = (ranking["settings"].get(name) for name in ("prior", "approximation"))
        if prior != "adaptive" or approximation != "matched":
            raise CredimiError(
                f"a ranking by prior {prior!r} and approximation {approximation!r} cannot be compared: rank with the "
                "prior adaptive and the approximation matched, which are the defaults"
            )
    missing: str = first["settings"]["missing"]
    return missing


def _rows(pairs: list[tuple[Record, Record]], rankings: tuple[Record, Record], options: CompareOptions) -> list[Record]:
    nats_per_unit = [math.log(2.0) if each["settings"].get("units") == "bits" else 1.0 for each in rankings]
    same_cuts = [_have_same_cuts(pair, rankings) for pair in pairs]
    is_compared = [same and _is_comparable(pair) for pair, same in zip(pairs, same_cuts, strict=True)]
    compared_pairs = [pair for pair, comparable in zip(pairs, is_compared, strict=True) if comparable]
    changes = iter(options.changes(_samples(compared_pairs, rankings, nats_per_unit)))
    rows = []
    for pair, same, comparable in zip(pairs, same_cuts, is_compared, strict=True):
        row: Record = {"feature": pair[0]["feature"], "note": pair[0]["note"] if same else sentences.CUT_APART}
        row |= {f"complete_{letter}": each["complete"] for letter, each in zip("ab", pair, strict=True)}
        if not comparable:
            rows.append(record(row, None, None, None, options))
            continue
        figures = [
            {"mean": each["mi"] * scale, "low": each["low"] * scale, "high": each["high"] * scale}
            for each, scale in zip(pair, nats_per_unit, strict=True)
        ]
        rows.append(record(row, figures[0], figures[1], next(changes), options))
    return rows


def _have_same_cuts(pair: tuple[Record, Record], rankings: tuple[Record, Record]) -> bool:
    cuts = [each["cuts"].get(pair[0]["feature"]) for each in rankings]
    return bool(cuts[0] == cuts[1])


def _is_comparable(pair: tuple[Record, Record]) -> bool:
    return all(each["mi"] is not None for each in pair) and any(each["values"] >= 2 for each in pair)


def _samples(
    pairs: list[tuple[Record, Record]], rankings: tuple[Record, Record], nats_per_unit: list[float]
) -> Samples:
    """Posteriors and priors of both samples of every pair."""
    sides = []
    for side, (ranking, scale) in enumerate(zip(rankings, nats_per_unit, strict=True)):
        rows = [pair[side] for pair in pairs]
        shapes = [(len(ranking["classes"]), row["values"]) for row in rows]
        posteriors = _approximate_posteriors(rows, scale, shapes)
        tables = Tables.of([_even_table(row, shape) for row, shape in zip(rows, shapes, strict=True)])
        sides.append((posteriors, change.prior_components(tables), np.log(np.minimum(tables.rows, tables.columns))))
    return Samples(*zip(*sides, strict=True))


def _approximate_posteriors(
    rows: Sequence[Mapping[str, float]], scale: float, shapes: Sequence[tuple[int, int]]
) -> PosteriorComponents:
    """Of every row an atom at 0 and one Beta distribution with the moments in the ranking."""
    p_zero, components = np.ones(len(rows)), []
    for number, (row, shape) in enumerate(zip(rows, shapes, strict=True)):
        mean_if_dependent = row["mi_if_dependent"]
        if min(shape) < 2 or row["p_independent"] >= 1.0 or not mean_if_dependent:
            continue  # I is 0
        p_zero[number] = row["p_independent"]
        mean, mean_if_dependent, std = row["mi"] * scale, mean_if_dependent * scale, row["std"] * scale
        # the mean square of I is (1 - p_zero) times that of the Beta
        variance = (std**2 + mean**2) / (1.0 - p_zero[number]) - mean_if_dependent**2
        mean_if_dependent = min(mean_if_dependent, math.log(min(shape)))
        variance = max(variance, 1e-12 * mean_if_dependent**2)
        components.append((number, 1.0 - p_zero[number], mean_if_dependent, variance))
    table, weight, means, variances = np.array(components).reshape(-1, 4).T
    return PosteriorComponents(p_zero, table.astype(np.int64), weight, means, variances)


def _even_table(row: Mapping[str, float], shape: tuple[int, int]) -> np.ndarray:
    """A table of as many rows with even margins; a column of a single value gets two."""
    height, width = max(shape[0], 2), max(shape[1], 2)
    block = np.zeros((height + 1, width + 1))
    block[:-1, :-1] = row["complete"] / (height * width)
    return block
