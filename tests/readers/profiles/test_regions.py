"""What all readers of profiles share."""

from __future__ import annotations

from pathlib import Path

from evenly.readers.profiles.regions import Profile


def test_zeros_and_values_that_are_no_number_are_told() -> None:
    profile = Profile(Path("p.jsonl"), {"time": "s"}, time="time")
    for p in (2, 4, 8):
        profile.add("a", {"p": p}, {"time": 8.0 / p})
        profile.add("b", {"p": p}, {"time": 0.0 if p == 8 else 1.0})
        profile.add("c", {"p": p}, {"time": float("nan") if p == 2 else 2.0})
    assert len(profile.runs()) == 7
    told = " ".join(profile.notes)
    assert "1 of 9 values are no number (NaN) and left out" in told
    assert "1 of 9 times are zero and left out, as if they had not been measured: b" in told
