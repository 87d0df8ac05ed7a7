"""One word, one meaning, in Python and on the command line: options are keywords, with the same defaults."""

from __future__ import annotations

import argparse

import pytest

import credimi
from credimi.cli.runner import parser_for
from credimi.core.keywords import keywords_of

FUNCTIONS = {  # the public functions of each command
    "rank": (credimi.rank, credimi.rank_by),
    "compare": (credimi.compare,),
    "select": (credimi.select,),
    "interactions": (credimi.interactions,),
    "pairs": (credimi.pairs,),
    "network": (credimi.network,),
    "tree": (credimi.tree,),
    "count": (credimi.count,),
    "prequential": (credimi.prequential,),
}
COMMAND_ONLY = {
    "effects": "to_dict(effects=True), Ranking.effects",
    "input_format": "Python has no standard input to read",
    "format": "a result has to_json, to_csv and others",
    "csv_safe": "of --format csv",
    "output": "the file of --format; of select, the reduced data, which Python's users make with their frames",
    "html": "to_html",
    "plot": "plot",
    "units": "to_dict(units=...)",
    "top": "how many rows are shown: head",
    "sort": "sorted_by",
    "by": "rank_by is another function in Python",
    "forest": "Pairs.forest",
    "no_reasons": "of the text of a tree",
    "verbose": "settings, and records of remarks",
    "force": "count again what was counted; Counts.update has it",
    "into": "of count: Counts.save",
}
OTHER_NAMES = {  # and values, which are typed in another way
    "missing": "missing_values",  # one more value, besides the usual ones; may be repeated
    "rule": "rules",  # of prequential: may be repeated
}
OTHER_VALUES = {"missing_values", "discretize", "rules"}  # a list of what is typed; none: the default of Python
NOT_OFFERED = {
    "progress": "the command has a bar of its own",
    "names": "a comparison names its samples after their files",
}


def options_of(command: str) -> dict[str, argparse.Action]:
    """The options of a command, by their words as Python writes them."""
    (commands,) = (each for each in parser_for([command])._actions if isinstance(each, argparse._SubParsersAction))  # noqa: SLF001
    actions = commands.choices[command]._actions  # noqa: SLF001
    return {each.dest: each for each in actions if each.option_strings and each.dest != "help"}


@pytest.mark.parametrize("command", FUNCTIONS)
def test_each_option_is_a_keyword_with_the_same_default(command: str) -> None:
    keywords = {name: each for function in reversed(FUNCTIONS[command]) for name, each in keywords_of(function).items()}
    options = options_of(command)
    named = {OTHER_NAMES.get(name, name) if name not in keywords else name: each for name, each in options.items()}
    assert {*named} - {*keywords} - {"target"} <= {*COMMAND_ONLY}
    assert {*keywords} - {*named} <= {*NOT_OFFERED}
    for name in {*keywords} & {*named} - OTHER_VALUES:
        default = named[name].default
        assert default in (keywords[name].default, argparse.SUPPRESS), name


@pytest.mark.parametrize("command", FUNCTIONS)
def test_each_option_is_written_as_its_keyword(command: str) -> None:
    for name, option in options_of(command).items():
        assert f"--{name.replace('_', '-')}" in option.option_strings


def test_what_is_of_the_command_line_alone_is_in_some_command() -> None:
    offered = {name for command in FUNCTIONS for name in options_of(command)}
    assert {*COMMAND_ONLY, *OTHER_NAMES} <= offered


@pytest.mark.parametrize(
    ("command", "typed", "meant"),
    [
        ("rank", "--seed", "--random-state"),
        ("rank", "--robust", "--robust-factor"),
        ("rank", "--factor", "--robust-factor"),
        ("rank", "--epsiln", "--epsilon"),
        ("select", "--goal", "--rule"),
        ("pairs", "--columns", "--features"),
        ("count", "--max-levels", "--max-values"),
    ],
)
def test_an_option_that_there_is_not_has_a_remedy(
    command: str, typed: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from credimi.cli import main  # noqa: PLC0415

    with pytest.raises(SystemExit) as end:
        main(
            [command, "data.csv", "--into", "counts", typed, "1"]
            if command == "count"
            else [command, "data.csv", typed, "1"]
        )
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert said == f"credimi: unrecognized arguments: {typed} 1: did you mean {meant}? (see credimi {command} --help)\n"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["table", "1 2; 3 4", "--html", "page.html"], "--html page.html: table has no --html"),
        (["table", "1 2; 3 4", "--plot"], "--plot: table has no --plot"),
        (["select", "data.csv", "--sort", "p"], "--sort p: select has no --sort"),
        (["pairs", "data.csv", "--sort=p"], "--sort=p: pairs has no --sort"),
        (["rank", "data.csv", "--wt"], "--wt"),
    ],
)
def test_an_option_of_another_command_is_no_misspelt_one(
    typed: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from credimi.cli import main  # noqa: PLC0415

    with pytest.raises(SystemExit):
        main(typed)
    assert capsys.readouterr().err == f"credimi: unrecognized arguments: {said} (see credimi {typed[0]} --help)\n"
