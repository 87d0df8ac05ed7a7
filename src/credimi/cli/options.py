"""Options that several commands share, and how they are read and checked."""

from __future__ import annotations

import argparse
import difflib
import re
from typing import TYPE_CHECKING, NoReturn

from credimi.cli import standard_input
from credimi.cli.argument_types import delimiter, is_date, is_number, number, positive, seed
from credimi.cli.terminal_io import say
from credimi.core.errors import CredimiError
from credimi.inference.belief import METHODS, by_method
from credimi.results import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from credimi.core.types import Foreign, Record, Values


_CALLED_ELSEWHERE = {  # what other programs, and users, call an option
    "--columns": "--features",
    "--factor": "--robust-factor",
    "--goal": "--rule",
    "--sep": "--delimiter",
    "--seed": "--random-state",
}


class Parser(argparse.ArgumentParser):
    """Reports errors in one line, as the commands do; the usage, which may fill a screen, is left to --help."""

    listing: str | None = None  # the option whose list of columns was read

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Refuse words that are no options of this command, with the nearest option that it has."""
        offered = [name for action in self._actions for name in action.option_strings if name.startswith("--")]
        option = next((word.partition("=")[0] for word in unknown if word.startswith("-")), "")
        near = [_CALLED_ELSEWHERE.get(option, ""), *difflib.get_close_matches(option, offered, n=1, cutoff=0.65)]
        hint = next((f": did you mean {name}?" for name in near if name in offered), "")
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        missing_data = re.search(r"required: (DATA|A|B)\b", message)
        if self.listing and missing_data:
            data = "DATA" if missing_data[1] == "DATA" else "A and B"
            message += (
                f"; {self.listing} takes all words up to the next option: put {data} before it, or -- between them"
            )
        missing_value = re.fullmatch(r"argument (?:-\w, )?(--[\w-]+).*: expected one argument", message)
        if missing_value:  # a word that starts with a minus and is no number is taken for an option
            message += f"; if it starts with a minus, write {missing_value[1]}=-..."
        wrong = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)$", message)
        near = difflib.get_close_matches(wrong[1], re.findall(r"[\w-]+", wrong[2]), n=1) if wrong else []
        if wrong and near:
            message = message.replace(" (choose from", f": did you mean {near[0]!r}? (choose from")
        say(f"{message} (see {self.prog} --help)")
        self.exit(2)


class _Columns(argparse.Action):
    """A list of columns. The option is remembered, as its list may have swallowed DATA."""

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
    run: Callable[[argparse.Namespace], int | None],
    *,
    summary: str,
    description: str,
    epilog: str,
) -> argparse.ArgumentParser:
    """Add one command, which `run` carries out; `run` returns the exit code, if that is not 0."""
    parser: Parser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # a new option must not change what an abbreviation means
    )
    parser.set_defaults(run=run, refuse=parser.refuse, command=name)
    return parser


def add_thresholds(
    parser: argparse.ArgumentParser, *, level: float | None = 0.95, epsilon_means: str, level_means: str
) -> None:
    """Add epsilon and level; the meanings are help texts. If `level` is None, its help text names the default."""
    default = " (default: %(default)s)"
    parser.add_argument("--epsilon", type=number, default=0.003, help=epsilon_means + default)
    parser.add_argument("--level", type=number, default=level, help=level_means + default * (level is not None))


def add_posterior_options(
    parser: argparse.ArgumentParser,
    *,
    drawn: str = "--approximation sampled",
    units: bool = True,
    level: float | None = 0.95,
    level_means: str = "probability of the credible interval",
    method: bool = True,
) -> None:
    """Add prior, approximation, method, threshold, level, random state and units."""
    parser.add_argument(
        "--prior",
        default="adaptive",
        help="adaptive (allows for independence), or a pseudo-count per cell: uniform 1, jeffreys 1/2, perks 1/rs, "
        "raw-counts (or haldane) 0, or a number (default: %(default)s)",
    )
    parser.add_argument(
        "--approximation",
        default="matched",
        help="matched, leading (or gaussian), leading-beta (or beta) or sampled (default: %(default)s)",
    )
    if method:
        parser.add_argument(
            "--method",
            choices=list(METHODS),
            help="paper: the method of Hutter and Zaffalon (2003), raw counts and the Gaussian of leading order; "
            "paper-beta: with a Beta (default: neither)",
        )
    add_thresholds(
        parser,
        level=level,
        epsilon_means="threshold of P(I > epsilon), in nats",
        level_means=level_means,
    )
    add_random_state(parser, f" of {drawn}")
    if units:
        add_units(parser)


def add_random_state(parser: argparse.ArgumentParser, drawn: str = "") -> None:
    """Add the seed of what is drawn."""
    parser.add_argument(
        "--random-state", type=seed, default=0, metavar="SEED", help=f"the seed{drawn} (default: %(default)s)"
    )


def add_robust_factor(parser: argparse.ArgumentParser) -> None:
    """Add the factor by which the odds of being missing may differ."""
    parser.add_argument(
        "--robust-factor",
        type=number,
        metavar="G",
        help="find out what holds if values are missing not quite at random: the odds of being missing may differ up "
        "to G-fold, such as 2; inf is anything (default: not asked for)",
    )


def add_units(parser: argparse.ArgumentParser) -> None:
    """Add the units of what is printed."""
    parser.add_argument(
        "--units",
        choices=["nats", "bits"],
        default="nats",
        help="units of the printed information; --epsilon and pages stay in nats (default: %(default)s)",
    )


def add_output_options(parser: argparse.ArgumentParser, formats: Sequence[str] = ("table", "json", "csv")) -> None:
    """Add the options for the format of the results, the first by default, and the file to write."""
    parser.add_argument(
        "--format", choices=list(formats), default=formats[0], help="output format (default: %(default)s)"
    )
    if "csv" in formats:
        parser.add_argument(
            "--csv-safe",
            action="store_true",
            help="with --format csv: put an apostrophe before names and values that a spreadsheet would take for a "
            "formula, and make control characters visible",
        )
    parser.add_argument("--output", metavar="FILE", help="the file to write (default, or -: standard output)")


def add_data_options(
    parser: argparse.ArgumentParser,
    *,
    samples: bool = False,
    target: bool = True,
    weights: bool = True,
    engines: bool = False,
    max_values: bool = True,
) -> None:
    """Add the options that name the data and say how to read them.

    With `samples` there are two, A and B, each one path or pattern. Without a target, all columns are alike. `engines`
    adds the options that choose what counts the files.
    """
    if samples:
        parser.add_argument("a", metavar="A", help="data, a counts file, or a ranking as JSON")
        parser.add_argument("b", metavar="B", help="the same for other rows")
    else:
        parser.add_argument(
            "data",
            metavar="DATA",
            nargs="+",
            help="CSV, Parquet, Arrow or JSON lines files, directories, patterns, URLs; - for standard input",
        )
        parser.add_argument(
            "--input-format",
            choices=list(standard_input.FORMATS),
            help="format of standard input (default: found from its first bytes, as for files)",
        )
    chosen = parser.add_mutually_exclusive_group()
    listed: Record = {"metavar": "COLUMN", "nargs": "+", "action": _Columns}
    if target:
        parser.add_argument("--target", metavar="COLUMN", help="the target column (discrete)")
        chosen.add_argument("--features", help="the columns to use (default: all but the target)", **listed)
    else:
        chosen.add_argument("--features", help="the columns to use (default: all)", **listed)
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
        help=f"how numbers become categories: {'mdl (default), quantile' if target else 'quantile:K (default)'}, "
        "categories, none to refuse them, or cuts such as age=18,65 or visit=2024-02-29; may be repeated",
    )
    if target:
        parser.add_argument(
            "--target-cuts",
            metavar="CUTS",
            help="cut a target of numbers or dates into ranges: 30,50 or 2024-02-29 (write =-5,5 if the first is "
            "negative), or quantile:4 for four ranges of about equal counts; this reads the target once more",
        )
    parser.add_argument(
        "--delimiter",
        type=delimiter,
        metavar="CHARACTER",
        help="the character between the fields of CSV files, quoted if the shell needs it; tab, space and \\x01 are "
        "accepted names (default: the most frequent of , ; tab | in the header)",
    )
    add_threads(parser)
    if weights:
        parser.add_argument(
            "--weights",
            metavar="COLUMN",
            help="the weight of each row: how often it occurs, or how many people it stands for (see --weights-are)",
        )
        parser.add_argument(
            "--weights-are",
            choices=["rows", "survey"],
            help="rows: how often each row occurs; survey: how much it stands for, so that tables are scaled to what "
            "they are worth (default: rows if all weights are whole, otherwise survey)",
        )
    if max_values:
        parser.add_argument(
            "--max-values", type=positive, metavar="N", help="refuse a column with more categories (default: no limit)"
        )
    if engines:
        _add_engine_options(parser)


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add the number of threads."""
    parser.add_argument("--threads", type=positive, metavar="N", help="number of threads (default: all cores)")


def _add_engine_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        choices=["files", "duckdb", "dask", "spark"],
        help="who counts the files: this process (files, the default), DuckDB in this process, or the workers of a "
        "cluster, which must see the same paths",
    )
    parser.add_argument("--master", metavar="URL", help="address of Spark: spark://HOST:PORT, local[4], sc://HOST")
    parser.add_argument("--scheduler", metavar="URL", help="address of the Dask scheduler: tcp://HOST:PORT")


def engine(options: argparse.Namespace) -> Record:
    """The options of the engine as arguments of `credimi.count`; None if the command does not have them."""
    return {name: getattr(options, name, None) for name in ("engine", "master", "scheduler")}


def add_ranking_options(parser: argparse.ArgumentParser) -> None:
    """Add the false-discovery rate, and how a missing value is treated."""
    add_missing_as(parser)
    parser.add_argument(
        "--fdr",
        type=number,
        default=0.05,
        help="expected share of noise among the columns that the rule fdr keeps (default: %(default)s)",
    )


def add_missing_as(parser: argparse.ArgumentParser) -> None:
    """Add what a missing value is taken for."""
    parser.add_argument(
        "--missing-as",
        choices=["ignore", "category"],
        default="ignore",
        help="a missing value of a feature is not known, or one more value (default: %(default)s)",
    )


def add_order(parser: argparse.ArgumentParser, *, by_name: bool = False) -> None:
    """Add the option for the order of features."""
    parser.add_argument(
        "--sort",
        choices=["mean", "low", "p"] + ["name"] * by_name,
        default="mean",
        help="best first by the mean of I, by the lower end of its interval or by P(I > epsilon)"
        f"{'; or by name' * by_name} (default: %(default)s)",
    )


def check_thresholds(options: argparse.Namespace) -> None:
    """Refuse an impossible epsilon, level or rate before the data are read; put in what the method stands for."""
    from credimi.core.arguments import require_information, require_share

    if hasattr(options, "prior"):
        method = getattr(options, "method", None)
        options.prior, options.approximation = by_method(method, options.prior, options.approximation)
    require_information("--epsilon", _as_typed(options.epsilon))
    if options.level is not None:  # the default of some commands depends on other options
        require_share("--level", _as_typed(options.level))
    if hasattr(options, "fdr"):  # not an option of all commands
        require_share("--fdr", _as_typed(options.fdr))


def _as_typed(value: float) -> float:
    """A number as users write it: 95, not 95.0."""
    return int(value) if value.is_integer() else value


def features(count: int) -> str:
    """How many features, in words."""
    return sentences.counted(count, "feature")


def orders(count: int) -> str:
    """How many orders, in words."""
    return sentences.counted(count, "random order")


def require_target(options: argparse.Namespace) -> None:
    """Refuse to go on without a target."""
    if options.target is None:
        raise CredimiError("name the target: --target COLUMN")


def counting(options: argparse.Namespace) -> Record:
    """The options as `credimi.count` takes them."""
    from credimi.core.defaults import MISSING_VALUES

    weights = {name: getattr(options, name) for name in ("weights", "weights_are") if name in options}
    return weights | {
        "features": options.features,
        "exclude": options.exclude,
        "missing_values": (*MISSING_VALUES, *options.missing),
        "discretize": _methods(options.discretize),
        "target_cuts": _target_cuts(options.target_cuts),
        "delimiter": options.delimiter,
        "threads": options.threads,
    }


def counting_all(options: argparse.Namespace) -> Record:
    """The same for a command without a target: numbers cut by their counts alone."""
    arguments = counting(argparse.Namespace(**vars(options), target_cuts=None))
    del arguments["target_cuts"]
    if not options.discretize:
        del arguments["discretize"]
    return arguments


def _target_cuts(text: str | None) -> object:
    return text if text is None or text.startswith("quantile") else [word.strip() for word in text.split(",")]


def _methods(texts: list[str]) -> object:
    method_of: dict[str, object] = {}
    for text in texts:
        column, equals, method = text.rpartition("=")
        words = [word.strip() for word in method.split(",")]
        cuts = all(is_number(word) or is_date(word) for word in words)
        method_of[column if equals else "*"] = (
            [float(word) if is_number(word) else word for word in words] if cuts else method
        )
        if not equals and cuts:
            raise CredimiError(f"--discretize {text}: cuts need a column: write COLUMN={text}")
    method_of = {column: None if method == "none" else method for column, method in method_of.items()}
    return method_of.get("*", "mdl") if not set(method_of) - {"*"} else method_of
