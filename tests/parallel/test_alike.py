"""Ranks that build different simulations end the job, which names two of them and what differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenly.fdtd import Block, Flux, GaussianPulse, Source
from evenly.fdtd.alike import texts
from evenly.fdtd.media.custom import FunctionMaterial
from tests.parallel.ranks import run_ranks, start_ranks

BUILT = """
    import numpy as np
    from evenly.fdtd import (
        PML, ArrayMaterial, Block, CustomPulse, FieldRecorder, Flux, FunctionMaterial, GaussianPulse, Medium, Options,
        Simulation, Source, my_rank, shared_random,
    )
    from evenly.fdtd.cell.partition import BinaryPartition

    n = my_rank()
    given = dict(
        cell=(2, 2, 0), resolution=10, geometry=[Block(size=(1, 1, 1), material=Medium(epsilon=2))],
        sources=[Source(GaussianPulse(1.0, fwidth=0.5), "Ez", center=(0, 0, 0))], boundaries=[PML(0.4)],
    )
    given.update({changed})
    sim = Simulation(**given)
    {then}
    print(n, sim.step_count)
"""
RUN = 'sim.run(until=0.5, progress="off")'
DIFFERENT = {
    "cell=(2, 2 + n, 0)": "grid.size",
    "resolution=10 + n": "grid.resolution",
    "boundaries=[PML(0.4, kappa=1.0 + n)]": "boundaries.made.(0, 'high').kappa",
    "options=Options(subpixel=n > 0)": "options.subpixel",
    "layout=BinaryPartition([('x', 0.5 * n - 0.3), 0, 1])": "layout",
    "material=Medium(epsilon=1 + n)": "material.epsilon",
    "material=lambda x, y, z: 1 + np.random.default_rng().random(np.shape(x))": "material",
    "material=ArrayMaterial(1 + np.random.default_rng().random((20, 20, 1)), size=(2, 2, 0))": "material.values",
    "geometry=[Block(size=(1, 1, 1), material=lambda x, y, z: 1 + x * x + n)]": "geometry[0].material",
    "geometry=[Block(size=(1, 1, 1))] * (1 + n)": "len(geometry)",
    "geometry=[Block(size=(1, 1, 1), center=np.random.default_rng().random(3))]": "geometry[0].center",
    "sources=[]if n else given['sources']": "len(sources)",
    "sources=[Source(GaussianPulse(1.0 + n, fwidth=0.5), 'Ez', center=(0, 0, 0))]": "sources[0].pulse",
    "sources=[Source(CustomPulse(lambda t: n + t * 0, end=1.0), 'Ez', center=(0, 0, 0))]": "sources[0].pulse",
    "sources=[Source(GaussianPulse(1.0, fwidth=0.5), 'Ez', (0, 0, 0), (1, 0, 0), "
    "amplitude_function=lambda x, y, z: x + n)]": "sources[0].amplitude_function",
}


def built(changed: str = "", then: str = RUN) -> str:
    return BUILT.replace("{changed}", changed).replace("{then}", then)


@pytest.mark.parametrize(("changed", "named"), DIFFERENT.items(), ids=list(DIFFERENT.values()))
def test_ranks_that_build_different_simulations_end_the_job(changed: str, named: str) -> None:
    job = start_ranks(2, built(changed))
    assert (job.status, job.output) == (2, ""), job.errors
    assert f"rank 0 of 2: All ranks must build the same simulation, but `{named}" in job.errors
    assert " on rank 0 and " in job.errors
    assert " on rank 1. " in job.errors
    assert "Traceback" not in job.errors


@pytest.mark.parametrize(
    "then",
    [
        "sim.add(Flux(center=(0.5 * n, 0), size=(0, 1), frequencies=[1.0]))",
        "sim.add(Flux(center=(0.5, 0), size=(0, 1), frequencies=[1.0 + n]))",
        "sim.add(FieldRecorder('Ez', (0.1 * n, 0)))",
    ],
)
def test_ranks_that_add_different_monitors_end_the_job(then: str) -> None:
    job = start_ranks(2, built(then=then))
    assert job.status == 2
    assert "All ranks must build the same simulation, but `monitor." in job.errors


def test_a_third_rank_that_differs_is_named() -> None:
    job = start_ranks(3, built("resolution=20 if n == 2 else 10"))
    assert job.status == 2
    assert "`grid.resolution` is 10 on rank 0 and 20 on rank 2" in job.errors


def test_counts_of_different_simulations_end_the_job() -> None:
    job = start_ranks(2, built("resolution=10 + n", "sim.counts()"))
    assert job.status == 2
    assert "`grid.resolution` is 10 on rank 0 and 11 on rank 1" in job.errors


@pytest.mark.parametrize(
    "changed",
    [
        "",
        "material=lambda x, y, z: 1 + shared_random(3).random() * 0 + np.sin(x) ** 2",
        "material=FunctionMaterial(lambda x, y, z: 1.0 if x > 0 else 2.0)",
        "geometry=[Block(size=(1, 1, 1), material=lambda x, y, z: 1 / (x > -0.6))]",
        "material=ArrayMaterial(1 + shared_random().random((20, 20, 1)), size=(2, 2, 0))",
    ],
)
def test_ranks_that_build_the_same_run(changed: str) -> None:
    assert sorted(run_ranks(2, built(changed)).split("\n"))[1:] == ["0 10", "1 10"]


def test_groups_may_differ() -> None:
    then = "assert sim.communicator.size == 1; " + RUN
    script = built("resolution=10 + 10 * n", then).replace(
        "n = my_rank()", "from evenly.fdtd import divide_parallel_processes as divide; n = divide(2)"
    )
    assert sorted(run_ranks(2, script).split("\n"))[1:] == ["0 10", "1 20"]


def test_texts_differ_where_parts_do_and_not_by_rounding() -> None:
    def told(scale: float, value: float = 0.3) -> dict[str, str]:
        material = FunctionMaterial(lambda x, y, z: 1 + (scale * (x + y + z)) ** 2)
        pulse = GaussianPulse(1.0, fwidth=value)
        things = [Block(size=(1, 1, 1), material=material), Source(pulse, "Ez", (0, 0, 0))]
        return dict(texts(things, "things", ((-1, -1, -1), (1, 1, 1))))

    assert told(1.0) == told(1.0 + 2e-16, 0.1 + 0.2)
    differ = {path for path, text in told(1.0).items() if told(1.0001)[path] != text}
    assert differ == {"things[0].material"}
    assert {path for path, text in told(1.0).items() if told(1.0, 0.31)[path] != text} == {"things[1].pulse"}


@pytest.mark.parametrize("numbers", [[1.0], [0.1 + 0.2], [1e300, -1e-300, 0.0], [np.nan, np.inf, 1.0], [1 + 1j]])
def test_long_arrays_are_compared_to_eight_digits(numbers: list[complex]) -> None:
    values = np.tile(numbers, 100)
    text = dict(texts(values, "values"))
    assert dict(texts(values * (1 + 1e-15) if np.isfinite(values).all() else values.copy(), "values")) == text
    assert dict(texts(values + np.where(np.arange(values.size) == 0, values * 1e-6, 0), "values")) != text or (
        np.isnan(values[0])
    )


def test_all_of_long_lists_and_of_arrays_of_objects_is_compared() -> None:
    many: list[Any] = [[1.0] * 100, ["x"] * 100, np.array([{"a": 1.0}] * 100, dtype=object), np.array(["x"] * 100)]
    for long in many:
        other = long.copy()
        assert list(texts(other, "long")) == list(texts(long, "long"))
        other[99] = "another"
        assert dict(texts(other, "long")) != dict(texts(long, "long"))


def test_a_monitor_is_compared_by_what_it_was_given() -> None:
    monitor = Flux(center=(0.5, 0), size=(0, 1), frequencies=[1.0], name="out")
    assert {"monitor.center", "monitor.size", "monitor.frequencies", "monitor.name"} <= {
        path for path, _ in texts({k: v for k, v in vars(monitor).items() if k[0] != "_"}, "monitor")
    }
