"""Whether all ranks built the same simulation: what it is made of, as texts that ranks compare before the first step.

Random numbers without a seed, the clock or a file of one host may decide what a rank builds. Each rank steps its part
of its own simulation then, and the result is that of none. Functions are compared by what they give at a few points.

>>> from evenly.fdtd.ranks.communicators import SerialCommunicator
>>> check_alike(SerialCommunicator(), {"cell": lambda: texts((4.0, 2.0), "cell")})
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.media.custom import ArrayMaterial, FunctionMaterial
from evenly.fdtd.media.solids import GeometricObject
from evenly.fdtd.ranks.aborting import abort
from evenly.fdtd.ranks.calls import plain
from evenly.fdtd.ranks.parallel import world
from evenly.fdtd.sources.pulses import Pulse
from evenly.fdtd.sources.source import Source

if TYPE_CHECKING:
    from evenly.fdtd.ranks.communicators import Communicator

__all__ = ["Built", "check_alike", "check_built", "check_monitor", "texts"]

Texts = Iterator[tuple[str, str]]
Parts = Mapping[str, Callable[[], Texts]]

_ADVICE = (
    "What a rank builds must not depend on random numbers without a seed (`evenly.fdtd.shared_random` gives all ranks "
    "the same), on the clock, on the rank's number or on files that only one host has."
)
# Where functions are compared: shares of a box's edges, or of a duration.
_SHARES = np.random.default_rng(0).random((3, 48))
_LONGEST = 1e3
_SIGNIFICANT = 8
# Numbers of a list or an array that are told one by one.
_MOST = 48


class Built(Protocol):
    """The parts of a simulation that are compared."""

    communicator: Communicator
    grid: Grid
    layers: Any
    structure: Any
    layout: Any
    options: Any
    sources: list[Source]


def check_built(sim: Built) -> None:
    """End the job unless all ranks built the same simulation; all of them must call it, and it costs one rank nothing.

    Raises
    ------
    InputError
        On all ranks, which ends the job; it names two ranks and what differs.
    """
    if sim.communicator.size == 1:
        return
    half = np.array([n * sim.grid.dx for n in sim.grid.shape]) / 2
    material, *objects = sim.structure.objects
    named = {
        "grid": sim.grid,
        "boundaries": sim.layers,
        "options": sim.options,
        "layout": sim.layout.to_list(),
        "material": material.material,
        "len(geometry)": len(objects),
        **{f"geometry[{n}]": thing for n, thing in enumerate(objects)},
        "len(sources)": len(sim.sources),
        **{f"sources[{n}]": source for n, source in enumerate(sim.sources)},
    }
    check_alike(sim.communicator, {name: partial(texts, one, name, (-half, half)) for name, one in named.items()})


def check_monitor(sim: Built, monitor: Any) -> None:
    """End the job unless all ranks add the same monitor; all of them must call it.

    Raises
    ------
    InputError
        On all ranks, which ends the job; it names two ranks and what differs.
    """
    public = {name: value for name, value in vars(monitor).items() if not name.startswith("_")}
    # What a monitor of the user's own keeps may be another on each rank.
    own = type(monitor).__module__.startswith("evenly.")
    told = public if own else {"frequencies": monitor.frequencies}
    check_alike(sim.communicator, {monitor.label: partial(texts, told, "monitor")})


def check_alike(communicator: Communicator, parts: Parts) -> None:
    """End the job unless these parts have the same texts on all ranks; all ranks must call it.

    Parameters
    ----------
    communicator : Communicator
    parts : mapping of str to callable
        What gives the texts of each part, see `texts`.

    Raises
    ------
    InputError
        On all ranks, which ends the job; it names two ranks and what differs.
    """
    if communicator.size == 1:
        return
    digests = {name: _digest(repr(list(give())).encode()) for name, give in parts.items()}
    number = int(_digest(repr(digests).encode()), 16)
    least = communicator.allreduce(np.array([number, -number]), "min")
    if least[0] != -least[1]:
        _name(communicator, parts, digests)


def _name(communicator: Communicator, parts: Parts, digests: Mapping[str, str]) -> None:
    everyone = communicator.allgather((world().rank, digests))
    (first, ours), *others = everyone
    at, name = next(
        (n, name)
        for n, (_, theirs) in enumerate(others, start=1)
        for name in {**ours, **theirs}
        if ours.get(name) != theirs.get(name)
    )
    found = communicator.allgather(dict(parts[name]()) if name in parts else {})
    one, other = found[0], found[at]
    path = next((path for path in {**one, **other} if one.get(path) != other.get(path)), name)
    what = "is {} on rank {} and {} on rank {}".format(
        one.get(path, "another"), first, other.get(path, "another"), everyone[at][0]
    )
    abort(InputError(f"All ranks must build the same simulation, but `{path}` {what}. {_ADVICE}"))


def texts(value: Any, path: str, within: tuple[Any, Any] = ((-1, -1, -1), (1, 1, 1))) -> Texts:
    """Yield what an object is made of: the path of each part in it, and a text that is the same for the same part.

    Parameters
    ----------
    value : object
        One of evenly's, or numbers, arrays and texts. Of unknown objects only the class counts.
    path : str
        How messages call it.
    within : pair of three floats
        The lowest and highest coordinates, in a, between which functions of position are compared.

    Examples
    --------
    >>> list(texts({"frequencies": np.array([1.0, 2.0]), "name": "out"}, "monitor"))
    [('monitor.frequencies', '[1, 2]'), ('monitor.name', "'out'")]
    """
    if isinstance(value, Pulse):
        yield path, _pulse(value)
        return
    if isinstance(value, np.ndarray) and value.dtype.kind not in "biufc":
        value = value.tolist()
    elif isinstance(value, np.ndarray) and value.size > _MOST:
        yield path, f"an array of shape {value.shape} ({_array_digest(value)})"
        return
    for name, part in _parts(value):
        yield from texts(part, f"{path}{name}", _bounds(value, within))
    if isinstance(value, FunctionMaterial | ArrayMaterial):
        low, high = within
        points = [a + (b - a) * share for a, b, share in zip(low, high, _SHARES, strict=True)]
        yield path, f"a material with {_given(value.epsilon, *points)}"
    elif isinstance(value, Source) and value.amplitude_function is not None:
        x, y, z = (size * (np.arange(5) / 4 - 0.5) for size in value.size)
        given = _given(value.amplitude_function, x[:, None, None], y[:, None], z)
        yield f"{path}.amplitude_function", f"a function with {given}"
    elif not dataclasses.is_dataclass(value) and not _nested(value):
        yield path, plain(value)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            part = getattr(value, field.name)
            # A file may have another path on another host: what is in it counts.
            if not (field.name.startswith("_") or callable(part) or isinstance(part, os.PathLike)):
                yield f".{field.name}", part
    elif isinstance(value, dict) and _nested(value):
        yield from ((f".{key}", value[key]) for key in sorted(value, key=repr))
    elif _nested(value):
        yield from ((f"[{n}]", part) for n, part in enumerate(value))


def _nested(value: Any) -> bool:
    """Return whether something is to be looked at part by part, to name the one that differs."""
    if isinstance(value, dict):
        return True
    simple = (bool, int, float, complex, str, type(None), np.number)
    return isinstance(value, list | tuple) and (len(value) > _MOST or not all(isinstance(p, simple) for p in value))


def _bounds(value: Any, within: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the part of a box in which an object lies."""
    if not isinstance(value, GeometricObject):
        return within
    low, high = (np.clip(edge, *within) for edge in value.bounds())
    return low, high


def _pulse(pulse: Pulse) -> str:
    first, last = pulse.first_time, pulse.last_time
    begin = first if np.isfinite(first) else -_LONGEST
    times = begin + min(last - begin, _LONGEST) * _SHARES[0]
    return f"a {type(pulse).__name__} from {plain(first)} to {plain(last)} with {_given(pulse.amplitude, times)}"


def _given(function: Callable[..., Any], *points: NDArray[Any]) -> str:
    """Return what a function gives at points, as a text."""
    with np.errstate(all="ignore"):
        try:
            values = np.asarray(function(*points))
        # It may not be meant for these points, or is wrong: then it fails where it is used.
        except Exception as error:
            return f"no values ({type(error).__name__})"
    if values.dtype.kind not in "biufc" or not values.size:
        return "no numbers"
    return f"values from {plain(values.flat[0])} to {plain(values.flat[-1])} ({_array_digest(values)})"


def _array_digest(values: NDArray[Any]) -> str:
    """Return a digest of numbers, of as many digits as processors of all kinds agree on."""
    if values.dtype.kind == "c":
        values = np.stack([values.real, values.imag])
    if values.dtype.kind != "f":
        return _digest(np.ascontiguousarray(values).tobytes())
    numbers = values.astype(np.float64)
    with np.errstate(all="ignore"):
        exponent = np.floor(np.log10(np.abs(numbers)))
        exponent[~np.isfinite(exponent)] = 0.0
        digits = np.rint(numbers * 10.0 ** (_SIGNIFICANT - 1 - exponent))
    carried = np.abs(digits) >= 10.0**_SIGNIFICANT
    return _digest(np.where(carried, digits / 10, digits).tobytes() + (exponent + carried).tobytes())


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=7).hexdigest()
