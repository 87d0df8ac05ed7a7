"""Which files have been counted, so that none is added twice: path, size, time of change, digest of both ends.

A file is the same if its path is the same, or if size, time and digest are equal and it was moved (the name is the
same), renamed (the old file no longer exists) or linked. A copy with another name beside the first is another file:
parts without rows are often equal. The digest covers the first and last `_END_BYTES` bytes, where formats have their
metadata (CSV its header, Parquet its footer). It costs O(1) per file. Together with size and time it is enough to tell
files apart, unless somebody made them equal on purpose.

While a call counts several files, the files that are done are marked `unfinished`. If the call is killed and made
again, it leaves them out instead of refusing them.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.core.remote_files import identity, local_path, opened, reason

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from credimi.core.remote_files import Place, Status
    from credimi.core.types import Foreign, Record

_END_BYTES = 1 << 12


@stored
@dataclass(frozen=True, slots=True)
class CountedFile:
    """A file as it was when it was counted."""

    path: str
    size: int
    modified: int  # nanoseconds
    digest: str
    unfinished: bool = False

    @classmethod
    def of(cls, path: Place) -> CountedFile:
        """The file as it is."""
        with opened(path) as file:
            return cls.seen(path, path.stat(), file)

    @classmethod
    def seen(cls, path: Place, status: os.stat_result | Status, file: Foreign) -> CountedFile:
        """The same for an open file."""
        try:
            ends = file.read(_END_BYTES)
            file.seek(max(status.st_size - _END_BYTES, 0))
            ends += file.read(_END_BYTES)
        except OSError as error:
            raise CredimiError(f"cannot read {path}: {reason(error)}") from error
        digest = hashlib.sha256(ends).hexdigest()
        name = os.path.realpath(path) if isinstance(path, Path) else str(path)  # `Path.resolve` asks the system again
        name = name.encode(errors="backslashreplace").decode()  # bytes that are no text stay distinguishable
        return cls(name, status.st_size, status.st_mtime_ns, digest)

    def described(self) -> Record:
        """The record as in the header of a counts file."""
        fields = asdict(self)
        return fields if self.unfinished else {name: fields[name] for name in fields if name != "unfinished"}

    @property
    def name(self) -> str:
        """The last part of the path."""
        return Path(self.path).name

    @property
    def content(self) -> tuple[int, int, str]:
        """What stays the same when a file is moved or renamed."""
        return (self.size, self.modified, self.digest)


def fresh(
    given: Sequence[CountedFile],
    counted: Iterable[CountedFile],
    into: str,
    *,
    force: bool = False,
    identities: Sequence[object] = (),
) -> list[CountedFile]:
    """The given files that have to be counted: all but those that a killed call has already counted.

    Files that were counted by a call that finished are refused, unless forced; so is a file that is named twice.
    """
    known = _CountedBefore(counted)
    to_count = []
    for source in given:
        before = known.find(source)
        if before is None:
            to_count.append(source)
        elif before.content != source.content and not (force and not before.unfinished):
            raise CredimiError(
                f"{source.path} was counted into {into} before, and has changed since: its old rows would count "
                "twice; count all files into a new one" + ("" if before.unfinished else ", or add it with --force")
            )
        elif not before.unfinished and not force:
            name = "" if before.path == source.path else f" as {before.path}"
            raise CredimiError(
                f"{source.path} was counted into {into} before{name}: leave it out, or count it twice with --force"
            )
        elif not before.unfinished:
            to_count.append(source)
    if not force:
        given_identities = identities or [identity(source.path) for source in given]
        # The second key finds copies of the same name in other folders.
        keys = [(key, (source.name, source.content)) for key, source in zip(given_identities, given, strict=True)]
        check_named_once([source.path for source in given], keys, "name it once, or count it twice with --force")
    return to_count


def check_named_once(names: Sequence[str], keys: Sequence[tuple[object, ...]], remedy: str) -> None:
    """Refuse a file that is named twice: two names that share a key, such as the file's identity."""
    seen: dict[object, str] = {}
    for name, file_keys in zip(names, keys, strict=True):
        for key in file_keys:
            if key in seen:
                also = "" if seen[key] == name else f", as {name}, too"
                raise CredimiError(f"{seen[key]} is named twice{also}: {remedy}")
        seen.update(dict.fromkeys(file_keys, name))


class _CountedBefore:
    """The files that were counted; they are found by path, or by content if it is the same file."""

    def __init__(self, counted: Iterable[CountedFile]) -> None:
        self.by_path: dict[str, CountedFile] = {}
        self.by_content: dict[object, list[CountedFile]] = {}
        self.identities: dict[str, object] = {}
        for source in sorted(counted, key=lambda source: not source.unfinished):
            self.by_path.setdefault(source.path, source)
            self.by_content.setdefault(source.content, []).append(source)

    def find(self, source: CountedFile) -> CountedFile | None:
        """The record of this file, if it was counted; otherwise the file that was counted under its path, or None."""
        equal_content = self.by_content.get(source.content, ())
        same = next((before for before in equal_content if before.path == source.path), None)
        same = same or next((before for before in equal_content if self._is_same(before, source)), None)
        return same or self.by_path.get(source.path)

    def _is_same(self, before: CountedFile, source: CountedFile) -> bool:
        """Whether files of equal content are the same file: moved, renamed or linked."""
        if before.name == source.name:
            return True
        path = local_path(before.path)
        if path is None:  # a remote file: asking whether it still exists would be a request
            return False
        if before.path not in self.identities:
            self.identities[before.path] = identity(path) if _is_still(before, path) else None
        counted_identity = self.identities[before.path]
        return counted_identity is None or counted_identity == identity(source.path)


def _is_still(before: CountedFile, path: Path) -> bool:
    """Whether a file is still there and unchanged."""
    try:
        return CountedFile.of(path).content == before.content
    except CredimiError:
        return False


def finished(sources: Iterable[CountedFile], given: Collection[CountedFile]) -> tuple[CountedFile, ...]:
    """The same files; those of this call are marked as finished, also under the names that they had before."""
    paths, contents = {source.path for source in given}, {source.content for source in given}
    return tuple(
        replace(source, unfinished=False) if source.path in paths or source.content in contents else source
        for source in sources
    )
