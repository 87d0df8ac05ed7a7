"""The data sets of the two papers: where they are, how they are read, and what the papers say about them.

[HZ] Hutter and Zaffalon (2003) used five incomplete sets, [ZH] Zaffalon and Hutter (2002) ten complete ones, of which
eight are available. All but led24 are in the UCI repository. The files of each set are side by side, in any folder
inside the named one, or else inside that of the environment variable CREDIMI_DATA; if neither is named, in the working
folder or a folder of their own there; otherwise they are downloaded into the user's cache.

Copies of these files are separated by commas or by blanks; no field holds either, so both can be read. Numbers are cut
by MDL on all rows, and a column for which no cut passes is left out, as MLC++, the papers' program, does by default.
Columns of one value count as features in the papers, and here in the comparison only: no filter would keep them. The
data are compared with the papers' figures: instances, features, missing values, share of the largest class.
"""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.feature import FeatureKind
from credimi.core.errors import CredimiError
from credimi.counts.reading import Reading
from credimi.paper.rows import Rows, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

VARIABLE = "CREDIMI_DATA"
REPOSITORY = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
MIRROR = "CREDIMI_DATA_ADDRESS"  # an environment variable: another address with the same folders
_SEPARATOR = re.compile(r"[,\s]+")
_NAMES_SHOWN = 12  # of what a folder has, in a message
_DEEPEST = 4  # folders inside folders that are searched


@dataclass(frozen=True, slots=True)
class PaperDataset:
    """How one set is read; columns are numbered from 1. The figures are the papers', None if they give none."""

    folder: str
    files: tuple[str, ...]
    columns: int
    target: int
    instances: int
    features: int
    missing: int | None = 0
    majority: float | None = None
    numbers: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    missing_text: str | None = "?"  # the text of a missing value; None if the paper treated it as a value
    complete_only: bool = False
    header: bool = False
    address: str | None = None  # of the folder in the UCI repository
    paper: Mapping[str, float] = field(default_factory=dict)  # features kept, by rule


def _features_kept(forward: float, plugin: float, backward: float) -> dict[str, float]:
    return {"forward": forward, "plugin": plugin, "backward": backward}


INCOMPLETE: dict[str, PaperDataset] = {
    "audiology": PaperDataset(
        "audiology",
        ("audiology.standardized.data", "audiology.standardized.test"),
        columns=71,
        target=71,
        instances=226,
        features=69,
        missing=317,
        majority=0.212,
        left_out=(70,),  # an identifier
        address="audiology",
        paper=_features_kept(64.3, 68.0, 68.7),
    ),
    "crx": PaperDataset(
        "crx",
        ("crx.data",),
        columns=16,
        target=16,
        instances=690,
        features=15,
        missing=67,
        majority=0.555,
        numbers=(2, 3, 8, 11, 14, 15),
        address="credit-screening",
        paper=_features_kept(9.7, 12.6, 13.8),
    ),
    "horse-colic": PaperDataset(
        "horse-colic",
        ("horse-colic.data", "horse-colic.test"),
        columns=28,
        target=24,
        instances=368,
        features=18,
        missing=1281,
        majority=0.630,
        numbers=(4, 5, 6, 16, 19, 20, 22),
        left_out=(3, 25, 26, 27, 28),  # the hospital's number, and what is known of the lesion itself
        address="horse-colic",
        paper=_features_kept(11.8, 16.1, 17.4),
    ),
    "hypothyroid": PaperDataset(
        "hypothyroid",
        ("hypothyroid.data",),
        columns=26,
        target=1,
        instances=3163,
        features=23,
        missing=1980,
        majority=0.952,
        numbers=(2, 16, 18, 20, 22, 24, 26),
        address="thyroid-disease",
        paper=_features_kept(4.3, 8.3, 13.2),
    ),
    "soybean-large": PaperDataset(
        "soybean-large",
        ("soybean-large.data", "soybean-large.test"),
        columns=36,
        target=1,
        instances=683,
        features=35,
        missing=2337,
        majority=0.135,
        address="soybean",
        paper=_features_kept(34.2, 35.0, 35.0),
    ),
}

COMPLETE: dict[str, PaperDataset] = {
    "australian": PaperDataset(
        "australian",
        ("australian.dat",),
        columns=15,
        target=15,
        instances=690,
        features=36,
        numbers=(2, 3, 7, 10, 13, 14),
        address="statlog/australian",
    ),
    "chess": PaperDataset(
        "chess-kr-vs-kp",
        ("kr-vs-kp.data",),
        columns=37,
        target=37,
        instances=3196,
        features=36,
        address="chess/king-rook-vs-king-pawn",
    ),
    "crx-complete": PaperDataset(
        "crx",
        ("crx.data",),
        columns=16,
        target=16,
        instances=653,
        features=15,
        majority=0.547,
        numbers=(2, 3, 8, 11, 14, 15),
        complete_only=True,
        address="credit-screening",
    ),
    "german": PaperDataset(
        "german",
        ("german.data-numeric",),
        columns=25,
        target=25,
        instances=1000,
        features=17,
        numbers=tuple(range(1, 13)),
        address="statlog/german",
    ),
    "hypothyroid-complete": PaperDataset(
        "hypothyroid",
        ("hypothyroid.data",),
        columns=26,
        target=1,
        instances=2338,
        features=23,
        majority=0.942,
        numbers=(16, 18, 20, 22, 24),
        left_out=(2, 26),  # no cut passes in these, and the rows in which they are missing stay
        complete_only=True,
        address="thyroid-disease",
    ),
    "led24": PaperDataset("led24", ("led24.tsv",), columns=25, target=25, instances=3200, features=24, header=True),
    "lymphography": PaperDataset(
        "lymphography",
        ("lymphography.data",),
        columns=19,
        target=1,
        instances=148,
        features=18,
        numbers=(10, 11, 19),
        address="lymphography",
    ),
    "vote": PaperDataset(
        "vote",
        ("house-votes-84.data",),
        columns=17,
        target=1,
        instances=435,
        features=16,
        missing_text=None,
        address="voting-records",
    ),
}
SOURCES = INCOMPLETE | COMPLETE


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """One set as it was read; `differences` says where it differs from the paper's description."""

    name: str
    rows: Rows
    majority: float
    differences: tuple[str, ...]
    paper: Mapping[str, float]


def load(name: str, data: str | Path | None = None) -> DataSet:
    """Read one set from the folder `data`, or else from that of CREDIMI_DATA, from here, the cache, or the network."""
    return load_all([name], data)[0]


def load_all(names: Sequence[str], data: str | Path | None = None) -> list[DataSet]:
    """Read these sets; what is not found in the folder is refused at once, for all sets."""
    for name in names:
        if name not in SOURCES:
            raise CredimiError(f"unknown data set {name!r}: there are {', '.join(SOURCES)}")
    named = data or os.environ.get(VARIABLE)
    data_folder = Path(named) if named else Path()
    found = {name: _folder(data_folder, SOURCES[name], everywhere=bool(named)) for name in names}
    absent = [name for name, folder in found.items() if folder is None]
    if named and absent:
        raise CredimiError(_remedy(absent, data_folder))
    sets = []
    for name, folder in found.items():
        source = SOURCES[name]
        if folder is not None:
            paths = [folder / file for file in source.files]
        elif source.address is None:
            raise CredimiError(f"{_remedy([name])}; {name} is not in the UCI repository")
        else:
            paths = fetched(source.address, source.files)
        sets.append(read(name, source, paths))
    return sets


def _remedy(absent: Sequence[str], folder: Path | None = None) -> str:
    """What to do where files are missing: the folder to name, the files it must have, and what was found."""
    expected = "; ".join(f"{', '.join(SOURCES[name].files)} ({name})" for name in absent)
    text = (
        f"name a folder that has these files, those of one set side by side (--data DIR, or {VARIABLE}), or choose "
        f"other data sets (--dataset): {expected}"
    )
    if folder is None:
        return text
    try:
        found = sorted(each.name + "/" * each.is_dir() for each in folder.iterdir())
    except OSError as error:
        return f"{text}. {folder} cannot be read: {error.strerror or error}"
    more = f" and {len(found) - _NAMES_SHOWN:,} more" if len(found) > _NAMES_SHOWN else ""
    return f"{text}. {folder} has {', '.join(found[:_NAMES_SHOWN]) or 'nothing'}{more}"


def read(name: str, source: PaperDataset, paths: list[Path]) -> DataSet:
    """One set from its files, compared with the paper's figures."""
    fields = _fields(source, paths)
    if source.complete_only:
        used_columns = [index for index in range(source.columns) if index + 1 not in source.left_out]
        fields = [row for row in fields if all(row[index] != source.missing_text for index in used_columns)]
    columns: dict[str, object] = {}
    for number, values in enumerate(zip(*fields, strict=True), start=1):
        if number in source.numbers:
            columns[_name(number)] = np.array(
                [np.nan if value == source.missing_text else float(value) for value in values]
            )
        elif number not in source.left_out:
            columns[_name(number)] = np.array(values, dtype=object)
    rows = rows_of(
        columns,
        _name(source.target),
        Reading(
            missing_values=() if source.missing_text is None else (source.missing_text,),
            discretize={"*": "categories"} | {_name(number): "mdl" for number in source.numbers},
        ),
    )
    majority = float(np.bincount(rows.target).max() / len(rows))
    return DataSet(name, rows, majority, _differences(source, rows, majority), source.paper)


def _differences(source: PaperDataset, rows: Rows, majority: float) -> tuple[str, ...]:
    constant = sum(facts["kind"] == FeatureKind.CONSTANT for facts in rows.left_out.values())
    figures: list[tuple[str, float, float | None]] = [
        ("instances", len(rows), source.instances),
        ("features", len(rows.features) + constant, source.features),
        ("missing values", rows.missing, source.missing),
    ]
    differences = [
        f"{figure}: {ours:,} here, {papers:,} in the paper" for figure, ours, papers in figures if ours != papers
    ]
    if source.majority is not None and abs(majority - source.majority) > 0.0006:
        differences.append(f"share of the largest class: {majority:.3f} here, {source.majority:.3f} in the paper")
    return tuple(differences)


def _fields(source: PaperDataset, paths: list[Path]) -> list[list[str]]:
    """The fields of all lines of all files; each line must have the right number of fields."""
    rows = []
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise CredimiError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
        for number, line in enumerate(lines, start=1):
            fields = _SEPARATOR.split(line.strip())
            if not line.strip() or (source.header and number == 1):
                continue
            if len(fields) != source.columns:
                raise CredimiError(
                    f"{path}, line {number}, has {len(fields)} fields, not {source.columns}: is it the right file?"
                )
            rows.append(fields)
    return rows


def fetched(folder: str, files: Sequence[str], cache: str | Path | None = None) -> list[Path]:
    """The files of one folder of the repository, from the cache if they are there.

    Editions of these files differ in their bytes (blanks for commas, line ends), so no digest is checked: the reader
    compares their content with the papers' figures.
    """
    try:
        import pooch  # noqa: PLC0415  (an extra: loaded only to download)
    except ImportError:
        raise CredimiError(
            f"name a folder that has {', '.join(files)} (--data DIR, or CREDIMI_DATA); downloading needs pooch: "
            "pip install 'credimi[reproduce]'"
        ) from None
    pooch.get_logger().setLevel("WARNING")
    address = os.environ.get(MIRROR, REPOSITORY).rstrip("/") + f"/{folder}/"
    cache_folder = Path(cache if cache is not None else pooch.os_cache("credimi")) / folder
    store = pooch.create(path=cache_folder, base_url=address, registry=dict.fromkeys(files))
    try:
        return [Path(store.fetch(file)) for file in files]
    except (OSError, ValueError) as error:  # the errors of requests are OSErrors
        raise CredimiError(
            f"name a folder that has {', '.join(files)} (--data DIR, or CREDIMI_DATA): "
            f"cannot download from {address}: {str(error).splitlines()[0]}"
        ) from None


def _folder(data: Path, source: PaperDataset, *, everywhere: bool) -> Path | None:
    """The folder with all files of one set: `data`, a folder of its own, or (`everywhere`) any folder inside."""
    likely = [data / source.folder, data / "uci" / source.folder, data]
    for folder in itertools.chain(likely, _folders_inside(data) if everywhere else ()):
        if all((folder / file).is_file() for file in source.files):
            return folder
    return None


def _folders_inside(data: Path) -> Iterator[Path]:
    for place, folders, _ in os.walk(data):
        yield Path(place)
        if len(Path(place).relative_to(data).parts) >= _DEEPEST:
            folders.clear()


def _name(number: int) -> str:
    return f"column {number}"
