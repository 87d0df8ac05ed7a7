"""The house stays easy to find one's way in: short files, small rooms, and no file that exists for one other alone.

The four numbers may only fall: who brings one down writes the new one here, and a test asks for it.
"""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import credimi
from credimi.cli import runner

ROOT = Path(__file__).resolve().parents[1]
HOUSE = ROOT / "src" / "credimi"
FILES = sorted(HOUSE.rglob("*.py"))
LONGEST = 400  # lines of a file
ROOMY = 12  # files in a folder
OVER_LONGEST = 0  # files
WITH_ONE_IMPORTER = 97  # files
OVER_ROOMY = 19  # files, summed over the folders that have more than they should
NEARLY_EMPTY = 0  # folders
IGNORED = {"__pycache__", "assets", "compiled"}


def module_of(path: Path) -> str:
    parts = path.relative_to(HOUSE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


def importers() -> dict[str, set[str]]:
    """Which modules import each module, types included; `credimi` imports the module of a name that it offers."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in credimi._MODULE_OF.values():  # noqa: SLF001  (the list of public names)
        found[module].add("credimi")
    for name, module in runner.MODULES.items():  # a command names its public functions
        for function in runner.declared(name).functions:
            found[credimi._MODULE_OF[function]].add(module)  # noqa: SLF001  (as above)
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("credimi"):
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    found[whole if whole in MODULES else str(node.module)].add(name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.name].add(name)
    return found


def rooms(root: Path) -> list[Path]:
    """The folders below a folder that hold sources."""
    return [
        path
        for path in sorted(root.rglob("*"))
        if path.is_dir() and not IGNORED & {*path.relative_to(root).parts} and any(path.rglob("*.py"))
    ]


def files_of(room: Path) -> list[Path]:
    return [path for path in room.iterdir() if path.is_file() and path.name != "__init__.py"]


def files_beside_the_command(room: Path) -> list[Path]:
    """A question has a `command.py` for the runner; none of its other files knows it."""
    return [path for path in files_of(room) if path.name != "command.py"]


def test_files_are_short() -> None:
    long = [path.name for path in FILES if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST]
    assert len(long) == OVER_LONGEST, long


def test_few_files_serve_one_other_file_alone() -> None:
    alone = sorted(name for name, others in importers().items() if name in MODULES and len(others) == 1)
    assert len(alone) == WITH_ONE_IMPORTER, alone


def test_every_file_is_used() -> None:
    """What only tests need belongs to the tests."""
    used = importers()
    started = {"__init__", "__main__"}
    started_by_name = {*runner.MODULES.values()}
    unused = [
        name
        for name, path in MODULES.items()
        if not used[name] and path.stem not in started and name not in started_by_name
    ]
    assert unused == []


def test_folders_hold_about_a_dozen_files() -> None:
    excess = {str(room.relative_to(HOUSE)): len(files_beside_the_command(room)) - ROOMY for room in rooms(HOUSE)}
    crowded = {room: more for room, more in excess.items() if more > 0}
    assert sum(crowded.values()) == OVER_ROOMY, crowded


def test_no_folder_is_nearly_empty() -> None:
    """A folder of one or two files is a hop that leads nowhere; its files belong one level up."""
    with_rooms = {path.parent for path in rooms(HOUSE)}
    small = [
        str(room.relative_to(HOUSE)) for room in rooms(HOUSE) if len(files_of(room)) < 3 and room not in with_rooms
    ]
    assert len(small) == NEARLY_EMPTY, small


def test_no_folder_is_left_behind() -> None:
    empty = [
        str(path)
        for path in HOUSE.rglob("__init__.py")
        if not any(other != path for other in path.parent.rglob("*.py"))
    ]
    assert [path for path in empty if Path(path).parent.name not in IGNORED] == []


def test_every_question_looks_alike() -> None:
    """Who knows one question finds the same files in every other."""
    for room in (path for path in rooms(HOUSE / "questions") if path.parent.name == "questions"):
        expected = {f"{room.name}.py", "answer.py", "result.py", "view.py", "command.py"}
        assert expected <= {path.name for path in files_of(room)}, room.name


def test_folders_of_tests_mirror_the_rooms() -> None:
    tests = ROOT / "tests"
    own = {path.relative_to(HOUSE).parts[:2] for path in rooms(HOUSE)}
    mirrored = {
        path.relative_to(tests).parts[:2]
        for path in rooms(tests)
        if any(each.name.startswith("test_") for each in path.iterdir())
    }
    of_commands = {("cli", "data"), ("cli", "table")}
    assert mirrored - of_commands <= own
    assert {room for room in own if len(room) == 1} - {("questions",)} <= {room[:1] for room in mirrored}


MAP = ROOT / "docs" / "architecture.md"


def table_below(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading of the map, cell by cell."""
    lines = MAP.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    table = itertools.takewhile(lambda line: line.startswith("|"), lines[start + 2 :])
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def test_the_map_is_one_page_and_names_what_exists() -> None:
    text = MAP.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    files = re.findall(r"`([\w./]+/(?:[\w.]+\.py)?)`", text.partition("## Paths that were tried")[0])
    assert len(files) > 50
    assert [name for name in files if not ((HOUSE / name).exists() or (ROOT / name).exists())] == []
    listed = [re.findall(r"`(\w+)/`", row[0])[0] for row in table_below("The rooms") if row[0].count("/") == 1]
    assert sorted(listed) == sorted(path.name for path in rooms(HOUSE) if path.parent == HOUSE)


def test_a_cell_walks_as_the_map_says() -> None:
    """The trace of a second run, as `tools/trace_walk.py` prints it; in a process of its own, as it traces threads."""
    trace = [sys.executable, str(ROOT / "tools" / "trace_walk.py"), "--list"]
    printed = subprocess.run(trace, capture_output=True, encoding="utf-8", check=True).stdout
    seen, file = set(), ""
    for line in printed.splitlines()[:-1]:
        number, name = line.split()
        file = name if name.endswith(".py") else file
        seen.add((file.replace("\\", "/"), name.rpartition(".")[2]))
        assert number.isdecimal()
    walk = table_below("The walk of a cell")
    assert len(walk) > 12
    said = [(file.strip("`"), name) for _, names, file in walk for name in re.findall(r"`(\w+)`", names)]
    assert [step for step in said if step not in seen] == []
