"""Pickles name no module inside credimi, so that those of today can be read after a move."""

import pickle
import pickletools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import credimi
from credimi.core.errors import UncountableError

LETTERS, CLASSES = [list(pair) for pair in zip("aabb" * 25, "abab" * 25, strict=True)], list("ppqq") * 25
X = np.array(LETTERS, dtype=object)
COLUMNS = {"x": [float(row) for row in range(100)], "z": list("aabb") * 25, "y": CLASSES}
JOINT = [[10, 2], [3, 15]]


def of_file(folder: Path) -> credimi.Counts:
    path = folder / "data.csv"
    path.write_text("a,y\n" + "u,p\nv,q\n" * 20, encoding="utf-8")
    return credimi.count(path, "y")


def learner() -> credimi.IncrementalNaiveBayes:
    """One that has been asked in both ways, and so has all that it makes on the way."""
    model = credimi.IncrementalNaiveBayes(window=50, selector=credimi.CredibleSelector()).fit(X, CLASSES)
    model.predict(X)
    model.predict(X[:1])
    return model


def draws() -> credimi.Distribution:
    return credimi.mutual_information(JOINT, approximation="sampled", draws=10, random_state=0)


def asked_posterior() -> credimi.Posterior:
    found = credimi.posterior(JOINT, target_only=[1, 2], feature_only=[2, 1])
    assert found.mean.sum() == pytest.approx(1.0)
    assert np.isfinite(found.log_evidence)
    return found


MAKERS: dict[str, Callable[[Path], Any]] = {
    "Comparison": lambda _: credimi.compare(COLUMNS, COLUMNS, "y"),
    "CompleteMoments": lambda _: credimi.complete_moments(JOINT),
    "GroupedRanking": lambda _: credimi.rank_by(COLUMNS | {"site": ["a", "b"] * (len(COLUMNS["y"]) // 2)}, "y", "site"),
    "Counts": lambda _: credimi.count(COLUMNS, "y"),
    "Counts of a file": of_file,
    "CredibleSelector": lambda _: credimi.CredibleSelector().fit(X, CLASSES),
    "CredibleTreeClassifier": lambda _: credimi.CredibleTreeClassifier().fit(X, CLASSES),
    "CredimiError": lambda _: credimi.CredimiError("refused"),
    "CredimiError of a column": lambda _: UncountableError("refused", "lists"),
    "Tree": lambda _: credimi.tree(COLUMNS, "y"),
    "Distribution": lambda _: credimi.mutual_information(JOINT),
    "Distribution, normal": lambda _: credimi.mutual_information(JOINT, approximation="leading"),
    "Distribution, a point": lambda _: credimi.Distribution.point(0.1),
    "Distribution, draws": lambda _: draws(),
    "EntropyDiscretizer": lambda _: credimi.EntropyDiscretizer().fit(np.arange(100.0)[:, None], CLASSES),
    "IncrementalNaiveBayes": lambda _: learner(),
    "Network": lambda _: credimi.network(COLUMNS),
    "Interactions": lambda _: credimi.interactions(COLUMNS | {"v": list("abab") * 25}, "y", top=3),
    "Pairs": lambda _: credimi.pairs(COLUMNS),
    "Posterior": lambda _: asked_posterior(),
    "Report": lambda _: credimi.report(COLUMNS, "y"),
    "Ranking": lambda _: credimi.rank(COLUMNS, "y"),
    "Selection": lambda _: credimi.select(COLUMNS, "y"),
    "Table": lambda _: credimi.Table.of(JOINT),
    "prequential": lambda _: credimi.prequential(COLUMNS, "y", orders=1),
}


def classes_named(data: bytes) -> set[tuple[str, str]]:
    """(module, name) of all that a pickle refers to."""
    found, texts = set(), []
    for operation, argument, _ in pickletools.genops(data):
        if operation.name in {"SHORT_BINUNICODE", "BINUNICODE"}:
            texts.append(argument)
        elif operation.name == "STACK_GLOBAL":
            found.add((texts[-2], texts[-1]))
        elif operation.name == "GLOBAL":
            found.add(tuple(argument.split(" ")))
    return found


@pytest.mark.parametrize("name", MAKERS)
def test_pickles_name_no_module_inside(name: str, tmp_path: Path) -> None:
    made = MAKERS[name](tmp_path)
    # Protocol 2 writes the module beside each name, where protocol 4 may point back to a text it had before.
    inner = {module for module, _ in classes_named(pickle.dumps(made, protocol=2)) if module.startswith("credimi.")}
    assert not inner
    assert type(pickle.loads(pickle.dumps(made))) is type(made)  # noqa: S301  (our own bytes)


def test_every_public_class_is_among_them() -> None:
    public = {name for name in credimi.__all__ if isinstance(getattr(credimi, name), type)} - {"Result"}
    assert public <= {name.split()[0].rstrip(",") for name in MAKERS}
    assert all(getattr(credimi, name).__module__ == "credimi" for name in public)


@pytest.mark.long
def test_a_learner_says_the_same_elsewhere(tmp_path: Path) -> None:
    """In a process that has loaded nothing of credimi before."""
    path = tmp_path / "model.pickle"
    model = learner()
    path.write_bytes(pickle.dumps(model))
    program = (
        "import pickle, pathlib, sys; import numpy as np\n"
        "model = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())\n"
        "x = np.array([list(pair) for pair in zip('aabb' * 25, 'abab' * 25)], dtype=object)\n"
        "print(''.join(model.predict(x)))"
    )
    told = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "".join(model.predict(X))


def test_what_is_only_stored_is_not_listed() -> None:
    assert "Labels" not in dir(credimi)
    assert "Labels" not in credimi.__all__
