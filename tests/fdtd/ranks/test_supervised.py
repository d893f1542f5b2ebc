"""Jobs are ended also where the driver forked, or ignores the ends of its children."""

from __future__ import annotations

import subprocess
import sys
import time

FORKED = """
import os, sys, time
from evenly.fdtd.ranks.supervised import Supervised
job = Supervised(["sleep", "0.3"], dict(os.environ))
child = os.fork()
if child == 0:
    time.sleep(20)
    os._exit(0)
job.wait()
assert job.close()
os.kill(child, 9)
print(job.returncode)
"""
IGNORING = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
from evenly.fdtd.ranks.supervised import Supervised
job = Supervised(["sh", "-c", "exit 3"], dict(os.environ))
job.wait()
print(job.returncode, job.close())
"""


def done(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=15, check=True).stdout


def test_a_process_forked_meanwhile_delays_nothing() -> None:
    begin = time.monotonic()
    assert done(FORKED) == "0\n"
    assert time.monotonic() - begin < 15


def test_a_driver_that_ignores_the_ends_of_its_children_hears_of_them() -> None:
    assert done(IGNORING) == "3 True\n"
