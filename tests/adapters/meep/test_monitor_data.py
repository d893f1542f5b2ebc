"""Data of Meep's monitors pass only between simulations with the same chunks, once a layout is used."""

from __future__ import annotations

from tests.adapters.meep.conftest import Inside


def test_data_of_other_chunks_are_refused(inside: Inside) -> None:
    found = inside("loaded", [4, 5], ranks=2)
    assert found == {"same": True, "without": True, "one cut": False, "other cell": False}
