"""What evenly knows of a Meep cell before a step is what Meep makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.meep.conftest import Inside

SOLIDS = (
    "block", "skew block", "ellipsoid", "skew ellipsoid", "sphere", "cylinder", "cone", "wedge", "prism",
    "prism of center", "prism across x", "dented prism", "endless prism", "leaning prism", "leaning prism down",
)  # fmt: skip
STRUCTURES = ("oled", "cmos", "tandem")
CORNERS = [("x", 0.1), 0, [("y", 0.25), 1, 2]]


@pytest.mark.parametrize("kind", SOLIDS)
def test_solids_hold_the_points_of_meeps_objects(inside: Inside, kind: str) -> None:
    found = inside("solids", kind, 3)
    # Meep itself takes one point in a thousand for outside of a prism, where a ray hits one of its corners.
    assert found["wrong"] <= found["points"] / 1000
    assert found["inside"] > 30
    assert found["bounds"] == 0
    assert found["steepest"] <= 1 + 1e-9


@pytest.mark.parametrize("name", [*STRUCTURES, "all sides", "mixed sides", "plane", "line", "periodic", "one layer"])
def test_chunks_and_layers_are_meeps(inside: Inside, name: str) -> None:
    along_z: list[Any] = [("z", 0.1), 0, 1]
    found = inside("pieces", name, along_z if name in (*STRUCTURES, "line") else CORNERS)
    assert found["ours"] == found["meep"]
    assert found["untouched"]
    assert found["complex"][0] == found["complex"][1]
    assert found["dimensions"][0] == found["dimensions"][1]
    assert found["periodic"] == [name in ("cmos", "tandem", "periodic", "one layer")] * 3


@pytest.mark.parametrize(
    ("name", "periodic"), [("wire", [1, 1, 0]), ("sheet", [1, 0, 0]), ("strip", [1, 0, 0]), ("ring", [0, 0, 1])]
)
def test_directions_of_one_point_are_periodic_without_a_k_point(
    inside: Inside, name: str, periodic: list[bool]
) -> None:
    found = inside("pieces", name, 0)
    assert found["periodic"] == periodic
    assert found["ours"] == found["meep"]


@pytest.mark.parametrize("name", [*STRUCTURES, "monitors"])
def test_every_rank_transforms_what_was_predicted(inside: Inside, name: str) -> None:
    layout = [("x", 0.15), [("y", 0.1), 0, 1], [("z", -0.1), 2, 3]]
    found = inside("transforms", name, layout, ranks=4)
    assert found["ours"] == [pytest.approx(rank, rel=1e-9) for rank in found["meep"]]


@pytest.mark.parametrize(
    "name", ["ball", "hidden", "off the middle", "past a period", "coupled", "function", "epsilon function", "grid"]
)
def test_points_are_made_of_what_meep_makes_them_of(inside: Inside, name: str) -> None:
    found = inside("permittivity", name)
    # A function is looked at once per grid point, so that its border may be half a point off.
    assert found["apart"] <= (found["dense"] / 4 if name == "epsilon function" else 0)
    assert found["coupled"]["ours"] == found["coupled"]["meep"]


@pytest.mark.parametrize("name", ["cmos", "tandem"])
def test_axes_are_coupled_where_meep_couples_them(inside: Inside, name: str) -> None:
    found = inside("permittivity", name)
    coupled = found["coupled"]
    assert [n > 0 for n in coupled["ours"]] == [n > 0 for n in coupled["meep"]]
    # At edges and on small curved objects the two average differently.
    assert found["apart"] <= 0.06 * found["dense"]


def test_hidden_and_extra_media_count_where_meep_keeps_them(inside: Inside) -> None:
    film, extra, buried = (inside("survey", name) for name in ("film", "extra", "buried"))
    assert film["pole Drude 1 (0.1)"] == film["pole Lorentz 2 (0.1)"] > 0
    assert (film["electric poles"], extra["electric poles"], buried["electric poles"]) == (2, 2, 2)
    assert not any(kind.startswith("pole ") for kind in (*extra, *buried))


def test_losses_magnets_and_conductors_are_seen(inside: Inside) -> None:
    loss, metal = inside("survey", "loss"), inside("survey", "conductor")
    assert loss["electric_conductivity"] == loss["nonlinear"] >= 1000
    assert loss["magnetic"] >= 1000
    assert "magnetic_conductivity" not in loss
    assert metal["dielectric"] >= 1000


def test_media_of_a_function_are_found(inside: Inside) -> None:
    graded = inside("survey", "graded")
    # Half of 20^3 points.
    assert graded["dielectric"] == graded["pole Drude 1 (0.1)"] == 4000


def test_only_the_components_that_sources_excite_are_stepped_in_a_plane(inside: Inside) -> None:
    names = ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")
    found = [inside("survey", name) for name in ("across", "within", "film")]
    assert ["".join(name for name in names if one[name]) for one in found] == ["EzHxHy", "ExEyHz", "".join(names)]


def test_surfaces_that_lean_out_of_a_plane_couple_its_components(inside: Inside) -> None:
    found = inside("stepped_in_planes")
    # Once Meep has fields, these are known.
    assert {name: after for name, (_, _, after) in found.items()} == {
        name: meep for name, (_, meep, _) in found.items()
    }
    assert {name: ours for name, (ours, _, _) in found.items()} == {name: meep for name, (_, meep, _) in found.items()}
    assert {meep for _, meep, _ in found.values()} == {"EzHxHy", "ExEyEzHxHyHz"}


def test_cylindrical_cells_are_told_and_whether_their_fields_turn(inside: Inside) -> None:
    found = [inside("survey", name) for name in ("around", "turning", "across")]
    assert [(one.get("cylindrical"), one.get("turning")) for one in found] == [(1.0, 0.0), (1.0, 1.0), (None, None)]


@pytest.mark.parametrize(
    ("source", "stepped"),
    [
        ("mode across", "EzHxHy"),
        ("mode within", "ExEyHz"),
        ("any mode", "ExEyEzHxHyHz"),
        ("beam across", "EzHxHy"),
        ("beam within", "ExEyHz"),
    ],
)
def test_modes_and_beams_excite_the_components_of_their_parity(inside: Inside, source: str, stepped: str) -> None:
    # `fields::add_volume_source_check` in Meep's sources.cpp leaves out the others in a plane.
    found = inside("survey", source)
    assert "".join(name for name in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz") if found[name]) == stepped


@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_film_at_a_periodic_side_is_in_the_arrays_at_the_other_side(inside: Inside, axis: int, side: str) -> None:
    found = inside("held_over_sides", axis, side)
    assert found["ours"] == found["meep"]
    assert found["ours"]["own"] == [True, True, True]
    # In the other half, points of the component across the film lie half a spacing beyond the side, or before it.
    assert found["ours"]["other"][axis] == (side == "low")
    # Points of the others lie on the face. Whether the film holds them follows from rounding. Along x there is none.
    along = {found["ours"]["other"][component] for component in range(3) if component != axis}
    assert along == {True} if axis == 0 else len(along) == 1


THIRDS = [("x", 0.15), [("y", 0.1), 0, 1], [("x", 0.5), 1, 0]]
REDUCED = {
    "mirror x": THIRDS,
    "mirrors x, y, off the middle": THIRDS,
    "mirror y, Bloch": THIRDS,
    "quarter turn": THIRDS,
    "half turn": THIRDS,
    "mirrors x, y, z, block": [("z", 0.1), 0, 1],
    "cylinder, m = 0": [("x", 0.3), [("z", 0.2), 0, 1], 1],
    "cylinder, m = 1, mirror z": [("x", 0.3), [("z", 0.2), 0, 1], 1],
    "mirror z, line": [("z", 0.2), 0, 1],
}


@pytest.mark.parametrize(
    ("ranks", "names"), [(1, [*REDUCED]), (2, ["mirrors x, y, off the middle", "cylinder, m = 0"])]
)
def test_layouts_cut_the_part_of_symmetric_and_cylindrical_cells_that_meep_steps(
    inside: Inside, ranks: int, names: list[str]
) -> None:
    found = inside("reduced", {name: REDUCED[name] for name in names}, ranks=ranks)
    for name in names:
        pieces, transforms = found[name]["pieces"], found[name]["transforms"]
        assert (name, pieces["ours"]) == (name, pieces["meep"])
        assert pieces["untouched"]
        assert pieces["complex"][0] == pieces["complex"][1]
        # Sums of some thousand terms in another order, each rounded by 1e-16, of which some cancel.
        assert (name, found[name]["apart"] < 1e-12) == (name, True)
        # Meep 1.25 misses points of monitors where a half turn is the only symmetry.
        if name != "half turn":
            # Regions are at least 10 points wide, and a row at a mirror may count once more or less.
            ours, meep = (sum(values for values, _ in transforms[who]) for who in ("ours", "meep"))
            assert (name, ours) == (name, pytest.approx((1 + pieces["complex"][0]) * meep, rel=0.1))
