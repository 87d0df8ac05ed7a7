"""Which files have been counted, so that none is added twice: path, size, time of change, digest of both ends.

A file is the same if its path is, or if it was moved: name, size, time and digest alike. The digest is that of the
first and last `_END` bytes, where formats keep their metadata (CSV its header, Parquet its footer): O(1) a file, and
enough beside size and time to tell files apart that nobody made alike on purpose.

While a call that counts several files is at work, the files it is done with are marked `unfinished`: the call, made
again after it was killed, leaves them out instead of refusing them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credimi.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from credimi.places import Place

_END = 1 << 12


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was when it was counted."""

    path: str
    size: int
    modified: int  # nanoseconds
    digest: str
    unfinished: bool = False

    @classmethod
    def of(cls, path: Place) -> Source:
        """The file as it is."""
        try:
            status = path.stat()
            with path.open("rb") as file:
                ends = file.read(_END)
                file.seek(max(status.st_size - _END, 0))
                ends += file.read(_END)
        except OSError as error:
            raise CredimiError(f"cannot read {path}: {error.strerror or error}") from error
        digest = hashlib.sha256(ends).hexdigest()
        name = str(path.resolve()).encode(errors="backslashreplace").decode()  # bytes that are no text stay in order
        return cls(name, status.st_size, status.st_mtime_ns, digest)

    def described(self) -> dict[str, Any]:
        """As the header of a file of counts has it."""
        own = asdict(self)
        return own if self.unfinished else {name: own[name] for name in own if name != "unfinished"}

    @property
    def content(self) -> tuple[str, int, int, str]:
        """What stays when a file is moved."""
        return (Path(self.path).name, self.size, self.modified, self.digest)


def fresh(given: Sequence[Source], counted: Iterable[Source], into: str, *, force: bool = False) -> list[Source]:
    """Those of the given files that are to be counted: without those that a call did before it was killed.

    Files that were counted by a call that came to its end are refused, unless forced; so is a file named twice.
    """
    known: dict[object, Source] = {}  # by path, and by content
    for source in counted:
        for key in (source.path, source.content):
            if key not in known or source.unfinished:
                known[key] = source
    left = []
    for source in given:
        before = known.get(source.path) or known.get(source.content)
        if before is None:
            left.append(source)
        elif before.content != source.content and not (force and not before.unfinished):
            raise CredimiError(
                f"{source.path} was counted into {into} before, and has changed since: its former rows would count "
                "twice; count all files into a new one" + ("" if before.unfinished else ", or add it with --force")
            )
        elif not before.unfinished and not force:
            name = "" if before.path == source.path else f" as {before.path}"
            raise CredimiError(
                f"{source.path} was counted into {into} before{name}: leave it out, or count it twice with --force"
            )
        elif not before.unfinished:
            left.append(source)
    times = Counter(source.content for source in given)  # a path, and the same as a URL, are one file
    twice = [source for source in given if times[source.content] > 1]
    if twice and not force:
        other = next(source for source in twice[1:] if source.content == twice[0].content)
        also = "" if other.path == twice[0].path else f", as {other.path}, too"
        raise CredimiError(f"{twice[0].path} is named twice{also}: name it once, or count it twice with --force")
    return left


def finished(sources: Iterable[Source], paths: Collection[str]) -> tuple[Source, ...]:
    """The same, those of these paths with their call at its end."""
    return tuple(replace(source, unfinished=False) if source.path in paths else source for source in sources)
