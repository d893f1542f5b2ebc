"""What an installation of evenly costs: CPU time of pip, and megabytes on the disk by package.

Usage::

    .venv/bin/python benchmarks/install_size.py [--no-compile]

Makes a fresh environment in a temporary folder and installs evenly with its core requirements there. The CPU time
contains downloads from pip's cache, if pip has one. Arguments are handed to pip.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from importlib.metadata import distributions
from pathlib import Path

#: Packages that are in every environment.
THERE = ("pip", "setuptools")
LEAST_MB = 1.0


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        source = Path(__file__).resolve().parents[1]
        subprocess.run([f"{folder}/bin/python", "-m", "pip", "-q", "install", *sys.argv[1:], str(source)], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        (packages,) = Path(folder, "lib").glob("python*/site-packages")
        sizes = Counter({one.name: size for one in distributions(path=[str(packages)]) if (size := megabytes(one))})
    for name in THERE:
        sizes.pop(name, None)
    print(f"pip install, Python {sys.version_info.major}.{sys.version_info.minor}: {spent:.1f} s CPU")
    for name, size in sizes.most_common():
        if size >= LEAST_MB:
            print(f"{name:24}{size:8.0f} MB")
    print(f"{'all':24}{sum(sizes.values()):8.0f} MB")


def megabytes(one: object) -> float:
    """Return the size of a distribution's files, compiled modules included."""
    files = one.files or []  # type: ignore[attr-defined]
    paths = {Path(str(file.locate())) for file in files}
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
