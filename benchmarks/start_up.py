"""How long a user waits: `import evenly`, and simple calls of the command line on the shipped example.

Usage::

    .venv/bin/python benchmarks/start_up.py

CPU seconds of whole processes beyond a bare interpreter, beside their limits. The first call of `evenly allocate`
starts with an empty cache of compiled code. Modules are read as bytecode, as after an installation.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile

from evenly import examples


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        case = examples.copy("gaussian-pulse", folder)
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache", "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        python, evenly = [sys.executable, "-c"], [sys.executable, "-m", "evenly"]
        model = f"{folder}/model.evenly"
        subprocess.run([*evenly, "-q", "fit", str(case), "--save", model], stdout=subprocess.DEVNULL, check=True)
        allocate = [*evenly, "-q", "allocate", str(case), "--cores", "560"]
        bare = several([*python, "pass"], environment)
        seconds([*evenly, "--help"], environment)
        seconds([*evenly, "-q", "predict", model, "--at", "cores=400"], environment)
        first = seconds(allocate, environment) - bare
        calls = {
            "import evenly": ([*python, "import evenly"], 0.3),
            "evenly --version": ([*evenly, "--version"], 0.3),
            "evenly --help": ([*evenly, "--help"], 0.3),
            "evenly predict, one configuration": ([*evenly, "-q", "predict", model, "--at", "cores=400"], 1.0),
            "evenly allocate": (allocate, 1.5),
        }
        print(f"{'evenly allocate, nothing compiled':38}{first:8.2f} s CPU")
        for name, (command, limit) in calls.items():
            print(f"{name:38}{several(command, environment) - bare:8.2f} s CPU, limit {limit}")


def several(command: list[str], environment: dict[str, str]) -> float:
    return statistics.median(seconds(command, environment) for _ in range(7))


def seconds(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
