"""Counts of several samples on the same classes, values and cuts, so that their tables can be compared.

What a column is and where its numbers are cut is decided once, from all samples together. So if nothing differs between
the samples, the rows of each are equally likely to be on either side of a cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.feature import FeatureKind
from credimi.core.errors import CredimiError
from credimi.counts.counts import Counts, merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.feature import Feature


@dataclass(frozen=True, slots=True, eq=False)
class AlignedCounts:
    """The samples with common labels and cuts, and the columns of all samples together.

    `features` have the counts of all samples together; `only` has, for each sample, the columns that another sample
    lacks, which are left out.
    """

    samples: tuple[Counts, ...]
    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    only: tuple[tuple[str, ...], ...]

    @property
    def entropy(self) -> float:
        """The mean entropy of the target in the samples, in nats."""
        classes = [sample.interpreted_classes(1) for sample in self.samples]
        return mean_entropy([each.entropy for each in classes], [float(each.totals.sum()) for each in classes])

    def with_samples(self, samples: tuple[Counts, ...]) -> AlignedCounts:
        """The same columns for other samples: these samples, or sums of them."""
        return replace(self, samples=samples, only=((),) * len(samples))


def mean_entropy(entropies: Sequence[float], rows: Sequence[float]) -> float:
    """The mean entropy of several samples, each with the weight of its rows that have the target."""
    return float(np.average(entropies, weights=rows)) if sum(rows) > 0.0 else math.nan


def aligned(samples: Sequence[Counts]) -> AlignedCounts:
    """The samples on the same labels and cuts; a target that is a number is compared by ranges."""
    samples = [replace(sample, settings=sample.settings.in_ranges) for sample in samples]
    common = set[str].intersection(*(set(sample.features) for sample in samples))
    shared = [name for name in samples[0].features if name in common]
    if not shared:
        raise CredimiError("the two have no column in common besides the target: compare tables of the same columns")
    only = tuple(tuple(name for name in sample.features if name not in common) for sample in samples)
    parts = [_with_columns(sample, shared) for sample in samples]
    whole = merged(parts)
    assert whole is not None  # noqa: S101  (there are samples, and so a sum)
    features = _with_shared_identifiers(whole.interpreted(), parts)
    methods = whole.settings.discretize
    methods_by_name = methods if isinstance(methods, dict) else {"*": methods}
    fixed_methods = methods_by_name | {feature.name: _method_of(feature) for feature in features if feature.kind.ranked}
    settings = replace(whole.settings, discretize=fixed_methods)
    empty = replace(whole, flat=np.zeros_like(whole.flat), rows=0, squares=0.0, flat_squares=None)
    aligned_samples = tuple(replace(empty + sample, settings=settings) for sample in parts)
    return AlignedCounts(aligned_samples, tuple(features), whole.class_names(), only)


def _with_shared_identifiers(features: list[Feature], parts: Sequence[Counts]) -> list[Feature]:
    """The same columns; a column that is an identifier in each sample is one in all.

    In all samples together it may not look like one, as both samples may number their rows from 1.
    """
    interpreted_samples = [counts.interpreted(1) if len(counts.classes) else features for counts in parts]
    return [
        replace(feature, kind=FeatureKind.IDENTIFIER)
        if all(sample_feature.kind == FeatureKind.IDENTIFIER for sample_feature in sample_features)
        else feature
        for feature, *sample_features in zip(features, *interpreted_samples, strict=True)
    ]


def _method_of(feature: Feature) -> str | list[float]:
    """The method that gives a column the values of this feature, whatever else is counted."""
    return "categories" if feature.cut_by is None else feature.cuts.tolist()


def _with_columns(counts: Counts, names: Sequence[str]) -> Counts:
    """The same counts with these columns, in this order."""
    if counts.features == tuple(names):
        return counts
    blocks = dict(zip(counts.features, zip(counts.labels, counts.blocks(), strict=True), strict=True))
    columns = {name: blocks[name] for name in names}
    joined = Counts.join(counts.target, counts.classes, columns, counts.rows, counts.settings)
    squares = counts.of_squares()
    flat_squares = None if squares is None else _with_columns(squares, names).flat
    return replace(joined, squares=counts.squares, flat_squares=flat_squares)
