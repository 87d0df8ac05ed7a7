"""`credimi select`: the same rows with the columns that a filter keeps."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from credimi.cli import options as shared
from credimi.cli.rank import ranked
from credimi.errors import CredimiError
from credimi.output import replacing

_EXAMPLES = """\
rules: forward keeps what is surely informative, P(I > epsilon) >= level;
backward drops what is surely not; plugin goes by the estimate alone.

examples:
  credimi select survey.csv --target income --output reduced.csv
  credimi select survey.parquet --target income --rule backward --output reduced.parquet
"""


def add(commands: Any) -> None:  # noqa: ANN401  (argparse keeps its type to itself)
    """Add the command to the parser."""
    parser = commands.add_parser(
        "select",
        help="write the data with the informative columns only",
        description="Write the same rows, the target and those columns that a filter keeps.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    shared.add_data_options(parser)
    shared.add_posterior_options(parser)
    parser.add_argument(
        "--rule", choices=["forward", "backward", "plugin"], default="forward", help="(default: %(default)s)"
    )
    parser.add_argument("--output", metavar="REDUCED", required=True, help="the file to write, in the input's format")


def run(options: argparse.Namespace) -> None:
    """Rank, then copy the columns that stay."""
    from credimi.engines import files  # noqa: PLC0415

    paths = files.paths_of(list(options.data))
    if len(paths) != 1:
        raise CredimiError(f"select writes one file and was given {len(paths)}: call it for each, or join them first")
    if Path(options.output).exists() and Path(options.output).samefile(paths[0]):
        raise CredimiError(f"{options.output} is the input: name another file")
    ranking = ranked(options)
    kept = set(ranking.selected(options.rule))
    wanted = [name for name in files.names(paths) if name in kept or name == options.target]
    with replacing(options.output) as temporary:
        files.copy_columns(paths[0], wanted, temporary)
    print(
        f"credimi: {options.output}: {len(kept)} of {len(ranking)} features kept by the rule {options.rule}",
        file=sys.stderr,
    )
