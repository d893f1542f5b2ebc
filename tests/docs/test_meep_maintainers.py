"""Each script of the page for Meep's maintainers runs in real Meep, and prints what its comments say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from evenly.adapters.meep.cell.interpreter import environment, find_mpirun, package_folder
from tests.adapters.meep.conftest import AS_ROOT
from tests.adapters.meep.conftest import meep_python as meep_python  # the fixture
from tests.docs.test_docs import ROOT

PAGE = (ROOT / "docs" / "meep-maintainers.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python fragment\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SCRIPTS = [
    (2 if "n two processes" in PAGE[: found.start()].rpartition("```")[2] else 1, found.group(1))
    for found in BLOCK.finditer(PAGE)
]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def shown(script: str) -> list[float]:
    """Return the numbers that a script's comments say it prints; what is about a number changes from run to run."""
    comments = re.findall(r"^print\(.*\)  # (.*)$", script, re.MULTILINE)
    return [float(n) for said in comments if not said.startswith("about") for n in NUMBER.findall(said)]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(SCRIPTS)))
def test_a_script_prints_what_it_says(number: int, tmp_path: Path, meep_python: Path) -> None:
    processes, body = SCRIPTS[number]
    (tmp_path / "script.py").write_text(body, encoding="utf-8")
    command = [str(meep_python), "script.py"]
    if processes > 1:
        command = [str(find_mpirun(meep_python)), "--oversubscribe", "-n", str(processes), *command]
    with package_folder() as folder:
        variables = environment(folder, **AS_ROOT)
        done = subprocess.run(
            command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
        )
    if "or a crash" in body and "Signal: " in done.stdout + done.stderr:
        return  # it reads freed memory
    assert done.returncode == 0, done.stdout + done.stderr
    printed = [float(n) for line in done.stdout.splitlines() if re.match(r"[\[\d]", line) for n in NUMBER.findall(line)]
    if wanted := shown(body):
        assert printed == pytest.approx(wanted, rel=1e-3)
    else:
        assert printed


def test_there_are_scripts_for_one_process_and_for_two() -> None:
    assert {processes for processes, _ in SCRIPTS} == {1, 2}
