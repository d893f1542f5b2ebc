"""The search of docs/cice.md, really made: CICE is built and searched, and the winner is run beside the default.

    python benchmarks/cice.py SOURCE FOLDER [--runs 24] [--turns 8]

SOURCE is a folder with the source of CICE 6 and its submodule icepack. It is copied to FOLDER, which stands for the
home folder of docs/cice.md: the page's own commands and files are used. FOLDER may hold a case that was built before.
The packages that the page names must be installed.

Printed are the answer of the search, the times of both, in turns, in seconds, and the load of the machine before and
after: other programs make times longer.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

PAGE = Path(__file__).parents[1] / "docs" / "cice.md"
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
}  # fmt: skip
DEFAULT = {
    "nprocs": 2, "block_size_x": 32, "block_size_y": 32, "distribution_type": "cartesian",
    "processor_shape": "slenderX2",
}  # fmt: skip


def load() -> str:
    """Return how many processes wanted a core on average over the last minute."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--turns", type=int, default=8)
    options = parser.parse_args()
    home = options.folder.resolve()
    os.environ |= {**SETTINGS, "HOME": str(home), "CICE_RUN": str(home / "wall")}
    files = re.findall(r"^```(?:sh|python|toml) (\S+)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    home.mkdir(parents=True, exist_ok=True)
    for name, text in files:
        (home / name).write_text(text)
    if not (home / "wall" / "cice").exists():
        shutil.copytree(options.source, home / "CICE")
        for name in ("machine.sh", "build.sh", "wall.sh"):
            subprocess.run(["bash", "-e", name], cwd=home, check=True, stdout=sys.stderr)
    print(f"before: {load()}")
    asked = [sys.executable, "-m", "evenly", "tune", "blocks.toml", "--runs", str(options.runs), "--json", "--quiet"]
    answer = json.loads(subprocess.run(asked, cwd=home, check=True, stdout=subprocess.PIPE).stdout)
    print(f"fastest: {json.dumps(answer['tasks'][0])}")
    sys.path.insert(0, str(home))
    from blocks import seconds_of  # the page's own

    winner = {name: value for name, value in answer["best"].items() if value is not None}
    times: dict[str, list[float]] = {"default": [], "winner": []}
    for _ in range(options.turns):
        times["default"].append(seconds_of(DEFAULT))
        times["winner"].append(seconds_of(winner))
    for name, its in times.items():
        print(f"{name}: least {min(its):.2f} s, median {median(its):.2f} s of {len(its)}")
    print(f"after: {load()}")


if __name__ == "__main__":
    main()
