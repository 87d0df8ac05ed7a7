"""Runs a command: reads its options and files, asks the public function, shows and writes the result, reports errors.

What is in all commands is here, once. What a command has of its own is a `Command`, declared beside its question
(`questions/rank/command.py`); its options are made in `option_parser`, which says why by argparse.
"""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import contextmanager
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING

from credimi.cli import command_files, standard_input, startup, terminal_io
from credimi.cli.option_parser import Parser, add_command, add_options, given, keywords_for, option_name
from credimi.cli.terminal_io import say
from credimi.compile.hooks import NoKernelsError
from credimi.core.atomic_files import write
from credimi.core.errors import CredimiError, NoMemoryError, NoRowsError
from credimi.core.keywords import keywords_of
from credimi.core.remote_files import identity, source_of
from credimi.core.version import __version__
from credimi.results.sentences import COMMAND_LINE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from credimi.core.command import Command
    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign, Record
    from credimi.counts.counts import Counts
    from credimi.sources.data_file import DataFile

MODULES = {  # which declare commands
    "report": "credimi.questions.report.command",
    "rank": "credimi.questions.rank.command",
    "compare": "credimi.questions.compare.command",
    "select": "credimi.questions.select.command",
    "interactions": "credimi.questions.interactions.command",
    "pairs": "credimi.questions.pairs.command",
    "network": "credimi.questions.network.command",
    "tree": "credimi.questions.tree.command",
    "count": "credimi.cli.count_command",
    "table": "credimi.cli.table_command",
    "prequential": "credimi.paper.command",
    "reproduce": "credimi.paper.reproduce_command",
    "warm-up": "credimi.cli.warm_up_command",
}


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    options, unknown = parser_for(typed).parse_known_args(typed)
    if unknown:  # `parse_args` would report it with the main parser, whose help does not list the command's options
        options.refuse(unknown, _is_option)
    try:
        with warnings.catch_warnings():  # restores `showwarning`
            warnings.showwarning = partial(_show_warning, options)
            with standard_input.temporary_copy(options):
                return _run(options.command, options)
    except NoRowsError as error:
        say(": ".join(filter(None, [source_of(getattr(options, "data", None)), str(error)])))
    except MemoryError as error:
        say(str(NoMemoryError("for this command", error)))
    except (CredimiError, NoKernelsError) as error:
        say(str(error))
    return 2


def parser_for(typed: Sequence[str]) -> Parser:
    """The parser for what was typed: of all commands, only those that are needed are loaded."""
    parser = Parser(
        prog="credimi",
        description="Which columns of an incomplete table inform about a target, how much, and how sure one can be.",
    )
    parser.add_argument("--version", action="version", version=f"credimi {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    asked = typed[0] if typed and typed[0] in MODULES else None
    for name in MODULES if asked is None else [asked]:
        add_command(commands, declared(name), with_options=name == asked)
    return parser


def _is_option(option: str) -> bool:
    """Whether some command has this option."""
    for name in MODULES:
        parser = Parser(add_help=False)
        add_options(parser, declared(name))
        if option in parser.option_names:
            return True
    return False


def declared(name: str) -> Command:
    """The command of this name."""
    command: Command = import_module(MODULES[name]).COMMAND
    return command


def _show_warning(options: argparse.Namespace, message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning like the command's other messages, without its location in the code."""
    saved = getattr(options, "saved", None)  # of standard input, which errors do not name either
    say(f"warning: {message if saved is None else str(message).replace(str(saved), standard_input.NAME)}")


def _run(name: str, options: argparse.Namespace) -> int:
    """Ask, draw, show; the exit code."""
    command = declared(name)
    asked = Questioner(command, options)
    if command.formats:
        command_files.check_outputs(options, command)
    result = asked.answer() if command.answer is None else command.answer(asked)
    if result is None:  # all is done
        return 0
    asked.draw(result)
    if command.finish is not None:
        return command.finish(asked, result) or 0
    asked.show(result, options.output)
    return 0


class Questioner:
    """What a command was asked, for the functions of a `Command`: see `credimi.core.command.Asked`."""

    def __init__(self, command: Command, options: argparse.Namespace) -> None:
        self.command, self.options = command, options
        self.keywords = keywords_for(command)
        self.given = given(options, self.keywords)
        self._announced = False

    @cached_property
    def files(self) -> list[DataFile]:
        """The files of rows that DATA names."""
        files = command_files.files_with_rows(self.options)
        self.require_target()
        for file in files if self.command.target else ():
            if file.names == [self.options.target]:
                target = self.options.target
                raise CredimiError(f"{file} has no column besides the target {target!r}: nothing can tell about it")
        return files

    def files_of(self, path: str) -> list[DataFile]:
        """The files that one word names."""
        return command_files.files_of([path], self.options)

    def name_of(self, path: str) -> str:
        """What messages call the data that this word names."""
        return standard_input.NAME if path == "-" else path

    def check_input(self, path: str) -> None:
        """Refuse to write onto this file."""
        for output in (self.options.output, self.options.html, self.options.plot):
            command_files.check_output(output, [identity(path)])

    @property
    def source(self) -> str:
        """What DATA names, in words."""
        return source_of(self.options.data)

    def require_target(self) -> None:
        """Refuse to go on without a target."""
        if self.command.target and self.options.target is None:
            raise CredimiError("name the target: --target COLUMN")

    def answer(self) -> Foreign:
        """The answer of the command's function."""
        return self.ask(self.command.functions[0], self.files)

    def ask(self, function: str, *data: Foreign, refused: str = "", counted: bool = False, **more: Foreign) -> Foreign:
        """Ask a public function with the keywords that were typed; `refused` says why it does not take one of them.

        Data that were counted have been read: what says how is left out.
        """
        self.announce()
        public = getattr(import_module("credimi"), function)
        known = keywords_of(public)
        used = self._of_rows if counted else ()
        chosen = more | {name: value for name, value in self.given.items() if name in known and name not in used}
        for name in self.given if refused else ():
            if name not in known:
                raise CredimiError(f"{self._typed(name)} {refused}")
        target = (self.options.target,) if self.command.target else ()
        with self.progress() as progress, self.worded():
            bar = {} if counted else {"progress": progress}
            return public(*data, *target, **chosen, **bar)

    @cached_property
    def _of_rows(self) -> list[str]:
        """The keywords that were typed and are used up when rows are counted."""
        return [
            name for name in self.given if name in keywords_of(import_module("credimi").count) and name != "threads"
        ]

    def counts(self, files: Sequence[DataFile] | None = None) -> Counts:
        """The counts of the rows in the files, or the sum of the counts that the files hold."""
        files = command_files.files(self.options) if files is None else files
        held = [file.place for file in files if file.is_counts]
        if held and len(held) < len(files):
            raise CredimiError(f"{held[0]} holds counts, and the other files do not: rank one or the other")
        if held and self._of_rows:
            options = ", ".join(map(self._typed, self._of_rows))
            raise CredimiError(f"{held[0]} holds counts: leave out {options}, which apply to data only")
        if not held:
            self.require_target()
        self.announce()
        if held:
            return _loaded(held)
        if not {"engine", "master", "scheduler"} & {*self.given}:  # others may start processes, best from one thread
            startup.load_meanwhile("credimi.questions.rank.answer")
        counts: Counts = self.ask("count", files)
        target, weights = self.options.target, self.given.get("weights")
        if not counts.rows:
            fault = "has no rows" if weights is None else f"has no rows whose weight {weights!r} is above 0"
            raise CredimiError(f"{files[0]} {fault}: nothing can be said about {target!r}")
        if not len(counts):
            raise CredimiError(f"{files[0]} has no column besides the target {target!r}: nothing to rank")
        return counts

    def announce(self) -> None:
        """From now on a kernel that has to be compiled is announced."""
        if not self._announced:
            self._announced = True
            startup.announce_compiling(self.command.name)

    def progress(self) -> AbstractContextManager[Callable[..., None]]:
        """The bar."""
        return terminal_io.progress(self.command.doing)

    def _typed(self, keyword: str) -> str:
        return f"--{option_name(keyword).replace('_', '-')}"

    @contextmanager
    def worded(self) -> Iterator[None]:
        """An error that begins with a keyword and its value names the option, and the value as it was typed."""
        try:
            yield
        except CredimiError as error:
            found = re.match(r"(\w+) is (?:(-?\d+)\.0(?=:))?", str(error))
            if found is not None and found[1] in self.keywords:
                rest = f"{found[2] or ''}{str(error)[found.end() :]}"
                error.args = (f"{self._typed(found[1])} is {rest}", *error.args[1:])
            raise

    def say(self, message: str) -> None:
        """Print one line on standard error."""
        say(message)

    def print(self, text: str) -> None:
        """Print a text on standard output."""
        write(terminal_io.sayable(text, None), None)

    def draw(self, result: Foreign) -> None:
        """Write the page and the picture."""
        html, plot = (getattr(self.options, name, None) for name in ("html", "plot"))
        if html is not None:
            result.to_html(html, reader=COMMAND_LINE, source=self.source if "data" in self.options else None)
        if plot is not None and self.command.nothing_to_draw and not len(result):
            say(f"{plot} is not written: {self.command.nothing_to_draw}")
        elif plot is not None:
            top: Record = {"top": self.options.top or 30} if self.command.draws_top else {}
            result.plot(path=plot, **top)

    def show(self, result: Foreign, path: str | None, known: Sequence[str] | None = None, **more: Foreign) -> None:
        """Write a result in the format that was asked for; `known` are the entries of JSON above CSV."""
        known = self.command.above_csv if known is None else known
        terminal_io.write_shown(result, self.options, path, known=known, **more)


def _loaded(paths: Sequence[Place]) -> Counts:
    """The sum of the counts in these files."""
    from credimi.counts.counts import Counts

    counts = Counts.load(paths[0])
    for path in paths[1:]:
        counts = counts + Counts.load(path)
    if any(source.unfinished for source in counts.sources):
        warnings.warn(
            "these counts come from a call that was killed: the same `credimi count` again would finish them",
            stacklevel=2,
        )
    if not counts.rows:
        raise CredimiError(f"{paths[0]} counts no rows: nothing can be said about {counts.target!r}")
    return counts
