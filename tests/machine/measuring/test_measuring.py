"""Measuring a machine: real processes and real ranks for a moment, and what is said where they are missing."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly.errors import InputError, MissingExtraError, RunFailed
from evenly.fdtd.ranks.launching import Launcher
from evenly.machine.machine import Machine
from evenly.machine.measuring import computing, measuring, node
from evenly.machine.measuring.computing import jitter_of, memory_bandwidth, run_together
from evenly.machine.measuring.hosts import allocated_hosts, expanded
from evenly.machine.measuring.measuring import measure_machine
from evenly.machine.measuring.messages import Messages, link_of, measure_messages

ALLOCATION = ("SLURM_JOB_NODELIST", "PBS_NODEFILE", "PE_HOSTFILE", "OAR_NODEFILE", "LSB_HOSTS")


@pytest.fixture(autouse=True)
def no_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ALLOCATION:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Make up all times; return the hosts between which messages were asked for."""
    asked: list[tuple[str, ...]] = []

    def messages(hosts: tuple[str, ...] = (), **_: Any) -> Messages:
        asked.append(tuple(hosts))
        slow = 20.0 if len(hosts) == 2 else 1.0
        times = (slow * 1.00004e-6, slow * 5e-6)
        return Messages(tuple(hosts) * (2 // len(hosts)) if hosts else ("here", "here"), (8, 4096), times, times, times)

    monkeypatch.setattr(measuring, "memory_bandwidth", lambda cores, *_: 1.23456e10 * len(cores) ** 0.5)
    monkeypatch.setattr(measuring, "measure_jitter", lambda *_: 0.0123456)
    monkeypatch.setattr(measuring, "measure_messages", messages)
    monkeypatch.setattr(node, "core_numbers", lambda: [0, 1, 2, 3])
    monkeypatch.setattr(node, "busy_cores", lambda: 0.0)
    return asked


def test_two_real_ranks_send_messages() -> None:
    found = measure_messages(seconds=0.002, sizes=(8, 4096, 65536))
    assert len(found.hosts) == 2
    assert len(set(found.hosts)) == 1
    assert found.sizes == (8, 4096, 65536)
    assert all(
        0 < low <= middle <= high for low, middle, high in zip(found.lower, found.seconds, found.upper, strict=True)
    )
    assert found.link.seconds(found.sizes) == pytest.approx(found.seconds)


def test_real_processes_compute_together() -> None:
    core = node.core_numbers()[0]
    # Two on one core: it must work, whatever it tells.
    times = run_together("piece", [core, core], 0.01, 1e-3)
    assert len(times) == 2
    assert all(len(own) >= 5 and min(own) > 0 for own in times)
    assert memory_bandwidth([core], 2**20, 0.01) > 1e6


def test_a_process_that_fails_is_told_and_none_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RunFailed, match="measuring the piece failed on one of 1 cores: ValueError"):
        run_together("piece", [0], 0.01, "much")  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(RunFailed, match="it was killed"):
        run_together("triad", [0, 0], 0.01, 100)


def test_all_is_measured_and_rounded(quick: list[tuple[str, ...]]) -> None:
    done: list[float] = []
    found = measure_machine("mine", progress=lambda _text, fraction: done.append(fraction))
    machine = found.machine
    assert (machine.name, machine.nodes, machine.cores_per_node) == ("mine", 1, 4)
    assert (machine.memory_bytes_per_s_per_core, machine.memory_bytes_per_s_per_node) == (1.235e10, 2.469e10)
    assert machine.jitter == 0.01235
    assert machine.within_node is not None
    assert machine.within_node.message_s == (1e-6, 5e-6)
    assert machine.between_nodes is None
    assert found.left_out == (
        "messages between nodes: give two hosts with --hosts a,b, or measure within an allocation",
    )
    assert (done, found.remarks) == (sorted(done), ())
    assert done[-1] == 1.0


def test_hosts_are_timed_too(quick: list[tuple[str, ...]]) -> None:
    found = measure_machine(hosts=("a", "b"))
    assert quick == [(), ("a", "b")]
    assert found.left_out == ()
    assert found.machine.between_nodes is not None
    assert found.machine.between_nodes.latency_s == 2e-5
    assert found.machine.nodes == 2


def test_an_allocation_is_found(quick: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-3]")
    monkeypatch.setattr(platform, "node", lambda: "n2.cluster")
    found = measure_machine()
    assert quick == [("n2",), ("n1", "n2")]
    assert (found.machine.name, found.machine.nodes) == ("n2", 3)


@pytest.mark.parametrize("hosts", [("a",), ("a", "a"), ("a", "b", "c"), ("a", "")])
def test_hosts_must_be_two(hosts: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="hosts must be two different ones, as a,b"):
        measure_machine(hosts=hosts)


def test_without_mpi_the_rest_goes_on(quick: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> Messages:
        raise MissingExtraError("Starting several ranks", extra="mpi")

    monkeypatch.setattr(measuring, "measure_messages", missing)
    found = measure_machine()
    assert found.machine.jitter > 0
    assert found.machine.within_node is None
    assert found.left_out[0].startswith("messages within a node: Starting several ranks needs packages")
    assert "pip install 'evenly[mpi]'" in found.left_out[0]


def test_one_core_has_nobody_to_talk_to(quick: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "core_numbers", lambda: [5])
    monkeypatch.setattr(node, "busy_cores", lambda: 0.9)
    found = measure_machine()
    assert quick == []
    assert "there is one core" in found.left_out[0]
    assert "0.9 of 1 cores were busy" in found.remarks[0]
    assert found.machine.memory_bytes_per_s_per_core == found.machine.memory_bytes_per_s_per_node


def test_ranks_at_the_wrong_place_are_told(quick: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    times = (1e-6, 2e-6)
    monkeypatch.setattr(
        measuring, "measure_messages", lambda *_, **__: Messages(("a", "b"), (8, 16), times, times, times)
    )
    found = measure_machine()
    assert found.machine.within_node is None
    assert "must place the ranks on 1 host, but they ran on a and b" in found.left_out[0]


def test_a_rank_measures_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setenv("PMI_SIZE", "2")
    with pytest.raises(InputError, match="start it alone"):
        measure_machine()


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("hydra", "run -hosts a,b -ppn 1 -n 2 solve"),
        ("openmpi", "run --host a:1,b:1 -n 2 solve"),
        ("srun", "run --nodelist=a,b --nodes=2 --ntasks-per-node=1 -n 2 solve"),
    ],
)
def test_every_launcher_is_told_of_hosts_in_its_own_words(kind: str, told: str) -> None:
    launcher = Launcher("run", kind)
    assert " ".join(launcher.command(2, ["solve"], cores=1, hosts=("a", "b"))) == told
    assert "2" in " ".join(launcher.command(2, ["solve"], cores=1, hosts=("a",))).partition("-n 2")[0]


def test_a_launcher_that_cannot_be_told_of_hosts() -> None:
    assert Launcher("run", "other").command(2, ["solve"]) == ["run", "-n", "2", "solve"]
    with pytest.raises(InputError, match="run is none of them: set EVENLY_MPIEXEC"):
        Launcher("run", "other").command(2, ["solve"], hosts=("a", "b"))


def test_lists_of_hosts(tmp_path: Path) -> None:
    assert expanded("n[9-11,20],login") == ["n9", "n10", "n11", "n20", "login"]
    assert allocated_hosts({}) == []
    file = tmp_path / "nodes"
    file.write_text("a 4 all.q\na 4 all.q\n\nb 4 all.q\n")
    assert allocated_hosts({"PBS_NODEFILE": str(file)}) == ["a", "b"]
    assert allocated_hosts({"PE_HOSTFILE": str(tmp_path / "none")}) == []


def test_jitter_is_no_matter_of_outliers_or_of_slow_cores() -> None:
    # For n = 4000 normal times the 15.87 % and 84.13 % quantiles each have the standard error
    # sqrt(p (1-p) / n) / density = 0.366 / 63.2 / 0.242 = 0.024 σ, and half their difference less: 4 of them are 10 %.
    rng = np.random.default_rng(1)
    fast, slow = (scale * (1 + 0.03 * rng.standard_normal(2000)) for scale in (1e-3, 2e-3))
    slow[:5] = 1.0
    assert jitter_of([fast, slow]) == pytest.approx(0.03, rel=0.1)


def test_the_bandwidth_is_that_of_what_large_messages_move_beyond_smaller_ones() -> None:
    sizes = [2**power for power in range(3, 23)]
    # 2 µs and 5 GB/s, exactly: the slope is the bandwidth, up to rounding.
    link = link_of(sizes, [2e-6 + size / 5e9 for size in sizes])
    assert link.bytes_per_s == pytest.approx(5e9, rel=1e-12)
    assert link.latency_s == pytest.approx(2e-6, rel=1e-2)
    # Noise made the largest message the faster one.
    assert link_of([8, 16, 64], [1e-6, 9e-6, 8e-6]).bytes_per_s == 64 / 8e-6


def test_hardware_threads_of_a_core_count_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, core in enumerate((0, 0, 1, 1)):
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "core_id").write_text(f"{core}\n")
        (folder / "physical_package_id").write_text("0\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3, 7}, raising=False)
    monkeypatch.setattr(node, "available_cores", lambda: 5)
    # Of processor 7 nothing is told, so it counts as a core.
    assert node.core_numbers(tmp_path) == [0, 2, 7]
    monkeypatch.setattr(node, "available_cores", lambda: 2)
    assert node.core_numbers(tmp_path) == [0, 2]


def test_caches_and_memory(tmp_path: Path) -> None:
    for level, size in enumerate(("32K", "1024K", "32M", "odd")):
        (tmp_path / f"cpu0/cache/index{level}").mkdir(parents=True)
        (tmp_path / f"cpu0/cache/index{level}/size").write_text(f"{size}\n")
    assert node.cache_bytes(tmp_path) == 32 * 2**20
    assert node.cache_bytes(tmp_path / "none") == 32 * 2**20
    (tmp_path / "max").write_text("1000000\n")
    assert node.memory_bytes([tmp_path / "max"]) == 1e6
    (tmp_path / "max").write_text("max\n")
    assert (node.memory_bytes([tmp_path / "max"]) or 0) > 1e6


def test_arrays_are_beyond_the_cache_and_fit_into_memory() -> None:
    cache = 32 * 2**20
    for cores in (1, 2, 64):
        assert cores * computing.array_bytes(cores, cache, None) >= 4 * cache
        assert cores * 3 * computing.array_bytes(cores, cache, 2**30) <= 2**30 / 4


def test_a_machine_that_was_measured_is_one_that_files_hold(quick: list[tuple[str, ...]], tmp_path: Path) -> None:
    machine = measure_machine(hosts=("a", "b")).machine
    machine.save(tmp_path / "machine.toml")
    assert Machine.load(tmp_path / "machine.toml") == machine
