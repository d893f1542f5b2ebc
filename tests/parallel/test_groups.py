"""Ranks, collectives and subgroups with real MPI ranks."""

from __future__ import annotations

import pytest

from tests.parallel.ranks import run_ranks, start_ranks

COLLECTIVES = """
    import numpy as np
    from evenly.fdtd.ranks import parallel

    world = parallel.world()
    n, rank = world.size, world.rank
    assert (parallel.count_processors(), parallel.my_rank()) == (n, rank)
    assert parallel.am_master() == parallel.am_really_master() == (rank == 0)
    assert world.bcast({"from": rank}, root=n - 1) == {"from": n - 1}
    assert world.allgather(rank ** 2) == [r ** 2 for r in range(n)]
    assert world.gather(rank, root=n - 1) == (list(range(n)) if rank == n - 1 else None)
    total = world.allreduce(np.array([rank, 1.0]))
    assert total.tolist() == [n * (n - 1) / 2, n], total
    assert world.allreduce(rank, "max") == n - 1 and world.allreduce(rank, "min") == 0
    assert world.allreduce(1j * rank).item() == 1j * n * (n - 1) / 2
    assert world.allreduce(rank == 0) == 1
    parallel.all_wait()

    right, left = (rank + 1) % n, (rank - 1) % n
    sent, received = np.empty(3), np.empty(3)
    messages = ([(right, 7, sent)], [(left, 7, received)]) if n > 1 else ([], [])
    exchange = world.exchange(*messages)
    for step in range(50):
        sent[:] = rank + 100 * step
        exchange.start()
        exchange.wait()
        assert exchange.done()
        assert n == 1 or received.tolist() == 3 * [left + 100 * step]
    print("done", rank)
"""

GROUPS = """
    import sys
    import numpy as np
    from evenly.fdtd.ranks import parallel

    world, groups = parallel.world(), int(sys.argv[1])
    number = parallel.divide_parallel_processes(groups)
    members = [r for r in range(world.size) if r * groups // world.size == number]
    assert parallel.count_processors() == len(members)
    assert parallel.my_rank() == members.index(world.rank)
    assert parallel.am_master() == (world.rank == members[0])
    assert parallel.am_really_master() == (world.rank == 0)
    assert parallel.current().allgather(world.rank) == members

    merged = parallel.merge_subgroup_data(np.full((number + 1, 2), number))
    assert merged.tolist() == [[g, g] for g in range(groups) for _ in range(g + 1)]
    assert parallel.merge_subgroup_data(2.5 * number).tolist() == [2.5 * g for g in range(groups)]

    with parallel.global_communications() as everyone:
        assert parallel.current() is everyone is world
        assert parallel.count_processors() == world.size
    assert parallel.count_processors() == len(members)

    for _ in range(300):
        parallel.divide_parallel_processes(groups)
    parallel.divide_parallel_processes(1)
    assert parallel.current() is world
    parallel.master_print(f"{groups} groups")
    with parallel.only_master_prints():
        print("merged")
"""

RANDOM = """
    import sys
    from evenly.fdtd.ranks import parallel

    world = parallel.world()
    number = parallel.divide_parallel_processes(2)
    own = parallel.shared_random().random(4).tolist()
    seeded = parallel.shared_random(5 + world.rank).integers(1000, size=3).tolist()
    table = world.allgather((number, own, seeded))
    for group in (0, 1):
        rows = [row[1:] for row in table if row[0] == group]
        assert all(row == rows[0] for row in rows)
    assert table[0][1] != table[-1][1] and table[0][2] != table[-1][2]
    parallel.master_print(table[0][2])
"""


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8])
def test_collectives_and_persistent_messages(n: int) -> None:
    assert sorted(run_ranks(n, COLLECTIVES).split()) == sorted(["done", *map(str, range(n))] + ["done"] * (n - 1))


@pytest.mark.parametrize(("n", "groups"), [(1, 1), (2, 2), (3, 2), (4, 2), (4, 4), (8, 3)])
def test_subgroups_act_alone_and_merge(n: int, groups: int) -> None:
    assert run_ranks(n, GROUPS, str(groups)) == f"{groups} groups\nmerged\n"


def test_random_numbers_agree_in_a_subgroup_and_the_masters_seed_counts() -> None:
    import numpy as np

    assert run_ranks(4, RANDOM) == f"{np.random.default_rng(5).integers(1000, size=3).tolist()}\n"


def test_more_subgroups_than_ranks_are_refused() -> None:
    job = start_ranks(2, "from evenly.fdtd.ranks import parallel; parallel.divide_parallel_processes(3)")
    assert job.status == 2
    assert job.errors == (
        "rank 0 of 2: `n` subgroups must be an integer from 1 to the number of ranks (2), but got 3.\n"
    )


def test_subgroups_that_do_not_fit_together_are_refused() -> None:
    script = """
        import numpy as np
        from evenly.fdtd.ranks import parallel
        number = parallel.divide_parallel_processes(2)
        parallel.merge_subgroup_data(np.zeros((1, 2 + number)))
    """
    assert "all but their first axis, but their shapes are (1, 2), (1, 3)" in start_ranks(2, script).errors


def test_messages_to_a_rank_that_does_not_exist_are_refused() -> None:
    script = """
        import numpy as np
        from evenly.fdtd.ranks import parallel
        parallel.world().exchange([(2, 0, np.zeros(1))], [])
    """
    assert "A rank to talk to must exist (0 to 1), but got 2." in start_ranks(2, script).errors


def test_messages_from_scattered_memory_are_refused() -> None:
    script = """
        import numpy as np
        from evenly.fdtd.ranks import parallel
        parallel.world().exchange([(1, 0, np.zeros((4, 4))[:, 0])], [])
    """
    assert "must be C-contiguous" in start_ranks(2, script).errors


def test_times_of_all_ranks_come_together() -> None:
    script = """
        from evenly.fdtd.ranks import parallel
        from evenly.fdtd.stepping.timing import PHASES, PhaseTimer
        world = parallel.world()
        timer = PhaseTimer()
        timer.add_cpu("fused", 1.0 + world.rank)
        timer.add_cpu("fourier", 10.0)
        assert timer.mean_time_spent_on("fused", world, "cpu") == 2.0
        assert timer.mean_time_spent_on(("fused", "fourier"), world, "cpu") == 12.0
        table = timer.table(world)
        assert [row["rank"] for row in table[::len(PHASES)]] == [0, 1, 2]
        assert [row["cpu_s"] for row in table if row["phase"] == "fused"] == [1.0, 2.0, 3.0]
        parallel.master_print("ok")
    """
    assert run_ranks(3, script) == "ok\n"


def test_waiting_leaves_the_core_to_those_who_work() -> None:
    # 6 ranks wait for one that works for a second: each may look a while and then must sleep. A rank that kept asking
    # would use a full second of CPU time, or its share of the cores; a sleeping one wakes 2000 times at most.
    script = """
        import time
        from evenly.fdtd.ranks import parallel
        world = parallel.world()
        world.barrier()
        begin = time.process_time()
        if world.rank == 0:
            time.sleep(1.0)
        world.barrier()
        spent = world.allreduce(time.process_time() - begin, "max")
        parallel.master_print(spent)
    """
    assert float(run_ranks(6, script)) < 0.3
