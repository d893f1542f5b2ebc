"""Event files of preCICE 1.4 to 2.x: ``precice-Fluid-events.json``.

The file holds every event of every rank. What a step is and which are left out: see `evenly.readers.precice.events`.
In an implicit scheme every iteration of a time window is a step of its own. preCICE writes the file when the run
ends, so one that is cut off was damaged later and is refused.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from evenly.errors import ReadError
from evenly.readers.precice.events import TICK_S, Change, head_of, solver_of, steps_of
from evenly.readers.precice.steps import Execution, RankSteps, StepReader, json_of
from evenly.runs.runs import Runs

__all__ = ["PreciceEventsJsonReader"]


class PreciceEventsJsonReader(StepReader):
    """Reads ``precice-<participant>-events.json``.

    Quantities, all in seconds: ``seconds`` (work of the slowest rank), ``rank_mean``, ``rank_min``, ``coupling`` (the
    coupling call after the step) and, where recorded, ``waiting`` (receiving the partner's data) and ``mapping`` in it.
    Times are whole milliseconds; steps of a few milliseconds are averaged with their neighbours.

    Parameters
    ----------
    warm_up : int
        How many steps at the begin are left out. The first step is the last part of ``solver.initialize``.

    Examples
    --------
    >>> import json, tempfile
    >>> times = {"initialize": [(1, 0), (0, 9)], "solver.initialize": [(1, 9), (0, 90)],
    ...          "advance": [(1, 90), (0, 91), (1, 131), (0, 133)], "solver.advance": [(1, 91), (0, 131)]}
    >>> changes = [{"Name": n, "State": s, "Timestamp": t} for n, list_ in times.items() for s, t in list_]
    >>> stamps = {"Initialized": "2020-09-10T13:01:58.181", "Finalized": "2020-09-10T13:02:15.494"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "precice-Fluid-events.json")
    ...     _ = path.write_text(json.dumps({"Name": "", "Ranks": [{"StateChanges": changes, **stamps}], **stamps}))
    ...     runs = PreciceEventsJsonReader().read(path)
    >>> runs["Fluid"].to_frame()[["cores", "seconds", "coupling", "run"]]
       cores  seconds  coupling                          run
    0      1     0.04     0.002  Fluid-1-2020-09-10T13:02:15
    """

    name: ClassVar[str] = "precice-events-json"
    summary: ClassVar[str] = "preCICE 1.4 to 2.x: precice-*-events.json"

    def recognises(self, path: Path) -> bool:
        head = head_of(path) if path.suffix == ".json" else b""
        return head.lstrip()[:1] == b"{" and b'"Finalized"' in head and b'"Ranks"' in head

    def _read(self, path: Path) -> dict[str, Runs]:
        return self._runs([_execution(path, json_of(path))])


def _execution(path: Path, content: Any) -> Execution:
    if not isinstance(content, dict) or not content.get("Ranks"):
        raise ReadError(path, "there must be a list 'Ranks' with the events of each rank: this is another format")
    ranks = [_rank_steps(rank["StateChanges"]) for rank in content["Ranks"]]
    first = content["Ranks"][0]
    ended = datetime.fromisoformat(first["Finalized"]).isoformat(timespec="seconds")
    when = datetime.fromisoformat(first["Initialized"]).isoformat(timespec="milliseconds")
    solver = solver_of(path)
    run = f"{solver}-{len(ranks)}-{ended}"
    return Execution(solver, len(ranks), run, when, ended, str(path), TICK_S, ranks)


def _rank_steps(state_changes: list[dict[str, Any]]) -> RankSteps:
    changes: dict[str, list[Change]] = {}
    for change in state_changes:
        changes.setdefault(str(change["Name"]), []).append((int(change["State"]), int(change["Timestamp"])))
    return steps_of(changes)
