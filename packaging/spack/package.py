# Copyright (c) 2026, The evenly developers. SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe. Put it in a repository of yours as packages/py_evenly/package.py.

Tests compare its requirements with pyproject.toml. There is no release yet, so Spack builds a checkout:
``spack dev-build py-evenly@main`` in it.
"""

from spack.package import *


class PyEvenly(PythonPackage):
    """Learns from few measured runs how long a parallel simulation takes, and spreads its work evenly."""

    license("BSD-3-Clause")

    version("main")

    variant("mpi", default=True, description="Run the electromagnetic simulation on several ranks")
    variant("parquet", default=False, description="Read and write Parquet")
    variant("excel", default=False, description="Read Excel's files")
    variant("hdf5", default=False, description="Write fields as HDF5")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling@1.18:", type="build")

    with default_args(type=("build", "run")):
        depends_on("py-numpy@1.24:")
        depends_on("py-scipy@1.10:")
        depends_on("py-pandas@1.5.3:")
        depends_on("py-scikit-learn@1.2:")
        depends_on("py-threadpoolctl@3:")
        depends_on("py-numba@0.57:")
        depends_on("py-matplotlib@3.6:")
        depends_on("py-typer@0.19:")
        depends_on("py-rich@13.0:")
        depends_on("py-jinja2@3.1:")
        depends_on("py-mpi4py@3.1.4:", when="+mpi")
        depends_on("py-pyarrow@14:", when="+parquet")
        depends_on("py-openpyxl@3.1:", when="+excel")
        depends_on("py-h5py@3.7:", when="+hdf5")
