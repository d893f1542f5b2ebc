"""What evenly survives: kills, full disks, damaged files and stores, nonsense. Runs all of tests/chaos, prints a table.

Each test counts what it tried and what went wrong: *lost* results or files, *hung* beyond its time, *executed*
something that a file held, ended in a *traceback*, or gave *wrong* values without a word. *failed* counts tests that
found anything else.

usage: python benchmarks/chaos.py [tests/chaos/test_….py …]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from xml.etree import ElementTree

COLUMNS = ("tried", "lost", "hung", "executed", "traceback", "wrong", "failed")


def main() -> None:
    root = Path(__file__).parents[1]
    chosen = sys.argv[1:] or [str(root / "tests" / "chaos")]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n",
            "2",
            f"--junitxml={report}",
            "-o",
            "junit_family=xunit1",
            *chosen,
        ]
        done = subprocess.run(command, cwd=root, env={**os.environ, "EVENLY_CHAOS": "all"}, check=False)
        cases = ElementTree.parse(report).iter("testcase")  # noqa: S314 - pytest wrote it
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        told = [(*one.attrib["name"].rpartition(": ")[::2], int(one.attrib["value"])) for one in case.iter("property")]
        for what, kind, count in told:
            counts[what][kind] += count
        # Where something went wrong that is counted, the test fails too; an error is a test that could not begin.
        if any(case.find(how) is not None for how in ("failure", "error")) and not any(
            count for _, kind, count in told if kind != "tried"
        ):
            counts[told[0][0] if told else case.attrib["name"].partition("[")[0]]["failed"] += 1
    print(f"\n| {'tried on':38} | " + " | ".join(f"{name:>9}" for name in COLUMNS) + " |")
    print(f"|{'-' * 40}|" + "|".join(f"{'-' * 10}:" for _ in COLUMNS) + "|")
    for what, found in sorted(counts.items()):
        print(f"| {what:38} | " + " | ".join(f"{found[name]:9,}" for name in COLUMNS) + " |")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
