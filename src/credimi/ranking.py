"""`rank`: which features inform about the target, how much, and how surely; best first.

All features' moments come from one call of `information.moments`; intervals and probabilities from the Betas (or, for
"leading", the Gaussians) with these moments, many at once. Those that scipy's inverse is not trusted with, and draws,
go through `Distribution` one by one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi import filters, storage
from credimi.counts import Counts
from credimi.distribution import Distribution
from credimi.errors import CredimiError
from credimi.inference import checked_approximation, mutual_information
from credimi.information import Blocks, moments
from credimi.prior import pseudo_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from credimi.counts import Feature

    FloatArray = NDArray[np.float64]

COLUMNS = (
    "feature",
    "values",
    "complete",
    "missing",
    "mi",
    "std",
    "low",
    "high",
    "p_above",
    "keep_plugin",
    "keep_forward",
    "keep_backward",
    "verdict",
    "note",
)
_TRUSTED = (1e-3, 1e6)  # parameters of a Beta for which scipy's quantiles are right (see `beta`)


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """One row a feature, best first. Speaks Arrow; `to_pandas()`, `to_polars()`; prints as a table.

    The columns: feature; values (of the feature, after cutting); complete (rows with both feature and target);
    missing (rows without the feature); mi, std, low, high (posterior mean, deviation and interval, nats); p_above,
    P(I > epsilon); keep_plugin, keep_forward, keep_backward; verdict (keep, unsure, drop, not ranked); note: where
    numbers were cut, or what is wrong with a column. Identifiers are not ranked, and have NaN for mi; columns of one
    value, none or no cut have 0.
    """

    columns: dict[str, list[Any]]
    target: str
    rows: int
    classes: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns["feature"])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows as dictionaries."""
        for row in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, row, strict=True))

    def __getitem__(self, feature: str) -> dict[str, Any]:
        """The row of one feature."""
        for row in self:
            if row["feature"] == feature:
                return row
        raise CredimiError(f"the ranking has no feature {feature!r}")

    def __repr__(self) -> str:
        from credimi.display import ranking_text  # noqa: PLC0415  (rich is loaded only to print)

        return ranking_text(self)

    def selected(self, rule: str = "forward") -> list[str]:
        """The features that a filter keeps, best first."""
        keep = self.columns[f"keep_{filters.checked_rule(rule)}"]
        return [name for name, kept in zip(self.columns["feature"], keep, strict=True) if kept]

    def to_arrow(self) -> Any:  # noqa: ANN401
        """A pyarrow Table."""
        import pyarrow as pa  # noqa: PLC0415

        return pa.table(self.columns)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:  # noqa: ANN401
        """A pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:  # noqa: ANN401
        """A polars DataFrame."""
        try:
            import polars  # noqa: ICN001, PLC0415
        except ImportError:
            raise CredimiError("polars is not installed: pip install polars") from None
        return polars.from_arrow(self.to_arrow())

    def to_dict(self) -> dict[str, Any]:
        """What `credimi rank --format json` writes: settings, rows, classes, features; NaN as None."""
        features = [
            {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
            for row in self
        ]
        return {
            "settings": self.settings | {"target": self.target},
            "rows": self.rows,
            "classes": list(self.classes),
            "features": features,
        }


def rank(
    data: Any,  # noqa: ANN401
    target: Any = None,  # noqa: ANN401
    *,
    epsilon: float = 0.003,
    level: float = 0.95,
    prior: str | float = "jeffreys",
    approximation: str = "matched",
    random_state: int = 0,
    threads: int | None = None,
    **counting: Any,  # noqa: ANN401
) -> Ranking:
    """Rank features by what they tell about the target.

    Parameters
    ----------
    data : Counts, or what `credimi.count` takes
        Paths, data frames, arrays; or counts made before (or the path of their file), which know their target.
    target : str or array
        The target's column, or its values beside the data.
    epsilon : float
        The information, in nats, from which on a feature is worth having: P(I > epsilon) decides.
    level : float
        Of the credible interval, and of the decisions.
    prior, approximation
        As in `mutual_information`.
    random_state : int
        The seed for approximation="sampled".
    threads : int, optional
        All cores, unless said.
    **counting
        features, missing_values, discretize, progress: as in `credimi.count`.
    """
    checked_approximation(approximation)
    _check(epsilon, level)
    pseudo_count(prior, (2, 2))  # refuses what is no prior, also where there is nothing to rank
    counts = _counts(data, target, counting, threads)
    features = counts.settled()
    classes = counts.class_names()
    ranked = [index for index, feature in enumerate(features) if not feature.note]
    summary = np.zeros((6, len(features)))  # mi, std, low, high, p_above, information at the mode
    for index, feature in enumerate(features):
        if feature.note.startswith("identifier"):
            summary[:, index] = np.nan
    if ranked:
        summary[:, ranked] = _summaries(
            [features[index] for index in ranked],
            prior=prior,
            approximation=approximation,
            epsilon=epsilon,
            level=level,
            random_state=random_state,
            threads=threads,
        )
    noted = np.array([bool(feature.note) for feature in features], dtype=bool)
    order = np.lexsort((np.arange(len(features)), noted, -summary[0]))  # ties: as the data have them
    settings = {
        "epsilon": float(epsilon),
        "level": float(level),
        "prior": prior if isinstance(prior, str) else float(prior),
        "approximation": approximation,
        "units": "nats",
        "missing_values": list(counts.settings.missing_values),
        "discretize": counts.settings.discretize,
    }
    if approximation == "sampled":
        settings["seed"] = random_state
    columns = _columns([features[index] for index in order], summary[:, order], epsilon, level)
    return Ranking(columns, counts.target, counts.rows, classes, settings)


def _counts(data: Any, target: Any, counting: dict[str, Any], threads: int | None) -> Counts:  # noqa: ANN401
    if isinstance(data, str | Path) and storage.is_counts(Path(data)):
        data = Counts.load(data)
    if isinstance(data, Counts):
        if counting:
            raise CredimiError(f"the data are counts already: {', '.join(counting)} cannot be changed any more")
        if target is not None and not isinstance(target, str):
            raise CredimiError(f"the counts are of the target {data.target!r}: its values cannot be given beside them")
        if isinstance(target, str) and target != data.target:
            raise CredimiError(f"the counts are of the target {data.target!r}, not {target!r}: count the data again")
        return data
    if target is None:
        raise CredimiError('name the target: rank(data, target="column"), or pass its values')
    from credimi.engines.door import count  # noqa: PLC0415  (pyarrow takes a while to load)

    return count(data, target, threads=threads, **counting)


def _check(epsilon: Any, level: Any) -> None:  # noqa: ANN401  (whatever the user passed)
    if not isinstance(epsilon, int | float | np.number) or not 0.0 <= epsilon < math.inf:
        raise CredimiError(f"epsilon is {epsilon!r}: it must be a finite number of nats from 0 up")
    if not isinstance(level, int | float | np.number) or not 0.0 < level < 1.0:
        raise CredimiError(f"level is {level!r}: it must lie between 0 and 1, such as 0.95")


def _summaries(
    features: Sequence[Feature],
    *,
    prior: str | float,
    approximation: str,
    epsilon: float,
    level: float,
    random_state: int,
    threads: int | None,
) -> FloatArray:
    """Mean, deviation, interval, P(I > epsilon) and the information at the mode, one column a feature."""
    shapes = [(feature.block.shape[0] - 1, feature.block.shape[1] - 1) for feature in features]
    of_shape = {shape: pseudo_count(prior, shape) for shape in set(shapes)}
    pseudo = np.array([of_shape[shape] for shape in shapes])
    for feature, own in zip(features, pseudo, strict=True):
        if own == 0.0 and feature.complete == 0:
            raise CredimiError(
                f"column {feature.name!r} is never seen together with the target, and prior {prior!r} adds nothing: "
                "choose another prior, or leave the column out"
            )
    blocks = Blocks.of([feature.block.astype(np.float64) for feature in features])
    leading = moments(blocks, pseudo, matched=False, threads=threads)
    upper = np.log([min(shape) for shape in shapes])
    out = np.empty((6, len(features)))
    out[5] = leading.mean
    if approximation == "sampled":
        for index, feature in enumerate(features):
            law = mutual_information(feature.table, prior=prior, approximation="sampled", random_state=random_state)
            out[:5, index] = _summary(law, epsilon, level)
        return out
    used = moments(blocks, pseudo, threads=threads) if approximation == "matched" else leading
    mean, std = np.minimum(used.mean, upper), np.sqrt(used.variance)
    out[0], out[1] = mean, std
    done = _normals(out, epsilon, level) if approximation == "leading" else _betas(out, upper, epsilon, level)
    for index in np.flatnonzero(~done).tolist():
        if std[index] == 0.0:
            law = Distribution.point(mean[index])
        elif approximation == "leading":
            law = Distribution.normal(mean[index], std[index])
        else:
            law = Distribution.beta(mean[index], std[index], upper[index])
        out[2:5, index] = _summary(law, epsilon, level)[2:]
    return out


def _summary(law: Distribution, epsilon: float, level: float) -> tuple[float, float, float, float, float]:
    low, high = law.interval(level)
    return law.mean(), law.std(), low, high, law.sf(epsilon)


def _normals(out: FloatArray, epsilon: float, level: float) -> NDArray[np.bool_]:
    """Fill interval and P(I > epsilon) of the paper's Gaussians; tells which are done."""
    from scipy.special import ndtr, ndtri  # noqa: PLC0415

    mean, std = out[0], out[1]
    reach = std * ndtri(0.5 + level / 2.0)
    out[2], out[3] = mean - reach, mean + reach
    with np.errstate(divide="ignore", invalid="ignore"):
        out[4] = ndtr((mean - epsilon) / std)
    return np.asarray(std > 0.0)


def _betas(out: FloatArray, upper: FloatArray, epsilon: float, level: float) -> NDArray[np.bool_]:
    """Fill interval and P(I > epsilon) of the Betas whose parameters scipy is good at; tells which are done."""
    from scipy.special import betaincc, betainccinv, betaincinv  # noqa: PLC0415

    with np.errstate(all="ignore"):  # what is not done may be anything
        share = out[0] / upper
        concentration = share * (1.0 - share) * (upper / out[1]) ** 2 - 1.0
        alpha, beta = share * concentration, (1.0 - share) * concentration
        least, most = _TRUSTED
        done = (np.minimum(alpha, beta) > least) & (np.minimum(alpha, beta) < most) & (concentration < most * most)
        alpha, beta, tail = np.where(done, alpha, 1.0), np.where(done, beta, 1.0), 0.5 - level / 2.0
        out[2], out[3] = upper * betaincinv(alpha, beta, tail), upper * betainccinv(alpha, beta, tail)
        out[4] = betaincc(alpha, beta, np.minimum(epsilon / upper, 1.0))
    return np.asarray(done & np.isfinite(out[2:5]).all(axis=0))


def _columns(features: Sequence[Feature], summary: FloatArray, epsilon: float, level: float) -> dict[str, list[Any]]:
    mean, std, low, high, p_above, at_mode = summary
    keeps = (filters.plugin(at_mode, epsilon), filters.forward(p_above, level), filters.backward(p_above, level))
    verdicts = [_verdict(feature, *(bool(keep[index]) for keep in keeps[1:])) for index, feature in enumerate(features)]
    lists: list[list[Any]] = [
        [feature.name for feature in features],
        [feature.block.shape[1] - 1 for feature in features],
        [feature.complete for feature in features],
        [feature.missing for feature in features],
        *(each.tolist() for each in (mean, std, low, high, p_above)),
        *(each.tolist() for each in keeps),
        verdicts,
        [feature.note or feature.treatment for feature in features],
    ]
    return dict(zip(COLUMNS, lists, strict=True))


def _verdict(feature: Feature, kept_forward: bool, kept_backward: bool) -> str:  # noqa: FBT001
    if feature.note.startswith("identifier"):
        return "not ranked"
    if kept_forward:
        return "keep"
    return "unsure" if kept_backward else "drop"
