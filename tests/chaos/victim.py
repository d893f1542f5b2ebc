"""Reads damaged files in a process of its own, with bounded memory, and prints as JSON what went wrong.

``python -m tests.chaos.victim FOLDER FIRST LAST FORMAT…`` reads the mutants FIRST to LAST (excluded) of each format.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from types import FrameType

from evenly.errors import EvenlyError
from tests.chaos.documents import FORMATS as DOCUMENTS
from tests.chaos.mutants import spoil
from tests.chaos.originals import FORMATS as MEASUREMENTS
from tests.chaos.originals import Format

__all__ = ["FORMATS", "MEMORY_BYTES", "SECONDS"]

FORMATS = {one.name: one for one in (*MEASUREMENTS, *DOCUMENTS)}
#: What one damaged file may take, beyond what the program takes anyway.
SECONDS, WAITING_SECONDS, MEMORY_BYTES = 10, 90, 2 << 30


class TooSlowError(BaseException):
    """A file took longer than it may; no handler of the program's own catches it."""


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlowError(f"more than {SECONDS} seconds")


def _bound_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def trouble(one: Format, path: Path) -> str:
    """Read a file; return what was raised that is no error of evenly's, empty if all went well."""
    # Computing is counted by CPU time, since the machine may be busy; what waits forever ends by wall time.
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(WAITING_SECONDS)
    try:
        one.read(path)
    except (EvenlyError, SystemExit):
        return ""
    except BaseException as error:  # whatever it is: that is the point
        if isinstance(error, KeyboardInterrupt):
            raise
        return "".join(traceback.format_exception(error)[-4:])
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


def main(folder: Path, first: int, last: int, names: list[str]) -> dict[str, object]:
    """Return for each format the seconds, and the mutants that were not read and not refused either."""
    for kind in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(kind, _stop)
    warnings.simplefilter("ignore")
    os.chdir(folder)
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1"}
    found: dict[str, object] = {}
    for place, name in enumerate(names):
        one, begin = FORMATS[name], time.process_time()
        home = folder / f"format{place}"
        home.mkdir()
        path = one.make(home)
        original = path.read_bytes()
        one.read(path)  # the original must be valid; this also loads what the format needs
        if not place:
            _bound_memory()
        wrong: dict[int, str] = {}
        for number in range(first, last):
            spoil(path, original, number)
            if told := trouble(one, path):
                wrong[number] = told
        shutil.rmtree(home)
        found[name] = {"seconds": time.process_time() - begin, "wrong": wrong}
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])))  # noqa: T201
