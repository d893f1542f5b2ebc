"""timing.res: lines appended by several programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from evenly.errors import InputError, ReadError
from evenly.readers.apes.apes_timing import ApesTimingReader
from tests.readers.damage import check_reads_or_refuses, damaged

ATELES = """\
#     Revision             Casename   nProcs  threads      DomSize            Dofs        DofPE      DofPEPV \
nVars   KEUPS        KDUPS      maxIter|      ATELES|  initialize|     simLoop|   commState|       MemRSS       MemHWM
  39b26ed4a215               sample        32        2         4096          196608           48            8 \
6   41.906E+00    2.011E+03           34    4.087E+00  728.127E-03    3.323E+00    1.128E-03       67476       67476
"""
MUSUBI = """\
#        Revision Scheme          DomSize    nProcs        MFLUPs         MLUPs     MLUPs_dyn     timeTotal    maxIter\
          totalDens             Casename      timeMusubi    timeMainLoop        timeComp
    d6b178571bf2      1             32768        24    272.84E+00    272.84E+00      0.00E+00   11.8062E+00    98.E+03\
  100.161896708E+03     bgk-isend_irecv         11.8718         11.8062          8.2762
"""


def write(folder: Path, content: str | bytes, name: str = "timing.res") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_seeder_and_lines_of_a_program_without_header(samples: Path) -> None:
    path = samples / "seeder" / "sdr_timing.res"
    reader = ApesTimingReader()
    assert reader.recognises(path)
    found = reader.read(path)
    assert list(found) == ["seeder"]
    runs = found["seeder"]
    assert runs.parameters == ["cores", "elements"]
    assert len(runs) == 6
    # The program prints millions of elements per second: 261,086 / 76.328E-03 / 1e6 s.
    assert runs.values[0] == pytest.approx(0.261086 / 76.328e-3, rel=1e-4)
    assert runs.to_frame()["refineLeaf"].iloc[0] == 1.694
    (skipped,) = reader.skipped
    assert skipped.line == 6
    assert "4 lines of revision 1a1cf1a81cdb+ are left out: their 22 columns have no header" in skipped.reason


def test_ateles_time_is_per_iteration(tmp_path: Path) -> None:
    path = write(tmp_path, ATELES)
    runs = ApesTimingReader().read(path)["ateles"]
    assert runs.parameters == ["cores", "elements", "dofs_per_variable", "variables"]
    assert runs.configurations.iloc[0].tolist() == [64, 4096, 8, 6]
    np.testing.assert_allclose(runs.values, [3.323 / 34])
    # Thousand element updates per second, as the program itself counts.
    np.testing.assert_allclose(4096 / runs.values / 1e3, [41.906], rtol=1e-4)
    assert runs.quantities["peak_memory"] == "B"
    assert runs.to_frame()["peak_memory"].iloc[0] == 67_476 * 1024
    whole = ApesTimingReader(per="run", timer="ATELES").read(path)["ateles"]
    assert whole.values.tolist() == [4.087]


def test_musubi_iterations_are_known_better_from_its_rate(tmp_path: Path) -> None:
    runs = ApesTimingReader().read(write(tmp_path, MUSUBI))["musubi"]
    np.testing.assert_allclose(runs.values, [32_768 / 272.84e6])
    assert runs.quantities == {"seconds": "s", "timeMusubi": "s", "timeMainLoop": "s", "timeComp": "s"}


def test_programs_with_their_headers_share_a_file(tmp_path: Path) -> None:
    found = ApesTimingReader().read(write(tmp_path, ATELES + MUSUBI + ATELES.splitlines()[1] + "\n"))
    assert {name: len(runs) for name, runs in found.items()} == {"ateles": 2, "musubi": 1}


HEADER, ROW = ATELES.splitlines()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("cores seconds\n1 2\n", "there is no header line"),
        (HEADER, "there is no line of a run below the header"),
        (HEADER + "\n" + ROW[:200], "line 2: a line of revision 39b26ed4a215 is left out"),
        (HEADER + "\n" + ROW.replace("3.323E+00", "abc"), "line 2: simLoop must be a number.*got 'abc'"),
        (HEADER + "\n" + ROW.replace("3.323E+00", "0.0"), "line 2: the time of this run .* is zero"),
        (HEADER + "\n" + ROW.replace(" 4096 ", " -4096 "), "line 2: DomSize must be a positive whole number"),
        (HEADER + "\n" + ROW.replace(" 32 ", " 0 "), "line 2: nProcs must be a positive whole number"),
    ],
)
def test_a_broken_file_says_where_and_why(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        ApesTimingReader().read(write(tmp_path, content))


def test_wrong_options(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="per must be one of iteration, run"):
        ApesTimingReader(per="step")  # type: ignore[arg-type]
    with pytest.raises(ReadError, match="there is no timer 'wall'; there are ATELES, initialize, simLoop"):
        ApesTimingReader(timer="wall").read(write(tmp_path, ATELES))


ORIGINAL = (ATELES + MUSUBI).encode()


@settings(max_examples=300, deadline=None)
@given(content=damaged(ORIGINAL, "0123456789.E+-#| \n"))
def test_damage_gives_runs_or_a_read_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    check_reads_or_refuses(ApesTimingReader(), tmp_path_factory.getbasetemp() / "damaged.res", content)
