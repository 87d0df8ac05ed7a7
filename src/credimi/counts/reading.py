"""`Reading`: how data are read and counted, as the keywords of all questions say it.

What is asked of one kind of data only (a delimiter, an engine, an address of a cluster) is checked where the data are
known; the rest is checked by `CountRequest.of`. Nothing heavy is imported here, because the command line reads the
keywords to print its help.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from credimi.core.defaults import DEVICES, DISCRETIZE, ENGINES, MISSING_AS, MISSING_VALUES, TARGET_AS, WEIGHTS_ARE
from credimi.core.errors import CredimiError
from credimi.core.keywords import Keywords, keyword

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import EllipsisType

    from credimi.core.types import Values

CLUSTERS = ("engine", "master", "scheduler")
_STILL_FREE = {"missing_as", "threads"}  # when the data are counts already


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading(Keywords):
    """How data are read. `given` are the keywords that the caller named."""

    features: Sequence[str] | None = keyword(
        None,
        "The columns to use. Default: all but the target, if there is one. A column that is named here, or in "
        "`discretize`, is refused if its values cannot be counted (lists, for example); other such columns are counted "
        "as present or missing, and the result says so.",
        group="columns",
        typed="The columns to use. Default: all but the target.",
    )
    exclude: Sequence[str] | None = keyword(None, "Columns to leave out; all others are used.", group="columns")
    missing_values: Iterable[str | float | EllipsisType] = keyword(
        MISSING_VALUES,
        "Values that mean missing besides null, NaN and empty fields of CSV files; in all columns, including the "
        "target, and with blanks around them, too. Default: ?, the spellings of pandas (NA, N/A, n/a, NULL, null, "
        "None, nan, #N/A and others), and the errors of spreadsheets (#DIV/0! and others), in files as in data frames. "
        'A list replaces these; [..., "x"] adds to them. A number stands for numbers, also those written as text, but '
        'not for dates or durations; "9999-12-31" stands for the date.',
        group="data",
        typed="One more text or number that means missing besides empty fields, ?, NA, N/A, NULL, nan, #N/A, "
        "#DIV/0! and their like; may be repeated",
    )
    missing_as: str = keyword(
        "ignore",
        'What a missing value of a feature is taken for. "ignore": it is not known; "category": it is one more value. '
        "The columns missing_mi to missing_p_above of a ranking tell whether the two differ.",
        group="decision",
        choices=MISSING_AS,
    )
    discretize: str | Mapping[str, object] | None = keyword(
        DISCRETIZE,
        'How numbers are taken. "average" averages over all ways to cut them into ranges, and shows the most probable '
        "ranges, which are their categories where a question needs some (and for other priors); "
        '"mdl", as the method "paper" has it, cuts where the gain in the target\'s entropy is larger than the cost of '
        'the cut (Fayyad and Irani), or into quarters if no cut passes; "quantile" cuts into ten ranges of equal '
        'counts, "quantile:4" into four; "equal", where there is no target, into as many ranges, 3 to 10, as leave 20 '
        'rows to each cell of a table; "categories" makes every number a category of its own; None refuses them. A '
        "dictionary gives the method for single columns, or lists of cuts: "
        '{"age": [18, 65], "*": "quantile"}. Whole numbers of at most 20 distinct values are categories, unless the '
        "column is named here; decimal commas and dates of CSV files are text, unless the column is named here. Dates "
        'and timestamps are cut as days since 1970, and cuts may be dates as well, {"visit": ["2024-02-29"]}; times of '
        "day and durations are seconds.",
        group="data",
        typed="How numbers are taken: average, over all ways to cut them into ranges, of which the most probable ones "
        "are shown; mdl cuts where that tells most about the target, quantile:4 into four "
        "ranges of about equal counts; equal, where there is no target, into as many as the rows allow; categories "
        "makes each number a category; none refuses them. COLUMN=METHOD is for one column, and so are cuts: age=18,65 "
        "or visit=2024-02-29. May be repeated.",
    )
    target_cuts: str | Sequence[object] | None = keyword(
        None,
        "Cut a target of numbers or dates into ranges, which are its classes: [30, 50] makes "
        '"<= 30", "30 to 50" and "> 50"; "quantile:4" makes four ranges of about equal counts. For quantiles the '
        "target is read once before the other columns; streams, which can be read only once, and data frames of Spark "
        "and Dask accept cuts only.",
        group="data",
        typed="Cut a target of numbers or dates into ranges: 30,50 or 2024-02-29 (write =-5,5 if the first is "
        "negative), or quantile:4 for four ranges of about equal counts; this reads the target once more.",
    )
    target_as: str | None = keyword(
        None,
        'What a target of numbers is. "number": it is not cut, and I is that of the number itself; "categories": each '
        "of its values is a class. Default: a number if it has more than 20 different values, otherwise classes. Where "
        "a question needs classes, they are four ranges of about equal counts.",
        group="data",
        choices=TARGET_AS,
    )
    weights: Values = keyword(
        None,
        "The weight of each row: a column of numbers from 0 up, or its values beside the data.",
        group="data",
        typed="The column with the weight of each row: how often it occurs, or how many people it stands for (see "
        "--weights-are).",
    )
    weights_are: str | None = keyword(
        None,
        'What the weights count. "rows": how often each row occurs, as in a table in which equal rows were combined; '
        'the counts are those of the repeated rows. "survey": how many people, say, a row stands for; each table is '
        'then scaled to the number of rows that it is worth. Default: "rows" if all weights are whole, otherwise '
        '"survey".',
        group="data",
        choices=WEIGHTS_ARE,
    )
    max_values: int | None = keyword(
        None,
        "Refuse a column with more categories, by its name, as soon as they are seen. Without it, a column with more "
        "values than are kept is counted as seen or missing only, and the result says so.",
        group="columns",
    )
    delimiter: str | None = keyword(
        None,
        "The character between the fields of CSV files. Default: the most frequent of comma, semicolon, tab and | in "
        "the header of each file, outside quotes.",
        group="data",
        typed="The character between the fields of CSV files, quoted if the shell needs it; tab, space and \\x01 are "
        "understood. Default: the most frequent of comma, semicolon, tab and | in the header of each file.",
    )
    engine: str | None = keyword(
        None,
        'Who counts files: "files" (this process), "duckdb", "dask" or "spark", the last two as schedulers over files '
        "that their workers see under the same paths.",
        group="clusters",
        choices=ENGINES,
    )
    master: str | None = keyword(
        None,
        "The address of a Spark master: spark://HOST:PORT, local[4], or sc://HOST of Spark Connect. Default: the "
        "active session, or else a local one.",
        group="clusters",
    )
    scheduler: str | None = keyword(
        None,
        "The address of a Dask scheduler: tcp://HOST:PORT. Default: the active client, or else a local one.",
        group="clusters",
    )
    scratch: str | Path | None = keyword(
        None,
        "A folder for data larger than memory: they are read twice, and files there keep the codes meanwhile, one byte "
        "a cell (two of columns of more than 255 values).",
        group="data",
    )
    device: str = keyword(
        "cpu",
        '"cpu", or "gpu": one NVIDIA GPU looks at all pairs, with the same results to about nine digits. It needs '
        "pip install credimi[gpu], and columns of at most 255 values.",
        group="data",
        choices=DEVICES,
    )
    threads: int | None = keyword(None, "How many threads work. Default: all cores.", group="data")
    progress: Callable[[float, str], None] | None = keyword(
        None, "Called with the share that is done, and the name of the current step.", group="output"
    )
    given: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name, choices in (("missing_as", MISSING_AS), ("device", DEVICES), ("target_as", (*TARGET_AS, None))):
            if getattr(self, name) not in choices:
                named = ", ".join(filter(None, choices))
                raise CredimiError(f"{name} is {getattr(self, name)!r}: choose one of {named}")
        if self.target_as == "categories" and self.target_cuts is not None:
            raise CredimiError(
                "target_as is 'categories', so that each value is a class, but target_cuts make ranges: leave out one "
                "of the two"
            )

    @property
    def of_rows(self) -> list[str]:
        """The keywords the caller named that only rows have: counts can no longer follow them."""
        return sorted(name for name in self.given if name in _OF_ROWS)

    def step(self, text: str) -> Callable[[float], None]:
        """What reports the progress of one step."""
        progress = self.progress
        return _silent if progress is None else lambda share: progress(share, text)

    def part(self, first: float, last: float) -> Reading:
        """The same reading for a part of the work, which begins and ends at these shares."""
        progress = self.progress
        if progress is None:
            return self
        return replace(self, progress=lambda share, text: progress(first + (last - first) * share, text))


def _silent(_share: float) -> None:
    """The default progress callback: does nothing."""


_OF_ROWS = {*Reading.__slots__} - _STILL_FREE - {"given"}
