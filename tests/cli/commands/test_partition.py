"""``evenly partition``: tiny cells, cut with costs that the test wrote; what goes wrong is said once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly.cli.cell_input import imported_by
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import Coefficient, CostModel, program_named
from evenly.decomposition.partitioning.predict import predict
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from tests.adapters.meep.conftest import meep_python as meep_python
from tests.cli.conftest import Evenly

SMALL = ("--resolution", "20", "--size", "0.4", "--set", "absorber=0.2", "--set", "pml=0.2", "--set", "glass=0.5")
SCRIPT = """
from evenly.fdtd import PML, Block, Flux, Simulation
from evenly.fdtd.media.library import medium

def simulation(resolution=10, width=4.0, **keywords):
    metal = Block(size=(1, 2, 0), center=(-width / 2 + 0.5, 0, 0), material=medium("silver"))
    return Simulation(cell=(width, 2, 0), resolution=resolution, geometry=[metal], **keywords)

def monitors():
    return [Flux((0, 0), (0.5, 0.5), [0.9, 1.1])]
"""
MEEP_SCRIPT = """
import sys
import meep as mp

silver = mp.Medium(epsilon=1, E_susceptibilities=[mp.DrudeSusceptibility(frequency=1, gamma=0.1, sigma=50)])
sim = mp.Simulation(
    cell_size=mp.Vector3(4, 2), geometry_center=mp.Vector3(1, 0), resolution=int(sys.argv[1]),
    boundary_layers=[mp.PML(0.5)], sources=[mp.Source(mp.GaussianSource(1, fwidth=0.2), mp.Ez, mp.Vector3(1))],
    geometry=[mp.Block(mp.Vector3(1, 2), center=mp.Vector3(-0.5), material=silver)],
)
sim.run(until=1)
"""
#: Values of one kind are all that takes time.
COST = CostModel(
    "fdtd",
    {"nonlinear values": Coefficient(1e-9)},
    share_error=0.01,
    machine="a machine of tests",
)


@pytest.fixture
def here(evenly: Evenly) -> Evenly:
    """The command line in a folder with costs, a script, and a cell half of whose work lies in a quarter of it."""
    COST.save("cost.json")
    points = {"nonlinear values": Coefficient(1e-9), "points": Coefficient(1e-9)}
    CostModel("fdtd", points, share_error=0.01).save("points.json")
    Path("mine.py").write_text(SCRIPT)
    lopsided().save("cell.npz")
    return evenly


def lopsided(program: str = "fdtd") -> Cell:
    """40 points, the first ten with three values each, the others with one."""
    blocks = np.array([30.0, 30.0]).reshape(2, 1, 1, 1)
    survey = Survey.of_blocks(((0, 10, 40), (0, 1), (0, 1)), ("nonlinear values",), blocks)
    return Cell(program, Grid((4.0, 0.0, 0.0), 10), survey, name="lopsided")


def _cut(evenly: Evenly, *arguments: str | Path) -> Any:
    cost = "cost.json" if str(arguments[0]).endswith(".npz") else "points.json"
    shown = evenly("partition", *arguments, "--cost", cost, "--json")
    assert shown.code == 0, shown.err
    return shown.json


def test_a_cell_is_cut_where_half_of_the_work_lies(here: Evenly) -> None:
    """Of 60 values, 30 are at the first ten points."""
    told = _cut(here, "cell.npz", "--ranks", "2", "--algorithm", "bisection")
    assert told["chosen"] == "balanced"
    assert [chunk["high"][0] for rank in told["per_rank"] for chunk in rank["chunks"]] == [10, 40]
    assert told["owners"] == [0, 1]
    assert told["points"] == 40
    predicted = predict(lopsided(), BinaryPartition(told["layout"]), 2, COST)
    assert told["seconds_per_step"] == pytest.approx(predicted.step_s)
    assert told["imbalance"] == pytest.approx(predicted.imbalance)
    seconds = [rank["seconds"] for rank in told["per_rank"]]
    np.testing.assert_allclose(seconds, predicted.rank_s)
    assert told["gain_over_even"] == pytest.approx(told["cuts"]["equal volumes"]["seconds_per_step"] / max(seconds))
    assert told["speedup"] == pytest.approx(told["serial_seconds_per_step"] / max(seconds))
    assert told["efficiency"] == pytest.approx(told["speedup"] / 2)
    assert told["cost"]["source"] == "file"


def test_costs_that_leave_out_work_of_the_cell_say_so(here: Evenly) -> None:
    done = here("partition", "cell.npz", "--ranks", "2", "--cost", "cost.json")
    assert done.code == 0, done.err
    assert "predicted too fast: this cell has work that the costs leave out (points, rows, chunks and" in done.err


def test_a_layout_is_saved_before_anything_is_printed(here: Evenly, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_done: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("evenly.cli.commands.partition._show", broken)
    with pytest.raises(BrokenPipeError):
        here("partition", "cell.npz", "--ranks", "2", "--cost", "cost.json", "-o", "layout.json")
    assert Path("layout.json").exists()


def test_tables_say_what_each_rank_gets_and_why(here: Evenly) -> None:
    shown = here("partition", "cell.npz", "--ranks", "2", "--cost", "cost.json")
    assert shown.code == 0, shown.err
    assert "lopsided: 40 × 1 × 1 = 40 points on 2 ranks" in shown.out
    assert "10×1×1" in shown.out
    assert "30×1×1" in shown.out
    assert "equal volumes" in shown.out
    assert "the answer is the balanced cut" in shown.out
    assert "costs were measured on a machine of tests" in shown.err


def test_the_time_of_a_step_has_an_interval_as_wide_as_the_costs_were_off(here: Evenly) -> None:
    """Half-width of the logarithm: 0.04 · √(π/2) · 1.645, from a mean absolute error of 4 %."""
    replace(COST, time_error=0.04).save("cost.json")
    told = _cut(here, "cell.npz", "--ranks", "2")
    half = 0.04 * np.sqrt(np.pi / 2) * 1.6448536
    assert told["lower_seconds_per_step"] == pytest.approx(told["seconds_per_step"] * np.exp(-half))
    assert told["upper_seconds_per_step"] == pytest.approx(told["seconds_per_step"] * np.exp(half))
    shown = here("partition", "cell.npz", "--ranks", "2", "--cost", "cost.json")
    assert "s per step, if each rank has the memory of a node to itself: evenly predict --simulation" in shown.out
    assert shown.out.count("if each rank has the memory") == 1
    alone = here("partition", "cell.npz", "--ranks", "1", "--cost", "cost.json")
    assert "90 %:" in alone.out
    assert "memory of a node" not in alone.out


def test_even_is_the_answer_where_nothing_is_gained(here: Evenly) -> None:
    survey = Survey.of_blocks(((0, 40), (0, 1), (0, 1)), ("nonlinear values",), np.full((1, 1, 1, 1), 40.0))
    Cell("fdtd", Grid((4.0, 0.0, 0.0), 10), survey, name="vacuum").save("vacuum.npz")
    told = _cut(here, "vacuum.npz", "--ranks", "4")
    assert told["chosen"] == "even"
    assert told["gain_over_even"] == 1
    shown = here("partition", "vacuum.npz", "--ranks", "4", "--cost", "cost.json")
    assert "the answer is chunks of equal volume" in shown.out


def test_a_layout_is_saved_compared_and_fits_a_run(here: Evenly) -> None:
    shown = here("partition", "mine.py", "-n", "3", "--cost", "points.json", "-o", "cut.json", "--json")
    assert shown.code == 0, shown.err
    assert "evenly fdtd run mine.py --ranks 3 --chunks cut.json" in shown.err
    layout = BinaryPartition.load("cut.json")
    assert BinaryPartition(shown.json["layout"]) == layout
    again = _cut(here, "mine.py", "--ranks", "3", "--compare", "cut.json")
    chosen = "balanced" if again["chosen"] == "balanced" else "equal volumes"
    assert again["cuts"]["cut.json"] == again["cuts"][chosen]
    assert here("fdtd", "counts", "mine.py", "--ranks", "3", "--chunks", "cut.json").code == 0


def test_parameters_reach_the_program_and_monitors_count(here: Evenly) -> None:
    assert _cut(here, "mine.py", "--ranks", "2", "--set", "width=6")["points"] == 60 * 20
    assert _cut(here, "mine.py:simulation", "--ranks", "2", "--resolution", "20")["points"] == 80 * 40
    CostModel("fdtd", {"transformed values": Coefficient(1e-9)}, share_error=0.01).save("points.json")
    assert _cut(here, "mine.py", "--ranks", "1")["serial_seconds_per_step"] > 0


def test_structures_are_cut_for_several_numbers_of_ranks(here: Evenly) -> None:
    told = _cut(here, "oled", *SMALL, "--ranks", "4,2,4,1")
    assert [row["ranks"] for row in told["rows"]] == [1, 2, 4]
    assert "layout" not in told["rows"][0]
    assert told["rows"][0]["speedup"] == pytest.approx(1)
    shown = here("partition", "oled", *SMALL, "--ranks", "1,2", "--cost", "points.json")
    assert shown.code == 0
    assert "efficiency" in shown.out


def test_leaves_make_several_chunks_per_rank(here: Evenly) -> None:
    told = _cut(here, "cell.npz", "--ranks", "2", "--leaves", "3")
    assert told["seconds_per_step"] <= _cut(here, "cell.npz", "--ranks", "2")["seconds_per_step"]
    assert sorted(set(told["owners"])) == [0, 1]
    assert sum(rank["points"] for rank in told["per_rank"]) == 40


def test_one_rank_gets_everything(here: Evenly) -> None:
    shown = here("partition", "cell.npz", "--ranks", "1", "--cost", "cost.json")
    assert shown.code == 0, shown.err
    assert "the answer is one chunk" in shown.out


def test_pictures_of_one_plan_and_of_several(here: Evenly) -> None:
    arguments = ("--cost", "points.json", "--plot", "pictures", "--plot-format", "png")
    assert here("partition", "mine.py", "--ranks", "4", *arguments).code == 0
    assert sorted(file.name for file in Path("pictures").iterdir()) == [
        "mine-cut-chunks.png", "mine-cut-ranks.png", "mine-cut-tree.png", "mine-cut-work.png",
    ]  # fmt: skip
    assert here("partition", "mine.py", "--ranks", "2,4", *arguments).code == 0
    assert Path("pictures/mine-cut-scaling.png").stat().st_size > 10_000


def test_shipped_costs_are_told_apart_from_own_ones(here: Evenly, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenly.decomposition.costs import locations

    monkeypatch.setattr(locations, "cost_file", lambda _program: Path("own.json"))
    monkeypatch.setattr(locations, "shipped_file", lambda _program: Path("cost.json"))
    shown = here("partition", "cell.npz", "--ranks", "2")
    assert shown.code == 0
    assert "came with evenly" in shown.err
    COST.save("own.json")
    assert here("partition", "cell.npz", "--ranks", "2", "--json").json["cost"]["source"] == "calibrated"


@pytest.mark.parametrize(
    ("source", "whose"),
    [
        ("import meep as mp", "meep"),
        ("def f():\n    from meep.materials import Ag", "meep"),
        ("import numpy\nfrom evenly import fdtd", "fdtd"),
        ("import evenly.fdtd as fd", "fdtd"),
        ("import meeple", "fdtd"),
        ("", "fdtd"),
    ],
)
def test_scripts_are_told_apart_by_what_they_import(tmp_path: Path, source: str, whose: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(source)
    assert imported_by(script) == whose


def test_a_script_of_meep_gets_its_own_arguments(here: Evenly, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenly.adapters.meep.cell import scripts

    asked = []

    def look(*arguments: Any, **options: Any) -> Cell:
        asked.append((arguments, options))
        return replace(lopsided("meep"), center=(10.0, 0.0, 0.0), pml=((5, 0), (0, 0), (0, 0)))

    monkeypatch.setattr(scripts, "cell_of_script", look)
    CostModel("meep", {"points": Coefficient(1e-9), "PML 1d points": Coefficient(1e-9)}).save("meep.json")
    Path("guide.py").write_text("import meep as mp")
    given = ("--args", "-r 20 --name 'a b'", "--python", "python9", "--which", "2", "--cost", "meep.json")
    shown = here("partition", "guide.py", "--ranks", "2", *given, "-o", "cut.json")
    assert shown.code == 0, shown.err
    assert asked == [(("guide.py", ["-r", "20", "--name", "a b"], 2, "python9"), {"simulation": 2})]
    assert "mpirun -n 2 python3 -m evenly.adapters.meep cut.json guide.py -r 20 --name 'a b'" in shown.err
    layout = BinaryPartition.load("cut.json")
    assert layout.position is not None
    assert 8 < layout.position < 12
    # Layouts of the user are in the program's own coordinates too.
    again = here("partition", "guide.py", "--ranks", "2", *given, "--compare", "cut.json", "--json")
    cuts = again.json["cuts"]
    assert cuts["cut.json"] in [cut for name, cut in cuts.items() if name != "cut.json"]


@pytest.mark.slow
def test_a_real_script_of_meep_is_cut_in_its_own_coordinates(here: Evenly, meep_python: Path) -> None:
    """The cell reaches from x = -1 to 3; silver lies at its low end, and PMLs at both."""
    Path("guide.py").write_text(MEEP_SCRIPT)
    terms = program_named("meep").all_terms
    CostModel("meep", {term.name: Coefficient(2e-9) for term in terms if term.per == "point"}).save("meep.json")
    given = ("--python", meep_python, "--args", "20", "--cost", "meep.json", "--ranks", "2", "--json", "-o", "cut.json")
    shown = here("partition", "guide.py", *given)
    assert shown.code == 0, shown.err
    assert shown.json["program"] == "meep"
    assert shown.json["shape"] == [80, 40, 1]
    assert shown.json["seconds_per_step"] > 0
    layout = BinaryPartition.load("cut.json")
    assert layout.axis is not None
    assert layout.position is not None
    low, high = ((-1.0, 3.0), (-1.0, 1.0))[layout.axis]
    assert low < layout.position < high


def test_a_script_that_imports_both_needs_an_option(here: Evenly) -> None:
    Path("both.py").write_text(f"import meep\n{SCRIPT}")
    with pytest.raises(InputError, match="--program"):
        imported_by(Path("both.py"))
    assert here("partition", "both.py", "--ranks", "2", "--cost", "cost.json").code == 2


def test_a_layout_of_another_cell_or_number_of_ranks_is_not_compared(here: Evenly) -> None:
    assert here("partition", "mine.py", "-n", "3", "--cost", "points.json", "-o", "cut.json").code == 0
    for more, words in (
        (("--ranks", "3", "--set", "width=6"), ("cut.json", "one of another cell", "4 × 2 × 0", "6 × 2 × 0")),
        (("--ranks", "2"), ("cut.json", "made for 3", "--ranks 3")),
    ):
        shown = here("partition", "mine.py", *more, "--cost", "points.json", "--compare", "cut.json")
        assert shown.code == 2
        for word in words:
            assert word in " ".join(shown.err.split())
    finer = here(
        "partition", "mine.py", "-n", "3", "--resolution", "20", "--cost", "points.json", "--compare", "cut.json"
    )
    assert finer.code == 0, finer.err


BAD_INPUT = [
    (["castle", "--ranks", "2"], "castle"),
    (["missing.py", "--ranks", "2"], "missing.py"),
    (["missing.npz", "--ranks", "2"], "missing.npz"),
    (["broken.py", "--ranks", "2"], "broken.py, line 1"),
    (["mine.py", "--ranks", "801"], "801 ranks"),
    (["mine.py", "--ranks", "none"], "--ranks"),
    (["mine.py", "--ranks", "0"], "--ranks"),
    (["oled", "--ranks", "2", "--set", "colour=blue"], "colour"),
    (["mine.py", "--ranks", "2", "--args", "-r 3"], "--args"),
    (["oled", "--ranks", "2", "--program", "meep"], "--program"),
    (["cell.npz", "--ranks", "2", "--size", "3"], "--size"),
    (["cell.npz", "--ranks", "2", "--leaves", "9999"], "grid point"),
    (["cell.npz", "--ranks", "2", "--cost", "missing.json"], "missing.json"),
    (["cell.npz", "--ranks", "2", "--cost", "mine.py"], "mine.py"),
    (["cell.npz", "--ranks", "2", "--cost", "other.json"], "calibrate"),
    (["cell.npz", "--ranks", "2", "--save", "nowhere/cut.json"], "nowhere"),
    (["cell.npz", "--ranks", "2,4", "--save", "cut.json"], "--save"),
    (["cell.npz", "--ranks", "2,4", "--compare", "outside.json"], "--compare"),
    (["cell.npz", "--ranks", "2", "--compare", "outside.json"], "outside.json"),
    (["cell.npz", "--ranks", "2", "--compare", "outside.json", "--save", "outside.json"], "was read"),
    (["cell.npz", "--ranks", "2", "--plot", "mine.py"], "mine.py"),
    (["meeps.py:f", "--ranks", "2"], "meeps.py"),
    (["meeps.py", "--ranks", "2", "--resolution", "9"], "--args"),
    (["meeps.py", "--ranks", "2", "--args", "'-r"], "--args"),
]


@pytest.mark.parametrize(("arguments", "named"), BAD_INPUT, ids=lambda value: " ".join(value) if value else "")
def test_bad_input_exits_with_2_and_one_message(here: Evenly, arguments: list[str], named: str) -> None:
    BinaryPartition([("x", 77.0), 0, 1]).save("outside.json")
    CostModel("meep", {}).save("other.json")
    Path("broken.py").write_text("def (")
    Path("meeps.py").write_text("import meep")
    cost = [] if "--cost" in arguments else ["--cost", "cost.json"]
    shown = here("partition", *arguments, *cost)
    assert shown.code == 2, shown.out + shown.err
    assert named in shown.err
    assert "Traceback" not in shown.err
