"""Options made of the keywords of public functions, and the words of a shell made into values.

A keyword's type says how its words are read, and its group where the help lists it; help, choices and default are those
of Python. An option that is not typed is absent, so that the function has its own default.

The parser is argparse. A command with 17 options takes .10 s for `--help` and .09 s until it is called (Python alone
.03 s); with typer 0.29 .43 and .40, with cyclopts 5.4 .46 and .20, with jsonargparse 4.53 .33 and .34, and they bring
1.2 to 5 MB. They read annotations that can be evaluated, which would load numpy and Arrow for the help; ours are text.
What they would spare is `_add_keyword`; the words (`age=18,65`), lists that swallow DATA and messages would stay.
"""

from __future__ import annotations

import argparse
import re
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from credimi.cli import standard_input
from credimi.cli.terminal_io import say
from credimi.core.defaults import DISCRETIZE, MISSING_VALUES
from credimi.core.errors import CredimiError
from credimi.core.keywords import GROUPS, keywords_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from credimi.core.command import Command
    from credimi.core.keywords import Keyword
    from credimi.core.types import Foreign, Record, Values

_CALLED_ELSEWHERE = {  # what other programs, and users, call an option
    "--columns": "--features",
    "--factor": "--robust-factor",
    "--goal": "--rule",
    "--sep": "--delimiter",
    "--seed": "--random-state",
}
_NAMES = {"missing_values": "missing", "rules": "rule"}  # of keywords whose option adds one value, and may be repeated
_METAVARS = {"features": "COLUMN", "exclude": "COLUMN", "weights": "COLUMN", "missing_values": "TOKEN"}
_METAVARS |= {
    "discretize": "[COLUMN=]METHOD",
    "target_cuts": "CUTS",
    "by_cuts": "CUTS",
    "delimiter": "CHARACTER",
    "master": "URL",
}
_METAVARS |= {"scheduler": "URL", "scratch": "DIR", "keep": "DIR", "random_state": "SEED", "into": "FILE"}
_METAVARS |= {"rule": "RULE"}  # its choices are longer than a line, and the text above has them
_OF_OUTPUT = {"top", "into", "keep"}
_OWN_MESSAGES = {"approximation"}  # keywords whose choices have other names, too


class Parser(argparse.ArgumentParser):
    """Reports errors in one line, as the commands do; the usage, which may fill a screen, is left to --help."""

    listing: str | None = None  # the option whose list of columns was read

    @property
    def option_names(self) -> list[str]:
        """The options that this parser knows, without their short forms."""
        return [name for action in self._actions for name in action.option_strings if name.startswith("--")]

    def refuse(self, unknown: Sequence[str], is_option_elsewhere: Callable[[str], bool]) -> NoReturn:
        """Refuse words that are no options of this command, with the nearest option that it has.

        An option of another command is not misspelt, so that none is near.
        """
        offered = self.option_names
        option = next((word.partition("=")[0] for word in unknown if word.startswith("-")), "")
        near = [_CALLED_ELSEWHERE.get(option, "")]
        if not option or is_option_elsewhere(option):
            hint = f": {self.prog.rpartition(' ')[2]} has no {option}" if option else ""
        else:
            near += [name for name in offered if name.startswith(f"{option}-")]
            near += [f"--{name}" for name in _close(option.strip("-"), [name.strip("-") for name in offered])]
            hint = ""
        hint = next((f": did you mean {name}?" for name in near if name in offered), hint)
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        missing_data = re.search(r"required: (DATA|A|B)\b", message)
        if self.listing and missing_data:
            data = "DATA" if missing_data[1] == "DATA" else "A and B"
            message += (
                f"; {self.listing} takes all words up to the next option: put {data} before it, or -- between them"
            )
        missing_value = re.fullmatch(r"argument (?:-\w, )?(--[\w-]+).*: expected one argument", message)
        if missing_value:  # a word that starts with a minus and is no number is taken for an option
            message += f"; if it starts with a minus, write {missing_value[1]}=-..."
        wrong = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)$", message)
        if wrong and (near := _close(wrong[1], re.findall(r"[\w-]+", wrong[2]))):
            message = message.replace(" (choose from", f": did you mean {near[0]!r}? (choose from")
        say(f"{message} (see {self.prog} --help)")
        self.exit(2)


class _Columns(argparse.Action):
    """A list of columns. The option is remembered, as its list may have swallowed DATA."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Values,
        option_string: str | None = None,
    ) -> None:
        """Keep the list."""
        setattr(namespace, self.dest, values)
        if isinstance(parser, Parser):
            parser.listing = option_string


def _close(word: str, words: Sequence[str]) -> list[str]:
    import difflib  # (only a mistake needs it)

    return difflib.get_close_matches(word, words, n=1, cutoff=0.65)


def is_number(word: str) -> bool:
    """Whether a word is a number."""
    with suppress(ValueError):
        float(word)
        return "_" not in word  # Python reads 1_0 as 10; in a table it is a typing error
    return False


def _number(text: str) -> float:
    if not is_number(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return float(text)


def whole(least: int) -> Callable[[str], int]:
    """What reads a whole number from `least` up."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up")
        return int(text)

    return read


def _delimiter(text: str) -> str:
    code = re.fullmatch(r"\\x([0-7][0-9a-fA-F])", text)
    return chr(int(code[1], 16)) if code else {"tab": "\t", r"\t": "\t", "space": " "}.get(text, text)


def _rule(text: str) -> str:
    """A rule, by our name or by the paper's."""
    return {"F": "plugin", "FF": "forward", "BF": "backward"}.get(text, text)


def _epsilon(text: str) -> float | str:
    """A share of the target's entropy, or a number of nats."""
    if not is_number(text) and not text.endswith("%"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a share, such as 0.5%, nor a number of nats")
    return float(text) if is_number(text) else text


_READERS: dict[str, Callable[[str], object]] = {
    "delimiter": _delimiter,
    "rule": _rule,
    "rules": _rule,
    "prior": lambda text: float(text) if is_number(text) else text,
    "epsilon": _epsilon,
}


def _cuts(text: str) -> list[float | str] | None:
    """The cuts that a text lists, numbers or dates, if it does."""
    words = [word.strip() for word in text.split(",")]
    if all(is_number(word) or re.match(r"\d{4}-\d\d-\d\d", word) for word in words):
        return [float(word) if is_number(word) else word for word in words]
    return None


def _methods(texts: list[str]) -> object:
    """How columns are cut, as Python takes it."""
    method_of: dict[str, object] = {}
    for text in texts:
        column, equals, method = text.rpartition("=")
        cuts = _cuts(method)
        if not equals and cuts is not None:
            raise CredimiError(f"--discretize {text}: cuts need a column: write COLUMN={text}")
        method_of[column if equals else "*"] = None if method == "none" else method if cuts is None else cuts
    return method_of.get("*", DISCRETIZE) if not set(method_of) - {"*"} else method_of


_VALUES: dict[str, Callable[[Foreign], object]] = {  # of words that became no value while they were parsed
    "missing_values": lambda texts: (*MISSING_VALUES, *texts),
    "discretize": _methods,
    **dict.fromkeys(
        ("target_cuts", "by_cuts"),
        lambda text: text if text.startswith("quantile") else [word.strip() for word in text.split(",")],
    ),
}


def given(options: argparse.Namespace, keywords: Mapping[str, Keyword]) -> Record:
    """The keywords that were typed, with the values that functions take."""
    typed = {name: getattr(options, option_name(name), None) for name in keywords if option_name(name) in options}
    return {name: _VALUES[name](value) if name in _VALUES else value for name, value in typed.items()}


def option_name(keyword: str) -> str:
    """What the option of a keyword is called, without the dashes."""
    return _NAMES.get(keyword, keyword)


def keywords_for(command: Command) -> dict[str, Keyword]:
    """The keywords that are options of a command; where two functions have one, it is that of the first."""
    public = import_module("credimi")
    found: dict[str, Keyword] = {}
    for function in command.functions:
        found = keywords_of(getattr(public, function)) | found
    return {name: each for name, each in {**found, **command.keywords}.items() if name not in command.without}


def add_options(parser: Parser, command: Command) -> None:
    """Add the options of a command, group by group."""
    groups = {name: parser.add_argument_group(name) for name in GROUPS}
    _add_data(parser, groups["data"], command)
    keywords = keywords_for(command)
    for keyword in keywords.values():
        group = "output" if keyword.name in _OF_OUTPUT else keyword.group
        _add_keyword(groups[group], keyword, command.means.get(keyword.name, ""))
    for option in command.options:
        if option.name.startswith("-"):
            groups[option.group].add_argument(option.name, help=option.help, **option.settings)  # type: ignore[arg-type]
    for name, settings in _output_options(command).items():
        groups["output"].add_argument(name, **settings)


def _add_data(parser: Parser, group: Foreign, command: Command) -> None:
    """The positional arguments, and what belongs to them."""
    if command.data == "A B":
        parser.add_argument("a", metavar="A", help="data, a counts file, or a ranking as JSON")
        parser.add_argument("b", metavar="B", help="the same for other rows")
    elif command.data:
        parser.add_argument(
            "data",
            metavar="DATA",
            nargs="+",
            help="CSV, Parquet, Arrow or JSON lines files, directories, patterns, URLs; - for standard input",
        )
        group.add_argument(
            "--input-format",
            choices=list(standard_input.FORMATS),
            help="format of standard input (default: found from its first bytes, as for files)",
        )
    for option in command.options:
        if not option.name.startswith("-"):
            parser.add_argument(option.name, help=option.help, **option.settings)  # type: ignore[arg-type]
    if command.target:
        group.add_argument("--target", metavar="COLUMN", help="the target column (discrete)")


def _add_keyword(group: Foreign, keyword: Keyword, means: str) -> None:
    """The option of a keyword."""
    settings: Record = {"default": argparse.SUPPRESS, "dest": option_name(keyword.name)}
    kind = keyword.type.removesuffix(" | None")
    if kind == "float":
        settings["type"] = _number
    elif kind.startswith("int"):
        settings["type"] = whole(0 if keyword.default == 0 or "0:" in keyword.help else 1)
    elif keyword.name in _READERS:
        settings["type"] = _READERS[keyword.name]
    if keyword.name in {"features", "exclude"}:
        settings |= {"nargs": "+", "action": _Columns}
    elif keyword.name in {"missing_values", "discretize", "rules"}:
        settings["action"] = "append"
    if keyword.choices and keyword.name not in _OWN_MESSAGES:
        settings["choices"] = keyword.choices
        settings |= {"metavar": _METAVARS[keyword.name]} if keyword.name in _METAVARS else {}
    else:
        usual = {"float": "NUMBER"}.get(kind, "N" if kind.startswith("int") else None)
        settings["metavar"] = _METAVARS.get(keyword.name, usual)
    help_ = means or keyword.typed or keyword.help
    if isinstance(keyword.default, str | int | float) and "Default:" not in help_:
        help_ = f"{help_.removesuffix('.')} (default: {keyword.default})"
    group.add_argument(f"--{settings['dest'].replace('_', '-')}", help=help_.replace("%", "%%"), **settings)


def _output_options(command: Command) -> dict[str, Record]:
    """The options that say what is shown and written."""
    options: dict[str, Record] = {}
    if command.units:
        text = "units of the printed information; --epsilon and pages stay in nats (default: %(default)s)"
        options["--units"] = {"choices": ["nats", "bits"], "default": "nats", "help": text}
    if command.top:
        options["--top"] = {"type": whole(0), "metavar": "N", "help": command.top}
    if command.verbose:
        options["--verbose"] = {"action": "store_true", "help": f"also say {command.verbose} (with --format table)"}
    if command.formats:
        text = "output format (default: %(default)s)"
        options["--format"] = {"choices": command.formats, "default": command.formats[0], "help": text}
    if "csv" in command.formats or command.csv_safe:
        text = (
            "put an apostrophe before names and values that a spreadsheet would take for a formula, and make control "
        )
        text = f"with {command.csv_safe or '--format csv'}: {text}characters visible"
        options["--csv-safe"] = {"action": "store_true", "help": text}
    if command.output:
        options["--output"] = {"metavar": "FILE", "help": command.output}
    if command.html:
        options["--html"] = {"metavar": "PAGE", "help": command.html}
    if command.plot:
        options["--plot"] = {"metavar": "PICTURE", "help": f"{command.plot} in a .png, .svg or .pdf file"}
    return options


def add_command(commands: Foreign, command: Command, *, with_options: bool) -> None:
    """Add a command; its options only if it is the one that was typed."""
    description, _, epilog = (command.text or "").partition("\n\n")
    parser: Parser = commands.add_parser(
        command.name,
        help=command.summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # a new option must not change what an abbreviation means
    )
    parser.set_defaults(refuse=parser.refuse, command=command.name)
    if with_options:
        add_options(parser, command)
