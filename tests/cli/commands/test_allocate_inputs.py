"""``evenly allocate``: each input is read, or refused, and its times are those of the solver whose name they get."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands.test_allocate_coupled import COUNTS, LAW, table
from tests.cli.conftest import Evenly

CONFIGURATION = """
<precice-configuration>
  <participant name="Fluid" /><participant name="Solid" />
  <coupling-scheme:parallel-explicit>
    <participants first="Fluid" second="Solid" /><time-window-size value="1" />
  </coupling-scheme:parallel-explicit>
</precice-configuration>
"""


@pytest.mark.parametrize("form", ["log", "folder", "empty folder", "three"])
def test_an_input_of_which_nothing_was_read_is_refused(evenly: Evenly, form: str) -> None:
    table("atm/ifs.csv", "nproc,time_s", [f"{p},{2000 / p}" for p in COUNTS])
    Path("ocean").mkdir()
    unread = "ocean" if "folder" in form else "ocean/nemo.log"
    if form != "empty folder":
        Path("ocean/nemo.log").write_text("run crashed before the timing summary\n")
    others = ["atm"]
    if form == "three":
        table("ice/ice.csv", "nproc,time_s", [f"{p},{900 / p}" for p in COUNTS])
        others.append("ice/ice.csv")
    for layout in ((), ("--layout", "max(ifs, nemo)")):
        asked = evenly("allocate", unread, *others, "--cores", "300", *LAW, *layout)
        assert (asked.code, f"nothing was read from {unread} (" in asked.err) == (2, True), asked.err
    learned = evenly("fit", unread, "atm/ifs.csv", "--save", "m.evenly", *LAW)
    assert (learned.code, f"left out: {unread}: " in learned.err) == (0, True)
    told = evenly("read", unread, "atm/ifs.csv")
    assert "ifs" in told.out
    assert not {"nemo", "ocean"} & set(told.out.split())


def test_a_configuration_of_precice_is_an_input_that_was_read(evenly: Evenly) -> None:
    for name, work in (("Fluid", 2000), ("Solid", 900)):
        table(f"a/{name}.csv", "nproc,time_s", [f"{p},{work / p}" for p in COUNTS])
    Path("precice-config.xml").write_text(CONFIGURATION)
    found = evenly("allocate", "precice-config.xml", "a", "--cores", "300", *LAW, "--json")
    assert found.code == 0, found.err
    assert found.json["layout"] == "max(Fluid, Solid)"
