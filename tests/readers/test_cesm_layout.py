"""Layouts of CESM and E3SM by the tasks of their components, against the time of the whole run."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.readers.cesm_layout import Placed, agreed, layout_of
from evenly.readers.scanning import scan

HEAD = "---------------- TIMING PROFILE ---------------------\n  run_length  : 10 days (9 for ocean)\n"
CONCURRENT = "max(max(lnd, ice) + atm + cpl, ocn)"


def timing(components: dict[str, tuple[int, int, int, float]], total: float, cores: int | None = None) -> str:
    """Return a timing file of components with their tasks, threads, first task and seconds, and the run's cores."""
    rows = [
        f"  {name} = x{name}  {tasks * threads}  {root}  {tasks}  x {threads}  1  (1  )"
        for name, (tasks, threads, root, _) in components.items()
    ]
    rows += [] if cores is None else [f"  pe count for cost estimate : {cores} "]
    seconds = {"tot": total, **{name: time for name, (*_, time) in components.items()}}
    rows += [
        f"  {name.upper()} Run Time:  {time:.3f} seconds  {time / 10:.3f} seconds/mday  {2365.7 / time:.2f} myears/wday"
        for name, time in seconds.items()
    ]
    return HEAD + "\n".join([*rows, ""])


def hybrid(scale: float, threads: int = 1, total: float | None = None) -> str:
    """Return the timing file of an ocean beside an atmosphere, before which ice and land run side by side."""
    n = int(8 * scale)
    seconds = {"cpl": 80.0, "atm": 400.0, "lnd": 90.0, "ice": 150.0, "ocn": 600.0}
    places = {"cpl": (4 * n, 0), "atm": (4 * n, 0), "lnd": (2 * n, 0), "ice": (2 * n, 2 * n), "ocn": (n, 4 * n)}
    rows = {name: (tasks, threads, root, seconds[name] / scale) for name, (tasks, root) in places.items()}
    return timing(rows, 640 / scale if total is None else total)


def test_the_layout_is_that_of_the_tasks(tmp_path: Path) -> None:
    for scale in (1, 2, 4):
        (tmp_path / f"cesm_timing.{scale}").write_text(hybrid(scale, threads=2))
    found = scan(tmp_path)
    assert found.layout == CONCURRENT.replace("atm + cpl", "cpl + atm")
    assert found.cores_per_task == found.threads == dict.fromkeys(("atm", "cpl", "ice", "lnd", "ocn"), 2)
    assert "makes 98 % of TOT Run Time" in found.notes[-1]


def test_a_layout_that_does_not_explain_the_run_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "cesm_timing.1").write_text(hybrid(1, total=1200))
    found = scan(tmp_path)
    assert found.layout is None
    assert "makes 52 % of TOT Run Time, so that it isn't taken" in found.notes[-1]


def test_layouts_that_differ_are_said(tmp_path: Path) -> None:
    (tmp_path / "cesm_timing.1").write_text(hybrid(1))
    (tmp_path / "cesm_timing.2").write_text(timing({"atm": (8, 1, 0, 40.0), "ocn": (8, 1, 0, 60.0)}, 101.0))
    found = scan(tmp_path)
    assert found.layout is None
    assert "different layouts by root_pe, so none is taken" in found.notes[-1]
    assert "atm" not in found.threads or found.threads["atm"] == 1


def test_tasks_with_a_stride_leave_out_those_between(tmp_path: Path) -> None:
    """Land has the even tasks and ice the odd ones: they run side by side."""
    text = timing({"atm": (8, 1, 0, 40.0), "lnd": (4, 1, 0, 20.0), "ice": (4, 1, 1, 15.0)}, 61.0)
    for name, root in (("lnd", 0), ("ice", 1)):
        text = text.replace(f"x{name}  4  {root}  4  x 1  1  (1  )", f"x{name}  4  {root}  4  x 1  1  (2  )")
    (tmp_path / "cesm_timing.1").write_text(text)
    found = scan(tmp_path)
    assert found.layout == "max(lnd, ice) + atm"
    assert "the tasks of ice, lnd were measured with a stride (PSTRID)" in found.notes[-1]


def test_tasks_that_form_a_chain_have_no_layout() -> None:
    chain = {"a": range(4), "b": range(2, 8), "c": range(6, 12), "d": range(10, 14)}
    assert layout_of(chain, {}) is None
    assert agreed([Placed(Path("a"), None, None, {})])[0] is None
    assert layout_of({"a": range(4), "e": range(20, 24), **chain}, {}) is None


@pytest.mark.parametrize(
    ("file", "layout", "share"),
    [
        ("single.8", CONCURRENT, 0.979),
        ("dual.64", CONCURRENT, 0.948),
    ],
)
def test_real_files_of_cesm(strangers: Path, file: str, layout: str, share: float) -> None:
    found = scan(strangers / "2-coupled" / "cesm-das4-jungle" / file)
    assert found.layout == layout
    assert found.placed[0].share == pytest.approx(share, abs=1e-3)


def test_a_real_file_of_all_components(samples: Path) -> None:
    found = scan(samples / "cesm" / "cesm_timing.b.e20.BHIST.f09_g17.cheyenne.txt")
    assert found.layout == "max(max(lnd + rof, ice) + cpl + atm + glc, ocn, wav)"
    assert found.placed[0].share == pytest.approx(0.995, abs=1e-3)
    assert set(found.threads.values()) == {3}


@pytest.mark.parametrize(
    ("cores", "kept"),
    [
        (288, {"atm": 4, "ice": 4, "ocn": 2}),  # those of the threads on each place, 64 * 4 + 16 * 2
        (320, {"atm": 4, "ice": 4, "ocn": 4}),  # 80 tasks of 4 cores
        (None, {"atm": 4, "ice": 4, "ocn": 4}),
        (144, {"atm": 4, "ice": 4, "ocn": 4}),  # two threads on each core
    ],
)
def test_tasks_keep_the_cores_that_the_cost_of_the_run_tells(
    tmp_path: Path, cores: int | None, kept: dict[str, int]
) -> None:
    rows = {"atm": (64, 4, 0, 400.0), "ice": (64, 1, 0, 100.0), "ocn": (16, 2, 64, 450.0)}
    (tmp_path / "cesm_timing.1").write_text(timing(rows, 510.0, cores))
    found = scan(tmp_path)
    assert {name: runs.configurations["cores"].tolist() for name, runs in found.runs.items()} == {
        "atm": [256], "ice": [64], "ocn": [32],
    }  # fmt: skip
    assert found.threads == {"atm": 4, "ice": 1, "ocn": 2}
    assert found.cores_per_task == kept
