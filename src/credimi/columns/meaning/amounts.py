"""Amounts as people write them: 1234.5, 1,234.5, 1.234,5, 1'234.5, 1234,5; a minus before, or brackets around.

All texts of a column must be written in one style. Some texts fit two of them: "1,234" is 1234, or 1.234 with a decimal
comma. Commas are decimal if a number starts with 0 ("0,123"), or if some group has not three digits. Points that stand
before three digits in every text are no separators, as "1.234" is a number as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray

BLANKS = " \u00a0\u2009\u202f"
_MINUS = "\u2212"
_BRACKETS = re.compile(r"\((.*)\)")
_QUOTES = f"'\u2019{BLANKS}"
PLAIN, DECIMAL_COMMA = "1234.5", "1234,5"
_STYLES = {  # an example of each, its separators of thousands, its decimal mark, and the texts that are in it
    PLAIN: ("", ".", re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")),
    "1,234.5": (",", ".", re.compile(r"[+-]?\d{1,3}(,\d{3})*(\.\d+)?")),
    "1.234,5": (".", ",", re.compile(r"[+-]?\d{1,3}(\.\d{3})*(,\d+)?")),
    "1'234.5": (_QUOTES, ".", re.compile(rf"[+-]?\d{{1,3}}([{_QUOTES}]\d{{3}})*(\.\d+)?")),
    "1'234,5": (_QUOTES, ",", re.compile(rf"[+-]?\d{{1,3}}([{_QUOTES}]\d{{3}})*(,\d+)?")),
    DECIMAL_COMMA: ("", ",", re.compile(r"[+-]?(\d+(,\d*)?|,\d+)")),
}
_FRACTION_FROM_ZERO = re.compile(r"[+-]?0,\d{3}")
_THREE_DIGITS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_CHOICES = re.compile(r"(\d)(?:,(\d))?")
AMOUNT = rf"\(?[+{_MINUS}-]?[\d.,](?:[\d.,]|[{_QUOTES}](?=\d))*\)?"  # what may be an amount


def style_of(texts: Sequence[str], *, more_than_plain: bool = False) -> str | None:
    """The style in which all of these amounts are written; None if there is none.

    With `more_than_plain`, texts may be other things than amounts: lists of choices ("1,3") are none.
    """
    signed = [_signed(text) for text in texts]
    for style, (separators, _, pattern) in _STYLES.items():
        if not all(map(pattern.fullmatch, signed)):
            continue
        if separators and not any(mark in text for text in signed for mark in separators):
            continue
        if (
            style == "1,234.5"
            and not any("." in text for text in signed)
            and any(map(_FRACTION_FROM_ZERO.fullmatch, signed))
        ):
            continue
        if style == DECIMAL_COMMA and (_may_be_thousands(signed) or (more_than_plain and _are_choices(signed))):
            return None
        return style
    return None


def _may_be_thousands(texts: Sequence[str]) -> bool:
    """Whether each comma stands before three digits and after a number from 1 up, as separators of thousands do."""
    return all(_THREE_DIGITS.fullmatch(text) for text in texts if "," in text)


def _are_choices(texts: Sequence[str]) -> bool:
    """Whether the texts may be one or two choices in rising order: 1, 3, "1,3"."""
    matches = [_CHOICES.fullmatch(text) for text in texts]
    return all(match and (match[2] is None or match[1] < match[2]) for match in matches)


def amount(text: str, style: str) -> float:
    """The amount in this style; NaN if the text is not in it."""
    separators, mark, pattern = _STYLES[style]
    signed = _signed(text)
    if not pattern.fullmatch(signed):
        return np.nan
    for separator in separators:
        signed = signed.replace(separator, "")
    return float(signed.replace(mark, ".")) + 0.0  # no -0.0


def amounts(texts: Sequence[str], style: str) -> FloatArray:
    """The amounts in this style; NaN where a text is not in it."""
    return np.array([amount(text, style) for text in texts], dtype=np.float64)


def _signed(text: str) -> str:
    """The text with an ordinary minus instead of a long one, or of brackets."""
    bracketed = _BRACKETS.fullmatch(text)
    return f"-{bracketed[1].strip()}" if bracketed else text.replace(_MINUS, "-")
