"""Coupled runs of preCICE, really made: learned from, split anew, and run again.

    python benchmarks/precice_runs.py SOURCE FOLDER [--cores 8]

SOURCE is a folder with the source of preCICE 3. It is built in FOLDER (about 7 minutes on one core; it needs cmake, a
C++ compiler, and the development files of Boost, Eigen and libxml2). Two solvers whose times are known are coupled.
Each has a process for every rank (`precice_solver.cpp`). For each coupling scheme: runs with few ranks, what evenly
reads and which split of the cores it finds, and runs with this split, with the even one and with the two beside it.

The table shows seconds per time window: predicted with the interval of 90 %, measured (the median over the windows),
and that of the best split that was run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
LEARNED = ((1, 1), (2, 2), (3, 3), (4, 4), (6, 6))
VERTICES, WINDOWS, FIRST = 400, 16, 2
#: Seconds of a substep: the part that stays, and the part that ranks share.
FLUID, SOLID = (0.004, 0.120), (0.006, 0.050)

OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF", "-DPRECICE_FEATURE_MPI_COMMUNICATION=OFF",
    "-DPRECICE_FEATURE_PETSC_MAPPING=OFF", "-DPRECICE_FEATURE_PYTHON_ACTIONS=OFF", "-DPRECICE_BINDINGS_FORTRAN=OFF",
    "-DPRECICE_BUILD_TOOLS=OFF", "-DPRECICE_CONFIGURE_PACKAGE_GENERATION=OFF",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A coupling scheme with its mapping, and the substeps of Solid."""

    name: str
    scheme: str
    iterations: int = 1
    substeps: int = 1
    mapping: str = "nearest-neighbor"
    basis: str = ""
    vertices: int = VERTICES
    extra: dict[str, str] = field(default_factory=dict)

    def configuration(self) -> str:
        """Return the text of preCICE's configuration."""
        implicit = self.scheme.endswith("implicit")
        data = "".join(f'<use-data name="{name}"/>' for name in ("Force", "Displacement"))
        meshes = "".join(f'<mesh name="{name}-Mesh" dimensions="2">{data}</mesh>' for name in ("Fluid", "Solid"))
        exchanged = "".join(
            f'<exchange data="{name}" mesh="Solid-Mesh" from="{source}" to="{target}"/>'
            for name, source, target in (("Force", "Fluid", "Solid"), ("Displacement", "Solid", "Fluid"))
        )
        repeated = (
            f'<max-iterations value="{self.iterations}"/>'
            '<relative-convergence-measure limit="1e-6" data="Displacement" mesh="Solid-Mesh"/>'
            '<acceleration:constant><relaxation value="0.5"/></acceleration:constant>'
        )
        ends = f">{self.basis}</mapping:{self.mapping}>" if self.basis else "/>"
        mapped = "".join(
            f'<mapping:{self.mapping} direction="{direction}" from="{source}-Mesh" to="{target}-Mesh" '
            f'constraint="{constraint}"{ends}'
            for direction, source, target, constraint in (
                ("write", "Fluid", "Solid", "conservative"),
                ("read", "Solid", "Fluid", "consistent"),
            )
        )
        return f"""<?xml version="1.0"?>
<precice-configuration>
  <profiling mode="all"/>
  <data:vector name="Force"/><data:vector name="Displacement"/>
  {meshes}
  <participant name="Fluid">
    <intra-comm:sockets/>
    <provide-mesh name="Fluid-Mesh"/><receive-mesh name="Solid-Mesh" from="Solid"/>
    <write-data name="Force" mesh="Fluid-Mesh"/><read-data name="Displacement" mesh="Fluid-Mesh"/>
    {mapped}
  </participant>
  <participant name="Solid">
    <intra-comm:sockets/>
    <provide-mesh name="Solid-Mesh"/>
    <write-data name="Displacement" mesh="Solid-Mesh"/><read-data name="Force" mesh="Solid-Mesh"/>
  </participant>
  <m2n:sockets acceptor="Fluid" connector="Solid" exchange-directory=".."/>
  <coupling-scheme:{self.scheme}>
    <participants first="Fluid" second="Solid"/>
    <max-time-windows value="{WINDOWS}"/><time-window-size value="1"/>
    {exchanged}{repeated if implicit else ""}
  </coupling-scheme:{self.scheme}>
</precice-configuration>
"""


CASES = (
    Case("side by side", "parallel-explicit"),
    Case("in turn", "serial-explicit"),
    Case("in turn, 3 iterations", "serial-implicit", 3),
    Case("side by side, 3 iterations, Solid in 4 substeps", "parallel-implicit", 3, 4),
    Case("in turn, radial basis functions", "serial-explicit", mapping="rbf-global-direct",
         basis="<basis-function:thin-plate-splines/>", vertices=1200),
)  # fmt: skip


def built(source: Path, folder: Path) -> Path:
    """Build preCICE and the solver, where that isn't done; return the solver's path."""
    solver = folder / "precice_solver"
    if not solver.exists():
        installed, build = folder / "installed", folder / "build"
        if not list(installed.glob("lib*/libprecice.so")):
            said = subprocess.DEVNULL
            subprocess.run(
                ["cmake", "-S", source, "-B", build, f"-DCMAKE_INSTALL_PREFIX={installed}", *OPTIONS],
                check=True, stdout=said,
            )  # fmt: skip
            subprocess.run(["cmake", "--build", build, "--target", "install"], check=True, stdout=said)
        library = next(iter(installed.glob("lib*/libprecice.so"))).parent
        subprocess.run(
            ["c++", "-O2", "-std=c++17", HERE / "precice_solver.cpp", f"-I{installed / 'include'}", f"-L{library}",
             f"-Wl,-rpath,{library}", "-lprecice", "-o", solver],
            check=True,
        )  # fmt: skip
    return solver


def run(solver: Path, folder: Path, case: Case, fluid: int, solid: int) -> float:
    """Run both solvers with their numbers of ranks; return the median seconds of a time window."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "precice-config.xml").write_text(case.configuration())
    processes = []
    for name, ranks, substeps, (serial, shared) in (
        ("Fluid", fluid, 1, FLUID),
        ("Solid", solid, case.substeps, SOLID),
    ):
        (folder / name).mkdir()
        for rank in range(ranks):
            told = map(str, (rank, ranks, substeps, serial, shared, case.vertices))
            with (folder / name / f"rank-{rank}.log").open("w") as log:
                processes.append(
                    subprocess.Popen(
                        [solver, name, "../precice-config.xml", *told],
                        cwd=folder / name,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                    )
                )
    while any(process.poll() is None for process in processes):
        if any(process.poll() for process in processes):  # the others would wait for it
            for process in processes:
                process.kill()
        time.sleep(0.05)
    if any(process.returncode for process in processes):
        raise SystemExit(f"a run failed: see the logs in {folder}")
    lines = (folder / "Solid" / "rank-0.log").read_text().splitlines()
    seconds = [float(line.split()[2]) for line in lines if line.startswith("window ")]
    return statistics.median(seconds[FIRST:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cores", type=int, default=8)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    solver = built(arguments.source.resolve(), arguments.folder.resolve())
    print(f"{'':49} {'split':>5}  {'predicted ms':>20}  {'measured':>8}  {'ratio':>5}  layout")
    for case in CASES:
        show(case, solver, arguments.folder.resolve() / case.name.replace(", ", "-").replace(" ", "-"), arguments.cores)


def show(case: Case, solver: Path, folder: Path, cores: int) -> None:
    """Learn from runs with few ranks, run the split that evenly finds and others, and print them."""
    for fluid, solid in LEARNED:
        run(solver, folder / "learned" / f"{fluid}_{solid}", case, fluid, solid)
    command = [sys.executable, "-m", "evenly", "allocate", folder / "learned", "--cores", str(cores), "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout)
    (folder / "answer.json").write_text(json.dumps(answer, indent=1))
    found = (answer["cores"]["Fluid"], answer["cores"]["Solid"])
    beside = [(found[0] + more, cores - found[0] - more) for more in (-1, 1)]
    splits = [found, *(each for each in (*beside, (cores // 2, cores - cores // 2)) if min(each) > 0)]
    measured = {
        each: run(solver, folder / "again" / f"{each[0]}_{each[1]}", case, *each) for each in dict.fromkeys(splits)
    }
    for split, seconds in measured.items():
        name, predicted, ratio = "", "", ""
        if split == found:
            step, (low, high) = answer["expected_seconds"], answer["expected_interval_seconds"]
            name, ratio = case.name, f"{seconds / step:.2f}"
            predicted = f"{1e3 * step:.1f} ({1e3 * low:.1f}–{1e3 * high:.1f})"
        best = " best" if seconds == min(measured.values()) else ""
        line = f"{name:49} {split[0]}/{split[1]:<3}  {predicted:>20}  {1e3 * seconds:>8.1f}  {ratio:>5}"
        print(f"{line}  {answer.get('layout', '') if split == found else ''}{best}", flush=True)


if __name__ == "__main__":
    main()
