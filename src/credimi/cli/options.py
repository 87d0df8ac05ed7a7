"""What several commands share: options, what they print where, and how they say that they are working."""

from __future__ import annotations

import argparse
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from credimi.cli.terminal_io import say
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from credimi.core.types import Foreign, Record, Values
    from credimi.counting.engines.data_file import DataFile


class Parser(argparse.ArgumentParser):
    """Refuses in one line, as the commands do themselves; the usage, which may fill a screen, is left to --help."""

    listing: str | None = None  # the option whose list of columns was read

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        if self.listing and "required: DATA" in message:
            message += f"; {self.listing} takes all words up to the next option: put DATA before it, or -- between them"
        say(f"{message} (see {self.prog} --help)")
        self.exit(2)


class _Columns(argparse.Action):
    """A list of columns; which is remembered, as it may have taken DATA for one of them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Values,
        option_string: str | None = None,
    ) -> None:
        """Keep the list."""
        setattr(namespace, self.dest, values)
        if isinstance(parser, Parser):
            parser.listing = option_string


def add_command(
    commands: Foreign,
    name: str,
    run: Callable[[argparse.Namespace], None],
    *,
    summary: str,
    description: str,
    epilog: str,
) -> argparse.ArgumentParser:
    """Add one command, which `run` carries out."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run, refuse=parser.error)
    return parser


def add_posterior_options(
    parser: argparse.ArgumentParser, *, seed_for: str = "--approximation sampled", units: bool = True
) -> None:
    """Add prior, approximation, threshold, level, seed and units."""
    parser.add_argument(
        "--prior",
        default="adaptive",
        help="adaptive, which knows independence, or pseudo-counts a cell: uniform 1, jeffreys 1/2, perks 1/rs, "
        "haldane 0, or a number (default: %(default)s)",
    )
    parser.add_argument(
        "--approximation",
        default="matched",
        help="matched, leading (the paper's Gaussian), leading-beta or sampled (default: %(default)s)",
    )
    parser.add_argument(
        "--epsilon", type=number, default=0.003, help="threshold of P(I > epsilon), in nats (default: %(default)s)"
    )
    parser.add_argument("--level", type=number, default=0.95, help="of the credible interval (default: %(default)s)")
    parser.add_argument("--seed", type=seed, default=0, help=f"for {seed_for} (default: %(default)s)")
    if units:
        parser.add_argument(
            "--units",
            choices=["nats", "bits"],
            default="nats",
            help="of the printed information (default: %(default)s)",
        )


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add how results are printed, and where."""
    parser.add_argument(
        "--format", choices=["table", "json", "csv"], default="table", help="of the output (default: %(default)s)"
    )
    parser.add_argument("--output", metavar="FILE", help="write there; - or nothing is standard output")


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add what says which data are meant, and how they are read."""
    parser.add_argument("data", metavar="DATA", nargs="+", help="CSV or Parquet files, directories, patterns, URLs")
    parser.add_argument("--target", metavar="COLUMN", help="the column that is to be known")
    chosen = parser.add_mutually_exclusive_group()
    listed: Record = {"metavar": "COLUMN", "nargs": "+", "action": _Columns}
    chosen.add_argument("--features", help="the columns to look at (default: all others)", **listed)
    chosen.add_argument("--exclude", help="columns to leave out", **listed)
    parser.add_argument(
        "--missing",
        metavar="TOKEN",
        action="append",
        default=[],
        help='one more text or number that means missing, besides empty fields, "?", NA, NaN and null; may be repeated',
    )
    parser.add_argument(
        "--discretize",
        metavar="[COLUMN=]METHOD",
        action="append",
        default=[],
        help="how numbers become categories: mdl (default), quantile, categories, none to refuse them, or cuts such as "
        "age=18,65 or visit=2024-02-29; may be repeated",
    )
    parser.add_argument(
        "--delimiter",
        type=delimiter,
        metavar="CHARACTER",
        help="between the fields of CSV files, in quotes where the shell wants it; tab, space and \\x01 may be written "
        "so (default: the commonest of , ; tab | in the header)",
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="(default: all cores)")


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add who counts, and what is too much."""
    parser.add_argument(
        "--max-levels", type=positive, metavar="N", help="refuse a column of more categories (default: no limit)"
    )
    parser.add_argument(
        "--engine",
        choices=["files", "duckdb", "dask", "spark"],
        help="who counts the files: this process (files, the default), DuckDB in it, or the workers of a cluster, "
        "which see the same paths",
    )
    parser.add_argument("--master", metavar="URL", help="of Spark: spark://HOST:PORT, local[4], sc://HOST of Connect")
    parser.add_argument("--scheduler", metavar="URL", help="of Dask: tcp://HOST:PORT")


def engine(options: argparse.Namespace) -> Record:
    """The options of `add_engine_options`, where a command has them, as `credimi.count` takes them."""
    return {name: getattr(options, name, None) for name in ("engine", "master", "scheduler")}


def add_ranking_options(parser: argparse.ArgumentParser) -> None:
    """Add the false-discovery rate, and what a hole is taken for."""
    parser.add_argument(
        "--missing-as",
        choices=["ignore", "category"],
        default="ignore",
        help="a hole in a feature is a value not known, or one more value (default: %(default)s)",
    )
    parser.add_argument(
        "--fdr",
        type=number,
        default=0.05,
        help="expected share of noise among what the rule fdr keeps (default: %(default)s)",
    )


def check_thresholds(options: argparse.Namespace) -> None:
    """Refuse, before the data are read, an epsilon, a level or a rate that cannot be meant."""
    from credimi.core.arguments import require_information, require_share

    require_information("--epsilon", _as_typed(options.epsilon))
    if options.level is not None:  # of some commands it depends on what is asked
        require_share("--level", _as_typed(options.level))
    if hasattr(options, "fdr"):  # not an option of all commands
        require_share("--fdr", _as_typed(options.fdr))


def _as_typed(value: float) -> float:
    """A number as users write it: 95, and not 95.0."""
    return int(value) if value.is_integer() else value


def features(count: int) -> str:
    """How many features, in words."""
    return f"{count:,} {'feature' if count == 1 else 'features'}"


def orders(count: int) -> str:
    """How many orders, in words."""
    return f"{count:,} random {'order' if count == 1 else 'orders'}"


def files(options: argparse.Namespace, *, twice: bool = False) -> list[DataFile]:
    """The files that DATA names; `twice`: also one that is named so often."""
    from credimi.counting.engines.files import data_files

    return data_files(list(options.data), options.delimiter, twice=twice)


def check_output(output: str | None, inputs: Sequence[object]) -> None:
    """Refuse before the work an output that has no directory to be in, or is one of the inputs (identities)."""
    if output is None or output == "-":
        return
    from credimi.core.remote_files import identity

    path = Path(output)
    try:
        path.exists()
    except (OSError, ValueError) as error:  # a name that is too long, or no name at all
        raise CredimiError(f"{output} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    if not output or path.is_dir():
        raise CredimiError(f"{output!r} is {'a directory' if output else 'empty'}: name a file to write")
    if not path.parent.is_dir():
        raise CredimiError(f"{output} cannot be written: there is no directory {path.parent}")
    if path.exists() and identity(path) in inputs:  # under whatever name, of links and URLs, too
        raise CredimiError(f"{output} is the input: name another file")


def counting(options: argparse.Namespace) -> Record:
    """The options as `credimi.count` takes them."""
    from credimi.columns.missing import MISSING_VALUES

    return {
        "features": options.features,
        "exclude": options.exclude,
        "missing_values": (*MISSING_VALUES, *options.missing),
        "discretize": _methods(options.discretize),
        "delimiter": options.delimiter,
        "threads": options.threads,
    }


def _methods(texts: list[str]) -> object:
    named: dict[str, object] = {}
    for text in texts:
        column, equals, method = text.rpartition("=")
        words = [word.strip() for word in method.split(",")]
        cuts = all(is_number(word) or is_date(word) for word in words)
        named[column if equals else "*"] = (
            [float(word) if is_number(word) else word for word in words] if cuts else method
        )
        if not equals and cuts:
            raise CredimiError(f"--discretize {text}: cuts are for one column: write COLUMN={text}")
    named = {column: None if method == "none" else method for column, method in named.items()}
    return named.get("*", "mdl") if not set(named) - {"*"} else named


def is_number(word: str) -> bool:
    """Whether a word is a number."""
    with suppress(ValueError):
        float(word)
        return "_" not in word  # Python reads 1_0 as 10; in a table it is a slip
    return False


def is_date(word: str) -> bool:
    """Whether a word starts as a date does: 2024-12-31."""
    return bool(re.match(r"\d{4}-\d\d-\d\d", word))


def number(text: str) -> float:
    """A number from the command line."""
    if not is_number(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return float(text)


def seed(text: str) -> int:
    """A seed from the command line."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 up")
    return int(text)


def positive(text: str) -> int:
    """A number from 1 up from the command line."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def delimiter(text: str) -> str:
    """A delimiter from the command line, where some are better written in words."""
    words = {"tab": "\t", r"\t": "\t", "space": " "}
    code = re.fullmatch(r"\\x([0-7][0-9a-fA-F])", text)
    return chr(int(code[1], 16)) if code else words.get(text, text)


def prior(text: str) -> str | float:
    """A prior's name, or its pseudo-count."""
    return float(text) if is_number(text) else text
