"""A tandem solar cell of thin silicon films: the share of light that each film absorbs.

From top to bottom: glass, a transparent conductor with a grating towards the upper cell of hydrogenated amorphous
silicon, an intermediate reflector, the lower cell of (micro)crystalline silicon, a spacer with a grating towards a
silver reflector. After the solar cell of A. Oskooi et al., "Factorized machine learning for
performance modeling of massively parallel heterogeneous physical simulations" (2020), section 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from evenly.fdtd.media.library import PER_EV, medium
from evenly.fdtd.media.materials import LorentzPole, Medium
from evenly.fdtd.media.solids import Block
from evenly.fdtd.structures.example import Array, Curves, Example, Look
from evenly.fdtd.structures.plane_wave import LitRecipe
from evenly.fdtd.structures.stack import Film, Stack

__all__ = ["Tandem"]

# Amorphous silicon with a band edge, without which the lower cell would get no light: (strength, eV, width in eV),
# fitted from 0.4 to 0.8 µm to a Tauc-Lorentz medium (G. E. Jellison, F. A. Modine, Appl. Phys. Lett. 69, 371 (1996))
# with A = 190 eV, E0 = 3.65 eV, C = 2.2 eV, a gap of 1.7 eV and ε∞ = 1: n within 0.24, k within 0.16, and 0.03 to 0.05
# where it should be 0, since tails of Lorentz poles fall slowly.
UPPER_POLES = (
    (0.7150, 2.8104, 0.2694),
    (0.3822, 2.4929, 0.2658),
    (0.9747, 3.0538, 0.2347),
    (4.0123, 3.4432, 0.0500),
)


@dataclass(frozen=True, kw_only=True)
class Tandem(LitRecipe):
    """Parameters of the solar cell.

    Parameters
    ----------
    resolution : float
        Grid points per µm; there must be at least two across the reflector and the flat part of the spacer.
    size : float
        Period of the gratings, in µm; it is rounded to whole grid points.
    frequencies : int
        Number of frequencies, between wavelengths of 0.4 and 0.8 µm.
    pml, absorber : float
        Thickness of the PML in the glass and of the absorber in the silver, in µm.
    conductor, upper, reflector, lower, spacer, silver : float
        Thickness of the films, in µm (the silver without the absorber).
    grating, back_grating : float
        Height of the ridges of amorphous silicon in the conductor, and of silver in the spacer; 0 for none.
    fill : float
        Share of the period that a ridge covers.
    ridges : "lines" or "pillars"
        Shape of the ridges: lines along y, or square pillars.

    Examples
    --------
    >>> Tandem().example().incident.subtracted
    ('reflection',)
    """

    name: ClassVar[str] = "tandem"
    summary: ClassVar[str] = "tandem solar cell of thin silicon films with gratings: absorption per film, 0.4 to 0.8 µm"
    may_be_zero: ClassVar[frozenset[str]] = frozenset({"grating", "back_grating"})

    wavelengths: ClassVar[tuple[float, float]] = (0.4, 0.8)

    resolution: float = 40.0
    absorber: float = 0.2
    size: float = 0.6
    conductor: float = 0.3
    upper: float = 0.2
    reflector: float = 0.1
    lower: float = 0.8
    spacer: float = 0.15
    silver: float = 0.1
    grating: float = 0.1
    back_grating: float = 0.05
    fill: float = 0.5
    ridges: str = "pillars"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ridges not in ("lines", "pillars"):
            raise self.wrong("ridges", "must be 'lines' or 'pillars'")
        if self.fill >= 1:
            raise self.wrong("fill", "must be less than 1")
        if self.grating >= self.conductor:
            raise self.wrong("grating", f"must be less than the conductor's thickness, {self.conductor:g}")
        if self.nodes(self.reflector) < 2:
            raise self.wrong("reflector", f"must be at least two grid points thick, {2 / self.resolution:g}")
        if self.nodes(self.spacer - self.back_grating) < 2:
            raise self.wrong(
                "spacer", f"must be at least two grid points, {2 / self.resolution:g}, thicker than `back_grating`"
            )

    def stack(self) -> Stack:
        oxide = medium("zinc oxide index")
        return Stack(
            [
                Film("glass", self.pml + self._gap, medium("glass index")),
                Film("conductor", self.conductor, oxide),
                Film("upper cell", self.upper, _amorphous()),
                Film("reflector", self.reflector, oxide),
                Film("lower cell", self.lower, medium("passive silicon")),
                Film("spacer", self.spacer, oxide),
                Film("silver", self.silver + self.absorber, medium("silver")),
            ]
        )

    def example(self) -> Example:
        stack = self.stack()
        heights = {
            "incoming": stack.bottom("glass") + self._gap / 4,
            "between": stack.middle("reflector"),
            "back": (stack.top("spacer") + stack.bottom("spacer") + self.back_grating) / 2,
        }
        return self._example(self._ridges(stack), heights, _curves, after=80.0, look=Look())

    def _ridges(self, stack: Stack) -> list[Block]:
        made = []
        rows: list[tuple[str, float, float, Medium]] = [
            ("grating", stack.top("upper cell"), self.grating, _amorphous()),
            ("back grating", stack.top("silver"), self.back_grating, medium("silver")),
        ]
        wide = self.fill * self.width
        for name, foot, height, material in rows:
            if height:
                size = (wide, wide if self.ridges == "pillars" else math.inf, height)
                made.append(Block(size=size, center=(0, 0, foot + height / 2), material=material, name=name))
        return made


@cache
def _amorphous() -> Medium:
    poles = [LorentzPole(energy * PER_EV, width * PER_EV, strength) for strength, energy, width in UPPER_POLES]
    return Medium(epsilon=6.0, electric_poles=poles, name="amorphous silicon with a band edge")


def _curves(monitors: Mapping[str, Any], incident: Array) -> Curves:
    down = {name: monitors[name].flux() / incident for name in ("incoming", "between", "back")}
    return {
        "reflected": monitors["reflection"].flux() / incident,
        "upper cell": down["incoming"] - down["between"],
        "lower cell": down["between"] - down["back"],
        "silver": down["back"],
    }
