"""Output of the command line: results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment

from evenly.errors import EvenlyWarning, InputError
from evenly.report.formatting import plain
from evenly.writing import replacing

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "be_quiet", "err", "live", "loss", "note", "note_once_per_text", "only_json", "out", "print_json",
    "print_summaries", "progress", "save_table", "shortened", "silence", "start",
]  # fmt: skip

#: Characters that a terminal obeys, or that turn the direction of text: what a file holds must not do that.
_OBEYED = dict.fromkeys(
    [*range(0x0A), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)


class _Console(Console):
    """A console that shows names and labels of files as they are: neither markup nor a terminal's commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else text.translate(_OBEYED), style, control)


out = _Console(soft_wrap=False)
err = _Console(stderr=True, soft_wrap=True)
_notes = _Console(stderr=True, soft_wrap=True)


_silenced: set[type[Warning]] = set()
_told: list[str] = []
_json_targets: list[TextIO] = []
_PACKED: dict[str, Literal["gzip", "bz2", "xz", "zip"]] = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}


def start() -> None:
    """Begin one call of the program: notes are shown, and evenly's warnings are notes."""
    _notes.quiet = False
    _silenced.clear()
    _told.clear()
    show_warnings_as_notes()


def silence(kind: type[Warning]) -> None:
    """Show no notes for warnings of this kind from here on, since the result tells the same."""
    _silenced.add(kind)


def be_quiet() -> None:
    """Show no notes and no progress bars from here on; errors are still shown."""
    _notes.quiet = True


def note(text: str) -> None:
    """Tell the user something beside the result; `print_json` tells it, too, whether or not notes are shown."""
    if shortened(text) in _told:
        return
    _told.append(shortened(text))
    _notes.print(f"note: {shortened(text)}", style="dim")


def loss(text: str) -> None:
    """Tell the user what is missing in the result; ``--quiet`` doesn't hide it. JSON tells it anyway."""
    note(text)
    if _notes.quiet and not _json_targets:
        err.print(f"note: {shortened(text)}", style="dim")


def shortened(text: str, most: int = 4000) -> str:
    """Return a text without what is beyond `most` characters: a damaged file may put all of itself into a message.

    Examples
    --------
    >>> shortened("a long message", most=6)
    'a long …'
    """
    return text if len(text) <= most else f"{text[:most]} …"


def note_once_per_text(notes: Iterable[str], paths: Iterable[Path]) -> None:
    """Tell notes that begin with a file's path, those of one text together."""
    starts = {f"{path}: ": path for path in paths}
    files: dict[str, list[Path]] = {}
    for line in notes:
        start = next((start for start in starts if line.startswith(start)), "")
        files.setdefault(line.removeprefix(start), []).extend([starts[start]] if start else [])
    for text, where in files.items():
        place = {0: "", 1: f"{where[0]}: " if where else ""}.get(len(where), f"{len(where)} files: ")
        note(f"{place}{text}")


@contextmanager
def only_json() -> Iterator[None]:
    """Keep the standard output for `print_json`: what scripts and their processes print goes to the error output."""
    usual, kept = sys.stdout, None
    with suppress(OSError, ValueError):
        if usual.fileno() == 1:
            usual.flush()
            kept = os.dup(1)
            os.dup2(2, 1)
    target = usual if kept is None else os.fdopen(os.dup(kept), "w", encoding=usual.encoding, errors=usual.errors)
    _json_targets.append(target)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _json_targets.remove(target)
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)
            with suppress(OSError):
                target.close()


def print_json(value: Any) -> None:
    """Print `value` as JSON, with the notes told so far; numbers that JSON does not know become null."""
    if isinstance(value, dict) and _told and isinstance(value.get("notes", []), list):
        value = {**value, "notes": list(dict.fromkeys([*value.get("notes", []), *_told]))}
    target = _json_targets[-1] if _json_targets else sys.stdout
    unicode = (getattr(target, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    target.write(json.dumps(plain(value), indent=2, ensure_ascii=not unicode) + "\n")
    target.flush()


def save_table(table: pd.DataFrame, path: Path, what: str) -> None:
    """Write a table to a CSV file, compressed as the name's ending says, and say where.

    A label that a spreadsheet would take for a formula gets an apostrophe in front, which `evenly.read` leaves out.

    Raises
    ------
    InputError
        If it can't be written.
    """
    from evenly.runs.files import not_a_formula

    texts = table.select_dtypes(exclude=["number", "bool"]).columns
    table = table.assign(**{name: table[name].map(not_a_formula) for name in texts}).rename(columns=not_a_formula)
    try:
        with replacing(path) as new:
            table.to_csv(new, index=False, compression=_PACKED.get(path.suffix))
    except OSError as error:
        raise InputError(f"{what} can't be saved in {path}: {error.strerror or error}") from None
    note(f"saved {path}")


def print_summaries(known: Mapping[str, str], *, json: bool) -> None:
    """Print names with a line about each, or both as JSON."""
    if json:
        print_json(known)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for name, summary in known.items():
        table.add_row(Text(name, no_wrap=True), Text(summary))
    out.print(table)


@contextmanager
def progress(text: str) -> Iterator[Callable[[float | str], None]]:
    """Show a progress bar on a terminal; nothing in a pipe. Yields what takes the fraction done, or the step begun."""
    if not _notes.is_terminal or _notes.quiet:
        yield lambda _fraction: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, TimeRemainingColumn(), console=_notes, transient=True) as bar:
        task = bar.add_task(text, total=1.0)

        def update(done: float | str) -> None:
            if isinstance(done, str):
                bar.update(task, description=f"{text}: {done}", total=None)
            else:
                bar.update(task, completed=done)

        yield update


@contextmanager
def live(text: str) -> Iterator[Callable[[RenderableType, int, int, float], None] | None]:
    """Show a table that changes, above a bar; on a terminal only.

    Yields what takes the table, how much is done, of how much, and the seconds that are left; None where nothing is
    shown as it changes: in a pipe, or if nobody wants notes.
    """
    if not _notes.is_terminal or _notes.quiet:
        yield None
        return
    from rich.live import Live
    from rich.progress import BarColumn, Progress, TextColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f} of about {task.total:.0f}"),
        TextColumn("{task.fields[left]} left"),
    )  # fmt: skip
    task = bar.add_task(text, total=1, left="?")
    with Live(bar, console=_notes, transient=True, refresh_per_second=4) as shown:

        def update(table: RenderableType, done: int, of: int, seconds_left: float) -> None:
            bar.update(task, completed=done, total=of, left=_duration(seconds_left))
            shown.update(Group(table, bar))

        yield update


def _duration(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}"


def show_warnings_as_notes() -> None:
    """Print evenly's own warnings as notes; leave all others as Python shows them."""
    usual = warnings.showwarning

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int,
        file: TextIO | None = None, line: str | None = None,
    ) -> None:  # fmt: skip
        if issubclass(category, tuple(_silenced)):
            return
        if issubclass(category, EvenlyWarning):
            note(str(message))
        else:
            usual(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    warnings.simplefilter("always", EvenlyWarning)
