"""What Meep does for chunks: presence in the chunk, in its arrays, in the cell; borders; laws of amounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.costs.meep import OFF_DIAGONAL, Meep
from evenly.fdtd.cell.grid import COMPONENTS, Grid

KINDS = (
    "magnetic",
    "nonlinear",
    "electric_conductivity",
    "magnetic_conductivity",
    "electric_anisotropic",
    "magnetic_anisotropic",
    "pole Lorentz 1 (0)",
    "pole magnetic Lorentz 1 (0)",
)
POLARISED = tuple(f"polarised {name}" for name in COMPONENTS[:3])
SHAPE = (12, 8, 6)
NAMES = [term.name for term in Meep.terms]
Boxes = list[list[int]]


def cell(points: Mapping[str, tuple[int, ...]] | None = None, kinds: tuple[str, ...] = KINDS, **more: Any) -> Cell:
    """A cell of 12 x 8 x 6 points with single points of some kinds."""
    blocks = np.zeros((*SHAPE, len(kinds)))
    for kind, place in (points or {}).items():
        blocks[(*place, kinds.index(kind))] = 1.0
    survey = Survey.of_blocks([np.arange(n + 1) for n in SHAPE], kinds, blocks)
    base = Cell("meep", Grid((12.0, 8.0, 6.0), 1), survey, layers_apart=("pml",))
    return replace(base, **more)


def amounts(of: Cell, low: Boxes, high: Boxes) -> dict[str, NDArray[np.float64]]:
    """Amounts of every term, of the boxes."""
    pieces = pieces_of(of, low, high)
    columns = pieces.sums(Meep().amounts(pieces), len(low))
    return dict(zip(NAMES, columns.T, strict=True))


LOW, HIGH = [[0, 0, 0], [6, 0, 0]], [[6, 8, 6], [12, 8, 6]]
WHOLE = [[0, 0, 0]], [list(SHAPE)]


@pytest.mark.parametrize(
    ("kind", "term", "each"),
    [
        ("magnetic", "magnetic points", 1),
        ("nonlinear", "nonlinear points", 1),
        ("electric_conductivity", "conductive points", 1),
        ("magnetic_conductivity", "conductive points", 1),
        ("electric_anisotropic", "off-diagonal points", 3),
        ("magnetic_anisotropic", "off-diagonal points", 3),
        ("pole Lorentz 1 (0)", "poles driven", 1),
    ],
)
def test_one_point_makes_its_whole_chunk_pay_and_no_other(kind: str, term: str, each: int) -> None:
    found = amounts(cell({kind: (9, 3, 3)}), LOW, HIGH)
    assert found[term].tolist() == [0, each * 6 * 8 * 6]
    assert not amounts(cell(), LOW, HIGH)[term].any()


def test_arrays_reach_one_point_further_up_than_the_chunk() -> None:
    just_above, two_above = (amounts(cell({"nonlinear": (i, 3, 3)}), LOW, HIGH) for i in (6, 7))
    # There for some components or for all, by where in the layer it begins.
    assert just_above["nonlinear points"].tolist() == [pytest.approx(288 * 2 / 3), 288]
    assert two_above["nonlinear points"].tolist() == [0, 288]


@pytest.mark.parametrize("kind", ["nonlinear", "pole Lorentz 1 (0)"])
def test_at_a_periodic_side_arrays_reach_into_the_next_period(kind: str) -> None:
    term = {"nonlinear": "nonlinear points"}.get(kind, "poles driven")
    at_the_low_side = {kind: (0, 3, 3)}
    open_, closed = (
        amounts(cell(at_the_low_side, periodic=(flag, False, False)), LOW, HIGH)[term] for flag in (False, True)
    )
    assert open_.tolist() == [288, 0]
    assert closed.tolist() == [288, pytest.approx(288 * 2 / 3)]
    # The image in a corner is reached where all three axes are periodic, by the chunk in the opposite corner alone.
    low = [[x, y, z] for x in (0, 6) for y in (0, 4) for z in (0, 3)]
    high = [[x + 6, y + 4, z + 3] for x, y, z in low]
    corner = amounts(cell({kind: (0, 0, 0)}, periodic=(True, True, True)), low, high)[term]
    assert corner.tolist() == [72, *[pytest.approx(72 * 2 / 3)] * 7]
    edge = amounts(cell({kind: (0, 0, 0)}, periodic=(True, True, False)), low, high)[term]
    assert (edge > 0).tolist() == [True, False] * 4


def test_a_pole_is_driven_for_the_components_in_whose_arrays_it_acts() -> None:
    places = {"pole Lorentz 1 (0)": (6, 3, 3), POLARISED[1]: (6, 3, 3), POLARISED[2]: (6, 3, 3)}
    of = cell(places, kinds=(*KINDS, *POLARISED))
    assert amounts(of, LOW, HIGH)["poles driven"].tolist() == [pytest.approx(288 * 2 / 3)] * 2


def _plane(stepped: str, kinds: tuple[str, ...] = (), **more: Any) -> Cell:
    """A plane of 8 x 6 points, all of them of some kinds; `stepped` names the stepped components."""
    survey = Survey.of_blocks(((0, 8), (0, 6), (0, 1)), kinds, np.full((1, 1, 1, len(kinds)), 48.0))
    traits = {name: float(name in stepped.split()) for name in COMPONENTS}
    return Cell("meep", Grid((8.0, 6.0, 0.0), 1), survey, traits=traits, layers_apart=("pml",), **more)


ACROSS, WITHIN = "Ez Hx Hy", "Ex Ey Hz"


@pytest.mark.parametrize(
    ("kind", "term", "across", "within"),
    [
        ("magnetic", "magnetic points", 2, 1),
        ("nonlinear", "nonlinear points", 0.5, 1.5),
        ("electric_conductivity", "conductive points", 1, 2),
        ("magnetic_conductivity", "conductive points", 2, 1),
        ("pole Lorentz 1 (0)", "poles driven", 1, 2),
        ("pole Lorentz 1 (0)", "poles kept", 1, 2),
        ("pole magnetic Lorentz 1 (0)", "poles driven", 2, 1),
        ("off-diagonal xy", "off-diagonal points", 0, 3),
        ("off-diagonal xz", "off-diagonal points", 0, 0),
    ],
)
def test_media_cost_the_components_that_they_act_on(kind: str, term: str, across: float, within: float) -> None:
    points = 9 * 7 if term == "poles kept" else 48
    for stepped, count in ((ACROSS, across), (WITHIN, within)):
        found = amounts(_plane(stepped, (kind,)), [[0, 0, 0]], [[8, 6, 1]])
        assert found[term] == pytest.approx(points * count / 3), stepped


def test_a_pole_anywhere_is_kept_by_every_chunk_and_copied_over_its_borders() -> None:
    found = amounts(cell({"pole Lorentz 1 (0)": (9, 3, 3)}), LOW, HIGH)
    assert found["poles kept"].tolist() == [7 * 9 * 7] * 2
    assert found["polarised points"].tolist() == [7 * 9 * 7] * 2
    assert found["pole faces"].tolist() == [48, 48]
    both = amounts(cell({"pole Lorentz 1 (0)": (9, 3, 3), "pole magnetic Lorentz 1 (0)": (0, 0, 0)}), LOW, HIGH)
    assert both["poles kept"].tolist() == both["polarised points"].tolist() == [2 * 7 * 9 * 7] * 2


def test_known_pairs_of_axes_are_counted_one_by_one() -> None:
    of = cell({OFF_DIAGONAL[1]: (9, 3, 3)}, kinds=OFF_DIAGONAL)
    assert amounts(of, LOW, HIGH)["off-diagonal points"].tolist() == [0, 288]


def test_an_absorber_is_a_conductivity_of_e_and_h_in_the_chunks_it_reaches_and_makes_none() -> None:
    found = amounts(cell(absorber=((0, 2), (0, 0), (0, 0))), LOW, HIGH)
    assert found["conductive points"].tolist() == [0, 2 * 288]
    assert found["chunks"].tolist() == [1, 1]


def test_layers_make_chunks_of_their_own_with_borders_that_keep_b() -> None:
    found = amounts(cell(pml=((0, 3), (0, 2), (0, 0))), *WHOLE)
    assert found["chunks"] == 4
    assert found["PML 1d points"] == 3 * 6 * 6 + 9 * 2 * 6
    assert found["PML 2d points"] == 3 * 2 * 6
    assert found["faces of B"] == 6 * 6 + 9 * 6 + (2 * 6 + 3 * 6) + 3 * 6 + 2 * 6
    assert found["processes"] == 1


def test_borders_across_the_last_axis_are_ends_of_rows() -> None:
    across_x, across_z = (
        amounts(cell(), LOW, HIGH),
        amounts(cell(), [[0, 0, 0], [0, 0, 3]], [[12, 8, 3], [12, 8, 6]]),
    )
    assert across_x["faces copied"].tolist() == [48, 48]
    assert across_z["row ends copied"].tolist() == [96, 96]
    assert not across_x["row ends copied"].any()
    assert not across_z["faces copied"].any()
    assert across_x["rows"].tolist() == [48, 48]
    assert across_z["rows"].tolist() == [96, 96]


def test_periodic_sides_are_copied_too_even_by_a_chunk_that_is_its_own_neighbour() -> None:
    alone, periodic = (amounts(cell(periodic=(flag, False, False)), *WHOLE) for flag in (False, True))
    assert alone["own faces"] == alone["faces copied"] == alone["neighbour chunks"] == 0
    assert periodic["own faces"] == 2 * 48
    assert periodic["faces copied"] == 0
    assert periodic["neighbour chunks"] == 1
    assert amounts(cell(periodic=(True, False, False)), LOW, HIGH)["neighbour chunks"].tolist() == [1, 1]
    thirds = amounts(cell(periodic=(True, False, False)), [[0, 0, 0], [4, 0, 0]], [[4, 8, 6], [8, 8, 6]])
    assert thirds["faces copied"].tolist() == [96, 96]
    assert thirds["own faces"].tolist() == [0, 0]
    assert thirds["neighbour chunks"].tolist() == [2, 2]


def test_complex_fields_double_what_is_swept_but_not_what_there_is_once() -> None:
    plain, doubled = (amounts(cell(complex_fields=flag), LOW, HIGH) for flag in (False, True))
    for name in NAMES:
        factor = 1 if name in ("chunks", "processes", "neighbour chunks") else 2
        assert doubled[name].tolist() == (factor * plain[name]).tolist(), name


def test_two_dimensions_have_terms_of_their_own_and_the_share_of_their_components() -> None:
    across, within = (amounts(_plane(stepped), [[0, 0, 0]], [[8, 6, 1]]) for stepped in (ACROSS, WITHIN))
    for found in (across, within):
        assert found["points"] == 0
        assert found["points of planes"] == 24
        assert found["rows"] == 4
    assert [float(found["E points of planes"][0]) for found in (across, within)] == [16, 32]


FLAT = Survey.of_blocks([np.arange(13), np.arange(2), np.arange(7)], (), np.zeros((12, 1, 6, 0)))
PLANE = Cell("meep", Grid((12.0, 0.0, 6.0), 1), FLAT, layers_apart=("pml",))
TURNING = replace(PLANE, traits={"cylindrical": 1.0, "turning": 1.0}, complex_fields=True)


def test_points_of_cylindrical_cells_cost_more_and_still_more_if_fields_turn() -> None:
    found = [amounts(one, [[0, 0, 0]], [[12, 1, 6]]) for one in (PLANE, TURNING)]
    assert [found[0][name].tolist() for name in ("points around", "turning points")] == [[0.0], [0.0]]
    assert [found[1][name].tolist() for name in ("points around", "turning points")] == [[144.0], [144.0]]


def test_costs_from_before_cylinders_say_what_they_leave_out() -> None:
    old = {name: Coefficient(1e-9) for name in NAMES if name not in ("points around", "turning points")}
    cost = CostModel("meep", old)
    assert cost.lacking(PLANE) == ""
    assert "the costs leave out (points around, turning points)" in cost.lacking(TURNING)


def test_a_chunk_of_no_points_costs_nothing() -> None:
    pieces = pieces_of(cell({"nonlinear": (9, 3, 3)}), *WHOLE)
    nothing = replace(pieces, high=pieces.low)
    assert not Meep().amounts(nothing).any()


@settings(max_examples=60, deadline=None)
@given(data=st.data(), periodic=st.tuples(*[st.booleans()] * 3), parts=st.booleans())
def test_amounts_are_finite_not_negative_and_of_each_box_alone(
    data: st.DataObject, periodic: tuple[bool, bool, bool], parts: bool
) -> None:
    places = {
        k: tuple(data.draw(st.integers(0, n - 1)) for n in SHAPE) for k in data.draw(st.sets(st.sampled_from(KINDS)))
    }
    layers = [data.draw(st.tuples(st.integers(0, n // 3), st.integers(0, n // 3))) for n in SHAPE]
    of = cell(places, pml=tuple(layers), periodic=periodic, complex_fields=parts)
    boxes = [[sorted(data.draw(st.sets(st.integers(0, n), min_size=2, max_size=2))) for n in SHAPE] for _ in range(3)]
    low, high = ([[side[end] for side in box] for box in boxes] for end in (0, 1))
    together = amounts(of, low, high)
    for name in NAMES:
        assert np.all(np.isfinite(together[name])), name
        assert np.all(together[name] >= 0), name
        alone = [amounts(of, [a], [b])[name][0] for a, b in zip(low, high, strict=True)]
        np.testing.assert_allclose(together[name], alone, err_msg=name)
