"""`credimi count`: counts kept in a file, extended by later calls; `credimi rank` reads them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credimi.cli import options as shared
from credimi.errors import CredimiError

if TYPE_CHECKING:
    import argparse

_EXAMPLES = """\
examples:
  credimi count january.csv --target churn --into churn.counts
  credimi count february.csv --target churn --into churn.counts    # adds
  credimi rank churn.counts
"""


def add(commands: Any) -> None:  # noqa: ANN401  (argparse keeps its type to itself)
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
    parser.add_argument("--into", metavar="COUNTS", required=True, help="the file; if it holds counts, these are added")


def run(options: argparse.Namespace) -> None:
    """Count, add, and write the sum."""
    from credimi.counts import Counts  # noqa: PLC0415  (numpy and pyarrow load only for a command that needs them)
    from credimi.engines.door import count  # noqa: PLC0415
    from credimi.storage import is_counts  # noqa: PLC0415

    paths = shared.paths(options)
    shared.check_output(options.into, [])
    for path in paths:
        if is_counts(path):
            raise CredimiError(f"{path} holds counts, not data: `credimi rank` takes several files of counts, and adds")
    before = Counts.load(options.into) if Path(options.into).exists() else None
    target = options.target or (before.target if before is not None else None)
    if target is None:
        raise CredimiError("name the target: --target COLUMN")
    given = shared.counting(options)
    if before is not None:
        if target != before.target:
            raise CredimiError(f"{options.into} counts the target {before.target!r}, not {target!r}: name another file")
        kept = {"missing_values": before.settings.missing_values, "discretize": before.settings.discretize}
        if (options.missing or options.discretize) and kept != {name: given[name] for name in kept}:
            raise CredimiError(
                f"{options.into} was counted with another --missing or --discretize: leave them out, which keeps "
                "those of the first call, or name another file"
            )
        given |= kept  # those of the first call hold on
        if options.features is None:
            given["features"] = list(before.features)
    shared.announce_compiling()
    with shared.progress("counting") as told:
        counted = count(paths, target, **given, progress=told)
    total = counted if before is None else before + counted
    total.save(options.into)
    added = f", {counted.rows:,} of them new" if before is not None else ""
    print(f"credimi: {options.into}: {total.rows:,} rows{added}, {shared.features(len(total))}", file=sys.stderr)
