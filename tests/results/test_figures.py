"""The figures and the notebook's tables: what they show, and what they refuse."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from credimi import CredimiError, Distribution, mutual_information, network, plot_prequential, prequential, rank, select

if TYPE_CHECKING:
    from credimi import Ranking

mpl = pytest.importorskip("matplotlib")

CLINIC = Path(__file__).parents[2] / "examples" / "clinic.csv"


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    return rank(CLINIC, "diabetes")


def test_the_forest_plot_shows_the_best(ranking: Ranking) -> None:
    axes = ranking.plot(top=5)
    assert [label.get_text() for label in axes.get_yticklabels()] == ranking.columns["feature"][:5]
    intervals = [line.get_xdata() for line in axes.get_lines() if len(line.get_xdata()) == 2]
    assert intervals[0] == pytest.approx([ranking["glucose"]["low"], ranking["glucose"]["high"]])
    assert "diabetes" in axes.get_xlabel()
    assert [text.get_text() for text in axes.texts] == ["epsilon 0.00298"]


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_pictures_are_the_same_bytes_again(ranking: Ranking, tmp_path: Path, kind: str) -> None:
    for name in ("one", "two"):
        ranking.plot(tmp_path / f"{name}.{kind}", top=3)
    assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_it_is_drawn_where_it_is_asked_to(ranking: Ranking) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415

    axes = Figure().subplots()
    assert ranking.plot(ax=axes) is axes
    assert mutual_information([[9, 1], [2, 8]]).plot(ax=axes) is axes


def test_a_path_is_taken_wherever_axes_are(tmp_path: Path) -> None:
    law, run = mutual_information([[9, 1], [2, 8]]), prequential({"x": list("ab") * 9, "y": list("pq") * 9}, "y")
    law.plot(tmp_path / "law.svg")
    run.plot(tmp_path / "run.png")
    plot_prequential(run, str(tmp_path / "again.pdf"))
    assert {path.name for path in tmp_path.iterdir()} == {"law.svg", "run.png", "again.pdf"}
    axes = law.plot()
    assert law.plot(axes) is run.plot(ax=axes) is plot_prequential(run, axes) is axes
    with pytest.raises(CredimiError, match="is no picture"):
        law.plot(tmp_path / "law.txt")


def test_odd_names_are_no_formulas(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    names = ["$\\frac{$", "<b>", "x" * 500, "", "a\nb"]
    columns = {name: generator.integers(0, 3, 50).tolist() for name in names}
    found = rank(columns | {"$y$": generator.integers(0, 2, 50).tolist()}, "$y$")
    found.plot(tmp_path / "odd.svg")
    assert max(len(label.get_text()) for label in found.plot().get_yticklabels()) < 50


@pytest.mark.parametrize("options", [{"path": "picture.gif"}, {"path": "picture"}, {"top": 0}])
def test_what_cannot_be_drawn_is_refused(ranking: Ranking, options: dict[str, object]) -> None:
    with pytest.raises(CredimiError):
        ranking.plot(**options)  # type: ignore[arg-type]


def test_a_picture_of_too_many_pixels_is_refused(
    ranking: Ranking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many they may be depends on the version of matplotlib; a tree of very many leaves has more."""

    def too_large(*_: object, **__: object) -> None:
        raise ValueError("Image size of 960x99999 pixels is too large.")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", too_large)
    with pytest.raises(
        CredimiError, match=r"a\.png cannot be drawn \(Image size .*\): name a \.svg file, or draw less"
    ):
        ranking.plot(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_it_says_what_to_install(ranking: Ranking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (ranking.plot, mutual_information([[9, 1], [2, 8]]).plot):
        with pytest.raises(CredimiError, match=r"pip install 'credimi\[plot\]'"):
            draw()


@pytest.mark.parametrize(
    "law",
    [
        mutual_information([[9, 1], [2, 8]]),
        mutual_information([[50, 50], [50, 50]]),
        mutual_information([[9, 1], [2, 8]], prior="uniform", approximation="leading"),
        mutual_information([[9, 1], [2, 8]], approximation="sampled", random_state=0),
        Distribution.point(0.0),
        Distribution.point(0.2),
    ],
)
def test_the_density_is_drawn_with_its_atom(law: Distribution) -> None:
    axes = law.plot()
    heights = axes.get_lines()[0].get_ydata()
    assert np.isfinite(heights).all()
    stems = [other for other in axes.figure.axes if other is not axes]
    assert bool(stems) == (law.p_zero > 0.0 or law.std() == 0.0)
    if law.p_zero > 0.0:
        assert stems[0].get_lines()[0].get_ydata()[1] == pytest.approx(law.p_zero)


def test_a_prequential_run_is_drawn() -> None:
    generator = np.random.default_rng(0)
    classes = generator.integers(0, 2, 60)
    run = prequential({"x": classes.tolist(), "y": classes.tolist()}, "y", orders=2)
    for axes in (run.plot(), plot_prequential(run)):
        assert [line.get_label() for line in axes.get_lines()] == list(run.rules)
    assert plot_prequential(run, axes) is axes


def test_the_summary_of_a_prequential_run_is_drawn_too() -> None:
    pandas = pytest.importorskip("pandas")
    columns = {"x": ["a", "b"] * 30, "y": ["p", "q"] * 30}
    run = prequential(columns, "y", orders=2)
    for summary in (run.summary(), {"results": run.summary()}, pandas.DataFrame(run.summary())):
        axes = plot_prequential(summary)
        assert axes.get_legend_handles_labels()[1] == list(run.rules)
        assert axes.get_lines()[0].get_ydata() == pytest.approx(run.summary()[0]["accuracy_mean"])


@pytest.mark.parametrize("result", [None, 3, {}, {"results": [{"rule": "forward"}]}, [1, 2]])
def test_what_is_no_prequential_run_is_refused(result: object) -> None:
    with pytest.raises(CredimiError, match="no result of prequential"):
        plot_prequential(result)


def test_a_notebook_shows_escaped_tables(ranking: Ranking) -> None:
    html = ranking._repr_html_()
    assert "glucose" in html
    assert html.count("<tr>") == 21
    columns = {"<script>alert(1)</script>": ["a", "b"] * 30, "y": ["p", "q"] * 30}
    hostile = rank(columns, "y")._repr_html_()
    assert "<script" not in hostile
    assert "&lt;script&gt;" in hostile
    law = mutual_information([[50, 50], [50, 50]])._repr_html_()
    assert "P(I = 0)" in law


def test_nothing_touches_the_edge_and_names_of_a_network_have_halos(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    names = [f"measurement of a long quantity {place} of the north wing" for place in range(5)]
    columns = {name: generator.integers(0, 3, 600) for name in names}
    columns[names[1]] = np.where(generator.random(600) < 0.2, columns[names[1]], columns[names[0]])
    target = (columns[names[0]] + columns[names[2]] > 1).astype(int)
    chosen = select(columns | {"a target of a rather long name": target}, "a target of a rather long name")
    chosen.plot(tmp_path / "steps.png")
    drawn = network(columns).plot(tmp_path / "network.png")
    for name in ("steps", "network"):
        picture = mpl.image.imread(tmp_path / f"{name}.png")[:, :, :3]
        for edge in (picture[:5], picture[-5:], picture[:, :5], picture[:, -5:]):
            assert (edge > 0.99).all(), name
    assert sum(bool(each.get_path_effects()) for each in drawn.texts) == len(names)
    below = chosen.plot(what="redundancy")
    known = [chance for each in (*chosen.steps, *chosen.rejected) for chance in each.p_redundant if chance is not None]
    assert sorted(float(each.get_text()) for each in below.texts) == sorted(round(chance, 2) for chance in known)
