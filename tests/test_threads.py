"""Numbered threads, and what runs on them."""

from __future__ import annotations

import pytest

from evenly.threads import on_threads


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_on_a_thread_is_raised(threads: int) -> None:
    def kernel(thread: int) -> None:
        if thread == threads - 1:
            raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        on_threads(kernel, threads)
