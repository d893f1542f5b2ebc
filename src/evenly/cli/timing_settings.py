"""Whether timing files of CESM and E3SM are of one case: times of different grids can't be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.readers import Measurements

__all__ = ["check_one_case"]


def check_one_case(found: Measurements) -> None:
    """Refuse timing files of different grids or component sets that no parameter tells apart."""
    values = {
        entry: {one.setting.get(entry, ""): one.path for one in found.placed if entry not in one.fields}
        for entry in ("grid", "compset")
    }
    mixed = {entry: paths for entry, paths in values.items() if len(paths) > 1}
    if not mixed:
        return
    entry, paths = next(iter(mixed.items()))
    told = "; ".join(f"{value or 'none named'} in {path}" for value, path in list(paths.items())[:3])
    fields = dict.fromkeys([*found.placed[0].fields, *mixed])
    raise InputError(
        f"the timing files have different {entry}s, so that their times can't be compared ({told}): give the files of "
        f"one; or tell them apart with -O fields={','.join(fields)}, and say which one is asked, as in "
        f"--at '{entry}={next(iter(paths))}'"
    )
