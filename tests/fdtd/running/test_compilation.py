"""Kernels are ready before the first step, compiled once and by one rank."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from evenly import fdtd
from evenly.fdtd.running import compilation
from evenly.fdtd.running.compilation import prepare
from tests.parallel.ranks import run_ranks

MODULE = """
from numba import njit

@njit(cache=True)
def double(x):
    return x + x
"""

SCRIPT = """
    import sys
    sys.path.insert(0, sys.argv[1])
    from kernels import double
    from evenly.fdtd.running.compilation import _listening, take_turns
    from evenly.fdtd.ranks.parallel import current

    compiled = []
    with _listening(lambda: compiled.append(1)):
        take_turns(lambda: double(1.0), lambda: double(1.0), current())
    print("rank", current().rank, "attempts", len(compiled), "answer", double(2.0), flush=True)
"""


FRESH = """
    import sys
    from evenly.fdtd.running.compilation import FEATURES, features, prepare
    from evenly.fdtd.stepping.kernels import anisotropy, fourier, nonlinear, poles, sweep, walk
    from tests.parallel.checkpoints import simulation

    def known():
        modules = (anisotropy, fourier, nonlinear, poles, sweep, walk)
        kernels = [k for m in modules for k in vars(m).values() if hasattr(k, "signatures")]
        return {k.__name__: list(k.signatures) for k in kernels}

    sim = simulation(sys.argv[1])
    assert features(sim) >= {"poles", "off-diagonal", "fourier"}, features(sim)
    prepare(sim)
    before = known()
    for _ in range(18):
        sim.step()
    after = known()
    print([name for name in after if before[name] != after[name]], sum(map(len, after.values())))
"""


@pytest.mark.parametrize("scene", ["real", "bloch"])
def test_no_kernel_is_left_to_load_or_compile_while_stepping(scene: str) -> None:
    root = Path(__file__).resolve().parents[3]
    code = textwrap.dedent(FRESH)
    done = subprocess.run(
        [sys.executable, "-c", code, scene], check=True, capture_output=True, text=True, cwd=root,
    )  # fmt: skip
    late, loaded = done.stdout.rsplit(" ", 1)
    assert late == "[]"
    assert int(loaded) >= 4


def test_only_what_a_simulation_needs_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(compilation, "_ready", set())
    monkeypatch.setattr(compilation, "_warm", lambda precision, wanted: asked.append((precision, set(wanted))))
    sim = fdtd.Simulation(cell=(1, 0, 0), resolution=10)
    prepare(sim)
    prepare(sim)
    # The second time there is nothing to load, so nobody is asked.
    assert asked == [("float64", {"sweep"})]


def test_the_first_compile_is_announced_and_kept(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(MODULE)
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    first, second = (
        subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, capture_output=True, text=True)
        for _ in range(2)
    )
    assert "compiling kernels" in first.stderr
    assert "are compiled" in first.stderr
    assert "answer 4.0" in first.stdout
    assert second.stderr == ""
    assert "attempts 0 answer 4.0" in second.stdout


@pytest.mark.slow
def test_one_rank_compiles_and_the_others_read_what_it_kept(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(MODULE)
    output = run_ranks(3, SCRIPT, str(tmp_path))
    # Every rank finds out that something is missing by an attempt; only the first then compiles.
    attempts = {line.split()[1]: line.split()[3] for line in output.splitlines() if line.startswith("rank")}
    assert attempts == {"0": "2", "1": "1", "2": "1"}


def test_compiling_for_real_is_forbidden_before_it_begins() -> None:
    from numba import njit

    def triple(x: float) -> float:
        return x * 3

    fresh: Any = njit(triple)

    assert not compilation._works_without_compiling(lambda: fresh(1.0))
    # The kernel isn't harmed by it.
    assert fresh(2.0) == 6.0
    assert compilation._works_without_compiling(lambda: fresh(3.0))
