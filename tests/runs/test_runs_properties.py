"""Tables of runs come back from files exactly, whatever they hold; damage is one clear error."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.errors import ReadError
from evenly.runs.files import decode_label, decode_text, encode_label, encode_text
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical, Integer
from evenly.space.space import Space

TEXTS = st.text(max_size=8) | st.sampled_from(
    ["", "NA", "nan", "1", "true", "null", '"', "a,b", "\r\n", "#", "1e5", "\0"]
)
LABELS = st.one_of(
    TEXTS, st.booleans(), st.none(), st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False)
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SECONDS = st.floats(5e-324, 1e300)


@given(text=TEXTS, label=LABELS)
def test_cells_come_back(text: str, label: Any) -> None:
    assert decode_text(encode_text(text)) == text
    back = decode_label(encode_label(label))
    assert (type(back), back) == (type(label), label)
    for cell in (encode_text(text), encode_label(label)):
        assert cell.isprintable()


@st.composite
def tables(draw: st.DrawFn) -> Runs:
    n = draw(st.integers(1, 6))

    def column(values: st.SearchStrategy[Any]) -> pd.Series[Any]:
        return pd.Series(draw(st.lists(values, min_size=n, max_size=n)), dtype=object)

    labels = column(LABELS)
    labels.iloc[0] = draw(TEXTS)  # numbers alone would be no labels
    label = draw(TEXTS.filter(lambda x: x not in ("n", "x", "seconds", "memory", "run", "machine", "source", "status")))
    frame = pd.DataFrame(
        {
            "n": column(st.integers(-(2**53), 2**53)), "x": column(NUMBERS), label: labels,
            "seconds": column(SECONDS), "memory": column(st.floats(0, 1e300) | st.just(float("nan"))),
            "status": column(st.sampled_from(["ok", "failed", "timed out"])), "machine": column(TEXTS),
            "source": column(TEXTS),
        }
    )  # fmt: skip
    return Runs.from_frame(frame, ["n", "x", label], quantities={"memory": "B"})


@settings(deadline=None, max_examples=50)
@given(runs=tables(), kind=st.sampled_from(["csv", "parquet"]))
def test_files_come_back_exactly(runs: Runs, kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"runs.{kind}")
        runs.save(path)
        back = Runs.load(path)
    assert back == runs
    pd.testing.assert_frame_equal(back.to_frame(), runs.to_frame(), check_exact=True)
    for name in runs.parameters:
        assert [type(x) for x in back.to_frame()[name]] == [type(x) for x in runs.to_frame()[name]]


RUNS = Runs.from_frame(
    pd.DataFrame({"n": [1, 2, 2], "s": ["a", None, "b"], "seconds": [0.1, 2.0, 3.0], "source": "x,y"}), ["n", "s"]
)


@settings(deadline=None, max_examples=200)
@given(data=st.data(), kind=st.sampled_from(["csv", "parquet"]))
def test_damage_is_a_read_error_or_harmless(data: st.DataObject, kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"runs.{kind}")
        RUNS.save(path)
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        try:
            assert isinstance(Runs.load(path), Runs)
        except ReadError as error:
            assert error.path == path  # noqa: PT017


@given(
    keys=st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["a", None, 1, "1"])), min_size=1, max_size=30),
    data=st.data(),
)
def test_aggregation_loses_no_run(keys: list[tuple[int, Any]], data: st.DataObject) -> None:
    seconds = data.draw(st.lists(st.floats(0.01, 100), min_size=len(keys), max_size=len(keys)))
    frame = pd.DataFrame(
        {"n": [n for n, _ in keys], "s": pd.Series([s for _, s in keys], dtype=object), "seconds": seconds}
    )
    space = Space(n=Integer(1, 3), s=Categorical("a", None, 1, "1"))
    runs = Runs.from_frame(frame, ["n", "s"], space=space)
    table = runs.aggregate("mean")
    groups: dict[tuple[int, Any], list[float]] = {}
    for key, value in zip(keys, seconds, strict=True):
        groups.setdefault(key, []).append(value)
    got = dict(
        zip(zip(table["n"], table["s"], strict=True), zip(table["seconds"], table["count"], strict=True), strict=True)
    )
    assert set(got) == set(groups)
    for (n, s), values in groups.items():
        # The mean of m positive numbers, summed in any order, is off by at most m roundings.
        np.testing.assert_allclose(got[n, s][0], np.mean(values), rtol=len(values) * 2.3e-16)
        assert got[n, s][1] == len(values)
        assert sorted(runs.repetitions({"n": n, "s": s})) == sorted(values)
