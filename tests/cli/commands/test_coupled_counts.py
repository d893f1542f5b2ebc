"""``evenly allocate --coupled``: what makes the cores of the solvers' own runs makes those of the coupled runs, too."""

from __future__ import annotations

import pytest

from tests.cli.commands.test_allocate_coupled import COUNTS, LAW, SHARES, table
from tests.cli.conftest import Evenly

ASKED = ("allocate", "runs.csv", "--coupled", "coupled.csv", "--cores", "600", *LAW)


def curves(atm: str, ocn: str, header: str = "component,ranks,threads,time_s", *, each: int = 2) -> None:
    """Write curves of 6000 and 2400 core-seconds; the ranks of atm have `each` cores."""
    rows = [f"atm,{p // each},{atm}{6000 / p:.4f}" for p in COUNTS] + [f"ocn,{p},{ocn}{2400 / p:.4f}" for p in COUNTS]
    table("runs.csv", header, rows)


def coupled(counts: str, *, each: int = 2, more: str = "", cells: str = "") -> None:
    """Write coupled runs that take 13 % longer than the curves, with the ranks of atm."""
    rows = [f"{a // each},{o},{cells}{1.13 * max(6000 / a, 2400 / o):.4f}" for a, o in SHARES]
    table("coupled.csv", f"atm_{counts},ocn_{counts},{more}time_s", rows)


def is_right(found: dict[str, float]) -> bool:
    return bool(found["seconds"] == pytest.approx(1.13 * 8400 / 600, rel=0.1))


def test_ranks_in_coupled_runs_have_the_threads_of_the_plan(evenly: Evenly) -> None:
    curves("2,", "1,")
    coupled("ranks")
    found = evenly(*ASKED, "--cores-are", "ranks * threads", "--json")
    assert found.code == 0, found.err
    assert is_right(found.json)
    said = " ".join(found.err.split())
    assert "the cores of atm are ranks * threads: atm_ranks for ranks, 2 for threads, as in the plan" in said


def test_ranks_in_coupled_runs_have_the_threads_of_their_column(evenly: Evenly) -> None:
    curves("2,", "1,")
    coupled("ranks", more="atm_threads,", cells="2,")
    found = evenly(*ASKED, "--cores-are", "ranks * threads", "--json")
    assert is_right(found.json)
    assert "atm_ranks for ranks, atm_threads for threads" in " ".join(found.err.split())


def test_tasks_in_coupled_runs_have_the_cores_that_the_user_says(evenly: Evenly) -> None:
    rows = [f"{name},{p // 2},{work / p:.4f}" for name, work in (("atm", 6000), ("ocn", 2400)) for p in COUNTS]
    table("runs.csv", "component,ntasks,time_s", rows)
    table("coupled.csv", "atm_ntasks,ocn_ntasks,time_s", [
        f"{a // 2},{o // 2},{1.13 * max(6000 / a, 2400 / o):.4f}" for a, o in SHARES
    ])  # fmt: skip
    for words in (ASKED, ("allocate", "--coupled", "coupled.csv", "--layout", "max(atm, ocn)", "--cores", "600")):
        found = evenly(*words, "--cores-are", "ntasks * 2", "--json")
        assert found.code == 0, found.err
        assert is_right(found.json)
    coupled("cores", each=1)
    refused = evenly(*words, "--cores-are", "ntasks * 2")
    assert (refused.code, "is about ranks, but coupled.csv has atm_cores" in " ".join(refused.err.split())) == (2, True)
    assert is_right(evenly(*ASKED, "--cores-are", "ntasks * 2", "--json").json)


def test_threads_that_a_plan_decides_are_asked_for(evenly: Evenly) -> None:
    rows = [f"atm,{p // t},{t},{6000 / p * (1 + t / 50):.4f}" for p in COUNTS for t in (1, 2, 4)]
    table("runs.csv", "component,ranks,threads,time_s", [*rows, *(f"ocn,{p},1,{2400 / p:.4f}" for p in COUNTS)])
    coupled("ranks")
    asked = evenly(*ASKED, "--cores-are", "ranks * threads")
    assert (asked.code, "add it in a column atm_threads" in asked.err) == (2, True)


def test_ranks_beside_cores_are_said_to_be_taken_as_such(evenly: Evenly) -> None:
    curves("", "", "component,cores,time_s", each=1)
    coupled("ranks", each=1)
    found = evenly(*ASKED, "--json")
    assert is_right(found.json)
    assert "the cores of atm are taken to be one for each of atm_ranks" in " ".join(found.err.split())
