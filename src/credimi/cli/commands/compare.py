"""`credimi compare`: which columns are more or less informative in a second sample; and `credimi rank --by`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from credimi.cli import argument_types, command_files, standard_input, startup, terminal_io
from credimi.cli import options as shared
from credimi.core.errors import CredimiError
from credimi.core.remote_files import identity
from credimi.results import sentences

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from credimi.core.types import Foreign
    from credimi.sources.data_file import DataFile

_EXAMPLES = """\
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


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "compare",
        run,
        summary="which columns are more or less informative in a second sample, and how surely",
        description="Compare what columns tell about a target in two samples, A and B.",
        epilog=_EXAMPLES,
    )
    shared.add_data_options(parser, samples=True, engines=True)
    shared.add_thresholds(
        parser,
        epsilon_means="least change that counts, in nats",
        level_means="probability of intervals and verdicts",
    )
    add_p_same(parser)
    shared.add_missing_as(parser)
    shared.add_units(parser)
    parser.add_argument(
        "--top", type=argument_types.positive, metavar="N", help="show only the first N (with --format table)"
    )
    shared.add_output_options(parser)
    parser.add_argument("--html", metavar="PAGE", help="write a page that shows the comparison in a browser, offline")


def add_p_same(parser: argparse.ArgumentParser, start: str = "") -> None:
    """Add the option for the prior probability that nothing has changed."""
    parser.add_argument(
        "--p-same",
        type=argument_types.number,
        default=0.95,
        help=f"{start}probability beforehand that a column tells as much in both (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> None:
    """Print the comparison."""
    from credimi.core.arguments import require_share
    from credimi.core.remote_files import source_of
    from credimi.questions.compare.compare import compare

    shared.check_thresholds(options)
    require_share("--p-same", options.p_same)
    command_files.check_outputs(options)
    paths = [options.a, options.b]
    samples = _samples(paths, options)
    paths = [standard_input.NAME if path == "-" else path for path in paths]
    if paths[0] == paths[1]:
        terminal_io.say(f"{paths[0]} is compared with itself: A and B should have different rows")
    startup.announce_compiling(options.command)
    names = [source_of([path]) or path for path in paths]
    names = names if names[0] != names[1] else paths
    data_options = [option for option in ("features", "exclude", "missing", "discretize") if getattr(options, option)]
    is_ranking = [isinstance(sample, Path) for sample in samples]
    if data_options and any(is_ranking):
        raise CredimiError(f"{paths[is_ranking.index(True)]} is already a ranking: --{data_options[0]} is for data")
    first, second = samples
    comparison = compare(
        first,
        second,
        options.target,
        epsilon=options.epsilon,
        level=options.level,
        p_same=options.p_same,
        missing_as=options.missing_as,
        names=names,
        threads=options.threads,
    )
    if options.html is not None:
        comparison.to_html(options.html, reader=sentences.COMMAND_LINE)
    terminal_io.write_shown(comparison, options, options.output, known=("classes", "samples"))


def _samples(paths: Sequence[str], options: argparse.Namespace) -> list[Foreign]:
    """Both samples. A file of counts is read first, because it knows the target."""
    files = [
        None if Path(path).suffix.lower() == ".json" else command_files.files_of([path], options) for path in paths
    ]
    samples: dict[int, Foreign] = {}
    for index in sorted((0, 1), key=lambda index: not any(file.is_counts for file in files[index] or ())):
        samples[index] = _sample(paths[index], files[index], options)
        if options.target is None:
            options.target = getattr(samples[index], "target", None)
    return [samples[0], samples[1]]


def _sample(path: str, files: list[DataFile] | None, options: argparse.Namespace) -> Foreign:
    """The counts of one sample, or the path of a ranking."""
    from credimi.cli.commands.rank import counted

    if files is None:
        for output in (options.output, options.html):
            command_files.check_output(output, [identity(path)])
        return Path(path)
    try:
        return counted(options, files)
    except CredimiError as error:
        if path in str(error) or options.target is None:
            raise
        name = standard_input.NAME if path == "-" else path
        raise CredimiError(f"{name}: {error}") from error  # which of the two samples


def run_groups(options: argparse.Namespace) -> None:
    """`credimi rank --by`: print the ranking of each group, and the comparisons."""
    from credimi.cli.commands.rank import check_factor
    from credimi.core.arguments import require_share
    from credimi.questions.compare.rank_by import rank_by

    shared.check_thresholds(options)
    require_share("--p-same", options.p_same)
    check_factor(options)
    if options.plot is not None or options.format == "csv":
        raise CredimiError("--by writes tables, JSON and a page: leave out --plot and --format csv")
    if options.engine not in {None, "files"}:
        raise CredimiError(f"groups are counted in this process: leave out the engine {options.engine!r}")
    if options.prior != "adaptive" or options.approximation != "matched":
        raise CredimiError("--by needs the prior adaptive and the approximation matched: leave out the others")
    command_files.check_outputs(options)
    files = command_files.files_with_rows(options)
    shared.require_target(options)
    startup.announce_compiling(options.command)
    with terminal_io.progress("counting") as progress:
        grouped = rank_by(
            files,
            options.target,
            options.by,
            epsilon=options.epsilon,
            level=options.level,
            fdr=options.fdr,
            p_same=options.p_same,
            missing_as=options.missing_as,
            robust_factor=options.robust_factor,
            progress=progress,
            max_values=options.max_values,
            **shared.counting(options),
        )
    if options.html is not None:
        grouped.to_html(options.html, reader=sentences.COMMAND_LINE)
    terminal_io.write_shown(grouped, options, options.output)
