"""Shipped structures: sizes without allocation, rules with their names, energy balances, seeded random cells."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.fdtd import structures
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.monitors.energy import Absorption
from evenly.fdtd.simulation import Simulation
from evenly.fdtd.structures.programs import load
from evenly.fdtd.structures.random_cells import _cut
from evenly.fdtd.structures.solving import subtract_incident

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("oled", {"resolution": -1}, "resolution"),
    ("oled", {"resolution": 10}, "4 grid points over the organic films"),
    ("oled", {"size": math.inf}, "size"),
    ("oled", {"frequencies": 0}, "frequencies"),
    ("oled", {"frequencies": 2.5}, "whole number"),
    ("oled", {"sides": "open"}, "'absorber', 'pml' or 'periodic'"),
    ("oled", {"orientation": "up"}, "isotropic"),
    ("oled", {"thickness": 1}, "has no parameter 'thickness'"),
    ("cmos", {"trench_depth": 5.0}, "trench_depth"),
    ("cmos", {"metal": 1.0}, "metal"),
    ("cmos", {"trench": 2.0}, "trench"),
    ("cmos", {"silicon": 1.6, "trench_depth": 0.5, "pyramids": 1, "size": 3.0}, "pyramids"),
    ("tandem", {"grating": 0.5}, "grating"),
    ("tandem", {"fill": 1.0}, "fill"),
    ("tandem", {"ridges": "waves"}, "ridges"),
    ("tandem", {"resolution": 10}, "reflector"),
    ("random", {"points": 100}, "points"),
    ("random", {"surroundings": 0.5}, "surroundings"),
    ("random", {"reach": "pml"}, "'interior' or 'absorber'"),
    ("random", {"silicon": 0.9, "monitor": 0.2}, "fit beside each other"),
    ("random", {"monitor": (0.3, 0.1)}, "range (low, high)"),
    ("random", {"pml": "thick"}, "share"),
    ("castle", {}, "A structure is one of"),
]


@pytest.mark.parametrize(("name", "given", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_wrong_parameters_are_named_with_the_rule(name: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(").replace(")", r"\)")):
        structures.build(name, **given)


LARGE: dict[str, dict[str, Any]] = {
    "oled": {"resolution": 400, "size": 2.0},
    "cmos": {"resolution": 600},
    "tandem": {"resolution": 800, "size": 1.0},
    "random": {"points": 1e9},
}


@pytest.mark.parametrize("name", structures.names())
def test_a_billion_points_are_described_without_allocating_them(name: str) -> None:
    structures.build(name)  # modules and tables of media are loaded
    tracemalloc.start()
    simulation = Simulation(**structures.build(name, **LARGE[name]).simulation)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert simulation.grid.box.volume > 5e8
    assert peak < 2e6


@pytest.mark.parametrize("name", structures.names())
def test_parameters_are_those_that_build_takes(name: str) -> None:
    given = structures.parameters(name)
    example = structures.build(name, **given)
    assert example.parameters == given
    assert len(example.frequencies) == given["frequencies"]
    assert all(monitor.regions(Simulation(**example.simulation).grid) for monitor in example.monitors.values())


def test_a_plane_wave_of_one_dimension_is_that_of_three() -> None:
    """Without objects nothing is left of the field above the source once the incident wave is taken away.

    In the absence of variation along x and y the schemes are the same. The run ends before anything comes back from
    the cell's lower end, where they differ; left are the ends of the pulse, cut off at exp(-12.5) of its peak.
    """
    example = structures.build("tandem", size=0.1, resolution=20, frequencies=5)
    keywords = {**example.simulation, "geometry": (), "material": example.simulation["geometry"][0].material}
    simulation = Simulation(**keywords)
    for monitor in example.monitors.values():
        simulation.add(monitor)
    # Down from the source and back up, at index 1.52.
    echo = simulation.sources[0].pulse.last_time / 2 + 2 * 1.5 * simulation.grid.size[2] / 2
    simulation.run(until=echo)
    assert simulation.time > simulation.sources[0].pulse.last_time
    assert example.incident is not None
    power = subtract_incident(simulation, example, example.incident)
    assert np.all(power > 0)
    left: Any = example.monitors["reflection"]
    assert np.abs(left.flux() / power).max() < 1e-9


def test_a_solar_cell_loses_no_light() -> None:
    """Reflection, with the incident wave subtracted, and the net flux into the cell add up to 1.

    The two come from different monitors and different subtractions. Left are the PML's echo (below 1e-4 of the
    amplitude, so 2e-4 of the power by interference) and what still rings when the run ends, seen to be below 2e-3.
    """
    example = structures.build("tandem", size=0.2, resolution=20, frequencies=6, fill=0.5)
    solution = structures.prepare(example)
    incoming, between = (example.monitors[name] for name in ("incoming", "between"))
    low, high = getattr(between, "center")[2], getattr(incoming, "center")[2]  # noqa: B009
    region = Absorption((0, 0, (low + high) / 2), (0.2, 0.2, high - low), example.frequencies)
    absorbed = solution.simulation.add(region)
    solution.simulation.run(until=example.until)
    curves = solution.curves()
    np.testing.assert_allclose(sum(curves.values()), 1.0, atol=5e-3)
    for curve in curves.values():
        assert curve.min() > -1e-3
        assert curve.max() < 1 + 1e-3
    # Power lost in the poles by the fields themselves. Time steps change it by (2π f dt)²/6 < 3e-3 of itself.
    np.testing.assert_allclose(absorbed.power() / solution.incident, curves["upper cell"], atol=3e-3)


@pytest.mark.slow
def test_an_image_sensor_loses_no_light() -> None:
    example = structures.build(
        "cmos", size=0.6, resolution=20, frequencies=4, trench=0.1, pyramids=1, silicon=1.2, trench_depth=0.8
    )
    curves = structures.solve(example).curves()
    np.testing.assert_allclose(sum(curves.values()), 1.0, atol=5e-3)
    assert set(curves) == {"reflected", "grid", "silicon", "transmitted"}
    assert all(curve.min() > 0 for curve in curves.values())


@pytest.mark.slow
@pytest.mark.parametrize("sides", ["absorber", "pml"])
def test_a_diode_emits_what_leaves_its_films(sides: str) -> None:
    """Light that crosses the inner box crosses the outer one: no medium between them absorbs.

    Both fluxes are discrete Poynting sums that are exact but for the boxes' edges, where weights are those of the
    trapezoidal rule; at 7 points per wavelength in the organic films that leaves 1 % (0.4 % seen).
    """
    example = structures.build("oled", size=0.8, absorber=0.4, glass=0.4, pml=0.4, frequencies=5, sides=sides)
    curves = structures.solve(example, until=14.0).curves()
    np.testing.assert_allclose(sum(curves.values()), 1.0, atol=0.01)
    assert all(curve.min() > 0 and curve.max() < 1 for curve in curves.values())


def test_spectra_before_the_pulse_has_ended_are_refused() -> None:
    solution = structures.prepare(structures.build("tandem", size=0.1, resolution=20, frequencies=2))
    with pytest.raises(InputError, match="whole pulse"):
        solution.curves()
    assert not solution.complete


def _regions(example: structures.Example) -> tuple[Simulation, dict[str, Box]]:
    simulation = Simulation(**example.simulation)
    grid = simulation.grid
    boxes = {}
    for block in example.simulation["geometry"]:
        low, high = block.bounds()
        first = [math.ceil(grid.index(v, a) - 1e-6) for a, v in enumerate(low)]
        last = [math.floor(grid.index(v, a) - 1e-6) + 1 for a, v in enumerate(high)]
        boxes[block.name] = Box((first[0], first[1], first[2]), (last[0], last[1], last[2]))
    boxes["monitor"] = example.monitors["monitor"].regions(grid)[0].box
    return simulation, boxes


@pytest.mark.parametrize("seed", range(12))
def test_regions_of_random_cells_lie_apart_and_off_the_layers(seed: int) -> None:
    simulation, boxes = _regions(structures.build("random", seed=seed, points=2e5))
    for one, other in itertools.combinations(boxes.values(), 2):
        assert (one & other).empty
    layers = simulation.layers
    kinds = [
        {what for what in ("pml", "absorber") if any(b > a for a, b in layers.ranges(axis, what))} for axis in range(3)
    ]
    assert sorted(map(sorted, kinds)) == [[], ["absorber"], ["pml"]]
    for what in ("pml", "absorber"):
        assert all(layers.inner(what).covers(box) for box in boxes.values())
    # What is averaged at interfaces stays off the layers too.
    for axis, what in itertools.product(range(3), ("pml", "absorber")):
        for start, stop in layers.ranges(axis, what):
            if stop > start:
                sample = simulation.structure.sample(simulation.grid.box.replace(axis, start, stop))
                assert sample.electric.inverse == (1.0, 1.0, 1.0)
                assert not sample.electric.poles


def test_shares_of_random_cells_are_those_asked_for() -> None:
    wanted = {"silicon": 0.2, "monitor": 0.1, "dielectric": 0.15, "pml": 0.1, "absorber": 0.2}
    example = structures.build("random", seed=5, points=4e5, frequencies=3, **wanted)
    simulation, boxes = _regions(example)
    points = simulation.grid.box.volume
    assert points == pytest.approx(4e5, rel=0.05)
    for name, box in boxes.items():
        # The longest edge is rounded to whole points, at least ten of them here.
        assert box.volume / points == pytest.approx(wanted[name], rel=0.06)
    counts = simulation.counts(example.monitors.values())
    assert counts.absorber / points == pytest.approx(wanted["absorber"], abs=0.02)
    assert (counts.pml_1d + counts.pml_2d) / points == pytest.approx(wanted["pml"], abs=0.02)
    assert counts.fourier == 4 * boxes["monitor"].volume
    assert counts.fourier_frequencies == 3 * counts.fourier


@pytest.mark.parametrize(("seed", "silicon", "dielectric", "pml"), [
    (787909762, 0.25403, 0.31327, 0.0843),
    (587621890, 0.23383, 0.21405, 0.2667),
])  # fmt: skip
def test_regions_that_whole_points_hardly_fit_get_some_room_each(
    seed: int, silicon: float, dielectric: float, pml: float
) -> None:
    example = structures.build(
        "random", seed=seed, points=1.47e5, silicon=silicon, monitor=0.002, dielectric=dielectric, pml=pml,
        absorber=0.08, elongation=5.0,
    )  # fmt: skip
    _, boxes = _regions(example)
    assert all(not box.empty for box in boxes.values())


@pytest.mark.parametrize(("wanted", "others"), [(1, 4999), (4999, 1), (5000, 5000), (2500, 2500)])
def test_a_box_is_cut_into_two_that_hold_something(wanted: int, others: int) -> None:
    for seed in range(20):
        room, rest = _cut(np.random.default_rng(seed), Box((0, 0, 0), (2, 50, 50)), wanted, others)
        thin = _cut(np.random.default_rng(seed), Box((0, 0, 0), (2, 1, 1)), wanted, others)
        assert (room & rest).empty
        assert room.volume + rest.volume == 5000
        assert min(room.volume, rest.volume, *(box.volume for box in thin)) > 0


@pytest.mark.parametrize("seed", range(6))
def test_random_cells_may_fill_their_vacuum_and_reach_into_the_absorber(seed: int) -> None:
    layers = {"pml": 0.4, "absorber": 0.6}
    regions = {"silicon": 0.15, "monitor": 0.1, "dielectric": 0.15, "points": 2e5, "seed": seed}
    # Of 60 % of the points that aren't in the PML, and 40 % of those not in the absorber, 40 % can't be taken.
    with pytest.raises(InputError, match="fit beside each other"):
        structures.build("random", **layers, **regions)
    simulation, boxes = _regions(structures.build("random", reach="absorber", surroundings=1.5, **layers, **regions))
    assert all(simulation.layers.inner("pml").covers(box) for box in boxes.values())
    assert not all(simulation.layers.inner("absorber").covers(box) for box in boxes.values())
    for one, other in itertools.combinations(boxes.values(), 2):
        assert (one & other).empty
    corner = simulation.structure.sample(Box((0, 0, 0), (2, 2, 2)))
    assert corner.electric.inverse == pytest.approx((1 / 1.5**2,) * 3)


def test_real_structures_lie_inside_the_distribution_of_random_cells() -> None:
    ranges = structures.parameters("random")
    for name in ("oled", "cmos", "tandem"):
        example = structures.build(name)
        counts = Simulation(**example.simulation).counts(example.monitors.values())
        points = counts.volume
        shares = {
            "silicon": max(counts.electric_poles.values()) / points,
            "monitor": counts.fourier / 4 / points,
            "pml": (counts.pml_1d + counts.pml_2d + counts.pml_3d) / points,
            "absorber": counts.absorber / points,
        }
        for kind, share in shares.items():
            low, high = ranges[kind]
            assert low <= share <= high, f"{kind} of {name}"


def test_seeds_make_cells() -> None:
    def cell(seed: int) -> tuple[Any, ...]:
        example = structures.build("random", seed=seed)
        return (*example.simulation["cell"], *(block.bounds() for block in example.simulation["geometry"]))

    assert cell(1) == cell(1)
    assert cell(1) != cell(2)


# -- scripts --------------------------------------------------------------------------------------------------

SCRIPT = """
from evenly.fdtd import PML, Flux, GaussianPulse, Simulation, Source

until = 3

def simulation(resolution=10, **keywords):
    source = Source(GaussianPulse(1.0, fwidth=2.0), "Ez", (0, 0, 0))
    return Simulation(cell=(3, 3, 0), resolution=resolution, sources=[source], boundaries=[PML(0.5)], **keywords)

def fixed():
    return simulation()

def pair():
    return dict(cell=(2, 2, 0), resolution=5), [Flux((0, 0), (1, 1), [1.0])]

def monitors():
    return {"out": Flux((0, 0), (1, 1), [0.9, 1.1])}

def nothing():
    return 3
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text(SCRIPT)
    return str(path)


def test_a_script_defines_what_to_run(script: str) -> None:
    layout = BinaryPartition([("x", 0.0), 0, 1])
    program = load(script, {"resolution": 20}, layout=layout)
    assert (program.name, program.until, list(program.monitors)) == ("mine", 3.0, ["out"])
    assert program.simulation.grid.shape == (60, 60, 1)
    assert program.simulation.layout == layout
    pair = load(f"{script}:pair")
    assert pair.simulation.grid.shape == (10, 10, 1)
    assert list(pair.monitors) == ["monitor 1"]


@pytest.mark.parametrize(
    ("which", "given", "said"),
    [
        (":fixed", {"size": 2}, "takes no parameter 'size'"),
        (":nothing", {}, "must return a Simulation"),
        (":missing", {}, "must define a function 'missing'"),
    ],
)
def test_scripts_that_do_not_fit_are_told_why(script: str, which: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load(script + which, given)


@pytest.mark.parametrize("program", ["{}", "{}:made"])
def test_a_script_of_meep_is_told_before_it_runs(tmp_path: Path, program: str) -> None:
    path = tmp_path / "slab.py"
    path.write_text("import meep as mp\n\nraise SystemExit('it ran')\nsimulation = mp.Simulation(mp.Vector3(2, 2))\n")
    with pytest.raises(InputError, match=r"a script of Meep and defines no function .* `evenly partition .*slab\.py`"):
        load(program.format(path))


def test_layout_is_set_on_what_a_script_returns(script: str) -> None:
    layout = BinaryPartition([("x", 0.5), 0, 1])
    found = load(f"{script}:fixed", layout=layout).simulation
    assert found.layout == layout
    assert {chunk.leaf for chunk in found.chunk_boxes} == {0, 1}


def test_chunks_that_are_made_already_cant_be_cut(tmp_path: Path) -> None:
    path = tmp_path / "made.py"
    path.write_text(
        "from evenly.fdtd import Simulation\n"
        "def simulation():\n    sim = Simulation(cell=(2, 2, 0), resolution=5)\n    sim.step()\n    return sim\n"
    )
    with pytest.raises(InputError, match="chunks are made already, so it can't be cut"):
        load(str(path), layout=BinaryPartition([("x", 0.0), 0, 1]))


def test_scripts_that_cant_be_read(tmp_path: Path) -> None:
    path = tmp_path / "other.py"
    path.write_text("import no_such_module\n")
    with pytest.raises(InputError, match="imports no_such_module, which can't be imported here"):
        load(str(path))
    with pytest.raises(InputError, match="A script that exists"):
        load("nowhere.py")


def test_random_cells_hold_balls_inside_their_silicon() -> None:
    given = {"seed": 5, "points": 2e5, "silicon": 0.3, "dielectric": 0.1, "monitor": 0.05, "pml": 0.1, "absorber": 0.1}
    plain, balls = (structures.build("random", **given, balls=n).simulation["geometry"] for n in (0, 20))
    region, added = balls[0], balls[len(plain) :]
    assert 10 <= len(added) <= 40
    assert balls[: len(plain)] == plain
    low, high = region.bounds()
    for ball in added:
        assert np.all(np.array(ball.bounds()[0]) >= low)
        assert np.all(np.array(ball.bounds()[1]) <= high)
    centers = np.array([ball.center for ball in added])
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=-1) + 1e9 * np.eye(len(added))
    assert apart.min() > 2 * added[0].radius


def test_regions_too_thin_for_balls_hold_none() -> None:
    given = {"points": 2e4, "silicon": 0.02, "dielectric": 0.1, "monitor": 0.05, "pml": 0.1, "absorber": 0.1}
    assert len(structures.build("random", seed=1, **given, balls=64).simulation["geometry"]) == 2
