"""Meep's own Python: which one it is, and how evenly gets into it.

Meep's binary modules are built against one numpy, which need not be the one beside evenly. So nothing of evenly's
environment may be seen in Meep's process but evenly itself: a folder that holds a link to the package alone goes onto
its path.

>>> environment(Path("/tmp/somewhere"))["OMP_NUM_THREADS"]
'1'
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from evenly.errors import InputError

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
        Which one; otherwise ``$EVENLY_MEEP_PYTHON``, the running one, or ``/usr/bin/python3``, the first that has Meep.

    Raises
    ------
    InputError
        If the one that is named hasn't, or none of those that are looked at.
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
    """Return the MPI launcher that belongs to a Python with Meep: the one beside it; None where there is none."""
    for name in ("mpirun", "mpiexec"):
        if (python.parent / name).exists():
            return python.parent / name
    return None


@contextmanager
def package_folder() -> Iterator[Path]:
    """Give a folder that holds evenly and nothing else, for as long as it is needed."""
    import evenly

    with tempfile.TemporaryDirectory(prefix="evenly-meep-") as folder:
        (Path(folder) / "evenly").symlink_to(Path(evenly.__file__).parent, target_is_directory=True)
        yield Path(folder)


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the variables of a process that has Meep.

    Parameters
    ----------
    folder : Path
        That of `package_folder`.
    **more
        Other variables.
    """
    own: Mapping[str, str] = {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "VIRTUAL_ENV")}
    # One thread: CPU time of several is no measure of one.
    return {**own, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", **more}


def _has_meep(python: str) -> bool:
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    try:
        return subprocess.run([python, "-c", _LOOK], env=clean, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
