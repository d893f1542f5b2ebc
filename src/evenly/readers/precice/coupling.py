"""The search for the preCICE configuration beside measurements, which gives the coupling scheme."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from evenly.errors import EvenlyError
from evenly.readers.files import head
from evenly.readers.precice.config import read_coupling
from evenly.readers.precice.schemes import Coupling
from evenly.readers.registry import Skipped

__all__ = ["Strays", "configurations_beside", "find_coupling"]


@dataclass
class Strays:
    """What came up while looking for the coupling."""

    used: list[Path] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: The number of time windows in each configuration, where it is given.
    windows: dict[Path, int | None] = field(default_factory=dict)
    #: What each configuration says, where they differ.
    couplings: dict[Path, Coupling] = field(default_factory=dict)


def find_coupling(candidates: Iterable[Path]) -> tuple[Coupling | None, Strays]:
    """Read the preCICE configurations among XML files.

    Parameters
    ----------
    candidates : iterable of Path
        XML files.

    Returns
    -------
    coupling : Coupling or None
        The coupling, if all configurations say the same; else None.
    strays : Strays
        Configurations used, those that are broken, and a note where they differ.

    Examples
    --------
    >>> find_coupling([])[0] is None
    True
    """
    strays = Strays()
    found: list[tuple[Path, Coupling]] = []
    for path in candidates:
        if "precice-configuration" not in head(path):
            continue
        try:
            coupling = read_coupling(path)
            found.append((path, coupling))
            strays.used.append(path)
            strays.windows[path] = coupling.windows
        except EvenlyError as error:
            strays.skipped.append(Skipped.of(error, path))
    if not found:
        return None, strays
    kinds = {
        (f"{'implicit' if c.implicit else 'explicit'} {c.layout}", frozenset(map(str, c.participants))): path
        for path, c in reversed(found)
    }
    if len(kinds) > 1:
        listed = "; ".join(f"{scheme} in {path}" for (scheme, _), path in kinds.items())
        strays.couplings = dict(found)
        strays.notes.append(f"the configurations name different couplings, so none is taken: {listed}")
        return None, strays
    return found[0][1], strays


def configurations_beside(logs: Iterable[Path], given: Iterable[Path], *, outside: Path) -> list[Path]:
    """Return the XML files in the folders of `logs` and above, up to the folders of the `given` paths.

    Parameters
    ----------
    logs : iterable of Path
        Logs of runs, files or folders.
    given : iterable of Path
        The files and folders in which the user said to look.
    outside : Path
        A folder whose files don't count.

    Examples
    --------
    >>> configurations_beside([], [], outside=Path("case"))
    []
    """
    tops = [path.resolve().parent for path in given]
    folders = [
        folder
        for log in logs
        for folder in log.resolve().parents
        if any(top in (folder, *folder.parents) for top in tops)
    ]
    files = [file for folder in dict.fromkeys(folders) for file in sorted(folder.glob("*.xml"))]
    return [file for file in files if outside.resolve() not in file.parents]
