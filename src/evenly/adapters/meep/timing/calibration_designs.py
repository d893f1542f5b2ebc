"""The designs of the runs that `evenly calibrate meep` times.

They cover eight sizes of each feature, tiny objects of each kind, cuts, pairs of features, and cells as people
simulate them: layers on both sides, several features, more bytes than the caches hold. Each kind of these cells is held
out once, to learn how far a step of such a cell is off its prediction.

>>> designs = meep_designs()
>>> len({design.key for design in designs}) == len(designs)
True
>>> min(sum(d.group == group for d in designs) for group in ("vacuum", "PML 2d", "poles", "nonlinear", "flux"))
8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenly.decomposition.calibration.designs import Design

__all__ = ["meep_designs"]

#: Edges of the cubes for the sizes of a feature, and the edge of the cubes for other designs.
_EDGES = (12, 16, 20, 24, 28, 32, 40, 48)
_EDGE = 32
Settings = dict[str, Any]
_PAIRS = ("xy", "yz", "xz")


def meep_designs() -> list[Design]:
    """Return all designs. They are the same at each call."""
    features = (
        _vacuum,
        _shapes,
        _media,
        _poles,
        _layers,
        _fields,
        _monitors,
        _cuts,
        _presence,
        _pairs,
        _planes,
        _rings,
        _large,
    )
    return [design for make in (*features, _blocks, _films, _metals, _absorbed, _slabs) for design in make()]


def _cube(n: int, **more: Any) -> Settings:
    return {"points": [n, n, n], **more}


def _vacuum() -> Iterator[Design]:
    for n in (*_EDGES, 8, 60):
        yield Design("vacuum", f"{n}^3", _cube(n))


def _shapes() -> Iterator[Design]:
    """Long and short rows, thick and thin slabs."""
    slabs = (40, 40, 8), (8, 40, 40), (40, 8, 40), (100, 32, 8), (8, 32, 100)
    for points in (*slabs, (120, 8, 16), (16, 8, 120), (12, 12, 160)):
        yield Design("shapes", "x".join(map(str, points)), {"points": list(points)})


_MEDIA: Mapping[str, Settings] = {
    "permeability": {"mu": 2.0},
    "conductivity": {"epsilon": 2.0, "conductivity": 0.1},
    "nonlinear": {"epsilon": 2.0, "chi3": 1e-3},
    "off-diagonal": {"epsilon": 2.0, "coupled": [0.1, 0.2, 0.3]},
}


def _media() -> Iterator[Design]:
    for name, medium in _MEDIA.items():
        for n in _EDGES:
            yield Design(name, f"{n}^3", _cube(n, medium=medium))
    for n in (20, 32):
        yield Design(
            "conductivity", f"{n}^3 of both", _cube(n, medium={"conductivity": 0.1, "magnetic_conductivity": 0.1})
        )


def _poles() -> Iterator[Design]:
    """Numbers of poles: everywhere, or only in one corner of a cell with one, two or many chunks."""
    for n, count in zip(_EDGES, (1, 2, 5, 1, 3, 2, 1, 5), strict=True):
        yield Design("poles", f"{n}^3 x {count}", _cube(n, medium={"poles": count}))
    for count in (1, 2, 5, 10):
        for cuts in ((1, 1, 1), (2, 1, 1), (1, 1, 4), (2, 2, 2)):
            name = f"x {count} in one of {cuts[0] * cuts[1] * cuts[2]} chunks"
            yield Design("poles of others", name, _cube(_EDGE, cuts=cuts, objects=[_corner(_EDGE, {"poles": count})]))
    for n in (20, 32):
        yield Design("poles", f"{n}^3 of H", _cube(n, medium={"mu": 2.0, "magnetic_poles": 1}))


def _corner(n: int, medium: Settings) -> Settings:
    return {"medium": medium, "size": [4, 4, 4], "center": [4 - n / 2] * 3}


def _layers() -> Iterator[Design]:
    for n, axis in zip(_EDGES, "xyzxyzxy", strict=True):
        yield Design("PML 1d", f"{n}^3 {axis}", _layered(n, axis))
        yield Design("absorber", f"{n}^3 {axis}", _layered(n, axis, "absorber"))
    for n, axes in zip(_EDGES, (*_PAIRS, *_PAIRS, "xy", "yz"), strict=True):
        yield Design("PML 2d", f"{n}^3 {axes}", _layered(n, axes))
    for n in _EDGES:
        yield Design("PML 3d", f"{n}^3", _layered(n, "xyz"))


def _layered(n: int, axes: str, kind: str = "pml", **more: Any) -> Settings:
    """A cube whose upper two thirds along some axes are a layer."""
    layers = [{"kind": kind, "axis": axis, "points": 2 * n // 3, "side": "high"} for axis in axes]
    return _cube(n, layers=layers, source=[(1 - n / 2) / 10] * 3, **more)


def _fields() -> Iterator[Design]:
    for n in _EDGES:
        yield Design("periodic", f"{n}^3", _cube(n, periodic=True))
        yield Design("complex", f"{n}^3", _cube(n, complex=True))
    for n, count in zip(_EDGES, (8, 5, 3, 8, 2, 5, 3, 1), strict=True):
        yield Design("periodic with poles", f"{n}^3 x {count}", _cube(n, periodic=True, medium={"poles": count}))
    for cuts in ((2, 2, 1), (1, 2, 4)):
        yield Design("complex", f"cut {cuts}", _cube(_EDGE, complex=True, cuts=list(cuts)))


def _monitors() -> Iterator[Design]:
    n = _EDGE
    for side, count in zip((8, 16, 24, 32, 32, 24, 16, 32), (100, 50, 20, 1, 10, 5, 2, 50), strict=True):
        for across, size in (("Z", [side, side, 0]), ("X", [0, side, side])):
            monitor = {"kind": "flux", "size": size, "across": across, "frequencies": count}
            yield Design("flux", f"{side}^2 x {count} across {across}", _cube(n, monitors=[monitor]))
    for side, count in ((8, 20), (16, 1), (16, 10), (24, 5)):
        monitor = {"kind": "fields", "size": [side] * 3, "frequencies": count}
        yield Design("transformed fields", f"{side}^3 x {count}", _cube(n, monitors=[monitor]))


def _cuts() -> Iterator[Design]:
    """Equal cells with more and more chunks along different axes, also with features that make borders expensive."""
    lattices = ((2, 1, 1), (4, 1, 1), (8, 1, 1), (1, 2, 1), (1, 4, 1), (1, 1, 2), (1, 1, 4))
    for n in (24, 32, 40):
        for cuts in (*lattices, (2, 2, 1), (1, 2, 2), (2, 1, 2), (2, 2, 2), (4, 2, 2), (2, 2, 3)):
            yield Design("cuts", f"{n}^3 in {cuts}", _cube(n, cuts=list(cuts)))
    for cuts, count in (((4, 1, 1), 8), ((1, 4, 1), 5), ((1, 1, 4), 8), ((2, 2, 2), 8), ((1, 1, 2), 3)):
        medium = {"poles": count}
        yield Design("cuts", f"{count} poles in {cuts}", _cube(24, cuts=list(cuts), medium=medium))
        yield Design(
            "cuts", f"{count} poles, periodic, in {cuts}", _cube(24, cuts=list(cuts), medium=medium, periodic=True)
        )
    for cuts in ((4, 1, 1), (1, 1, 4), (2, 2, 2), (4, 4, 1)):
        yield Design("cuts", f"poles in {cuts}", _cube(_EDGE, cuts=list(cuts), medium={"poles": 3}))
        yield Design("cuts", f"permeability in {cuts}", _cube(_EDGE, cuts=list(cuts), medium={"mu": 2.0}))
        yield Design("cuts", f"periodic in {cuts}", _cube(_EDGE, cuts=list(cuts), periodic=True))


def _presence() -> Iterator[Design]:
    """A tiny object of each kind in one of eight chunks."""
    for name, medium in _MEDIA.items():
        yield Design("presence", name, _cube(40, cuts=[2, 2, 2], objects=[_corner(40, medium)]))


def _pairs() -> Iterator[Design]:
    """Two features at once. Their common work must not be counted twice."""
    for axes in ("x", "yz", "xyz"):
        for name, medium in {**_MEDIA, "two poles": {"poles": 2}}.items():
            yield Design("pairs", f"{name} in PML {axes}", _layered(28, axes, medium=medium))
    for name, medium in {**_MEDIA, "two poles": {"poles": 2}}.items():
        yield Design("pairs", f"{name} in an absorber", _layered(28, "x", "absorber", medium=medium))
        yield Design("pairs", f"{name}, complex", _cube(24, complex=True, medium=medium))
    for cuts in ((2, 1, 1), (1, 2, 2)):
        yield Design("pairs", f"PML cut {cuts}", _layered(36, "z", cuts=list(cuts)))
        yield Design("pairs", f"poles in PML cut {cuts}", _layered(36, "z", cuts=list(cuts), medium={"poles": 4}))


#: Media in planes of both sizes, and in the larger ones alone.
_PLANAR: Mapping[str, Settings] = {"five poles": {"epsilon": 2.0, "poles": 5}}
_MEDIA_OF_PLANES: Mapping[str, Settings] = {
    "two poles": {"epsilon": 2.0, "poles": 2},
    "permeability": {"mu": 2.0},
    "conductivity": {"epsilon": 2.0, "conductivity": 0.1},
    "nonlinear": {"epsilon": 2.0, "chi3": 1e-3},
    "off-diagonal": {"epsilon": 2.0, "coupled": [0.1, 0, 0]},
    "magnetic poles": {"mu": 2.0, "magnetic_poles": 1},
}


def _both(axes: str, points: int, kind: str = "pml") -> list[Settings]:
    """Layers at both sides along some axes."""
    return [{"kind": kind, "axis": axis, "points": points, "side": side} for axis in axes for side in ("low", "high")]


def _blocks() -> Iterator[Design]:
    """A block in a box of PML, with a flux plane above it."""
    for n, cuts in (
        (24, (1, 1, 1)),
        (32, (2, 2, 2)),
        (40, (1, 1, 1)),
        (48, (1, 1, 4)),
        (56, (1, 1, 1)),
        (64, (1, 1, 1)),
    ):
        block = {"medium": {"epsilon": 12.0}, "size": [n / 2, n / 3, n / 3], "center": [0, 0, 0]}
        flux = {"kind": "flux", "size": [n / 2, n / 2, 0], "center": [0, 0, n / 5], "frequencies": 10}
        settings = _cube(n, layers=_both("xyz", n // 6), objects=[block], monitors=[flux], cuts=list(cuts))
        yield Design("blocks", f"{n}^3 in {cuts}", settings, purpose="cell")


def _films() -> Iterator[Design]:
    """A film with poles between PML, in a cell with periodic sides."""
    shapes = ((24, 24, 48, 1), (32, 32, 64, 2), (24, 24, 120, 5), (40, 40, 80, 3), (56, 56, 64, 2), (64, 64, 64, 4))
    for (*points, poles), cuts in zip(shapes, (1, 4, 1, 1, 2, 1), strict=True):
        film = {"medium": {"epsilon": 2.0, "poles": poles}, "size": [*points[:2], points[2] / 4], "center": [0, 0, -2]}
        source = [-0.05, -0.05, points[2] / 40]
        settings = {"points": points, "layers": _both("z", 8), "objects": [film], "periodic": True, "source": source}
        name = f"{'x'.join(map(str, points))} x {poles} in {cuts}"
        yield Design("films", name, {**settings, "cuts": [1, 1, cuts]}, purpose="cell")


def _metals() -> Iterator[Design]:
    """A block with poles in a box of PML."""
    for n, poles, cuts in ((32, 2, 1), (40, 5, 1), (48, 1, 2), (48, 3, 1), (56, 4, 1), (64, 2, 1)):
        block = {"medium": {"epsilon": 2.0, "poles": poles}, "size": [n / 3] * 3, "center": [-n / 9, 0, 0]}
        settings = _cube(n, layers=_both("xyz", n // 6), objects=[block], cuts=[cuts] * 3, source=[n / 60] * 3)
        yield Design("metals", f"{n}^3 x {poles} in {cuts}^3", settings, purpose="cell")


def _absorbed() -> Iterator[Design]:
    """Media with poles between absorbers and PML, with a flux plane of many frequencies."""
    shapes = ((32, 40, 64, 1), (48, 40, 40, 4), (64, 40, 48, 2), (40, 72, 48, 6), (80, 48, 48, 1), (56, 64, 72, 3))
    for n, (*points, poles) in enumerate(shapes):
        block = {"medium": {"epsilon": 2.0, "poles": poles}, "size": [p / 3 for p in points], "center": [0, 0, -4]}
        flux = {"kind": "flux", "size": [points[0] / 2, points[1] / 2, 0], "center": [0, 0, 9], "frequencies": 20}
        layers = [*_both("z", 8), *_both("x" if n % 2 else "y", 6, "absorber")]
        settings = {"points": points, "layers": layers, "objects": [block], "monitors": [flux], "periodic": n % 3 > 0}
        name = f"{'x'.join(map(str, points))} x {poles}"
        yield Design("absorbed", name, {**settings, "source": [0.1, 0.1, points[2] / 40]}, purpose="cell")


def _slabs() -> Iterator[Design]:
    """Waveguides and photonic-crystal slabs: many rods of one medium, in flat cells."""
    for nx, ny, nz in ((96, 64, 24), (120, 48, 32), (64, 64, 40), (160, 40, 40)):
        rods = [
            {"medium": {"epsilon": 12.0}, "size": [4, 4, nz / 3], "center": [x - nx / 2, y - ny / 2, 0]}
            for x in range(12, nx - 8, 10)
            for y in range(12, ny - 8, 10)
        ]
        flux = {"kind": "flux", "size": [0, ny / 2, nz / 2], "center": [nx / 4, 0, 0], "across": "X", "frequencies": 50}
        settings = {"points": [nx, ny, nz], "layers": _both("xyz", 7), "objects": rods, "monitors": [flux]}
        yield Design("slabs", f"{nx}x{ny}x{nz}", settings, purpose="cell")


def _planes() -> Iterator[Design]:
    """Cells of two dimensions, with light of Ez (one component of E, two of H) and of Hz (the reverse)."""
    for n in (60, 120, 180):
        yield Design("two dimensions", f"{n}^2", {"points": [n, n, 1]})
        yield Design("two dimensions", f"{n}^2 of Ez", {"points": [n, n, 1], "sources": ["Ez"]})
        yield Design("two dimensions", f"{n}^2 in 4", {"points": [n, n, 1], "sources": ["Ez"], "cuts": [2, 2, 1]})
    for component in ("Hz", "Ez"):
        for n in (60, 180):
            plane: Settings = {"points": [n, n, 1], "sources": [component]}
            if component == "Hz":
                yield Design("planes", f"{n}^2 of Hz", plane)
            layers = [{"kind": "pml", "axis": "x", "points": 2 * n // 3, "side": "high"}]
            beside = [(1 - n / 2) / 10] * 2 + [0]
            yield Design("planes", f"PML, {n}^2 of {component}", {**plane, "layers": layers, "source": beside})
            media = {**_PLANAR, **(_MEDIA_OF_PLANES if n == 180 else {})}
            for name, medium in media.items():
                yield Design("planes", f"{name}, {n}^2 of {component}", {**plane, "medium": medium})


def _rings() -> Iterator[Design]:
    """Cylindrical cells: real fields of m = 0, and complex ones of another m."""
    for m in (0, 3):
        for r, z in ((60, 60), (100, 160), (200, 120)):
            cell: Settings = {"points": [r, 1, z], "around": {"m": m}}
            yield Design("rings", f"{r}x{z}, m = {m}", cell)
            layers = [{"kind": "pml", "axis": axis, "points": 12, "side": "high"} for axis in "xz"]
            yield Design("rings", f"PML, {r}x{z}, m = {m}", {**cell, "layers": layers})
        poles = {"points": [100, 1, 160], "around": {"m": m}, "medium": {"epsilon": 2.0, "poles": 2}}
        yield Design("rings", f"two poles, 100x160, m = {m}", poles)


def _large() -> Iterator[Design]:
    """Large cells. The smaller ones fit into the last cache, and the larger ones don't."""
    for n, count in ((40, 3), (40, 8), (48, 2), (48, 5), (56, 0), (56, 3), (64, 0), (64, 2)):
        yield Design("large", f"{n}^3 x {count}", _cube(n, medium={"poles": count} if count else {"epsilon": 2.0}))
    for cuts in ((2, 2, 2), (4, 4, 1)):
        yield Design("large", f"56^3 x 3 in {cuts}", _cube(56, cuts=list(cuts), medium={"poles": 3}))
    yield Design("large", "56^3 in PML", _layered(56, "x"))
    yield Design("large", "52^3 x 3 in PML", _layered(52, "z", medium={"poles": 3}))
