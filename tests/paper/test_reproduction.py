"""The papers' data sets, their download, the report, its page and figures; the committed results are what comes out."""

from __future__ import annotations

import functools
import json
import runpy
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import credimi
from credimi.cli import main
from credimi.paper import paper_datasets, paper_figures, paper_report, reproduction

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
COMMITTED = ROOT / "docs" / "reproduction.json"
here = pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not here")
BEGIN, END = "<!-- tables: written by credimi reproduce -->\n", "<!-- end of tables -->\n"


class Quiet(SimpleHTTPRequestHandler):
    asked: list[str]

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002  (the name is the server's)
        pass

    def do_GET(self) -> None:
        self.asked.append(self.path)
        super().do_GET()


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[tuple[str, Path, list[str]]]:
    """A file server on this machine: its address, its folder, and the paths that it was asked for."""
    folder = tmp_path / "repository"
    folder.mkdir()
    asked: list[str] = []
    handler = functools.partial(type("Handler", (Quiet,), {"asked": asked}), directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", folder, asked
        server.shutdown()
        thread.join()


def lymphography(separator: str) -> str:
    """A file of the shape of lymphography's, invented."""
    generator = np.random.default_rng(0)
    answers = generator.integers(1, 5, size=148)
    lines = [
        separator.join([str(answer), *(str((answer + extra) % 4 + 1) for extra in generator.integers(3, size=18))])
        for answer in answers
    ]
    return "\n".join(lines) + "\n"


def test_data_are_downloaded_once(
    repository: tuple[str, Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooch = pytest.importorskip("pooch")
    address, folder, asked = repository
    (folder / "lymphography").mkdir()
    (folder / "lymphography" / "lymphography.data").write_text(lymphography(","), encoding="utf-8")
    monkeypatch.setenv(paper_datasets.MIRROR, address)
    monkeypatch.delenv(paper_datasets.VARIABLE, raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    first = paper_datasets.load("lymphography")
    again = paper_datasets.load("lymphography")
    assert len(first.rows) == 148
    assert asked == ["/lymphography/lymphography.data"]
    assert np.array_equal(first.rows.codes, again.rows.codes)


def test_a_failed_download_says_what_to_do(
    repository: tuple[str, Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pooch")
    monkeypatch.setenv(paper_datasets.MIRROR, repository[0])
    with pytest.raises(
        credimi.CredimiError, match=r"name a folder that has crx\.data \(--data DIR.*cannot download from"
    ):
        paper_datasets.fetched("crx", ["crx.data"], tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("*.data"))


def test_without_pooch_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(credimi.CredimiError, match=r"name a folder that has crx\.data.*credimi\[reproduce\]"):
        paper_datasets.fetched("crx", ["crx.data"])


def test_both_forms_of_a_file_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = []
    for place, separator in enumerate((",", " ")):
        folder = tmp_path / str(place) / "lymphography"
        folder.mkdir(parents=True)
        (folder / "lymphography.data").write_text(lymphography(separator), encoding="utf-8")
        monkeypatch.setenv(paper_datasets.VARIABLE, str(tmp_path / str(place)))
        codes.append(paper_datasets.load("lymphography").rows.codes)
    assert np.array_equal(*codes)


def test_a_wrong_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("", encoding="utf-8")
    with pytest.raises(credimi.CredimiError, match=r"^name a folder .*crx\.data \(crx\); lym.*has notes\.txt$"):
        paper_datasets.load_all(["crx", "lymphography"], tmp_path)
    (tmp_path / "crx.data").write_text("a,b,c\n", encoding="utf-8")
    with pytest.raises(credimi.CredimiError, match="line 1, has 3 fields, not 16"):
        paper_datasets.load("crx", tmp_path)
    with pytest.raises(credimi.CredimiError, match="unknown data set 'iris'"):
        paper_datasets.load("iris", tmp_path)


def test_files_are_found_in_any_folder_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "downloads" / "my copy"
    deep.mkdir(parents=True)
    (deep / "lymphography.data").write_text(lymphography(" "), encoding="utf-8")
    assert len(paper_datasets.load("lymphography", tmp_path).rows) == 148
    monkeypatch.delenv(paper_datasets.VARIABLE, raising=False)
    monkeypatch.chdir(deep)
    assert len(paper_datasets.load("lymphography").rows) == 148  # nothing named: the working folder


@here
@pytest.mark.parametrize("name", paper_datasets.SOURCES)
def test_data_are_as_the_papers_describe_them(name: str) -> None:
    known = {
        "audiology": ("share of the largest class: 0.252 here, 0.212 in the paper",),
        "australian": ("features: 14 here, 36 in the paper",),
    }
    assert paper_datasets.load(name, DATA).differences == known.get(name, ())


def committed() -> dict[str, Any]:
    report: dict[str, Any] = json.loads(COMMITTED.read_text(encoding="utf-8"))
    return report


def test_the_page_shows_the_committed_results() -> None:
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert page.split(BEGIN)[1].split(END)[0].strip() == paper_report.markdown(committed()).strip()


@here
@pytest.mark.parametrize("name", ["crx", "horse-colic"])
def test_the_committed_results_come_out_again(name: str) -> None:
    report = committed()
    settings = report["settings"]
    again, _ = reproduction.reproduce(
        data=DATA, names=[name], orders=settings["orders"], seed=settings["seed"], quick=True
    )
    for part in ("results", "significance"):
        fresh = [json.dumps(row, sort_keys=True) for row in again[part]]
        before = {json.dumps(row, sort_keys=True) for row in report[part]}
        assert fresh
        assert set(fresh) <= before


def test_the_page_opens_with_what_is_reproduced_and_shows_the_figures() -> None:
    html = paper_report.page(committed(), {"crx": "data:image/svg+xml;base64,AAAA"})
    said = [html.index(words) for words in ("What is reproduced", "the paper&#x27;s table, and ours", "<img src=")]
    assert said == sorted(said)
    assert "15 of 15 within 10 %, chosen out of 33 settings by these figures" in html
    for row in paper_report.parts(committed())[0].lines:
        assert row[2] in {"yes", "nearly", "in part", "no", "by choice"}


def test_fifteen_of_fifteen_is_never_said_alone() -> None:
    """The setting was chosen by the figures that it meets."""
    texts = [paper_report.markdown(committed()), paper_report.page(committed(), {})]
    for text in texts:
        assert text.count("15 of 15 within 10 %") == text.count("15 of 15 within 10 %, chosen out of 33 settings")


def test_the_search_compared_as_many_settings_as_the_page_says() -> None:
    settings = runpy.run_path(str(ROOT / "studies" / "nearest_setting.py"))["settings"]()
    assert len(settings) == len(set(settings)) == reproduction.SETTINGS_COMPARED


def test_the_threshold_adapts() -> None:
    """Epsilon + 2 sd, of the median feature, from the first k rows of an order: as `mutual_information` has it."""
    generator = np.random.default_rng(3)
    target = generator.integers(2, size=90)
    data = {name: np.where(generator.random(90) < 0.7, target, generator.integers(2, size=90)) for name in "abc"}
    run = credimi.prequential(
        {name: values.astype(str) for name, values in data.items()}, target.astype(str), method="paper", orders=1
    )
    rows, threshold = run.adapting_threshold()
    assert (rows[0], rows[-1]) == (10, 90)
    for k, found in zip(rows[::8], threshold[::8], strict=True):
        first = run.orders[0, :k]
        std = [
            credimi.mutual_information(target[first], values[first], method="paper").std() for values in data.values()
        ]
        assert found == pytest.approx(0.003 + 2.0 * np.median(std), rel=1e-9)


def test_the_committed_results_meet_the_paper_where_the_page_says_so() -> None:
    report = committed()
    nearest = report["settings"]["nearest"]
    off = [
        abs(per_cent) for *_, per_cent in paper_report.deviations(report, nearest["prior"], nearest["approximation"])
    ]
    assert len(off) == 15
    assert sum(per_cent <= 10.0 for per_cent in off) >= 11
    assert max(off) <= 25.0


def test_a_result_has_the_keys_that_others_script_against() -> None:
    keys = {"dataset", "rule", "prior", "approximation", "orders", "features_mean", "features_sd", "accuracy_mean"}
    keys |= {"accuracy_sd", "paper_features"}
    for row in committed()["results"]:
        assert keys <= set(row)


@pytest.mark.long
@here
def test_the_command_writes_all_and_goes_on_from_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", "--data", str(DATA), "--orders", "2", "--quick", "--dataset", "horse-colic"]
    texts = []
    for folder in ("one", "one", "two"):
        assert main([*command, "--output", str(tmp_path / folder)]) == 0
        texts.append(capsys.readouterr().out)
    assert len(set(texts)) == 1
    assert "the paper's method: raw-counts, Gaussian" in texts[0]
    for name in ("reproduction.html", "reproduction.json", "reproduction.md", "horse-colic.svg", "horse-colic.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    report = json.loads((tmp_path / "one" / "reproduction.json").read_text(encoding="utf-8"))
    assert report["settings"]["orders"] == 2
    assert {row["rule"] for row in report["results"]} == {"forward", "plugin", "backward", "all", "imputed"}


def test_offline_and_without_matplotlib_all_but_the_figures_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the working folder; the set has no figures of the paper to compare with, which is no error."""
    monkeypatch.delenv(paper_datasets.VARIABLE, raising=False)
    for name in ("matplotlib", "pooch"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "lymphography.data").write_text(lymphography(","), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "--dataset", "lymphography", "--quick", "--orders", "1"]) == 0
    printed = capsys.readouterr()
    assert "without figures: matplotlib is not installed" in printed.err
    assert "raw-counts, Gaussian" in printed.out
    page = (tmp_path / "reproduction" / "reproduction.html").read_text(encoding="utf-8")
    assert "one count added: uniform, Gaussian" in page
    assert "<img" not in page
    assert sorted(each.name for each in (tmp_path / "reproduction").iterdir()) == [
        "reproduction.html", "reproduction.json", "reproduction.md", "runs",
    ]  # fmt: skip


def test_the_command_refuses_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--data", str(tmp_path / "nowhere"), "--output", str(tmp_path / "out")]) == 2
    assert "credimi: name a folder that has these files" in capsys.readouterr().err
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["reproduce", "--data", str(tmp_path), "--output", str(tmp_path / "file")]) == 2
    assert "is not a folder that can be written to" in capsys.readouterr().err


def test_prequential_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "data.csv"
    rows = [f"{'ab'[i % 2]},{'xyz'[(i % 2) + (i % 5 == 0)]},{'pq'[i // 3 % 2]}" for i in range(60)]
    path.write_text("class,strong,noise\n" + "\n".join([*rows, "?,x,p"]) + "\n", encoding="utf-8")
    command = ["prequential", str(path), "--target", "class", "--orders", "3", "--random-state", "5"]
    assert main([*command, "--rule", "forward", "--rule", "all"]) == 0
    shown = capsys.readouterr().out
    assert "Naive Bayes on class, 60 rows in 3 random orders, 2 features" in shown
    assert "1 row without the target" in shown
    assert main([*command, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    result = credimi.prequential(path, "class", orders=3, random_state=5)
    assert report["results"] == result.summary()
    assert report["rows_without_target"] == 1
    assert main([*command, "--format", "csv", "--output", str(tmp_path / "out.csv")]) == 0
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert "rule,orders,accuracy_mean,accuracy_sd,features_mean,features_sd" in lines
    assert len([line for line in lines if not line.startswith("#")]) == 4


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ([], "name the target"),
        (["--target", "clas"], "did you mean 'class'"),
        (["--target", "class", "--approximation", "sampled"], "would take days"),
        (["--target", "class", "--level", "2"], "--level is 2"),
    ],
)
def test_prequential_refuses_in_words(
    extra: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.csv"
    path.write_text("class,one\na,x\nb,y\na,y\n", encoding="utf-8")
    assert main(["prequential", str(path), *extra]) == 2
    assert message in capsys.readouterr().err


@here
@pytest.mark.slow
def test_the_search_for_the_nearest_setting_runs() -> None:
    script = [sys.executable, "-W", "error", str(ROOT / "studies" / "nearest_setting.py"), "--data", str(DATA)]
    answer = subprocess.run(
        [*script, "--orders", "1", "--dataset", "horse-colic"], capture_output=True, text=True, check=True
    )
    assert len(answer.stdout.splitlines()) == 2 + 2 * 15 + 3


def test_a_figure_is_drawn_twice_the_same(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    generator = np.random.default_rng(1)
    table = {"one": generator.integers(2, size=40).astype(str)}
    run = credimi.prequential(table, generator.integers(2, size=40).astype(str), orders=2)
    contents = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        written = paper_figures.draw("set", [run, run], tmp_path / folder)
        contents.append([path.read_bytes() for path in written])
    assert contents[0] == contents[1]
    assert contents[0][0].startswith(b"\x89PNG")
