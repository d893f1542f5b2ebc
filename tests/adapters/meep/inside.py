"""What tests ask Meep itself: functions that run in its Python and return plain values."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import meep as mp

sys.path.insert(0, str(Path(__file__).parent))

import inside_cells  # type: ignore[import-not-found]
import inside_runs  # type: ignore[import-not-found]

if __name__ == "__main__":
    mp.verbosity(0)
    asked = getattr(inside_cells, sys.argv[1], None) or getattr(inside_runs, sys.argv[1])
    answer = asked(*json.loads(sys.argv[2]))
    if mp.am_master():
        sys.stdout.write("\nanswer: " + json.dumps(answer, default=float) + "\n")
        sys.stdout.flush()
