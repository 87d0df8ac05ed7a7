"""Counts of several samples on the same classes, values and cuts, so that their tables can be compared.

What a column is and where its numbers are cut is decided once, from all samples together. So if nothing differs between
the samples, the rows of each are equally likely to be on either side of a cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.feature import FeatureKind
from credimi.core.errors import CredimiError
from credimi.counting.counts import Counts
from credimi.counting.merge import merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.feature import Feature


@dataclass(frozen=True, slots=True, eq=False)
class AlignedCounts:
    """The samples, each with the labels and cuts of all, and the columns as all samples together have them.

    `features` are those of the whole, before the counts of a sample replace theirs; `only` are, for each sample, the
    columns that another one lacks, which are left out.
    """

    samples: tuple[Counts, ...]
    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    only: tuple[tuple[str, ...], ...]

    def with_samples(self, samples: tuple[Counts, ...]) -> AlignedCounts:
        """The same columns for other samples, which are these or sums of them."""
        return replace(self, samples=samples, only=((),) * len(samples))


def aligned(samples: Sequence[Counts]) -> AlignedCounts:
    """The samples on the same labels and cuts."""
    of_all = set[str].intersection(*(set(each.features) for each in samples))
    shared = [name for name in samples[0].features if name in of_all]
    if not shared:
        raise CredimiError("the two have no column in common besides the target: compare tables of the same columns")
    only = tuple(tuple(name for name in each.features if name not in of_all) for each in samples)
    parts = [_chosen(each, shared) for each in samples]
    whole = merged(parts)
    assert whole is not None  # noqa: S101  (there are samples, and so a sum)
    features = _without_keys(whole.settled(), parts)
    asked = whole.settings.discretize
    others = asked if isinstance(asked, dict) else {"*": asked}
    ways = others | {each.name: _reading(each) for each in features if each.kind.ranked}
    settings = replace(whole.settings, discretize=ways)
    empty = replace(whole, flat=np.zeros_like(whole.flat), rows=0, squares=0.0)
    placed = tuple(replace(empty + each, settings=settings) for each in parts)
    return AlignedCounts(placed, tuple(features), whole.class_names(), only)


def _without_keys(features: list[Feature], parts: Sequence[Counts]) -> list[Feature]:
    """The same columns; one that names the rows in each sample is an identifier in all: both may count from 1."""
    alone = [each.settled(1) if len(each.classes) else features for each in parts]
    return [
        replace(feature, kind=FeatureKind.IDENTIFIER)
        if all(own.kind == FeatureKind.IDENTIFIER for own in each)
        else feature
        for feature, *each in zip(features, *alone, strict=True)
    ]


def _reading(feature: Feature) -> str | list[float]:
    """How a column is read so that its values are those of this feature, whatever else is counted."""
    return "categories" if feature.cut_by is None else feature.cuts.tolist()


def _chosen(counts: Counts, names: Sequence[str]) -> Counts:
    """Some of the columns, in this order."""
    if counts.features == tuple(names):
        return counts
    blocks = dict(zip(counts.features, zip(counts.labels, counts.blocks(), strict=True), strict=True))
    columns = {name: blocks[name] for name in names}
    joined = Counts.join(counts.target, counts.classes, columns, counts.rows, counts.settings)
    return replace(joined, squares=counts.squares)
