"""Record what the commands and functions answer, in one JSON file; compare with what was recorded before.

    python tools/record_answers.py answers.json [--data FOLDER]
    python tools/record_answers.py --compare before.json [after.json] [--ignore note] [--ignore printed] [--all]

A change that only moves code must not change an answer: record before it, compare after it. With one file to compare,
the answers of this checkout are recorded anew. The inputs are copied into a temporary folder under fixed names, so that
no path of a machine gets into the file. FOLDER holds more data sets (`uci`, `networks`); where it does not exist, they
are left out, and the comparison says so. Cases have names of their own, which stay when an option is renamed.

Numbers are compared with a relative tolerance of 1e-12, everything else exactly. `--ignore` leaves out every entry of
that name, at any depth: `printed` is the text of a command, `errors` what it wrote to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 1e-12
MAX_SHOWN = 60  # differing cases


def record(data: Path, report: Callable[[str], None]) -> dict[str, Any]:
    """All answers, by the command or function that gave them."""
    sys.path.insert(0, str(ROOT / "tests"))
    import answers_of_commands  # noqa: PLC0415  (beside this file; both need `tests`)
    import answers_of_functions  # noqa: PLC0415

    answers: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ["COLUMNS"] = "132"  # of the terminal that tables are laid out for
        for name, cases in answers_of_commands.commands(list(answers_of_commands.inputs(data))):
            answers |= {case: answers_of_commands.command(*arguments) for case, arguments in cases.items()}
            report(name)
        if (data / "uci/lymphography").is_dir():
            answers["reproduce"] = answers_of_commands.reproduced(data / "uci")
        for name, found in answers_of_functions.all_of().items():
            answers[name] = json.loads(json.dumps(found, default=_plain))
        report("functions")
    return answers


def _plain(value: Any) -> Any:  # noqa: ANN401  (what numpy gives)
    return value.tolist() if hasattr(value, "tolist") else list(value)


def compare(before: Any, after: Any, ignored: frozenset[str], path: str = "") -> Iterator[str]:  # noqa: ANN401
    """One line for each difference."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            if name in ignored:
                continue
            entry_path = f"{path} / {name}" if path else name
            if name not in before or name not in after:
                yield f"{entry_path}: only {'after' if name in after else 'before'}"
            else:
                yield from compare(before[name], after[name], ignored, entry_path)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{path}: {len(before)} entries before, {len(after)} after"
        for index, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from compare(one, other, ignored, f"{path}[{index}]")
    elif not _same(before, after):
        yield f"{path}: {before!r} before, {after!r} after"


def _words(answer: Any) -> Any:  # noqa: ANN401
    """The answer with the words of its texts in place of lines; what only draws lines is no word."""
    if isinstance(answer, dict):
        return {name: _words(value) for name, value in answer.items()}
    if isinstance(answer, list) and answer and all(isinstance(line, str) for line in answer):
        return _words("\n".join(answer))
    if isinstance(answer, list):
        return [_words(value) for value in answer]
    return [word for word in answer.split() if word.strip("\u2500-")] if isinstance(answer, str) else answer


def _same(one: Any, other: Any) -> bool:  # noqa: ANN401
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=TOLERANCE) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


def _print_differences(before: dict[str, Any], after: dict[str, Any], ignored: frozenset[str], *, every: bool) -> int:
    """Print each case that differs with its first difference, or all; how many cases differ."""
    by_case: dict[str, list[str]] = {}
    for case in dict.fromkeys((*before, *after)):
        if case not in before or case not in after:
            by_case[case] = [f"only {'after' if case in after else 'before'}"]
        elif lines := list(compare(before[case], after[case], ignored)):
            by_case[case] = lines
    for case, lines in list(by_case.items())[: None if every else MAX_SHOWN]:
        shown = lines if every else lines[:2]
        print(f"{case} ({len(lines)}): " + "\n    ".join(line[:400] for line in shown))
    print(f"{len(by_case):,} of {len(before):,} cases differ")
    return len(by_case)


def main() -> int:
    """Record or compare; 1 where answers differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", nargs="?", type=Path, help="the file to write")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="(default: %(default)s)")
    parser.add_argument(
        "--compare", nargs="+", type=Path, metavar="FILE", help="before, and after (default: this checkout)"
    )
    parser.add_argument("--ignore", action="append", default=[], metavar="NAME", help="leave out entries of this name")
    parser.add_argument("--words", action="store_true", help="compare the words of texts, not how they are laid out")
    parser.add_argument("--all", action="store_true", help="print every difference, not only the first of each case")
    options = parser.parse_args()
    if options.output is None and not options.compare:
        parser.error("name the file to write, or one or two files to --compare")
    files = list(options.compare or ())
    if len(files) != 2:
        start = time.process_time()
        answers = record(
            options.data.resolve(), lambda name: print(f"{name}: {time.process_time() - start:.0f} s", file=sys.stderr)
        )
        if options.output is not None:
            options.output.write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            print(f"{options.output}: {len(answers):,} answers")
    if not files:
        return 0
    before, *after = (json.loads(path.read_text(encoding="utf-8")) for path in files)
    now = after[0] if after else answers
    if options.words:
        before, now = _words(before), _words(now)
    return int(bool(_print_differences(before, now, frozenset(options.ignore), every=options.all)))


if __name__ == "__main__":
    sys.exit(main())
