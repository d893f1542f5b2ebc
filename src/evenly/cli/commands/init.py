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
    target: Annotated[
        Path | None, typer.Argument(metavar="[NEW.toml]", help="Where to write it; it is shown without.")
    ] = None,
    pattern: Annotated[
        Path | None, typer.Option("--pattern", help="An example of your program's logs: how such logs are read.")
    ] = None,
    command: Annotated[
        str | None, typer.Option("--command", help="A command line of your program, in quotes: a study that varies it.")
    ] = None,
    table: Annotated[Path | None, typer.Option("--table", help="A table of runs: a study of its parameters.")] = None,
    parameters: opt.TableParameters = None,
    only: opt.Only = None,
    time: opt.TableTime = None,
    json: opt.Json = False,
) -> None:
    """Propose a file of your own: how logs of a program are read (--pattern), or a study (--command, --table)."""
    asked = {"--pattern": pattern, "--command": command, "--table": table}
    given = [name for name, one in asked.items() if one is not None]
    if len(given) != 1:
        what = f"only one of {' and '.join(given)}" if given else "one of --pattern LOG, --command '…', --table RUNS"
        raise InputError(f"give {what}")
    reading = opt.Reading(parameters=parameters, only=only, time=time)
    if table is None and reading != opt.Reading():
        raise InputError("--parameters, --only and --time belong to --table: they say how it is read")
    if target is not None:
        if target.exists():
            raise InputError(f"{target} is there already, and init writes over nothing: give another name")
        opt.check_writable(target, "the proposal", read=[one for one in (pattern, table) if one is not None])
    if pattern is None:
        _propose_study(command, table, reading, target, json=json)
    else:
        _propose_pattern(pattern, target, json=json)


def _propose_study(
    command: str | None, table: Path | None, reading: opt.Reading, target: Path | None, *, json: bool
) -> None:
    from evenly.campaign.proposal import study_of_command, study_of_runs

    if command is not None:
        proposal = study_of_command(command)
    else:
        from evenly.cli.run_input import one_program

        proposal = study_of_runs(one_program(table or Path(), reading))
    proposal.check()  # what can't be read isn't saved
    if target is not None:
        with target.open("x", encoding="utf-8") as new:
            new.write(proposal.text)
    if json:
        saved = None if target is None else str(target)
        print_json({"study": proposal.text, "guesses": list(proposal.guesses), "saved": saved})
        return
    if target is None:
        out.print(proposal.text, markup=False, highlight=False, soft_wrap=True, end="")
    for guess in proposal.guesses:
        note(guess)
    where = "save it as NAME.toml" if target is None else f"saved {target}"
    note(f"{where}; look at each line, then: evenly measure {target or 'NAME.toml'} --plan")


def _propose_pattern(pattern: Path, target: Path | None, *, json: bool) -> None:
    from evenly.readers.logs.proposal import propose

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
