"""``evenly init``: a first version of a file of the user's own, from an example."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.readers.logs.proposal import Proposal

_ASKED = {
    "recognise": "Which line tells that a log is of this program",
    "row": "Which line says the time",
    "ranks": "Which line says how many processes (ranks)",
    "threads": "Which line says how many threads each has",
    "nodes": "Which line says how many nodes",
    "cores": "Which line says how many cores",
    "size": "Which line says the size of the problem",
    "end": "Which line stands at the end of a whole log",
}
_NEEDED = ("recognise", "row")


def init(
    pattern: Annotated[Path, typer.Option("--pattern", help="An example of your program's logs.")],
    target: Annotated[
        Path | None, typer.Argument(metavar="[NEW.toml]", help="Where to write the pattern; it is shown without.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Propose how logs of a program are read, from an example: a pattern for --pattern of read, fit and others."""
    from evenly.readers.logs.proposal import propose

    if target is not None:
        if target.exists():
            raise InputError(f"{target} is there already, and init writes over nothing: give another name")
        opt.check_writable(target, "the pattern", read=[pattern])
    proposal = propose(pattern)
    chosen = _ask(proposal) if _is_terminal() and not json else None
    text = proposal.text(chosen)
    reads = proposal.check(chosen)  # what can't be read isn't saved
    if target is not None:
        with target.open("x", encoding="utf-8") as new:
            new.write(text)
    _show(proposal, text, reads, target, json=json)


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _show(proposal: Proposal, text: str, reads: str, target: Path | None, *, json: bool) -> None:
    if json:
        print_json({"pattern": text, "reads": reads, "saved": None if target is None else str(target)})
        return
    if target is None:
        out.print(text, markup=False, highlight=False, soft_wrap=True, end="")
    note(f"it reads from {proposal.path}: {reads}")
    where = "save it as NAME.toml, where NAME is the program's" if target is None else f"saved {target}"
    note(f"{where}; look at each line, then: evenly read {proposal.path} --pattern {target or 'NAME.toml'}")


def _ask(proposal: Proposal) -> dict[str, int | None]:
    """Ask for each key which of the lines it is, with numbers."""
    chosen: dict[str, int | None] = {}
    for key, choices in proposal.choices.items():
        if not choices:
            continue
        out.print(f"\n{_ASKED[key]}?")
        for number, choice in enumerate(choices, start=1):
            out.print(f"  {number}  {choice.line}", markup=False, highlight=False, soft_wrap=True)
        if key not in _NEEDED:
            out.print("  0  none of them")
        least = 1 if key in _NEEDED else 0
        answer = typer.prompt("number", default=1, type=int)
        while not least <= answer <= len(choices):
            answer = typer.prompt(f"a number from {least} to {len(choices)}", default=1, type=int)
        chosen[key] = answer - 1 if answer else None
    return chosen
