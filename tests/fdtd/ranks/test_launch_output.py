"""The output of jobs, as it arrives."""

from __future__ import annotations

from evenly.fdtd.ranks.launch_output import Stream


def test_a_line_without_end_is_looked_at_once() -> None:
    seen: list[int] = []

    def keep(line: str) -> str:
        seen.append(len(line))
        return line

    stream = Stream(keep=keep)
    for _ in range(100):
        stream.feed(b"y" * 10_000)
    stream.feed(b"y\nend")
    stream.close()
    assert stream.text() == "y" * 1_000_001 + "\nend"
    assert sum(seen) == 1_000_005
    assert max(seen) < 100_000
