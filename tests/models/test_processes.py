"""Fits work in forked processes after a fit, in threads, and in processes that all compile at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIT = """
import multiprocessing, sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np, pandas as pd
import evenly

rng = np.random.default_rng(0)
cores, size = rng.choice([1, 2, 4, 8, 16, 32], 24), rng.choice([10, 20, 40, 80], 24)
seconds = (size**1.5 / cores + 0.1 * cores) * np.exp(0.05 * rng.normal(size=24))
frame = pd.DataFrame({"cores": cores, "size": size, "seconds": seconds})
RUNS = evenly.Runs.from_frame(frame, ["cores", "size"])

def predicted(method):
    return evenly.fit(RUNS, method=method).predict({"cores": [4, 8], "size": [20, 20]}).tolist()
"""


def run(script: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", FIT + script],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("method", ["pmnf", "hist-boosting", "auto"])
def test_forked_processes_fit_as_their_parent_did(method: str) -> None:
    # Of OpenMP's threads a machine with one core would start none, and so show nothing.
    script = f"""
own = predicted({method!r})
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map_async(predicted, [{method!r}] * 2).get(60) == [own, own]
"""
    run(script, NUMBA_NUM_THREADS="2", OMP_NUM_THREADS="2")


def test_threads_that_fit_at_once_agree() -> None:
    run("""
with ThreadPoolExecutor(4) as pool:
    found = list(pool.map(predicted, ["auto"] * 4))
assert found == [predicted("auto")] * 4
""")


@pytest.mark.slow
def test_four_processes_that_compile_at_once_agree(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FIT + "print(predicted('mars'))"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    started = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    found = [one.communicate(timeout=120) for one in started]
    assert len(set(found)) == 1, found
    assert found[0][0].startswith("[")


def test_a_first_fit_leaves_openmp_to_be_limited_later() -> None:
    """Libraries that a later fit loads have their threads limited, too: a fork doesn't survive OpenMP's."""
    code = (
        "import evenly, pandas as pd\n"
        "table = pd.DataFrame({'cores': [1, 2, 4, 8, 16], 'seconds': [8.0, 4.1, 2.2, 1.2, 0.7]})\n"
        "evenly.fit(evenly.Runs.from_frame(table, ['cores']), method='pmnf')\n"
        "import sklearn.ensemble\n"
        "from threadpoolctl import threadpool_info\n"
        "from evenly.threads import without_openmp\n"
        "with without_openmp():\n"
        "    print({one['num_threads'] for one in threadpool_info() if one['user_api'] == 'openmp'})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "2"},
    )
    assert done.stdout.strip() == "{1}"
