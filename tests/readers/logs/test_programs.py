"""Every shipped pattern on a small log in the form that its program prints, cut off at every line too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from evenly.errors import EvenlyError, ReadError
from evenly.readers.logs.log import LogReader
from evenly.readers.logs.pattern import shipped_patterns

#: For each program: a log, the solver, and the rows of (parameters, seconds).
LOGS: dict[str, tuple[str, str, list[tuple[dict[str, Any], float]]]] = {
    "amg": (
        """\
Running with these driver parameters:
  solver ID    = 3

  Laplacian_27pt:
    (Nx, Ny, Nz) = (64, 64, 32)
    (Px, Py, Pz) = (2, 2, 1)

=============================================
Generate Matrix:
=============================================
Spatial Operator:
  wall clock time = 0.020000 seconds
  wall MFLOPS     = 0.000000
  cpu clock time  = 0.040000 seconds
  cpu MFLOPS      = 0.000000

=============================================
Problem 2: Cumulative AMG-GMRES Solve Time:
=============================================
GMRES Solve:
  wall clock time = 19.250000 seconds
  wall MFLOPS     = 0.000000
  cpu clock time  = 57.100000 seconds
  cpu MFLOPS      = 0.000000


No. of Time Steps = 6
Cum. No. of Iterations = 215

Figure of Merit (FOM_2): 2.234090e+09
""",
        "amg problem 2",
        [({"ranks": 4, "nx": 64, "ny": 64, "nz": 32}, 19.25)],
    ),
    "graph500": (
        """\
graph_generation:               37.5
Running BFS 0
Time for BFS 0 is 2.960214
SCALE:                          28
edgefactor:                     16
NBFS:                           64
graph_generation:               37.5
num_mpi_processes:              72
construction_time:              19.8
bfs  min_time:                  2.75
bfs  median_time:               2.87
bfs  mean_time:                 2.92
bfs  stddev_time:               0.10
bfs  stddev_validate:           0
""",
        "graph500",
        [({"ranks": 72, "scale": 28, "edgefactor": 16}, 2.92)],
    ),
    "hpcg": (
        """\
HPCG-Benchmark
version=3.1
Machine Summary=
Machine Summary::Distributed Processes=2
Machine Summary::Threads per processes=4
Global Problem Dimensions=
Global Problem Dimensions::Global nx=32
Global Problem Dimensions::Global ny=16
Global Problem Dimensions::Global nz=16
Iteration Count Information=
Iteration Count Information::Result=PASSED
Iteration Count Information::Total number of reference iterations=150
Iteration Count Information::Total number of optimized iterations=160
Benchmark Time Summary=
Benchmark Time Summary::DDOT=0.2
Benchmark Time Summary::Total=4
Final Summary=
Final Summary::HPCG result is VALID with a GFLOP/s rating of=3.18
""",
        "hpcg",
        [({"ranks": 2, "threads": 4, "nx": 32, "ny": 16, "nz": 16}, 4 / 160)],
    ),
    "kripke": (
        """\
Author: Adam J. Kunen <someone@example.org>

Compilation Options:
  Architecture:           Sequential
  MPI Enabled:            Yes
  OpenMP Enabled:         No

Input Parameters
================

  Problem Size:
    Zones:                 16 x 16 x 16  (4096 total)
    Groups:                32

  Solver Options:
    Number iterations:     10

  MPI Decomposition Options:
    Total MPI tasks:       8

Timers
======

  Timer                    Count       Seconds
  ----------------  ------------  ------------
  Generate                     1       0.00392
  Solve                        1      10.14202
  SweepSolver                 10       1.50448

Figures of Merit
================

  Throughput:         1.240671e+07 [unknowns/(second/iteration)]
  Number of unknowns: 12582912

END
""",
        "kripke",
        [
            (
                {"ranks": 8, "threads": 1, "zones": 4096, "groups": 32, "iterations": 10, "unknowns": 12582912},
                10.14202,
            )
        ],
    ),
    "lulesh": (
        """\
Running problem size 10^3 per domain until completion
Num processors: 8
Num threads: 2
Total number of elements: 8000

Run completed:
   Problem size        =  10
   MPI tasks           =  8
   Iteration count     =  231
   Final Origin Energy = 2.720531e+04
   Testing Plane 0 of Energy Array on rank 0:
        MaxAbsDiff   = 1.591616e-12

Elapsed time         =       0.24 (s)
Grind time (us/z/c)  =  1.0388182 (per dom)  ( 1.0388182 overall)
FOM                  =  962.63236 (z/s)
""",
        "lulesh",
        [({"ranks": 8, "threads": 2, "size": 10, "iterations": 231}, 0.24)],
    ),
    "minife": (
        """\
Mini-Application Name: miniFE
Mini-Application Version: 2.0
Global Run Parameters:
  dimensions:
    nx: 30
    ny: 20
    nz: 10
  OpenMP Max Threads:: 1
  number of processors: 192
CG solve:
  Iterations: 200
  Total:
    Total CG Time: 0.73506
Total Program Time: 1.34695
""",
        "minife",
        [({"ranks": 192, "threads": 1, "nx": 30, "ny": 20, "nz": 10, "iterations": 200}, 1.34695)],
    ),
    "namd": (
        """\
Charm++> Running on MPI version: 3.1
Info: NAMD 2.14 for Linux-x86_64-MPI-smp
Info: Running on 48 processors, 4 nodes, 2 physical nodes.
Info: NUMBER OF STEPS       0
Info: 92224 ATOMS
TCL: Running for 500 steps
Info: Benchmark time: 48 CPUs 0.0299812 s/step 0.347005 days/ns 1257.94 MB memory
TIMING: 500  CPU: 20.1, 0.04/step  Wall: 21.3, 0.04/step, 0 hours remaining, 500 MB of memory in use.
WallClock: 23.456787  CPUTime: 22.614777  Memory: 347.726562 MB
[Partition 0][Node 0] End of program
""",
        "namd",
        [({"nodes": 2, "ranks": 4, "threads": 12, "steps": 500, "minimize_steps": 0, "atoms": 92224}, 23.456787)],
    ),
    "nek5000": (
        """\
| Version:  19.0                                           |
| Web:      https://nek5000.mcs.anl.gov                    |
 Number of MPI ranks :           4
 nelgt/nelgv/lelt:        256       256       300
 lx1/lx2/lx3/lxd:           8         6         8        12
Step      1, t= 1.0000000E-03, DT= 1.0000000E-03, C=  0.1 1.0E-01 1.0E-01
Step     20, t= 2.0000000E-02, DT= 1.0000000E-03, C=  0.1 2.0E+00 1.0E-01
total elapsed time             :   1.66177E+01 sec
total solver time w/o IO       :   1.65353E+01 sec
time/timestep                  :   1.65353E-02 sec
total max memory usage         :   1.12755E-01 GB
""",
        "nek5000",
        [({"ranks": 4, "elements": 256, "lx1": 8, "steps": 20}, 16.6177)],
    ),
    "nemo": (
        """\
 Total timing (sum) :
 --------------------
Elapsed Time (s)  CPU Time (s)
         24.500       20.100

 MPI summary report :
 --------------------

 Process Rank | Elapsed Time (s) | CPU Time (s) | Ratio CPU/Elapsed
 -------------|------------------|--------------|------------------
    0         |      12.200      |      10.000  |      0.820
    1         |      12.300      |      10.100  |      0.821
 -------------|------------------|--------------|------------------
 Total        |      24.500      |      20.100  |      1.641
 -------------|------------------|--------------|------------------
 Minimum      |      12.200      |      10.000  |      0.820
 -------------|------------------|--------------|------------------
 Maximum      |      12.300      |      10.100  |      0.821
 -------------|------------------|--------------|------------------
 Average      |      12.250      |      10.050  |      0.820
""",
        "nemo",
        [({"ranks": 2}, 12.3)],
    ),
    "nwchem": (
        """\
              Northwest Computational Chemistry Package (NWChem) 6.8
              ------------------------------------------------------
    hostname        = somewhere
    nproc           =       24
          No. of atoms     :     3
          AO basis - number of functions:    25
 Total times  cpu:    18836.5s     wall:    18899.4s
""",
        "nwchem",
        [({"ranks": 24, "atoms": 3, "functions": 25}, 18899.4)],
    ),
    "specfem": (
        """\
 **** Specfem 3-D Solver - MPI version f90 ****
 There are a total of            4  slices
 Time steps done =          100  out of          1000
 Time-Loop Complete. Timing info:
 Total elapsed time in seconds =    269.541410611000
 Total elapsed time in hh:mm:ss =      0 h 04 m 29 s
 End of the simulation
""",
        "specfem",
        [({"ranks": 4, "steps": 1000}, 269.541410611)],
    ),
    "stream": (
        """\
STREAM version $Revision: 5.10 $
Array size = 10000000 (elements), Offset = 0 (elements)
Number of Threads requested = 2
Number of Threads counted = 2
-------------------------------------------------------------
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           10000.0     0.016500     0.016000     0.017000
Triad:          12000.0     0.020500     0.020000     0.021000
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
""",
        "stream",
        [
            ({"kernel": "Copy", "elements": 10_000_000, "threads": 2}, 0.016),
            ({"kernel": "Triad", "elements": 10_000_000, "threads": 2}, 0.02),
        ],
    ),
    "vasp": (
        """\
 vasp.6.3.0 20Jan22 (build May 08 2022 00:08:36) complex
 executed on             LinuxIFC date 2022.05.12  14:11:53
 running   16 mpi-ranks, with    2 threads/rank
   k-points           NKPTS =     10   k-points in BZ     NKDIM =     10   number of bands    NBANDS=     96
   number of dos      NEDOS =    301   number of ions     NIONS =     52
 General timing and accounting informations for this job:
                  Total CPU time used (sec):     3425.605
                         Elapsed time (sec):     3436.035
                 Voluntary context switches:          726
""",
        "vasp",
        [({"ranks": 16, "threads": 2, "ions": 52, "k_points": 10, "bands": 96}, 3436.035)],
    ),
}
#: Real logs of these programs are in test_strangers.py.
REAL = {"castep", "cp2k", "gromacs", "hpl", "imb", "lammps", "openfoam", "opensbli", "osu", "qe", "wrf"}


def test_every_pattern_is_tested() -> None:
    assert {*LOGS, *REAL} == set(shipped_patterns())


@pytest.mark.parametrize("program", LOGS)
def test_a_small_log(tmp_path: Path, program: str) -> None:
    text, solver, rows = LOGS[program]
    path = tmp_path / "run.log"
    path.write_text(text)
    reader = LogReader()
    assert reader.recognises(path)
    ((found, runs),) = reader.read(path).items()
    assert found == solver
    table = runs.to_frame()
    assert table["seconds"].tolist() == [seconds for _, seconds in rows]
    assert table[runs.parameters].to_dict("records") == [parameters for parameters, _ in rows]
    assert not reader.skipped


@pytest.mark.parametrize("program", LOGS)
def test_a_small_log_cut_off_anywhere(tmp_path: Path, program: str) -> None:
    text, _, rows = LOGS[program]
    path = tmp_path / "run.log"
    told = 0
    for cut in [*range(1, len(text) - 50, 6), *range(len(text) - 50, len(text))]:
        path.write_text(text[:cut])
        try:
            ((_, runs),) = LogReader(program=program).read(path).items()
        except EvenlyError:
            continue
        told += 1
        assert runs.to_frame()["seconds"].tolist() == [seconds for _, seconds in rows]
        assert runs.configurations.to_dict("records") == [parameters for parameters, _ in rows]
    assert told < 60  # only when nothing but the last line lacks its end, or what follows the last time


@pytest.mark.parametrize("program", LOGS)
def test_one_pattern_recognises_a_log(tmp_path: Path, program: str) -> None:
    path = tmp_path / "run.log"
    path.write_text(LOGS[program][0])
    for other in shipped_patterns():
        assert LogReader(program=other).recognises(path) == (other == program)


GROMACS = """\
                      :-) GROMACS - mdrun_mpi, 2018.2 (-:
Running on 1 node with total 24 cores, 48 logical cores
   nsteps                         = 10000
Using 8 MPI processes
Using 3 OpenMP threads per MPI process
There are: 1403180 Atoms
{}
               Core t (s)   Wall t (s)        (%)
       Time:    39685.551      826.782     4800.0
                 (ns/day)    (hour/ns)
Performance:        2.090       11.482
Finished mdrun on rank 0 Fri Oct  5 13:44:45 2018
"""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Step 5000: Run time exceeded 0.990 hours, will terminate the run within 100 steps", "stopped by -maxh"),
        ("Received the TERM signal, stopping within 100 steps", "stopped by a signal"),
        ("Restarting from checkpoint, appending to previous log file.", "went on from a checkpoint"),
        ("   integrator                     = steep", "a minimization"),
    ],
)
def test_a_time_that_is_no_speed_is_refused(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "md.log"
    path.write_text(GROMACS.format(line))
    with pytest.raises(EvenlyError, match=reason):
        LogReader().read(path)


@pytest.mark.parametrize(
    ("line", "steps"),
    [
        ("", 10_000),
        ("step 5000: resetting all time and cycle counters", 5_000),
        ("Overriding nsteps with value passed on the command line: 2000 steps, 4 ps", 2_000),
    ],
)
def test_gromacs_counts_the_steps_that_were_timed(tmp_path: Path, line: str, steps: int) -> None:
    path = tmp_path / "md.log"
    path.write_text(GROMACS.format(line))
    table = LogReader().read(path)["gromacs"].to_frame()
    assert table[["nodes", "ranks", "threads", "steps"]].to_numpy().tolist() == [[1, 8, 3, steps]]


LAMMPS = """\
LAMMPS (2 Aug 2023)
pair_style lj/cut 2.5
Setting up cg style minimization ...
Per MPI rank memory allocation (min/avg/max) = 3.1 | 3.1 | 3.1 Mbytes
Loop time of 0.5 on 8 procs for 57 steps with 4000 atoms
97.0% CPU use with 4 MPI tasks x 2 OpenMP threads
Minimization stats:
Per MPI rank memory allocation (min/avg/max) = 3.1 | 3.1 | 3.1 Mbytes
Loop time of 1.25 on 8 procs for 100 steps with 4000 atoms
97.0% CPU use with 4 MPI tasks x 2 OpenMP threads
Per MPI rank memory allocation (min/avg/max) = 3.1 | 3.1 | 3.1 Mbytes
Loop time of 12.5 on 8 procs for 1000 steps with 4000 atoms
97.0% CPU use with 4 MPI tasks x 2 OpenMP threads
Total wall time: 0:00:14
"""


def test_each_run_command_of_lammps_is_a_run(tmp_path: Path) -> None:
    path = tmp_path / "log.lammps"
    path.write_text(LAMMPS)
    reader = LogReader()
    table = reader.read(path)["lammps"].to_frame()
    assert table[["ranks", "threads", "steps", "atoms", "seconds"]].to_numpy().tolist() == [
        [4, 2, 100, 4000, 1.25],
        [4, 2, 1000, 4000, 12.5],
    ]
    assert table["run"].is_unique
    assert [skipped.line for skipped in reader.skipped] == [7]
    assert "minimization" in reader.skipped[0].reason


def test_an_mpi_log_of_quantum_espresso(tmp_path: Path) -> None:
    path = tmp_path / "pw.out"
    path.write_text(
        "     Program PWSCF v.6.5 starts on 17Oct2020 at 12:28:10\n"
        "     Parallel version (MPI & OpenMP), running on      64 processor cores\n"
        "     Number of MPI processes:                16\n     Threads/MPI process:                     4\n"
        "     number of atoms/cell      =           12\n     number of Kohn-Sham states=          100\n"
        "     number of k points=     8  Gaussian smearing\n"
        "     PWSCF        :   1m 5.32s CPU   1m13.54s WALL\n   JOB DONE.\n"
    )
    table = LogReader().read(path)["qe"].to_frame()
    assert table[["ranks", "threads", "atoms", "bands", "k_points", "seconds"]].to_numpy().tolist() == [
        [16, 4, 12, 100, 8, 73.54]
    ]


def test_an_error_in_openfoam_is_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "log.simpleFoam"
    path.write_text(
        "Exec   : simpleFoam -parallel\nnProcs : 4\nTime = 1\nExecutionTime = 0.9 s  ClockTime = 1 s\n"
        "--> FOAM FATAL ERROR: (openfoam-2306)\n"
    )
    with pytest.raises(EvenlyError, match="the run ended by an error"):
        LogReader().read(path)


def foam(program: str, body: str, ranks: int = 4) -> str:
    """Return the log of a program of OpenFOAM, as it begins and ends."""
    return f"Exec   : {program}\nDate   : Jan 02 2024\nCase   : /tmp/case\nnProcs : {ranks}\n{body}End\n\n"


STEPS = "Time = 1\nExecutionTime = 0.9 s  ClockTime = 1 s\nTime = 2\nExecutionTime = 1.9 s  ClockTime = 2 s\n"


def test_several_programs_of_openfoam_in_one_log(tmp_path: Path) -> None:
    """Each time belongs to the program above it, whose name may be a path; evaluating results is no run."""
    path = tmp_path / "log"
    text = foam("blockMesh", "", 1) + foam("/opt/foam/bin/simpleFoam -parallel", STEPS)
    text += foam("pisoFoam -parallel", STEPS + STEPS, 8)
    path.write_text(text + foam("pisoFoam -postProcess -func yPlus", STEPS) + foam("postProcess -func mag", STEPS))
    reader = LogReader()
    found = {name: runs.to_frame() for name, runs in reader.read(path).items()}
    assert {name: table[["ranks", "steps", "seconds"]].to_numpy().tolist() for name, table in found.items()} == {
        "simpleFoam": [[4, 2, 2]], "pisoFoam": [[8, 4, 2]],
    }  # fmt: skip
    reasons = [skipped.reason for skipped in reader.skipped]
    assert sum("only evaluates results" in reason for reason in reasons) == 2
    assert sum("no time" in reason for reason in reasons) == 1


def test_a_program_of_openfoam_that_was_killed_has_no_time(tmp_path: Path) -> None:
    path = tmp_path / "log"
    killed = foam("simpleFoam -parallel", STEPS).removesuffix("End\n\n")
    path.write_text(killed + foam("pisoFoam -parallel", STEPS))
    reader = LogReader()
    assert list(reader.read(path)) == ["pisoFoam"]
    assert "'End' should follow" in reader.skipped[0].reason


@pytest.mark.parametrize(
    ("line", "gpus"),
    [
        ("GPU support:         disabled", 0),
        ("On host node17 4 GPUs selected for this run.", 4),
        ("1 GPU auto-selected for this run.", 1),
        ("8 GPUs user-selected for this run.", 8),
    ],
)
def test_gromacs_says_its_gpus(tmp_path: Path, line: str, gpus: int) -> None:
    path = tmp_path / "md.log"
    path.write_text(GROMACS.format(line))
    assert LogReader().read(path)["gromacs"].to_frame()["gpus"].tolist() == [gpus]


def test_gromacs_that_does_not_say_its_gpus_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "md.log"
    path.write_text(GROMACS.format(""))
    reader = LogReader()
    reader.read(path)
    assert any("doesn't say gpus" in note for note in reader.notes)


def test_gromacs_that_read_a_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "md.part0002.log"
    path.write_text(GROMACS.format("\nReading checkpoint file md.cpt\n  simulation part #:     1\n  step:    5000"))
    with pytest.raises(EvenlyError, match="went on from a checkpoint"):
        LogReader().read(path)


def test_lammps_on_gpus_and_of_old(tmp_path: Path) -> None:
    path = tmp_path / "log.lammps"
    rows = {}
    kokkos = LAMMPS.replace("pair_style", "  will use up to 2 GPU(s) per node\npair_style")
    device = LAMMPS.replace("pair_style", "Device 0: V100, 80 CUs\nDevice 1: V100, 80 CUs\nDevice 2: V100\npair_style")
    old = re.sub(r"\n.*CPU use.*", "", LAMMPS)
    quiet = old.replace("pair_style", "  using 4 OpenMP thread(s) per MPI task\npair_style")
    both = old.replace("on 8 procs", "on 8 procs (2 MPI x 4 OpenMP)")
    for name, text in {
        "none": LAMMPS,
        "kokkos": kokkos,
        "device": device,
        "old": old,
        "both": both,
        "post no": quiet,
    }.items():
        path.write_text(text)
        table = LogReader().read(path)["lammps"].to_frame()
        rows[name] = table[["ranks", "threads", "gpus_per_node"]].iloc[0].tolist()
    assert rows == {
        "none": [4, 2, 0], "kokkos": [4, 2, 2], "device": [4, 2, 3], "old": [8, 1, 0], "both": [2, 4, 0],
        "post no": [2, 4, 0],
    }  # fmt: skip


def test_quantum_espresso_that_did_not_converge_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "pw.out"
    text = (
        "     Program PWSCF v.6.5 starts on 17Oct2020 at 12:28:10\n"
        "     Parallel version (MPI), running on    16 processors\n"
        "     number of atoms/cell      =           12\n     number of Kohn-Sham states=          100\n"
        "     number of k points=     8  Gaussian smearing\n{}"
        "     PWSCF        :   1m 5.32s CPU   1m13.54s WALL\n   JOB DONE.\n"
    )
    for line, expected in (("", 0), ("     convergence NOT achieved after 100 iterations: stopping\n", 1)):
        path.write_text(text.format(line))
        reader = LogReader()
        assert reader.read(path)["qe"].to_frame()["unconverged"].tolist() == [expected]
        assert any("the kind of calculation" in note for note in reader.notes)


def test_all_lines_that_may_say_a_missing_value_are_named(tmp_path: Path) -> None:
    text = ":-) GROMACS - gmx mdrun, 2024.3 (-:\nUsing 4 MPI processes\nUsing 2 OpenMP threads per MPI process\n"
    (tmp_path / "md.log").write_text(f"{text}       Time:     80.0      10.0    800.0\nFinished mdrun on rank 0\n")
    with pytest.raises(ReadError, match=r"'override' or 'nsteps'.*nsteps = "):
        LogReader().read(tmp_path / "md.log")


def test_gromacs_of_the_group_scheme_has_one_thread_per_rank(tmp_path: Path) -> None:
    """Version 5.1 with MPI: the group scheme has no threads, and only the line of the host counts the ranks."""
    path = tmp_path / "md.log"
    old = GROMACS.format("   cutoff-scheme                  = Group")
    old = re.sub("Using .*\n", "", old).replace(
        "                      :-) GROMACS - mdrun_mpi, 2018.2 (-:",
        "Host: node7  pid: 15329  rank ID: 0  number of ranks:  6\nGROMACS:    gmx mdrun, VERSION 5.0.8-dev",
    )
    path.write_text(old)
    assert LogReader().read(path)["gromacs"].to_frame()[["ranks", "threads"]].to_numpy().tolist() == [[6, 1]]


def test_a_log_that_lammps_opens_in_the_middle_of_a_script(tmp_path: Path) -> None:
    """After the command log, the version stands in another file."""
    path = tmp_path / "log.20ns"
    for memory in (None, "Memory usage per processor = 8.5 Mbytes"):
        text = LAMMPS.partition("\n")[2]
        path.write_text(re.sub("Per MPI rank.*", memory, text) if memory else text)
        assert LogReader().read(path)["lammps"].values.tolist() == [1.25, 12.5]


def test_castep_of_an_academic_release(tmp_path: Path) -> None:
    path = tmp_path / "TiN.castep"
    path.write_text(" | Welcome to Academic Release CASTEP version 17.21|          \n")
    assert LogReader().recognises(path)


def test_quantum_espresso_that_does_not_say_its_k_points_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "pw.out"
    path.write_text(
        "     Program PWSCF v.7.1 starts on 17Oct2020 at 12:28:10\n"
        "     Parallel version (MPI), running on    16 processors\n"
        "     number of atoms/cell      =           12\n     number of Kohn-Sham states=          100\n"
        "     PWSCF        :   1m 5.32s CPU   1m13.54s WALL\n   JOB DONE.\n"
    )
    reader = LogReader()
    assert reader.read(path)["qe"].values.tolist() == [73.54]
    assert any("doesn't say k_points" in note for note in reader.notes)


def test_pools_of_quantum_espresso_are_a_parameter(tmp_path: Path) -> None:
    path = tmp_path / "pw.out"
    path.write_text(
        "     Program PWSCF v.6.5 starts on 17Oct2020 at 12:28:10\n"
        "     Parallel version (MPI), running on     4 processors\n"
        "     K-points division:     npool     =       2\n"
        "     number of atoms/cell      =           12\n     number of Kohn-Sham states=          100\n"
        "     PWSCF        :   1m 5.32s CPU   1m13.54s WALL\n   JOB DONE.\n"
    )
    assert LogReader().read(path)["qe"].to_frame()["npool"].tolist() == [2]


def test_a_run_of_namd_that_ended_by_an_error_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "namd.log"
    first, *rest = LOGS["namd"][0].split("TIMING")
    path.write_text(
        first
        + "ERROR: Atoms moving too fast; simulation has become unstable (1 atoms on patch 0 pe 2).\n"
        + "ERROR: Exiting prematurely; see error messages above.\n"
        + "TIMING".join(["", *rest])
    )
    with pytest.raises(EvenlyError, match="the run ended by an error"):
        LogReader().read(path)
