"""`credimi select`: writes the same rows with only the columns that a filter keeps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from credimi.cli import options as shared
from credimi.cli import terminal_io
from credimi.cli.rank import ranked
from credimi.core.atomic_files import replacing
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    import argparse

    from credimi.core.types import Foreign

_EXAMPLES = """\
rules: forward keeps what is surely informative, P(I > epsilon) >= level;
backward drops what is surely not; plugin uses the estimate alone; fdr keeps as
many as it can while at most a share --fdr of them is expected to be noise.

exit codes: 0, or 3 if no feature is kept; the file then has the target alone.

examples:
  credimi select survey.csv --target income --output reduced.csv
  credimi select survey.csv --target income --top 10 --output reduced.csv
  credimi select old.parquet --target income --rule plugin --output new.parquet
"""

_NAMED = 10  # features named in the last line
_NOTHING_KEPT = 3  # the exit code


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "select",
        run,
        summary="write the data with only the informative columns",
        description="Write the same rows with the target and the columns that a filter keeps.",
        epilog=_EXAMPLES,
    )
    shared.add_data_options(parser)
    shared.add_posterior_options(parser)
    shared.add_ranking_options(parser)
    parser.add_argument(
        "--rule", choices=["forward", "backward", "plugin", "fdr"], default="forward", help="(default: %(default)s)"
    )
    shared.add_order(parser)
    parser.add_argument(
        "--top", type=shared.positive, metavar="K", help="keep the first K of those that the rule keeps"
    )
    parser.add_argument("--output", metavar="REDUCED", required=True, help="the file to write, in the input's format")


def run(options: argparse.Namespace) -> int:
    """Rank, then copy the columns that are kept."""
    from credimi.counting.engines import files

    if options.output == "-":
        raise CredimiError("select writes a file, not standard output: name it with --output")
    given = shared.files(options, twice=True)
    if len(given) != 1:
        raise CredimiError(f"select writes one file and was given {len(given)}: call it for each, or join them first")
    data = given[0]
    if data.is_counts:
        raise CredimiError(f"{data} holds counts, not rows: name the data")
    output = Path(options.output)
    shared.check_output(options.output, [data.identity])
    files.check_format(data, output)
    ranking = ranked(options, given)
    kept = set(ranking.selected(options.rule)[: options.top])
    wanted = [name for name in data.names if name in kept or name == options.target]
    with replacing(output) as temporary:
        files.copy_columns(data, wanted, temporary, output.suffix)
    listed = [name for name in wanted if name != options.target]
    if not listed:
        terminal_io.say(
            f"no feature is kept by the rule {options.rule}: {output} has the target {options.target!r} alone"
        )
        return _NOTHING_KEPT
    names = ", ".join(map(repr, listed[:_NAMED])) + (", ..." if len(listed) > _NAMED else "")
    terminal_io.say(
        f"{output}: {len(kept):,} of {shared.features(len(ranking))} kept by the rule {options.rule}: {names}"
    )
    return 0
