"""Credible mutual information: which columns of an incomplete table inform about a target, how much, how surely.

All public names are listed here. A name's module is loaded when the name is first used (PEP 562), so that `import
credimi` is fast: it loads no compiler, no SciPy, no Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from credimi.core import forks
from credimi.core.version import __version__

if TYPE_CHECKING:
    from credimi.core.errors import CredimiError
    from credimi.core.table import Table
    from credimi.counting.count import count
    from credimi.counting.counts import Counts
    from credimi.estimators.discretizer import EntropyDiscretizer
    from credimi.estimators.naive_bayes import IncrementalNaiveBayes
    from credimi.estimators.selector import CredibleSelector
    from credimi.estimators.tree import CredibleTreeClassifier
    from credimi.experiments.prequential import prequential
    from credimi.inference.bounds.information_bounds import information_bounds
    from credimi.inference.conditional.conditional_information import conditional_information
    from credimi.inference.distributions.distribution import Distribution
    from credimi.inference.mutual_information import mutual_information
    from credimi.inference.posterior import Posterior, posterior
    from credimi.report.figures import plot_prequential
    from credimi.selection.comparisons.compare import compare
    from credimi.selection.comparisons.comparison import Comparison
    from credimi.selection.comparisons.groups import GroupedRanking, rank_by
    from credimi.selection.networks.build import network
    from credimi.selection.networks.network import Network
    from credimi.selection.pairwise.pairs import pairs
    from credimi.selection.pairwise.pairs_result import Pairs
    from credimi.selection.rank import Ranking, rank
    from credimi.selection.sets.interaction_records import Interactions
    from credimi.selection.sets.interactions import interactions
    from credimi.selection.sets.select import select
    from credimi.selection.sets.selection import Selection

__all__ = [
    "Comparison",
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
    "Selection",
    "Table",
    "__version__",
    "compare",
    "conditional_information",
    "count",
    "information_bounds",
    "interactions",
    "mutual_information",
    "network",
    "pairs",
    "plot_prequential",
    "posterior",
    "prequential",
    "rank",
    "rank_by",
    "select",
]

_MODULE_OF = {
    "Comparison": "credimi.selection.comparisons.comparison",
    "Counts": "credimi.counting.counts",
    "CredibleSelector": "credimi.estimators.selector",
    "CredibleTreeClassifier": "credimi.estimators.tree",
    "CredimiError": "credimi.core.errors",
    "Distribution": "credimi.inference.distributions.distribution",
    "EntropyDiscretizer": "credimi.estimators.discretizer",
    "GroupedRanking": "credimi.selection.comparisons.groups",
    "IncrementalNaiveBayes": "credimi.estimators.naive_bayes",
    "Interactions": "credimi.selection.sets.interaction_records",
    "Network": "credimi.selection.networks.network",
    "Pairs": "credimi.selection.pairwise.pairs_result",
    "Posterior": "credimi.inference.posterior",
    "Ranking": "credimi.selection.ranking",
    "Selection": "credimi.selection.sets.selection",
    "Table": "credimi.core.table",
    "compare": "credimi.selection.comparisons.compare",
    "conditional_information": "credimi.inference.conditional.conditional_information",
    "count": "credimi.counting.count",
    "interactions": "credimi.selection.sets.interactions",
    "information_bounds": "credimi.inference.bounds.information_bounds",
    "mutual_information": "credimi.inference.mutual_information",
    "network": "credimi.selection.networks.build",
    "pairs": "credimi.selection.pairwise.pairs",
    "plot_prequential": "credimi.report.figures",
    "posterior": "credimi.inference.posterior",
    "prequential": "credimi.experiments.prequential",
    "rank": "credimi.selection.rank",
    "rank_by": "credimi.selection.comparisons.groups",
    "select": "credimi.selection.sets.select",
}

# Not public: parts of public objects. Pickles look for them here, whatever module they are in.
_STORED_MODULE_OF = {
    "Beliefs": "credimi.inference.batched.many_tables",
    "Classes": "credimi.estimators.class_labels",
    "CountedFile": "credimi.counting.saved.counted_files",
    "Edge": "credimi.selection.networks.network",
    "Empirical": "credimi.inference.distributions.components",
    "Features": "credimi.estimators.validation",
    "GrowingLabels": "credimi.counting.streams.growing_counts",
    "IncrementalCounts": "credimi.counting.streams.incremental_counts",
    "InteractingPair": "credimi.selection.sets.interaction_records",
    "JointTable": "credimi.selection.sets.interaction_records",
    "Kept": "credimi.selection.page_data",
    "Labels": "credimi.columns.labels",
    "MissingValues": "credimi.columns.missing",
    "NetworkRemark": "credimi.selection.networks.network",
    "Normal": "credimi.inference.distributions.components",
    "PairFigures": "credimi.inference.batched.pair_figures",
    "PairsForest": "credimi.selection.pairwise.pairs_forest",
    "Point": "credimi.inference.distributions.components",
    "Prequential": "credimi.experiments.prequential",
    "PrequentialOptions": "credimi.experiments.prequential_options",
    "ReadingOptions": "credimi.columns.reading_options",
    "Remark": "credimi.selection.remarks",
    "Rejection": "credimi.selection.sets.selection",
    "RemarkKind": "credimi.selection.remarks",
    "Rows": "credimi.counting.rows.coded_table",
    "RuleOptions": "credimi.selection.rules",
    "ScaledBeta": "credimi.inference.distributions.scaled_beta",
    "Step": "credimi.selection.sets.selection",
    "Scorer": "credimi.estimators.scorer",
    "Tree": "credimi.selection.trees.nodes",
    "TreeCandidate": "credimi.selection.trees.nodes",
    "TreeColumn": "credimi.counting.rows.tree_rows",
    "TreeNode": "credimi.selection.trees.nodes",
    "TreeSplit": "credimi.selection.trees.nodes",
    "TreeStandIn": "credimi.selection.trees.nodes",
    "TreeStop": "credimi.selection.trees.nodes",
    "UncountableError": "credimi.core.errors",
}

_OF_COMMANDS = {"tree": "CredibleTreeClassifier", "table": "mutual_information"}  # that have another name in Python

if not TYPE_CHECKING:  # with this function, a type checker would accept any name

    def __getattr__(name: str) -> object:
        """Load a public name from its module, and store it."""
        module = _MODULE_OF.get(name) or _STORED_MODULE_OF.get(name)
        if module is None:
            meant = f"did you mean {_OF_COMMANDS[name]}? credimi" if name in _OF_COMMANDS else "it"
            offer = ", ".join(__all__)
            raise AttributeError(f"module 'credimi' has no attribute {name!r}; {meant} offers {offer}", name=name)
        if name != "CredimiError":  # which says why, and is caught by its name
            forks.check()
        value = getattr(import_module(module), name)
        if name in _MODULE_OF:
            globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
