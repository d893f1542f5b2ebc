"""What a store of somebody else says must not become a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import InputError
from evenly.launch.slurm import Slurm


@pytest.mark.parametrize("mark", ["1-0-plan-../../precious", "/etc", "..", ""])
def test_a_mark_that_is_a_path_is_refused(tmp_path: Path, mark: str) -> None:
    launcher = object.__new__(Slurm)
    near = tmp_path / "s.jobs"
    with pytest.raises(InputError, match="evenly would not write"), launcher.workspace(mark, near):
        pass
    assert list(tmp_path.iterdir()) == []
