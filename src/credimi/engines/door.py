"""`count`: the one door for data of all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.counts import Counts, unknown
from credimi.engines.batches import Batch, columns_of, tally
from credimi.errors import CredimiError
from credimi.settling import MISSING_VALUES, Settings
from credimi.threads import ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


def count(
    data: Any,  # noqa: ANN401
    target: Any,  # noqa: ANN401
    *,
    features: Sequence[str] | None = None,
    missing_values: Iterable[str | float] = MISSING_VALUES,
    discretize: str | Mapping[str, Any] | None = "mdl",
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Counts:
    """Count a target with every feature.

    Parameters
    ----------
    data : path, list of paths, data frame, array, ...
        A CSV or Parquet file, several, a directory or a pattern; a pandas, polars or pyarrow table, a duckdb relation
        or whatever else speaks the Arrow C stream; a numpy array (rows x columns, or with named fields); a list of
        dictionaries; a dictionary of columns.
    target : str or array
        The target's column, or its values beside the data.
    features : list of str, optional
        The columns to count. All but the target, unless said.
    missing_values : list of str and numbers
        What means missing besides null, NaN and empty fields of CSV files; in all columns, the target included.
    discretize : str, None or dict
        How numbers become categories. "mdl" cuts where the target's entropy falls by more than the cut costs
        (Fayyad and Irani), "quantile" into ten ranges of equal counts, "categories" takes every number for a category
        of its own, None refuses them. A dictionary says it for single columns, with lists of cuts if one likes:
        `{"age": [18, 65], "*": "quantile"}`. Whole numbers of at most 20 distinct values are categories, unless they
        are named.
    threads : int, optional
        All cores, unless said.
    progress : callable, optional
        Called with the share of the data that has been counted.
    """
    settings = Settings.of(missing_values, discretize)
    wanted, batches = source(data, target, features, settings, progress or (lambda _: None))
    result: Counts | None = None
    for batch in batches:
        try:
            counted = tally(batch, wanted[0], wanted[1:], settings, threads=threads)
        except UnicodeDecodeError as error:
            raise CredimiError(batch.fault(error)) from error
        result = counted if result is None else result + counted
    if result is None:
        empty = Batch({name: np.zeros(0, dtype=object) for name in wanted}, 0)
        result = tally(empty, wanted[0], wanted[1:], settings)
    return result


def source(
    data: Any,  # noqa: ANN401
    target: Any,  # noqa: ANN401
    features: Sequence[str] | None,
    settings: Settings,
    progress: Callable[[float], None],
) -> tuple[list[str], Iterator[Batch]]:
    """The wanted columns, the target first, and their batches."""
    wanted, offered, batches = _offered(data, target, features, progress)
    for name in settings.named:
        if name not in offered:
            raise CredimiError(unknown(name, offered))
        if name == wanted[0]:
            raise CredimiError(f"discretize names the target {name!r}, which has to have classes: cut it first")
    return wanted, batches


def _offered(
    data: Any,  # noqa: ANN401
    target: Any,  # noqa: ANN401
    features: Sequence[str] | None,
    progress: Callable[[float], None],
) -> tuple[list[str], list[str], Iterator[Batch]]:
    """The wanted columns, the target first; the columns there are; and the batches of the wanted ones."""
    from credimi.engines import arrow, files  # noqa: PLC0415  (pyarrow takes a while to load)

    if files.reads(data):
        if not isinstance(target, str):
            raise CredimiError(f"target is {target!r}: the target of a file is the name of one of its columns")
        paths = files.paths_of(data)
        offered = files.names(paths)
        wanted = [target, *columns_of(offered, target, features)]
        return wanted, offered, ahead(files.batches(paths, wanted, progress))
    if not arrow.reads(data):
        raise CredimiError(
            f"cannot read a {type(data).__name__}: pass a path, a data frame that speaks Arrow (pandas, polars, "
            "pyarrow, duckdb), a numpy array or a list of dictionaries"
            + ("; collect() it first" if hasattr(data, "collect") else "")
        )
    offered = arrow.names(data)
    if isinstance(target, int | np.integer):  # the name of a frame's column, or the place of an array's
        target = (
            offered[target] if isinstance(data, np.ndarray) and -len(offered) <= target < len(offered) else str(target)
        )
    if isinstance(target, str):
        wanted = [target, *columns_of(offered, target, features)]
        return wanted, offered, arrow.batches(data, wanted)
    if target is None:
        raise CredimiError('name the target: count(data, "column"), or pass its values')
    name = str(getattr(target, "name", None) or arrow.TARGET)
    while name in offered:
        name += "_"
    columns = columns_of([*offered, name], name, features)
    return [name, *columns], [*offered, name], _beside(arrow.batches(data, columns), name, arrow.array_of(target, name))


def _beside(batches: Iterator[Batch], name: str, values: Any) -> Iterator[Batch]:  # noqa: ANN401
    """The batches with one column more, cut to fit."""
    if getattr(values, "ndim", 1) != 1:
        raise CredimiError(f"the target has the shape {values.shape}: pass one value a row")
    start = 0
    for batch in batches:
        part = values[start : start + batch.rows]
        start += batch.rows
        if len(part) < batch.rows:
            break
        yield Batch({name: part, **batch.columns}, batch.rows, batch.raw, batch.cells)
    if start != len(values):
        raise CredimiError(
            f"the target has {len(values):,} values, the data have {start:,} rows or more: pass one a row"
        )
