"""Which columns name rows, or groups of rows, and not values: texts and whole numbers.

Nothing can be learned about the names of rows. A column of text names rows if nearly all of its values are different;
if a fifth of the rows share their value with others, values may have a meaning. Whole numbers name rows if nearly all
are different and there are no large gaps between them. In tables of fewer than 100 rows, which may hold measurements
like this, they must count the rows without a gap, or have the name of a key.

Numbers of few values may be codes, as those of shops or regions are: then their order means nothing. Only the name of a
column says so, and it is a hint, not a proof.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from credimi.columns.labels import Labels
    from credimi.core.types import BooleanArray, CountArray, IntegerArray

    Positions = IntegerArray

MIN_ROWS = 20  # a column with fewer present values is never called an identifier
_MIN_ROWS_OF_NUMBERS = 100  # the same for whole numbers without the name of a key
_MIN_SHARE_OF_TEXTS = 0.8  # different texts for each row of an identifier
_MIN_SHARE_OF_KEYS = 0.9  # of the rows of an identifier have a number that no other row has
_KEY = re.compile(
    r"(|index|level_\d|__index_level_\d+__|unnamed: ?\d+|(.*[_ .-])?(id|key|index|row|nr|no|number))", re.IGNORECASE
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NAMES_OF_CODES = frozenset(
    ("zip", "zipcode", "postcode", "postal", "plz", "code", "codes", "id", "ids", "key", "fips", "icd", "naics", "sic")
)
_MAX_CODES = 1_000  # different numbers


def is_identifier(texts: int | Positions, seen: float | CountArray) -> BooleanArray:
    """Whether there are so many different texts that each names a row, not a value; for one column or an array."""
    return np.asarray((seen >= MIN_ROWS) & (texts > _MIN_SHARE_OF_TEXTS * seen))


def numbers_rows(name: str, typed: Labels, totals: CountArray) -> bool:
    """Whether whole numbers number the rows: nearly all are different, and there are no large gaps between them.

    A label that has lost b bits stands for all whole numbers up to 2^b units in the last place away. That many rows may
    share the label, and each row may still have a different number.
    """
    seen = totals.sum()
    if seen < MIN_ROWS or not typed.integral or typed.numbers[-1] - typed.numbers[0] >= 2 * seen:
        return False
    numbers_per_label = np.maximum(np.spacing(np.abs(typed.numbers)) * 2.0**typed.dropped_bits, 1.0)
    if not np.minimum(totals, numbers_per_label).sum() > _MIN_SHARE_OF_KEYS * seen:
        return False
    count_rows = typed.numbers[0] in (0, 1) and typed.numbers[-1] - typed.numbers[0] == seen - 1
    return bool(seen >= _MIN_ROWS_OF_NUMBERS or count_rows or (not typed.instants and _KEY.fullmatch(name.strip())))


def may_be_codes(name: str, typed: Labels) -> bool:
    """Whether the name of a column of few whole numbers says that these are codes."""
    words = {word.lower() for word in _WORDS.findall(name)}
    whole = typed.integral and not (typed.instants or typed.dropped_bits)
    return bool(whole and len(typed) <= _MAX_CODES and words & _NAMES_OF_CODES)
