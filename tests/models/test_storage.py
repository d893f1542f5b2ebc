"""Model files: what was learned comes back as it was; a damaged file is one clear error."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.errors import InputError, ReadError
from evenly.models.base import Model
from evenly.models.storage import load, save
from tests.models.toy_model import Toy

X = {"cores": [1, 2, 4], "solver": ["a", None, "b"]}
Y = [4.0, 2.0, 1.0]


def through_file(model: Model, folder: Path) -> Any:
    save(model, folder / "m.evenly")
    return load(folder / "m.evenly")


def same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        equal_nan = a.dtype.kind == "f"
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=equal_nan)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b) or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize(
    "state",
    [
        {"a": [1, 2.5, "x", None, True, {"b": [[]]}], "empty": {}},
        [math.nan, math.inf, -math.inf, -0.0, 5e-324, 0.1, 2**70],
        {"f": np.array([[1.5, np.nan], [-np.inf, 0.1]]), "i": np.arange(3), "t": np.array(["ä", ""])},
        {"0d": np.array(3.0), "small": np.array([0.1], dtype=np.float32), "t": np.asfortranarray(np.eye(2))},
        {"b": np.array([True, False]), "none": np.empty((0, 3))},
        (1, (2, [3, (4,)])),
        {1: "one", (2, 3): "pair", None: "none"},
        {"__array__": "a0", "__float__": "nan"},
        {"__items__": [], "__tuple__": 1},
        np.array([["a", 1], [None, (2.5,)]], dtype=object),
    ],
)  # fmt: skip
def test_nested_state_comes_back_as_it_was(state: Any, tmp_path: Path) -> None:
    assert same(through_file(Toy(keep=state).fit(X, Y), tmp_path).kept_, state)
    assert same(through_file(Toy(keep=state).fit(X, Y), tmp_path).keep, state)


def test_numpy_scalars_become_plain(tmp_path: Path) -> None:
    state = [np.float64(0.1), np.float32(0.5), np.int8(3), np.bool_(True), np.str_("x"), np.longdouble(2)]
    assert same(through_file(Toy(keep=state).fit(X, Y), tmp_path).kept_, [0.1, 0.5, 3, True, "x", 2.0])


def test_all_that_a_model_knows_comes_back(tmp_path: Path) -> None:
    model = Toy(factor=3.0).fit(X, Y)
    model.response_ = {"name": "memory", "unit": "B"}
    model.training_ = {"rows": 3, "largest": math.inf}
    other = through_file(model, tmp_path)
    assert type(other) is Toy
    assert other.space_ == model.space_
    assert (other.n_runs_, other.n_features_in_, list(other.feature_names_in_)) == (3, 2, ["cores", "solver"])
    assert (other.response_, other.training_) == (model.response_, model.training_)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert [path.name for path in tmp_path.iterdir()] == ["m.evenly"]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_named(tmp_path: Path, number: str) -> None:
    path = tmp_path / "m.evenly"
    save(Toy(factor=3.25).fit(X, Y), path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["model.json"] = files["model.json"].replace(b"3.25", number.encode())
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(ReadError, match=r"models\.\.arguments\.factor must be a finite number, but is (nan|-?inf)"):
        load(path)


def test_several_models_by_solver(tmp_path: Path) -> None:
    for names in (["inner", "ä/b"], [""], ["only"]):
        save({name: Toy().fit(X, Y) for name in names}, tmp_path / "m.evenly")
        loaded = load(tmp_path / "m.evenly")
        assert isinstance(loaded, dict)
        assert list(loaded) == names


def test_what_can_not_be_saved(tmp_path: Path) -> None:
    things: list[Any] = [
        {},
        Toy(),
        {"a": 3},
        Toy(keep=print).fit(X, Y),
        Toy(keep=b"x").fit(X, Y),
        Toy(keep=1j).fit(X, Y),
    ]
    for thing in things:
        with pytest.raises(InputError):
            save(thing, tmp_path / "m.evenly")
    for place in (tmp_path, tmp_path / "no" / "m.evenly"):
        with pytest.raises(InputError, match="can't be written"):
            save(Toy().fit(X, Y), place)
    assert list(tmp_path.iterdir()) == []


def test_any_damage_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "m.evenly"
    save(Toy(keep=np.arange(50)).fit(X, Y), path)
    whole = path.read_bytes()
    for end in range(0, len(whole), 37):
        path.write_bytes(whole[:end])
        with pytest.raises(ReadError):
            load(path)
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            load(path)  # a changed date in the directory of the zip does no harm
        except ReadError:
            refused += 1
    assert refused > 250
    with pytest.raises(ReadError, match="no such file"):
        load(tmp_path / "none")
    with pytest.raises(ReadError):
        load(tmp_path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format_version": 99}, "version 99"), ({"format": "x"}, "not a model"), ({"models": {}}, "damaged"),
        ({"models": {"": {}}}, "damaged"), ({"models": 3}, "damaged"), ({"method": "no-such"}, "method must be one of"),
        ({"arguments": {"depth": 3}}, "damaged"), ({"state": {"mean": {"__array__": "a9"}}}, "damaged"),
        ({"space": {"parameters": {"n": {"kind": "odd"}}}}, "kind must be"),
    ],
)  # fmt: skip
def test_wrong_descriptions(change: dict[str, Any], reason: str, tmp_path: Path) -> None:
    path = tmp_path / "m.evenly"
    save(Toy().fit(X, Y), path)
    with zipfile.ZipFile(path) as archive:
        document, arrays = json.loads(archive.read("model.json")), archive.read("arrays.npz")
    (document if set(change) & set(document) else document["models"][""]).update(change)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", json.dumps(document))
        archive.writestr("arrays.npz", arrays)
    with pytest.raises(ReadError, match=reason):
        load(path)


def test_a_progress_callback_is_not_stored(tmp_path: Path) -> None:
    told: list[float] = []
    table = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 41.0, 22.0, 12.0, 7.0]})
    model = evenly.fit(evenly.Runs.from_frame(table, ["cores"]), method="pmnf", progress=told.append)
    assert told
    evenly.save(model, tmp_path / "m.evenly")
    loaded = evenly.load(tmp_path / "m.evenly")
    assert isinstance(loaded, evenly.Model)
    assert loaded.get_params()["progress"] is None
    assert list(loaded.predict({"cores": [3]})) == list(model.predict({"cores": [3]}))
