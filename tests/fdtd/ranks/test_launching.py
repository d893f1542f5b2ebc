"""What a launcher is given besides the program."""

from __future__ import annotations

import os
import sys

import pytest

from evenly.fdtd.ranks import launching


@pytest.mark.parametrize(("user", "seen"), [(0, "1"), (1000, "None")])
def test_open_mpi_is_allowed_to_start_ranks_for_root(user: int, seen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    script = "import os; print(*map(os.environ.get, ('OMPI_ALLOW_RUN_AS_ROOT', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM')))"
    monkeypatch.setattr(launching.Launcher, "command", lambda *_args, **_options: [sys.executable, "-c", script])
    assert launching.launch(["anything"], 1, echo=False).output.split() == [seen, seen]
