"""The program ``evenly``: its commands, and how errors become messages and exit codes.

Exit codes: 0 for success, 1 if the problem has no solution or a checked file is damaged, 2 for bad input, 130 after
Ctrl-C. typer reports usage errors.

The module of a command is imported only when the command or its help is called, so that ``evenly --help`` and
``evenly --version`` are fast. The tables below hold the texts that ``evenly --help`` shows for each command.
"""

from __future__ import annotations

import codecs
import errno
import importlib
import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from evenly.cli.interruptions import INTERRUPTED
from evenly.errors import EvenlyError, InfeasibleError, InputError

__all__ = ["PANELS", "app", "load_command", "main"]

DONE, NO_ANSWER, BAD_INPUT = 0, 1, 2

#: Commands, with the first sentence of their help. Each is the function of its name in ``evenly.cli.commands``.
_COMMANDS = {
    "read": "Show what was measured: solvers, configurations, repetitions, spread, and what was left out and why.",
    "measure": "Run a program on many configurations and keep what each took; the same command goes on after an "
    "interruption.",
    "fit": "Learn from measured run times how long configurations take: one model per solver, as a formula with "
    "errors.",
    "predict": "Predict how long configurations take, with intervals, from saved models or straight from measurements.",
    "allocate": "Find how many cores each coupled solver gets, and how long a step will take.",
    "report": "Write one page: what was measured, the model with sliders, what to do, what to measure next.",
    "plot": "Draw models with intervals beside the measurements: along parameters, over two, predicted against "
    "measured.",
    "sort": "Sort loose log files into a case folder: one folder per measurement, named by core counts, and a "
    "case.ini.",
    "init": "Propose a file of your own: how logs of a program are read (--pattern), or a study (--command, --table).",
    "example": "Copy a shipped example: a folder of measured run times to try things on.",
    "partition": "Cut the cell of a simulation so that all ranks finish together, and predict what a step will take.",
    "rebalance": "Say whether another layout would make a measured run faster, and save it.",
    "train": "Learn how long time steps take here, for `evenly predict --simulation`.",
    "tune": "Find the fastest configuration of a program in few runs; the same command goes on after an interruption.",
    "advise": "Propose the runs that lower a model's error most per core-hour, out of all that may be run.",
    "sensitivity": "Tell which parameters matter: how much errors grow when their values are shuffled, and Sobol "
    "indices.",
    "limits": "Replay a table of jobs: which time limits would have been enough, and what the next job should ask for.",
    "doctor": "Check this machine: ranks, scheduler, clocks, cores, memory, files; and say what to mend and how.",
    "demo": "Calibrate, cut a structure, predict, run, compare: a few minutes on this machine; FOLDER/index.html "
    "shows it.",
}
#: Groups of commands, with their help and what to start with. Each is ``COMMANDS`` in its module.
_GROUPS = {
    "fdtd": (
        "Run electromagnetic simulations in parallel, count what is in them, study how they scale.",
        "evenly fdtd run oled --ranks 2 --draw",
    ),
    "calibrate": (
        "Measure what the points, chunks and borders of a program take on this machine, so that cells can be cut.",
        "evenly calibrate fdtd",
    ),
    "cost": ("Show what points, chunks and borders cost, as measured here or shipped with evenly.", "evenly cost show"),
    "runs": (
        "List the stored runs of a campaign, check them, mark bad ones, and put stores together.",
        "evenly runs list study.db",
    ),
    "machine": (
        "Measure, list and show machines: cores, memory, jitter, and how long messages take.",
        "evenly machine measure",
    ),
}
#: The sections of ``evenly --help``, by what a person wants to know or do.
PANELS = {
    "Ask your measurements": (
        "read",
        "fit",
        "predict",
        "allocate",
        "limits",
        "advise",
        "sensitivity",
        "report",
        "plot",
    ),
    "Measure and search": ("measure", "tune", "runs", "sort", "init", "example"),
    "Cut a simulation": ("partition", "rebalance", "fdtd", "train", "demo"),
    "Know a machine": ("doctor", "machine", "calibrate", "cost"),
}


@contextmanager
def _ended_with_a_line() -> Iterator[None]:
    """Say at Ctrl-C that the program ends, which typer does in silence."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise typer.Exit(INTERRUPTED) from None


class _Commands(TyperGroup):
    """All commands; each is only a name and a help text until it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        helps = _COMMANDS | {name: text for name, (text, _) in _GROUPS.items()}
        self.commands.update({
            name: TyperCommand(name, help=helps[name], rich_help_panel=panel)
            for panel, names in PANELS.items()
            for name in names
        })  # fmt: skip

    def make_context(self, *given: Any, **options: Any) -> Any:
        with _ended_with_a_line():
            return super().make_context(*given, **options)

    def invoke(self, ctx: Any) -> Any:
        with _ended_with_a_line():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name and command else command, rest


#: Options that had another name: for each command, the old name and the new one.
_RENAMED: dict[str, dict[str, str]] = {
    "advise": {"--cores": "--cores-are"},
    "allocate": {"--steps": "--step-times", "--steps-time": "--step-times-column"},
    "calibrate fdtd": {"--output": "--save", "--budget": "--wall-time"},
    "calibrate meep": {"--output": "--save", "--budget": "--wall-time"},
    "fdtd counts": {"--layout": "--chunks"},
    "fdtd run": {"--output": "--save", "--layout": "--chunks", "--plot": "--draw"},
    "fdtd scaling": {"--output": "--save", "--plot": "--draw"},
    "fit": {"-n": "--terms"},
    "machine measure": {"--output": "--save"},
    "partition": {"--output": "--save", "--method": "--algorithm", "--simulation": "--which"},
    "plot": {"-o": "--into"},
    "rebalance": {"--output": "--save"},
    "train": {"--output": "--save", "--budget": "--wall-time"},
    "tune": {"--limit": "--give-up"},
}
#: Options that people look for, and what does that: for each command.
_ELSEWHERE: dict[str, dict[str, str]] = {
    "measure": {
        "--dry-run": "--plan shows what is still to be run, and runs nothing",
        "--status": "`evenly runs list STORE` tells what was run and what is under way",
    },
    "tune": {
        "--status": "`evenly runs list STORE` tells what was run and what is under way",
    },
}


def _words(ctx: Any) -> str:
    """Return the command as it is typed after ``evenly``."""
    words: list[str] = []
    while ctx.parent is not None:
        words.insert(0, str(ctx.info_name))
        ctx = ctx.parent
    return " ".join(words)


def _refuse_old_words(command: Any, path: str, args: list[str]) -> None:
    """Refuse an option by its old name, and say the new one."""
    known = {name for option in command.params for name in option.opts}
    for word in args:
        old = word.partition("=")[0]
        new = _RENAMED.get(path, {}).get(old)
        if new is not None and old not in known:
            raise InputError(f"{old} is now {new}")
        what = _ELSEWHERE.get(path, {}).get(old)
        if what is not None and old not in known:
            raise InputError(f"there is no {old}: {what}")


#: How several values of an option are typed in one.
_SEVERAL = {
    "--cores": "give several numbers of cores with commas, as 64,128",
    "--where": "join conditions with and, as --where \"cores < 400 and kind == 'measured'\"",
    "--train": "join conditions with and, as --train \"cores < 400 and kind == 'measured'\"",
    "--parameters": "give several columns with commas, as cores,mesh",
}


class _Command(TyperCommand):
    """A command that refuses an option given twice, of which typer uses the last, or without its value.

    Of ``--store --json``, typer would make a store named ``--json``.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _refuse_old_words(self, _words(ctx), args)
        values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        options: list[Any] = list(order)
        for option in options:
            self._refuse_no_value(option, values.get(option.name), args)
            if option.param_type_name == "option" and not (option.multiple or option.is_flag or option.is_eager):
                self._refuse_twice(option, [other for other in options if other is option])
        return super().parse_args(ctx, args)

    def _refuse_no_value(self, option: Any, value: Any, args: list[str]) -> None:
        for one in value if isinstance(value, list | tuple) else [value]:
            # No option has a space; --args '--res 10' and --args=--fast are values.
            is_option = isinstance(one, str) and re.fullmatch(r"--\S+", one) is not None
            joined = any(f"{name}={one}" in args for name in option.opts)
            if option.param_type_name == "option" and is_option and not joined:
                raise InputError(f"{option.opts[0]} needs a value, but is followed by {one}")

    def _refuse_twice(self, option: Any, given: list[Any]) -> None:
        if len(given) > 1:
            hint = f": {_SEVERAL[option.opts[0]]}" if option.opts[0] in _SEVERAL else ""
            raise InputError(f"{option.opts[0]} may be given once, but is given {len(given)} times{hint}")


def load_command(name: str) -> Any:
    """Import a command, or a group of commands, and return it as typer runs it.

    Examples
    --------
    >>> load_command("doctor").name, sorted(load_command("machine").commands)
    ('doctor', ['list', 'measure', 'show'])
    """
    from evenly.cli.command_examples import epilog
    from evenly.cli.option_groups import as_command

    module = importlib.import_module(f"evenly.cli.commands.{name}")
    if name in _COMMANDS:
        single = typer.Typer(add_completion=False, rich_markup_mode="rich")
        single.command(name, cls=_Command, epilog=epilog(name))(as_command(getattr(module, name)))
        return typer.main.get_command(single)
    text, first = _GROUPS[name]
    group = typer.Typer(
        name=name, help=text, epilog=f"Start with: {first}", no_args_is_help=True, rich_markup_mode="rich"
    )
    for word, function in module.COMMANDS.items():
        group.command(word, cls=_Command, epilog=epilog(f"{name} {word}"))(as_command(function))
    return typer.main.get_group(group)


app = typer.Typer(
    name="evenly",
    cls=_Commands,
    help="Learn from few measured runs how long a parallel simulation takes, and spread its work evenly.",
    epilog="Start with: evenly example gaussian-pulse && evenly allocate gaussian-pulse --cores 560",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"evenly {version('evenly')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars and no notes.")] = False,
) -> None:
    """Learn from few measured runs how long a parallel simulation takes, and spread its work evenly."""
    from evenly.cli.console import be_quiet, start

    start()
    if quiet:
        be_quiet()


def main() -> NoReturn:
    """Run the command line and exit with its code; an `EvenlyError` is printed without a traceback.

    With ``--json``, standard output holds JSON then, too: ``{"error": {"kind", "message", "exit_status"}}``.
    """
    _replace_what_streams_cannot_show()
    try:
        if _wants_json():
            sys.exit(_run_for_json())
        app()
    except InfeasibleError as error:
        _fail(str(error), NO_ANSWER)
    except EvenlyError as error:
        _fail(str(error), BAD_INPUT)
    except OSError as error:
        # A path that can't be read or written, such as a name that is too long; without a path it isn't the user's.
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if not (error.filename or is_full):
            raise
        what = str(error.filename or "a file can't be written")[:200]
        _fail(f"{what}: {error.strerror}{': free some space on the disk' if is_full else ''}", BAD_INPUT)
    except MemoryError as error:
        _fail(
            f"the memory is too small for what was asked ({str(error) or 'no more can be had'}): ask for less",
            BAD_INPUT,
        )
    sys.exit(DONE)


#: What a terminal or pipe without Unicode gets for characters that evenly prints; a question mark for all others.
_IN_ASCII = {"…": "...", "–": "-", "×": "x", "·": ".", "µ": "u", "μ": "u", "²": "^2", "→": "->", "≤": "<=", "≥": ">="}


def _replace_what_streams_cannot_show() -> None:
    """Without this, Python ends with a traceback where standard output or error has no Unicode."""

    def plain(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        return "".join(_IN_ASCII.get(one, "?") for one in error.object[error.start : error.end]), error.end

    codecs.register_error("evenly.plain", plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="evenly.plain")


def _wants_json() -> bool:
    return "--json" in sys.argv[1:]


def _run_for_json() -> int:
    """Run the command line, and return its exit code; a usage error becomes JSON instead of typer's panel."""
    try:
        return int(app(standalone_mode=False) or DONE)
    except typer.Abort:
        _fail("it was aborted", NO_ANSWER)
    except Exception as error:  # typer's usage errors share no public class over its versions
        if not hasattr(error, "format_message"):
            raise
        _fail(error.format_message(), BAD_INPUT, kind="UsageError")


def _fail(message: str, code: int, kind: str = "") -> NoReturn:
    from evenly.cli.console import err, print_json, shortened

    told = shortened(message)
    if _wants_json():
        kind = kind or type(sys.exception()).__name__
        print_json({"error": {"kind": kind, "message": told, "exit_status": code}})
    err.print(f"error: {told}", style="red")
    sys.exit(code)
