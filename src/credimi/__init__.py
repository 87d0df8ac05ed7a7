"""Credible mutual information: which columns of an incomplete table inform about a target, how much, how surely.

All public names are listed here. A name's module is loaded when the name is first used (PEP 562), so that `import
credimi` is fast: it loads no compiler, no SciPy, no Arrow. Type checkers and editors read `__init__.pyi`, which
tools/stubs.py writes.
"""

from importlib import import_module

from credimi.core import forks
from credimi.core.version import __version__ as __version__

_MODULE_OF = {
    "Comparison": "credimi.questions.compare.result",
    "CompleteMoments": "credimi.inference.complete_data",
    "Counts": "credimi.counts.counts",
    "CredibleSelector": "credimi.estimators.selector",
    "CredibleTreeClassifier": "credimi.estimators.tree",
    "CredimiError": "credimi.core.errors",
    "Distribution": "credimi.inference.distributions.distribution",
    "EntropyDiscretizer": "credimi.estimators.discretizer",
    "GroupedRanking": "credimi.questions.compare.groups",
    "IncrementalNaiveBayes": "credimi.estimators.naive_bayes",
    "Interactions": "credimi.questions.interactions.result",
    "Network": "credimi.questions.network.result",
    "Pairs": "credimi.questions.pairs.result",
    "Posterior": "credimi.inference.posterior",
    "Ranking": "credimi.questions.rank.result",
    "Report": "credimi.questions.report.result",
    "Result": "credimi.results.result",
    "Selection": "credimi.questions.select.result",
    "Table": "credimi.core.table",
    "Tree": "credimi.questions.tree.result",
    "compare": "credimi.questions.compare.compare",
    "complete_moments": "credimi.inference.complete_data",
    "conditional_information": "credimi.inference.tables.conditional_information",
    "count": "credimi.sources.door",
    "interactions": "credimi.questions.interactions.interactions",
    "load": "credimi.results.saved",
    "information_bounds": "credimi.inference.bounds.information_bounds",
    "mutual_information": "credimi.inference.mutual_information",
    "network": "credimi.questions.network.network",
    "pairs": "credimi.questions.pairs.pairs",
    "plot_prequential": "credimi.paper.prequential_view",
    "posterior": "credimi.inference.posterior",
    "prequential": "credimi.paper.prequential",
    "rank": "credimi.questions.rank.rank",
    "rank_by": "credimi.questions.compare.rank_by",
    "report": "credimi.questions.report.report",
    "select": "credimi.questions.select.select",
    "tree": "credimi.questions.tree.tree",
}

__all__ = sorted(["__version__", *_MODULE_OF])  # noqa: PLE0605  (type checkers read the stub)

# Not public: parts of public objects. Pickles look for them here, whatever module they are in.
_STORED_MODULE_OF = {
    "Belief": "credimi.inference.belief",
    "Beliefs": "credimi.inference.tables.many_tables",
    "Classes": "credimi.estimators.class_labels",
    "CountedFile": "credimi.counts.saved.counted_files",
    "Cut": "credimi.questions.report.result",
    "CutBy": "credimi.columns.feature",
    "Edge": "credimi.questions.network.result",
    "Effects": "credimi.questions.rank.effects",
    "Empirical": "credimi.inference.distributions.components",
    "FeatureKind": "credimi.columns.feature",
    "Features": "credimi.estimators.validation",
    "GrowingLabels": "credimi.counts.growing_counts",
    "IncrementalCounts": "credimi.counts.incremental_counts",
    "InteractingPair": "credimi.questions.interactions.result",
    "JointTable": "credimi.questions.interactions.result",
    "Kept": "credimi.questions.rank.page_data",
    "Labels": "credimi.columns.labels",
    "MissingValues": "credimi.columns.missing",
    "NetworkRemark": "credimi.questions.network.result",
    "Normal": "credimi.inference.distributions.components",
    "PairFigures": "credimi.inference.tables.pair_figures",
    "PairsForest": "credimi.questions.pairs.pairs_forest",
    "Point": "credimi.inference.distributions.components",
    "Prequential": "credimi.paper.prequential",
    "PrequentialOptions": "credimi.paper.prequential_options",
    "ReadingOptions": "credimi.columns.reading_options",
    "Remark": "credimi.results.remarks",
    "Rejection": "credimi.questions.select.result",
    "RemarkKind": "credimi.results.remarks",
    "Rows": "credimi.paper.rows",
    "ScaledBeta": "credimi.inference.distributions.scaled_beta",
    "SuspicionKind": "credimi.columns.feature",
    "Step": "credimi.questions.select.result",
    "Scorer": "credimi.estimators.scorer",
    "Together": "credimi.questions.report.result",
    "TreeCandidate": "credimi.questions.tree.nodes",
    "TreeColumn": "credimi.counts.nodes.node_counter",
    "TreeNode": "credimi.questions.tree.nodes",
    "TreeSplit": "credimi.questions.tree.nodes",
    "TreeStandIn": "credimi.questions.tree.nodes",
    "TreeStop": "credimi.questions.tree.nodes",
    "UncountableError": "credimi.core.errors",
}

_OF_COMMANDS = {"table": "mutual_information"}  # that have another name in Python


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
