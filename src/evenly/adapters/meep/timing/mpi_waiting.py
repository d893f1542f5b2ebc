"""The CPU time of a process's waiting in MPI, measured by a small library between a program and its MPI library.

MPI libraries poll while they wait, which counts as CPU time. MPI's profiling interface (MPI 4.0, chapter 15) lets a
library replace MPI functions and call the true ones by their ``PMPI_`` names. The library of this module adds up the
CPU time of the functions that wait. The machine's C compiler compiles it when it is needed, for the MPI library that
Meep is linked to. ``LD_PRELOAD`` loads it before that library.

It serves runs that evenly starts itself to measure costs. In a process that is already running, no library can be
loaded before MPI; there, `clock` does the same in Python.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from evenly.errors import InputError

__all__ = ["VARIABLE", "build_waiting"]

#: Environment variable that holds the path of the library.
VARIABLE = "EVENLY_MEEP_WAITING"
# In every MPI on Linux, handles fit into the registers of pointers, and counts are ints. So no MPI header is needed.
SOURCE = r"""
#include <time.h>
static double seconds;
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
double evenly_waiting(void) { return seconds; }
#define WAITS(name, parameters, arguments)        \
  extern int P##name parameters;                  \
  int name parameters {                           \
    double begin_ = now();                        \
    int result_ = P##name arguments;              \
    seconds += now() - begin_;                    \
    return result_;                               \
  }
typedef void *p;
WAITS(MPI_Wait, (p a, p b), (a, b))
WAITS(MPI_Waitany, (int a, p b, p c, p d), (a, b, c, d))
WAITS(MPI_Waitsome, (int a, p b, p c, p d, p e), (a, b, c, d, e))
WAITS(MPI_Waitall, (int a, p b, p c), (a, b, c))
WAITS(MPI_Barrier, (p a), (a))
WAITS(MPI_Bcast, (p a, int b, p c, int d, p e), (a, b, c, d, e))
WAITS(MPI_Allreduce, (p a, p b, int c, p d, p e, p f), (a, b, c, d, e, f))
"""


def build_waiting(folder: Path, python: Path) -> Path:
    """Compile the library into a folder, for the MPI library of Meep, and return its path.

    Parameters
    ----------
    folder : Path
    python : Path
        Meep's own Python.

    Raises
    ------
    InputError
        If there is no C compiler, if Meep has no MPI, or if the compiler fails.
    """
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise InputError("The measurement of waiting in MPI needs a C compiler: install one (Debian: gcc).")
    source, library = folder / "waiting.c", folder / "waiting.so"
    source.write_text(SOURCE, encoding="utf-8")
    command = [compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(library), str(_mpi_of(python))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InputError(f"The library that measures waiting in MPI can't be compiled:\n{done.stderr[-1000:]}")
    return library


def _mpi_of(python: Path) -> Path:
    """Return the MPI library that Meep is linked to, as a running process sees it."""
    code = "import meep; print(open('/proc/self/maps').read())"
    maps = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False).stdout
    found = re.search(r"(/\S*/libmpi\.so\S*)", maps)
    if found is None:
        raise InputError(f"The Meep of {python} has no MPI: install a parallel one (python3-meep-mpi-default).")
    return Path(found.group(1))
