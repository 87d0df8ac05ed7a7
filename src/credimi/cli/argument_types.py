"""Words of the command line, read as numbers, dates, delimiters and priors."""

from __future__ import annotations

import argparse
import re
from contextlib import suppress


def is_number(word: str) -> bool:
    """Whether a word is a number."""
    with suppress(ValueError):
        float(word)
        return "_" not in word  # Python reads 1_0 as 10; in a table it is a typing error
    return False


def is_date(word: str) -> bool:
    """Whether a word starts like a date: 2024-12-31."""
    return bool(re.match(r"\d{4}-\d\d-\d\d", word))


def number(text: str) -> float:
    """A number from the command line."""
    if not is_number(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return float(text)


def seed(text: str) -> int:
    """A seed from the command line."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 up")
    return int(text)


def positive(text: str) -> int:
    """A number from 1 up from the command line."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def delimiter(text: str) -> str:
    """A delimiter from the command line; some of them have names."""
    words = {"tab": "\t", r"\t": "\t", "space": " "}
    code = re.fullmatch(r"\\x([0-7][0-9a-fA-F])", text)
    return chr(int(code[1], 16)) if code else words.get(text, text)


def prior(text: str) -> str | float:
    """A prior's name, or its pseudo-count."""
    return float(text) if is_number(text) else text


def rule(text: str) -> str:
    """A rule, by our name or by the paper's."""
    return {"F": "plugin", "FF": "forward", "BF": "backward"}.get(text, text)
