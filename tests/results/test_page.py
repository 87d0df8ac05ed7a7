"""The page: decides in JavaScript as Python does, is safe whatever the data hold, asks for nothing, stays small."""

from __future__ import annotations

import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_helpers import DECIDE, EPSILONS, HOSTILE, data_of, hostile_ranking, node, shown, table

from credimi import CredimiError, Ranking, count, mutual_information, rank
from credimi.cli import main
from credimi.inference import rules
from credimi.results.page import ranking_page as page

CLINIC = Path(__file__).parents[2] / "examples" / "clinic.csv"
RULES = ("plugin", "forward", "backward", "fdr")


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
@pytest.mark.parametrize("approximation", ["matched", "leading", "leading-beta"])
def test_the_page_decides_as_rank_does(prior: str, approximation: str) -> None:
    counts = count(table(60) | {"constant": ["x"] * 300, "id": [f"row {row}" for row in range(300)]}, "class")
    options: dict[str, Any] = {"prior": prior, "approximation": approximation}
    data = data_of(rank(counts, epsilon=0.0123, **options))
    asked = [(epsilon, 0.95) for epsilon in EPSILONS] + [(0.01, level) for level in (0.5, 0.8, 0.999)]
    asked.append((0.0123, 0.95))
    for (epsilon, level), found in zip(asked, node(DECIDE, {"report": data, "asked": asked}), strict=True):
        expected = rank(counts, epsilon=epsilon, level=level, **options)
        assert data["features"]["name"] == expected.columns["feature"]
        for mine, theirs in zip(found["p_above"], expected.columns["p_above"], strict=True):
            known = math.nan if mine is None else mine
            assert known == pytest.approx(theirs, rel=1e-9, abs=1e-13, nan_ok=True)
        assert found["verdict"] == expected.columns["verdict"]
        for rule in RULES:
            assert found[rule] == expected.columns[f"keep_{rule}"], rule


def test_the_page_decides_as_rank_does_on_the_example() -> None:
    counts = count(CLINIC, "diabetes")
    data = data_of(rank(counts))
    asked = [(epsilon, level) for epsilon in EPSILONS for level in (0.9, 0.95)]
    for (epsilon, level), found in zip(asked, node(DECIDE, {"report": data, "asked": asked}), strict=True):
        expected = rank(counts, epsilon=epsilon, level=level)
        assert found["verdict"] == expected.columns["verdict"]


@pytest.mark.parametrize(("rows", "doublings", "prior"), [(6, 0, "adaptive"), (6, 0, 1e-3), (300, 28, "adaptive")])
def test_the_page_decides_as_rank_does_for_few_rows_and_for_very_many(rows: int, doublings: int, prior: Any) -> None:  # noqa: ANN401
    columns = table(12, rows, seed=9)
    columns["class"][:2] = ["a", "b"]
    columns["copy"] = ["x" if value is None else value for value in columns["class"]]
    counts = count(columns, "class")
    for _ in range(doublings):
        counts = counts + counts
    ranking = rank(counts, prior=prior)
    asked = [(epsilon, 0.95) for epsilon in (*EPSILONS[::4], *(mean for mean in ranking.columns["mi"][:6] if mean > 0))]
    data = data_of(ranking)
    for (epsilon, level), found in zip(asked, node(DECIDE, {"report": data, "asked": asked}), strict=True):
        expected = rank(counts, prior=prior, epsilon=epsilon, level=level)
        assert found["p_above"] == pytest.approx(expected.columns["p_above"], rel=1e-6, abs=1e-9)
        assert found["verdict"] == expected.columns["verdict"]


@pytest.mark.parametrize("approximation", ["matched", "leading"])
def test_the_page_gives_the_intervals_of_rank(approximation: str) -> None:
    counts = count(table(25, seed=3), "class")
    data = data_of(rank(counts, approximation=approximation))
    program = (
        "const laws = lawsOf(data.laws); return [0.5, 0.9, 0.99].map((level) => "
        "data.features.name.map((_, feature) => interval(laws, feature, level)));"
    )
    for level, found in zip((0.5, 0.9, 0.99), node(program, data), strict=True):
        expected = rank(counts, level=level, approximation=approximation)
        for (low, high), feature in zip(found, expected, strict=True):
            assert [low, high] == pytest.approx([feature["low"], feature["high"]], rel=1e-7, abs=1e-12)


def test_tails_hold_far_from_the_middle_and_for_all_sizes() -> None:
    """Betas from next to no rows to a great many, against `Distribution`."""
    from credimi.inference.distributions.distribution import Distribution  # noqa: PLC0415

    laws, cases = [], []
    for mean in (1e-9, 1e-4, 0.03, 0.35, 0.69):
        for share in (0.7, 0.1, 1e-2, 1e-4, 1e-6):
            std = share * min(mean, 0.6931 - mean)
            law = Distribution.beta(mean, std, 0.6931471805599453)
            laws.append((mean, std**2))
            cases.append(
                [(float(x), law.sf(float(x))) for x in law.ppf(np.array([1e-8, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9]))]
            )
    program = """
      const laws = { kind: "beta", starts: data.laws.map((_, at) => at).concat([data.laws.length]), points: [] };
      const pack = (values) => Buffer.from(new Float64Array(values).buffer).toString("base64");
      laws.upper = pack(data.laws.map(() => Math.LN2)); laws.p_zero = pack(data.laws.map(() => 0));
      laws.weight = pack(data.laws.map(() => 1)); laws.mean = pack(data.laws.map((law) => law[0]));
      laws.variance = pack(data.laws.map((law) => law[1]));
      const found = lawsOf(laws);
      return data.cases.map((points, law) => points.map(([x]) => above(found, law, x)));
    """
    for found, points in zip(node(program, {"laws": laws, "cases": cases}), cases, strict=True):
        for tail, (_, expected) in zip(found, points, strict=True):
            assert tail == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_the_density_is_that_of_the_distribution() -> None:
    counts = count(table(8, seed=5), "class")
    data = data_of(rank(counts))
    at = [0.002, 0.01, 0.05, 0.2]
    program = (
        "const laws = lawsOf(data.report.laws); "
        "return data.report.features.name.map((_, feature) => data.at.map((x) => density(laws, feature, x)));"
    )
    for name, found in zip(data["features"]["name"], node(program, {"report": data, "at": at}), strict=True):
        assert found == pytest.approx(mutual_information(counts[name]).pdf(np.array(at)).tolist(), rel=1e-6, abs=1e-12)


@pytest.mark.long
def test_draws_are_read_off_their_quantiles() -> None:
    counts = count(table(6, seed=2), "class")
    ranking = rank(counts, approximation="sampled", epsilon=0.003)
    (same, other) = node(DECIDE, {"report": data_of(ranking), "asked": [(0.003, 0.95), (0.02, 0.95)]})
    assert same["verdict"] == ranking.columns["verdict"]
    expected = rank(counts, approximation="sampled", epsilon=0.02).columns["p_above"]
    assert other["p_above"] == pytest.approx(expected, abs=0.006)


# Safety


class Tags(HTMLParser):
    """The elements of a page, and what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.references += [str(value) for name, value in attrs if name in {"src", "href", "srcset", "action"}]


def tags_of(html: str) -> Tags:
    parser = Tags()
    parser.feed(html)
    return parser


def test_hostile_names_and_values_stay_text() -> None:
    ranking = hostile_ranking()
    html = page(data_of(ranking))
    ordinary = page(data_of(rank(table(2), "class")))
    assert tags_of(html).tags == tags_of(ordinary).tags
    data = shown(html)
    assert sorted(data["features"]["name"]) == sorted(HOSTILE)
    assert data["target"] == "target </script>"
    assert "<!--" not in html
    assert len(html) < 300_000  # values are clipped; names are whole


def test_a_lone_surrogate_can_be_written(tmp_path: Path) -> None:
    rank({"\ud800": ["a", "b"] * 20, "y": ["p", "q"] * 20}, "y").to_html(tmp_path / "page.html")
    assert shown((tmp_path / "page.html").read_text(encoding="utf-8"))["features"]["name"] == ["\ud800"]


def test_the_page_refers_to_nothing() -> None:
    html = page(data_of(rank(CLINIC, "diabetes")))
    assert tags_of(html).references == ["data:,"]
    for word in (
        "http://",
        "https://",
        "//cdn",
        "src=",
        "@import",
        "url(",
        "fetch(",
        "XMLHttpRequest",
        "innerHTML",
        "eval(",
    ):
        assert word not in html, word


# What it holds


def test_the_page_holds_what_was_ranked() -> None:
    ranking = rank(str(CLINIC), "diabetes")
    data = data_of(ranking)
    assert (data["source"], data["target"], data["rows"]) == (str(CLINIC), "diabetes", 4000)
    assert data["classes"] == ["no", "yes"]
    assert data["settings"] == ranking.settings
    place = data["features"]["name"].index("glucose")
    assert data["features"]["cuts"][place] == ["4.895", "5.295", "5.695", "6.535"]
    counts = np.array(data["tables"][place]["counts"]).reshape(3, 6)
    assert counts.sum() == 4000
    assert counts[:-1, :-1].sum() == ranking["glucose"]["complete"]
    assert data["tables"][data["features"]["name"].index("patient")] is None


def test_large_tables_are_gathered() -> None:
    generator = np.random.default_rng(0)
    columns = {"many": [f"v{value}" for value in generator.integers(0, 900, 5000)]}
    columns["y"] = [f"c{value}" for value in generator.integers(0, 60, 5000)]
    (found,) = data_of(rank(columns, "y"))["tables"]
    classes, values = len(found["classes"]), len(found["values"])
    assert found["others"] == [60 - classes, len(set(columns["many"])) - values]
    assert sum(found["counts"]) == 5000
    assert len(found["counts"]) == (classes + 2) * (values + 2) < 2000


def test_five_hundred_features_make_a_small_page(tmp_path: Path) -> None:
    rank(table(500), "class").to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 600_000


def test_missing_as_category_and_weights_of_infinity_are_fine(tmp_path: Path) -> None:
    ranking = rank(table(5), "class", missing_as="category", missing_values=[float("inf"), "?"])
    ranking.to_html(tmp_path / "page.html", source="a <b>name</b>")
    data = shown((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert data["source"] == "a <b>name</b>"


def test_a_ranking_without_counts_has_no_page(tmp_path: Path) -> None:
    found = rank(table(2), "class")
    bare = Ranking(found.columns, found.target, found.rows, found.classes, found.settings, remarks=found.remarks)
    with pytest.raises(CredimiError, match="no counts"):
        bare.to_html(tmp_path / "page.html")


def test_what_is_kept_for_the_page_is_not_in_the_results() -> None:
    found = rank(table(2), "class")
    told = {"settings", "rows", "rows_with_target", "classes", "entropy", "doubts", "remarks", "features", "cuts"}
    told |= {"p_cuts"}
    assert set(found.to_dict()) == told
    assert "_kept" not in found.columns


# The command


def test_the_command_writes_page_and_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, report = tmp_path / "best.svg", tmp_path / "report.html"
    code = main(["rank", str(CLINIC), "--target", "diabetes", "--html", str(report), "--plot", str(picture)])
    assert code == 0
    assert "glucose" in capsys.readouterr().out
    assert shown(report.read_text(encoding="utf-8"))["source"] == str(CLINIC)
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best.svg", "report.html"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--html", "no-such-folder/page.html"], "there is no directory"),
        (["--html", "-"], "a file of its own"),
        (["--plot", "picture.docx"], "ends in .png"),
        (["--html", "one.html", "--output", "one.html"], "same file"),
        (["--html", str(CLINIC)], "is the input"),
    ],
)
def test_the_command_refuses_before_it_works(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["rank", str(CLINIC), "--target", "diabetes", *options]) == 2
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fdr", [0.001, 0.06, 0.09, 0.5])
def test_the_page_treats_equal_probabilities_alike(fdr: float) -> None:
    p_above = [0.999, 0.9, 0.9 + 1e-15, 0.9, 0.9, 0.3]
    kept = node("return falseDiscovery(data.p, data.fdr);", {"p": p_above, "fdr": fdr})
    assert kept == rules.false_discovery(np.array(p_above), fdr).tolist()
