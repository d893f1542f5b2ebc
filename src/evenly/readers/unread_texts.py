"""Texts that evenly doesn't read, known by their first lines, and what to give instead of them."""

from __future__ import annotations

import re
from pathlib import Path

from evenly.errors import EvenlyError
from evenly.readers.apes.seeder_header import read_mesh_header
from evenly.readers.files import head

__all__ = ["instead_of"]

_PBS = (
    "what qstat and tracejob print is not read: give PBS's accounting log (server_priv/accounting/20260302, with lines "
    "as 03/02/2026 08:00:00;E;4711.server;…), or a table with a row for each job"
)
_LSF = "what bacct prints is not read: give a table with a row for each job, with its slots and its run time"
_PANDAS = "pandas left out rows or columns where it printed dots: write the whole table, as df.to_csv('runs.csv') does"
_ROWS = "give a table with a row for each run and component, with its name, its cores and, as the time in s,"
_ICON = f"ICON's timer report is not read: {_ROWS} 'total' less 'coupling', which holds the waiting"
_LUCIA = f"what LUCIA prints is not read: {_ROWS} its 'Calculations', without the waiting"
_ESMF = f"ESMF's profile is not read: {_ROWS} 'Max (s)' of its RunPhase; its PETs are the cores"
_INSTEAD = {
    re.compile(r"(?:.*\n)*?[ \t]*Timer report, ranks "): _ICON,
    re.compile(r"(?:.*\n)*?[ \t]*Processing OASIS LUCIA log files"): _LUCIA,
    re.compile(r"(?:.*\n)*?[ \t]*Region +PETs +PEs +Count +Mean \(s\)"): _ESMF,
    re.compile(r"\s*(?:Job Id: \S+$|Job: \d+\S*\.\S+$|Job id +Name +User )", re.MULTILINE): _PBS,
    re.compile(r"\s*Accounting information about jobs that are:"): _LSF,
    # A row of dots, the first of two; or dots as a column in all of several lines.
    re.compile(r"(?:.*\n)+?\.\. .* \.\.\.(?:\s|$)|(?:.*  \.\.\.  .*\n){3}"): _PANDAS,
}


def instead_of(path: Path) -> str:
    r"""Return what to give instead of a text that is known but not read; "" for any other file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "jobs.txt"
    >>> _ = path.write_text("Accounting information about jobs that are:\n  - submitted by users ada,\n")
    >>> instead_of(path)[:30]
    'what bacct prints is not read:'
    """
    try:
        start = head(path)
    except EvenlyError:
        return ""
    return next((told for pattern, told in _INSTEAD.items() if pattern.match(start)), "") or _instead_of_mesh(path)


def _instead_of_mesh(path: Path) -> str:
    """Return what to give with the header of a mesh; "" for any other file."""
    if path.suffix.lower() != ".lua":
        return ""
    try:
        mesh = read_mesh_header(path)
    except EvenlyError:
        return ""
    if mesh.min_level is None or mesh.max_level is None:
        return ""  # other files of the APES suite count elements, too
    return (
        f"{path.name} is the header of a mesh of Seeder. It tells the elements, {mesh.elements:,}, as many as a cube "
        f"of level {mesh.level:.3g} has, and no times. Give the times of runs on it: the timing.res or the log of the "
        "program; or a folder with a case.ini, in which mesh_header= names this file, so that its level is a parameter"
    )
