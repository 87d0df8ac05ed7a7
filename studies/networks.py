"""How true the edges of `network` are: public networks and random ones, with and without missing values, beside peers.

    python studies/networks.py --data FOLDER              the tables of docs/explanation/networks.md, 15 minutes
    python studies/networks.py --nets 1 --rows 500        random networks only, a quick look
    python studies/networks.py --data FOLDER --peers      pyAgrum's learners on the complete public samples
    ... --names child water                               other networks than asia, sachs, alarm and insurance

FOLDER has NAME-N.csv, samples of N complete rows from public networks, and NAME-true.csv, their arcs, parent, child.
Columns of one value are left out of the samples, and so are their arcs.
Random networks have 20 to 80 columns of two to four values, one and a half to four neighbours a column on average, at
most three parents, and conditional probabilities from Dirichlet distributions of .3 to 1 a value. "Many causes" are
networks in which some columns of two values have four to eight parents, whose effects add up in the log odds, as in a
logistic regression; half of them have an effect of their own. Missing cells are chosen at random. Choices of the method
were made by looking at random networks of other seeds and at the public ones.

F1 is that of the skeleton at P(edge) >= .5; "sure" are edges with P >= .95, and how many of them are true; SHD is the
number of pairs that differ from the true network in edge or direction, directions being those that follow from the
independencies. "Arrows" are those of true edges, and how many of them point as the true arc does.
"""

from __future__ import annotations

import argparse
import csv
import time
from itertools import combinations
from pathlib import Path

import numpy as np

NAMES = ("asia", "sachs", "alarm", "insurance")
SIZES = (500, 2_000, 10_000)
COLUMNS = (20, 35, 50, 80)
EFFECTS = (2, 4, 6)
Arcs = set[tuple[int, int]]


def oriented(arcs: Arcs) -> dict[tuple[int, int], str]:
    """Each pair's mark, "--" or the arc's direction, in all networks with the same independencies: Meek's rules."""
    joined = {frozenset(arc) for arc in arcs}
    parents: dict[int, set[int]] = {}
    for a, b in arcs:
        parents.setdefault(b, set()).add(a)
    forced = {
        (parent, child)
        for child, column_parents in parents.items()
        for one, other in combinations(sorted(column_parents), 2)
        if frozenset((one, other)) not in joined
        for parent in (one, other)
    }
    neighbours: dict[int, set[int]] = {}
    for a, b in arcs:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    changed = True
    while changed:
        changed = False
        for a, b in [pair for arc in arcs for pair in (arc, arc[::-1])]:
            if (a, b) in forced or (b, a) in forced:
                continue
            apart = any((c, a) in forced and c not in neighbours[b] for c in neighbours[a] - {b})
            through = any((a, c) in forced and (c, b) in forced for c in neighbours[a] & neighbours[b])
            either = [c for c in neighbours[a] & neighbours[b] if (c, b) in forced and not {(a, c), (c, a)} & forced]
            both = any(frozenset(two) not in joined for two in combinations(either, 2))
            if apart or through or both:
                forced.add((a, b))
                changed = True
    marks = {}
    for a, b in arcs:
        low, high = min(a, b), max(a, b)
        marks[low, high] = "->" if (low, high) in forced else "<-" if (high, low) in forced else "--"
    return marks


def distance(one: dict[tuple[int, int], str], other: dict[tuple[int, int], str]) -> int:
    """The structural Hamming distance."""
    return sum(one.get(pair) != other.get(pair) for pair in {*one, *other})


def public(folder: Path, name: str, rows: int) -> tuple[np.ndarray, np.ndarray, Arcs]:
    """Codes, numbers of values and arcs of a public sample."""
    with (folder / f"{name}-{rows}.csv").open(encoding="utf-8", newline="") as file:
        names, *lines = csv.reader(file)
    columns = [np.unique(column, return_inverse=True) for column in zip(*lines, strict=True)]
    with (folder / f"{name}-true.csv").open(encoding="utf-8", newline="") as file:
        arcs = {
            (names.index(line[0]), names.index(line[1]))
            for line in csv.reader(file)
            if len(line) > 1 and {line[0], line[1]} <= {*names}
        }
    codes = np.array([codes for _, codes in columns], dtype=np.uint16)
    return codes, np.array([values.size for values, _ in columns]), arcs


def drawn(columns: int, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, Arcs]:
    """The same of a random network."""
    generator = np.random.default_rng(seed)
    order, values = generator.permutation(columns).tolist(), generator.integers(2, 5, columns)
    parents: dict[int, list[int]] = {column: [] for column in order}
    edge_count = int(generator.uniform(1.5, 4.0) * columns / 2)
    while sum(map(len, parents.values())) < edge_count:
        first, second = sorted(generator.choice(columns, 2, replace=False).tolist())
        if order[first] not in parents[order[second]] and len(parents[order[second]]) < 3:
            parents[order[second]].append(order[first])
    codes = np.zeros((columns, rows), dtype=np.uint16)
    for column in order:
        parent_state, parent_states = np.zeros(rows, dtype=np.int64), 1
        for parent in parents[column]:
            parent_state, parent_states = (
                parent_state * values[parent] + codes[parent],
                parent_states * int(values[parent]),
            )
        cumulative = generator.dirichlet(
            np.full(values[column], generator.choice([0.3, 0.5, 1.0])), parent_states
        ).cumsum(axis=1)
        codes[column] = (generator.random(rows)[:, np.newaxis] > cumulative[parent_state, :-1]).sum(axis=1)
    for column in range(columns):
        seen, codes[column] = np.unique(codes[column], return_inverse=True)
        values[column] = seen.size
    return codes, values, {(parent, child) for child, column_parents in parents.items() for parent in column_parents}


def many_causes(effects: int, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, Arcs]:
    """The same of a network in which columns have four to eight causes that add up."""
    generator = np.random.default_rng(seed)
    causes = 3 * effects + 5
    columns = [generator.integers(0, 2, rows) for _ in range(causes)]
    arcs: Arcs = set()
    for number in range(effects):
        parents = generator.choice(causes, int(generator.integers(4, 9)), replace=False).tolist()
        log_odds = sum(generator.uniform(0.5, 1.0) * (2.0 * columns[cause] - 1.0) for cause in parents)
        columns.append((generator.random(rows) < 1.0 / (1.0 + np.exp(-log_odds))).astype(np.int64))
        arcs |= {(cause, len(columns) - 1) for cause in parents}
        if number % 2:
            arcs.add((len(columns) - 1, len(columns)))
            columns.append(np.where(generator.random(rows) < 0.25, 1 - columns[-1], columns[-1]))
    return np.array(columns, dtype=np.uint16), np.full(len(columns), 2), arcs


class Tally:
    """Figures of all networks of one kind."""

    def __init__(self) -> None:
        self.figures: list[tuple[float, ...]] = []
        self.bins = np.zeros((10, 3))

    def add(self, edges: np.ndarray, marks: dict[tuple[int, int], str], arcs: Arcs, seconds: float) -> None:
        """Compare one network with the truth."""
        pairs = np.triu_indices(edges.shape[0], 1)
        probability = edges[pairs]
        truth = np.zeros(edges.shape, dtype=bool)
        for a, b in arcs:
            truth[min(a, b), max(a, b)] = True
        is_true = truth[pairs]
        is_edge, sure = probability >= 0.5, probability >= 0.95
        score = 2.0 * (is_edge & is_true).sum() / max(is_edge.sum() + is_true.sum(), 1)
        precision = (is_edge & is_true).sum() / max(is_edge.sum(), 1)
        hamming_distance = distance(marks, oriented(arcs))
        arrows = [(pair if mark == "->" else pair[::-1]) for pair, mark in marks.items() if mark != "--"]
        arrows = [arrow for arrow in arrows if arrow in arcs or arrow[::-1] in arcs]
        true_arrows = sum(arrow in arcs for arrow in arrows)
        of_edges = score, precision, sure.sum(), (sure & is_true).sum(), hamming_distance
        self.figures.append((*of_edges, len(arrows), true_arrows, seconds))
        tenth = np.minimum((10 * probability).astype(int), 9)
        for number in range(10):
            in_tenth = tenth == number
            self.bins[number] += in_tenth.sum(), probability[in_tenth].sum(), is_true[in_tenth].sum()

    def line(self) -> str:
        """Means of F1, precision and SHD; sure edges, arrows, and which shares of them are true; the median time."""
        score, precision, sure, true, hamming_distance, arrows, true_arrows, seconds = np.array(self.figures).T
        share, arrow_share = true.sum() / max(sure.sum(), 1), true_arrows.sum() / max(arrows.sum(), 1)
        figures = f"{score.mean():.3f} | {precision.mean():.3f} | {sure.sum():.0f} | {share:.3f}"
        figures += f" | {hamming_distance.mean():.1f} | {arrows.sum():.0f} | {arrow_share:.3f}"
        return f"{figures} | {np.median(seconds):.1f}"


def learned(sample: tuple[np.ndarray, np.ndarray, Arcs], missing: float, seed: int, tallies: list[Tally]) -> None:
    """Learn one network, with a share of the cells missing, and add it to the tallies."""
    from credimi.counts.rows.distinct_rows import DistinctRows  # noqa: PLC0415  (peers run without credimi)
    from credimi.questions.network.learn import LearnOptions, learn  # noqa: PLC0415  (peers run without credimi)
    from credimi.questions.network.result import shown_direction  # noqa: PLC0415  (peers run without credimi)

    codes, values, arcs = sample
    if missing:
        removed = np.random.default_rng(seed).random(codes.shape) < missing
        codes = np.where(removed, values[:, np.newaxis], codes).astype(np.uint16)
    began = time.perf_counter()
    network = learn(DistinctRows.of(np.ascontiguousarray(codes)), values.astype(np.int64), LearnOptions(seed=seed))
    seconds = time.perf_counter() - began
    edges, marks = network.edge_matrix, {}
    forced = network.pairs.matrix(*network.forced.T)
    for a, b in zip(*np.nonzero(np.triu(edges, 1) >= 0.5), strict=True):
        marks[int(a), int(b)] = shown_direction(forced[a, b], forced[b, a])
    for tally in tallies:
        tally.add(edges, marks, arcs, seconds)


def peers(folder: Path, names: list[str], sizes: list[int]) -> None:
    """What pyAgrum's learners find on the complete public samples."""
    import pyagrum as gum  # noqa: PLC0415  (in an environment of its own)

    print("| learner | network | rows | F1 | precision | SHD | seconds |\n|---|---|---|---|---|---|---|")
    for name in names:
        for rows in sizes:
            _, values, arcs = public(folder, name, rows)
            for learner in ("hill climbing, BDeu", "MIIC", "PC"):
                task = gum.BNLearner(str(folder / f"{name}-{rows}.csv"))
                began = time.perf_counter()
                if learner.startswith("hill"):
                    task.useGreedyHillClimbing()
                    task.useScoreBDeu()
                    marks = oriented({(a, b) for a, b in task.learnDAG().arcs()})
                else:
                    task.useMIIC() if learner == "MIIC" else task.usePC()
                    graph = task.learnPDAG()
                    marks = {(min(arc), max(arc)): "->" if arc[0] < arc[1] else "<-" for arc in graph.arcs()}
                    marks |= {(min(edge), max(edge)): "--" for edge in graph.edges()}
                edges = np.zeros((values.size, values.size))
                for a, b in marks:
                    edges[a, b] = edges[b, a] = 1.0
                tally = Tally()
                tally.add(edges, marks, arcs, time.perf_counter() - began)
                score, precision, _, _, hamming_distance, _, _, seconds = tally.figures[0]
                figures = f"{score:.3f} | {precision:.3f} | {hamming_distance:.0f} | {seconds:.2f}"
                print(f"| {learner} | {name} | {rows} | {figures} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of the public samples")
    parser.add_argument("--names", nargs="+", default=list(NAMES), help="the public networks")
    parser.add_argument("--nets", type=int, default=2, help="random networks of each size (default: 2)")
    parser.add_argument("--rows", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--missing", type=float, nargs="+", default=[0.0, 0.2, 0.3])
    parser.add_argument("--plot", type=Path, help="draw the reliability curve into this file")
    parser.add_argument("--peers", action="store_true", help="run pyAgrum's learners instead")
    options = parser.parse_args()
    if options.peers:
        peers(options.data, options.names, options.rows)
        return
    everything = Tally()
    print(
        "| networks | rows | missing | F1 | precision | sure | of them true | SHD | arrows | of them right | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for missing in options.missing:
        print_shares(options, missing, everything)
    print(f"| all | | | {everything.line()} |\n")
    print_reliability(everything.bins)
    if options.plot:
        reliability(everything.bins, options.plot)
    print(f"\nindependent columns: {expected_of_noise():.4f} edges expected a column")


def print_shares(options: argparse.Namespace, missing: float, everything: Tally) -> None:
    """Print one line for each kind of network and number of rows, with this share of the cells missing."""
    for name in options.names if options.data else ():
        for rows in options.rows:
            tally = Tally()
            learned(public(options.data, name, rows), missing, 0, [tally, everything])
            print(f"| {name} | {rows} | {missing:g} | {tally.line()} |", flush=True)
    kinds = (("random", drawn, COLUMNS, 10_000), ("many causes", many_causes, EFFECTS, 20_000))
    for rows in options.rows if options.nets else ():
        for kind, draw, sizes, spacing in kinds:
            tally = Tally()
            for size in sizes:
                for net in range(options.nets):
                    seed = spacing * size + net
                    learned(draw(size, rows, seed), missing, seed, [tally, everything])
            print(f"| {kind} | {rows} | {missing:g} | {tally.line()} |", flush=True)


def print_reliability(bins: np.ndarray) -> None:
    """How many of the edges with about the same probability are true, as a table."""
    print("| P(edge) | pairs | mean of P | true |\n|---|---|---|---|")
    for number, (count, probability_sum, true) in enumerate(bins):
        if count:
            figures = f"{count:.0f} | {probability_sum / count:.3f} | {true / count:.3f}"
            print(f"| {number / 10:.1f} to {(number + 1) / 10:.1f} | {figures} |")


def reliability(bins: np.ndarray, path: Path) -> None:
    """Draw how many of the edges with about the same probability are true; bars are 95 % intervals."""
    import matplotlib as mpl  # noqa: PLC0415  (only who draws needs it)

    mpl.use("agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415  (only who draws needs it)
    from scipy.stats import beta  # noqa: PLC0415  (only who draws needs it)

    mpl.rcParams["svg.hashsalt"] = "networks"
    figure, axes = plt.subplots(figsize=(4.6, 4.2))
    count, probability_sum, true = bins[bins[:, 0] > 0].T
    low, high = beta.ppf([[0.025], [0.975]], true + 0.5, count - true + 0.5)
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, linestyle="--")
    axes.vlines(probability_sum / count, low, high, color="#0072b2", linewidth=1.4)
    axes.plot(probability_sum / count, true / count, "o", color="#0072b2")
    axes.set_xlabel("P(edge), mean of a tenth")
    axes.set_ylabel("share of these edges that are true")
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def expected_of_noise() -> float:
    """Edges a column that are expected of independent columns."""
    noise, generator = Tally(), np.random.default_rng(1)
    for columns in (10, 20, 50):
        sizes = generator.integers(2, 7, columns)
        codes = np.array([generator.choice(n, 500, p=generator.dirichlet(np.ones(n))) for n in sizes], dtype=np.uint16)
        learned((codes, codes.max(axis=1).astype(np.int64) + 1, set()), 0.0, columns, [noise])
    return float(noise.bins[:, 1].sum()) / 80.0


if __name__ == "__main__":
    main()
