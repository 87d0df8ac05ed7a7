"""How many functions of credimi one command runs through, and in how many files: the length of the way, not its time.

    python tools/trace_walk.py                                  rank examples/clinic.csv --target diabetes --top 5
    python tools/trace_walk.py tree examples/clinic.csv ...     another command
    python tools/trace_walk.py --rooms [command ...]            and the rooms, and how many functions are short
    python tools/trace_walk.py --list [command ...]             and the functions, file by file

The command runs twice in this process, and the second run is traced (`sys.setprofile`): caches are filled and modules
loaded, so that what is counted is the work. Lambdas and comprehensions are not counted, nor is code of other packages.
"""

import ast
import contextlib
import io
import os
import sys
import threading
from collections import defaultdict
from pathlib import Path

import credimi
from credimi.cli import main

PACKAGE = f"{Path(credimi.__file__).parent}{os.sep}"
ROOT = Path(__file__).parent.parent
WALK = ["rank", str(ROOT / "examples" / "clinic.csv"), "--target", "diabetes", "--top", "5"]


def functions(command: list[str]) -> dict[str, set[tuple[int, str]]]:
    """The functions that a second run of a command calls, by file: first line and name."""
    seen = defaultdict(set)

    def note(frame: object, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<"):
            seen[code.co_filename.removeprefix(PACKAGE)].add((code.co_firstlineno, code.co_qualname))

    for traced in (False, True):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            hook = note if traced else None
            threading.setprofile(hook)
            sys.setprofile(hook)
            try:
                code = main(command)
            finally:
                sys.setprofile(None)
                threading.setprofile(None)
        if code:
            sys.exit(f"credimi {' '.join(command)}: exit code {code}")
    return seen


def short_ones(file: str, seen: set[tuple[int, str]]) -> int:
    """How many of the functions seen in a file have a body of at most three lines, docstrings left out."""
    starts, short = {line for line, _ in seen}, 0
    for node in ast.walk(ast.parse((Path(PACKAGE) / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            body = node.body[ast.get_docstring(node) is not None :]
            lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            short += first in starts and lines <= 3
    return short


def run(arguments: list[str]) -> None:
    """Trace a command, and print the counts."""
    shown = arguments[0] if arguments[:1] in (["--list"], ["--rooms"]) else ""
    found = functions(arguments[bool(shown) :] or WALK)
    if shown == "--rooms":
        rooms = defaultdict(list)
        for file, names in found.items():
            rooms[file.partition(os.sep)[0]].append(len(names))
        for room, numbers in sorted(rooms.items(), key=lambda each: -sum(each[1])):
            print(f"{sum(numbers):4} functions in {len(numbers):2} files of {room}")
        print(f"{sum(short_ones(*each) for each in found.items()):4} functions have bodies of at most three lines")
    elif shown:
        for file, names in sorted(found.items()):
            print(f"{len(names):4} {file}")
            for line, name in sorted(names):
                print(f"       {line:4} {name}")
    print(f"{sum(map(len, found.values()))} functions in {len(found)} files")


if __name__ == "__main__":
    run(sys.argv[1:])
