"""Ranks that don't make the same calls end the job with both calls and their lines; ranks that are late don't."""

from __future__ import annotations

import pytest

from tests.parallel.ranks import run_ranks, start_ranks

# The line of an action is 17.
SCRIPT = """
    import os, sys, time
    from evenly import fdtd
    from evenly.fdtd.ranks import parallel

    master = fdtd.am_master()
    sim = fdtd.Simulation(
        cell=(4, 4, 0), resolution=10, boundaries=[fdtd.PML(1.0)],
        sources=[fdtd.Source(fdtd.GaussianPulse(frequency=1.0, fwidth=0.5), "Ez", center=(0, 0, 0))],
    )
    point = (0.1, 0, 0)
    late = float(os.environ.get("LATE", "0"))
    if not late:
        sim.run(until=1.0, progress="off")
    if late and not master:
        time.sleep(late)
    {action}
    print("the end")
"""


@pytest.mark.parametrize(
    ("action", "one", "other"),
    [
        (
            "if master: sim.get_field_point('Ez', point)",
            "rank 0 waits in Simulation.get_field_point(component='Ez', point=(0.1, 0, 0)) (script.py, line 17)",
            "rank 1 has ended its script",
        ),
        (
            "sim.run(until=2.0 + fdtd.my_rank(), progress='off')",
            "rank 0 waits in Simulation.run(until=2, after_sources=None) (script.py, line 17)",
            "rank 1 waits in Simulation.run(until=3, after_sources=None) (script.py, line 17)",
        ),
        (
            "master and sim.stored_energy(); sim.max_abs_field('Ez')",
            "rank 0 waits in Simulation.stored_energy(center=None, size=None) (script.py, line 17)",
            "rank 1 waits in Simulation.max_abs_field(component='Ez', center=None, size=None) (script.py, line 17)",
        ),
        # A look at the fields by one rank in the middle of a run: the other waits for its neighbour's ghosts.
        (
            "sim.run(until=9, callbacks=[lambda sim: master and sim.get_field_point('Ez', point)], progress='off')",
            "rank 0 waits in Simulation.get_field_point(component='Ez', point=(0.1, 0, 0)) (script.py, line 17)",
            "rank 1 waits in Simulation.run (script.py, line 17)",
        ),
        # Steps by hand: nothing is agreed before they begin.
        (
            "[sim.step() for _ in range(5 + 5 * master)]; master or fdtd.all_wait()",
            "rank 0 waits in Fields.step (script.py, line 17)",
            "rank 1 waits in all_wait (script.py, line 17)",
        ),
    ],
)
def test_different_calls_end_the_job_and_are_named(action: str, one: str, other: str) -> None:
    job = start_ranks(2, SCRIPT.format(action=action))
    assert (job.status, job.timed_out) == (2, False), job.errors
    assert f"but {one}, and {other}. Let all ranks make the call" in job.errors
    assert job.errors.count("All ranks must make the same calls") == 1
    assert job.output.count("the end") <= 1


def test_waits_in_different_groups_find_each_other() -> None:
    action = "fdtd.divide_parallel_processes(2); fdtd.merge_subgroup_data(1.0) if fdtd.my_rank() else fdtd.all_wait()"
    job = start_ranks(4, SCRIPT.format(action=action))
    assert (job.status, job.timed_out) == (2, False), job.errors
    assert "waits in all_wait (script.py, line 17), and rank " in job.errors
    assert "waits in merge_subgroup_data (script.py, line 17)" in job.errors


def test_a_late_rank_is_awaited_in_every_wait() -> None:
    action = (
        "sim.run(until=1.0, callbacks=[lambda sim: sim.step_count == 3 and master and time.sleep(late)]);"
        " assert master or time.sleep(late) is None; fdtd.all_wait()"
    )
    assert run_ranks(2, SCRIPT.format(action=action), environment={"LATE": "2.5"}).count("the end") == 2
