"""What every rank of a job runs: loads MPI first, then the script, so that no failure is too early to end the job.

    mpiexec -n 4 python -m evenly.fdtd.rank script.py arguments …
    mpiexec -n 4 python -m evenly.fdtd.rank -m package.module arguments …
    mpiexec -n 4 python -m evenly.fdtd.rank --all-ranks script.py arguments …

All ranks run the script, but only the master's prints are shown (those of each group's master, once the ranks are
divided). With --all-ranks those of all are. Error output of all ranks is always shown.

A script started without it works too, but all ranks print, a rank that fails before its first use of `evenly.fdtd`
leaves the others waiting, and a mistake that all ranks make is reported by each.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from types import TracebackType

from evenly.errors import EvenlyError, InputError
from evenly.fdtd.ranks.aborting import abort, exit_status, record_exit
from evenly.fdtd.ranks.parallel import am_master, master_print, world

__all__ = ["main"]

_ALL_RANKS = "--all-ranks"


def main(arguments: Sequence[str]) -> None:
    """Run a script, or a module after ``-m``, as ``python`` itself would.

    Parameters
    ----------
    arguments : sequence of str
        The script, or ``-m`` and the module, and what it gets as ``sys.argv[1:]``.

    Raises
    ------
    InputError
        If nothing to run is named, or the script does not exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     script = Path(folder, "hello.py")
    ...     _ = script.write_text("import sys; print('hello', *sys.argv[1:])")
    ...     main([str(script), "you"])
    hello you
    """
    world()
    if list(arguments[:1]) in (["--help"], ["-h"]):
        master_print(__doc__, end="")
        return
    as_module = list(arguments[:1]) == ["-m"]
    target, *rest = arguments[1:] if as_module else arguments or [""]
    if not target or not (as_module or Path(target).is_file()):
        raise InputError(f"A script that exists, or -m and a module, must be given to run, but got {target!r}.")
    before = sys.argv, list(sys.path)
    try:
        _run(target, rest, as_module=as_module)
    except SystemExit as leaving:
        record_exit(leaving.code)
        raise
    except Exception as error:
        # From here on only the script's own frames: nobody asked about the code that ran it.
        abort(error.with_traceback(_own(error.__traceback__)))
    finally:
        sys.argv, sys.path[:] = before


def _run(target: str, arguments: list[str], *, as_module: bool) -> None:
    sys.argv = [target, *arguments]
    if as_module:
        sys.path.insert(0, "")
        runpy.run_module(target, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(target).resolve().parent))
        runpy.run_path(target, run_name="__main__")


class _MastersOutput(TextIOWrapper):
    """The standard output, for masters only: which rank is one may change while the script runs."""

    def write(self, text: str, /) -> int:
        return super().write(text) if am_master() else len(text)


def _own(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename in ("<frozen runpy>", runpy.__file__, __file__):
        trace = trace.tb_next
    return trace


def _start() -> None:
    arguments = sys.argv[1:]
    shown = TextIOWrapper if arguments[:1] == [_ALL_RANKS] else _MastersOutput
    # Ranks write into pipes; whole lines at once, or those of several ranks would mix.
    pipe = BufferedWriter(FileIO(1, "wb", closefd=False))
    sys.stdout = shown(pipe, sys.stdout.encoding, sys.stdout.errors, line_buffering=True)
    try:
        main(arguments[1:] if shown is TextIOWrapper else arguments)
    except EvenlyError as error:
        if world().size > 1:
            raise
        sys.stderr.write(f"{error}\n")
        sys.exit(exit_status(error))


if __name__ == "__main__":
    _start()
