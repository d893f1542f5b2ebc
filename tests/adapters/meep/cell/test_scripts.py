"""A user's script is run as it is, up to its first step."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from evenly.adapters.meep.cell.interpreter import environment, package_folder
from evenly.adapters.meep.cell.scripts import cell_of_script
from evenly.adapters.meep.cell.simulations_made import makes_others_after, makes_several, simulations_in
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.costs.meep import Meep
from evenly.errors import EvenlyWarning, InputError, RunFailed
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from tests.adapters.meep.conftest import AS_ROOT

BEGINNING = """
import sys
import meep as mp
import numpy as np

def simulation(width, **more):
    pulse = mp.Source(mp.GaussianSource(1, fwidth=0.2), mp.Ez, mp.Vector3())
    return mp.Simulation(mp.Vector3(width, 3), 10, sources=[pulse], boundary_layers=[mp.PML(0.5)], **more)
"""
USUAL = """
import helper
sim = simulation(float(sys.argv[1]) + helper.MORE)
flux = sim.add_flux(1, 0.1, 3, mp.FluxRegion(mp.Vector3(1), size=mp.Vector3(0, 2)))
open("ran.txt", "w").write(f"{__name__} {mp.count_processors()}")
sim.run(until=1e9)
"""
TWO = """
first = simulation(4)
flux = first.add_flux(1, 0.1, 3, mp.FluxRegion(mp.Vector3(1), size=mp.Vector3(0, 2)))
first.run(until=1)
first.run(until=1)
data = first.get_flux_data(flux)
first.reset_meep()
second = mp.Simulation(mp.Vector3(5, 3), 10, sources=first.sources, boundary_layers=first.boundary_layers)
flux = second.add_flux(1, 0.1, 3, mp.FluxRegion(mp.Vector3(1), size=mp.Vector3(0, 2)))
second.load_minus_flux_data(flux, data)
second.run(until=1)
"""

pytestmark = pytest.mark.usefixtures("meep_python")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _script(folder: Path, text: str, name: str = "script.py") -> str:
    (folder / name).write_text(BEGINNING + text)
    return name


def test_a_script_stops_before_its_first_step(folder: Path) -> None:
    (folder / "helper.py").write_text("MORE = 1\n")
    cell = cell_of_script(_script(folder, USUAL), ["3"], ranks=6)
    assert (cell.program, cell.name, cell.grid.shape, cell.pml[0]) == ("meep", "script", (40, 30, 1), (6, 6))
    assert [t.frequencies for t in cell.transforms] == [3]
    assert (folder / "ran.txt").read_text() == "__main__ 6"


def test_a_layout_that_is_yet_to_be_made_may_be_named(folder: Path) -> None:
    text = "from evenly.adapters.meep import layout\nsimulation(4, chunk_layout=layout('layout.json')).run(until=1)\n"
    assert cell_of_script(_script(folder, text)).grid.shape == (40, 30, 1)


@pytest.mark.parametrize(
    "end", ["until=3", "until=[2.52]", "until_after_sources=1", "until_after_sources=0, until=500", "until=0.1 + 0.2"]
)
def test_the_steps_of_the_first_run_are_those_that_meep_makes(folder: Path, meep_python: Path, end: str) -> None:
    script = _script(folder, f"sim = simulation(3)\nsim.run({end})\nsim.run(until=1)\n")
    ran = subprocess.run([meep_python, script], capture_output=True, text=True, check=True)
    first = next(line for line in ran.stdout.splitlines() if line.startswith("run 0 finished"))
    assert f"({cell_of_script(script).traits['steps']:.0f} timesteps)" in first


@pytest.mark.parametrize(
    "end",
    ["until=lambda sim: True", "until_after_sources=mp.stop_when_dft_decayed()", "until=[5, lambda sim: sim.t > 9]"],
)
def test_the_steps_of_a_run_that_a_condition_ends_are_not_guessed(folder: Path, end: str) -> None:
    assert "steps" not in cell_of_script(_script(folder, f"simulation(3).run({end})\n")).traits


OWN = "simulation(4, chunk_layout=mp.BinaryPartition(data=[(mp.X, 1.0), 0, 1])).run(until=1)\n"


def test_a_layout_of_the_scripts_own_is_not_counted_and_replaced(folder: Path, meep_python: Path) -> None:
    with pytest.warns(EvenlyWarning, match="has a chunk_layout of its own, which isn't counted"):
        cell_of_script(_script(folder, OWN))
    BinaryPartition([("x", -0.5), 0, 1]).for_cell(Grid((4.0, 3.0, 0.0), 10)).save(folder / "layout.json")
    done = _run_on_layout(meep_python, "script.py")
    assert done.returncode == 0, done.stderr
    assert "takes the place of a simulation's own chunk_layout" in done.stderr
    assert done.stderr.count("is used: ") == 1


def test_a_missing_module_is_named_with_the_python_that_misses_it(folder: Path) -> None:
    with pytest.raises(InputError, match=r"imports 'absent_here', which Meep's Python, .*, doesn't have: install it"):
        cell_of_script(_script(folder, "import absent_here.deep\n"))


@pytest.mark.parametrize(
    "stepping", ["_run_sources_until(0, [])", "_run_until(1, [])", "run_k_points(1, [mp.Vector3()])"]
)
def test_scripts_may_step_by_other_methods_after_they_initialised_their_cell(folder: Path, stepping: str) -> None:
    seen = "sim.get_array(mp.Dielectric, center=mp.Vector3(), size=mp.Vector3(1, 1))"
    text = f"sim = simulation(4)\nsim.init_sim()\n{seen}\nsim.{stepping}\n"
    assert cell_of_script(_script(folder, text)).grid.shape == (40, 30, 1)


def test_a_script_may_step_in_a_loop_of_its_own(folder: Path) -> None:
    text = "sim = simulation(4)\nsim.init_sim()\nwhile sim.meep_time() < 3:\n    sim.fields.step()\n"
    assert cell_of_script(_script(folder, text)).grid.shape == (40, 30, 1)
    second = text + "other = simulation(5)\nother.init_sim()\nother.fields.step()\n"
    assert cell_of_script(_script(folder, second), simulation=2).grid.shape == (50, 30, 1)


@pytest.mark.parametrize("given", ["", "k_point=mp.Vector3()"])
def test_fields_at_the_k_points_of_a_run_are_complex(folder: Path, given: str) -> None:
    text = f"sim = simulation(4, {given})\nsim.run_k_points(1, [mp.Vector3({{}}), mp.Vector3(0.1)])\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cell = cell_of_script(_script(folder, text.format("0.05")))
    assert (cell.complex_fields, cell.periodic[:2]) == (True, (True, True))
    with pytest.warns(EvenlyWarning, match="at k = 0, too, where fields are real: a step at another k is counted"):
        assert cell_of_script(_script(folder, text.format(""))).complex_fields


@pytest.mark.parametrize("kind", ["MultilevelAtom()"])
def test_susceptibilities_without_costs_are_said(folder: Path, kind: str) -> None:
    medium = f"mp.Medium(E_susceptibilities=[mp.{kind}, mp.LorentzianSusceptibility()])"
    text = f"simulation(4, geometry=[mp.Sphere(1, material={medium})]).run(until=1)\n"
    said = rf"takes longer than predicted: evenly has no costs for {kind.partition('(')[0]}, and"
    with pytest.warns(EvenlyWarning, match=said):
        cell_of_script(_script(folder, text))


@pytest.mark.parametrize(
    ("kind", "times", "name"),
    [
        ("NoisyDrudeSusceptibility(noise_amp=1, frequency=1)", 40, "Noisy 1 (0)"),
        ("GyrotropicLorentzianSusceptibility(bias=mp.Vector3(z=1), frequency=1)", 8, "Gyrotropic 1 (0)"),
        ("GyrotropicDrudeSusceptibility(bias=mp.Vector3(z=1), frequency=1)", 8, "Gyrotropic 1 (0)"),
        ("GyrotropicSaturatedSusceptibility(bias=mp.Vector3(z=1), frequency=1)", 8, "Gyrotropic 1 (0)"),
    ],
)
def test_susceptibilities_with_rough_costs_are_counted_and_said(folder: Path, kind: str, times: int, name: str) -> None:
    text = (
        f"ball = mp.Sphere(0.5, material=mp.Medium(E_susceptibilities=[mp.{kind}, mp.LorentzianSusceptibility(1)]))\n"
        "simulation(4, geometry=[ball]).run(until=1)\n"
    )
    said = rf"is a rough one: evenly counts {times} times .* each {kind.split('(')[0]}"
    with pytest.warns(EvenlyWarning, match=said):
        cell = cell_of_script(_script(folder, text))
    assert {f"pole {name}", "pole Lorentz 1 (0)"} <= set(cell.survey.kinds)
    driven = [term.name for term in Meep.terms].index("poles driven")
    whole = pieces_of(cell, [[0, 0, 0]], [[40, 30, 1]])
    # Both poles act in the inner chunk, 28 × 18 points, on one of three components.
    assert Meep().amounts(whole)[:, driven].sum() == pytest.approx((times + 1) / 3 * 28 * 18)


def test_components_that_a_script_initialises_are_stepped(folder: Path) -> None:
    text = "sim = simulation(4)\nsim.initialize_field(mp.Hz, lambda p: 1.0)\nsim.run(until=1)\n"
    traits = cell_of_script(_script(folder, text)).traits
    assert [traits[name] for name in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")] == [1.0] * 6


def test_a_simulation_of_a_class_behind_argparse_is_found(folder: Path) -> None:
    text = """
import argparse

class Guide:
    def __init__(self, width):
        self.sim = simulation(width)
    def solve(self):
        self.sim.run(until=1)

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=float, required=True)
    Guide(parser.parse_args().width).solve()

if __name__ == "__main__":
    main()
"""
    assert cell_of_script(_script(folder, text), ["--width", "6"]).grid.shape == (60, 30, 1)


def test_a_cell_without_sources_is_said(folder: Path) -> None:
    cell = "mp.Simulation(mp.Vector3(4, 3), 10, boundary_layers=[mp.PML(0.5)])"
    with pytest.warns(EvenlyWarning, match="no source at the first step, so fields of both polarisations are counted"):
        traits = cell_of_script(_script(folder, f"sim = {cell}\nsim.run(until=1)\n")).traits
    assert (traits["Ez"], traits["Hz"]) == (1.0, 1.0)


def test_functions_between_steps_are_said(folder: Path) -> None:
    with pytest.warns(EvenlyWarning, match="functions between its steps .* on top"):
        cell_of_script(_script(folder, "simulation(4).run(mp.at_every(1, mp.output_efield_z), until=9)\n"))


METAL = "[mp.Sphere(1, material=mp.Medium(epsilon=2, E_susceptibilities=[mp.DrudeSusceptibility(1, 0.1, sigma=1)]))]"


@pytest.mark.filterwarnings("ignore:.*leaves out all susceptibilities")
@pytest.mark.parametrize(
    ("lines", "poles"),
    [
        (f"sim.geometry = {METAL}", 1.0),
        (f"sim.init_sim()\nsim.geometry = {METAL}", 0.0),
        (f"sim.init_sim()\nsim.geometry += {METAL}", 0.0),
        (f"sim._init_structure()\nsim.set_materials(geometry={METAL})", 1.0),
        (f"sim.init_sim()\nsim.set_materials(geometry={METAL})", 0.0),
        (f"sim.geometry = {METAL}\nsim.init_sim()\nsim.set_materials()", 0.0),
        (f"sim.init_sim()\nsim.set_materials(geometry={METAL})\nsim.reset_meep()", 0.0),
        (f"sim.init_sim()\nsim.geometry = {METAL}\nsim.reset_meep()\nsim.init_sim()", 1.0),
    ],
)
def test_the_materials_are_those_of_the_run(folder: Path, lines: str, poles: float) -> None:
    text = f"sim = simulation(4)\n{lines}\nsim.run(until=1)\n"
    assert cell_of_script(_script(folder, text)).traits["electric poles"] == poles


def test_susceptibilities_that_meep_leaves_out_are_said(folder: Path) -> None:
    """`Simulation.set_materials` removes those of fields that exist, and Meep makes them only with new fields."""
    text = f"sim = simulation(4)\nsim.init_sim()\nsim.set_materials(geometry={METAL})\nsim.run(until=1)\n"
    with pytest.warns(EvenlyWarning, match="set_materials leaves out all susceptibilities: none is counted"):
        cell = cell_of_script(_script(folder, text))
    assert (cell.survey.totals["dielectric"] > 300, "polarised Ez" in cell.survey.totals) == (True, False)


def test_materials_that_are_not_counted_are_said(folder: Path) -> None:
    text = "sim = simulation(4)\nsim.init_sim()\nsim.set_epsilon(lambda p: 2.0)\nsim.run(until=1)\n"
    with pytest.warns(EvenlyWarning, match="what set_epsilon sets isn't counted"):
        cell_of_script(_script(folder, text))


def test_a_mode_that_this_meep_cant_make_is_said(folder: Path, meep_python: Path) -> None:
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('meep.mpb') is None)"
    missing = subprocess.run([meep_python, "-c", look], check=False).returncode == 1
    mode = "[mp.EigenModeSource(mp.GaussianSource(1, fwidth=0.1), mp.Vector3(), size=mp.Vector3(0, 1))]"
    text = f"sim = simulation(4)\nsim.sources = {mode}\nsim.run(until=1)\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cell_of_script(_script(folder, text))
    assert [str(one.message).endswith("EigenModeSource, and this Meep has no MPB") for one in caught] == [
        True
    ] * missing


ONE = "sim = simulation(4)\nsim.run(until=1)\n"


@pytest.mark.parametrize(
    ("text", "others"),
    [
        (ONE, False),
        (f"if len(sys.argv) > 5:\n    sim = simulation(5)\nelif True:\n    sim = simulation(6)\n{ONE}", False),
        (f"sim = simulation(5)\ndel sim\n{ONE}", False),
        (f"def unused():\n    simulation(5)\n\n{ONE}", False),
        ("def main():\n    sim = simulation(4)\n    sim.run(until=1)\n\nmain()\n", False),
        ("sim = simulation(4)\nfor _ in range(3):\n    sim.run(until=1)\n", False),
        (f"other = simulation(5)\n{ONE}", True),
        (f"{ONE}other = simulation(5)\n", True),
        ("for width in (4, 5):\n    simulation(width).run(until=1)\n", True),
        ("[simulation(width).run(until=1) for width in (4, 5)]\n", True),
        ("def main(width):\n    simulation(width).run(until=1)\n\nmain(4)\nmain(5)\n", True),
        ("def main(width):\n    simulation(width).run(until=1)\n\nprint(main(4), main(5))\n", True),
        ("def main(width):\n    simulation(width).run(until=1)\n\nlist(map(main, (4, 5)))\n", True),
        ("import functools\nfunctools.reduce(lambda _, w: simulation(w).run(until=1), (4, 5), 0)\n", True),
        ("def main():\n    simulation(4).run(until=1)\n    simulation(5).run(until=1)\n\nmain()\n", True),
        ("sim = simulation(4)\nfor _ in range(3):\n    sim.run(until=1)\n    sim.reset_meep()\n", True),
        ("import again\nagain.call(lambda: simulation(4).run(until=1))\n", True),
    ],
)
def test_other_simulations_are_told_only_if_some_may_run(folder: Path, text: str, others: bool) -> None:
    (folder / "again.py").write_text("def call(function):\n    function()\n    function()\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cell_of_script(_script(folder, text))
    assert ["may make several simulations" in str(one.message) for one in caught] == [True] * others


@pytest.mark.parametrize(
    ("symmetries", "said"),
    [("mp.Rotate2(mp.Z)", True), ("mp.Rotate2(mp.Z, phase=-1)", True), ("mp.Rotate4(mp.Z)", False),
     ("mp.Mirror(mp.X), mp.Mirror(mp.Y)", False)],
)  # fmt: skip
def test_a_half_turn_alone_is_told_since_meeps_fluxes_miss_points(folder: Path, symmetries: str, said: bool) -> None:
    script = _script(folder, f"sim = simulation(3, symmetries=[{symmetries}])\nsim.run(until=1)\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cell_of_script(script)
    assert ["the only symmetry is Rotate2" in str(one.message) for one in caught] == [True] * said


def test_the_first_of_several_is_taken_unless_another_is_named(folder: Path) -> None:
    script = _script(folder, TWO)
    with pytest.warns(EvenlyWarning, match="several simulations.* sum over all .* other sizes get Meep's own chunks"):
        assert cell_of_script(script).grid.shape[0] == 40
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cell_of_script(script, simulation=2).grid.shape[0] == 50
    with pytest.raises(InputError, match="2 simulation"):
        cell_of_script(script, simulation=3)


@pytest.mark.parametrize(
    "reading",
    ["sim.get_field_point(mp.Ez, mp.Vector3())", "sim.get_array(mp.Ez, center=mp.Vector3(), size=mp.Vector3(1)).sum()",
     "sim.electric_energy_in_box(center=mp.Vector3(), size=mp.Vector3(1, 1))",
     "sim.get_dft_array(spectra, mp.Ez, 0).sum()"],
)  # fmt: skip
def test_fields_of_simulations_that_were_skipped_are_zero(folder: Path, reading: str) -> None:
    spectra = "spectra = sim.add_dft_fields([mp.Ez], 1, 0, 1, center=mp.Vector3(), size=mp.Vector3(1, 1))"
    text = f"sim = simulation(4)\n{spectra}\nsim.run(until=1)\nassert {reading} == 0\nsimulation(5).run(until=1)\n"
    assert cell_of_script(_script(folder, text), simulation=2).grid.shape[0] == 50


def test_simulations_run_by_a_package_that_repeats_them_are_several(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import meep\n")
    frame, here = sys._getframe(), str(Path(__file__).parent)
    script = str(tmp_path / "script.py")
    assert makes_others_after(script, frame, [], here)
    assert not makes_others_after(script, frame, [], str(tmp_path))


def test_a_signal_that_ends_meep_is_named(folder: Path) -> None:
    text = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
    with pytest.raises(RunFailed, match=r"Meep ended with signal SIGKILL\. Its last lines:\n"):
        cell_of_script(_script(folder, text))


def test_errors_are_the_scripts_own(folder: Path) -> None:
    with pytest.raises(RunFailed) as caught:
        cell_of_script(_script(folder, "def half(x):\n    return 1 / x\n\nhalf(0)\n"))
    text = str(caught.value)
    assert "ZeroDivisionError: division by zero" in text
    assert "return 1 / x" in text
    assert "evenly" not in text
    assert "runpy" not in text


def test_arguments_that_a_script_needs_are_told(folder: Path) -> None:
    text = "import argparse\np = argparse.ArgumentParser()\np.add_argument('n')\np.parse_args()\n"
    with pytest.raises(RunFailed, match=r"are required: n(.|\n)*given with --args"):
        cell_of_script(_script(folder, text))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("print('nothing runs')\n", "ended without a step"),
        ("sys.exit()\n", "ended without a step"),
    ],
)
def test_what_gives_no_cell_is_told(folder: Path, text: str, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        cell_of_script(_script(folder, text))


@pytest.mark.parametrize("layers", ["mp.PML(1.5)", "mp.PML(0.2), mp.PML(0.2, direction=mp.Y)", "mp.PML(-1)"])
def test_layers_at_which_meep_stops_are_refused(folder: Path, layers: str) -> None:
    text = f"mp.Simulation(mp.Vector3(3, 3), 10, boundary_layers=[{layers}]).run(until=1)\n"
    with pytest.raises(InputError, match=r"Meep itself stops at this cell \(invalid boundary absorbers\)"):
        cell_of_script(_script(folder, text))


def test_a_python_without_meep_is_told() -> None:
    with pytest.raises(InputError, match="Meep is needed"):
        cell_of_script(__file__, python="/nowhere/python")
    with pytest.raises(InputError, match="no script"):
        cell_of_script("missing.py")


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_script_runs_on_a_layout_as_it_is(folder: Path, meep_python: Path, ranks: int) -> None:
    from evenly.adapters.meep.cell.interpreter import find_mpirun

    BinaryPartition([("x", -0.5), 0, 1]).save(folder / "layout.json")
    told = "sim = simulation(4)\nsim.run(until=1)\n"
    told += "vols = sim.structure.get_chunk_volumes()\n"
    told += "widths = sorted({round(v.origin_in_direction(mp.X), 3) for v in vols})\n"
    told += "owners = sorted({int(o) for o in sim.structure.get_chunk_owners()})\n"
    told += (
        "mp.am_master() and open('told.json', 'w').write(repr([widths, owners, sys.argv]).replace(chr(39), chr(34)))\n"
    )
    command = [str(meep_python), "-m", "evenly.adapters.meep", "layout.json", _script(folder, told), "--more"]
    if ranks > 1:
        command = [str(find_mpirun(meep_python)), "--oversubscribe", "-n", str(ranks), *command]
    with package_folder() as package:
        done = subprocess.run(command, env=environment(package, **AS_ROOT), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    widths, owners, arguments = json.loads((folder / "told.json").read_text())
    # PML ends 6 points from both sides, and the cut is at -0.5.
    assert widths == [-2.0, -1.4, -0.5, 1.4]
    assert owners == list(range(ranks))
    assert arguments == ["script.py", "--more"]


def _run_on_layout(meep_python: Path, script: str, ranks: int = 1) -> subprocess.CompletedProcess[str]:
    from evenly.adapters.meep.cell.interpreter import find_mpirun

    command = [str(meep_python), "-m", "evenly.adapters.meep", "layout.json", script]
    if ranks > 1:
        command = [str(find_mpirun(meep_python)), "--oversubscribe", "-n", str(ranks), *command]
    with package_folder() as package:
        return subprocess.run(command, env=environment(package, **AS_ROOT), capture_output=True, text=True, check=False)


RADIAL = "mp.Simulation(mp.Vector3(4, 0, 3), 10, dimensions=mp.CYLINDRICAL, m=0, sources=[]).run(until=1)\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("simulation(3).run(until=1)\n", ["was made for a cell of 4 × 3 × 0", "this cell is 3 × 3 × 0"]),
        ("simulation(4, geometry_center=mp.Vector3(1)).run(until=1)\n", ["middle is at"]),
        (RADIAL, ["was made for a cell of 4 × 3 × 0", "this cell is 4 × 0 × 3"]),
    ],
    ids=["size", "center", "cylindrical"],
)
def test_a_layout_of_another_cell_is_refused_before_meep_aborts(
    folder: Path, meep_python: Path, text: str, words: list[str]
) -> None:
    BinaryPartition([("x", -0.5), 0, 1]).for_cell(Grid((4.0, 3.0, 0.0), 10)).save(folder / "layout.json")
    done = _run_on_layout(meep_python, _script(folder, text))
    assert done.returncode == 1, done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stderr


def test_a_layout_named_in_the_script_is_checked_when_it_is_used(folder: Path, meep_python: Path) -> None:
    BinaryPartition([("x", -1.9), 0, 1]).save(folder / "mine.json")
    BinaryPartition([("x", -0.5), 0, 1]).save(folder / "layout.json")
    text = "from evenly.adapters.meep import layout\nsimulation(3, chunk_layout=layout('mine.json')).run(until=1)\n"
    done = _run_on_layout(meep_python, _script(folder, text))
    assert done.returncode == 1
    assert "The layout mine.json is one of another cell" in done.stderr


def test_of_several_simulations_those_of_other_cells_are_left_to_meep(folder: Path, meep_python: Path) -> None:
    BinaryPartition([("x", -0.5), 0, 1]).for_cell(Grid((4.0, 3.0, 0.0), 10)).save(folder / "layout.json")
    told = "open('told.txt', 'w').write(str([first.chunk_layout.numchunks(), second.chunk_layout.numchunks()]))\n"
    done = _run_on_layout(meep_python, _script(folder, TWO + told))
    assert done.returncode == 0, done.stderr
    assert "left to Meep's own chunks" in done.stderr
    assert (folder / "told.txt").read_text() == "[2, 1]"


SWEEP = """
for width in (4, 5, 4):
    sim = simulation(width)
    sim.run(until=1)
    with open("told.txt", "a") as file:
        file.write(f"{sim.chunk_layout.numchunks()} ")
"""


def test_a_loop_over_cells_is_never_ended_half_way(folder: Path, meep_python: Path) -> None:
    BinaryPartition([("x", -0.5), 0, 1]).for_cell(Grid((4.0, 3.0, 0.0), 10)).save(folder / "layout.json")
    done = _run_on_layout(meep_python, _script(folder, SWEEP))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("left to Meep's own chunks") == 1
    assert (folder / "told.txt").read_text() == "2 1 2 "


@pytest.mark.parametrize(
    ("text", "places", "several"),
    [
        ("mp.Simulation(size)\n", 1, False),
        ("for size in sizes:\n    mp.Simulation(size)\n", 2, True),
        ("all_of_them = [Simulation(size) for size in sizes]\n", 2, True),
        ("def made(size):\n    return mp.Simulation(size)\n", 1, True),
        ("def made(size):\n    return mp.Simulation(size)\n\ndef main():\n    made(3)\n\nmain()\n", 1, False),
        ("def made(size):\n    return mp.Simulation(size)\n\nmade(3)\nmade(4)\n", 2, True),
        ("def made(size):\n    return mp.Simulation(size)\n\nfor size in sizes:\n    made(size)\n", 2, True),
        ("def made(size):\n    return mp.Simulation(size)\n\nminimize(made, 3)\n", 1, True),
        ("mp.Simulation(size)\nmp.Simulation(other)\n", 2, True),
        ("not Python", 0, False),
    ],
)
def test_simulations_of_a_script_are_counted(folder: Path, text: str, places: int, several: bool) -> None:
    (folder / "counted.py").write_text(text)
    assert (simulations_in(folder / "counted.py"), makes_several(folder / "counted.py")) == (places, several)


def test_a_loop_in_which_no_cell_fits_is_told_at_its_end(folder: Path, meep_python: Path) -> None:
    BinaryPartition([("x", -0.5), 0, 1]).for_cell(Grid((7.0, 3.0, 0.0), 10)).save(folder / "layout.json")
    done = _run_on_layout(meep_python, _script(folder, SWEEP))
    assert done.returncode == 1
    assert "has run, but without the layout, because it fits none of the simulations" in done.stderr
    assert (folder / "told.txt").read_text() == "1 1 1 "


def test_another_number_of_processes_is_told_once(folder: Path, meep_python: Path) -> None:
    BinaryPartition([("x", -0.5), [("y", 0.1), 0, 1], 2]).save(folder / "layout.json")
    done = _run_on_layout(meep_python, _script(folder, "simulation(4).run(until=1)\n"), ranks=2)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("it was made for 3 ranks: on 2") == 1


def test_a_layout_is_compared_with_the_processes_of_its_group(folder: Path, meep_python: Path) -> None:
    BinaryPartition([("x", -0.5), 0, 0]).save(folder / "layout.json")
    text = "mp.divide_parallel_processes(2)\nsimulation(4).run(until=1)\n"
    done = _run_on_layout(meep_python, _script(folder, text), ranks=2)
    assert done.returncode == 0, done.stderr
    assert "isn't for these processes" not in done.stderr


def test_the_runner_says_how_it_is_used(folder: Path) -> None:
    with package_folder() as package:
        command = [sys.executable, "-m", "evenly.adapters.meep"]
        done = subprocess.run(command, env=environment(package), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "usage" in done.stderr
