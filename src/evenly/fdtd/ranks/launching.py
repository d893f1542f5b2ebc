"""Starts a program on several MPI ranks and supervises it until it ends.

The launcher is the program in the environment variable ``EVENLY_MPIEXEC``, if it is set. Else it is the ``mpiexec``
next to this Python (from the ``mpich`` wheel), or ``mpiexec``, ``mpirun`` or ``srun`` in the PATH. Ctrl-C, SIGTERM and
SIGHUP are passed on to the ranks. Processes that remain when the job ends, or when this process is killed, are killed.
The launcher's own remarks about a failing rank are dropped, so that only the rank's own message is shown.

>>> Launcher("/usr/bin/mpirun", "openmpi").command(8, ["python", "run.py"], cores=2)
['/usr/bin/mpirun', '--oversubscribe', '-n', '8', 'python', 'run.py']
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from evenly.errors import InputError, MissingExtraError
from evenly.fdtd.ranks.watching import Job, follow
from evenly.memory import check_room

__all__ = ["Job", "Launcher", "check_root", "find_launcher", "in_allocation", "launch", "launch_python"]


#: What a rank takes before it has any fields: Python with NumPy and MPI.
_RANK_BYTES = 60 << 20
#: How many ranks are started whatever memory is free.
_MOST = "EVENLY_MOST_RANKS"
#: Variables that allow root to start ranks of Open MPI.
_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
#: Variables of schedulers, which give MPI launchers other machines too.
_ALLOCATIONS = ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE", "COBALT_NODEFILE")


@dataclass(frozen=True)
class Launcher:
    """A program that starts MPI ranks.

    Parameters
    ----------
    path : str
        Path of the program.
    kind : str
        ``"hydra"`` (MPICH, Intel MPI), ``"openmpi"``, ``"srun"`` or ``"other"``.
    """

    path: str
    kind: str

    def command(
        self, ranks: int, program: Sequence[str], *, cores: int | None = None, hosts: Sequence[str] = ()
    ) -> list[str]:
        """Return the command line that starts `program` on `ranks` ranks.

        Parameters
        ----------
        ranks : int
            Number of ranks.
        program : sequence of str
            The program and its arguments.
        cores : int, optional
            Number of cores of this machine; default: those that this process may use. If there are more ranks than
            cores, Open MPI gets the option that allows this.
        hosts : sequence of str
            Hosts of the ranks, with the same number of ranks on each. By default the launcher chooses.

        Raises
        ------
        InputError
            If `hosts` are given, but the options of this kind of launcher for hosts aren't known.

        Examples
        --------
        >>> " ".join(Launcher("mpiexec", "hydra").command(4, ["solve"], hosts=["a", "b"]))
        'mpiexec -hosts a,b -ppn 2 -n 4 solve'
        """
        cores = _cores() if cores is None else cores
        crowded = ["--oversubscribe"] if self.kind == "openmpi" and not hosts and ranks > cores else []
        return [self.path, *crowded, *self._placing(ranks, hosts), "-n", str(ranks), *program]

    def _placing(self, ranks: int, hosts: Sequence[str]) -> list[str]:
        if not hosts:
            return []
        each = -(-ranks // len(hosts))
        match self.kind:
            case "hydra":
                return ["-hosts", ",".join(hosts), "-ppn", str(each)]
            case "openmpi":
                return ["--host", ",".join(f"{host}:{each}" for host in hosts)]
            case "srun":
                return [f"--nodelist={','.join(hosts)}", f"--nodes={len(hosts)}", f"--ntasks-per-node={each}"]
        raise InputError(
            f"Ranks can be placed on hosts by MPICH's, Intel MPI's and Open MPI's mpiexec and by srun, but {self.path} "
            "is none of them: set EVENLY_MPIEXEC to one that is."
        )


def in_allocation() -> bool:
    """Return whether this process runs in a scheduler's job, so that ranks may be started on other machines, too."""
    return any(os.environ.get(name) for name in _ALLOCATIONS)


def find_launcher() -> Launcher:
    """Return the launcher to use.

    Raises
    ------
    MissingExtraError
        If there is none; the message holds the command that installs one.
    InputError
        If ``EVENLY_MPIEXEC`` names a program that doesn't exist.

    Examples
    --------
    >>> find_launcher().kind
    'hydra'
    """
    named = os.environ.get("EVENLY_MPIEXEC")
    if named:
        path = shutil.which(named)
        if path is None:
            raise InputError(
                f"The environment variable EVENLY_MPIEXEC must name a launcher that exists, got {named!r}."
            )
        return Launcher(path, _kind(path))
    beside = os.pathsep.join([str(Path(sys.executable).parent), sysconfig.get_path("scripts")])
    candidates = [("mpiexec", beside), *((name, None) for name in ("mpiexec", "mpirun", "srun"))]
    for name, folders in candidates:
        path = shutil.which(name, path=folders)
        if path is not None:
            return Launcher(path, _kind(path))
    raise MissingExtraError("Starting several ranks", extra="mpi")


@lru_cache(maxsize=8)
def _kind(path: str) -> str:
    if Path(path).name == "srun":
        return "srun"
    try:
        run = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "other"
    text = run.stdout + run.stderr
    if any(name in text for name in ("Open MPI", "OpenRTE", "PRRTE", "PRTE")):
        return "openmpi"
    return "hydra" if "HYDRA" in text or "Intel(R) MPI" in text else "other"


def _cores() -> int:
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _check_room(ranks: int) -> None:
    """Refuse ranks for which this machine has no memory, unless a scheduler's allocation may have more machines."""
    if in_allocation():
        return
    most = os.environ.get(_MOST, "0")
    if not most.isdecimal():
        raise InputError(f"The environment variable {_MOST} must be a number of ranks, got {most!r}.")
    if ranks > max(int(most), _cores()):
        check_room(f"{ranks:,} ranks on this machine", ranks * _RANK_BYTES, f"start fewer, or set {_MOST}={ranks}")


def check_root(launcher: Launcher, environment: Mapping[str, str] | None = None) -> None:
    """Raise an error that says what Open MPI wants before it starts ranks for root, as in containers.

    Parameters
    ----------
    launcher : Launcher
    environment : mapping, optional
        Environment variables for the ranks, besides those of this process.
    """
    given = {**os.environ, **(environment or {})}
    if launcher.kind == "openmpi" and os.geteuid() == 0 and not all(given.get(name) for name in _ROOT):
        settings = " and ".join(f"{name}=1" for name in _ROOT)
        raise InputError(
            f"Open MPI ({launcher.path}) starts no ranks for root: set {settings}, as is usual in a container, or be "
            "another user."
        )


def launch_python(arguments: Sequence[str], ranks: int, **options: Any) -> Job:
    r"""Run a Python script, or a module after ``-m``, on `ranks` ranks; see `launch` for `options`.

    Parameters
    ----------
    arguments : sequence of str
        The arguments of ``python``: the script, or ``-m`` and the module, and then their own arguments.
    ranks : int
        Number of ranks.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     script = Path(folder, "hello.py")
    ...     _ = script.write_text("from evenly.fdtd import count_processors as n, master_print; master_print(n())")
    ...     launch_python([str(script)], 2, echo=False).output
    '2\n'
    """
    if importlib.util.find_spec("mpi4py") is None:
        raise MissingExtraError("Starting several ranks", extra="mpi")
    return launch([sys.executable, "-m", "evenly.fdtd.rank", *arguments], ranks, **options)


def launch(
    program: Sequence[str],
    ranks: int,
    *,
    timeout_s: float | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | str | None = None,
    echo: bool = True,
    hosts: Sequence[str] = (),
) -> Job:
    """Run a program on `ranks` MPI ranks of this machine (or of the scheduler's allocation) and wait for its end.

    Parameters
    ----------
    program : sequence of str
        The program and its arguments.
    ranks : int
        Number of ranks; it may exceed the number of cores.
    timeout_s : float, optional
        The job is ended after this many seconds, with status 124.
    environment : mapping, optional
        Environment variables for the ranks, besides those of this process.
    folder : Path or str, optional
        Working folder of the ranks.
    echo : bool
        Whether to print the ranks' output as it arrives. It is collected in any case.
    hosts : sequence of str
        Hosts of the ranks, with the same number of ranks on each. By default the launcher chooses.

    Raises
    ------
    InputError
        If `ranks` is not an integer of at least 1, or more than this machine can hold, or the launcher's options for
        `hosts` aren't known.
    MissingExtraError
        If no launcher is installed.

    Examples
    --------
    >>> launch([sys.executable, "-c", "import sys; sys.exit(3)"], 2, echo=False).status
    3
    """
    if type(ranks) is not int or ranks < 1:
        raise InputError(f"`ranks` must be an integer of at least 1, but got {ranks!r}.")
    launcher = find_launcher()
    if not hosts and launcher.kind != "srun":
        _check_room(ranks)
    check_root(launcher, environment)
    command = launcher.command(ranks, program, hosts=hosts)
    return follow(command, timeout_s=timeout_s, environment=environment, folder=folder, echo=echo)
