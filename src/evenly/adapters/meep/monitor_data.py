"""Data of monitors fit only the chunks that they were taken from: ``get_flux_data``, ``load_minus_flux_data``.

Meep keeps these data by process and chunk, and doesn't check them when they are loaded. Its documentation asks for the
same cell, processes and chunk layout. A layout, or a balancer, may give the second simulation other chunks than the
first: then the data are refused, since a reflection would be wrong. Only the chunks that a monitor lies in count.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.adapters.meep.grid import volumes_of
from evenly.errors import InputError

__all__ = ["watch_monitor_data"]

_KINDS = ("flux", "force", "near2far", "mode")
#: What data were taken from, see `_parts`, and whether by a layout of evenly's, by the identity of their first array.
_taken_from: dict[int, tuple[list[tuple[int, tuple[float, ...]]], bool]] = {}
#: The data that were told.
_told: set[str] = set()


def watch_monitor_data() -> None:
    """Have Meep's simulations check data that are loaded into their monitors; once in a program."""
    import meep

    kind = meep.Simulation
    if hasattr(kind.get_flux_data, "is_watched"):
        return
    wraps = {"get_{}_data": _taking, "load_{}_data": _loading, "load_minus_{}_data": _loading}
    wraps |= {"load_{}": _loading_file, "load_minus_{}": _loading_file}
    for pattern, wrap in wraps.items():
        for name in (pattern.format(one) for one in _KINDS):
            if hasattr(kind, name):
                setattr(kind, name, wrap(getattr(kind, name)))


def _taking(usual: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(usual)
    def taken(sim: Any, *args: Any, **kwargs: Any) -> Any:
        data = usual(sim, *args, **kwargs)
        first = _first(data)
        if first is not None:
            _taken_from[id(first)] = _parts(sim, _monitor(args, kwargs)), _has_layout(sim)
            weakref.finalize(first, _taken_from.pop, id(first), None)
        return data

    taken.is_watched = True  # type: ignore[attr-defined]
    return taken


def _loading(usual: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(usual)
    def loaded(sim: Any, *args: Any, **kwargs: Any) -> Any:
        arrays = [array for one in (*args, *kwargs.values()) if (array := _first(one)) is not None]
        known = _taken_from.get(id(arrays[0])) if arrays else None
        sim.init_sim()
        if known is None:
            _tell_once("that the script itself made", "were taken from the same chunks")
        parts = None if known is None else _parts(sim, _monitor(args, kwargs))
        if known is not None and (known[1] or _has_layout(sim)) and known[0] != parts:
            raise InputError(
                "The data of a monitor were taken from a simulation with other chunks: one of another cell, with other "
                "layers, or before a balancer moved them. Meep keeps these data by process and chunk, so results may "
                "be wrong. Take them from a cell of the same size and center, with the same layers and layout, again "
                "after each adjustment, or run the script without a layout."
            )
        return usual(sim, *args, **kwargs)

    return loaded


def _loading_file(usual: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(usual)
    def loaded(sim: Any, *args: Any, **kwargs: Any) -> Any:
        sim.init_sim()
        if _has_layout(sim):
            name = str(kwargs.get("fname", args[0] if args else ""))
            _tell_once(f"in {name!r}", "were saved with this layout, on as many processes")
        return usual(sim, *args, **kwargs)

    return loaded


def _tell_once(which: str, condition: str) -> None:
    """Say, on one process, what must be true of data whose chunks aren't known."""
    import meep

    if which not in _told and meep.am_really_master():
        sys.stderr.write(
            f"the data of a monitor {which} are right only if they {condition}: Meep keeps them by process and chunk\n"
        )
    _told.add(which)


def _first(data: Any) -> Any:
    """Return the first array of a monitor's data, which stays with them; None of anything else."""
    parts = data if isinstance(data, tuple) else ()
    return next((part for part in parts if hasattr(part, "dtype")), None)


def _has_layout(sim: Any) -> bool:
    """Return whether a simulation has a layout of evenly's."""
    return hasattr(sim.chunk_layout, "of_evenly")


def _monitor(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the monitor among the arguments of a method."""
    return next((one for one in (*args, *kwargs.values()) if hasattr(one, "regions")), None)


def _parts(sim: Any, monitor: Any) -> list[tuple[int, tuple[float, ...]]]:
    """Return the parts of a monitor's regions, or else of the cell, in each chunk: its process, and their corners."""
    import meep

    reach, cell = 1 / float(sim.resolution), [(-np.full(3, np.inf), np.full(3, np.inf))]
    regions = [(_numbers(one.center), _numbers(one.size) / 2) for one in getattr(monitor, "regions", ())]
    boxes = [(center - half - reach, center + half + reach) for center, half in regions] or cell
    owners = [int(owner) % meep.count_processors() for owner in sim.structure.get_chunk_owners()]
    found = []
    for chunk, owner in zip(volumes_of(sim.structure.get_chunk_volumes()), owners, strict=True):
        for low, high in boxes:
            begin, end = np.maximum(low, chunk.low), np.minimum(high, chunk.high)
            if (begin <= end).all():
                found.append((owner, tuple(np.round([*begin, *end], 6).tolist())))
    return found


def _numbers(vector: Any) -> NDArray[np.float64]:
    return np.array([vector.x, vector.y, vector.z], dtype=np.float64)
