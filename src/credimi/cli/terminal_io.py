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
from credimi.results.export import csv_lines, csv_writer, defused, defused_json
from credimi.results.section import Shown
from credimi.results.sentences import COMMAND_LINE
from credimi.results.text import parts, put, without_trailing_blanks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import Console

    from credimi.core.types import Foreign, Record, Value

_SECONDS_BEFORE_BAR = 0.5  # short work shows no bar
_SECONDS_BETWEEN_LINES = 30.0  # that show the progress where there is no bar

_MAX_MESSAGE_CHARACTERS = 4_000  # names in a message may be of any length


def say(message: str) -> None:
    """Print one line on standard error: all messages that are not results."""
    if len(message) > _MAX_MESSAGE_CHARACTERS:
        message = f"{message[: _MAX_MESSAGE_CHARACTERS // 2]} ... {message[-_MAX_MESSAGE_CHARACTERS // 2 :]}"
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
    simplified = text.translate({ord("─"): "-", ord("●"): "o", ord("…"): "~"})
    return simplified.encode(sys.stdout.encoding, "backslashreplace").decode(sys.stdout.encoding)


def write_json(report: Record, path: str | None) -> None:
    """Write a report as JSON."""
    write(json.dumps(report, indent=2, ensure_ascii=not speaks_unicode(path)) + "\n", path)


def write_csv(
    names: Iterable[str],
    rows: Iterable[Iterable[Value]],
    path: str | None,
    above: Iterable[tuple[str, Value]] = (),
    *,
    safe: bool = False,
) -> None:
    """Write rows as CSV, in full precision; `above` are names and values for lines above them that start with #.

    With `safe`, nothing in it is a formula of a spreadsheet or controls a terminal.
    """
    text = io.StringIO()
    for name, value in above:
        text.write(f"# {name}: {defused_json(value) if safe else json.dumps(value, ensure_ascii=False)}\n")
    lines = [*filter(None, [list(names)]), *rows]
    csv_writer(text).writerows(map(defused, lines) if safe else lines)
    write(sayable(text.getvalue(), path), path)


def write_shown(
    result: Foreign, options: argparse.Namespace, path: str | None, *, known: Iterable[str] = (), **asked: Value
) -> None:
    """Write a result as JSON, as CSV or as tables, as the options ask.

    Above CSV stand the settings and these entries of JSON; `asked` is what else JSON is asked for.
    """
    units, top = getattr(options, "units", "nats"), getattr(options, "top", None)
    if options.format in {"dot", "graphml"}:
        write(sayable(result.to_dot() if options.format == "dot" else result.to_graphml(), path), path)
        return
    if options.format not in {"json", "csv"}:
        screen = console(path)
        reasons = not getattr(options, "no_reasons", False)
        verbose, effects = (getattr(options, name, False) for name in ("verbose", "effects"))
        shown = Shown(COMMAND_LINE, units, top, screen.width, reasons, effects=effects, verbose=verbose)
        show(parts(result.sections(shown), shown), path, screen)
        return
    asked |= {"effects": True} if getattr(options, "effects", False) else {}
    report = result.to_dict(reader=COMMAND_LINE, units=units, **asked)
    if options.format == "json":
        write_json(report, path)
        return
    above = report["settings"] | {name: report[name] for name in known}
    columns, listed = result.column_names(), report.get(result.rows_in_json) or ()
    if not all(isinstance(row, dict) and row.keys() >= set(columns) for row in listed[:1]):
        listed = result._plain_rows(units)  # noqa: SLF001  (JSON has them in another shape)
    names, *rows = csv_lines(columns, listed)
    write_csv(names, rows, path, above.items(), safe=options.csv_safe)


def console(path: str | None) -> Console:
    """The console for a destination: its width, its colours and its characters."""
    from rich.console import Console

    to_terminal = path is None and sys.stdout is not None and sys.stdout.isatty()
    encoding = sys.stdout.encoding if path is None and sys.stdout is not None else "utf-8"
    return Console(
        file=io.TextIOWrapper(io.BytesIO(), encoding=encoding),
        width=None if to_terminal or "COLUMNS" in os.environ else 100,
        force_terminal=True if to_terminal else None,
    )


def show(parts: Iterable[Foreign], path: str | None, screen: Console | None = None) -> None:
    """Lay out and write tables for people. Texts are made plain, each on one line."""
    from rich.text import Text

    screen = console(path) if screen is None else screen
    with screen.capture() as capture:
        for part in parts:
            put(Text(plain(part)) if isinstance(part, str) else part, screen)
    text = capture.get() if screen.is_terminal else without_trailing_blanks(capture.get())
    write(sayable(text, path), path, laid_out=True)


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None]]:
    """A bar on standard error, if that is a terminal; it appears only if the work takes longer than a moment.

    Elsewhere, as in a log, long work prints a line from time to time. The function that is yielded takes the share that
    is done and, if that changes, what is being done.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield _progress_in_lines(what)
        return
    began = time.monotonic()
    with ExitStack() as stack:
        shown: list[tuple[Foreign, Foreign]] = []

        def report(share: float, doing: str | None = None) -> None:
            from rich.markup import escape

            description = what if doing is None else escape(plain(doing))
            if not shown and time.monotonic() - began > _SECONDS_BEFORE_BAR and share < 1.0:
                from rich.console import Console
                from rich.progress import Progress

                bar = stack.enter_context(Progress(console=Console(stderr=True), transient=True))
                shown.append((bar, bar.add_task(description, total=1.0)))
            for bar, task in shown:
                bar.update(task, completed=share, description=description)

        yield report


def _progress_in_lines(what: str) -> Callable[..., None]:
    """The progress in lines for a log."""
    last = [time.monotonic()]

    def report(share: float, doing: str | None = None) -> None:
        if share < 1.0 and time.monotonic() - last[0] > _SECONDS_BETWEEN_LINES:
            last[0] = time.monotonic()
            say(f"{doing or what}: {100.0 * share:.0f} %")

    return report
