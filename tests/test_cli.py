"""`credimi table` from outside: what it reads, what it answers, what it refuses, and what it leaves behind."""

import io
import json
import math
import os
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from numba.core import event

import credimi
from credimi.cli import main
from credimi.kernels.loading import wishes

ROOT = Path(__file__).resolve().parent.parent
COMMAND = [sys.executable, "-m", "credimi.cli"]
JOINT = [[10, 2], [3, 15]]
LITERAL = "10 2; 3 15"
SETTINGS = {"prior": "adaptive", "approximation": "matched", "epsilon": 0.003, "level": 0.95, "units": "nats"}

Answer = tuple[int, str, str]
Call = Callable[..., Answer]


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compile before the first command, which would otherwise say on standard error that it does."""
    expected()
    expected(target_only=[4, 1], feature_only=[0, 2])


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command inside this process: exit code, standard output, standard error."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: object, stdin: bytes = b"") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse leaves this way
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def report(call: Call) -> Callable[..., dict[str, object]]:
    """What `credimi table ... --format json` answers."""

    def run(*arguments: object, stdin: bytes = b"") -> dict[str, object]:
        code, out, err = call("table", *arguments, "--format", "json", stdin=stdin)
        assert code == 0, err
        return json.loads(out)

    return run


@pytest.fixture
def refusal(call: Call) -> Callable[..., str]:
    """The one line that is said when the input is refused."""

    def run(*arguments: object, stdin: bytes = b"") -> str:
        code, out, err = call("table", *arguments, stdin=stdin)
        assert code == 2
        assert out == ""
        assert err.startswith("credimi: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        return err.removeprefix("credimi: ").rstrip("\n")

    return run


def expected(
    joint: list[list[float]] = JOINT,
    *,
    target_only: list[float] | None = None,
    feature_only: list[float] | None = None,
    prior: str | float = "adaptive",
    approximation: str = "matched",
    epsilon: float = 0.003,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, object]:
    """The same answer from Python, in nats."""
    table = credimi.Table.of(joint, target_only, feature_only)
    law = credimi.mutual_information(table, prior=prior, approximation=approximation, random_state=seed)
    low, high = law.interval(level)
    return {
        "mean": law.mean(),
        "std": law.std(),
        "low": low,
        "high": high,
        "p_above": law.sf(epsilon),
        "p_independent": law.p_zero,
        "mode": credimi.posterior(table, prior="jeffreys" if prior == "adaptive" else prior).mode.tolist(),
        "rows": table.rows,
    }


def without_settings(answer: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in answer.items() if name != "settings"}


def process(*arguments: str, stdin: bytes | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        env=buffered_environment() | environment,
    )


def buffered_environment() -> dict[str, str]:
    """Our own environment, with standard output buffered as users have it."""
    return {name: value for name, value in os.environ.items() if name not in {"PYTHONUNBUFFERED", "COLUMNS"}}


# What it reads


def test_literal(report: Callable[..., dict[str, object]]) -> None:
    assert without_settings(report(LITERAL)) == expected()


@pytest.mark.parametrize(
    "text",
    [
        "10,2;3,15",
        "10, 2; 3, 15",
        " 10 ,2 ;\t3\t15 ;",
        "10 2\n3 15",
        "10 2\n\n3 15\n",
        "1e1 2.0; +3 15.",
        "10 2; 3 15 # a remark",
        "10 2 # no\n3 15 # yes",
    ],
)
def test_ways_to_write_the_same_counts(report: Callable[..., dict[str, object]], text: str) -> None:
    assert without_settings(report(text)) == expected()


@pytest.mark.parametrize(
    "content",
    [
        b"10 2\n3 15\n",
        b"10 2\n3 15",
        b"10,2\r\n3,15\r\n",
        b"10 2\r3 15\r",
        b"\xef\xbb\xbf10 2\n3 15\n",
        b"\xef\xbb\xbf# counts\r\n10 2\r\n3 15\r\n",
        b"# caf\xc3\xa9 against tea\n\n10 2 # one\n  # another\n3 15\n\n",
        b"10 2; 3 15",
    ],
)
def test_file_and_standard_input(report: Callable[..., dict[str, object]], tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "counts.txt"
    path.write_bytes(content)
    assert without_settings(report(path)) == expected()
    assert without_settings(report("-", stdin=content)) == expected()


def test_margins_as_lines_of_the_file(report: Callable[..., dict[str, object]], tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    answer = expected(target_only=[4, 1], feature_only=[0, 2])
    for text in (
        "10 2\n3 15\ntarget-only: 4 1\nfeature-only: 0 2\n",
        "feature-only: 0, 2  # first\ntarget-only:4,1\r\n10 2\r\n3 15\r\n",
        "10 2; 3 15; target_only : 4 1; feature_only: 0 2",
    ):
        path.write_text(text, encoding="utf-8", newline="")
        assert without_settings(report(path)) == answer
        assert without_settings(report("-", stdin=text.encode())) == answer
    assert without_settings(report("10 2; 3 15; target-only: 4 1; feature-only: 0 2")) == answer


def test_margins_as_options(report: Callable[..., dict[str, object]], tmp_path: Path) -> None:
    answer = expected(target_only=[4, 1], feature_only=[0, 2])
    assert without_settings(report(LITERAL, "--target-only", "4 1", "--feature-only", "0,2")) == answer
    path = tmp_path / "counts.txt"
    path.write_text("10 2\n3 15\ntarget-only: 4 1\n", encoding="utf-8")
    assert without_settings(report(path, "--feature-only", "0 2")) == answer
    assert without_settings(report(LITERAL, "--target-only", "4 1")) == expected(target_only=[4, 1])


def test_counts_of_all_sizes(report: Callable[..., dict[str, object]]) -> None:
    assert without_settings(report("1e12 2.5e11; 0.125 3e12")) == expected([[1e12, 2.5e11], [0.125, 3e12]])


def test_file_with_an_unusual_name(
    report: Callable[..., dict[str, object]],
    refusal: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("zählung.txt", "計数 表.txt", "10 2; 3 99", "7", "a:b", "#1"):
        Path(name).write_text(LITERAL, encoding="utf-8")
        assert without_settings(report(name)) == expected()
    assert refusal("não existe.txt").startswith("não existe.txt: no such file")


def test_long_table_is_not_taken_for_a_file_name(report: Callable[..., dict[str, object]]) -> None:
    """No file name may have 4,096 characters, and asking for one is an error of its own."""
    joint = [[10 + row % 7, 20, 30] for row in range(1000)]
    answer = report("; ".join(" ".join(map(str, row)) for row in joint))
    assert without_settings(answer) == expected(joint)


def test_example_of_the_readme(report: Callable[..., dict[str, object]]) -> None:
    """The file of the first command holds the numbers of the Python example."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "credimi table examples/smoking.txt" in readme
    names = {}
    for name in ("joint", "target_only", "feature_only"):
        found = re.search(rf"^{name} = (\[.*\])", readme, re.MULTILINE)
        assert found is not None
        names[name] = json.loads(found.group(1))
    assert without_settings(report(ROOT / "examples" / "smoking.txt")) == expected(**names)


def test_examples_of_the_help_work(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counts.txt").write_text(LITERAL, encoding="utf-8")
    examples = re.findall(r"^  (?:echo (\".*\") \| )?credimi (table .*)$", call("table", "--help")[1], re.MULTILINE)
    assert len(examples) == 4
    for piped, arguments in examples:
        code, out, _ = call(*shlex.split(arguments), stdin=piped.strip('"').encode())
        assert code == 0
        assert "mean" in out


# What it answers


def test_json_has_the_promised_keys(report: Callable[..., dict[str, object]]) -> None:
    answer = report(LITERAL)
    assert list(answer) == ["mean", "std", "low", "high", "p_above", "p_independent", "mode", "rows", "settings"]
    assert answer["rows"] == 30.0
    assert [len(row) for row in answer["mode"]] == [2, 2]
    assert answer["settings"] == SETTINGS


def test_mode_of_complete_counts_by_hand(report: Callable[..., dict[str, object]]) -> None:
    """Counts and half a pseudo-count a cell, over 30 + 2."""
    assert report(LITERAL)["mode"] == [[10.5 / 32, 2.5 / 32], [3.5 / 32, 15.5 / 32]]


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--prior", "0.25"], {"prior": 0.25}),
        (["--prior", "0"], {"prior": 0.0}),
        (["--prior", "uniform"], {"prior": "uniform"}),
        (["--prior", "haldane"], {"prior": "haldane"}),
        (["--level", "0.5"], {"level": 0.5}),
        (["--epsilon", "0.2"], {"epsilon": 0.2}),
        (["--epsilon", "0"], {"epsilon": 0.0}),
        (["--approximation", "leading"], {"approximation": "leading"}),
        (["--approximation", "leading-beta"], {"approximation": "leading-beta"}),
        (["--approximation", "sampled"], {"approximation": "sampled"}),
        (["--approximation", "sampled", "--seed", "7"], {"approximation": "sampled", "seed": 7}),
        (["--prior", "perks", "--level=0.9", "--epsilon=0.1"], {"prior": "perks", "level": 0.9, "epsilon": 0.1}),
    ],
)
def test_options_reach_the_answer(
    report: Callable[..., dict[str, object]], options: list[str], settings: dict[str, object]
) -> None:
    answer = report(LITERAL, *options)
    assert without_settings(answer) == expected(**settings)
    assert without_settings(answer) != expected()
    shown = {name: value for name, value in settings.items() if name != "seed"}
    assert answer["settings"] == SETTINGS | shown


def test_options_reach_the_answer_for_incomplete_tables(report: Callable[..., dict[str, object]]) -> None:
    margins = {"target_only": [4, 1], "feature_only": [0, 2]}
    options = ["--target-only", "4 1", "--feature-only", "0 2"]
    for approximation in ("leading", "sampled"):
        answer = report(LITERAL, *options, "--approximation", approximation, "--prior", "1")
        assert without_settings(answer) == expected(**margins, approximation=approximation, prior=1)


def test_bits(report: Callable[..., dict[str, object]]) -> None:
    """Information is divided by log 2; chances and probabilities have no unit, and epsilon stays in nats."""
    nats, bits = report(LITERAL), report(LITERAL, "--units", "bits")
    for name in ("mean", "std", "low", "high"):
        assert bits[name] == nats[name] / math.log(2.0)
    for name in ("p_above", "mode", "rows"):
        assert bits[name] == nats[name]
    assert bits["settings"]["units"] == "bits"


def test_one_row_tells_nothing(report: Callable[..., dict[str, object]]) -> None:
    answer = report("10 2 3")
    assert [answer[name] for name in ("mean", "std", "low", "high", "p_above")] == [0.0] * 5


def lines_of(text: str) -> dict[str, str]:
    """The summary's rows, by their names."""
    found = re.findall(r"^│ (.+?) +│ (.+?) +│$", text, re.MULTILINE)
    return dict(found)


def test_text_says_what_json_says(call: Call, report: Callable[..., dict[str, object]]) -> None:
    options = [LITERAL, "--target-only", "4 1", "--feature-only", "0 2", "--level", "0.9", "--epsilon", "0.1"]
    answer = report(*options)
    code, out, _ = call("table", *options)
    assert code == 0
    lines = lines_of(out)
    assert "2 x 2" in out.splitlines()[0]
    assert lines["rows"] == "37 (30 complete, 5 without the feature, 2 without the target)"
    assert lines["mean"] == f"{answer['mean']:.4g} nats"
    assert lines["standard deviation"] == f"{answer['std']:.4g} nats"
    assert lines["90 % interval"] == f"{answer['low']:.4g} to {answer['high']:.4g} nats"
    assert lines["P(I > 0.1 nats)"] == f"{answer['p_above']:.4g}"
    assert lines["possible range"] == "0 to 0.6931 nats"
    assert lines["prior, approximation"] == "adaptive, matched"
    for row in answer["mode"]:
        assert " │ ".join(f"{chance:.4f}" for chance in row) in out


def test_text_in_bits(call: Call, report: Callable[..., dict[str, object]]) -> None:
    answer = report(LITERAL, "--units", "bits")
    lines = lines_of(call("table", LITERAL, "--units", "bits")[1])
    assert lines["mean"] == f"{answer['mean']:.4g} bits"
    assert lines["possible range"] == "0 to 1 bits"
    assert "P(I > 0.003 nats)" in lines


def test_gaussian_has_no_possible_range(call: Call) -> None:
    lines = lines_of(call("table", LITERAL, "--approximation", "leading")[1])
    assert "mean" in lines
    assert "possible range" not in lines


def test_large_table_prints_without_its_mode(call: Call) -> None:
    code, out, _ = call("table", "; ".join(["10 2 3"] * 200))
    assert code == 0
    assert "200 x 3" in out
    assert "Mode of the chances" not in out
    assert "see --format json" in out


@pytest.mark.parametrize(("columns", "width"), [(3, 80), (7, 80), (8, 80), (12, 80), (12, 200)])
def test_text_fits_and_cuts_no_number(call: Call, monkeypatch: pytest.MonkeyPatch, columns: int, width: int) -> None:
    """The mode is shown whole or not at all: 17 characters for the classes and the frame, 9 for each value."""
    literal = "; ".join(" ".join(str(10 + column) for column in range(columns)) for _ in range(3))
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = call("table", literal, "--target-only", "400000 100000 7")
    assert code == 0
    assert max(len(line) for line in out.splitlines()) <= width
    assert "…" not in out
    assert ("Mode of the chances" in out) == (17 + 9 * columns <= width)


def test_text_without_a_terminal(call: Call) -> None:
    _, out, _ = call("table", ROOT / "examples" / "smoking.txt")
    assert max(len(line) for line in out.splitlines()) <= 100
    assert "\x1b" not in out
    assert "Mode of the chances" in out


def test_process_answers_as_the_function_does(report: Callable[..., dict[str, object]]) -> None:
    answer = process("table", "-", "--format", "json", stdin=b"10 2\r\n3 15\r\n")
    assert answer.returncode == 0
    assert json.loads(answer.stdout) == report(LITERAL)


def test_terminal_that_knows_ascii_only() -> None:
    answer = process("table", LITERAL, PYTHONIOENCODING="ascii")
    assert answer.returncode == 0
    assert answer.stdout.isascii()
    assert b"| mean " in answer.stdout


def test_colours_stay_on_the_terminal(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    path = tmp_path / "report.txt"
    ours, theirs = pty.openpty()
    terminal = buffered_environment() | {"TERM": "xterm-256color", "COLUMNS": "80"}
    terminal.pop("NO_COLOR", None)
    try:
        for options in ([], ["--output", str(path)]):
            subprocess.run([*COMMAND, "table", LITERAL, *options], stdout=theirs, env=terminal, timeout=60, check=True)
        shown = os.read(ours, 65536)
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"\x1b[" in shown
    assert shown.count(b"Mutual information") == 1
    assert "Mutual information" in path.read_text(encoding="utf-8")
    assert "\x1b" not in path.read_text(encoding="utf-8")


# --output


def test_output_is_what_would_have_been_printed(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "répons.json"
    for form in ("json", "table"):
        printed = call("table", LITERAL, "--format", form)[1]
        assert call("table", LITERAL, "--format", form, "--output", path) == (0, "", "")
        assert path.read_text(encoding="utf-8") == printed
    assert list(tmp_path.iterdir()) == [path]


def test_output_in_the_current_folder(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("table", LITERAL, "--format", "json", "--output", "out.json")[0] == 0
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["rows"] == 30.0
    assert list(tmp_path.iterdir()) == [tmp_path / "out.json"]


def test_output_replaces_a_file(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("x" * 100_000, encoding="utf-8")
    assert call("table", LITERAL, "--format", "json", "--output", path)[0] == 0
    assert json.loads(path.read_text(encoding="utf-8"))["rows"] == 30.0
    assert list(tmp_path.iterdir()) == [path]


def test_output_is_not_the_input(refusal: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(LITERAL, encoding="utf-8")
    assert refusal(str(path), "--output", str(path)) == f"{path} is the input: name another file"
    assert path.read_text(encoding="utf-8") == LITERAL


def test_output_has_the_permissions_of_any_file(call: Call, tmp_path: Path) -> None:
    plain, private, fresh = tmp_path / "plain", tmp_path / "private", tmp_path / "fresh"
    plain.touch()
    private.touch(mode=0o600)
    for path in (private, fresh):
        assert call("table", LITERAL, "--output", path)[0] == 0
    assert stat.S_IMODE(fresh.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_output_follows_a_link(call: Call, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert call("table", LITERAL, "--format", "json", "--output", link)[0] == 0
    assert link.is_symlink()
    assert json.loads(target.read_text(encoding="utf-8"))["rows"] == 30.0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_output_to_a_pipe_leaves_it_a_pipe(call: Call, tmp_path: Path) -> None:
    """A device such as /dev/null must not be replaced by a file; a pipe stands for it here."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # held open, so that writing does not wait for a reader
    try:
        assert call("table", LITERAL, "--format", "json", "--output", path)[0] == 0
        content = os.read(reader, 65536)
    finally:
        os.close(reader)
    assert json.loads(content)["rows"] == 30.0
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


def test_output_that_cannot_be_written_leaves_nothing_behind(
    refusal: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("folder").mkdir()
    for path, reason in (
        ("absent/out.json", "absent/out.json cannot be written: there is no directory absent"),
        ("file/out.json", "file/out.json cannot be written: there is no directory file"),
        ("folder", "'folder' is a directory: name a file to write"),
        (".", "'.' is a directory: name a file to write"),
        ("", "'' is empty: name a file to write"),
    ):
        assert refusal(LITERAL, "--output", path) == reason
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "file", tmp_path / "folder"]
    assert Path("file").read_bytes() == b""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_output_in_a_folder_that_may_not_be_written(refusal: Callable[..., str], tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o500)
    assert refusal(LITERAL, "--output", folder / "out.json").endswith("cannot be written: Permission denied")
    assert list(folder.iterdir()) == []


def test_refused_input_leaves_the_old_output(refusal: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old", encoding="utf-8")
    refusal("10 2; 3", "--output", path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("fault", "code"), [(OSError(28, "No space left on device"), 2), (KeyboardInterrupt(), 130)])
def test_output_broken_off_leaves_the_old_one(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException, code: int
) -> None:
    path = tmp_path / "out.json"
    path.write_text("old", encoding="utf-8")

    def break_off(*_: object) -> None:
        raise fault

    monkeypatch.setattr(Path, "replace", break_off)
    answer = call("table", LITERAL, "--output", path)
    assert answer[0] == code
    assert answer[1] == ""
    assert answer[2].startswith("credimi: ")
    assert answer[2].count("\n") == 1
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.filterwarnings("default")
def test_warning_is_one_line_on_standard_error(call: Call) -> None:
    margins = ["--target-only", "3000 2000", "--feature-only", "2500 2500"]
    code, out, err = call(
        "table", "1 0; 0 1", *margins, "--prior", "jeffreys", "--approximation", "sampled", "--format", "json"
    )
    assert code == 0
    assert math.isfinite(json.loads(out)["mean"])
    assert err.startswith("credimi: warning: the draws have not converged: r_hat is ")
    assert err.count("\n") == 1


def test_compilation_is_announced_to_the_latest_command_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("first", "second", "third"):
        monkeypatch.setattr(wishes, "compiling", lambda name=name: calls.append(name))
    event.start_event("numba:compile")
    assert calls == ["third"]


# What it refuses


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10 2; 3", "row 2 has 1 counts, row 1 has 2"),
        ("10 2\n3 15 7\n", "row 2 has 3 counts, row 1 has 2"),
        ("10 two; 3 15", "'two' is not a count"),
        ("10 -2; 3 15", "'-2' is not a count: counts are numbers from 0 up"),
        ("10 nan; 3 15", "'nan' is not a count"),
        ("1_0 2; 3 15", "'1_0' is not a count: counts are numbers from 0 up"),
        ("10 2; 3 15; target-only: 4 1_0", "'1_0' is not a count"),
        ("10 inf; 3 15", "'inf' is not a count"),
        ("10 1e999; 3 15", "'1e999' is not a count"),
        ("10 1e200; 3 15", "at most 1e+15"),
        ("10 2 | 3 15", "'|' is not a count"),
        ("10 ,,2; 3 15", "put 0 for no count"),
        ("10, ; 3 15", "put 0 for no count"),
        ("10 2; 3 15; classes: 4 1", "'classes' is not known: use 'target-only:' or 'feature-only:'"),
        ("10 2; 3 15; target-only:", "holds no counts"),
        ("10 2; 3 15; target-only: 4 x", "'x' is not a count"),
        ("10 2; 3 15; target-only: 4 1; target-only: 4 1", "target-only is given twice"),
        ("10 2; 3 15; target-only: 4 1 0", "target_only needs one count for each row of joint (a target class): 2"),
        ("target-only: 4 1", "holds no counts"),
        ("0 0; 0 0; target-only: 0 0", "all counts are 0"),
    ],
)
def test_text_that_is_no_table(refusal: Callable[..., str], tmp_path: Path, text: str, said: str) -> None:
    """The same fault is refused in the argument, in a file and on standard input."""
    path = tmp_path / "counts.txt"
    path.write_text(text, encoding="utf-8")
    for source, stdin in ((text, b""), (path, b""), ("-", text.encode())):
        assert said in refusal(source, "--prior", "haldane", stdin=stdin)


def test_fault_in_a_file_is_named_with_its_line(refusal: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "counts.txt"
    for text, line, word in (
        ("# counts\n10 2\n3 x\n", 3, "'x'"),
        ("\n\n10 -2\n3 15\n", 3, "'-2'"),
        ("10 2\r\n3 15\r\nrows: 1 2\r\n", 3, "'rows'"),
    ):
        path.write_text(text, encoding="utf-8", newline="")
        assert refusal(path).startswith(f"{path}, line {line}: {word} is not ")
        assert refusal("-", stdin=text.encode()).startswith(f"standard input, line {line}: {word} is not ")


@pytest.mark.parametrize("content", ["", "   ", "\n\n", "# only\n# comments\n", "#", "\ufeff", ";;\n;"])
def test_file_without_counts(refusal: Callable[..., str], tmp_path: Path, content: str) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(content, encoding="utf-8")
    assert refusal(path).startswith(f"{path} holds no counts: give one row a target class")
    assert refusal("-", stdin=content.encode()).startswith("standard input holds no counts")


@pytest.mark.parametrize("source", ["", " ", "\n"])
def test_empty_argument(refusal: Callable[..., str], source: str) -> None:
    assert refusal(source).startswith('the table is empty: pass counts such as "10 2; 3 15", a file name, or -')


@pytest.mark.parametrize("content", [b"\xff\xfe1\x000\x00", b"10 2\n3 \xe9\n", bytes(range(256))])
def test_file_that_is_no_text(refusal: Callable[..., str], tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "counts.bin"
    path.write_bytes(content)
    assert "is not text in UTF-8 (byte" in refusal(path)
    assert "standard input is not text in UTF-8 (byte" in refusal("-", stdin=content)


def test_source_that_cannot_be_read(refusal: Callable[..., str], tmp_path: Path) -> None:
    assert refusal(tmp_path / "absent.txt") == (
        f'{tmp_path / "absent.txt"}: no such file; counts are written like "10 2; 3 15"'
    )
    assert refusal(tmp_path) == f"{tmp_path} cannot be read: Is a directory"
    assert refusal("[[a,b],\n[c,d]]").startswith("[[a,b], [c,d]]: no such file")
    assert refusal("x" * 5000).endswith("cannot be read: File name too long")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--prior", "jefreys"], "unknown prior 'jefreys': did you mean 'jeffreys'?"),
        (["--prior", "zzz"], "unknown prior 'zzz': choose one of uniform, jeffreys, perks, haldane"),
        (["--prior", ""], "unknown prior ''"),
        (["--prior=-1"], "prior is -1: a pseudo-count is a number from 0 up"),
        (["--prior", "1_0"], "unknown prior '1_0'"),
        (["--prior", "nan"], "prior is nan: "),
        (["--prior", "inf"], "prior is inf: "),
        (["--approximation", "matchd"], "unknown approximation 'matchd': did you mean 'matched'?"),
        (["--approximation", ""], "unknown approximation '': choose one of matched, leading, leading-beta, sampled"),
        (["--level", "0"], "--level is 0: it must lie between 0 and 1"),
        (["--level", "1"], "--level is 1: it must lie between 0 and 1"),
        (["--level", "2"], "--level is 2: it must lie between 0 and 1"),
        (["--level", "nan"], "--level is nan: it must lie between 0 and 1"),
        (["--level", "-0.5"], "--level is -0.5: it must lie between 0 and 1"),
        (["--epsilon", "-0.1"], "--epsilon is -0.1: it must be a finite number of nats from 0 up"),
        (["--epsilon", "nan"], "--epsilon is nan: it must be a finite number"),
        (["--epsilon", "inf"], "--epsilon is inf: it must be a finite number"),
        (
            ["--target-only", "4"],
            "target_only needs one count for each row of joint (a target class): 2 numbers, got 1",
        ),
        (["--feature-only", "4 1 0"], "feature_only needs one count for each column of joint (a feature value): 2"),
        (["--target-only", ""], "target-only holds no counts"),
        (["--target-only", "4 x"], "target-only: 'x' is not a count"),
        (["--feature-only", "4 -1"], "feature-only: '-1' is not a count"),
        (["--feature-only", "4; 1"], "feature-only: '4;' is not a count"),
    ],
)
def test_option_that_is_wrong(refusal: Callable[..., str], options: list[str], said: str) -> None:
    assert refusal(LITERAL, *options).startswith(said)


@pytest.mark.parametrize("name", ["target-only", "feature-only"])
def test_margin_given_twice(refusal: Callable[..., str], tmp_path: Path, name: str) -> None:
    path = tmp_path / "counts.txt"
    path.write_text(f"10 2\n3 15\n{name}: 4 1\n", encoding="utf-8")
    assert refusal(path, f"--{name}", "4 1") == f"{name} is given both in {path} and as an option: keep one of them"
    path.write_text(f"10 2\n3 15\n{name}: 4 1\n{name}: 4 1\n", encoding="utf-8")
    assert refusal(path) == f"{path}, line 4: {name} is given twice: keep one of them"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["tabel"], "invalid choice: 'tabel'"),
        (["table"], "the following arguments are required: TABLE"),
        (["table", "10", "2"], "unrecognized arguments: 2"),
        (["table", LITERAL, "--units", "hartleys"], "argument --units: invalid choice: 'hartleys'"),
        (["table", LITERAL, "--format", "xml"], "argument --format: invalid choice: 'xml'"),
        (["table", LITERAL, "--level", "high"], "argument --level: 'high' is not a number"),
        (["table", LITERAL, "--epsilon", ""], "argument --epsilon: '' is not a number"),
        (["table", LITERAL, "--seed", "-1"], "argument --seed: '-1' is not a whole number from 0 up"),
        (["table", LITERAL, "--seed", "1.5"], "argument --seed: '1.5' is not a whole number from 0 up"),
        (["table", LITERAL, "--output"], "argument --output: expected one argument"),
        (["table", LITERAL, "--colour"], "unrecognized arguments: --colour"),
        (["table", LITERAL, "two\nlines"], "unrecognized arguments: two lines"),
    ],
)
def test_arguments_that_are_wrong(call: Call, arguments: list[str], said: str) -> None:
    code, out, err = call(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("credimi: ")
    program = "credimi table" if arguments[:1] == ["table"] else "credimi"
    assert err.endswith(f" (see {program} --help)\n")
    assert said in err
    assert err.count("\n") == 1


def test_version(call: Call) -> None:
    assert call("--version") == (0, f"credimi {credimi.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["table", "--help"]])
def test_help_fits_in_80_columns(call: Call, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    assert out.startswith("usage: credimi")
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_help_names_every_option_and_its_default(call: Call) -> None:
    out = " ".join(call("table", "--help")[1].split())
    for option in ("target-only", "feature-only", "prior", "approximation", "epsilon", "level", "seed", "units"):
        assert f"--{option} " in out
    for default in ("adaptive", "matched", "0.003", "0.95", "nats", "table"):
        assert f"(default: {default})" in out


# Processes


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, b"arguments are required: COMMAND"),
        (["--version"], 0, b""),
        (["table", "10 2; 3"], 2, b"credimi: the table: row 2 has 1 counts, row 1 has 2"),
        (["table", LITERAL, "--prior", "jefreys"], 2, b"credimi: unknown prior 'jefreys': did you mean 'jeffreys'?"),
    ],
)
def test_exit_code_of_the_process(arguments: list[str], code: int, said: bytes) -> None:
    answer = process(*arguments)
    assert answer.returncode == code
    assert said in answer.stderr
    assert b"Traceback" not in answer.stderr
    assert (answer.stdout == b"") == (code == 2)


def test_reader_that_leaves_is_no_fault(tmp_path: Path) -> None:
    """As in `credimi table ... | head -1`: once before anything was written, once with more than a pipe holds."""
    path = tmp_path / "counts.txt"
    path.write_text("\n".join(" ".join(["7"] * 50) for _ in range(100)), encoding="utf-8")
    for arguments, first in (([LITERAL], b""), ([str(path), "--format", "json"], b"{\n")):
        with subprocess.Popen(
            [*COMMAND, "table", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=buffered_environment(),
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            if first:
                assert running.stdout.readline() == first
            running.stdout.close()
            complaint = running.stderr.read()
            assert running.wait(60) == 0
        assert b"Traceback" not in complaint
        assert b"Exception ignored" not in complaint
        assert b"Broken" not in complaint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        answer = subprocess.run(
            [*COMMAND, "table", LITERAL],
            stdout=full,
            stderr=subprocess.PIPE,
            env=buffered_environment(),
            timeout=60,
            check=False,
        )
    assert answer.returncode == 2
    assert answer.stderr.endswith(b"credimi: standard output cannot be written: No space left on device\n")
    assert b"Exception ignored" not in answer.stderr


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="needs a shell that closes standard streams")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("table - <&-", "credimi: standard input is closed"),
        (f"table '{LITERAL}' >&-", "credimi: standard output is closed"),
    ],
)
def test_closed_streams_are_told(command: str, said: str) -> None:
    answer = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -m credimi.cli {command}', sys.executable],
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 2
    assert said in answer.stderr.splitlines()[-1]
    assert "Traceback" not in answer.stderr
