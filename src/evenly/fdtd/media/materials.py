"""Media: instantaneous response, poles, conductivity and nonlinearity.

A medium's relative permittivity at frequency f (in c/a; fields vary as exp(-i ω t), ω = 2πf) is

    ε(f) = ε∞ (1 + i σ / ω) + Σ_n χ_n(f)

with the real symmetric matrix ε∞, the (diagonal) conductivity σ, and the susceptibility χ_n of each pole; μ likewise.
The nonlinear polarisation of component c is χ2_c E_c² + χ3_c |E|² E_c, with the field at the same time.
Real media are in `evenly.fdtd.media.library`.

>>> glass = Medium(index=1.5)
>>> glass.epsilon
(2.25, 2.25, 2.25)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Vector

__all__ = ["DrudePole", "LorentzPole", "Medium", "Pole", "symmetric", "vacuum"]

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class _Oscillator:
    """The common part of `LorentzPole` and `DrudePole`."""

    frequency: float
    gamma: float = 0.0
    sigma: float | Vector = 1.0
    # Whether there is a restoring force on the charges.
    restored: ClassVar[bool] = True

    def __post_init__(self) -> None:
        kind = type(self).__name__
        if not 0 < float(self.frequency) < math.inf:
            raise InputError(f"`frequency` of a {kind} must be positive and finite, but got {self.frequency!r}.")
        if not 0 <= float(self.gamma) < math.inf:
            raise InputError(
                f"`gamma` of a {kind} must not be negative (the fields would grow without bound), but got "
                f"{self.gamma!r}."
            )
        sigma = _three(self.sigma, "sigma", f"a {kind}")
        # Three equal strengths are stored as one number, so that equal poles compare equal and have equal hashes.
        object.__setattr__(self, "sigma", sigma[0] if sigma[0] == sigma[1] == sigma[2] else sigma)
        object.__setattr__(self, "frequency", float(self.frequency))
        object.__setattr__(self, "gamma", float(self.gamma))

    @property
    def strength(self) -> Vector:
        """Strength along x, y, z."""
        return _three(self.sigma, "sigma", "pole")

    def recursion(self, dt: float) -> tuple[float, float, float]:
        """Return stiffness (2π f0 dt)², loss πγ dt and restoring term of the pole's equation in central differences.

        The equation is P(n+1) - 2 P(n) + P(n-1) + loss (P(n+1) - P(n-1)) + restoring P(n) = stiffness σ E(n); see
        `evenly.fdtd.stepping.kernels.poles`. The restoring term equals the stiffness, or 0 for a Drude pole.

        Examples
        --------
        >>> LorentzPole(1.0).recursion(0.5) == (math.pi**2, 0.0, math.pi**2), DrudePole(1.0).recursion(0.5)[2]
        (True, 0.0)
        """
        stiffness = (2 * math.pi * self.frequency * dt) ** 2
        return stiffness, math.pi * self.gamma * dt, stiffness if self.restored else 0.0

    def unit(self) -> Self:
        """Return the same pole with strength 1; it identifies poles that differ only in strength."""
        return replace(self, sigma=1.0)


@explained
@dataclass(frozen=True)
class LorentzPole(_Oscillator):
    """A damped resonance: χ(f) = σ f0² / (f0² - f² - i f γ).

    Parameters
    ----------
    frequency : float
        Resonance f0 in c/a (not angular), positive.
    gamma : float
        Width γ in c/a (not angular), not negative.
    sigma : float or three floats
        Strength: the pole's contribution to ε at zero frequency, along x, y, z.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> LorentzPole(1.0, 0.1, 2.0).susceptibility(0.0).real.tolist()
    [2.0, 2.0, 2.0]
    """

    def susceptibility(self, frequency: float) -> NDArray[np.complex128]:
        """Return χ along x, y, z, shape (3,), at a frequency in c/a."""
        square = self.frequency**2
        return np.asarray(np.array(self.strength) * (square / complex(square - frequency**2, -frequency * self.gamma)))


@explained
@dataclass(frozen=True)
class DrudePole(_Oscillator):
    """Free charges with friction: χ(f) = -σ f0² / (f² + i f γ).

    Parameters
    ----------
    frequency : float
        Plasma frequency f0 in c/a (not angular), positive.
    gamma : float
        Collision rate γ in c/a (not angular), not negative.
    sigma : float or three floats
        Strength along x, y, z; 1 when f0 is the plasma frequency itself.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> DrudePole(2.0).susceptibility(1.0).real.tolist()
    [-4.0, -4.0, -4.0]
    """

    restored: ClassVar[bool] = False

    def susceptibility(self, frequency: float) -> NDArray[np.complex128]:
        """Return χ along x, y, z, shape (3,), at a frequency in c/a other than 0."""
        return np.asarray(
            np.array(self.strength) * (-(self.frequency**2) / complex(frequency**2, frequency * self.gamma))
        )


Pole = LorentzPole | DrudePole


@explained
@dataclass(frozen=True)
class Medium:
    """A homogeneous medium.

    Parameters
    ----------
    epsilon : float or three floats
        Relative permittivity ε∞ (its diagonal) far above all resonances.
    epsilon_off_diagonal : three floats
        Elements xy, xz, yz of ε∞; the matrix must be positive definite.
    mu, mu_off_diagonal
        The same for the permeability.
    electric_poles, magnetic_poles : sequence of LorentzPole and DrudePole
        Resonances added to ε and μ.
    electric_conductivity, magnetic_conductivity : float or three floats
        Normalised conductivity σ in c/a: the current is σ ε∞ E (σ μ∞ H), and a uniform field decays as exp(-σ t).
    chi2, chi3 : float or three floats
        Nonlinear susceptibilities of second order (with E_c²) and third order (with ``|E|² E_c``).
    index : float, optional
        Refractive index, instead of `epsilon`: ε∞ = index² / μ.
    name : str
        Used in messages and tables.

    Attributes
    ----------
    epsilon_matrix, mu_matrix : (3, 3)
        ε∞ and μ∞.
    lowest_index : float
        Lower bound of the refractive index, for any polarisation, far above all poles; it limits the time step.

    Raises
    ------
    InputError
        If a value is not finite, a matrix not positive definite, or `index` and `epsilon` are both given.

    Examples
    --------
    >>> silver = Medium(electric_poles=[DrudePole(7.2, 0.02)], name="silver")
    >>> bool(silver.epsilon_at(2.0)[0, 0].real < -11)
    True
    """

    epsilon: float | Vector = 1.0
    epsilon_off_diagonal: Vector = (0.0, 0.0, 0.0)
    mu: float | Vector = 1.0
    mu_off_diagonal: Vector = (0.0, 0.0, 0.0)
    electric_poles: Sequence[Pole] = ()
    magnetic_poles: Sequence[Pole] = ()
    electric_conductivity: float | Vector = 0.0
    magnetic_conductivity: float | Vector = 0.0
    chi2: float | Vector = 0.0
    chi3: float | Vector = 0.0
    index: float | None = None
    name: str = field(default="", compare=False)
    epsilon_matrix: Matrix = field(init=False, repr=False, compare=False)
    mu_matrix: Matrix = field(init=False, repr=False, compare=False)
    lowest_index: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        owner = f"medium {self.name!r}" if self.name else "a medium"
        for part in ("mu", "electric_conductivity", "magnetic_conductivity", "chi2", "chi3"):
            object.__setattr__(self, part, _three(getattr(self, part), part, owner))
        object.__setattr__(self, "epsilon", self._epsilon_diagonal(owner))
        for part in ("epsilon_off_diagonal", "mu_off_diagonal"):
            object.__setattr__(self, part, _three(getattr(self, part), part, owner, "(xy, xz, yz)"))
        for part in ("electric_poles", "magnetic_poles"):
            given = getattr(self, part)
            poles = tuple(given) if isinstance(given, (Sequence, set, frozenset)) else (given,)
            for pole in poles:
                if not isinstance(pole, (LorentzPole, DrudePole)):
                    raise InputError(f"`{part}` of {owner} must be LorentzPole or DrudePole objects, but got {pole!r}.")
            object.__setattr__(self, part, poles)
        smallest = []
        for quantity in ("epsilon", "mu"):
            matrix = symmetric(getattr(self, quantity), getattr(self, f"{quantity}_off_diagonal"))
            smallest.append(float(np.linalg.eigvalsh(matrix)[0]))
            if smallest[-1] <= 0:
                raise InputError(
                    f"`{quantity}` of {owner} must be a positive definite matrix (or the fields grow without bound), "
                    f"but its smallest eigenvalue is {smallest[-1]:.4g}; give a metal as a DrudePole over a positive "
                    f"{quantity}."
                )
            matrix.setflags(write=False)
            object.__setattr__(self, f"{quantity}_matrix", matrix)
        object.__setattr__(self, "lowest_index", math.sqrt(smallest[0] * smallest[1]))
        # Reset the index: `replace` would pass it on together with ε, which is an error.
        object.__setattr__(self, "index", None)

    def _epsilon_diagonal(self, owner: str) -> Vector:
        if self.index is None:
            return _three(self.epsilon, "epsilon", owner)
        if self.epsilon != 1.0:
            raise InputError(f"{owner} must be given `epsilon` or `index`, not both: leave one out.")
        x, y, z = _three(self.index, "index", owner)
        if min(x, y, z) <= 0:
            raise InputError(f"`index` of {owner} must be positive, but got {self.index!r}.")
        mx, my, mz = _three(self.mu, "mu", owner)
        return x * x / mx, y * y / my, z * z / mz

    def epsilon_at(self, frequency: float) -> NDArray[np.complex128]:
        """Return the relative permittivity, complex (3, 3), at a frequency in c/a (nonlinear terms left out).

        Examples
        --------
        >>> complex(Medium(epsilon=4, electric_conductivity=2 * math.pi).epsilon_at(1.0)[0, 0])
        (4+4j)
        """
        return _at(self.epsilon_matrix, self.electric_conductivity, self.electric_poles, frequency)

    def mu_at(self, frequency: float) -> NDArray[np.complex128]:
        """Return the relative permeability, complex (3, 3), at a frequency in c/a.

        Examples
        --------
        >>> complex(Medium(mu=2).mu_at(1.0)[2, 2])
        (2+0j)
        """
        return _at(self.mu_matrix, self.magnetic_conductivity, self.magnetic_poles, frequency)

    def index_at(self, frequency: float) -> complex:
        """Return the complex index along x at a frequency in c/a.

        Examples
        --------
        >>> Medium(epsilon=4).index_at(1.0)
        (2+0j)
        """
        return complex(np.sqrt(self.epsilon_at(frequency)[0, 0] * self.mu_at(frequency)[0, 0]))

    @property
    def is_vacuum(self) -> bool:
        """Whether all properties except the name are those of vacuum."""
        return self == vacuum

    @property
    def is_magnetic(self) -> bool:
        """Whether the magnetic response differs from that of vacuum."""
        one = (1.0, 1.0, 1.0)
        return bool(
            self.mu != one or any(self.mu_off_diagonal) or self.magnetic_poles or np.any(self.magnetic_conductivity)
        )


def symmetric(diagonal: Any, off_diagonal: Vector) -> NDArray[np.float64]:
    """Return the symmetric (3, 3) matrix with a given diagonal and given elements xy, xz, yz.

    Examples
    --------
    >>> symmetric((1.0, 2.0, 3.0), (0.5, 0.0, 0.0)).tolist()
    [[1.0, 0.5, 0.0], [0.5, 2.0, 0.0], [0.0, 0.0, 3.0]]
    """
    xy, xz, yz = off_diagonal
    x, y, z = diagonal
    return np.array([[x, xy, xz], [xy, y, yz], [xz, yz, z]], dtype=np.float64)


def _at(matrix: NDArray[np.float64], loss: Any, poles: Sequence[Pole], frequency: float) -> NDArray[np.complex128]:
    result = matrix.astype(np.complex128)
    if any(loss):
        if frequency == 0:
            raise InputError("A conductor's response at frequency 0 is infinite: give another frequency.")
        result = matrix @ (np.eye(3) + 1j * np.diag(loss) / (2 * math.pi * frequency))
    for pole in poles:
        result = result + np.diag(pole.susceptibility(frequency))
    return np.asarray(result, dtype=np.complex128)


def _three(value: Any, field: str, owner: str, elements: str = "(x, y, z)") -> Vector:
    """Return three finite floats; one number stands for all three elements if these are along x, y, z."""
    try:
        numbers = [float(v) for v in (value if isinstance(value, (Sequence, np.ndarray)) else [value])]
    except (TypeError, ValueError):
        numbers = []
    numbers = numbers * 3 if len(numbers) == 1 and elements == "(x, y, z)" else numbers
    if len(numbers) != 3 or not all(math.isfinite(v) for v in numbers):
        one = "a finite number or three of them" if elements == "(x, y, z)" else "three finite numbers"
        raise InputError(f"`{field}` of {owner} must be {one} {elements}, but got {value!r}.")
    return numbers[0], numbers[1], numbers[2]


vacuum = Medium(name="vacuum")
