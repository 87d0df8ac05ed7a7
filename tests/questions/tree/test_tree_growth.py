"""Trees against a plain, slow one; what is recovered; laws; noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tree_oracle import grown

from credimi.columns.numbers.discretize import evidence_share, mdl_places
from credimi.counts.nodes import node_tables
from credimi.counts.nodes.node_counter import node_counter
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest
from credimi.questions.tree.growth import grow
from credimi.questions.tree.merging import merged_values
from credimi.questions.tree.nodes import TreeStop
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from credimi.questions.tree.result import Tree


def tree_of(data: Mapping[str, Any], **asked: Any) -> Tree:  # noqa: ANN401
    counting = {name: asked.pop(name) for name in ("weights", "discretize") if name in asked}
    return grow(node_counter(encoded_table(data, CountRequest.of("class", Reading(**counting)))), **asked)


def described(tree: Tree, number: int = 0) -> Any:  # noqa: ANN401
    """As the plain tree describes itself."""
    node = tree.nodes[number]
    if node.split is None:
        return round(node.rows, 6)
    below = {
        name: described(tree, child) for name, child in zip(tree.branches(number), node.split.children, strict=True)
    }
    return tree.inputs[node.split.column].name, round(node.rows, 6), below


def random_rows(seed: int, count: int, *, missing: float, unlabeled: float, weights: bool) -> list[dict[str, Any]]:
    """A noisy rule on two columns of two values and one of numbers, beside one that tells nothing."""
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        row = {
            "a": str(generator.choice(["p", "q"])),
            "b": str(generator.choice(["u", "v"])),
            "noise": "xy"[int(generator.integers(2))],
        }
        row |= {"size": float(generator.integers(0, 40)) + 0.5}
        likely = (row["a"] == "p") if row["size"] < 15 else (row["b"] == "u")
        row["class"] = "yes" if generator.random() < (0.9 if likely else 0.1) else "no"
        for name in ("a", "b", "noise", "size"):
            if generator.random() < missing:
                row[name] = None
        if generator.random() < unlabeled:
            row["class"] = None
        if weights:
            row["weight"] = float(generator.integers(1, 4))
        rows.append(row)
    return rows


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize(
    ("missing", "unlabeled", "weights"),
    [(0.0, 0.0, False), (0.2, 0.0, False), (0.2, 0.15, False), (0.1, 0.0, True)],
)
@pytest.mark.parametrize("seed", range(2))
def test_the_tree_is_that_of_plain_dictionaries(seed: int, missing: float, unlabeled: float, *, weights: bool) -> None:
    rows = random_rows(seed, 300, missing=missing, unlabeled=unlabeled, weights=weights)
    plain = grown(rows, {"size"}, epsilon=0.003, level=0.5)
    asked = {"weights": "weight"} if weights else {}
    tree = tree_of(columns_of(rows), discretize={"size": "mdl"}, epsilon=0.003, **asked)
    assert len(tree.nodes) > 3
    assert described(tree) == plain.described()


@pytest.mark.parametrize("seed", range(20))
def test_the_best_cut_is_the_first_that_mdl_would_try(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values, classes = int(generator.integers(2, 30)), int(generator.integers(2, 5))
    counts = generator.poisson(1.5, (classes, values)).astype(float)
    counts[generator.integers(classes), :] += generator.poisson(3, values) * (np.arange(values) > values // 2)
    flat = np.zeros((classes + 1, values + 1))
    flat[:-1, :-1] = counts
    place, share = interpreted(flat)
    numbers, places = mdl_places(np.arange(values), counts.T, max_bins=2)
    if not places.size:  # MDL does not accept it: the best place is the one at which the evidence is largest
        at_each = [evidence_share(counts.T, np.array([each])) for each in range(numbers.size - 1)]
        places = np.array([int(np.argmin(at_each))])
    assert place == numbers[places[0]]
    assert share == pytest.approx(evidence_share(counts.T, places), rel=1e-9)


def interpreted(flat: NDArray[np.float64]) -> tuple[float, float]:
    """The last value below the cut of one column of numbers, and the share of the evidence; twice, by both kernels."""
    classes, values = flat.shape[0] - 1, flat.shape[1] - 1
    shapes, places, shares = np.zeros((1, 2), dtype=np.int64), np.zeros((1, 2), dtype=np.int64), np.ones(1)
    out, room = np.empty(3 * (classes + 1)), np.empty(2 * classes + values + 1)
    widths, numbers = np.array([values + 1]), np.ones(1, dtype=np.uint8)
    node_tables.interpret_columns(
        flat.ravel(), np.zeros(1, dtype=np.int64), widths, classes, numbers, out, shapes, places, shares, room
    )
    groups, codes = np.divmod(np.repeat(np.arange(flat.size), flat.ravel().astype(int)), values + 1)
    occurring, other = np.empty(values + 1, dtype=np.int64), np.empty((classes + 1) * (values + 1))
    rows = codes.astype(np.uint16), groups.astype(np.uint16), np.arange(codes.size), np.ones(codes.size)
    seen = np.zeros(values + 1, dtype=np.uint8)
    width = 1 + node_tables.count_wide_column(*rows, classes, values, seen, occurring, other)
    assert not seen.any()
    shape, place, share = np.zeros((1, 2), dtype=np.int64), np.zeros((1, 2), dtype=np.int64), np.ones(1)
    block, wide_out = (other, np.zeros(1, dtype=np.int64), np.array([width])), np.empty(3 * (classes + 1))
    node_tables.interpret_columns(*block, classes, numbers, wide_out, shape, place, share, room)
    assert occurring[place].tolist() == places.tolist()
    assert share == pytest.approx(shares)
    assert shape.tolist() == shapes.tolist()
    assert wide_out[: 3 * (shape[0, 0] + 1)] == pytest.approx(out[: 3 * (shape[0, 0] + 1)])
    return float(places[0, 0]), float(shares[0])


def known_tree(seed: int, count: int) -> dict[str, list[Any]]:
    """colour -> size or shape, with 10 % noise, and six columns of noise."""
    generator = np.random.default_rng(seed)
    colour = generator.choice(["red", "green", "blue"], count)
    size, shape = generator.normal(10.0, 3.0, count), generator.choice(["round", "flat"], count, p=[0.7, 0.3])
    said = np.where(
        colour == "red", size > 12.0, np.where(colour == "green", shape == "round", generator.random(count) < 0.5)
    )
    flipped = np.where((generator.random(count) < 0.1) & (colour != "blue"), ~said, said)
    noise = {f"noise{place}": generator.choice(list("abcd"), count).tolist() for place in range(4)}
    noise |= {f"number{place}": generator.normal(size=count).tolist() for place in range(2)}
    data = {"colour": colour.tolist(), "size": size.tolist(), "shape": shape.tolist()} | noise
    told = np.where(colour == "blue", "other", np.where(flipped, "yes", "no"))
    return data | {"class": told.tolist()}


@pytest.mark.parametrize("seed", range(3))
def test_a_known_tree_is_recovered(seed: int) -> None:
    tree = tree_of(known_tree(seed, 5_000))
    found = described(tree)
    assert found[0] == "colour"
    assert set(found[2]) == {"blue", "green", "red"}
    assert not isinstance(found[2]["blue"], tuple)
    assert (found[2]["green"][0], found[2]["red"][0]) == ("shape", "size")
    assert tree.leaves.size == 5


@pytest.mark.parametrize("seed", range(5))
def test_noise_gives_one_leaf(seed: int) -> None:
    generator = np.random.default_rng(seed)
    count = int(10 ** generator.uniform(1.7, 3.5))
    data = {f"x{place}": generator.integers(0, 5, count).tolist() for place in range(20)}
    data |= {f"y{place}": generator.normal(size=count).tolist() for place in range(5)}
    tree = tree_of(data | {"class": generator.choice(list("ab"), count).tolist()})
    assert tree.leaves.tolist() == [0]
    assert tree.nodes[0].stop in {TreeStop.UNSURE, TreeStop.NOTHING}


def test_whole_weights_are_repeated_rows() -> None:
    rows = random_rows(5, 300, missing=0.1, unlabeled=0.1, weights=True)
    repeated = [row for row in rows for _ in range(int(row["weight"]))]
    one = tree_of(columns_of(rows), weights="weight")
    other = tree_of({name: column for name, column in columns_of(repeated).items() if name != "weight"})
    assert described(one) == described(other)
    assert one.probabilities == pytest.approx(other.probabilities)


def test_the_order_of_rows_and_columns_and_the_names_do_not_matter() -> None:
    data = known_tree(4, 2_000)
    generator = np.random.default_rng(0)
    tree = tree_of(data)
    order = generator.permutation(2_000)
    shuffled = tree_of({name: [column[row] for row in order] for name, column in reversed(data.items())})
    assert described(shuffled) == described(tree)
    assert shuffled.probabilities == pytest.approx(tree.probabilities)
    new = {"red": "z", "green": "m", "blue": "a", "yes": "1. no", "no": "2. yes", "other": "0"}
    renamed = tree_of({name: [new.get(cell, cell) for cell in column] for name, column in data.items()})
    assert sorted(node.rows for node in renamed.nodes) == pytest.approx(sorted(node.rows for node in tree.nodes))
    assert renamed.leaves.size == tree.leaves.size


def test_an_interrupted_tree_has_what_was_found_so_far() -> None:
    reached = []

    def stop(share: float) -> None:
        reached.append(share)
        raise KeyboardInterrupt

    tree = tree_of(known_tree(1, 3_000), progress=stop)
    assert reached
    assert tree.interrupted
    assert 1 < len(tree.nodes) < 9
    assert [node.number for node in tree.nodes] == list(range(len(tree.nodes)))
    assert tree.probabilities.sum(axis=1) == pytest.approx(np.ones(len(tree.nodes)))
    assert tree.nodes[0].split is not None


def test_values_that_cannot_be_told_apart_share_a_branch() -> None:
    generator = np.random.default_rng(0)
    letters = generator.choice(list("abcdef"), 3_000)
    told = np.where(generator.random(3_000) < np.where(np.isin(letters, ["a", "d", "f"]), 0.9, 0.2), "p", "q")
    tree = tree_of({"letter": letters.tolist(), "class": told.tolist()})
    assert tree.branches(0) == ("a, d, f", "b, c, e")
    numbers = generator.integers(0, 6, 3_000)
    told = np.where(generator.random(3_000) < np.where(numbers < 3, 0.9, 0.2), "p", "q")
    tree = tree_of({"number": numbers.tolist(), "class": told.tolist()}, discretize=None)
    assert tree.branches(0) == ("0, 1, 2", "3, 4, 5")
    tree = tree_of({"number": numbers.tolist(), "class": told.tolist()})
    assert tree.branches(0) == ("<= 2.5", "> 2.5")


def test_values_have_branches_of_their_own_only_if_they_surely_differ() -> None:
    doubtful = np.array([[18.0, 12.0, 2.0], [2.0, 8.0, 18.0]])  # odds of about 4 that the first two differ
    assert merged_values(doubtful, ordered=False, epsilon=0.003).tolist() == [0, 0, 1]
    assert merged_values(4.0 * doubtful, ordered=False, epsilon=0.003).tolist() == [0, 1, 2]


def test_a_picture_of_whole_numbers_is_not_split_into_tiny_nodes() -> None:
    generator = np.random.default_rng(0)
    grey = generator.integers(0, 17, (500, 12))
    told = (grey[:, 0] > 8) * 2 + (grey[:, 1] > 5)
    data = {f"x{place}": grey[:, place].tolist() for place in range(12)}
    tree = tree_of(data | {"class": [f"c{each}" for each in told]})
    assert tree.leaves.size == 4


def test_with_very_many_rows_values_that_differ_by_less_than_epsilon_share_a_branch() -> None:
    counts = np.array([[80_000.0, 81_000.0, 20_000.0], [20_000.0, 19_000.0, 80_000.0]])
    assert merged_values(counts, ordered=False).tolist() == [0, 1, 2]
    assert merged_values(counts, ordered=False, epsilon=0.003).tolist() == [0, 0, 1]


def test_a_leaf_says_how_many_rows_would_decide() -> None:
    generator = np.random.default_rng(3)
    x = generator.integers(0, 2, 120)
    y = np.where(generator.random(120) < 0.25, 1 - x, generator.integers(0, 2, 120))
    tree = tree_of({"x": [f"v{each}" for each in x], "class": [f"c{each}" for each in y]}, level=0.99)
    record = tree.records()[0]
    assert record["stop"] == "unsure"
    assert record["rows_to_decide"] > 120
    assert record["best"]["feature"] == "x"


@pytest.mark.parametrize("seed", range(5))
def test_rare_values_are_not_grouped_by_their_classes_into_more_than_two_branches(seed: int) -> None:
    generator = np.random.default_rng(seed)
    noise = generator.multinomial(2, [0.5, 0.5], 60).T.astype(float)  # 60 values of two rows each
    assert set(merged_values(noise, ordered=False, epsilon=0.003).tolist()) == {0, 1}
    ones = generator.binomial(80, [0.1, 0.1, 0.5, 0.5, 0.9, 0.9])
    assert merged_values(np.stack([ones, 80.0 - ones]), ordered=False, epsilon=0.003).tolist() == [0, 0, 1, 1, 2, 2]


def of_towns(share: NDArray[np.float64], rows: int) -> dict[str, list[str]]:
    """Rows of towns, and the share of the class p in each of them."""
    generator = np.random.default_rng(2)
    town = generator.integers(0, share.size, rows)
    told = np.where(generator.random(town.size) < share[town], "p", "q")
    return {"town": [f"t{each}" for each in town], "class": told.tolist()}


def test_of_hundreds_of_values_a_split_does_not_separate_only_a_few() -> None:
    tree = tree_of(of_towns(np.tile([0.25, 0.75], 100), 4_000))
    assert tree.depth <= 3
    assert tree.nodes[0].split is not None
    assert tree.nodes[0].split.shares.min() > 0.2


def test_the_information_of_a_column_in_a_tree_is_that_of_its_branches() -> None:
    tree = tree_of(of_towns(np.linspace(0.05, 0.95, 20), 20_000), epsilon=0.05)
    mean, intervals = tree.information()
    counts = np.array([tree.nodes[leaf].counts for leaf in tree.leaves.tolist()])
    shares = counts / counts.sum()
    told_by_leaves = float((shares * np.log(shares / np.outer(shares.sum(axis=1), shares.sum(axis=0)))).sum())
    assert mean[0] == pytest.approx(told_by_leaves, rel=0.05)
    assert intervals[0, 0] < told_by_leaves < intervals[0, 1]


def test_small_nodes_are_not_split_by_texts_that_name_their_rows() -> None:
    generator = np.random.default_rng(0)
    columns: dict[str, list[str]] = {}
    cause = generator.integers(0, 2, (5, 600))
    told = generator.random(600) < 1.0 / (1.0 + np.exp(-2.0 * (cause - 0.5).sum(axis=0)))
    for number, values in enumerate(cause):
        columns[f"cause {number}"] = np.where(values == 1, "yes", "no").tolist()
    columns["name"] = [f"n{each}" for each in generator.integers(0, 250, 600)]  # tells nothing
    tree = tree_of(columns | {"class": np.where(told, "p", "q").tolist()})
    split_by = {tree.inputs[node.split.column].name for node in tree.nodes if node.split is not None}
    assert len(split_by) >= 4
    assert "name" not in split_by


def test_an_unsure_leaf_of_many_rows_says_that_a_split_needs_more() -> None:
    generator = np.random.default_rng(4)
    first, second = generator.integers(0, 2, (2, 6_000))
    told = generator.random(6_000) < 0.3 + 0.4 * first + 0.1 * second
    tree = tree_of({"first": np.char.add("v", first.astype(str)), "second": second, "class": told})
    text = repr(tree)
    assert "unsure: undecided on second, P(> 0.5 %) 0.9" in text  # more rows than these need not be asked for
    assert ", but a split here needs more" in text
    unsure = [record for record in tree.records() if record["stop"] == "unsure"]
    assert all(record["best"]["p_above"] < record["best"]["p_required"] for record in unsure)
