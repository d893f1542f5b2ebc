"""The designs that `evenly calibrate fdtd` times: single features in several sizes, pairs of features, cuts, and cells.

>>> len({design.key for design in fdtd_designs()}) == len(fdtd_designs())
True
>>> sorted({design.purpose for design in fdtd_designs()})
['cell', 'feature']
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from evenly.decomposition.calibration.designs import Design

__all__ = ["fdtd_designs"]

#: Edges, in points, of the cubes on which most features are measured.
EDGES = (10, 14, 18, 24, 30, 36, 44, 52)
EDGE = 36
#: Cuts in halves along x, y and z, all owned by rank 0.
EIGHTHS: Any = [["z", 0.0], *[[["y", 0.0], *[[["x", 0.0], 0, 0]] * 2]] * 2]
Settings = dict[str, Any]


def fdtd_designs() -> list[Design]:
    """Return all designs."""
    makers = (
        _vacuum, _rows, _media, _layers, _poles, _thin_poles, _grains, _large_poles, _large_round, _others, _transforms,
        _cuts, _sides, _ranks, _pairs, _large, _cells,
    )  # fmt: skip
    return [design for make in makers for design in make()]


def _cube(n: int, **more: Any) -> Settings:
    return {"shape": [n, n, n], **more}


def _block(n: int, medium: Settings, share: float = 0.5) -> list[Settings]:
    """Return a block of a medium that fills a share of a cube of n points along x."""
    return [_solid("block", [n * share, 4 * n, 4 * n], medium, [-n * (1 - share) / 2, 0, 0])]


def _solid(kind: str, size: Any, medium: Settings, center: list[float]) -> Settings:
    return {"kind": kind, "size": size, "medium": medium, "center": center}


def _poled(count: int) -> Settings:
    """Return a dispersive medium with some poles."""
    return {"epsilon": 2.0, "electric_poles": count}


def _vacuum() -> Iterator[Design]:
    for n in (*EDGES, 64, 80):
        yield Design("vacuum", f"{n}^3", _cube(n))


def _rows() -> Iterator[Design]:
    """Long and short rows, thick and thin planes, one and two dimensions."""
    thick = ((4, 64, 64), (64, 64, 4), (12, 12, 400), (4, 4, 3000), (8, 40, 150), (150, 8, 40))
    for shape in (*thick, (200, 200, 1), (80, 1, 600)):
        yield Design("rows", "x".join(map(str, shape)), {"shape": list(shape)})


def _media() -> Iterator[Design]:
    for n in EDGES:
        yield Design("varied permittivity", f"{n}^3", _cube(n, objects=_block(n, {"epsilon": 2.0})))
        yield Design(
            "electric conductivity", f"{n}^3", _cube(n, medium={"epsilon": 2.0, "electric_conductivity": 0.01})
        )
        yield Design("absorber", f"{n}^3", _cube(n, boundaries=[["absorber", "x", n // 2, "low"]]))
    for n in EDGES[::2]:
        both = {"epsilon": 2.0, "mu": 2.0}
        yield Design("varied permittivity and permeability", f"{n}^3", _cube(n, objects=_block(n, both)))


def _layers() -> Iterator[Design]:
    for n, axes in zip(EDGES, "xyzxyzxy", strict=True):
        yield Design("PML 1d", f"{n}^3 {axes}", _cube(n, boundaries=[["pml", axes, n - 4, "low"]]))
    for n, axes in zip(EDGES, ("xy", "yz", "xz", "xy", "yz", "xz", "xy", "yz"), strict=True):
        yield Design("PML 2d", f"{n}^3 {axes}", _cube(n, boundaries=[["pml", a, n - 4, "low"] for a in axes]))
    for n in EDGES:
        yield Design("PML 3d", f"{n}^3", _cube(n, boundaries=[["pml", a, n - 4, "low"] for a in "xyz"]))


def _poles() -> Iterator[Design]:
    for n in EDGES:
        yield Design("one pole", f"{n}^3", _cube(n, medium=_poled(1)))
    for n, count in zip((14, 18, 24, 30, 36, 24, 30, 36), (5, 3, 2, 5, 3, 3, 2, 5), strict=True):
        yield Design("several poles", f"{n}^3 x {count}", _cube(n, medium=_poled(count)))


def _thin_poles() -> Iterator[Design]:
    """Blocks of a dispersive medium, for the cost of short rows of its points."""
    plates = ((2, 80, 80), (80, 2, 80), (80, 80, 2))
    for size in (*plates, (18, 18, 18), (26, 26, 8), (8, 26, 26), (30, 12, 30), (34, 34, 34)):
        block = _solid("block", [s + 0.02 for s in size], _poled(2), [0.25, 0.25, 0.25])
        yield Design("blocks with poles", "x".join(map(str, size)), _cube(EDGE, objects=[block]))


def _grains() -> Iterator[Design]:
    """Many small blocks of a dispersive medium: rows of few points in every direction."""
    small = ((2, 6, 2), (3, 9, 2), (4, 9, 3), (4, 7, 5))
    for edge, period, count in (*small, (6, 12, 2), (8, 12, 3), (3, 6, 5), (2, 9, 3)):
        places = [float(at) + edge / 2 + 1.25 - EDGE / 2 for at in range(0, EDGE - edge - 1, period)]
        centers = itertools.product(places, repeat=3)
        objects = [_solid("block", [edge + 0.02] * 3, _poled(count), list(center)) for center in centers]
        yield Design("grains with poles", f"{edge} of {period} x {count}", _cube(EDGE, objects=objects))


def _large_poles() -> Iterator[Design]:
    """Dispersive media in cells of sizes around those of the caches."""
    for n, count in ((40, 5), (46, 5), (52, 5), (60, 5), (52, 3), (60, 3), (70, 3), (76, 2)):
        yield Design("large with poles", f"{n}^3 x {count}", _cube(n, objects=_block(n, _poled(count))))
    for n, count, share in ((56, 3, 0.6), (70, 3, 0.5), (80, 1, 0.4), (84, 2, 0.6), (64, 5, 0.4)):
        # Rows with poles that begin and end within those of the cell.
        block = _solid("block", [n * share] * 3, _poled(count), [0.25, 0.25, 0.25])
        yield Design("large with poles", f"{n}^3 x {count} within, {share:g}", _cube(n, objects=[block]))
    centers = itertools.product(range(-24, 30, 12), repeat=3)
    grains = [_solid("block", [9.02] * 3, _poled(2), list(center)) for center in centers]
    yield Design("large with poles", "60^3 in grains", _cube(60, objects=grains))


def _others() -> Iterator[Design]:
    for n in EDGES[1:7]:
        yield Design("magnetic pole", f"{n}^3", _cube(n, medium={"mu": 2.0, "magnetic_poles": 1}))
        yield Design("nonlinear", f"{n}^3", _cube(n, medium={"epsilon": 2.0, "chi3": 1e-3}))
        off = {"epsilon": 2.0, "epsilon_off_diagonal": [0.1, 0.2, 0.3]}
        yield Design("off-diagonal", f"{n}^3", _cube(n, medium=off))
        sphere = {"kind": "sphere", "size": n / 2.2, "medium": {"epsilon": 3.0}}
        yield Design("sphere", f"{n}^3", _cube(n, objects=[sphere]))
        yield Design("Bloch", f"{n}^3", _cube(n, boundaries=[["bloch", "xyz"]]))


def _large_round() -> Iterator[Design]:
    """Surfaces at an angle to the grid, which make media off-diagonal, in cells too large for a core's own caches."""
    for n in (48, 60, 74, 88):
        ball = {"kind": "sphere", "size": n / 2.2, "medium": {"epsilon": 3.0}}
        yield Design("large with spheres", f"{n}^3", _cube(n, objects=[ball]))
    for n, share in ((44, 0.3), (56, 0.5), (66, 0.3), (76, 0.5)):
        # Beside the block with poles.
        ball = _solid("sphere", 0.9 * n * (1 - share) / 2, {"epsilon": 3.0}, [n * share / 2, 0, 0])
        objects = [*_block(n, _poled(3), share), ball]
        yield Design("spheres and poles", f"{n}^3 beside poles, {share:g}", _cube(n, objects=objects))
    for n, radius, count in ((30, 12, 3), (24, 9, 1), (40, 6, 5), (48, 20, 3), (36, 15, 1), (36, 15, 5), (72, 29, 3)):
        ball = _solid("sphere", radius, _poled(count), [0.25, 0.25, 0.25])
        yield Design("spheres of poles", f"{n}^3, {radius} x {count}", _cube(n, objects=[ball]))
    for n, count in ((32, 2), (56, 3)):
        # Both at one surface.
        objects = [*_block(n, _poled(count)), _solid("sphere", n / 3, {"epsilon": 3.0}, [0.25, 0.25, 0.25])]
        yield Design("spheres of poles", f"{n}^3 in poles x {count}", _cube(n, objects=objects))
    for n in (52, 68):
        off = {"epsilon": 2.0, "epsilon_off_diagonal": [0.1, 0.2, 0.3]}
        yield Design("large with spheres", f"{n}^3 off-diagonal", _cube(n, medium=off))


def _transforms() -> Iterator[Design]:
    n = 30
    for size, count in zip((4, 8, 12, 16, 20, 24, 16, 24), (10, 50, 1, 20, 5, 10, 50, 2), strict=True):
        given = {"components": ["Ex", "Hy"], "size": [size] * 3, "frequencies": count}
        yield Design("transforms", f"{size}^3 x {count}", _cube(n, transforms=[given]))
    for size, count in zip((6, 10, 14, 18, 22, 24, 24, 12), (10, 20, 5, 50, 10, 1, 21, 2), strict=True):
        given = {"flux": True, "size": [size] * 3, "frequencies": count}
        yield Design("flux boxes", f"{size}^3 x {count}", _cube(n, transforms=[given]))
    for edge, count in ((64, 4), (72, 20)):
        for axis in range(3):
            plane = {"flux": True, "size": [0 if a == axis else edge - 4 for a in range(3)], "frequencies": count}
            name = f"{edge}^3 x {count} across {'xyz'[axis]}"
            yield Design("flux planes", name, _cube(edge, transforms=[plane]))


def _row_of_cuts(axis: str, edges: list[float]) -> Any:
    """Return the nested lists of parallel cuts whose leaves all belong to rank 0."""
    if not edges:
        return 0
    middle = len(edges) // 2
    return [[axis, edges[middle]], _row_of_cuts(axis, edges[:middle]), _row_of_cuts(axis, edges[middle + 1 :])]


def _cuts() -> Iterator[Design]:
    """The same cell in 2, 4 and 8 chunks of one rank, cut at different places along each axis."""
    for n in (24, 48):
        for axis in "xyz":
            for parts in (2, 4, 8):
                edges = [float(n * k // parts - n // 2) for k in range(1, parts)]
                yield Design("cut position", f"{n}^3 {parts} along {axis}", _cube(n, layout=_row_of_cuts(axis, edges)))
            layout = _row_of_cuts(axis, [-n // 2 + 5.0])
            yield Design("cut position", f"{n}^3 off the middle of {axis}", _cube(n, layout=layout))
    for n in (16, 24, 32, 40):
        yield Design("cut position", f"{n}^3 in eighths", _cube(n, layout=EIGHTHS))


def _sides() -> Iterator[Design]:
    for n, axes in zip(EDGES, ("x", "y", "z", "xy", "xyz", "yz", "xyz", "xz"), strict=True):
        yield Design("periodic", f"{n}^3 {axes}", _cube(n, boundaries=[["periodic", axes]]))


def _ranks() -> Iterator[Design]:
    """Cells of several ranks, each rank stepped alone, for the cost of packing and unpacking messages."""
    for n, ranks in ((24, 2), (40, 2), (24, 4), (40, 4), (56, 4), (32, 8), (48, 8), (60, 8)):
        yield Design("ranks", f"{n}^3 on {ranks}", _cube(n, ranks=ranks))
    for shape, ranks in (((96, 16, 16), 4), ((16, 96, 16), 4), ((16, 16, 96), 4)):
        yield Design("ranks", f"{'x'.join(map(str, shape))} on {ranks}", {"shape": list(shape), "ranks": ranks})


def _large() -> Iterator[Design]:
    """Cells too large for the caches."""
    yield Design("large", "70^3 varied", _cube(70, objects=_block(70, {"epsilon": 2.0})))
    yield Design("large", "64^3 in absorber", _cube(64, boundaries=[["absorber", "x", 32, "low"]]))
    yield Design("large", "64^3 in PML", _cube(64, boundaries=[["pml", "y", 32, "low"]]))
    yield Design("large", "60^3 with poles", _cube(60, medium=_poled(3)))
    yield Design("large", "96^3", _cube(96))
    yield Design("large", "96^3 in eighths", _cube(96, layout=EIGHTHS))


def _pairs() -> Iterator[Design]:
    """Two features at once, so that costs they share aren't counted twice."""
    varied = {"epsilon": 2.0}
    for n in (24, 40):
        pml, absorber = ["pml", "z", n // 3, "low"], ["absorber", "x", n // 3, "low"]
        both: dict[str, Settings] = {
            "poles in PML": {"boundaries": [pml], "medium": _poled(2)},
            "varied in PML": {"boundaries": [pml], "objects": _block(n, varied)},
            "varied in absorber": {"boundaries": [absorber], "objects": _block(n, varied)},
            "absorber and PML": {"boundaries": [absorber, pml], "objects": _block(n, _poled(2))},
        }
        for name, settings in both.items():
            yield Design("pairs", f"{n}^3 {name}", _cube(n, **settings))


def _cells() -> Iterator[Design]:
    """Random cells with uneven physics, cut for several ranks."""
    for seed, (points, ranks) in enumerate(((4e4, 2), (8e4, 4), (1.2e5, 4), (1.6e5, 8), (2.5e5, 8), (3e5, 4))):
        given = {"seed": 100 + seed, "points": points}
        settings = {"structure": "random", "parameters": given, "ranks": ranks}
        yield Design(f"random cell {100 + seed}", f"on {ranks} ranks", settings, "cell")
