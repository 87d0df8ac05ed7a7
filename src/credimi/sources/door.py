"""`count`: the public door of this room; its keywords can be read without loading what reads and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.keywords import question
from credimi.counts.reading import Reading

if TYPE_CHECKING:
    from credimi.core.types import Data
    from credimi.counts.counts import Counts


@question(reading=Reading.but("missing_as", "scratch", "device"))
def count(data: Data, target: object, *, reading: Reading) -> Counts:
    """Count a target with every feature.

    Parameters
    ----------
    data : path, list of paths, data frame, array, ...
        A CSV, Parquet, Arrow (Feather) or JSON lines file, several files, a directory or a pattern; a DataFrame of
        Spark or Dask, counted where its partitions are; a polars LazyFrame, streamed; a pandas, polars or pyarrow
        table, a duckdb relation or any other object that provides an Arrow C stream; a numpy array (rows x columns, or
        with named fields); a sparse matrix of scipy, in which 0 is a value; a list of dictionaries; a dictionary of
        columns.
    target : str or array
        The name of the target's column, or its values beside the data. pandas' names that are no text (numbers, dates,
        tuples of a MultiIndex) are accepted as names.

    Returns
    -------
    Counts
        All that `rank` needs; counts of parts add up to those of the whole.

    Examples
    --------
    >>> counts = credimi.count({"x": ["a", "b", None, "b"], "class": ["p", "q", "q", None]}, "class")
    >>> counts["x"].joint
    array([[1., 0.],
           [0., 1.]])
    >>> counts["x"].target_only, counts["x"].feature_only
    (array([0., 1.]), array([0., 1.]))
    """
    from credimi.sources.count import counted_data  # noqa: PLC0415  (loads what reads)

    return counted_data(data, target, reading)
