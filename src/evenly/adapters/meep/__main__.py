"""``python -m evenly.adapters.meep layout.json script.py [arguments]``: run an unchanged Meep script with a layout.

Start it with MPI, like the script itself: ``mpirun -n 16 python3 -m evenly.adapters.meep layout.json script.py``. Every
simulation of the script gets this layout, also in place of a chunk_layout of its own, and a message says so; only one
that the script itself takes from evenly is kept. If the script makes only one simulation and the
layout is for another cell, the program ends before its first step and prints this reason. If the script may make
several simulations, as in a loop or a function, those with another cell get Meep's own chunks, and a message says so.
"""

from __future__ import annotations

import functools
import runpy
import sys
from pathlib import Path
from typing import Any

from evenly.errors import EvenlyError, InputError


class _Layout:
    """The layout of a file for all simulations that will be made.

    Parameters
    ----------
    path : str
    several : bool
        Whether simulations that the layout does not fit get Meep's own chunks. Otherwise, they raise an error.
    """

    def __init__(self, path: str, *, several: bool) -> None:
        from evenly.adapters.meep.layouts import layout

        self.path, self.several = path, several
        self.chunks = layout(path)
        self.used = False
        self.refused = ""

    def install(self) -> None:
        """Replace the methods that create and initialise a simulation."""
        import meep

        kind = meep.Simulation
        make, begin = kind.__init__, kind._init_structure

        @functools.wraps(make)
        def made(sim: Any, *args: Any, **kwargs: Any) -> None:
            make(sim, *args, **kwargs)
            if not hasattr(sim.chunk_layout, "of_evenly"):
                if sim.chunk_layout is not None and _is_first():
                    sys.stderr.write(f"the layout {self.path} takes the place of a simulation's own chunk_layout\n")
                sim.of_meep = sim.num_chunks
                sim.chunk_layout = sim._chunk_layout_original = self.chunks
                sim.num_chunks = sim._num_chunks_original = self.chunks.numchunks()

        @functools.wraps(begin)
        def begun(sim: Any, *args: Any, **kwargs: Any) -> Any:
            if sim.chunk_layout is self.chunks:
                self._give(sim)
            return begin(sim, *args, **kwargs)

        kind.__init__, kind._init_structure = made, begun

    def _give(self, sim: Any) -> None:
        from evenly.adapters.meep.layouts import check_fits, layout_of

        try:
            check_fits(sim, layout_of(self.path), f"The layout {self.path}")
            if not self.used and _is_first():
                chunks = self.chunks.numchunks()
                sys.stderr.write(f"the layout {self.path} is used: {chunks} chunk{'s' * (chunks > 1)}\n")
            self.used = True
        except InputError as error:
            self.refused = str(error)
            if not self.several:
                raise
            if _is_first():
                sys.stderr.write(f"a simulation is left to Meep's own chunks: {error}\n")
            sim.chunk_layout = sim._chunk_layout_original = None
            sim.num_chunks = sim._num_chunks_original = sim.of_meep


def main(arguments: list[str]) -> None:
    """Run the script named by the arguments, with the layout named by the arguments."""
    if len(arguments) < 2:
        sys.exit("usage: python -m evenly.adapters.meep layout.json script.py [arguments of the script]")
    script = Path(arguments[1])
    if not script.is_file():
        sys.exit(f"There is no script {script}.")
    try:
        _run(arguments[0], script, arguments[1:])
    except EvenlyError as error:
        # All processes get the same error, so all of them exit: a single exit would leave the others waiting.
        sys.exit(f"{error}" if _is_first() else 1)


def _run(path: str, script: Path, arguments: list[str]) -> None:
    from evenly.adapters.meep.cell.simulations_made import makes_several

    layout = _Layout(path, several=makes_several(script))
    layout.install()
    sys.argv = arguments
    sys.path[0] = str(script.resolve().parent)
    runpy.run_path(str(script), run_name="__main__")
    if layout.refused and not layout.used:
        raise InputError(f"{script} has run, but without the layout, because it fits none of the simulations.")


def _is_first() -> bool:
    """Return whether this process is the first one, which prints errors."""
    if "meep" not in sys.modules:
        return True
    import meep

    return bool(meep.am_really_master())


if __name__ == "__main__":
    main(sys.argv[1:])
