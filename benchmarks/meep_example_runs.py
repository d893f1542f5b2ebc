"""What `meep_examples.py` and `meep_example_costs.py` run in Meep's Python: example scripts, shortened or stopped.

Debian's Meep has no MPB, which computes modes of waveguides. There, a plain current with the mode's parity takes the
place of an `EigenModeSource`, and coefficients of modes are all 1, so that scripts go on. Records say so.
"""

from __future__ import annotations

import json
import random
import runpy
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

#: Steps between two looks at the clock, which all ranks take together.
LOOK = 10


#: Most values of a monitor that are kept: of more, every second one, or third, and so on.
MOST = 20_000
BEGUN = time.monotonic()


class Enough(BaseException):
    """Raised where a script is left."""


class Recorder:
    """Runs a script with shortened runs, and writes what its monitors recorded after each of them.

    Parameters
    ----------
    out : Path
        The file to write; again after each run, so that a script that is stopped leaves what it has recorded.
    seconds : float
        Time of all runs together. A run ends after half of it, if its own condition doesn't end it before.
    steps : list of int
        Instead, how many steps each run makes. The script is left after these runs.
    """

    def __init__(self, out: Path, seconds: float, steps: list[int]) -> None:
        self.out, self.seconds, self.steps = out, seconds, steps
        self.found: dict[str, Any] = {
            "records": [],
            "steps": [],
            "ended": [],
            "why": "",
            "without_modes": False,
            "tolerance": 0.0,
        }

    def install(self) -> None:
        """Replace the methods of Meep that step."""
        import meep as mp

        kind = mp.Simulation
        usual, solve = kind._run_until, kind.solve_cw

        def run(sim: Any, conditions: Any, step_funcs: Any) -> None:
            if sim.fields is None:
                sim.init_sim()
            given = conditions if isinstance(conditions, list) else [conditions]
            limit = _Limit(self._limit(), self._steps())
            usual(sim, [*given, limit.reached], step_funcs)
            self._note(sim, limit.made, ended=not limit.cut)

        def solved(sim: Any, tol: float = 1e-8, maxiters: int = 10000, L: int = 2) -> bool:
            done = solve(sim, tol, maxiters, L)
            self.found["tolerance"] = max(tol, self.found["tolerance"])
            self._note(sim, 0, ended=bool(done))
            return bool(done)

        kind._run_until, kind.solve_cw = run, solved

    def _limit(self) -> float:
        return float("inf") if self.steps else self.seconds / 2

    def _steps(self) -> int | None:
        return self.steps[len(self.found["steps"])] if self.steps else None

    def _note(self, sim: Any, made: int, *, ended: bool) -> None:
        import meep as mp

        self.found["records"].append(recorded(sim))
        self.found["steps"].append(made)
        self.found["ended"].append(ended)
        self.write()
        late = not self.steps and bool(mp.max_to_all(time.monotonic() - BEGUN) >= self.seconds)
        if late or (self.steps and len(self.found["steps"]) >= len(self.steps)):
            raise Enough

    def write(self) -> None:
        """Write what was found; only the first process does."""
        import meep as mp

        if mp.am_master():
            self.out.write_text(json.dumps(self.found), encoding="utf-8")


class _Limit:
    """A condition of a run: that it has lasted so long, or has made so many steps."""

    def __init__(self, seconds: float, steps: int | None) -> None:
        self.until, self.steps = time.monotonic() + seconds, steps
        self.first: int | None = None
        self.made, self.cut = 0, False

    def reached(self, sim: Any) -> bool:
        import meep as mp

        if self.first is None:
            self.first = sim.fields.t
        self.made = sim.fields.t - self.first
        if self.steps is not None:
            self.cut = self.made >= self.steps
        elif self.made and self.made % LOOK == 0:
            self.cut = bool(mp.max_to_all(time.monotonic()) >= self.until)
        return self.cut


def recorded(sim: Any) -> list[list[float]]:
    """Return what each monitor recorded, as lists of real numbers; all ranks must call this."""
    import meep as mp
    import numpy as np

    whole = sim.fields.total_volume()
    found = [np.array([sim.fields.electric_energy_in_box(whole), sim.fields.magnetic_energy_in_box(whole)])]
    for monitor in sim.dft_objects:
        kind = type(monitor).__name__
        if kind == "DftFlux":
            found.append(np.array(mp.get_fluxes(monitor)))
        elif kind == "DftForce":
            found.append(np.array(mp.get_forces(monitor)))
        elif kind == "DftEnergy":
            found.append(np.array(mp.get_total_energy(monitor)))
        elif kind == "DftNear2Far":
            found.append(np.array(sim.get_farfield(monitor, mp.Vector3(11.0, 0 if sim.is_cylindrical else 7.0, 5.0))))
        elif kind == "DftFields":
            found += [np.array(sim.get_dft_array(monitor, code, 0)).ravel() for code in monitor.args[0]]
    few = [values[:: -(-len(values) // MOST)] if len(values) else values for values in found]
    return [np.concatenate([values.real, values.imag]).tolist() for values in few]


def without_modes(noted: Callable[[], None]) -> None:
    """If Meep has no MPB, replace what it can't do then, and call `noted` where this is used."""
    import meep as mp
    import numpy as np

    if find_spec("meep.mpb") is not None:
        return
    kind = mp.Simulation
    add = kind.add_source

    def plain(sim: Any, source: Any) -> None:
        if not isinstance(source, mp.EigenModeSource):
            add(sim, source)
            return
        noted()
        for number, component in enumerate(_components(sim, source)):
            amplitude = source.amplitude * (1 + 0.3 * number)
            add(sim, mp.Source(source.src, component, source.center, size=source.size, amplitude=amplitude))

    def coefficients(_sim: Any, flux: Any, bands: Any, *_args: Any, **_kwargs: Any) -> Any:
        noted()
        many, frequencies = (len(bands) if isinstance(bands, (list, range)) else 1), len(mp.get_flux_freqs(flux))
        ones, along = np.ones(many * frequencies), [mp.Vector3(1)] * (many * frequencies)
        alpha = np.ones((many, frequencies, 2), complex)
        return SimpleNamespace(alpha=alpha, vgrp=ones, kpoints=along, kdom=along, cscale=ones)

    kind.add_source, kind.get_eigenmode_coefficients = plain, coefficients


def _components(sim: Any, source: Any) -> list[int]:
    """Return the components that a mode's current has, by its parity."""
    import meep as mp

    if source.component != mp.ALL_COMPONENTS:
        return [source.component]
    if sim.dimensions == 1:
        return [mp.Ex]
    across, within = [mp.Ez, mp.Hx, mp.Hy], [mp.Hz, mp.Ex, mp.Ey]
    if sim.cell_size.z:
        return across + within
    return (within if not source.eig_parity & mp.ODD_Z else []) + (across if not source.eig_parity & mp.EVEN_Z else [])


def run_script(script: list[str]) -> str:
    """Run a script with its arguments, and return why it stopped early; "" if it didn't."""
    import meep as mp
    import numpy as np

    mp.verbosity(0)
    # Scripts draw random numbers; here they draw the same on all ranks, with and without a layout.
    np.random.seed(1)  # noqa: NPY002 - scripts use this generator
    random.seed(1)
    sys.argv = script
    sys.path[0] = str(Path(script[0]).resolve().parent)
    try:
        runpy.run_path(script[0], run_name="__main__")
    except Enough:
        pass
    except SystemExit as error:
        return f"it exited: {error.code}"[:120]
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:120]
    return ""


def meeps_other_chunks() -> None:
    """Let Meep itself cut simulations otherwise than it does by default: by its cost model, into three."""
    import meep as mp

    usual = mp.Simulation.__init__

    def made(sim: Any, *args: Any, **kwargs: Any) -> None:
        usual(sim, *args, **{**kwargs, "num_chunks": 3, "split_chunks_evenly": False})

    mp.Simulation.__init__ = made


def main() -> None:
    """Run a script with a layout, with Meep's own chunks ("") or its "other" ones, and write what was recorded."""
    from evenly.adapters.meep.__main__ import _Layout

    layout, out, seconds, steps, *script = sys.argv[1:]
    recorder = Recorder(Path(out), float(seconds), json.loads(steps))
    without_modes(lambda: recorder.found.__setitem__("without_modes", True))
    chunks = None
    if layout == "other":
        meeps_other_chunks()
    elif layout:
        chunks = _Layout(layout, several=True)
        chunks.install()
    recorder.install()
    recorder.found["why"] = run_script(script)
    if chunks is not None and not chunks.used:
        recorder.found["why"] = f"the layout wasn't used: {chunks.refused}"
    recorder.write()


if __name__ == "__main__":
    main()
