"""The whole coupled runs that timing files of CESM and E3SM tell, beside the times of their components."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evenly.cli.console import note

if TYPE_CHECKING:
    from evenly.allocation.problem.coupled_runs import CoupledRuns
    from evenly.cli.run_input import Learned

__all__ = ["whole_runs_of"]


def whole_runs_of(
    learned: Learned, layout: str, fixed: Mapping[str, Any], kept: Mapping[str, Fraction]
) -> CoupledRuns | None:
    """Return the whole runs of timing files of CESM or E3SM: their times have what is in no component.

    Parameters
    ----------
    learned : Learned
        The components' models, and what was read.
    layout : str
        The plan's layout. The whole times of files that have another by root_pe don't belong to it.
    fixed : mapping
        Values of parameters other than the cores; files with others are left out.
    kept : mapping of str to Fraction
        How many times its own cores a component keeps.
    """
    import numpy as np

    from evenly.allocation.problem.coupled_runs import CoupledRuns
    from evenly.allocation.problem.layout import parse_layout, same_layout

    found = learned.found
    if found is None or not found.placed:
        return None
    plan = parse_layout(layout, learned.models)
    files = [
        one
        for one in found.placed
        if one.seconds is not None and set(learned.models) == set(one.cores)
        and one.layout is not None and same_layout(parse_layout(one.layout), plan)
        and all(fixed.get(name, value) == value for name, value in one.fields.items())
    ]  # fmt: skip
    if not files:
        note("what is in no component, such as the exchange of data, isn't in the times: TOT Run Time is longer")
        return None
    cores = {name: np.array([int(one.cores[name] * kept.get(name, 1)) for one in files]) for name in learned.models}
    return CoupledRuns(cores, np.array([one.seconds for one in files]), common=True)
