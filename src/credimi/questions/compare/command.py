"""Compare what columns tell about a target in two samples, A and B.

A and B are two samples with different rows: two periods, sites or groups.
Each is data (a file, a directory or a pattern in quotes, with --target), a
counts file, or an output of `credimi rank --format json`. Both are read in the
same way: numbers are cut at the same places, found from both together. The
mutual information itself is compared, which also changes if classes or values
become more or less frequent.

examples:
  credimi compare 2023.csv 2024.csv --target churn
  credimi compare north.counts south.counts --html change.html
  credimi compare "2023/*.parquet" "2024/*.parquet" --target churn --epsilon 0.01
  credimi rank survey.csv --target income --by year
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.command import TOP, Command
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from credimi.core.command import Asked
    from credimi.core.types import Foreign


def _answer(asked: Asked) -> Foreign:
    """The comparison. A file of counts is read first, because it knows the target."""
    typed = [asked.options.a, asked.options.b]
    names = [asked.name_of(path) for path in typed]
    files = [None if path.lower().endswith(".json") else asked.files_of(path) for path in typed]
    if files.count(None) == 1 and not asked.options.target:  # a ranking and data: the question says why not
        return asked.ask("compare", *typed, names=names)
    samples: dict[int, Foreign] = {}
    for index in sorted((0, 1), key=lambda index: not any(file.is_counts for file in files[index] or ())):
        samples[index] = _sample(asked, names[index], files[index])
        asked.options.target = asked.options.target or getattr(samples[index], "target", None)
    if names[0] == names[1]:
        asked.say(f"{names[0]} is compared with itself: A and B should have different rows")
    return asked.ask("compare", samples[0], samples[1], counted=True, names=names)


def _sample(asked: Asked, name: str, files: list[Foreign] | None) -> Foreign:
    """The counts of one sample, or the path of a ranking."""
    if files is None:
        for option in ("features", "exclude", "missing_values", "discretize"):
            if option in asked.given:
                shown = "missing" if option == "missing_values" else option
                raise CredimiError(f"{name} is already a ranking: --{shown} is for data")
        asked.check_input(name)
        return name
    try:
        return asked.counts(files)
    except CredimiError as error:
        if name in str(error) or asked.options.target is None:
            raise
        raise CredimiError(f"{name}: {error}") from error  # which of the two samples


COMMAND = Command(
    name="compare",
    text=__doc__,
    summary="which columns are more or less informative in a second sample, and how surely",
    functions=("compare",),
    without=("progress", "names"),
    means={
        "epsilon": 'The least change that counts: "0.5%" of the target\'s entropy, or of log 2 where '
        "that is less; or nats.",
        "level": "The probability of intervals and verdicts.",
    },
    data="A B",
    doing="counting",
    units=True,
    top=TOP,
    verbose="what a claim is, and what the figures are of",
    html="write a page that shows the comparison in a browser, offline",
    plot="draw both intervals of the first 30, or --top,",
    draws_top=True,
    above_csv=("classes", "samples"),
    answer=_answer,
)
