"""Real files that no reader was built with: what they hold is read, and what they don't hold is not invented.

Logs, profiles and tables of jobs have such tests of their own; here are coupled runs, curves and benchmark tools.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import scan

#: The reason with which files are refused that hold no time per configuration, or need an answer from the user.
REFUSED = {
    "no column says what each job took": [
        "1-slurm/hyak-sacct-default/sacct.txt",
        "1-slurm/kabre-csv/sacct.csv",
    ],
    "none of the formats": [
        "1-slurm/slyme-harvard/README",
        "2-coupled/bsc-auto-lb/README.md",
        "2-coupled/bsc-auto-lb/config.yaml",
        "2-coupled/cesm-das4-jungle/CONFIGURATION",
        "2-coupled/cesm-das4-jungle/table1",
        "2-coupled/ufs-regression/RegressionTests_derecho.log",
        "5-benchtools/jube-tests/iterations.result.dat",
        "5-benchtools/jube-tests/result_creation.result.dat",
        "5-benchtools/jube-tests/scripting_pattern.result.dat",
        "5-benchtools/jube-tests/statistic.result.dat",
        "5-benchtools/osu-polaris/n16.g4.nodes.dat",
        "5-benchtools/osu-polaris/n2.g4.nodes.dat",
        "5-benchtools/osu-polaris/n8.g4.nodes.dat",
        "2-coupled/precice-own/*/precice-config.xml",
        "2-coupled/precice-own/*/*/*/out.*",
        "2-coupled/precice-own/*/*/*/precice-*.log",
        "cesm/acme_edison_wiki_timing.txt",
    ],
    "columns have no names": [
        "1-slurm/slyme-harvard/sacct_single_parallel_COMPLETED_parsable.out",
        "1-slurm/slyme-harvard/sacct_single_serial_COMPLETED_parsable.out",
    ],
    "pass time=": [
        "2-coupled/bsc-auto-lb/comp1_ts_240.csv",
        "ec-earth/ATMIFS_ts_CMIP6.csv",
        "ec-earth/ATMIFS_ts_CMIP6_384.csv",
        "ec-earth/oceanx_ts_CMIP6.csv",
        "ec-earth/oceanx_ts_CMIP6_229.csv",
    ],
    "pass unit=": [
        "3-profiles/extrap-tests/mpi_data.csv",
    ],
    "give the folder with all of them": [
        "3-profiles/tau2-examples/profile.0.0.0",
        "3-profiles/tau2-examples/profile.1.0.0",
        "3-profiles/tau2-examples/profile.2.0.0",
        "3-profiles/tau2-examples/profile.3.0.0",
        "3-profiles/tau2-examples/profile.4.0.0",
        "3-profiles/tau2-examples/profile.5.0.0",
        "3-profiles/tau2-examples/profile.6.0.0",
        "3-profiles/tau2-examples/profile.7.0.0",
    ],
    "measured without an error": [
        "5-benchtools/hyperfine-delta/hyperfine.json",
    ],
    "no times": [
        "5-benchtools/reframe-sombrero/SombreroBenchmark.log",
    ],
    "has no value in this row": [
        "cesm/e3sm_layouts_with_sypd.csv",
    ],
    "give the folder with all rank files": ["2-coupled/precice-own/*/*/*/precice-profiling/*-[!1].txt"],
}
REASONS = {name: reason for reason, names in REFUSED.items() for name in names}

#: What each file holds: solver, rows, parameters, and the first time or value.
READ = {
    "1-slurm/greenalgorithms/example_sacctOutput_raw.txt": [("", 2, "cores", 14425.0)],
    "1-slurm/seff-score-doc/efficiency_using_seff.md": [("", 1, "cores", 1066.0)],
    "1-slurm/swf-hpc2n/hpc2n.swf": [("", 3170, "cores", 31405.0)],
    "1-slurm/xdmod-ccr/phillips.log": [("", 699, "cores partition", 432026.0)],
    "1-slurm/xdmod-ccr/pozidriv.log": [("", 439, "cores nodes partition", 679179.0)],
    "2-coupled/bsc-auto-lb/comp1.csv": [("", 12, "nproc", 26422.0)],
    "2-coupled/bsc-auto-lb/comp2.csv": [("", 10, "nproc", 24475.9)],
    "3-profiles/extrap-tests/cubeset_single_parameter/mm.x1000y1z1.r1/profile.cubex": [
        ("mm", 4, "region x y z", 1.2488e-05)
    ],
    "3-profiles/extrap-tests/cubeset_single_parameter/mm.x100y1z1.r1/profile.cubex": [
        ("mm", 4, "region x y z", 1.2051e-05)
    ],
    "3-profiles/extrap-tests/cubeset_single_parameter/mm.x10y1z1.r1/profile.cubex": [
        ("mm", 4, "region x y z", 1.1667e-05)
    ],
    "3-profiles/extrap-tests/cubeset_single_parameter/mm.x1y1z1.r1/profile.cubex": [
        ("mm", 4, "region x y z", 3.1883e-05)
    ],
    "3-profiles/extrap-tests/cubeset_single_parameter/mm.x2000y1z1.r1/profile.cubex": [
        ("mm", 4, "region x y z", 1.3075e-05)
    ],
    "3-profiles/extrap-tests/cubeset_single_parameter/mm.x250y1z1.r1/profile.cubex": [
        ("mm", 4, "region x y z", 1.1917e-05)
    ],
    "3-profiles/extrap-tests/cubeset_single_parameter/mm.x25y1z1.r1/profile.cubex": [
        ("mm", 4, "region x y z", 1.1931e-05)
    ],
    "3-profiles/extrap-tests/cubeset_single_parameter/mm.x500y1z1.r1/profile.cubex": [
        ("mm", 4, "region x y z", 1.2366e-05)
    ],
    "3-profiles/extrap-tests/cubeset_single_parameter/mm.x50y1z1.r1/profile.cubex": [
        ("mm", 4, "region x y z", 1.2007e-05)
    ],
    "3-profiles/extrap-tests/input_experiments_SP_experiment2.txt": [("", 89, "region p", 4.1)],
    "3-profiles/extrap-tests/input_input_data_1p.txt": [("", 25, "region x", 82.0085)],
    "3-profiles/extrap-tests/json_input_1.JSON": [("", 25, "region x", 3.5)],
    "3-profiles/extrap-tests/json_new_input1.json": [("", 25, "region x", 3.5)],
    "3-profiles/extrap-tests/json_new_input2.json": [("", 50, "region x y", 3.5)],
    "3-profiles/extrap-tests/jsonlines_input_1.jsonl": [("", 125, "region x y", 48663.5)],
    "3-profiles/extrap-tests/jsonlines_test1.jsonl": [("", 125, "region x y", 2.0)],
    "3-profiles/extrap-tests/talpas_talpas_1.txt": [("", 25, "region x", 82.0085)],
    "3-profiles/extrap-tests/text_one_parameter_1.txt": [("", 30, "region x", 82.0085)],
    "3-profiles/extrap-tests/text_one_parameter_2.txt": [("", 375, "region x", 82.0085)],
    "3-profiles/extrap-tests/text_strong_scaling_one_parameter_6.txt": [("", 89, "region p", 4.1)],
    "3-profiles/extrap-tests/text_three_parameter_1.txt": [("", 625, "region x y z", 204.3)],
    "3-profiles/extrap-tests/text_two_parameter_1.txt": [("", 125, "region x y", 1.00791)],
    "3-profiles/tau-lbm-bristol/0initial_128x128_profile.0.0.0": [("d2q9-bgk", 12, "region ranks", 4.7e-05)],
    "3-profiles/tau-lbm-bristol/0initial_128x256_profile.0.0.0": [("d2q9-bgk", 12, "region ranks", 4.2e-05)],
    "3-profiles/tau-lbm-bristol/0initial_256x256_profile.0.0.0": [("d2q9-bgk", 12, "region ranks", 4.1e-05)],
    "3-profiles/thicket-mpi-scaling/125_cores.cali": [
        (
            "lulesh2.0",
            46,
            "region ranks threads iterations problem_size num_regions region_cost region_balance",
            0.00211064,
        )
    ],
    "3-profiles/thicket-mpi-scaling/216_cores.cali": [
        (
            "lulesh2.0",
            46,
            "region ranks threads iterations problem_size num_regions region_cost region_balance",
            0.00270911,
        )
    ],
    "3-profiles/thicket-mpi-scaling/27_cores.cali": [
        (
            "lulesh2.0",
            46,
            "region ranks threads iterations problem_size num_regions region_cost region_balance",
            0.00198896,
        )
    ],
    "3-profiles/thicket-mpi-scaling/343_cores.cali": [
        (
            "lulesh2.0",
            46,
            "region ranks threads iterations problem_size num_regions region_cost region_balance",
            0.00269969,
        )
    ],
    "3-profiles/thicket-mpi-scaling/64_cores.cali": [
        (
            "lulesh2.0",
            46,
            "region ranks threads iterations problem_size num_regions region_cost region_balance",
            0.00284277,
        )
    ],
    "4-logs/castep-archer/TiN-mp_1nodes_1ranks_202003161011.castep": [
        ("castep", 1, "ranks threads ions k_points calculation", 5697.09)
    ],
    "4-logs/castep-archer/TiN-mp_1nodes_24ranks_1threads_202008120926.castep": [
        ("castep", 1, "ranks threads ions k_points calculation", 582.67)
    ],
    "4-logs/castep-archer/TiN-mp_1nodes_4ranks_1threads_202003240848.castep": [
        ("castep", 1, "ranks threads ions k_points calculation", 1791.67)
    ],
    "4-logs/cp2k-archer2/H2O_bench-1nodes-128cores-2threads-run1.out": [
        ("cp2k", 1, "ranks threads run_type atoms steps", 26.04)
    ],
    "4-logs/cp2k-archer2/H2O_bench-2nodes-256cores-2threads-run1.out": [
        ("cp2k", 1, "ranks threads run_type atoms steps", 23.188)
    ],
    "4-logs/cp2k-archer2/H2O_bench-4nodes-512cores-2threads-run1.out": [
        ("cp2k", 1, "ranks threads run_type atoms steps", 23.794)
    ],
    "4-logs/gromacs-archer/benchmark_128nodes3072tasks1threads_201810081407.log": [
        ("gromacs", 1, "nodes ranks threads gpus steps atoms", 72.737)
    ],
    "4-logs/gromacs-archer/benchmark_16nodes384tasks1threads_201810051316.log": [
        ("gromacs", 1, "nodes ranks threads gpus steps atoms", 169.329)
    ],
    "4-logs/gromacs-archer/benchmark_16nodes384tasks2threads2smt_201810051656.log": [
        ("gromacs", 1, "nodes ranks threads gpus steps atoms", 121.743)
    ],
    "4-logs/gromacs-archer/benchmark_1nodes24tasks1threads_201810051323.log": [
        ("gromacs", 1, "nodes ranks threads gpus steps atoms", 1647.42)
    ],
    "4-logs/gromacs-archer/benchmark_2nodes48tasks1threads_201810051323.log": [
        ("gromacs", 1, "nodes ranks threads gpus steps atoms", 826.782)
    ],
    "4-logs/gromacs-archer/benchmark_32nodes768tasks1threads_201810051316.log": [
        ("gromacs", 1, "nodes ranks threads gpus steps atoms", 96.561)
    ],
    "4-logs/gromacs-archer/benchmark_4nodes96tasks1threads_201810051323.log": [
        ("gromacs", 1, "nodes ranks threads gpus steps atoms", 452.641)
    ],
    "4-logs/gromacs-archer/benchmark_64nodes1536tasks1threads_201810061946.log": [
        ("gromacs", 1, "nodes ranks threads gpus steps atoms", 58.598)
    ],
    "4-logs/gromacs-archer/benchmark_8nodes192tasks1threads_201809291044.log": [
        ("gromacs", 1, "nodes ranks threads gpus steps atoms", 246.714)
    ],
    "4-logs/hpl-lbnl/nb=192_n=118848_90pct_4x4_etna0.out": [("hpl", 1, "N NB ranks P", 3839.37)],
    "4-logs/hpl-lbnl/nb=192_n=166656_90pct_4x8_etna0.out": [("hpl", 1, "N NB ranks P", 4867.85)],
    "4-logs/hpl-lbnl/nb=192_n=235776_90pct_8x8_etna0.out": [("hpl", 1, "N NB ranks P", 7537.68)],
    "4-logs/hpl-lbnl/nb=192_n=250176_90pct_8x9_etna0.out": [("hpl", 1, "N NB ranks P", 8100.32)],
    "4-logs/hpl-lbnl/nb=192_n=83904_90pct_2x4_etna0.out": [("hpl", 1, "N NB ranks P", 2310.54)],
    "4-logs/lammps-bench/log.6Oct16.eam.fixed.icc.1": [
        ("lammps", 1, "ranks threads steps atoms gpus_per_node pair_style", 5.96529)
    ],
    "4-logs/lammps-bench/log.6Oct16.eam.fixed.icc.4": [
        ("lammps", 1, "ranks threads steps atoms gpus_per_node pair_style", 1.64562)
    ],
    "4-logs/lammps-bench/log.6Oct16.lj.fixed.icc.1": [
        ("lammps", 1, "ranks threads steps atoms gpus_per_node pair_style", 2.26185)
    ],
    "4-logs/lammps-bench/log.6Oct16.lj.fixed.icc.4": [
        ("lammps", 1, "ranks threads steps atoms gpus_per_node pair_style", 0.635957)
    ],
    "4-logs/lammps-bench/log.6Oct16.lj.scaled.icc.4": [
        ("lammps", 1, "ranks threads steps atoms gpus_per_node pair_style", 2.55762)
    ],
    "4-logs/lammps-bench/log.6Oct16.rhodo.fixed.icc.1": [
        ("lammps", 1, "ranks threads steps atoms gpus_per_node pair_style", 35.0316)
    ],
    "4-logs/lammps-bench/log.6Oct16.rhodo.fixed.icc.4": [
        ("lammps", 1, "ranks threads steps atoms gpus_per_node pair_style", 9.39107)
    ],
    "4-logs/lammps-nrel/NREL_medium_numerical_test.log": [
        ("lammps", 1, "ranks threads steps atoms gpus_per_node", 11243.5)
    ],
    "4-logs/openfoam-opencae/mpi_00001.log.pimpleFoam.23406": [("pimpleFoam", 1, "ranks steps", 318.0)],
    "4-logs/openfoam-opencae/mpi_00002.log.pimpleFoam.23406": [("pimpleFoam", 1, "ranks steps", 217.0)],
    "4-logs/openfoam-opencae/mpi_00004.log.pimpleFoam.23406": [("pimpleFoam", 1, "ranks steps", 209.0)],
    "4-logs/openfoam-opencae/mpi_00008.log.pimpleFoam.23406": [("pimpleFoam", 1, "ranks steps", 216.0)],
    "4-logs/openfoam-opencae/mpi_00012.log.pimpleFoam.23406": [("pimpleFoam", 1, "ranks steps", 1570.0)],
    "4-logs/openfoam-opencae/mpi_00016.log.pimpleFoam.23406": [("pimpleFoam", 1, "ranks steps", 2847.0)],
    "4-logs/opensbli-archer/output_1nodes_201903201338.txt": [("opensbli", 1, "ranks iterations points", 1001.38)],
    "4-logs/qe-qef/REFERENCE_pw.out": [("qe", 1, "ranks threads atoms bands k_points npool unconverged", 7740.0)],
    "4-logs/wrf-acm40080/rsl.out.0000": [("wrf", 480, "ranks e_we e_sn domain", 1.52669)],
    "5-benchtools/google-benchmark-inputs/test1_run1.json": [("google-benchmark", 14, "benchmark", 1e-08)],
    "5-benchtools/imb-nrel/IMB_rawdat": [
        ("imb PingPong", 2, "ranks bytes", 1.19e-06),
        ("imb Barrier", 10, "ranks", 1.22e-06),
        ("imb Alltoall", 30, "ranks bytes", 4e-08),
        ("imb Allgather", 33, "ranks bytes", 4e-08),
        ("imb Allreduce", 40, "ranks bytes", 4e-08),
        ("imb Sendrecv", 40, "ranks bytes", 1.16e-06),
        ("imb Exchange", 40, "ranks bytes", 1.41e-06),
    ],
    "5-benchtools/osu-polaris/n16.g4.all_reduce_output.dat.1": [
        ("osu MPI-CUDA Allreduce Latency", 28, "ranks bytes", 5.978e-05)
    ],
    "5-benchtools/osu-polaris/n16.g4.alltoall_output.dat.1": [
        ("osu MPI-CUDA All-to-All Personalized Exchange Latency", 22, "ranks bytes", 0.00014854)
    ],
    "5-benchtools/osu-polaris/n2.g4.all_reduce_output.dat.1": [
        ("osu MPI-CUDA Allreduce Latency", 28, "ranks bytes", 4.964e-05)
    ],
    "5-benchtools/osu-polaris/n2.g4.alltoall_output.dat.1": [
        ("osu MPI-CUDA All-to-All Personalized Exchange Latency", 25, "ranks bytes", 5.069e-05)
    ],
    "5-benchtools/osu-polaris/n8.g4.all_reduce_output.dat.1": [
        ("osu MPI-CUDA Allreduce Latency", 28, "ranks bytes", 5.628e-05)
    ],
    "5-benchtools/osu-polaris/n8.g4.alltoall_output.dat.1": [
        ("osu MPI-CUDA All-to-All Personalized Exchange Latency", 23, "ranks bytes", 9.068e-05)
    ],
    "5-benchtools/pytest-benchmark/0001_*": [("pytest-benchmark", 1, "benchmark", 2.62241e-07)],
    "5-benchtools/pytest-benchmark/0002_*": [("pytest-benchmark", 1, "benchmark", 2.54059e-07)],
    "5-benchtools/pytest-benchmark/0003_*": [("pytest-benchmark", 1, "benchmark", 2.45716e-07)],
    "ec-earth/ATMIFS_scalability_CMIP6.csv": [("", 9, "nproc", 26422.0)],
    "ec-earth/ifs_nemo_coupled_runs.csv": [("", 15, "ifs_nproc nemo_nproc n_ts", 27025.3)],
    "ec-earth/oceanx_scalability_CMIP6.csv": [("", 9, "nproc", 24475.9)],
    "2-coupled/precice-own/serial/1_1/fluid/precice-profiling/*.txt": [("Fluid", 23, "cores", 0.660154)],
    "2-coupled/precice-own/serial/1_1/solid/precice-profiling/*.txt": [("Solid", 23, "cores", 0.250135)],
    "2-coupled/precice-own/sub/1_1/fluid/precice-profiling/*.txt": [("Fluid", 23, "cores", 0.180317)],
    "2-coupled/precice-own/sub/1_1/solid/precice-profiling/*.txt": [("Solid", 95, "cores", 0.071851)],
}


def _files(strangers: Path, pattern: str) -> list[Path]:
    found = sorted(path for path in strangers.glob(pattern) if path.is_file())
    assert found, pattern
    return found


@pytest.mark.parametrize("name", REASONS)
def test_what_a_file_does_not_hold_is_not_invented(strangers: Path, name: str) -> None:
    for path in _files(strangers, name):
        with pytest.raises(ReadError, match=REASONS[name]):
            scan(path)


@pytest.mark.parametrize("name", READ)
def test_what_a_file_holds(strangers: Path, name: str) -> None:
    (path,) = _files(strangers, name)
    found = []
    for solver, runs in scan(path).runs.items():
        frame = runs.to_frame()  # of preCICE's participants, what is known is the solver's own work
        values = frame["solving" if "solving" in frame else runs.response].dropna()
        found.append((solver, len(runs), " ".join(runs.parameters), float(f"{values.iloc[0]:.6g}")))
    assert found == READ[name]


def test_each_file_of_strangers_has_its_answer(strangers: Path) -> None:
    known = {path for name in (*REASONS, *READ) for path in _files(strangers, name)}
    known |= {strangers / name for name in _cesm(strangers)}
    assert known == {path for path in strangers.rglob("*") if path.is_file() and path.parent != strangers}


def _cesm(strangers: Path) -> dict[str, dict[str, tuple[int, float]]]:
    """Return cores and seconds of each component, by file, from the answers in the index."""
    answers = {}
    name = ""
    for line in (strangers / "INDEX.md").read_text().splitlines():
        name = line.split("`")[1] if line.startswith("- `") else name
        if "CESM/E3SM timing summary" in line:
            _, layout, seconds = re.split(r"layout \(tasks x threads\): |; seconds ", line)
            cores = {c: int(n) * int(m) for c, n, m in re.findall(r"(\w+) (\d+)x(\d+)@", layout)}
            took = {c.lower(): float(s) for c, s in re.findall(r"([A-Z]+) ([\d.]+)", seconds)}
            answers[name] = {c: (n, took[c]) for c, n in cores.items() if took.get(c)}
    assert len(answers) == 14
    return answers


def test_timing_files_of_cesm(strangers: Path) -> None:
    for name, expected in _cesm(strangers).items():
        found = scan(strangers / name).runs
        tables = {component: runs.to_frame().iloc[0] for component, runs in found.items()}
        assert {c: (row["cores"], row["run_seconds"]) for c, row in tables.items()} == expected


@pytest.mark.parametrize(
    ("name", "sypd"),
    [
        ("2-coupled/bsc-auto-lb/comp1.csv", {48: 3.27, 240: 12.96, 1008: 26.27}),
        ("2-coupled/bsc-auto-lb/comp2.csv", {48: 3.53, 757: 48.73, 905: 47.59}),
    ],
)
def test_simulated_years_per_day_become_seconds_of_one_year(strangers: Path, name: str, sypd: dict[int, float]) -> None:
    runs = scan(strangers / name).runs[""]
    measured = dict(zip(runs.to_frame()["nproc"], runs.values, strict=True))
    assert {cores: measured[cores] for cores in sypd} == pytest.approx({c: 86_400 / rate for c, rate in sypd.items()})


def test_a_coupled_run_is_not_learned_from_its_own_outcomes(strangers: Path) -> None:
    found = scan(strangers / "ec-earth/ifs_nemo_coupled_runs.csv", time="coupled_s")
    assert found.runs[""].parameters == ["ifs_nproc", "nemo_nproc", "n_ts"]


def test_google_benchmark_has_its_own_unit(strangers: Path) -> None:
    table = scan(strangers / "5-benchtools/google-benchmark-inputs/test1_run1.json").runs["google-benchmark"].to_frame()
    assert dict(zip(table["benchmark"], table["seconds"], strict=True))["BM_SameTimes"] == pytest.approx(10e-9)


def test_pytest_benchmark_files_are_one_table(strangers: Path) -> None:
    runs = scan(strangers / "5-benchtools/pytest-benchmark").runs["pytest-benchmark"]
    assert sorted(runs.values) == pytest.approx([2.45716e-07, 2.54059e-07, 2.62241e-07], rel=1e-5)
    assert len(runs.configurations.drop_duplicates()) == 1
