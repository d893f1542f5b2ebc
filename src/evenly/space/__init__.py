"""The space of configurations: parameters, the rules that configurations obey, designs that sample them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly.space.configurations import Configurations as Configurations
    from evenly.space.constraints import Constraint as Constraint
    from evenly.space.designs import Design as Design
    from evenly.space.parameters import Categorical as Categorical
    from evenly.space.parameters import Integer as Integer
    from evenly.space.parameters import Ordinal as Ordinal
    from evenly.space.parameters import Parameter as Parameter
    from evenly.space.parameters import Real as Real
    from evenly.space.space import Space as Space

_HOMES = {
    "Categorical": "evenly.space.parameters",
    "Configurations": "evenly.space.configurations",
    "Constraint": "evenly.space.constraints",
    "Design": "evenly.space.designs",
    "Integer": "evenly.space.parameters",
    "Ordinal": "evenly.space.parameters",
    "Parameter": "evenly.space.parameters",
    "Real": "evenly.space.parameters",
    "Space": "evenly.space.space",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
