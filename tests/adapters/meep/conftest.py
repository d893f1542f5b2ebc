"""How tests get into Meep's own Python; where they must, a missing Meep is a failure."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenly.adapters.meep.cell.interpreter import environment, find_mpirun, find_python, package_folder
from evenly.errors import InputError

# Modules that run in Meep's Python can't be looked through for doctests in this one.
collect_ignore = ["structures.py", "reduced_cells.py", "inside.py", "inside_cells.py", "inside_runs.py"]
HERE = Path(__file__).parent
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
Inside = Callable[..., Any]


@pytest.fixture(scope="session")
def meep_python() -> Path:
    """The Python that has Meep; EVENLY_NEEDS_MEEP=1 makes it a failure that there is none."""
    try:
        return find_python()
    except InputError as error:
        if os.environ.get("EVENLY_NEEDS_MEEP") == "1":
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def inside(meep_python: Path) -> Inside:
    """Call a function of ``inside.py`` in Meep's Python, on so many processes, and return what it returns."""

    def call(name: str, *arguments: Any, ranks: int = 1) -> Any:
        command = [str(meep_python), str(HERE / "inside.py"), name, json.dumps(arguments)]
        if ranks > 1:
            mpirun = find_mpirun(meep_python)
            assert mpirun is not None, f"Meep's Python, {meep_python}, has no mpirun beside it"
            command = [str(mpirun), "--oversubscribe", "-n", str(ranks), *command]
        with package_folder() as folder:
            variables = environment(folder, **AS_ROOT)
            done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        answers = [line for line in done.stdout.splitlines() if line.startswith("answer: ")]
        return json.loads(answers[-1].removeprefix("answer: "))

    return call
