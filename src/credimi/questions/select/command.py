"""Print which columns tell about the target together, or write only these.

rules: distinct (the default) takes what is informative, but for columns that
surely add nothing to a single other one (--level: how surely; 0.5 takes few,
to read); relevant takes all that matter, alone or with a partner. These need
all rows. The others look at each column alone: informative keeps what is not
more probably independent than not, for prediction; forward (the default with
--method) what is surely informative, P(I > epsilon) >= level; backward drops
what is surely not; plugin uses the estimate alone; fdr keeps as many as it can
while at most a share --fdr of them is expected to be noise. F, FF and BF are
other names of plugin, forward and backward.

Without --output the columns are printed, with what each tells and why others
were not taken. With it, the same rows are written with only the target, the
weights, if they are named, and what is kept. Where a file should lack no column
that somebody else may need, --rule forward or backward is the safer choice.

Ctrl-C ends distinct with the columns so far.

exit codes: 0, or 3 if no feature is kept.

examples:
  credimi select survey.csv --target income
  credimi select survey.csv --target income --html steps.html --plot steps.svg
  credimi select survey.csv --target income --output reduced.csv
  credimi select survey.csv --target income --rule forward --output reduced.csv
  credimi select survey.csv --target income --max-features 10 --output less.csv
  credimi select old.parquet --target income --rule plugin --output new.parquet
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from credimi.core.command import INTERRUPTED, NOTHING_KEPT, TOP, Command
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from credimi.core.command import Asked
    from credimi.core.types import Foreign
    from credimi.questions.select.result import Selection

_MAX_FEATURES_NAMED = 10  # in the last line


def _answer(asked: Asked) -> Foreign:
    """The selection, after all that can be refused before rows are read."""
    from credimi.sources.files import check_format

    options = asked.options
    if options.output == "-":
        raise CredimiError("select writes a file, not standard output: name it with --output")
    for name, usual in (("format", "table"), ("units", "nats")):
        if options.output is not None and getattr(options, name) != usual:
            raise CredimiError(f"--{name} is of what is printed, and --output writes rows: leave one of them out")
    if options.output is not None and options.top is not None:
        raise CredimiError(
            f"--top is of what is printed, and --output writes rows: to keep at most {options.top}, write "
            f"--max-features {options.top}"
        )
    if len(asked.files) != 1:
        raise CredimiError(
            f"select writes one file and was given {len(asked.files)}: call it for each, or join them first"
        )
    if options.output is not None:
        check_format(asked.files[0], Path(options.output))
    writes_csv = options.format == "csv" if options.output is None else asked.files[0].kind == "CSV"
    if options.csv_safe and not writes_csv:
        raise CredimiError("--csv-safe is for CSV, of --format or of --output: leave it out")
    return asked.ask("select", asked.files)


def _finish(asked: Asked, selection: Selection) -> int:
    """Print the columns, or copy those that are kept."""
    output = asked.options.output
    if not selection.complete:
        written = "" if output is None else f", and {output} is not written"
        asked.say(f"interrupted: the steps so far are {len(selection.steps)}{written}")
    if output is not None and selection.complete:
        return _write(asked, selection, Path(output))
    asked.show(selection, None)
    return INTERRUPTED if not selection.complete else 0 if selection.features else NOTHING_KEPT


def _write(asked: Asked, selection: Selection, output: Path) -> int:
    """Copy the rows with the columns that are kept, and say which."""
    from credimi.core.atomic_files import replacing
    from credimi.results import remark_sentences
    from credimi.results.sentences import COMMAND_LINE, counted
    from credimi.sources.files import copy_columns

    data, target, weights = asked.files[0], asked.options.target, asked.given.get("weights")
    kept = set(selection.features)
    columns = [name for name in data.names if name in kept or name in (target, weights)]
    with replacing(output) as temporary:
        copy_columns(data, columns, temporary, output.suffix, safe=asked.options.csv_safe)
    on_weights = [remark.to_dict() for remark in selection.remarks if remark.kind.startswith("weights")]
    for line in remark_sentences.lines(on_weights, COMMAND_LINE):
        asked.say(line)
    rule, names = selection.settings["goal"], [name for name in columns if name in kept]
    if not names:
        alone = f"the target {target!r} alone" if weights is None else "the target and the weights alone"
        asked.say(f"no feature is kept by the rule {rule}: {output} has {alone}")
        return NOTHING_KEPT
    shown = ", ".join(map(repr, names[:_MAX_FEATURES_NAMED])) + (", ..." if len(names) > _MAX_FEATURES_NAMED else "")
    features = counted(len(selection) + len(selection.left_out), "feature")
    asked.say(f"{output}: {len(kept):,} of {features} kept by the rule {rule}: {shown}")
    if forced := sum(step.forced for step in selection.steps):
        asked.say(f"not credible, kept because of --min-features: {forced:,} of them")
    return 0


COMMAND = Command(
    name="select",
    text=__doc__,
    summary="the columns that tell about the target together, or the data with only those",
    functions=("select",),
    units=True,
    csv_safe="--format csv, or --output of CSV, which changes the data that are written",
    above_csv=("rows", "classes", "entropy", "complete"),
    top=TOP,
    html="write a page that shows the steps, offline",
    plot="draw the steps",
    output="the file to write with only the columns that are kept, in the input's format",
    answer=_answer,
    finish=_finish,
)
