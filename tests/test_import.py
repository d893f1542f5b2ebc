"""`import evenly` costs next to nothing and changes nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import evenly

_HEAVY = ("numpy", "pandas", "numba", "matplotlib", "scipy", "sklearn", "jax", "mpi4py", "lightgbm", "typer", "rich")


def _fresh(code: str) -> str:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return result.stdout


def test_import_loads_nothing_heavy_and_starts_no_thread() -> None:
    code = f"""
import sys, threading
import evenly
dir(evenly)
print([name for name in {_HEAVY!r} if name in sys.modules], threading.active_count())
"""
    assert _fresh(code).strip() == "[] 1"


def test_core_types_start_no_compiler_plot_or_mpi() -> None:
    code = """
import sys
import evenly
evenly.Runs, evenly.Space, evenly.metrics
print([name for name in ("numba", "matplotlib", "sklearn", "jax", "mpi4py") if name in sys.modules])
"""
    assert _fresh(code).strip() == "[]"


def test_searches_and_campaigns_load_no_statistics() -> None:
    # scipy.stats takes 0.3 s to import; scipy.special has the same quantiles and tails.
    code = """
import sys
import evenly
from evenly.campaign.noise import drift_of, half_width
evenly.tune, half_width([1.0, 2.0]), drift_of([0, 1, 2], [1.0, 1.1, 1.2])
print("scipy.special" in sys.modules, "scipy.stats" in sys.modules)
"""
    assert _fresh(code).strip() == "True False"


def test_importing_a_model_changes_no_global_setting() -> None:
    code = """
import warnings, numpy as np, random
before = np.geterr(), np.get_printoptions()["precision"], random.getstate()
import evenly
evenly.Model, evenly.fit, evenly.load
assert before == (np.geterr(), np.get_printoptions()["precision"], random.getstate())
print("same")
"""
    assert _fresh(code).strip() == "same"


def test_every_public_name_is_there() -> None:
    for name in vars(evenly)["__all__"]:
        assert getattr(evenly, name) is not None
        assert name in dir(evenly)
    assert evenly.metrics.mape([1.0], [1.0]) == 0
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(evenly, "nothing")  # noqa: B009


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert evenly.__version__ == version("evenly")
