"""`credimi count`: counts kept in a file, extended by later calls; `credimi rank` reads them.

The file names the files that were counted, so that none is added twice. Of several, it is written again and again
while they are counted, each time whole: a call that was killed leaves what it had written last, and made again, counts
the rest. Writing takes at most a tenth of the time, however large the counts are. Two calls at once would lose what one
of them adds: the second is refused.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.cli import options as shared
from credimi.cli import startup, terminal_io
from credimi.cli import terminal_io as terminal_io_module
from credimi.core.atomic_files import locked
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    import argparse

    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign, Record
    from credimi.counting.counted_files import CountedFile
    from credimi.counting.counts import Counts
    from credimi.counting.request import Plan

_EXAMPLES = """\
examples:
  credimi count january.csv --target churn --into churn.counts
  credimi count february.csv --target churn --into churn.counts    # adds
  credimi rank churn.counts
"""
SAVE_EVERY = 5.0  # seconds, or ten times as long as it takes


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "count",
        run,
        summary="count data into a file that later calls extend",
        description="Count a target with every column, and keep the counts: all that ranking needs.",
        epilog=_EXAMPLES,
    )
    shared.add_data_options(parser)
    shared.add_engine_options(parser)
    parser.add_argument("--into", metavar="COUNTS", required=True, help="the file; if it holds counts, these are added")
    parser.add_argument("--force", action="store_true", help="count files again that were counted into it before")


def run(options: argparse.Namespace) -> None:
    """Count, add, and write the sum."""
    from credimi.counting.counts_file import is_counts

    paths = shared.paths(options)
    for path in paths:
        if is_counts(path):
            raise CredimiError(f"{path} holds counts, not data: `credimi rank` takes several files of counts, and adds")
    shared.check_output(options.into, paths)
    with locked(options.into):
        _extend(paths, options)


def _extend(paths: list[Place], options: argparse.Namespace) -> None:
    """Read the counts that are there, and write the sum; nobody else may in between."""
    from credimi.columns.reading_options import ReadingOptions
    from credimi.counting.counted_files import CountedFile, finished, fresh
    from credimi.counting.counts import Counts
    from credimi.counting.engines import files
    from credimi.counting.request import Plan

    before = Counts.load(options.into) if Path(options.into).exists() else None
    target = options.target or (before.target if before is not None else None)
    if target is None:
        raise CredimiError("name the target: --target COLUMN")
    options.target = target
    given = shared.counting(options)
    offered = files.names(paths, options.delimiter)
    if before is not None:
        given |= _kept_settings(before, given, options)
        given |= _kept_columns(before, offered, paths[0], given, options.into)
    settings = ReadingOptions.of(given["missing_values"], given["discretize"])
    chosen = {name: given[name] for name in ("exclude", "delimiter")}
    chosen["named"] = options.features is not None  # and not those that the file counts already
    plan = Plan.of(offered, target, given["features"], settings, options.max_levels, **chosen)
    named = {path: CountedFile.of(path) for path in paths}
    known = before.sources if before is not None else ()
    left = fresh([named[path] for path in paths], known, options.into, force=options.force)
    if len(left) < len(paths):
        done = len(paths) - len(left)
        terminal_io.say(f"{done:,} of {len(paths):,} files were counted before the last call ended")
    new = [path for path in paths if named[path] in left]
    total = _total(before, new, plan, named, options)
    total = replace(total, sources=finished(total.sources, named.values()))
    total.save(options.into)
    rows = total.rows - (before.rows if before is not None else 0)
    added = f", {rows:,} of them new" if before is not None else ""
    terminal_io.say(f"{options.into}: {total.rows:,} rows{added}, {shared.features(len(total))}")


def _kept_settings(before: Counts, given: Record, options: argparse.Namespace) -> Record:
    """The settings of the first call, which hold on; others are refused."""
    if options.target != before.target:
        raise CredimiError(
            f"{options.into} counts the target {before.target!r}, not {options.target!r}: name another file"
        )
    kept = {"missing_values": before.settings.missing_values, "discretize": before.settings.discretize}
    if (options.missing or options.discretize) and kept != {name: given[name] for name in kept}:
        raise CredimiError(
            f"{options.into} was counted with another --missing or --discretize: leave them out, which keeps "
            "those of the first call, or name another file"
        )
    return kept


def _kept_columns(before: Counts, offered: list[str], path: Place, given: Record, into: str) -> Record:
    """The columns of the first call, which hold on; where others are asked for, it is said which side lacks one."""
    from credimi.counting.counts import unknown
    from credimi.counting.request import columns_of

    kept, new = dict.fromkeys(before.features), set(offered)
    for name in given["features"] or ():
        if name not in kept:
            raise CredimiError(unknown(name, before.features, into))
    for name in (before.target, *kept):
        if name not in new:
            raise CredimiError(unknown(name, offered, f"{path}, and {into} counts it"))
    for name in given["exclude"] or ():
        if name not in new:
            raise CredimiError(unknown(name, offered, path))
    if given["features"] or given["exclude"]:
        asked = columns_of(offered, before.target, given["features"], given["exclude"])
        _check_same(asked, list(kept), path, into)
    return {"features": list(kept), "exclude": None}


def _check_same(asked: list[str], kept: list[str], path: Place, into: str) -> None:
    """Refuse to add other columns than were counted before."""
    less, more = sorted(set(kept) - set(asked)), sorted(set(asked) - set(kept))
    if less:
        raise CredimiError(
            f"{into} counts the column {less[0]!r}, which is left out here: count the same columns, or leave "
            "--features and --exclude out"
        )
    if more:
        raise CredimiError(
            f"{into} does not count the column {more[0]!r} of {path}: leave it out here, too, or leave --exclude out"
        )


def _total(
    before: Counts | None, paths: list[Place], plan: Plan, named: dict[Place, CountedFile], options: argparse.Namespace
) -> Counts:
    """All counts, also kept in the file now and then."""
    from credimi.counting.batch import counted
    from credimi.counting.engines.dispatch import tallies
    from credimi.counting.request import checked

    startup.announce_compiling()
    total, left, due = before, len(paths), time.monotonic() + SAVE_EVERY
    with terminal_io_module.progress("counting") as told:
        for done, counts in tallies(paths, plan, threads=options.threads, progress=told, **shared.engine(options)):
            sources = tuple(replace(named[path], unfinished=True) for path in done)
            counts = replace(counts, sources=sources)  # noqa: PLW2901  (the same counts, and what they came from)
            total = checked(counts if total is None else total + counts, plan)
            left -= len(done)
            began = time.monotonic()
            if left and began >= due:
                total.save(options.into)
                due = time.monotonic() + max(SAVE_EVERY, 10.0 * (time.monotonic() - began))
    return counted([], plan) if total is None else total
