from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.media.materials import DrudePole, LorentzPole, Medium, symmetric, vacuum
from evenly.fdtd.media.solids import Block
from evenly.fdtd.media.stability import largest_courant
from evenly.fdtd.media.structure import Structure


def test_a_lorentz_pole_at_resonance_is_all_loss() -> None:
    # χ(f0) = σ f0² / (-i f0 γ) = i σ f0 / γ
    assert LorentzPole(2.0, 0.1, 3.0).susceptibility(2.0)[1] == pytest.approx(60j)


def test_a_drude_metal_is_transparent_above_its_plasma_frequency() -> None:
    metal = Medium(electric_poles=[DrudePole(1.0)])
    assert metal.epsilon_at(0.5)[0, 0] == pytest.approx(-3)
    assert metal.epsilon_at(2.0)[2, 2] == pytest.approx(0.75)


def test_loss_has_the_sign_of_waves_that_die_away() -> None:
    # exp(-iωt): absorbing media have Im ε > 0.
    for medium in (
        Medium(electric_poles=[LorentzPole(1.0, 0.2)]),
        Medium(electric_poles=[DrudePole(1.0, 0.2)]),
        Medium(electric_conductivity=0.3),
    ):
        assert medium.epsilon_at(0.8)[0, 0].imag > 0


def test_magnetic_media_are_the_dual() -> None:
    poles = [LorentzPole(1.0, 0.2, (1.0, 2.0, 3.0))]
    electric = Medium(epsilon=(2, 3, 4), epsilon_off_diagonal=(0.1, 0.2, 0.3), electric_poles=poles)
    magnetic = Medium(mu=(2, 3, 4), mu_off_diagonal=(0.1, 0.2, 0.3), magnetic_poles=poles)
    assert np.array_equal(electric.epsilon_at(0.7), magnetic.mu_at(0.7))
    assert magnetic.is_magnetic
    assert not electric.is_magnetic


def test_poles_are_keys_whatever_their_strength_is_spelled_like() -> None:
    assert LorentzPole(1, 0.1, (2, 2, 2)) == LorentzPole(1.0, 0.1, 2)
    assert len({LorentzPole(1.0, 0.1, 5.0).unit(), LorentzPole(1.0, 0.1, (1, 2, 3)).unit()}) == 1
    both: set[object] = {LorentzPole(1.0).unit(), DrudePole(1.0).unit()}
    assert len(both) == 2


def test_an_index_is_the_root_of_epsilon() -> None:
    assert Medium(index=1.5).epsilon == (2.25,) * 3
    assert Medium(index=2, mu=2).epsilon == (2.0,) * 3
    assert Medium(index=1.5).index_at(1.0) == pytest.approx(1.5)


def test_media_of_equal_values_are_equal_whatever_they_are_called() -> None:
    assert Medium(epsilon=2, name="a") == Medium(epsilon=(2, 2, 2), name="b")
    assert Medium().is_vacuum
    assert hash(Medium(epsilon=2)) == hash(Medium(epsilon=2.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Medium(epsilon=-2, name="gold"), "`epsilon` of medium 'gold' must be a positive definite.*DrudePole"),
        (lambda: Medium(epsilon=1, epsilon_off_diagonal=(2, 0, 0)), "smallest eigenvalue is -1"),
        (lambda: Medium(epsilon=2, index=2), "`epsilon` or `index`, not both"),
        (lambda: Medium(index=-1), "`index` of a medium must be positive"),
        (lambda: Medium(epsilon=cast("Any", (1, 2))), "a finite number or three"),
        (lambda: Medium(mu=cast("Any", "high")), "`mu` of a medium must be a finite number"),
        (lambda: Medium(chi3=math.nan), "`chi3` of a medium"),
        (lambda: Medium(electric_poles=cast("Any", [3])), "must be LorentzPole or DrudePole"),
        (lambda: LorentzPole(0.0), "`frequency` of a LorentzPole"),
        (lambda: DrudePole(1.0, -0.1), "`gamma` of a DrudePole must not be negative"),
        (lambda: Medium(electric_conductivity=1).epsilon_at(0), "frequency 0 is infinite"),
    ],
)
def test_wrong_values_are_refused_by_name(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_the_time_step_must_suit_the_smallest_index_of_every_object() -> None:
    thin_air = Block(size=(1, 1, 1), material=Medium(index=0.5), name="plasma")
    with pytest.raises(InputError, match=r"at most 0.2887 for the medium of Block 'plasma' in 3 dimensions.*0.5"):
        Structure(Grid((2, 2, 2), 10), [thin_air])
    assert Structure(Grid((2, 2, 2), 10, courant=0.28), [thin_air]).grid.courant == 0.28


@pytest.mark.parametrize("pole", [DrudePole(3.0), LorentzPole(2.0, 0.0, 2.0)])
def test_the_largest_time_step_of_a_medium_with_a_pole_is_sharp(pole: DrudePole | LorentzPole) -> None:
    """Leapfrog of the fastest wave of the grid stays bounded just below the limit and grows just above it."""
    grid = Grid((1, 1, 1), 20)
    limit = largest_courant(Medium(epsilon=1.5, electric_poles=[pole]), grid)
    assert limit < math.sqrt(1.5 / 3)
    for factor, stable in ((0.999, True), (1.01, False)):
        dt = limit * factor / grid.resolution
        omega, curl = 2 * math.pi * pole.frequency, 12 * grid.resolution**2 / 1.5
        stiff = omega**2 if isinstance(pole, LorentzPole) else 0.0
        e, flow, p, p_old = 1.0, 0.0, 0.0, 0.0
        for _ in range(3000):
            p_new = 2 * p - p_old + dt**2 * (omega**2 * float(pole.sigma) * e - stiff * p)  # type: ignore[arg-type]
            e, flow = (new := e + dt * flow - (p_new - p) / 1.5), flow - dt * curl * new
            p, p_old = p_new, p
        assert (abs(e) < 1e3) == stable


def test_symmetric_matrices_have_their_elements_in_place() -> None:
    assert symmetric((1, 2, 3), (4, 5, 6)).tolist() == [[1, 4, 5], [4, 2, 6], [5, 6, 3]]
    assert vacuum.lowest_index == 1
