"""Rehearsals of small cells: what is timed, what is kept, what a second start does."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from evenly.decomposition.forecasting.lone_rank_timing import lone_rank
from evenly.decomposition.forecasting.rehearsal import Rehearsal, RehearsalStore, Setting, rehearse
from evenly.decomposition.forecasting.training_data import gather, real_settings, training_settings
from evenly.errors import InputError, ReadError
from evenly.fdtd import Block, Medium
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.machine.machine import Machine
from tests.decomposition.forecasting.planted import COST


@pytest.fixture(scope="module")
def found() -> Rehearsal:
    return rehearse(Setting("random", {"points": 2e4, "seed": 3}, 6), COST, most=3)


def test_the_slowest_half_and_others_are_timed(found: Rehearsal) -> None:
    assert len(found.timed) == 3
    assert set(np.argsort(-found.load.seconds, kind="stable")[:2]) <= set(found.timed)
    assert found.seconds.shape == (6,)
    # An order of magnitude, whatever else the machine does.
    assert np.all((found.seconds / found.load.seconds > 0.1) & (found.seconds / found.load.seconds < 10))


def test_a_replay_takes_longer_than_its_slowest_rank(found: Rehearsal) -> None:
    machine = Machine.load("infiniband")
    step = found.replay(machine)
    assert step.step_s > step.computation_s >= found.seconds.max()
    inputs = found.inputs(machine)
    assert inputs["ranks"] == 6
    assert inputs["surface"] == found.messages.faces.max()
    assert 0 < inputs["share of pml"] < 1


def test_a_store_gives_back_what_was_kept(found: Rehearsal, tmp_path: Path) -> None:
    with RehearsalStore(tmp_path / "r.db", COST) as store:
        store.add(found)
        store.add(found)
        assert len(store) == 1
        assert found.setting in store
        again = next(iter(store))
    assert again.setting.key == found.setting.key
    assert again.traits == found.traits
    np.testing.assert_array_equal(again.seconds, found.seconds)
    np.testing.assert_array_equal(again.messages.receiver, found.messages.receiver)
    np.testing.assert_allclose(again.load.profile, found.load.profile, atol=1e-7)


def test_rehearsals_with_other_costs_are_not_seen(found: Rehearsal, tmp_path: Path) -> None:
    with RehearsalStore(tmp_path / "r.db", COST) as store:
        store.add(found)
    with RehearsalStore(tmp_path / "r.db", replace(COST, when="2000-01-01")) as other:
        assert len(other) == 0
        assert found.setting not in other


def test_another_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "r.db").write_text("not a database " * 100)
    with pytest.raises(ReadError, match="rehearsals"):
        RehearsalStore(tmp_path / "r.db", COST)


def test_files_of_another_version_are_said(found: Rehearsal, tmp_path: Path) -> None:
    with RehearsalStore(tmp_path / "r.db", COST) as store:
        store.add(found)
    base = sqlite3.connect(tmp_path / "r.db")
    with base:
        base.execute("UPDATE rehearsals SET version = 99")
    base.close()
    with RehearsalStore(tmp_path / "r.db", COST) as store, pytest.raises(ReadError, match="version 99"):
        list(store)


@pytest.mark.slow
def test_gathering_goes_on_where_it_stopped(tmp_path: Path) -> None:
    settings = [Setting("random", {"points": 1.5e4, "seed": seed}, 2) for seed in range(3)]
    wrong = Setting("random", {"points": 1.5e4, "seed": 0, "silicon": 0.9, "dielectric": 0.9}, 2)
    heard: list[str] = []
    how = partial(rehearse, most=1)
    assert gather(settings[:2], tmp_path / "r.db", COST, how=how) == 2
    assert gather([*settings, wrong], tmp_path / "r.db", COST, how=how, told=lambda *told: heard.append(told[2])) == 1
    assert sum("must fit beside each other" in why for why in heard) == 1
    assert gather(settings, tmp_path / "r.db", COST) == 0


@pytest.mark.slow
def test_no_rehearsal_begins_when_time_is_up(tmp_path: Path) -> None:
    assert gather(training_settings(2), tmp_path / "r.db", COST, seconds=-1) == 0


def test_draws_are_reproducible_and_go_on() -> None:
    whole = [setting.key for setting in training_settings(6, seed=5)]
    assert whole == [setting.key for setting in training_settings(6, seed=5)]
    assert whole[4:] == [setting.key for setting in training_settings(2, seed=5, first=4)]
    assert len(set(whole)) == 6


def test_a_lone_rank_steps_off_diagonal_media_without_the_others() -> None:
    tilted = Medium(epsilon=(3, 2, 2.5), epsilon_off_diagonal=(0.3, 0, 0))
    keywords = {"cell": (2, 1, 1), "resolution": 8, "geometry": [Block(size=(1, 0.6, 0.6), material=tilted)]}
    sim = lone_rank(keywords, BinaryPartition([("x", 0.0), 0, 1]), 1, 2, [])
    sim.step()
    assert [chunk.box.lo for chunk in sim.chunks] == [(8, 0, 0)]


def test_real_ranks_are_of_the_same_schema(tmp_path: Path) -> None:
    setting = Setting("random", {"points": 1.5e4, "seed": 3}, 2, "mpi")
    alone, real = rehearse(replace(setting, source="alone"), COST), rehearse(setting, COST)
    assert setting.key != replace(setting, source="alone").key
    assert real.timed.tolist() == [0, 1]
    assert np.all(real.seconds > 0)
    # The same layout, load and messages; only the timings are others.
    assert real.traits == alone.traits
    np.testing.assert_array_equal(real.load.profile, alone.load.profile)
    np.testing.assert_array_equal(real.messages.size, alone.messages.size)
    with RehearsalStore(tmp_path / "r.db", COST) as store:
        store.add(real)
        (kept,) = store
    assert kept.setting == setting
    np.testing.assert_array_equal(kept.seconds, real.seconds)
    wrong = Setting("random", {"points": 1.5e4, "seed": 3, "silicon": 0.9, "dielectric": 0.9}, 2, "mpi")
    with pytest.raises(InputError):
        rehearse(wrong, COST)


def test_real_settings_fit_this_machine() -> None:
    settings = real_settings(12, most_ranks=4)
    assert all(setting.source == "mpi" and 1 <= setting.ranks <= 4 for setting in settings)
    assert len({setting.key for setting in settings}) == 12
    assert settings[:3] == real_settings(3, most_ranks=4)
