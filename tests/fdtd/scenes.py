"""Random objects of all kinds and media, for tests of laws that hold for every structure."""

from __future__ import annotations

import numpy as np

from evenly.fdtd.media.geometry import Block, Cylinder, GeometricObject, Material, Prism, Sphere
from evenly.fdtd.media.materials import DrudePole, LorentzPole, Medium

MEDIA: tuple[Material, ...] = (
    Medium(index=3.5),
    Medium(epsilon=2, electric_poles=[LorentzPole(0.5, 0.1, 2.0)], electric_conductivity=0.2),
    Medium(epsilon=(2, 3, 4), epsilon_off_diagonal=(0.3, 0.2, 0.1), chi3=0.1),
    Medium(epsilon=(1.5, 2, 5), electric_poles=[DrudePole(0.6, 0.1), LorentzPole(0.5, 0.1, (0.0, 1.0, 0.0))]),
    Medium(mu=2, mu_off_diagonal=(0.2, 0.1, 0.0), magnetic_conductivity=0.1, chi2=0.2),
    lambda x, y, z: 2 + 0.1 * x,
)


def scene(seed: int, objects: int = 8, size: float = 1.4) -> list[GeometricObject]:
    """Return random objects in a cube."""
    rng = np.random.default_rng(seed)
    return [_one(rng, i, size) for i in range(objects)]


def _one(rng: np.random.Generator, i: int, size: float) -> GeometricObject:
    center, r = rng.uniform(-size / 2, size / 2, 3), float(rng.uniform(0.1, 0.3) * size)
    medium = MEDIA[int(rng.integers(len(MEDIA)))]
    x, y, z = center
    if i % 5 == 0:
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0].T
        return Block(size=rng.uniform(0.2, 0.6, 3) * size, center=center, axes=axes, material=medium)
    if i % 5 == 1:
        return Sphere(radius=r, center=center, material=medium)
    if i % 5 == 2:
        return Cylinder(radius=r, height=r, axis=rng.normal(size=3), center=center, material=medium)
    if i % 5 == 3:
        return Prism(vertices=[(x, y), (x + r, y), (x + 0.3 * r, y + r)], height=r, base=z, material=medium)
    return Block(size=rng.uniform(0.2, 0.6, 3) * size, center=center, material=medium)
