"""Only components that exist are stepped, and those that exist are bit for bit what they are if all are stepped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly import fdtd
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.stepping.components import predicted, reached
from tests.parallel.ranks import run_ranks

PULSE = fdtd.GaussianPulse(0.5, fwidth=0.4)
CUTS = [("x", 0.1), [("y", 0.0), 0, 0], 0]
LAYERS = [fdtd.PML(0.3, "x"), fdtd.PML(0.25, "y")]
LORENTZ = fdtd.LorentzPole(0.5, 0.05, 1.0)
MEDIA = {
    "vacuum": fdtd.Medium(),
    "glass": fdtd.Medium(epsilon=2.2),
    "poles": fdtd.Medium(epsilon=2, electric_poles=[LORENTZ], magnetic_poles=[LORENTZ]),
    "lossy": fdtd.Medium(epsilon=2, electric_conductivity=0.3, magnetic_conductivity=0.1),
    "in plane": fdtd.Medium(epsilon=2.5, epsilon_off_diagonal=(0.3, 0, 0)),
    "nonlinear": fdtd.Medium(epsilon=2, chi2=0.05, chi3=0.1),
}
TM, TE = {"Ez", "Hx", "Hy"}, {"Hz", "Ex", "Ey"}


def disc(medium: fdtd.Medium) -> fdtd.Cylinder:
    return fdtd.Cylinder(radius=0.45, height=np.inf, material=medium, center=(0.1, 0.05, 0))


def source(component: str) -> fdtd.Source:
    return fdtd.Source(PULSE, component, center=(0.2, -0.15, 0))


def made(component: str, **more: Any) -> fdtd.Simulation:
    given = {
        "cell": (2, 1.7, 0),
        "resolution": 10,
        "boundaries": LAYERS,
        "layout": CUTS,
        "sources": [source(component)],
    }
    return fdtd.Simulation(**{**given, **more})


def run(sim: fdtd.Simulation, steps: int = 60) -> dict[str, Any]:
    flux = sim.add(fdtd.Flux(center=(0.3, 0, 0), size=(0, 0.5, 0), frequencies=[0.4, 0.6]))
    for _ in range(steps):
        sim.step()
    return {**{name: sim.field(name) for name in COMPONENTS}, "flux": flux.flux()}


def check_same(component: str, given: dict[str, Any]) -> None:
    """Check that a cell's fields are those of the same cell with all components stepped, and zero where not stepped."""
    sim, everything = made(component, **given), made(component, **given)
    stepped = sim.stepper.stepped
    assert len(stepped) == 3
    everything.stepper._choose(frozenset(COMPONENTS))
    found, wanted = run(sim), run(everything)
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
    assert all(found[name].any() == (name in stepped) for name in COMPONENTS)


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize(("component", "stepped"), [("Ez", TM), ("Hz", TE)])
def test_one_polarisation_is_what_it_is_beside_the_other(medium: str, component: str, stepped: set[str]) -> None:
    given: dict[str, Any] = {"geometry": [disc(MEDIA[medium])]}
    assert made(component, **given).stepper.stepped == stepped
    check_same(component, given)


@pytest.mark.parametrize(
    "given",
    [
        {"boundaries": [fdtd.Bloch("x", (0.1, 0, 0)), fdtd.Periodic("y")]},
        {"boundaries": [fdtd.Absorber(0.3, "x")], "options": fdtd.Options(fused=False)},
        {"options": fdtd.Options(precision="float32")},
        {"boundaries": [fdtd.Periodic("x"), fdtd.Periodic("y")], "layout": None},
    ],
)
@pytest.mark.parametrize("component", ["Ez", "Hz"])
def test_sides_and_options_change_nothing(given: dict[str, Any], component: str) -> None:
    check_same(component, {"geometry": [disc(MEDIA["glass"])], **given})


def test_the_two_polarisations_of_one_cell_are_those_of_two_cells() -> None:
    # Linear media: the sum of two solutions is one, and here neither adds anything to the other's components.
    shapes = [disc(MEDIA["poles"])]
    alone = {name: run(made(name, geometry=shapes)) for name in ("Ez", "Hz")}
    both = run(made("Ez", geometry=shapes, sources=[source("Ez"), source("Hz")]))
    for name in COMPONENTS:
        np.testing.assert_array_equal(both[name], alone["Ez" if name in TM else "Hz"][name])


@pytest.mark.parametrize(
    "medium",
    [
        fdtd.Medium(epsilon=2.5, epsilon_off_diagonal=(0, 0.3, 0)),
        fdtd.Medium(mu=2.5, mu_off_diagonal=(0, 0, 0.2)),
    ],
)
def test_media_that_mix_polarisations_bring_the_other_components(medium: fdtd.Medium) -> None:
    sim = made("Ez", geometry=[disc(medium)])
    assert sim.stepper.stepped == predicted(sim.structure, ["Ez"])[0] == set(COMPONENTS)
    fields = run(sim)
    assert all(fields[name].any() for name in COMPONENTS)


def test_one_dimension_has_two_components_for_each_source() -> None:
    sim = fdtd.Simulation(
        cell=(0, 0, 3),
        resolution=10,
        sources=[fdtd.Source(PULSE, "Ex", center=(0, 0, 0.2))],
        boundaries=[fdtd.PML(0.5)],
    )
    assert sim.stepper.stepped == {"Ex", "Hy"}
    assert reached(["Ez"], (True, True, False)) == {"Ez"}
    assert reached(["Hx"], (False, False, False)) == reached([], (True, True, False)) == set(COMPONENTS)


def test_fields_that_are_written_go_on() -> None:
    sim, free = made("Ez"), made("Hz", sources=[])
    for one in (sim, free):
        for chunk in one.chunks:
            chunk.view("Hz", 0, chunk.box)[...] = np.sin(np.arange(chunk.box.volume)).reshape(chunk.box.shape)
        one.stepper.refresh()
    assert sim.stepper.stepped == set(COMPONENTS)
    found, wanted = run(sim), run(free)
    for name in TE:
        np.testing.assert_array_equal(found[name], wanted[name])
    assert found["Ez"].any()
    assert wanted["Hz"].any()


def test_a_checkpoint_of_the_other_polarisation_goes_on(tmp_path: Path) -> None:
    before = made("Hz")
    run(before, 40)
    before.monitors.clear()
    before.save(tmp_path / "kept")
    after = made("Ez")
    after.load(tmp_path / "kept")
    assert after.stepper.stepped == set(COMPONENTS)
    for _ in range(20):
        after.step()
    # The source of Hz ended long before, or its current would be missing after the restart.
    quiet = made("Hz", sources=[])
    quiet.load(tmp_path / "kept")
    for _ in range(20):
        quiet.step()
    for name in TE:
        np.testing.assert_array_equal(after.field(name), quiet.field(name))


SCRIPT = """
    import numpy as np
    from evenly import fdtd

    mixing = fdtd.Medium(epsilon=2.5, epsilon_off_diagonal=(0, 0.3, 0))
    for material in (mixing, fdtd.Medium(epsilon=2.5)):
        # The disc lies on one rank alone, the source on another.
        sim = fdtd.Simulation(
            cell=(3, 1, 0), resolution=10, layout=[("x", -0.4), 0, [("x", 0.4), 1, 2]],
            geometry=[fdtd.Cylinder(radius=0.3, height=np.inf, material=material, center=(1, 0, 0))],
            sources=[fdtd.Source(fdtd.GaussianPulse(0.5, fwidth=0.4), "Ez", center=(-1, 0, 0))],
            boundaries=[fdtd.Periodic("y")],
        )
        for _ in range(90):
            sim.step()
        everyones = sim.communicator.allgather(sorted(sim.stepper.stepped))
        assert all(one == everyones[0] for one in everyones), everyones
        fields = {name: sim.field(name) for name in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")}
        fdtd.master_print(everyones[0], [float(np.sum(np.abs(values) ** 2)) for values in fields.values()])
"""


@pytest.mark.slow
def test_ranks_agree_on_the_components_whatever_lies_on_them() -> None:
    alone, three = run_ranks(1, SCRIPT), run_ranks(3, SCRIPT)
    assert alone == three
    mixed, plain = three.strip().splitlines()
    assert all(name in mixed for name in COMPONENTS)
    assert "Hz" not in plain
