"""Credible mutual information: which columns of an incomplete table inform about a target, how much, how surely.

All that is public is listed here. A name's module is loaded when the name is first used (PEP 562), so that
`import credimi` costs nothing: no compiler, no SciPy, no Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from credimi.chances import Posterior, posterior
    from credimi.counts import Counts
    from credimi.distribution import Distribution
    from credimi.engines.door import count
    from credimi.errors import CredimiError
    from credimi.estimators.discretizer import EntropyDiscretizer
    from credimi.estimators.naive_bayes import IncrementalNaiveBayes
    from credimi.estimators.selector import CredibleSelector
    from credimi.experiments.stream import prequential
    from credimi.inference import mutual_information
    from credimi.ranking import Ranking, rank
    from credimi.report.figures import plot_prequential
    from credimi.table import Table

__version__ = "0.1.0"

__all__ = [
    "Counts",
    "CredibleSelector",
    "CredimiError",
    "Distribution",
    "EntropyDiscretizer",
    "IncrementalNaiveBayes",
    "Posterior",
    "Ranking",
    "Table",
    "__version__",
    "count",
    "mutual_information",
    "plot_prequential",
    "posterior",
    "prequential",
    "rank",
]

_MODULE_OF = {
    "Counts": "credimi.counts",
    "CredibleSelector": "credimi.estimators.selector",
    "CredimiError": "credimi.errors",
    "Distribution": "credimi.distribution",
    "EntropyDiscretizer": "credimi.estimators.discretizer",
    "IncrementalNaiveBayes": "credimi.estimators.naive_bayes",
    "Posterior": "credimi.chances",
    "Ranking": "credimi.ranking",
    "Table": "credimi.table",
    "count": "credimi.engines.door",
    "mutual_information": "credimi.inference",
    "plot_prequential": "credimi.report.figures",
    "posterior": "credimi.chances",
    "prequential": "credimi.experiments.stream",
    "rank": "credimi.ranking",
}

if not TYPE_CHECKING:  # a type checker that saw this function would believe in any name

    def __getattr__(name: str) -> object:
        """Load a public name from its module, and keep it."""
        if name not in _MODULE_OF:
            offer = ", ".join(__all__)
            raise AttributeError(f"module 'credimi' has no attribute {name!r}; it offers {offer}", name=name)
        value = getattr(import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List what is public, loaded or not."""
    return sorted(__all__)
