"""`credimi table`: the posterior of one contingency table, given as text, in a file or on standard input."""

from __future__ import annotations

import json
import math
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.cli import options as shared
from credimi.cli import startup, terminal_io
from credimi.core.atomic_files import write
from credimi.core.errors import CredimiError
from credimi.core.remote_files import identity
from credimi.report.terminal import probability

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from rich.console import Console
    from rich.table import Table as Grid

    from credimi.core.types import Foreign, Record
    from credimi.inference.distributions.distribution import Distribution
    from credimi.inference.posterior import Posterior

_ADAPTIVE = "adaptive"  # as in credimi.inference.fixed_priors, which is not imported to keep `--help` fast
_LARGEST = 1 << 24  # bytes of a table's text
_EXAMPLES = """\
a table is text: one row per target class, one column per feature value, numbers
separated by blanks or commas, rows by ';' or new lines. The lines
'target-only: 4 1' and 'feature-only: 0 2' give the counts of data rows with a
missing value, and '#' starts a comment.

examples:
  credimi table "10 2; 3 15"
  credimi table "10 2; 3 15" --target-only "4 1" --feature-only "0 2"
  credimi table counts.txt --prior uniform --approximation leading --format json
  echo "10 2; 3 15" | credimi table -
"""


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    parser = shared.add_command(
        commands,
        "table",
        run,
        summary="posterior of the mutual information of one contingency table",
        description="The posterior of the mutual information of one table, missing values included.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "table", metavar="TABLE", help='the counts ("10 2; 3 15"), a file that holds them, or - for standard input'
    )
    parser.add_argument("--target-only", metavar="COUNTS", help="one count per row: data rows whose feature is missing")
    parser.add_argument(
        "--feature-only", metavar="COUNTS", help="one count per column: data rows whose target is missing"
    )
    shared.add_posterior_options(parser)
    parser.add_argument(
        "--format", choices=["table", "json"], default="table", help="output format (default: %(default)s)"
    )
    parser.add_argument("--output", metavar="FILE", help="the file to write (default, or -: standard output)")


def run(options: argparse.Namespace) -> None:
    """Print the posterior of one table."""
    shared.check_output(options.output, [identity(Path(options.table))] if _is_file(options.table) else [])
    joint, margins = _read_table(options.table)
    for name in ("target_only", "feature_only"):
        text = getattr(options, name)
        if text is not None:
            if name in margins:
                raise CredimiError(
                    f"{_option(name)} is given both in {options.table} and as an option: keep one of them"
                )
            margins[name] = _numbers(text, _option(name))
    shared.check_thresholds(options)
    prior = shared.prior(options.prior)
    startup.announce_compiling()
    from credimi.core.table import Table
    from credimi.inference.mutual_information import mutual_information
    from credimi.inference.posterior import posterior

    table = Table.of(joint, margins.get("target_only"), margins.get("feature_only"))
    chances = posterior(table, prior="jeffreys" if prior == _ADAPTIVE else prior)
    information = mutual_information(table, prior=prior, approximation=options.approximation, random_state=options.seed)
    low, high = information.interval(options.level)
    report = {
        "mean": information.mean(),
        "std": information.std(),
        "low": low,
        "high": high,
        "p_above": information.sf(options.epsilon),
        "p_independent": information.p_zero,
        "mode": chances.mode.tolist(),
        "rows": chances.table.rows,
        "settings": {
            "prior": prior,
            "approximation": options.approximation,
            "epsilon": options.epsilon,
            "level": options.level,
            "units": options.units,
        },
    }
    if options.units == "bits":
        report |= {name: report[name] / math.log(2.0) for name in ("mean", "std", "low", "high")}
    if options.format == "json":
        write(json.dumps(report, indent=2) + "\n", options.output)
    else:
        console = terminal_io.console(options.output)
        terminal_io.show(_grids(report, chances, information, console), options.output, console)


def _grids(report: Record, chances: Posterior, information: Distribution, console: Console) -> Iterator[Grid | str]:
    """The report, laid out for a screen."""
    from rich.table import Table as Grid

    settings = report["settings"]
    unit = settings["units"]
    table = chances.table
    rows, columns = table.shape
    summary = Grid(title=f"Mutual information, {rows} x {columns} table", show_header=False, title_justify="left")
    summary.add_row(
        "rows", f"{table.rows:,.10g} ({_holes(table.joint.sum(), table.target_only.sum(), table.feature_only.sum())})"
    )
    summary.add_row("mean", f"{report['mean']:.4g} {unit}")
    summary.add_row("standard deviation", f"{report['std']:.4g} {unit}")
    summary.add_row(f"{100 * settings['level']:g} % interval", f"{report['low']:.4g} to {report['high']:.4g} {unit}")
    if settings["prior"] == _ADAPTIVE:
        summary.add_row("P(independent)", probability(report["p_independent"], report["std"]))
    summary.add_row(f"P(I > {settings['epsilon']:g} nats)", probability(report["p_above"], report["std"]))
    lowest, highest = information.support()
    if math.isfinite(highest):
        scale = math.log(2.0) if unit == "bits" else 1.0
        summary.add_row("possible range", f"{lowest / scale:.4g} to {highest / scale:.4g} {unit}")
    if min(rows, columns) == 1:
        summary.add_row("note", "one row or one column: there is nothing to depend on (rows are separated by ';')")
    summary.add_row("prior, approximation", f"{settings['prior']}, {settings['approximation']}")
    mode = _mode_grid(report["mode"], settings["prior"]) if rows <= 30 and columns <= 12 else None
    unbounded = console.options.update(width=1_000)
    yield summary
    if mode is not None and console.measure(mode, options=unbounded).maximum <= console.width:
        yield mode
    else:
        yield "(the mode of the cell probabilities is not shown here: see --format json)"


def _mode_grid(chances: list[list[float]], prior: str | float) -> Grid:
    from rich.table import Table as Grid

    with_prior = ", prior jeffreys" if prior == _ADAPTIVE else ""  # the cell probabilities have no adaptive prior
    grid = Grid(title=f"Mode of the chances{with_prior}", title_justify="left")
    grid.add_column("class \\ value")
    for column in range(len(chances[0])):
        grid.add_column(str(column + 1), justify="right")
    for row, values in enumerate(chances, 1):
        grid.add_row(str(row), *(f"{value:.4f}" for value in values))
    return grid


def _holes(complete: float, target_only: float, feature_only: float) -> str:
    return (
        f"{complete:,.10g} complete, {target_only:,.10g} without the feature, {feature_only:,.10g} without the target"
    )


def _read_table(source: str) -> tuple[list[list[float]], dict[str, list[float]]]:
    """The rows of counts, and the margins that the text gives."""
    text, name = _table_text(source)
    several = "\n" in text.strip()
    margins: dict[str, list[float]] = {}
    joint: list[list[float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{name}, line {number}" if several else name
        for part in filter(str.strip, line.split("#", 1)[0].split(";")):
            key, colon, values = part.partition(":")
            if not colon:
                joint.append(_numbers(part, place))
                continue
            margin = key.strip().replace("-", "_")
            if margin not in {"target_only", "feature_only"}:
                raise CredimiError(f"{place}: {key.strip()!r} is not known: use 'target-only:' or 'feature-only:'")
            if margin in margins:
                raise CredimiError(f"{place}: {_option(margin)} is given twice: keep one of them")
            margins[margin] = _numbers(values, place)
    if not joint:
        raise CredimiError(f"{name} holds no counts: give one row per target class, such as 10 2")
    for row, counts in enumerate(joint, 1):
        if len(counts) != len(joint[0]):
            raise CredimiError(
                f"{name}: row {row} has {len(counts)} counts, row 1 has {len(joint[0])}: "
                "every row needs one count per column"
            )
    return joint, margins


def _table_text(source: str) -> tuple[str, str]:
    """The text that TABLE means, and its name for messages."""
    if source == "-":
        return _input_text(), "standard input"
    if not source.strip():
        raise CredimiError('the table is empty: pass counts such as "10 2; 3 15", a file name, or - for standard input')
    if _is_file(source) or not _looks_like_counts(source):
        return _file_text(source), source
    return source, "the table"


def _is_file(source: str) -> bool:
    with suppress(OSError):  # a long table is no file name: "File name too long"
        return Path(source).is_file()
    return False


def _looks_like_counts(text: str) -> bool:
    """Counts rather than the name of a file: something in it is a number."""
    return any(shared.is_number(word) for word in text.replace(";", " ").replace(",", " ").split())


def _input_text() -> str:
    if sys.stdin is None:
        raise CredimiError("standard input is closed: pipe the counts into credimi, or name a file")
    return _decoded(sys.stdin.buffer.read(_LARGEST + 1), "standard input")


def _file_text(path: str) -> str:
    try:
        with Path(path).open("rb") as file:  # a device may never end
            return _decoded(file.read(_LARGEST + 1), path)
    except FileNotFoundError:
        raise CredimiError(f'{path}: no such file; counts are written like "10 2; 3 15"') from None
    except OSError as error:
        raise CredimiError(f"{path} cannot be read: {error.strerror or error}") from None


def _decoded(content: bytes, name: str) -> str:
    if len(content) > _LARGEST:
        raise CredimiError(f"{name} is larger than {_LARGEST >> 20} MiB, too large for a table: check the name")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CredimiError(f"{name} is not text in UTF-8 (byte {error.start}): save it as UTF-8 text") from None


def _numbers(text: str, place: str) -> list[float]:
    if not text.strip():
        raise CredimiError(f"{place} holds no counts: give numbers separated by blanks or commas")
    fields = [field.split() for field in text.split(",")]
    if [] in fields:
        raise CredimiError(f"{place}: a comma in {text.strip()!r} has no number beside it: write 0 for no count")
    words = [word for field in fields for word in field]
    for word in words:
        if not (shared.is_number(word) and 0.0 <= float(word) < math.inf):
            raise CredimiError(
                f"{place}: {word!r} is not a count: counts are numbers from 0 up, separated by blanks or commas"
            )
    return [float(word) for word in words]


def _option(name: str) -> str:
    return name.replace("_", "-")
