"""`Counter`: what a question may ask of the rows of a table, wherever these are. Answers are counts, never rows.

| asks                | gets                                                                                       |
|---------------------|--------------------------------------------------------------------------------------------|
| `by_target`         | each column against the classes                                                            |
| `by_stratum`        | the same in each stratum; a `Rule` says which stratum a row belongs to                     |
| `by_pair`           | every two columns, without the classes (`PairTables`)                                      |
| `by_pair_and_class` | every two columns in each class (`ClassPairs`)                                             |
| `by_node`           | the columns in the nodes of a tree, which grows meanwhile (`Nodes`)                        |
| `by_row`            | how often each different row occurs (`DistinctRows`): networks are learned from this       |
| `sample`            | some rows, chosen by a hash of what they hold, so that their order does not matter         |

Tables have the missing class and the missing value last, as `core.tables` says. Rows of survey weights are counted so
that each table, or each set of strata, has as many rows as it is worth (`survey_rows`).

`local_counter.LocalCounter` counts rows of this machine. In memory or in scratch files makes no difference to it: both
are arrays, and new ones go to the same place (`Codes.storage`). `sources.clusters.cluster_counter` adds up what the
workers of a cluster count.

**Another counter** (rows on a cluster, in a database) needs a codebook and these methods. The codebook comes from a
first count of each column, as in `Codebook.of`, and is sent to where the rows are; there `encode_batch` and
`Codebook.codes` make codes of each part, and `LocalCounter` counts the part. All tables of parts add up, but for survey
weights, whose weights and squares are added before `survey_rows.scaled`. So what is left to write is how parts are
sent and added. A rule is sent, too: it is made of columns, not of rows. `sample` takes the rows with the smallest
hashes of all parts (`rows.row_keys`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from credimi.core.tables import Tables
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.counts.codes import Codebook, Codes
    from credimi.counts.nodes.node_counter import NodeTables, TreeColumn
    from credimi.counts.rows.class_pairs import ClassPairs
    from credimi.counts.rows.distinct_rows import DistinctRows
    from credimi.counts.rows.pair_tables import PairTables


class Counter(Protocol):
    """The rows of a table, as a question sees them."""

    @property
    def book(self) -> Codebook:
        """The columns and classes."""

    @property
    def rows(self) -> float:
        """The number of rows, or the sum of their weights."""

    @property
    def squares(self) -> float:
        """The sum of the squares of the weights."""

    @property
    def is_survey(self) -> bool:
        """Whether the weights are survey weights."""

    @property
    def threads(self) -> int | None:
        """How many threads may count and judge here; all cores if this is None."""

    def by_name(self) -> Counter:
        """The same with the columns in the order of their names."""

    def by_target(self, columns: Iterable[int] | None = None) -> Tables:
        """The table of each of these columns, by default all, and the classes."""

    def by_stratum(self, rule: Rule | None, columns: IntegerArray) -> Iterator[Strata]:
        """The same in each stratum, some columns at a time, so that memory is bounded; without a rule, one stratum."""

    def by_pair(self) -> PairTables:
        """The tables of every two columns."""

    def by_pair_and_class(self) -> ClassPairs:
        """The tables of every two columns in each class."""

    def by_node(self) -> Nodes:
        """Tables of the nodes of a tree."""

    def by_row(self) -> DistinctRows:
        """The different rows, whatever their class, and how often each occurs."""

    def sample(self, rows: int) -> Codes:
        """At most so many rows, evenly spread over the order of their hashes; all rows if there are no more."""


class Nodes(Protocol):
    """The nodes of a tree, which grows meanwhile; they have numbers, and 0 is the root, with all rows."""

    @property
    def book(self) -> Codebook:
        """The columns and classes."""

    @property
    def columns(self) -> tuple[TreeColumn, ...]:
        """The columns that may be split on."""

    def class_totals(self, node: int) -> FloatArray:
        """The weight of each class in a node; that of rows without a class comes last."""

    def tables(self, node: int) -> NodeTables:
        """The tables of all columns that have at least two classes and two values in a node."""

    def value_counts(self, node: int, column: int) -> FloatArray:
        """The weight of each value of a column with each class, (values, classes), in the node."""

    def value_counts_of_last(self, column: int) -> FloatArray:
        """The same in the node whose tables were made last, if they hold the counts; without values that lack."""

    def divide(self, node: int, column: int, branch_of: IntegerArray) -> None:
        """Divide a node: `branch_of` has the branch of each value of the column, -1 for values without one."""

    def branch_tables(self, node: int, branches: int, column: int) -> NodeTables:
        """The tables of all other columns against the branches of a divided node, of which `column` was the split."""

    def occurs_in_branches(self, node: int, column: int) -> BooleanArray:
        """Which values of a column occur in the rows of a divided node that have a branch."""

    def descend(
        self,
        node: int,
        children: Sequence[int],
        stand_ins: Sequence[tuple[int, IntegerArray]],
        shares_of: Callable[[Iterator[IntegerArray], int], FloatArray],
    ) -> None:
        """Send the rows of a divided node to its children (see `nodes.node_rows`)."""

    def close(self, node: int) -> None:
        """Forget the rows of a leaf."""


class Strata(NamedTuple):
    """The tables of some columns, one for each stratum; those of a column begin where `starts` says."""

    columns: IntegerArray
    tables: Tables
    starts: IntegerArray


class Rule(Protocol):
    """Says which stratum a row belongs to, from its codes: it can be applied wherever the rows are."""

    def strata(self, codes: Codes) -> tuple[NDArray[np.integer], int]:
        """The stratum of each row, and the number of strata; other numbers mean that a row belongs to none."""


@dataclass(frozen=True, slots=True)
class ByValue:
    """A stratum is a value of one column. Rows without a value belong to none.

    They say nothing about what a feature tells given the column. As a separate stratum they would answer another
    question: a copy of the column, with missing values in other rows, would seem to add information, because it has
    values where the column has none.
    """

    column: int

    def strata(self, codes: Codes) -> tuple[NDArray[np.integer], int]:
        """The stratum of each row, and the number of strata."""
        return codes.columns[self.column], int(codes.sizes[self.column])
