"""Everything that a command prints: `say` for one line on standard error, `show` for tables that people read.

Names and values come from the data, and may be hostile. Characters that control a terminal are made visible
(`core.atomic_files.plain`).
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain, write
from credimi.report.export import csv_writer
from credimi.report.terminal import without_trailing_blanks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import Console

    from credimi.core.types import Foreign, Record, Value

_MOMENT = 0.5  # seconds of work before a bar appears
_BETWEEN = 30.0  # seconds between lines that say how far it is, where there is no bar

_LONGEST = 4_000  # characters of a message: a name may be of any length


def say(message: str) -> None:
    """Print one line on standard error: all messages that are not results."""
    if len(message) > _LONGEST:
        message = f"{message[: _LONGEST // 2]} ... {message[-_LONGEST // 2 :]}"
    print("credimi:", plain(message.replace("\n", " ")), file=sys.stderr)


def speaks_unicode(path: str | None) -> bool:
    """Whether the destination accepts every character; files do."""
    if (path is not None and path != "-") or sys.stdout is None:
        return True
    return "utf" in (sys.stdout.encoding or "utf-8").lower()


def sayable(text: str, path: str | None) -> str:
    """The text in characters that the destination accepts."""
    if speaks_unicode(path):
        return text
    plain = text.translate({ord("─"): "-", ord("●"): "o", ord("…"): "~"})
    return plain.encode(sys.stdout.encoding, "backslashreplace").decode(sys.stdout.encoding)


def write_json(report: Record, path: str | None) -> None:
    """Write a report as JSON."""
    write(json.dumps(report, indent=2, ensure_ascii=not speaks_unicode(path)) + "\n", path)


def write_csv(
    names: Iterable[str], rows: Iterable[Iterable[Value]], path: str | None, known: Iterable[tuple[str, Value]] = ()
) -> None:
    """Write rows as CSV, in full precision; what is known of all of them stands in lines that start with #."""
    text = io.StringIO()
    for name, value in known:
        text.write(f"# {name}: {json.dumps(value, ensure_ascii=False)}\n")
    csv_writer(text).writerows([*filter(None, [list(names)]), *rows])
    write(sayable(text.getvalue(), path), path)


def write_result(
    form: str,
    path: str | None,
    report: Callable[[], Record],
    grids: Callable[[Console], Iterable[Foreign]],
    *,
    records: str = "",
    names: Iterable[str] = (),
    known: Iterable[str] | None = None,
) -> None:
    """Write a result as JSON, as CSV or as tables.

    CSV has a line for each of the report's `records`, with the columns `names` (default: all), and above them the
    settings and what else is `known`. Several values of one cell are apart by semicolons.
    """
    if form == "json":
        write_json(report(), path)
    elif form == "csv":
        plain_data = report()
        found = plain_data[records]
        columns = list(names) or list(found[0] if found else ())
        rows = ([_cell(record[name]) for name in columns] for record in found)
        above = {} if known is None else plain_data["settings"] | {name: plain_data[name] for name in known}
        write_csv(columns, rows, path, above.items())
    else:
        screen = console(path)
        show(grids(screen), path, screen)


def _cell(value: Value) -> Value:
    return "; ".join(value) if isinstance(value, list | tuple) else value


def console(path: str | None) -> Console:
    """The console for a destination: its width, its colours and its characters."""
    from rich.console import Console

    screen = path is None and sys.stdout is not None and sys.stdout.isatty()
    encoding = sys.stdout.encoding if path is None and sys.stdout is not None else "utf-8"
    return Console(
        file=io.TextIOWrapper(io.BytesIO(), encoding=encoding),
        width=None if screen or "COLUMNS" in os.environ else 100,
        force_terminal=True if screen else None,
    )


def show(parts: Iterable[Foreign], path: str | None, screen: Console | None = None) -> None:
    """Lay out and write tables for people. Texts are made plain, each on one line."""
    from rich.text import Text

    screen = console(path) if screen is None else screen
    with screen.capture() as capture:
        for part in parts:
            screen.print(Text(plain(part)) if isinstance(part, str) else part)
    text = capture.get() if screen.is_terminal else without_trailing_blanks(capture.get())
    write(sayable(text, path), path, laid_out=True)


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None]]:
    """A bar on standard error, if that is a terminal; it appears only if the work takes longer than a moment.

    Elsewhere, as in a log, long work says from time to time how far it is. It is told the share that is done, and,
    where that changes, what is being done.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield _in_lines(what)
        return
    began = time.monotonic()
    with ExitStack() as stack:
        shown: list[tuple[Foreign, Foreign]] = []

        def report(share: float, doing: str | None = None) -> None:
            from rich.markup import escape

            now = what if doing is None else escape(plain(doing))
            if not shown and time.monotonic() - began > _MOMENT and share < 1.0:
                from rich.console import Console
                from rich.progress import Progress

                bar = stack.enter_context(Progress(console=Console(stderr=True), transient=True))
                shown.append((bar, bar.add_task(now, total=1.0)))
            for bar, task in shown:
                bar.update(task, completed=share, description=now)

        yield report


def _in_lines(what: str) -> Callable[..., None]:
    """How far it is, in lines for a log."""
    last = [time.monotonic()]

    def report(share: float, doing: str | None = None) -> None:
        if share < 1.0 and time.monotonic() - last[0] > _BETWEEN:
            last[0] = time.monotonic()
            say(f"{doing or what}: {100.0 * share:.0f} %")

    return report
