"""Keywords of public functions, written once.

What the questions share (how data are read, what is believed) are the fields of two records, `Reading` and `Belief`. A
field made by `keyword` has its default, its help and its group on the command line. `question` lets a function take
these records as parameters, and shows the caller their fields instead:

    @question(reading=Reading, belief=Belief.but("fdr"))
    def compare(a, b, target=None, *, names=("A", "B"), reading, belief): ...

`inspect.signature` and `help` then list every keyword, an unknown one is refused with the nearest known one, and
`keywords_of` gives the command line all it needs to make options. Nothing heavy is imported here, because the command
line reads signatures to print its help.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from credimi.core.types import Option

Answer = TypeVar("Answer")
Taken = ParamSpec("Taken")
Class = TypeVar("Class", bound=type)

GROUPS = ("data", "columns", "decision", "output", "clusters")  # of the help of a command
_SYNONYMS = {"X": "data", "y": "target"}  # as scikit-learn's users type them
_PARAMETER = re.compile(r"^ {4}(\w[\w, ]*) : (.+)$")


@dataclass(frozen=True)
class Keyword:
    """One keyword: its type as it is written, its default, what it means, its group, and its choices, if any.

    `typed` is what the help of a command says instead, where a shell needs other words than Python.
    """

    name: str
    type: str
    default: object
    help: str
    group: str = "decision"
    choices: tuple[str, ...] = ()
    typed: str = ""


@dataclass(frozen=True)
class Record:
    """The fields of a record that a question has, and the defaults that differ there."""

    of: type
    without: frozenset[str] = frozenset()
    defaults: Mapping[str, object] = field(default_factory=dict)

    @property
    def keywords(self) -> dict[str, Keyword]:
        """The keywords of the question, by name."""
        found = (keyword for keyword in _fields(self.of) if keyword.name not in self.without)
        return {each.name: replace(each, default=self.defaults.get(each.name, each.default)) for each in found}


def keyword(default: Option, means: str, *, group: str, choices: Iterable[str] = (), typed: str = "") -> Option:
    """A field of a record that is a keyword of questions, with what it means; see `Keyword`."""
    about = {"help": means, "group": group, "choices": tuple(choices), "typed": typed}
    return field(default=default, metadata=about, kw_only=True)


class Keywords:
    """The base of records of keywords: `but` leaves some out, or gives them other defaults."""

    __slots__ = ()

    @classmethod
    def but(cls, *without: str, **defaults: Option) -> Record:
        """The record without some keywords, or with other defaults."""
        return Record(cls, frozenset(without), defaults)

    @classmethod
    def only(cls, *names: str, **defaults: Option) -> Record:
        """The record with these keywords alone, and those with other defaults."""
        return cls.but(*(each.name for each in _fields(cls) if each.name not in {*names, *defaults}), **defaults)


def _fields(record: type) -> list[Keyword]:
    """The fields of a record that are keywords, in their order."""
    return [
        Keyword(each.name, str(each.type), each.default, **each.metadata)
        for each in fields(record)
        if "help" in each.metadata
    ]


def question(**records: Record | type) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Replace the parameters of a function that are records by the fields of these records; see the module."""
    parts = {name: record if isinstance(record, Record) else Record(record) for name, record in records.items()}

    def decorated(function: Callable[..., Answer]) -> Callable[..., Answer]:
        own = {name: each for name, each in inspect.signature(function).parameters.items() if name not in parts}
        shared: dict[str, Keyword] = {}
        for record in parts.values():
            shared |= {name: each for name, each in record.keywords.items() if name not in shared}
        parameters = [*own.values()] + [
            inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
            for each in shared.values()
        ]
        signature = inspect.Signature(parameters, return_annotation=inspect.signature(function).return_annotation)
        known = [name for name, each in signature.parameters.items() if each.kind is each.KEYWORD_ONLY]

        @functools.wraps(function)
        def asked(*values: Option, **given: Option) -> Answer:
            for synonym, name in _SYNONYMS.items():
                if synonym in given and name in own and name not in given:
                    given[name] = given.pop(synonym)
            check_known(function.__name__, given, list(dict.fromkeys([*own, *known])))
            mine = {name: given[name] for name in given if name in own}
            named = frozenset(name for name in given if name in shared)
            for part, record in parts.items():
                mine[part] = _made(record, given, named)
            return function(*values, **mine)

        asked.__signature__ = signature  # type: ignore[attr-defined]  # what `inspect` and `help` show
        asked.__doc__ = _documented(function.__doc__ or "", shared.values())
        asked.keywords = _all_keywords(function, own, shared)  # type: ignore[attr-defined]  # for `keywords_of`
        return asked

    return decorated


def _made(record: Record, given: Mapping[str, object], named: frozenset[str]) -> object:
    names = {each.name for each in fields(record.of)}
    values = {name: value for name, value in record.defaults.items() if name in names}
    values |= {name: given[name] for name in named if name in names}
    return record.of(given=named, **values) if "given" in names else record.of(**values)


def keywords_of(function: Callable[..., object]) -> dict[str, Keyword]:
    """All keywords of a public function, its own first."""
    found: dict[str, Keyword] = getattr(function, "keywords", None) or _all_keywords(
        function, inspect.signature(function).parameters, {}
    )
    return found


def _all_keywords(
    function: Callable[..., object], own: Mapping[str, inspect.Parameter], shared: Mapping[str, Keyword]
) -> dict[str, Keyword]:
    """The keywords of a function: its own, of which its docstring says what they mean, and those it shares."""
    about = _described(function.__doc__ or "")
    mine = {
        name: Keyword(name, str(each.annotation), each.default, *about.get(name, ("", "decision", ())))
        for name, each in own.items()
        if each.kind is each.KEYWORD_ONLY
    }
    return mine | dict(shared)


def _described(docstring: str) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """What the section Parameters of a docstring says of each name: the text, its group, its choices."""
    about: dict[str, tuple[str, str, tuple[str, ...]]] = {}
    names: list[str] = []
    section, choices, text = False, (), ""
    for line in docstring.splitlines():
        if line.strip() == "Parameters":
            section = True
        elif line.strip() in {"Returns", "Examples", "Attributes"}:
            section = False
        elif section and (head := _PARAMETER.match(line)):
            names, choices, text = head[1].split(", "), tuple(re.findall(r'"(\w[\w-]*)"', head[2])), ""
        elif section and names and line.startswith(" " * 8):
            text = f"{text} {line.strip()}".strip()
            about |= dict.fromkeys(names, (text, "decision", choices))
    return about


def _documented(docstring: str, shared: Iterable[Keyword]) -> str:
    """The docstring with what the shared keywords mean at the end of its section Parameters."""
    written = "".join(f"    {each.name} : {_type_and_default(each)}\n{_indented(each.help)}" for each in shared)
    head, returns, tail = docstring.partition("\n    Returns\n")
    return f"{head.rstrip()}\n{written}{returns}{tail}" if returns else f"{docstring.rstrip()}\n{written}"


def _type_and_default(keyword: Keyword) -> str:
    kind = " or ".join(f'"{choice}"' for choice in keyword.choices) or keyword.type.removesuffix(" | None")
    shown = repr(keyword.default)
    return f"{kind}, optional" if keyword.default is None or len(shown) > 40 else f"{kind}, default {shown}"


def _indented(text: str) -> str:
    return textwrap.fill(text, 112, initial_indent=" " * 8, subsequent_indent=" " * 8) + "\n"


def suggesting(function: Callable[Taken, Answer]) -> Callable[Taken, Answer]:
    """Let a function, or the `__init__` of a class, refuse an unknown keyword with the nearest one that it has."""
    known = dict.fromkeys(inspect.signature(function).parameters)

    @functools.wraps(function)
    def asked(*values: Taken.args, **given: Taken.kwargs) -> Answer:
        if not given.keys() <= known.keys():
            check_known(function.__qualname__.removesuffix(".__init__"), given, known)
        return function(*values, **given)

    return asked


def suggesting_keywords(cls: Class) -> Class:
    """The same for a class whose `__init__` is made from its fields."""
    cls.__init__ = suggesting(cls.__init__)  # type: ignore[misc]  # of the class itself, as dataclasses do
    return cls


def check_known(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an unknown keyword as Python does, with the nearest one that the function has."""
    offered = [*known]
    for name in given:
        if name not in offered:
            import difflib  # noqa: PLC0415  (only a mistake needs it)

            near = difflib.get_close_matches(name, offered, n=1, cutoff=0.65)
            hint = f": did you mean {near[0]!r}?" if near else f": help(credimi.{function}) lists those it has"
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
