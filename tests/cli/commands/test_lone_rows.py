"""A row that lies far off the curve of few others is named on the first lines, with what leaves it out."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Evenly
from tests.readers.precice.rank_files import write_rank_files

ATM = (27.2976, 15.0999, 79.4839, 4.2701, 2.4181)
OCN = (9.5871, 4.9381, 2.5298, 1.3813, 0.7571)
CORES = (48, 96, 192, 384, 768)


def rows(times: tuple[float, ...], before: str = "") -> str:
    return "".join(f"{before}{cores},{time}\n" for cores, time in zip(CORES, times, strict=True))


def test_allocate_names_it_and_its_condition_leaves_it_out(evenly: Evenly) -> None:
    # 79.48 for 7.95 gave 851 cores instead of 783, and nothing was said.
    Path("m.csv").write_text("component,cores,time (h/year)\n" + rows(ATM, "atm,") + rows(OCN, "ocn,"))
    shown = evenly("allocate", "m.csv", "--cores", "1000")
    assert shown.code == 2  # a plan would follow the row
    assert evenly("allocate", "m.csv", "--cores", "1000", "--outliers", "keep").code == 0
    assert "atm: a row is far off the curve of the others, out of 5: run m:4 (cores = 192)" in " ".join(
        shown.err.split()
    )
    typed = re.search(r"note: (--where .*?) leaves out run m:4", " ".join(shown.err.split()))
    assert typed is not None
    shown = evenly("allocate", "m.csv", "--cores", "1000", *shlex.split(typed[1]))
    assert "far off" not in shown.err
    assert re.search(r"atm +78\d", shown.out)


@pytest.mark.parametrize("command", [("predict", "--at", "cores=100"), ("fit",)])
def test_predict_and_fit_name_it(evenly: Evenly, command: tuple[str, ...]) -> None:
    Path("a.csv").write_text("cores,time (s)\n" + rows(ATM))
    shown = evenly(command[0], "a.csv", *command[1:], "--where", "cores < 1000")
    said = " ".join(shown.err.split())
    assert "run a:4 (cores = 192) measured 79.48 s, expected" in said
    assert "--where '(cores < 1000) and (cores != 192)' leaves out run a:4" in said
    assert "far off" not in evenly(command[0], "a.csv", *command[1:], "--outliers", "keep").err


def test_a_condition_that_leaves_out_more_says_so(evenly: Evenly) -> None:
    """It left out the good one of two runs, too, without a word."""
    Path("a.csv").write_text("cores,time (s)\n" + rows(ATM) + "192,7.9\n")
    said = " ".join(evenly("fit", "a.csv").err.split())
    assert "--where 'cores != 192' leaves out run a:4, and 1 more that is of the same configuration" in said


def test_a_run_of_precice_is_named_with_its_folder(evenly: Evenly) -> None:
    """A run that took ten times as long as the others tell was learned from without a word."""
    for n in (1, 2, 3, 4, 6):
        for name in ("A", "B"):
            folder = Path("case", str(n), name, "precice-profiling")
            late = 10 if (name, n) == ("B", 4) else 1
            write_rank_files(folder, name, n, 1_770_000_000 + 1000 * n, late * (600_000 // n + n * 1000))
    shown = evenly("allocate", "case", "--cores", "8", "--layout", "max(A, B)")
    said = " ".join(shown.err.split())
    assert (shown.code, "B: a row is far off the curve of the others, out of 5" in said) == (2, True)
    assert re.search(r"note: run B-4-\w+ is that in case/4/B/precice-profiling", said)


def test_a_job_without_a_source_of_its_own_is_not_said_to_be_in_one(evenly: Evenly) -> None:
    jobs = [f"{50 + at}|cav|{p}|00:{m:02}:00|COMPLETED|0:0\n" for at, (p, m) in enumerate(zip(
        (16, 32, 64, 128, 256, 512), (48, 24, 12, 30, 4, 2), strict=True
    ))]  # fmt: skip
    Path("jobs.txt").write_text("JobID|JobName|NCPUS|Elapsed|State|ExitCode\n" + "".join(jobs))
    said = " ".join(evenly("predict", "jobs.txt", "--at", "cores=1024").err.split())
    assert "far off the curve" in said
    assert "is that in" not in said
