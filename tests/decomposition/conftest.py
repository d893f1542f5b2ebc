from collections.abc import Iterator

import pytest

from tests.decomposition.planted import planted


@pytest.fixture
def planted_program(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with planted(monkeypatch):
        yield
