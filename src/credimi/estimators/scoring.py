"""How probable each class is, from the counts as they are at the moment.

`Scorer` has two ways to the same numbers. Many rows: the counts are settled, the logarithms taken once, and each column
is looked up. One row: the few counts that it needs are picked where they lie in the ledger, in O(features x classes),
and no table is made that the next row would change. The second way is open while all labels are values as they stand
(`settling.plainly_categories`); where numbers are cut, the cuts may move with every row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.estimators.likelihood import likelihood, log_shares
from credimi.information import Blocks
from credimi.labels import MANY, RAW
from credimi.settling import names_rows, plainly_categories

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.estimators.ledger import Ledger
    from credimi.estimators.likelihood import Likelihood
    from credimi.estimators.selector import CredibleSelector
    from credimi.settling import Feature

    FloatArray = NDArray[np.float64]
    Mask = NDArray[np.bool_]


class Scorer:
    """log P(class) + sum of log P(value | class) of the features that are used."""

    def __init__(
        self,
        ledger: Ledger,
        pseudo_count: float,
        selector: CredibleSelector | None = None,
        *,
        unlabeled: bool = False,
        missing_as_value: bool = False,
    ) -> None:
        self.ledger = ledger
        self.pseudo_count = pseudo_count
        self.selector = selector
        self.unlabeled = unlabeled
        self.missing_as_value = missing_as_value
        self._layout = self._support_version = self._tables_version = -1
        self._plain = False
        self._support: Mask = np.zeros(0, dtype=bool)
        self._tables: Likelihood | None = None

    def support(self) -> Mask:
        """Which features are used now: the one place that says so."""
        if self._support_version != self.ledger.version:
            self._support = self._plainly_supported() if self._is_plain() else self._supported()
            self._support_version = self.ledger.version
        return self._support

    def log_joint(self, columns: Mapping[str, Any], rows: int) -> FloatArray:
        """(rows, classes) of the classes that were counted."""
        if self._tables is None or self._tables_version != self.ledger.version:
            settled, used = self._settled(), self.support()
            features = [feature for feature, kept in zip(settled, used, strict=True) if kept]
            totals = settled[0].block.sum(axis=1)[:-1].astype(np.float64)
            self._tables = likelihood(features, totals, self.pseudo_count, unlabeled=self.unlabeled)
            self._tables_version = self.ledger.version
        return self._tables.log_joint(columns, rows, self.ledger.missing)

    def log_joint_of_row(self, cells: Sequence[Any]) -> FloatArray | None:
        """(classes,) of one row; None where that has to go the long way."""
        ledger = self.ledger
        if not self._is_plain() or (self.unlabeled and ledger.totals()[-1] > 0.0):
            return None
        places = ledger.places_of(cells)
        if places is None:
            return None
        labels = ledger.widths - 1
        used = np.flatnonzero(self.support() & (places >= 0) & (places < labels))
        found = log_shares(ledger.totals()[:-1])
        if not used.size:
            return found
        where = (ledger.starts + places)[used, None] + ledger.widths[used, None] * np.arange(ledger.height - 1)
        smooth = ledger.kept.flat[where] + self.pseudo_count
        seen = ledger.seen()[used, :-1] + labels[used, None] * self.pseudo_count
        with np.errstate(divide="ignore", invalid="ignore"):
            chances = np.where(seen > 0.0, smooth / seen, 1.0 / labels[used, None])
            return np.asarray(found + np.log(chances).sum(axis=0))

    def _is_plain(self) -> bool:
        """Whether all labels are values as they stand; known until labels are new."""
        if self._layout != self.ledger.layout:
            kept = self.ledger.kept
            named, method = set(kept.settings.named), kept.settings.method
            columns = list(zip(kept.features, kept.labels, strict=True))
            self._plain = (
                not self.missing_as_value
                and kept.classes.kind != RAW
                and all(plainly_categories(own, method(name), named=name in named) for name, own in columns)
            )
            self._candidates = np.array([own.kind != MANY and len(own) > 1 for _, own in columns], dtype=bool)
            self._texts = np.array([method(name) != "categories" for name, _ in columns], dtype=bool)
            sizes, starts = self.ledger.height * self.ledger.widths, self.ledger.starts
            chosen = np.flatnonzero(self._candidates)
            cells = [np.arange(starts[place], starts[place] + sizes[place]) for place in chosen]
            self._cells = np.concatenate([np.zeros(0, dtype=np.int64), *cells])
            self._layout = self.ledger.layout
        return self._plain

    def _settled(self) -> list[Feature]:
        """The features as they are ranked; one class is enough here."""
        features = self.ledger.kept.settled(least_classes=1)
        return [feature.with_missing_as_value() for feature in features] if self.missing_as_value else features

    def _supported(self) -> Mask:
        """Those that the selector keeps, or without one all that learners do not do better without."""
        features, selector = self._settled(), self.selector
        if selector is None:
            return np.array([not feature.useless for feature in features], dtype=bool)
        telling = np.array([not feature.note for feature in features], dtype=bool)
        kept = np.zeros(telling.size, dtype=bool)
        if self.ledger.height > 2:
            asked = [feature for feature in features if not feature.note]
            blocks = Blocks.of([feature.block for feature in asked], [feature.odds for feature in asked])
            kept[telling] = selector.decide(blocks, np.ones(np.count_nonzero(telling), dtype=bool))
        return kept

    def _plainly_supported(self) -> Mask:
        """The same, with the blocks where they lie."""
        ledger, selector = self.ledger, self.selector
        candidates = self._candidates & ~self._identifiers()
        if selector is None:
            return candidates
        kept = np.zeros(candidates.size, dtype=bool)
        if ledger.height > 2 and candidates.any():
            labels = ledger.widths[self._candidates] - 1
            blocks = Blocks(ledger.kept.flat[self._cells], np.full(labels.size, ledger.height - 1), labels)
            kept[self._candidates] = selector.decide(blocks, candidates[self._candidates])
        return kept

    def _identifiers(self) -> Mask:
        """Texts that name rows; how many rows there are decides, so that it may change with each."""
        found = np.zeros(self._texts.size, dtype=bool)
        seen = self.ledger.seen().sum(axis=1)
        for place in np.flatnonzero(self._texts & (2 * (self.ledger.widths - 1) > seen)):
            found[place] = names_rows(self.ledger.kept.labels[place], float(seen[place]))
        return found
