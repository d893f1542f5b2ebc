"""A script's prints come once, from the master of each group; errors and warnings of all ranks stay."""

from __future__ import annotations

import sys
from pathlib import Path

from evenly.fdtd.ranks.launching import launch, launch_python
from tests.parallel.ranks import QUIET

SCRIPT = """
import sys
from evenly import fdtd
print("once")
print("für", 1, flush=True)
sys.stderr.write(f"error output of {fdtd.my_rank()}\\n")
group = fdtd.divide_parallel_processes(2)
print("group", group)
"""


def test_a_master_prints_and_all_ranks_do_where_asked(tmp_path: Path) -> None:
    script = tmp_path / "prints.py"
    script.write_text(SCRIPT, encoding="utf-8")
    usual = launch_python([str(script)], 4, environment=QUIET, echo=False, timeout_s=60)
    asked = launch_python(["--all-ranks", str(script)], 4, environment=QUIET, echo=False, timeout_s=60)
    assert sorted(usual.output.split("\n")) == ["", "für 1", "group 0", "group 1", "once"]
    everyones = ["", *4 * ["once"], *4 * ["für 1"], *2 * ["group 0"], *2 * ["group 1"]]
    assert sorted(asked.output.split("\n")) == sorted(everyones)
    for job in (usual, asked):
        assert sorted(job.errors.split("\n")) == ["", *(f"error output of {n}" for n in range(4))]


def test_help_and_mistakes_are_told_once(tmp_path: Path) -> None:
    def run(*arguments: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "evenly.fdtd.rank", *arguments]
        job = launch(command, 2, environment=QUIET, echo=False, timeout_s=60, folder=tmp_path)
        return job.status, job.output, job.errors

    status, output, _ = run("--help")
    assert (status, output.count("--all-ranks script.py")) == (0, 1)
    status, _, errors = run("--al-ranks", "x.py")
    assert (status, errors.count("must be given to run, but got '--al-ranks'")) == (2, 1)
