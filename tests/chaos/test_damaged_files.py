"""Damaged files of every format: each gives a result or an error of evenly's, soon and in bounded memory.

A share of the damages runs always; ``EVENLY_CHAOS=all`` runs all.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evenly.errors import EvenlyError
from evenly.readers import scan
from tests.chaos.amount import amount
from tests.chaos.conftest import MakeTally
from tests.chaos.mutants import SPECIAL, mutant
from tests.chaos.originals import TABLE
from tests.chaos.victim import FORMATS, trouble

pytestmark = pytest.mark.chaos

ROOT = Path(__file__).parents[2]
MUTANTS = amount(45, of=300)
#: Formats that share a process, whose start takes longer than they do.
GROUPS = [list(FORMATS)[place::4] for place in range(4)]


def victims(folder: Path, first: int, last: int, names: list[str]) -> dict[str, dict[str, str]]:
    """Read damaged files in another process; return what went wrong by format and number of the damage.

    Negative numbers are those of files of another kind: pipes, folders, loops of links, packed zeros.
    """
    command = [sys.executable, "-m", "tests.chaos.victim", str(folder), str(first), str(last), *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3000, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return {name: told["wrong"] for name, told in json.loads(done.stdout.splitlines()[-1]).items()}


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_damage_is_read_or_refused(tmp_path: Path, names: list[str], tally: MakeTally) -> None:
    for name, wrong in victims(tmp_path, -len(SPECIAL), MUTANTS, names).items():
        damaged, special = tally("damaged files"), tally("pipes, loops and bombs as files")
        for number in range(-len(SPECIAL), MUTANTS):
            counted = special if number < 0 else damaged
            counted.try_one()
            if told := wrong.get(str(number)):
                counted.bad("hung" if "TooSlowError" in told else "traceback", f"{name}, damage {number}: {told}")


def test_the_bed_notices_what_is_no_error_of_evenly(tmp_path: Path) -> None:
    def fails(path: Path) -> None:
        raise KeyError(path)

    one = type(FORMATS["csv"])("bad", lambda folder: folder, fails)
    assert "KeyError" in trouble(one, tmp_path)


def test_a_number_always_gives_the_same_damage() -> None:
    original = TABLE.encode()
    assert [mutant(original, n) for n in range(50)] == [mutant(original, n) for n in range(50)]
    assert sum(mutant(original, n) != original for n in range(50)) > 40


def test_special_files_do_not_hide_others(tmp_path: Path) -> None:
    for number, special in enumerate(SPECIAL):
        special(tmp_path / f"special{number}.csv")
    (tmp_path / "whole.csv").write_text(TABLE)
    found = scan(tmp_path)
    assert [len(runs) for runs in found.runs.values()] == [6]
    with pytest.raises(EvenlyError):
        scan(tmp_path / "special0.csv")
