"""``python -m evenly.adapters.meep layout.json script.py [arguments]``: run a Meep script as it is, on a layout.

Start it with MPI as the script itself: ``mpirun -n 16 python3 -m evenly.adapters.meep layout.json script.py``. Every
simulation of the script that has no layout of its own gets this one.
"""

from __future__ import annotations

import functools
import runpy
import sys
from pathlib import Path
from typing import Any

from evenly.errors import EvenlyError, InputError


def _with_layout(path: str) -> None:
    """Give all simulations that will be made the layout of a file."""
    import meep

    from evenly.adapters.meep.layouts import layout

    chunks = layout(path)
    usual = meep.Simulation.__init__

    @functools.wraps(usual)
    def made(sim: Any, *args: Any, **kwargs: Any) -> None:
        usual(sim, *args, **kwargs)
        if sim.chunk_layout is not None:
            return
        if sim.symmetries:
            raise InputError("Meep counts mirror images twice where it is given a layout: leave `symmetries` out.")
        sim.chunk_layout = sim._chunk_layout_original = chunks
        sim.num_chunks = sim._num_chunks_original = chunks.numchunks()

    meep.Simulation.__init__ = made


def main(arguments: list[str]) -> None:
    """Run the script that the arguments name, on the layout that they name."""
    if len(arguments) < 2:
        sys.exit("usage: python -m evenly.adapters.meep layout.json script.py [arguments of the script]")
    script = Path(arguments[1])
    if not script.is_file():
        sys.exit(f"There is no script {script}.")
    try:
        _with_layout(arguments[0])
        sys.argv = arguments[1:]
        sys.path[0] = str(script.resolve().parent)
        runpy.run_path(str(script), run_name="__main__")
    except EvenlyError as error:
        # One process that goes on its own would leave the others waiting.
        sys.exit(f"{error}")


if __name__ == "__main__":
    main(sys.argv[1:])
