"""Meep's own Python: how it is found, and how it can import evenly.

Meep's binary modules are built against one version of numpy, which may differ from the one in evenly's environment. So
Meep's process may import evenly, but no other package of evenly's environment. For this, its path gets a folder that
holds only a link to evenly.

>>> environment(Path("/tmp/somewhere"))["OMP_NUM_THREADS"]
'1'
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from evenly.errors import InputError
from evenly.processes import scratch_folder

__all__ = ["VARIABLE", "environment", "find_mpirun", "find_python", "package_folder"]

#: Environment variable that names the Python that has Meep.
VARIABLE = "EVENLY_MEEP_PYTHON"
SYSTEM = Path("/usr/bin/python3")
_LOOK = (
    "import importlib.util, sys; sys.exit(not (importlib.util.find_spec('meep') and importlib.util.find_spec('numpy')))"
)


def find_python(python: Path | str | None = None) -> Path:
    """Return the Python that has Meep.

    Parameters
    ----------
    python : Path or str, optional
        The Python to use; by default the first with Meep of ``$EVENLY_MEEP_PYTHON``, the running Python and
        ``/usr/bin/python3``.

    Raises
    ------
    InputError
        If the named Python has no Meep, or none of the Pythons above has it.
    """
    named = python or os.environ.get(VARIABLE)
    candidates = [Path(named)] if named else [Path(sys.executable), SYSTEM]
    for candidate in candidates:
        found = shutil.which(candidate)
        if found and _has_meep(found):
            return Path(found)
    looked = ", ".join(str(candidate) for candidate in candidates)
    raise InputError(
        f"Meep is needed, but {looked} can't import it: install it (Debian: "
        "`apt-get install python3-meep-mpi-default`, conda: `conda install -c conda-forge pymeep`) or name the Python "
        f"that has it by --python or ${VARIABLE}."
    )


def find_mpirun(python: Path) -> Path | None:
    """Return the MPI launcher in the folder of a Python with Meep; None if there is none."""
    for name in ("mpirun", "mpiexec"):
        if (python.parent / name).exists():
            return python.parent / name
    return None


@contextmanager
def package_folder() -> Iterator[Path]:
    """Yield a temporary folder that holds only a link to evenly."""
    import evenly

    with scratch_folder() as folder:
        (folder / "evenly").symlink_to(Path(evenly.__file__).parent, target_is_directory=True)
        yield folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment variables for a process with Meep.

    Parameters
    ----------
    folder : Path
        The folder of `package_folder`.
    **more
        Other variables.
    """
    own: Mapping[str, str] = {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "VIRTUAL_ENV")}
    # One thread, because the CPU time of a process is the sum over its threads.
    return {**own, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", **more}


def _has_meep(python: str) -> bool:
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    try:
        return subprocess.run([python, "-c", _LOOK], env=clean, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
