"""How long a user waits: `import evenly`, and the first and later `evenly allocate` on the shipped example.

Usage::

    .venv/bin/python benchmarks/start_up.py

CPU seconds of whole processes; the first call starts with an empty cache of compiled code.
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
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        allocate = [sys.executable, "-m", "evenly", "-q", "allocate", str(case), "--cores", "560"]
        bare = several([sys.executable, "-c", "pass"], environment)
        rows = {
            "import evenly, beyond a bare interpreter": several([sys.executable, "-c", "import evenly"], environment)
            - bare,
            "first allocate, nothing compiled": seconds(allocate, environment),
            "later allocate": several(allocate, environment),
        }
    for name, value in rows.items():
        print(f"{name:42}{value:8.2f} s CPU")


def several(command: list[str], environment: dict[str, str]) -> float:
    return statistics.median(seconds(command, environment) for _ in range(5))


def seconds(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
