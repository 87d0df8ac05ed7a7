"""What the public functions and the estimators answer, for `record_answers`: called as a user calls them."""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import credimi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JOINT, TARGET_ONLY, FEATURE_ONLY = [[10, 2, 0], [3, 15, 1]], [4, 1], [0, 2, 5]
MARGINS = {"target_only": TARGET_ONLY, "feature_only": FEATURE_ONLY}
COLUMNS = ["age", "bmi", "glucose", "smoking", "sex", "family_history"]
# Keywords that were renamed: each case takes the name that the function offers.
RENAMED: dict[str, str] = {
    "missing": "missing_as",
    "factor": "robust_factor",
    "max_levels": "max_values",
    "goal": "rule",
}
PRIORS = ("adaptive", "uniform", "jeffreys", "perks", 0.25)


def all_of() -> dict[str, Any]:
    """The answer of every case; an error is an answer, too."""
    answers = {}
    for name, case in _cases(_call):
        try:
            answers[name] = case()
        except Exception as error:  # noqa: BLE001  (it is what the user sees)
            answers[name] = {"error": type(error).__name__, "message": str(error)}
    return answers


def _call(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
    """Call a public function, with the names that its keywords have now."""
    offered = inspect.signature(function).parameters
    if "robust" in keywords and "robust" not in offered:
        del keywords["robust"]
        keywords.setdefault("factor", 2.0)
    spelled = {
        RENAMED[name] if name not in offered and RENAMED.get(name) in offered else name: value
        for name, value in keywords.items()
    }
    return function(*arguments, **spelled)


def _cases(call: Callable[..., Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield from _of_tables(call)
    frame = _clinic()
    features, target = frame.drop(columns=["diabetes", "patient"]), frame["diabetes"]
    yield from _of_questions(call, frame.drop(columns=["patient"]))
    yield from _of_results(call, frame.drop(columns=["patient"]))
    yield from _of_counts(call)
    yield from _of_estimators(call, features, target)


def _clinic() -> Any:  # noqa: ANN401
    import pandas as pd  # noqa: PLC0415

    frame = pd.read_csv("clinic.csv", dtype=str, keep_default_na=False).head(1500)
    for name in ("age", "bmi", "glucose"):
        frame[name] = pd.to_numeric(frame[name])
    return frame


def _of_tables(call: Callable[..., Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    for prior in PRIORS:
        for approximation in ("matched", "leading", "leading-beta", "sampled"):
            options = {"prior": prior, "approximation": approximation} | MARGINS
            yield (
                f"mutual_information {prior} {approximation}",
                lambda options=options: _of_distribution(
                    call(credimi.mutual_information, JOINT, draws=1000, random_state=2, **options)
                ),
            )
        yield (
            f"conditional_information {prior}",
            lambda prior=prior: _of_distribution(
                call(credimi.conditional_information, [JOINT, JOINT[::-1]], prior=prior)
            ),
        )
        for neither in (None, 4):
            yield (
                f"information_bounds {prior} {neither}",
                lambda prior=prior, neither=neither: [
                    _of_distribution(one)
                    for one in call(
                        credimi.information_bounds, JOINT, prior=prior, neither=neither, factor=3, **MARGINS
                    )
                ],
            )
        yield (
            f"posterior {prior}",
            lambda prior=prior: _of_posterior(call(credimi.posterior, JOINT, prior=prior, **MARGINS)),
        )
    yield (
        "mutual_information of Table",
        lambda: _of_distribution(
            credimi.mutual_information(credimi.Table(np.array(JOINT, float), np.array(TARGET_ONLY, float), np.zeros(3)))
        ),
    )
    for name, joint in {
        "ragged": [[1, 2], [3]],
        "negative": [[1, -2], [3, 4]],
        "empty": [],
        "nan": [[1, float("nan")]],
    }.items():
        yield f"mutual_information {name}", lambda joint=joint: credimi.mutual_information(joint)
        yield f"posterior {name}", lambda joint=joint: credimi.posterior(joint)
        yield f"information_bounds {name}", lambda joint=joint: credimi.information_bounds(joint)


def _of_distribution(law: credimi.Distribution) -> list[Any]:
    """Everything but draws."""
    points = [0.0, 0.01, 0.1, 0.4]
    return [
        *(law.mean(), law.std(), law.var(), law.median(), law.support(), law.p_zero, repr(law)),
        *(law.interval(0.9), law.cdf(points), law.sf(points), law.pdf(points), law.ppf([0.05, 0.3, 0.99])),
        *(law.isf(0.2), law.moment(2), law.rvs(3, random_state=4)),
    ]


def _of_posterior(cells: credimi.Posterior) -> list[Any]:
    return [
        *(cells.mode, cells.mean, cells.std, cells.covariance(), cells.log_evidence, repr(cells)),
        *(cells.rvs(2, random_state=1), cells.kkt_residual < 1e-9),
    ]


def _of_questions(call: Callable[..., Any], frame: Any) -> Iterator[tuple[str, Callable[[], Any]]]:  # noqa: ANN401
    """Each question, asked of frames of three kinds, with the options that commands do not have."""
    few = frame[[*COLUMNS, "diabetes"]]
    questions: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
        "rank": (credimi.rank, ("diabetes",), {}),
        "rank category": (credimi.rank, ("diabetes",), {"missing": "category", "fdr": 0.2}),
        "rank robust": (credimi.rank, ("diabetes",), {"robust": True, "factor": 3.0}),
        "rank sampled": (credimi.rank, ("diabetes",), {"approximation": "sampled", "random_state": 3}),
        "rank_by": (credimi.rank_by, ("diabetes", "sex"), {}),
        "select": (credimi.select, ("diabetes",), {}),
        "select relevant": (credimi.select, ("diabetes",), {"goal": "relevant", "max_features": 3}),
        "interactions": (credimi.interactions, ("diabetes",), {"top": 5}),
        "pairs": (credimi.pairs, (), {}),
        "pairs refined": (credimi.pairs, (), {"refine": "forest", "imputations": 2, "random_state": 1}),
        "network": (credimi.network, (), {"imputations": 2, "degree": 2.0}),
        "compare": (credimi.compare, (few.tail(700), "diabetes"), {"names": ("first", "second")}),
        "prequential": (credimi.prequential, ("diabetes",), {"orders": 1, "rules": ("forward",)}),
        "count": (credimi.count, ("diabetes",), {}),
    }
    for name, (function, arguments, keywords) in questions.items():
        yield f"{name}()", lambda f=function, a=arguments, k=keywords: _of_result(call(f, few, *a, **k))
        yield f"{name}() misspelt", lambda f=function, a=arguments: call(f, few, *a, epsilom=0.1)
        yield f"{name}() bad", lambda f=function, a=arguments: call(f, 17, *a)
    import pyarrow as pa  # noqa: PLC0415

    numbers = few[["age", "bmi", "glucose"]].to_numpy()
    others = {
        "arrow": pa.table({name: pa.array(column, from_pandas=True) for name, column in few.items()}),
        "dictionary": {name: list(column) for name, column in few.items()},
        "csv": Path("clinic.csv"),
    }
    for name, data in others.items():
        yield f"rank() {name}", lambda data=data: _of_result(credimi.rank(data, "diabetes"))
    yield "rank() numpy", lambda: _of_result(credimi.rank(numbers, few["diabetes"].to_numpy()))
    yield "select() numpy", lambda: _of_result(credimi.select(numbers, few["diabetes"].to_numpy()))


def _of_result(result: Any) -> Any:  # noqa: ANN401
    """A result as data and as text."""
    if isinstance(result, credimi.Counts):
        return _tables(result)
    found: dict[str, Any] = {"text": repr(result)}
    if hasattr(result, "to_dict"):
        found["data"] = result.to_dict()
    if hasattr(result, "summary"):
        found["summary"] = result.summary()
    if hasattr(result, "features") and isinstance(result.features, tuple):
        found["features"] = result.features
    return found


def _of_results(call: Callable[..., Any], frame: Any) -> Iterator[tuple[str, Callable[[], Any]]]:  # noqa: ANN401
    """What results offer beside their data."""
    few = frame[[*COLUMNS, "diabetes"]]

    @functools.cache
    def answer(name: str) -> Any:  # noqa: ANN401
        if name in {"pairs", "network"}:
            return call(getattr(credimi, name), few)
        return call(getattr(credimi, name), few, "diabetes", **({"top": 4} if name == "interactions" else {}))

    yield (
        "Ranking selected",
        lambda: [answer("rank").selected(rule) for rule in ("forward", "backward", "plugin", "fdr")],
    )
    yield "Ranking rows", lambda: list(answer("rank"))
    yield "Ranking sorted", lambda: [row["feature"] for row in answer("rank").sorted_by("name")]
    yield "Ranking entry", lambda: answer("rank")["age"]
    yield "Ranking no entry", lambda: answer("rank")["agee"]
    yield "Interactions rows", lambda: list(answer("interactions"))
    yield "Pairs rows", lambda: list(answer("pairs"))
    yield "Pairs entry", lambda: answer("pairs")["age", "bmi"]
    yield "Pairs no entry", lambda: answer("pairs")["age", "bmj"]
    yield "Pairs matrix", lambda: answer("pairs").matrix("mi")
    yield "Pairs forest", lambda: repr(answer("pairs").forest(odds=1.0))
    yield "Network edges", lambda: [[edge.a, edge.b, edge["p_edge"]] for edge in answer("network").pairs]
    yield "Network neighbours", lambda: answer("network").neighbours("age")
    yield "Network dot", lambda: answer("network").to_dot()
    yield "Network at level", lambda: answer("network").at_level(0.99).to_dict()
    yield "Network forest", lambda: repr(answer("network").forest)
    for name in ("rank", "select", "interactions", "pairs", "network"):
        yield f"{name}() notebook", lambda name=name: _words(getattr(answer(name), "_repr_html_", str)())
        yield f"{name}() pandas", lambda name=name: answer(name).to_pandas().to_dict("list")


def _words(html: str) -> list[str]:
    import re  # noqa: PLC0415

    return re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL).split()


def _of_counts(call: Callable[..., Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The table of traps, counted whole, in parts, from a frame and through a file."""
    import trap_table  # noqa: PLC0415  (of tests/)

    table = trap_table.table()

    def saved() -> Any:  # noqa: ANN401
        credimi.count(table.slice(0, 90), "class").save("part.counts")
        return credimi.Counts.load("part.counts").update(table.slice(90))

    yield "traps expected", trap_table.expected
    yield "traps whole", lambda: trap_table.digest(credimi.count(table, "class"))
    yield (
        "traps parts",
        lambda: trap_table.digest(
            credimi.count(table.slice(0, 100), "class") + credimi.count(table.slice(100), "class")
        ),
    )
    yield "traps pandas", lambda: trap_table.digest(credimi.count(table.to_pandas(), "class"))
    yield "traps saved", lambda: trap_table.digest(saved())
    yield "traps ranking", lambda: list(credimi.rank(credimi.count(table, "class")))
    yield "traps tables", lambda: _tables(credimi.count(table, "class"))
    yield "traps many values", lambda: call(credimi.count, table, "class", max_levels=2)


def _tables(counts: credimi.Counts) -> dict[str, Any]:
    tables = {name: counts[name] for name in counts.features}
    return {name: [table.joint, table.target_only, table.feature_only] for name, table in tables.items()}


def _of_estimators(call: Callable[..., Any], features: Any, target: Any) -> Iterator[tuple[str, Callable[[], Any]]]:  # noqa: ANN401
    for rule in ("forward", "backward", "plugin", "fdr", "distinct", "relevant"):
        yield (
            f"CredibleSelector {rule}",
            lambda rule=rule: _of_selector(call(credimi.CredibleSelector, rule).fit(features, target)),
        )
    yield (
        "CredibleSelector category",
        lambda: _of_selector(call(credimi.CredibleSelector, missing="category", k=3).fit(features, target)),
    )
    yield "CredibleSelector wrong", lambda: call(credimi.CredibleSelector, "forwards").fit(features, target)
    yield (
        "IncrementalNaiveBayes",
        lambda: _of_classifier(call(credimi.IncrementalNaiveBayes).fit(features, target), features),
    )
    yield (
        "IncrementalNaiveBayes forgetful",
        lambda: _of_classifier(
            call(
                credimi.IncrementalNaiveBayes, decay=0.99, missing="category", selector=credimi.CredibleSelector()
            ).fit(features, target),
            features,
        ),
    )
    yield (
        "CredibleTreeClassifier",
        lambda: _of_tree(call(credimi.CredibleTreeClassifier).fit(features, target), features),
    )
    numbers = features[["age", "bmi"]].dropna()
    yield (
        "EntropyDiscretizer",
        lambda: _of_discretizer(call(credimi.EntropyDiscretizer).fit(numbers, target[numbers.index]), numbers),
    )
    yield (
        "EntropyDiscretizer bins",
        lambda: _of_discretizer(
            call(credimi.EntropyDiscretizer, max_bins=2, output="labels").fit(numbers, target[numbers.index]), numbers
        ),
    )


def _of_selector(selector: Any) -> list[Any]:  # noqa: ANN401
    return [list(selector.get_feature_names_out()), selector.get_support(), selector.scores_]


def _of_classifier(learner: Any, features: Any) -> list[Any]:  # noqa: ANN401
    return [
        learner.predict_proba(features.head(50)),
        learner.support_,
        list(learner.classes_),
        learner.predict_one(dict(features.iloc[3])),
    ]


def _of_tree(tree: Any, features: Any) -> list[Any]:  # noqa: ANN401
    return [
        tree.export_text(),
        tree.predict_proba(features.head(50)),
        tree.apply(features.head(50)),
        tree.feature_importances_,
    ]


def _of_discretizer(discretizer: Any, numbers: Any) -> list[Any]:  # noqa: ANN401
    return [discretizer.cut_points_, np.asarray(discretizer.transform(numbers.head(40)), dtype=str)]
