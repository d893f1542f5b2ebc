from __future__ import annotations

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.media.library import medium, names, scaled, valid_um
from evenly.fdtd.media.materials import Medium
from evenly.fdtd.media.stability import largest_courant


# Measured values: c-Si of Green and Keevers (1995); n of fused silica and BK7 at the helium d line (catalogues);
# Si3N4 of Philipp (1973); metals of Rakić et al. (1998), whose curves are read to about 5 %.
@pytest.mark.parametrize(
    ("name", "wavelength", "index", "tolerance"),
    [
        ("silicon", 0.5, 4.297 + 0.073j, 0.05),
        ("silicon", 0.6, 3.939 + 0.025j, 0.02),
        ("silicon", 0.8, 3.681 + 0.005j, 0.02),
        ("passive silicon", 0.6, 3.939 + 0.025j, 0.02),
        ("passive silicon", 0.8, 3.681 + 0.005j, 0.02),
        ("fused silica", 0.5876, 1.4585, 1e-4),
        ("BK7", 0.5876, 1.5168, 1e-4),
        ("silicon nitride", 0.5876, 2.0167, 3e-3),
        ("aluminium", 0.5, 0.72 + 5.66j, 0.3),
        ("silver", 0.6, 0.13 + 3.98j, 0.3),
        ("gold", 0.8, 0.18 + 4.8j, 0.3),
        ("copper", 0.8, 0.26 + 5.0j, 0.35),
    ],
)
def test_indices_are_those_measured(name: str, wavelength: float, index: complex, tolerance: float) -> None:
    assert abs(medium(name).index_at(1 / wavelength) - index) < tolerance


@pytest.mark.parametrize("name", names())
def test_every_medium_is_passive_where_it_is_valid(name: str) -> None:
    shortest, longest = valid_um(name)
    for wavelength in np.linspace(shortest, longest, 50):
        assert medium(name).epsilon_at(1 / wavelength)[0, 0].imag >= 0


@pytest.mark.parametrize("name", sorted(set(names()) - {"silicon"}))
def test_all_but_the_published_silicon_are_passive_everywhere(name: str) -> None:
    for frequency in np.geomspace(0.01, 50, 200):
        assert medium(name).epsilon_at(float(frequency))[0, 0].imag >= 0


@pytest.mark.parametrize("name", names())
def test_every_medium_runs_at_the_default_time_step_at_resolution_60(name: str) -> None:
    assert largest_courant(medium(name), Grid((1, 1, 1), 60)) >= 0.5


def test_another_unit_of_length_moves_all_frequencies() -> None:
    material = Medium(epsilon=2, electric_conductivity=0.3, magnetic_conductivity=0.1)
    for each in (material, medium("gold")):
        assert scaled(each, 0.2).epsilon_at(0.2 * 1.7) == pytest.approx(each.epsilon_at(1.7))
        assert scaled(each, 0.2).mu_at(0.2 * 1.7) == pytest.approx(each.mu_at(1.7))


def test_unknown_media_are_refused_with_the_list() -> None:
    with pytest.raises(InputError, match=r"no medium 'unobtainium'; it has BK7, .*silver"):
        medium("unobtainium")
    with pytest.raises(InputError, match="`unit_um`"):
        scaled(Medium(), 0.0)
