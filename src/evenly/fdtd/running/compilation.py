"""Compiling the kernels before the first step: once per machine and precision, announced, and by one rank at a time.

Kernels are compiled on first use and kept on disk, beside the package or where NUMBA_CACHE_DIR says. Before a
simulation steps, a tiny one with the same physics runs, so that exactly the kernels it needs are there. Whether one has
to be compiled is known by trying with compiling forbidden; if so, the first rank compiles (and says so) while the
others wait, then the first of every other machine, whose disk may be another, and then the others read what is kept.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from evenly.errors import EvenlyError
from evenly.fdtd.fields import Fields, Options
from evenly.fdtd.media.materials import LorentzPole, Medium
from evenly.fdtd.media.solids import Sphere
from evenly.fdtd.ranks.communicators import SerialCommunicator
from evenly.fdtd.ranks.parallel import am_really_master

if TYPE_CHECKING:
    from evenly.fdtd.ranks.communicators import Communicator

__all__ = ["FEATURES", "features", "prepare", "take_turns"]

# Physics that has kernels of its own, beside the sweep that all have.
FEATURES = ("poles", "off-diagonal", "nonlinear", "sites", "fourier")
_EVENT = "numba:compile"
# (precision, feature) that this process has loaded or compiled already; "sweep" is what every simulation needs.
_ready: set[tuple[str, str]] = set()


def prepare(sim: Fields) -> None:
    """Have all kernels ready that a simulation needs; all ranks must call.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> prepare(Simulation(cell=(1, 0, 0), resolution=10))
    """
    precision, names = sim.options.precision, ("sweep", *FEATURES)
    own = {name for name in ("sweep", *features(sim)) if (precision, name) not in _ready}
    flags = sim.communicator.allreduce([float(name in own) for name in names], "max")
    everyones = {name for name, flag in zip(names, flags, strict=True) if flag}
    if everyones:
        take_turns(lambda: _warm(precision, own), lambda: _warm(precision, everyones), sim.communicator)
        _ready.update((precision, name) for name in own)


def features(sim: Fields) -> set[str]:
    """Return which physics with kernels of its own this rank's chunks and monitors have.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> features(Simulation(cell=(1, 0, 0), resolution=10))
    set()
    """
    found = {"fourier"} if any(len(monitor.frequencies) for monitor in sim.monitors) else set()
    for medium in (medium for chunk in sim.chunks for medium in chunk.media.values()):
        own = medium.poles, medium.nodes, medium.nonlinear, medium.sites
        found |= {name for name, there in zip(FEATURES, own, strict=False) if there}
    return found


def take_turns(own: Callable[[], None], all_of_it: Callable[[], None], communicator: Communicator) -> None:
    """Do work that may compile: at once where everything is kept on disk, else the first rank first.

    Parameters
    ----------
    own : callable
        What this rank needs; may be called twice.
    all_of_it : callable
        What any rank needs.
    communicator : Communicator
        The ranks; all must call.

    Examples
    --------
    >>> from evenly.fdtd.ranks.communicators import SerialCommunicator
    >>> take_turns(lambda: print("kept"), lambda: print("compiled"), SerialCommunicator())
    kept
    """
    if not communicator.allreduce(not _works_without_compiling(own), "max"):
        return
    hosts = communicator.allgather(platform.node())
    rank, here = communicator.rank, hosts[communicator.rank]
    turn = 0 if rank == 0 else 1 if here != hosts[0] and hosts.index(here) == rank else 2
    for now in range(3):
        if now == turn:
            with _announced(say=am_really_master()):
                (all_of_it if now < 2 else own)()
        communicator.barrier()


class _NotKeptError(EvenlyError):
    """A kernel is not kept on disk."""


def _works_without_compiling(work: Callable[[], None]) -> bool:
    try:
        with _listening(_forbid):
            work()
    except _NotKeptError:
        return False
    return True


def _forbid() -> None:
    raise _NotKeptError("A kernel would have to be compiled.")


@contextmanager
def _announced(*, say: bool) -> Iterator[None]:
    begins: list[float] = []

    def announce() -> None:
        if not begins and say:
            _tell("compiling kernels that are not on disk yet, once; they are kept")
        begins.append(perf_counter())

    with _listening(announce):
        yield
    if begins and say:
        _tell(f"the kernels are compiled ({perf_counter() - begins[0]:.0f} s)")


def _tell(text: str) -> None:
    sys.stderr.write(f"evenly: {text}\n")
    sys.stderr.flush()


@contextmanager
def _listening(act: Callable[[], None]) -> Iterator[None]:
    """Call `act` whenever a kernel begins to be compiled, which reading it from disk is not."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:  # noqa: ARG002 - numba's interface
            act()

        def on_end(self, event: Any) -> None:
            """Nothing to do."""

    with event.install_listener(_EVENT, Listener()):
        yield


def _warm(precision: Any, wanted: set[str]) -> None:
    """Step tiny fields with the physics wanted, which nothing is prepared for."""
    if not wanted:
        return
    medium = Medium(
        epsilon=2.0,
        epsilon_off_diagonal=(0.1, 0.0, 0.0) if "off-diagonal" in wanted else (0.0, 0.0, 0.0),
        electric_poles=[LorentzPole(1.0, 0.1, 1.0)] if "poles" in wanted else (),
        chi3=0.1 if "nonlinear" in wanted else 0.0,
    )
    _step_tiny(precision, wanted, material=medium)
    if "sites" in wanted:
        ball = Sphere(radius=1.0, material=Medium(electric_poles=[LorentzPole(0.1, 0.1, 1.0)]))
        _step_tiny(precision, wanted, geometry=[ball])


def _step_tiny(precision: Any, wanted: set[str], **media: Any) -> None:
    # Flux loads numba, which takes a second that nobody waits for who only describes a cell.
    from evenly.fdtd.monitors.flux import Flux

    tiny = Fields(
        cell=(3.0, 3.0, 3.0), resolution=1, options=Options(precision=precision, courant=0.25),
        communicator=SerialCommunicator(), **media,
    )  # fmt: skip
    if "fourier" in wanted:
        tiny.add(Flux(center=(0, 0, 0), size=(0, 3, 3), frequencies=[0.1]))
    tiny.step()
    for monitor in tiny.monitors:
        monitor.flush()
