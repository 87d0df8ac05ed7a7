"""`Command`: what a command of the command line says of itself, declared beside its question.

The runner (`credimi.cli.runner`) makes the options from the keywords of the public functions, reads the files, asks the
function, and shows and writes the result. A command says what is left: the text of its help, options that no keyword
stands for, which media it has, and what it does in its own way (`answer`, `finish`). `option` writes an option as notes
and errors show it: ready to paste into a shell.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from credimi.core.keywords import Keyword
    from credimi.core.types import Foreign, Record

Answer = Callable[["Asked"], "Foreign"]
Finish = Callable[["Asked", "Foreign"], "int | None"]
NOTHING_KEPT, INTERRUPTED = 3, 130  # exit codes
_NUMBER = re.compile(r"-(\d+|\d*\.\d+)")  # what argparse does not read as an option
WITHOUT_TARGET = {  # what keywords mean to a command that has no target
    "features": "The columns to use. Default: all.",
    "discretize": "How numbers become categories: equal cuts them into ranges of about equal counts, 3 to 10, as many "
    "as the rows allow; quantile:4 into four; categories makes each number a category; none refuses them. "
    "COLUMN=METHOD is for one column, and so are cuts: age=18,65 or visit=2024-02-29. May be repeated",
}
TOP = "show only the first rows, 0 for all (with --format table; default: 60)"


@dataclass(frozen=True, slots=True)
class Option:
    """An option, or a positional argument, of the command line alone; `settings` are those of argparse."""

    name: str
    help: str
    group: str = "decision"
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command. Its first function is the one that is asked, unless `answer` asks otherwise."""

    name: str
    text: str | None  # the first line says what is done; the rest is shown below the options
    summary: str
    functions: tuple[str, ...] = ()  # public ones, whose keywords are options
    keywords: Mapping[str, Keyword] = field(default_factory=dict)  # more keywords, of no public function
    without: tuple[str, ...] = ("progress",)  # keywords that are no options
    options: tuple[Option, ...] = ()
    means: Mapping[str, str] = field(default_factory=dict)  # what a keyword means here, if that is more
    data: str = "DATA"  # the positional arguments: files, two samples (A B), or none
    target: bool = True
    doing: str = "reading"  # what the bar says
    formats: tuple[str, ...] = ("table", "json", "csv")
    output: str = "the file to write (default, or -: standard output)"
    html: str = ""  # what these options do, if the command has them
    plot: str = ""
    top: str = ""
    verbose: str = ""  # what --verbose says, if the command has it
    csv_safe: str = ""  # what --csv-safe is for, if not for --format csv
    units: bool = False
    above_csv: tuple[str, ...] = ()  # entries of JSON that stand above CSV, besides the settings
    draws_top: bool = False  # whether the picture has the first --top rows
    nothing_to_draw: str = ""  # what is said instead of a picture without rows
    answer: Answer | None = None
    finish: Finish | None = None


class Asked(Protocol):
    """What a command was asked, as its own functions see it."""

    options: Namespace
    given: Record  # the keywords that were typed, as functions take them

    @property
    def files(self) -> list[Foreign]:
        """The files of rows that DATA names."""

    @property
    def source(self) -> str:
        """What DATA names, in words."""

    def ask(self, function: str, *data: Foreign, refused: str = "", counted: bool = False, **more: Foreign) -> Foreign:
        """Ask a public function with the keywords that were typed; `refused` says why it does not take one of them.

        Data that were `counted` have been read: what says how is left out.
        """

    def counts(self, files: Sequence[Foreign] | None = None) -> Foreign:
        """The counts of the rows in the files, or the sum of the counts that the files hold."""

    def files_of(self, path: str) -> list[Foreign]:
        """The files that one word names."""

    def name_of(self, path: str) -> str:
        """What messages call the data that this word names."""

    def check_input(self, path: str) -> None:
        """Refuse to write onto this file."""

    def worded(self) -> AbstractContextManager[None]:
        """Errors of functions name options, where they name keywords."""

    def announce(self) -> None:
        """From now on a kernel that has to be compiled is announced."""

    def say(self, message: str) -> None:
        """Print one line on standard error."""

    def print(self, text: str) -> None:
        """Print a text on standard output."""

    def show(self, result: Foreign, path: str | None, known: Sequence[str] | None = None, **more: Foreign) -> None:
        """Write a result in the format that was asked for; `known` are the entries of JSON above CSV."""

    def progress(self) -> AbstractContextManager[Callable[..., None]]:
        """The bar."""


def option(name: str, value: str) -> str:
    """An option and its value: quoted, and not mistaken for another option."""
    apart = "=" if value.startswith("-") and not _NUMBER.fullmatch(value) else " "
    return f"{name}{apart}{shlex.quote(value)}"
