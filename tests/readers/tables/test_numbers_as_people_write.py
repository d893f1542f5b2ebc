"""Numbers and units as people write them: thousands beside decimal points, powers, words, ordinals, parts of nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan


def _read(folder: Path, text: str, **options: str) -> Measurements:
    path = folder / "runs.csv"
    path.write_text(text)
    return scan(path, **options)


def _times(*cells: str) -> str:
    return "\n".join(["cores;Zeit", *(f"{8 * 2**n};{cell}" for n, cell in enumerate(cells))])


@pytest.mark.parametrize(
    ("cells", "seconds"),
    [
        (("52,1 Sekunden", "28,9 Sekunden"), [52.1, 28.9]),
        (("52.1 secondes", "28.9 secondes"), [52.1, 28.9]),
        (("691931 microsegundos", "451162 microsegundos"), [0.691931, 0.451162]),
        (("3 Std. 20 Min.", "1 Stunde 10 Minuten"), [12000.0, 4200.0]),
        (("2 horas", "1.5 horas"), [7200.0, 5400.0]),
        (("12 minutos", "7 minutos"), [720.0, 420.0]),
    ],
)
def test_units_in_words_of_other_languages(tmp_path: Path, cells: tuple[str, str], seconds: list[float]) -> None:
    assert _read(tmp_path, _times(*cells)).runs[""].values.tolist() == pytest.approx(seconds)


@pytest.mark.parametrize(
    "names",
    [
        ("Tiempo 1era Ejecución", "Tiempo 2nda Ejecución", "Tiempo 3era Ejecución"),
        ("Time 1st run", "Time 2nd run", "Time 3rd run"),
    ],
)
def test_repeated_runs_with_ordinals(tmp_path: Path, names: tuple[str, ...]) -> None:
    rows = "1;52.1;52.3;52.0\n2;28.9;29.0;28.8\n4;16.4;16.5;16.2\n"
    runs = _read(tmp_path, f"cores;{';'.join(names)}\n{rows}").runs[""]
    assert len(runs) == 9
    assert runs.parameters == ["cores"]


def test_a_comma_beside_decimal_points_parts_thousands(tmp_path: Path) -> None:
    text = 'cores,cells,time_s\n1,"4,096",9.99\n2,"8,192",10.51\n4,"16,384",11.2\n'
    assert _read(tmp_path, text).runs[""].configurations["cells"].tolist() == [4096, 8192, 16384]
    with pytest.raises(ReadError, match="may be a thousand or a decimal comma"):
        _read(tmp_path, text.replace("9.99", "9").replace("10.51", "10").replace("11.2", "11"))
    versions = 'version,cells,time_s\n2022.4,"4,096",9\n2023.1,"8,192",10\n2024.2,"16,384",11\n'
    with pytest.raises(ReadError, match="may be a thousand or a decimal comma"):
        _read(tmp_path, versions)


def test_powers_and_words_are_sizes(tmp_path: Path) -> None:
    rows = "\n".join(f"{cores},{size},{cores}.5" for cores in (8, 16) for size in ("{}", "{}", "{}"))
    for sizes, numbers in ((("128³", "256³", "512³"), [128**3, 256**3, 512**3]), (("1 Mio", "4 Mio", "16 Mio"), None)):
        grid = _read(tmp_path, f"cores,grid,time_s\n{rows.format(*sizes, *sizes)}\n").runs[""].configurations["grid"]
        assert grid.tolist()[:3] == (numbers or [1_000_000, 4_000_000, 16_000_000])


@pytest.mark.parametrize("name", ["t / s", "t_ges / s"])
def test_a_heading_with_its_unit_below_a_line_is_a_time(tmp_path: Path, name: str) -> None:
    assert _read(tmp_path, f"cores,{name}\n16,53.8\n32,28.5\n64,16.2\n").runs[""].values.tolist() == [53.8, 28.5, 16.2]
    with pytest.raises(ReadError, match=r"no column's name says that it is a time|may be a time or a rate"):
        _read(tmp_path, "cores,t/s\n16,53.8\n32,28.5\n64,16.2\n")  # tokens


def test_parts_of_nodes_and_gpus_have_a_way_out(tmp_path: Path) -> None:
    text = "GPUs,time_s\n0.5,53.8\n1,28.5\n2,16.2\n4,9.1\n"
    with pytest.raises(ReadError, match=r"count what they are made of.*--where 'GPUs != 0.5'"):
        _read(tmp_path, text)
    assert len(_read(tmp_path, text, where="GPUs != 0.5").runs[""]) == 3


def test_versions_of_a_module_are_labels(tmp_path: Path) -> None:
    text = "Module,cores,time_s\n2021.5,8,53.8\n2022.4,8,50.5\n2021.5,16,28.2\n2022.4,16,26.1\n"
    assert _read(tmp_path, text).runs[""].configurations["Module"].dtype == object


def test_limits_are_no_times_and_labels_are_not_proposed(tmp_path: Path) -> None:
    for limit in ("RUNLIMIT (min)", "Req'd Time (min)"):
        runs = _read(tmp_path, f"cores,{limit},Elap Time (min)\n16,480,53.8\n32,480,28.5\n64,240,16.2\n").runs[""]
        assert runs.values[0] == 53.8 * 60
        assert runs.parameters == ["cores"]
    with pytest.raises(ReadError, match=r"one of the columns 'value'"):
        _read(tmp_path, "cores,label,value\n16,fine,53.8\n32,coarse,28.5\n64,fine,16.2\n")
