"""The public names, for editors and type checkers. Written by tools/stubs.py."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from credimi.core.errors import CredimiError as CredimiError
from credimi.core.table import Table as Table
from credimi.core.types import Data
from credimi.core.types import Option
from credimi.core.types import Values
from credimi.counts.counts import Counts as Counts
from credimi.estimators.discretizer import EntropyDiscretizer as EntropyDiscretizer
from credimi.estimators.naive_bayes import IncrementalNaiveBayes as IncrementalNaiveBayes
from credimi.estimators.selector import CredibleSelector as CredibleSelector
from credimi.estimators.tree import CredibleTreeClassifier as CredibleTreeClassifier
from credimi.inference.bounds.information_bounds import information_bounds as information_bounds
from credimi.inference.complete_data import CompleteMoments as CompleteMoments
from credimi.inference.complete_data import complete_moments as complete_moments
from credimi.inference.distributions.distribution import Distribution as Distribution
from credimi.inference.mutual_information import mutual_information as mutual_information
from credimi.inference.posterior import Posterior as Posterior
from credimi.inference.posterior import posterior as posterior
from credimi.inference.tables.conditional_information import conditional_information as conditional_information
from credimi.paper.prequential import Prequential
from credimi.paper.prequential_view import plot_prequential as plot_prequential
from credimi.paper.rows import Rows
from credimi.questions.compare.groups import GroupedRanking as GroupedRanking
from credimi.questions.compare.result import Comparison as Comparison
from credimi.questions.interactions.result import Interactions as Interactions
from credimi.questions.network.result import Network as Network
from credimi.questions.pairs.result import Pairs as Pairs
from credimi.questions.rank.result import Ranking as Ranking
from credimi.questions.report.result import Report as Report
from credimi.questions.select.result import Selection as Selection
from credimi.questions.tree.result import Tree as Tree
from credimi.results.result import Result as Result
from credimi.results.saved import load as load
from numpy.typing import ArrayLike
from pathlib import Path
from types import EllipsisType

__all__ = [
    "Comparison",
    "CompleteMoments",
    "Counts",
    "CredibleSelector",
    "CredibleTreeClassifier",
    "CredimiError",
    "Distribution",
    "EntropyDiscretizer",
    "GroupedRanking",
    "IncrementalNaiveBayes",
    "Interactions",
    "Network",
    "Pairs",
    "Posterior",
    "Ranking",
    "Report",
    "Result",
    "Selection",
    "Table",
    "Tree",
    "__version__",
    "compare",
    "complete_moments",
    "conditional_information",
    "count",
    "information_bounds",
    "interactions",
    "load",
    "mutual_information",
    "network",
    "pairs",
    "plot_prequential",
    "posterior",
    "prequential",
    "rank",
    "rank_by",
    "report",
    "select",
    "tree",
]
__version__: str

def compare(
    a: Data | Counts | Ranking,
    b: Data | Counts | Ranking,
    target: Values = ...,
    *,
    p_same: float = ...,
    names: Sequence[str] = ...,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    missing_as: str = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_cuts: str | Sequence[object] | None = ...,
    target_as: str | None = ...,
    weights: Values = ...,
    weights_are: str | None = ...,
    max_values: int | None = ...,
    delimiter: str | None = ...,
    engine: str | None = ...,
    master: str | None = ...,
    scheduler: str | None = ...,
    threads: int | None = ...,
    progress: Callable[[float, str], None] | None = ...,
    epsilon: float | str = ...,
    level: float = ...,
) -> Comparison: ...

def count(
    data: Data,
    target: object,
    *,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_cuts: str | Sequence[object] | None = ...,
    target_as: str | None = ...,
    weights: Values = ...,
    weights_are: str | None = ...,
    max_values: int | None = ...,
    delimiter: str | None = ...,
    engine: str | None = ...,
    master: str | None = ...,
    scheduler: str | None = ...,
    threads: int | None = ...,
    progress: Callable[[float, str], None] | None = ...,
) -> Counts: ...

def interactions(
    data: Data,
    target: Values,
    *,
    top: int | None = ...,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_cuts: str | Sequence[object] | None = ...,
    target_as: str | None = ...,
    weights: Values = ...,
    weights_are: str | None = ...,
    max_values: int | None = ...,
    delimiter: str | None = ...,
    scratch: str | Path | None = ...,
    device: str = ...,
    threads: int | None = ...,
    progress: Callable[[float, str], None] | None = ...,
    epsilon: float | str = ...,
    level: float = ...,
) -> Interactions: ...

def network(
    data: Data,
    *,
    level: float = ...,
    degree: float | None = ...,
    max_parents: int = ...,
    imputations: int = ...,
    max_values: int = ...,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_as: str | None = ...,
    weights: Values = ...,
    weights_are: str | None = ...,
    delimiter: str | None = ...,
    threads: int | None = ...,
    progress: Callable[[float, str], None] | None = ...,
    random_state: int = ...,
) -> Network: ...

def pairs(
    data: Data,
    *,
    max_values: int = ...,
    top: int | None = ...,
    p_dependent: float | None = ...,
    into: str | Path | None = ...,
    refine: str | None = ...,
    imputations: int = ...,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_as: str | None = ...,
    weights: Values = ...,
    weights_are: str | None = ...,
    delimiter: str | None = ...,
    scratch: str | Path | None = ...,
    device: str = ...,
    threads: int | None = ...,
    progress: Callable[[float, str], None] | None = ...,
    prior: str | float = ...,
    approximation: str = ...,
    epsilon: float | str = ...,
    level: float = ...,
    random_state: int = ...,
) -> Pairs: ...

def prequential(
    data: Data | Rows,
    target: Values = ...,
    *,
    rules: Sequence[str] = ...,
    orders: int | ArrayLike = ...,
    keep: str | Path | None = ...,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_cuts: str | Sequence[object] | None = ...,
    delimiter: str | None = ...,
    progress: Callable[[float, str], None] | None = ...,
    prior: str | float = ...,
    approximation: str = ...,
    method: str | None = ...,
    epsilon: float | str = ...,
    level: float = ...,
    random_state: int = ...,
    threads: int | None = ...,
) -> Prequential: ...

def rank(
    data: Data | Counts,
    target: Values = ...,
    *,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    missing_as: str = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_cuts: str | Sequence[object] | None = ...,
    target_as: str | None = ...,
    weights: Values = ...,
    weights_are: str | None = ...,
    max_values: int | None = ...,
    delimiter: str | None = ...,
    engine: str | None = ...,
    master: str | None = ...,
    scheduler: str | None = ...,
    threads: int | None = ...,
    progress: Callable[[float, str], None] | None = ...,
    prior: str | float | Mapping[str, Option] = ...,
    approximation: str = ...,
    method: str | None = ...,
    epsilon: float | str = ...,
    level: float = ...,
    fdr: float = ...,
    robust_factor: float | None = ...,
    random_state: int = ...,
) -> Ranking: ...

def rank_by(
    data: Data,
    target: Values,
    by: str,
    *,
    by_cuts: Option = ...,
    p_same: float = ...,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    missing_as: str = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_cuts: str | Sequence[object] | None = ...,
    target_as: str | None = ...,
    weights: Values = ...,
    weights_are: str | None = ...,
    max_values: int | None = ...,
    delimiter: str | None = ...,
    threads: int | None = ...,
    progress: Callable[[float, str], None] | None = ...,
    epsilon: float | str = ...,
    level: float = ...,
    fdr: float = ...,
    robust_factor: float | None = ...,
) -> GroupedRanking: ...

def report(
    data: Data,
    target: Values,
    *,
    seconds: float = ...,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_cuts: str | Sequence[object] | None = ...,
    target_as: str | None = ...,
    weights: Values = ...,
    weights_are: str | None = ...,
    max_values: int | None = ...,
    delimiter: str | None = ...,
    threads: int | None = ...,
    progress: Callable[[float, str], None] | None = ...,
    epsilon: float | str = ...,
    random_state: int = ...,
) -> Report: ...

def select(
    data: Data,
    target: Values,
    *,
    rule: str | None = ...,
    level: float | None = ...,
    max_features: int | None = ...,
    min_features: int = ...,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    missing_as: str = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_cuts: str | Sequence[object] | None = ...,
    target_as: str | None = ...,
    weights: Values = ...,
    weights_are: str | None = ...,
    max_values: int | None = ...,
    delimiter: str | None = ...,
    scratch: str | Path | None = ...,
    threads: int | None = ...,
    progress: Callable[[float, str], None] | None = ...,
    prior: str | float = ...,
    approximation: str = ...,
    method: str | None = ...,
    epsilon: float | str = ...,
    fdr: float = ...,
    robust_factor: float | None = ...,
    random_state: int = ...,
) -> Selection: ...

def tree(
    data: Data,
    target: Values,
    *,
    max_depth: int | None = ...,
    features: Sequence[str] | None = ...,
    exclude: Sequence[str] | None = ...,
    missing_values: Iterable[str | float | EllipsisType] = ...,
    discretize: str | Mapping[str, object] | None = ...,
    target_cuts: str | Sequence[object] | None = ...,
    target_as: str | None = ...,
    weights: Values = ...,
    weights_are: str | None = ...,
    max_values: int | None = ...,
    delimiter: str | None = ...,
    scratch: str | Path | None = ...,
    threads: int | None = ...,
    progress: Callable[[float, str], None] | None = ...,
    epsilon: float | str = ...,
    level: float = ...,
) -> Tree: ...
