"""Count a target with every column, and save the counts for rankings.

examples:
  credimi count january.csv --target churn --into churn.counts
  credimi count february.csv --target churn --into churn.counts    # adds
  credimi rank churn.counts
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.cli import command_files
from credimi.core.atomic_files import locked
from credimi.core.command import Command, Option
from credimi.core.errors import CredimiError
from credimi.results import sentences

if TYPE_CHECKING:
    from credimi.core.command import Asked
    from credimi.counts.counts import Counts
    from credimi.counts.request import CountRequest, Plan
    from credimi.sources.data_file import DataFile

_SETTINGS = {"missing_values", "discretize", "target_cuts", "weights", "weights_are"}
SAVE_EVERY = 5.0  # seconds, or ten times as long as writing takes


def _answer(asked: Asked) -> None:
    """Count, add, and write the sum.

    The file names the files that were counted, so that none is added twice. If there are several, the counts are
    written repeatedly while they are counted, each time as a whole. A call that was killed leaves what it wrote last,
    and the same call again counts the rest. Writing takes at most a tenth of the time, however large the counts are.
    Two calls at once would lose what one of them adds, so the second is refused.
    """
    options = asked.options
    files = command_files.files(options, twice=True)
    if options.into == "-" or (Path(options.into).exists() and not Path(options.into).is_file()):
        what = "standard output" if options.into == "-" else "no file but a device or a pipe"
        raise CredimiError(f"--into {options.into} is {what}: name a file, since later calls read it and add to it")
    for file in files:
        if file.is_counts:
            raise CredimiError(f"{file} holds counts, not data: pass several files of counts to `credimi rank`")
    with locked(options.into):
        _extend(files, asked)


def _extend(files: list[DataFile], asked: Asked) -> None:
    """Read the existing counts and write the sum; the file is locked in between."""
    from credimi.counts.counts import Counts
    from credimi.counts.reading import Reading
    from credimi.counts.request import CountRequest
    from credimi.counts.saved.counted_files import finished, fresh
    from credimi.sources.count import with_target_cuts
    from credimi.sources.files import names

    options = asked.options
    before = Counts.load(options.into) if Path(options.into).exists() else None
    target = options.target or (before.target if before is not None else None)
    if target is None:
        raise CredimiError("name the target: --target COLUMN")
    with asked.worded():
        request = CountRequest.of(target, Reading(**asked.given))
    offered = names(files, request.delimiter)
    if before is None:
        request = with_target_cuts(files, request, peek=False)
    else:
        _check_settings(before, request, asked)
        _check_columns(before, offered, files[0], request, options.into)
        request = replace(request, features=before.features, exclude=None, settings=before.settings)
    plan = request.plan(offered)
    sources = [file.source for file in files]
    counted_sources = before.sources if before is not None else ()
    identities = [file.identity for file in files]
    new_sources = fresh(sources, counted_sources, options.into, force=options.force, identities=identities)
    if len(new_sources) < len(files):
        counted_before = len(files) - len(new_sources)
        asked.say(f"{counted_before:,} of {len(files):,} files were counted before the last call ended")
    new = [file for file in files if file.source in new_sources]
    asked.announce()
    with asked.progress() as progress:
        total = _total(before, new, replace(request, progress=progress), plan, options.into)
    if not total.rows:  # such a file would only hold the names of columns, and refuse others
        raise CredimiError(f"{files[0]} has no rows: nothing is counted, and {options.into} is not written")
    total = replace(total, sources=finished(total.sources, sources))
    total.save(options.into)
    rows = total.rows - (before.rows if before is not None else 0)
    added = f", {round(rows, 3):,} of them new" if before is not None else ""
    asked.say(
        f"{options.into}: {sentences.counted(total.rows, 'row')}{added}, {sentences.counted(len(total), 'feature')}"
    )


def _check_settings(before: Counts, request: CountRequest, asked: Asked) -> None:
    """Refuse settings other than those of the first call, which stay in force."""
    into = asked.options.into
    if request.target != before.target:
        raise CredimiError(f"{into} counts the target {before.target!r}, not {request.target!r}: name another file")
    if {*asked.given} & _SETTINGS and request.settings != before.settings:
        raise CredimiError(
            f"{into} was counted with another --missing, --discretize, --target-cuts, --weights or "
            "--weights-are: leave them out to keep those of the first call, or name another file"
        )


def _check_columns(before: Counts, offered: list[str], file: DataFile, request: CountRequest, into: str) -> None:
    """Refuse columns other than those of the first call, and say which side lacks one."""
    from credimi.core.arguments import unknown
    from credimi.counts.request import columns_of

    counted_columns, offered_names = dict.fromkeys(before.features), set(offered)
    for name in request.features or ():
        if name not in counted_columns:
            raise CredimiError(unknown(name, before.features, into))
    for name in (before.target, *counted_columns):
        if name not in offered_names:
            raise CredimiError(unknown(name, offered, f"{file}, and {into} counts it"))
    for name in request.exclude or ():
        if name not in offered_names:
            raise CredimiError(unknown(name, offered, str(file)))
    if request.features or request.exclude:
        without_weights = [name for name in offered if name != before.settings.weights]
        columns = columns_of(without_weights, before.target, request.features, request.exclude)
        _check_same(columns, list(counted_columns), file, into)


def _check_same(columns: list[str], counted_columns: list[str], file: DataFile, into: str) -> None:
    """Refuse to add columns other than those counted before."""
    left_out, added = sorted(set(counted_columns) - set(columns)), sorted(set(columns) - set(counted_columns))
    if left_out:
        raise CredimiError(
            f"{into} counts the column {left_out[0]!r}, which is left out here: count the same columns, or remove "
            "--features and --exclude"
        )
    if added:
        raise CredimiError(
            f"{into} does not count the column {added[0]!r} of {file}: leave it out here, too, or remove --exclude"
        )


def _total(before: Counts | None, files: list[DataFile], request: CountRequest, plan: Plan, into: str) -> Counts:
    """All counts; they are also saved to the file from time to time."""
    from credimi.counts.batch import counted
    from credimi.counts.request import checked
    from credimi.sources.count import tallies

    total, files_left, next_save = before, len(files), time.monotonic() + SAVE_EVERY
    for done, counts in tallies(files, plan, request):
        sources = tuple(replace(file.source, unfinished=True) for file in done)
        counts = replace(counts, sources=sources)  # noqa: PLW2901  (the same counts, and what they came from)
        total = checked(counts if total is None else total + counts, plan)
        files_left -= len(done)
        began = time.monotonic()
        if files_left and began >= next_save:
            total.save(into)
            next_save = time.monotonic() + max(SAVE_EVERY, 10.0 * (time.monotonic() - began))
    return counted([], plan) if total is None else total


COMMAND = Command(
    name="count",
    text=__doc__,
    summary="count data into a file that later calls extend",
    functions=("count",),
    doing="counting",
    options=(
        Option(
            "--into",
            "the counts file; counts it holds are added to",
            "output",
            {"metavar": "COUNTS", "required": True},
        ),
        Option("--force", "count files even if they were counted before", "output", {"action": "store_true"}),
    ),
    formats=(),
    output="",
    answer=_answer,
)
