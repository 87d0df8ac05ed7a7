"""Files that were counted: none twice, and a killed call leaves counts that load, to be finished by the same call."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import credimi
from credimi import Counts, CredimiError, count
from credimi.cli import main
from credimi.counts.saved import counts_file
from credimi.counts.saved.counted_files import CountedFile, fresh

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, rows: int = 40, seed: int = 0) -> Path:
    noise = random.Random(f"{name} {seed}")  # noqa: S311  (no secret)
    lines = [
        f"{noise.choice('pq')},{noise.choice(['x', 'y', 'z', '?', name])},{noise.randint(0, 50)}" for _ in range(rows)
    ]
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["y,a,b", *lines]) + "\n")
    return path


def test_the_file_names_its_sources(said: Callable[..., str]) -> None:
    paths = [write("1.csv"), write("2.csv")]
    said("1.csv", "2.csv")
    counts = Counts.load("all.counts")
    assert counts.sources == tuple(map(CountedFile.of, paths))
    header, _ = counts_file.load("all.counts")
    assert header["sources"][0] == {
        "path": str(paths[0].resolve()),
        "size": paths[0].stat().st_size,
        "modified": paths[0].stat().st_mtime_ns,
        "digest": CountedFile.of(paths[0]).digest,
    }


def test_the_same_file_again_is_refused_unless_forced(said: Callable[..., str]) -> None:
    write("1.csv")
    said("1.csv")
    before = Path("all.counts").read_bytes()
    assert "1.csv was counted into all.counts before: leave it out, or count it twice with --force" in said(
        "1.csv", code=2
    )
    assert "was counted into all.counts before" in said("./../" + Path.cwd().name + "/1.csv", code=2)
    assert Path("all.counts").read_bytes() == before
    assert "80 rows, 40 of them new" in said("1.csv", "--force")
    assert Counts.load("all.counts") == count("1.csv", "y") + count("1.csv", "y")


def test_one_old_file_among_new_ones_is_refused(said: Callable[..., str]) -> None:
    write("1.csv")
    said("1.csv")
    write("2.csv")
    assert "1.csv was counted into" in said("*.csv", code=2)
    assert "80 rows, 40 of them new" in said("2.csv")


def test_a_file_that_was_moved_and_one_that_has_changed(said: Callable[..., str]) -> None:
    write("1.csv")
    write("2.csv")
    said("1.csv", "2.csv")
    Path("old").mkdir()
    shutil.move("1.csv", "old/1.csv")
    assert f"before as {Path('1.csv').resolve()}" in said("old/1.csv", code=2)
    write("2.csv", rows=50)
    assert "2.csv was counted into all.counts before, and has changed since" in said("2.csv", code=2)
    assert "130 rows, 50 of them new" in said("2.csv", "--force")


def test_a_file_named_twice(said: Callable[..., str]) -> None:
    write("1.csv")
    assert "1.csv is named twice" in said("1.csv", "1.csv", code=2)
    assert "80 rows" in said("1.csv", "1.csv", "--force")


def test_equal_files_of_other_names_are_other_files(said: Callable[..., str]) -> None:
    write("1.csv")
    shutil.copy2("1.csv", "2.csv")
    said("1.csv")
    assert "80 rows, 40 of them new" in said("2.csv")


def test_counts_of_before_sources_were_kept(said: Callable[..., str]) -> None:
    header, arrays = counts_file.load(saved_without_sources())
    assert "sources" not in header
    assert set(arrays) == {"numbers", "counts"}
    assert "80 rows, 40 of them new" in said("1.csv")


def saved_without_sources() -> str:
    counts = count(write("1.csv"), "y")
    counts = replace(counts, sources=())
    counts.save("all.counts")
    return "all.counts"


def test_sources_add_up_and_stay() -> None:
    one, two = count(write("1.csv"), "y"), count(write("2.csv"), "y")
    assert [Path(source.path).name for source in (one + two).sources] == ["1.csv", "2.csv"]
    assert [Path(source.path).name for source in (one + one).sources] == ["1.csv", "1.csv"]
    assert [Path(source.path).name for source in one.update("2.csv").sources] == ["1.csv", "2.csv"]
    assert count({"y": ["p"], "a": [1]}, "y").sources == ()


def test_a_source_that_is_gone() -> None:
    with pytest.raises(CredimiError, match=r"cannot read gone\.csv: No such file"):
        CountedFile.of(Path("gone.csv"))


def test_an_unfinished_file_that_has_changed_is_refused_even_if_forced() -> None:
    source = CountedFile("/a.csv", 1, 1, "x", unfinished=True)
    assert fresh([CountedFile("/a.csv", 1, 1, "x")], [source], "c") == []
    with pytest.raises(CredimiError, match="has changed since: its old rows would count twice; count all files"):
        fresh([CountedFile("/a.csv", 2, 1, "x")], [source], "c", force=True)


# Killed


PROGRAM = """
import sys, time
from credimi.cli import main
from credimi.cli import count_command as count
from credimi.sources import files
count.SAVE_EVERY = 0.0
read = files.batches
def slowly(*arguments, **settings):
    for batch in read(*arguments, **settings):
        time.sleep({pause})
        yield batch
files.batches = slowly
print("ready", flush=True)
sys.exit(main(["count", "data", "--target", "y", "--into", "all.counts"]))
"""


def start(pause: float) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(pause=pause)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path(credimi.__file__).parents[1])},
    )


def killed(moment: float, pause: float = 0.01) -> bool:
    """Start the call, kill it so long after it was ready; whether it was still at work."""
    with start(pause) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        time.sleep(moment)
        running.kill()
        return running.wait(60) == -signal.SIGKILL


def is_unfinished() -> bool:
    if not Path("all.counts").exists():
        return True
    return any(source.unfinished for source in Counts.load("all.counts").sources)  # loads, at any moment


def kill_until_done(seed: int) -> int:
    """Kills at random moments until the file is whole; how often it took."""
    for index in range(12):
        write(f"data/{index}.csv", rows=30, seed=seed)
    noise, kills = random.Random(seed), 0  # noqa: S311  (no secret)
    while is_unfinished():
        kills += killed(noise.uniform(0.1, 0.9)) if kills < 4 else killed(60.0 if kills > 8 else 3.0)
        assert kills < 12
    whole = count("data", "y")
    found = Counts.load("all.counts")
    assert found == whole
    assert sorted(found.sources, key=lambda source: source.path) == sorted(
        whole.sources, key=lambda source: source.path
    )
    return kills


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_moments(seed: int) -> None:
    kill_until_done(seed)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_killed_fifty_times() -> None:
    kills, seed = 0, 100
    while kills < 50:
        kills += kill_until_done(seed)
        seed += 1
        Path("all.counts").unlink()


@pytest.mark.filterwarnings("always:these counts come")
@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_what_a_killed_call_left_is_told_and_finished(
    said: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    for index in range(6):
        write(f"data/{index}.csv")
    with start(pause=0.2) as running:
        while not Path("all.counts").exists() and running.poll() is None:
            time.sleep(0.01)
        running.kill()
    left = Counts.load("all.counts")
    assert 0 < len(left.sources) < 6
    assert main(["rank", "all.counts", "--format", "json"]) == 0
    captured = capsys.readouterr()
    assert "warning: these counts come from a call that was killed" in captured.err
    assert json.loads(captured.out)["rows"] == left.rows
    assert f"{len(left.sources)} of 6 files were counted before the last call ended" in said("data")
    assert Counts.load("all.counts") == count("data", "y")
    assert "was counted into all.counts before" in said("data", code=2)
