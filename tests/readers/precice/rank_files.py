"""Files as ranks of preCICE 3 write them, of runs whose steps all take the same time."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["write_rank_files"]

#: Steps of a run.
_STEPS = 6


def write_rank_files(folder: Path, name: str, size: int, began_s: int, work_us: int = 900_000) -> None:
    """Write what the ranks of a participant record of a run, each step with a coupling call of a tenth of a second."""
    folder.mkdir(parents=True)
    events = ["N0:_GLOBAL", "N1:solver.advance", "N2:advance", "B0:0"]
    now = 0
    for _ in range(_STEPS):
        events += [f"B1:{now}", f"E1:{now + work_us}", f"B2:{now + work_us}", f"E2:{now + work_us + 100_000}"]
        now += work_us + 100_000
    for rank in range(size):
        meta = {"name": name, "rank": rank, "size": size, "unix_us": str(began_s * 10**6), "tinit": ""}
        text = "\n".join([json.dumps(meta), *events, f"E0:{now}", ""])
        (folder / f"{name}-{rank}-{size}.txt").write_text(text)
