"""`credimi rank`, `select` and `count` from outside: options."""

from __future__ import annotations

import pytest
from command_helpers import Call, Refusal, Report, base, by_name, columns, contents, write


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--discretize", "bins"], "unknown discretization 'bins': choose one of average, mdl, quantile, categories"),
        (
            ["--discretize", "b=bins"],
            (
                "unknown discretization 'bins' of column 'b': choose one of average, mdl, quantile, categories, "
                "quantile:K for K ranges of about equal counts (2 to 999), or give cuts ([30, 50], --discretize "
                "b=30,50)"
            ),
        ),
        (["--discretize", "b=1,x"], "unknown discretization '1,x'"),
        (["--discretize", "b="], "unknown discretization ''"),
        (["--discretize", "b=nan"], "[nan] is no list of cuts: pass finite numbers"),
        (["--discretize", "1,2"], "--discretize 1,2: cuts need a column: write COLUMN=1,2"),
        (["--discretize", "bb=1"], "there is no column 'bb': did you mean 'b'?"),
        (["--epsilon", "-0.1"], "--epsilon is -0.1: it must be a finite number of nats from 0 up"),
        (["--epsilon", "inf"], "--epsilon is inf: it must be a finite number"),
        (["--epsilon", "abc%"], "--epsilon is 'abc%': pass a share of the target's entropy, such as '0.5%', or a"),
        (["--epsilon=-1%"], "--epsilon is '-1%': pass a share of the target's entropy, such as '0.5%', or a number"),
        (["--epsilon", "100%"], "--epsilon is '100%': pass a share of the target's entropy, such as '0.5%', or a"),
        (["--epsilon", "nan"], "--epsilon is nan: it must be a finite number"),
        (["--level", "0"], "--level is 0: it must lie between 0 and 1"),
        (["--level", "95"], "--level is 95: it must lie between 0 and 1"),
        (["--level", "nan"], "--level is nan: it must lie between 0 and 1"),
        (["--fdr", "1"], "--fdr is 1: it must lie between 0 and 1"),
        (["--prior", "jefreys"], "unknown prior 'jefreys': did you mean 'jeffreys'?"),
        (["--prior", "-1"], "--prior is -1: a pseudo-count is a number from 0 up"),
        (["--prior", "nan"], "--prior is nan: a pseudo-count is a number from 0 up"),
        (["--approximation", "matchd"], "unknown approximation 'matchd': did you mean 'matched'?"),
    ],
)
@pytest.mark.parametrize("command", [["rank"], ["select", "--output", "new.csv"]])
def test_option_that_is_wrong(refusal: Refusal, command: list[str], options: list[str], said: str) -> None:
    write("data.csv", base())
    assert refusal(command[0], "data.csv", "--target", "y", *command[1:], *options).startswith(said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rank"], "the following arguments are required: DATA"),
        (["rank", "data.csv", "--missing"], "argument --missing: expected one argument"),
        (["rank", "data.csv", "--discretize"], "argument --discretize: expected one argument"),
        (
            ["rank", "data.csv", "--epsilon", "small"],
            "argument --epsilon: 'small' is neither a share, such as 0.5%, nor a",
        ),
        (["rank", "data.csv", "--level", "95%"], "argument --level: '95%' is not a number"),
        (["rank", "data.csv", "--threads", "0"], "argument --threads: '0' is not a whole number from 1 up"),
        (["rank", "data.csv", "--threads", "-1"], "argument --threads: '-1' is not a whole number from 1 up"),
        (["rank", "data.csv", "--threads", "all"], "argument --threads: 'all' is not a whole number from 1 up"),
        (["rank", "data.csv", "--top", "-1"], "argument --top: '-1' is not a whole number from 0 up"),
        (["rank", "data.csv", "--units", "hartleys"], "argument --units: invalid choice: 'hartleys'"),
        (["rank", "data.csv", "--format", "xml"], "argument --format: invalid choice: 'xml'"),
        (["rank", "--features", "a", "b", "data.csv"], "the following arguments are required: DATA"),
        (["select", "data.csv", "--output", "o", "--rule", "best"], "argument --rule: invalid choice: 'best'"),
        (["count", "data.csv", "--target", "y"], "the following arguments are required: --into"),
        (["count", "data.csv", "--into", "c", "--prior", "1"], "unrecognized arguments: --prior 1"),
    ],
)
def test_arguments_that_are_wrong(call: Call, arguments: list[str], said: str) -> None:
    write("data.csv", base())
    before = contents()
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("credimi: ")
    assert err.endswith(f" (see credimi {arguments[0]} --help)\n")
    assert said in err
    assert err.count("\n") == 1
    assert contents() == before


@pytest.mark.parametrize("option", ["--features", "--exclude"])
def test_a_list_of_columns_that_takes_the_data(call: Call, option: str) -> None:
    write("data.csv", base())
    code, out, err = call("rank", option, "a", "data.csv", "--target", "y")
    assert (code, out) == (2, "")
    assert f"{option} takes all words up to the next option: put DATA before it, or -- between them (see" in err
    answers = [
        call("rank", "data.csv", option, "a", "--target", "y"),
        call("rank", "--target", "y", option, "a", "--", "data.csv"),
    ]
    assert answers[0] == answers[1]
    assert answers[0][0] == 0
    assert "before it" not in call("rank", "--target", "y")[2]


def test_missing_tokens_and_cuts(report: Report) -> None:
    rows = [("-9" if i % 10 == 9 else i % 2, "-9.0" if i % 5 == 0 else i, "none" if i % 4 else "x") for i in range(60)]
    write("data.csv", columns("y", "a", "b", rows=rows))
    options = ["--missing", "-9", "--missing", "none", "--discretize", "a=30"]
    answer = report("data.csv", "--target", "y", *options)
    assert answer["settings"]["missing_values"][-2:] == ["-9", "none"]
    assert answer["settings"]["discretize"] == {"a": [30.0]}
    assert answer["classes"] == ["0", "1"]
    features = by_name(answer)
    assert (features["a"]["missing"], features["a"]["values"], features["a"]["note"]) == (
        12,
        2,
        "given cuts, 1 cut: 30",
    )
    assert features["b"]["missing"] == 45
