"""Which parameters are the cores: what a name says unmistakably is taken, anything else is asked for."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from evenly import Categorical, Integer, Space
from evenly.errors import InputError
from evenly.runs.cores import constants, find_cores


def space(**ranges: tuple[int, int]) -> Space:
    return Space.of({name: Integer(*ends) for name, ends in ranges.items()})


def test_a_name_that_says_cores_is_taken_wherever_it_stands() -> None:
    for name in ("cores", "ncores", "cpus", "Number of cores"):
        found = find_cores(space(**{"grid": (1, 9), name: (1, 64), "ranks": (1, 64)}))
        assert found.names == (name,)
        assert found.said == ""


def test_ranks_alone_are_taken_and_that_is_said() -> None:
    for name in ("ranks", "np", "nproc", "mpi_ranks", "tasks", "procs"):
        found = find_cores(space(grid=(1, 9), **{name: (1, 64)}, nodes=(2, 2), threads=(1, 1)))
        assert found.names == (name,)
        assert f"one for each of {name}" in found.said


@pytest.mark.parametrize(
    ("ranges", "proposal"),
    [
        ({"nodes": (1, 8), "tasks_per_node": (24, 48), "grid": (1, 9)}, "'nodes * tasks_per_node'"),
        ({"nodes": (1, 8), "grid": (1, 9)}, "'nodes * 48'"),
        ({"ranks": (1, 8), "threads": (1, 4)}, "'ranks * threads'"),
        # Four threads of each rank make four times as many cores, though they never varied.
        ({"ranks": (1, 8), "threads": (4, 4)}, "'ranks * threads'"),
        ({"Processes": (1, 8), "Threads/process": (1, 4)}, "'Processes * `Threads/process`'"),
        ({"ranks": (1, 8), "gpus": (1, 4)}, "ranks"),
        ({"ranks": (1, 8), "tasks": (1, 4)}, "tasks"),
        ({"cores": (1, 48), "nodes": (1, 4)}, "'nodes * cores'"),
        ({"grid": (1, 9), "p": (1, 9)}, "grid"),
        ({"threads": (1, 9)}, "threads"),
    ],
)
def test_what_is_open_is_asked_for_with_a_proposal(ranges: dict[str, tuple[int, int]], proposal: str) -> None:
    with pytest.raises(InputError, match=r"--cores-are") as refused:
        find_cores(space(**ranges))
    assert proposal in str(refused.value)
    assert ("with the cores of your nodes for 48" in str(refused.value)) == ("48'" in proposal)


def test_cores_beside_nodes_are_of_all_nodes_if_each_node_has_as_many() -> None:
    both = space(nodes=(1, 4), cores=(48, 192))
    nodes = np.array([1, 2, 4])
    assert find_cores(both, measured=pd.DataFrame({"nodes": nodes, "cores": 48 * nodes})).text == "cores"
    with pytest.raises(InputError, match="nodes"):
        find_cores(both, measured=pd.DataFrame({"nodes": nodes, "cores": [48, 48, 192]}))


def test_cores_beside_nodes_of_several_sizes_are_of_all_nodes_if_each_size_stands_on_several() -> None:
    both = space(nodes=(1, 4), cores=(36, 512))
    told = pd.DataFrame({"nodes": [1, 2, 4, 1, 2, 4], "cores": [36, 72, 144, 128, 256, 512]})
    assert find_cores(both, measured=told).text == "cores"
    grid = pd.DataFrame({"nodes": [1, 1, 1, 2, 2, 2], "cores": [16, 32, 64, 16, 32, 64]})
    with pytest.raises(InputError, match="nodes \\* cores"):
        find_cores(both, measured=grid)


def test_an_expression_says_it_and_must_name_parameters() -> None:
    found = find_cores(space(nodes=(1, 8), ppn=(1, 48)), "nodes * ppn")
    assert found.of({"nodes": [1, 2], "ppn": [24, 48]}, 2).tolist() == [24, 96]
    for wrong in ("nodse * ppn", "4 * 48", "nodes *"):
        with pytest.raises(InputError):
            find_cores(space(nodes=(1, 8), ppn=(1, 48)), wrong)


@pytest.mark.parametrize(
    "name",
    [
        "# nodes (48 cores each)",
        "Knoten zu 48 Kernen",
        "nodes @ 48 cores",
        "nodes [2x24 cores]",
        "ranks (48 cores each)",
    ],
)
def test_a_name_that_tells_the_cores_of_each_node_tells_the_cores(name: str) -> None:
    found = find_cores(space(**{name: (1, 8)}))
    assert found.of({name: [1, 2]}, 2).tolist() == [48, 96]
    assert f"`{name}` * 48 (--cores-are says otherwise)" in found.said


@pytest.mark.parametrize("name", ["total threads", "vCPUs", "Total vCPU"])
def test_what_may_share_a_core_is_taken_and_that_is_said(name: str) -> None:
    assert f"one for each of {name}" in find_cores(space(**{name: (1, 8)})).said


def test_a_total_is_that_of_all_nodes() -> None:
    several = pd.DataFrame({"nodes": [1, 2, 2], "total cores": [96, 192, 128]})
    assert find_cores(space(nodes=(1, 2), **{"total cores": (96, 192)}), measured=several).text == "`total cores`"


def test_constants_are_what_never_varied() -> None:
    every = Space(cores=Integer(1, 8), level=Integer(3, 3), solver=Categorical("cg"))
    assert constants(every) == {"level": 3, "solver": "cg"}


def test_cores_that_are_labels_are_refused() -> None:
    labels = Space.of({"CPUs": Categorical("8 CPUs", "16 CPUs")})
    with pytest.raises(InputError, match="'CPUs' counts cores by its name, but holds labels such as '8 CPUs'"):
        find_cores(labels)


@pytest.mark.parametrize(
    ("names", "product"),
    [(("px", "py"), "px * py"), (("MPI", "grid", "OMP"), "MPI * OMP"), (("P", "Q", "NB"), "P * Q")],
)
def test_products_of_processes_are_proposed(names: tuple[str, ...], product: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"--cores-are '{product}'")):
        find_cores(space(**dict.fromkeys(names, (1, 8))))
