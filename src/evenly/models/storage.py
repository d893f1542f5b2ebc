"""Saving and loading models: one ``.evenly`` file, a zip of ``model.json`` and ``arrays.npz``, never pickle.

``model.json`` holds the format version, the method and its arguments, the range of the parameters, a summary of the
training data and the fitted state. ``arrays.npz`` holds the state's arrays; ``model.json`` refers to them by name.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from evenly.arguments import explained
from evenly.errors import InputError, ReadError
from evenly.memory import ARRAYS_MIB, check_file, check_unpacked, read_arrays
from evenly.models.base import Model
from evenly.models.model_state import nested_state, restored
from evenly.writing import replacing

__all__ = ["FORMAT_VERSION", "load", "save"]

FORMAT_VERSION = 1
_FORMAT = "evenly model"
_ARRAY = "__array__"
_FLOAT = "__float__"
_ITEMS = "__items__"
_OBJECTS = "__objects__"
_TUPLE = "__tuple__"
_MARKS = {_ARRAY, _FLOAT, _ITEMS, _OBJECTS, _TUPLE}


@explained
def save(model: Model | Mapping[str, Model], path: str | Path) -> None:
    """Write a fitted model, or a dict of fitted models by solver name, to one file.

    Parameters
    ----------
    model : Model or mapping of str to Model
        The fitted model or models.
    path : str or Path
        The file, which usually ends in ``.evenly``. An existing file is replaced only after the new one is complete.

    Raises
    ------
    InputError
        If a model isn't fitted or holds a value that can't be stored, or if the file can't be written.

    Examples
    --------
    >>> import tempfile
    >>> from evenly.models.scaling_laws.power_law import PowerLaw
    >>> model = PowerLaw().fit({"cores": [1, 2, 4]}, [8.0, 4.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder, "model.evenly"))
    ...     load(Path(folder, "model.evenly")).predict({"cores": [4]}).round(6)
    array([2.])
    """
    models = {"": model} if isinstance(model, Model) else dict(model)
    if not models:
        raise InputError("there is no model to save")
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    document = {
        "format": _FORMAT,
        "format_version": FORMAT_VERSION,
        "evenly_version": version("evenly"),
        "single": isinstance(model, Model),
        "models": {name: _describe(one, arrays) for name, one in models.items()},
    }
    text = json.dumps(document, indent=1, allow_nan=False)
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
    # Made in memory: a pipe or a device, where a zip can't be written piece by piece, may be the target.
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", text)
        archive.writestr("arrays.npz", packed.getvalue())
    target = Path(path)
    if target.is_dir():
        raise InputError(f"the model can't be written to {target}: it is a folder, give a file in it")
    try:
        with replacing(target) as new:
            new.write_bytes(whole.getvalue())
    except OSError as error:
        raise InputError(f"the model can't be written to {target}: {error.strerror or error}") from None


@explained
def load(path: str | Path) -> Model | dict[str, Model]:
    """Read a file that `save` wrote; return a model, or a dict of models by solver name.

    Raises
    ------
    ReadError
        If the file is missing, is damaged, holds no model, has a newer format, or names a method that isn't installed.

    Examples
    --------
    >>> load("no/such.evenly")
    Traceback (most recent call last):
    evenly.errors.ReadError: no/such.evenly: there is no such file: save a model with `evenly fit … --save FILE` first
    """
    target = check_file(path)
    try:
        document, arrays = _unzip(target)
        _check_format(target, document)
        _check_finite(document, "")
        models = {name: restored(_unpack(fields, arrays), nested=False) for name, fields in document["models"].items()}
        return models[""] if document.get("single", set(models) == {""}) else models
    except (ReadError, ImportError):
        raise
    except FileNotFoundError:
        raise ReadError(target, "there is no such file: save a model with `evenly fit … --save FILE` first") from None
    except InputError as error:
        raise ReadError(target, str(error)) from None
    except Exception as error:  # a damaged file may fail anywhere in the libraries that parse it
        raise ReadError(target, f"not a model of evenly, or damaged ({error})") from None


def _unzip(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    with zipfile.ZipFile(path) as archive:
        check_unpacked(path, sum(archive.getinfo(name).file_size for name in ("model.json", "arrays.npz")), ARRAYS_MIB)
        document = json.loads(archive.read("model.json"))
        return document, read_arrays(path, io.BytesIO(archive.read("arrays.npz")))


def _check_format(path: Path, document: Any) -> None:
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ReadError(path, "not a model of evenly")
    found = document.get("format_version")
    if found != FORMAT_VERSION:
        raise ReadError(
            path, f"format version {found} is not known: this evenly reads {FORMAT_VERSION}, a newer one may read it"
        )


def _check_finite(value: Any, where: str) -> None:
    """Refuse numbers that `save` never writes as such: where NaN and infinities are meant, they have a mark."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where} must be a finite number, but is {value}: the file is damaged")
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in entries:
            _check_finite(item, f"{where}.{key}" if where else str(key))


def _describe(model: Model, arrays: dict[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
    if not isinstance(model, Model):
        raise InputError(f"only models, or a dict of models by solver, can be saved, but got {model!r}")
    if not hasattr(model, "space_"):
        raise InputError(f"this {type(model).__name__} has not learned anything yet: fit it before saving")
    whole = {
        **nested_state(model), "response": model.response_, "training": model.training_,
        "learned": model.training_digest_, "left_out": model.left_out_predictions_,
    }  # fmt: skip
    return {name: _pack(value, arrays) for name, value in whole.items()}


def _pack(value: Any, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """Convert a value to JSON and move arrays to `arrays`.

    Values that JSON lacks (tuples, infinities, keys that aren't strings, arrays) get a mark, so that `_unpack` restores
    them exactly.
    """
    match value:
        case np.ndarray():
            # NumPy stores object arrays with pickle only, so their items are packed one by one.
            if value.dtype.hasobject:
                return {_OBJECTS: [_pack(item, arrays) for item in value.ravel().tolist()], "shape": list(value.shape)}
            arrays[f"a{len(arrays)}"] = value
            return {_ARRAY: f"a{len(arrays) - 1}"}
        case np.floating():
            return _pack(float(value), arrays)
        case np.bool_() | np.integer() | np.str_():
            return _pack(value.item(), arrays)
        case Mapping():
            if all(type(key) is str and key not in _MARKS for key in value):
                return {key: _pack(item, arrays) for key, item in value.items()}
            return {_ITEMS: [[_pack(key, arrays), _pack(item, arrays)] for key, item in value.items()]}
        case tuple():
            return {_TUPLE: [_pack(item, arrays) for item in value]}
        case list():
            return [_pack(item, arrays) for item in value]
        case float() if not math.isfinite(value):
            return {_FLOAT: repr(value)}
        case None | bool() | int() | float() | str():
            return value
    raise InputError(f"a {type(value).__name__} can't be stored in a model file: {value!r}")


def _unpack(value: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    match value:
        case list():
            return [_unpack(item, arrays) for item in value]
        case {"__array__": name}:
            return arrays[name]
        case {"__float__": text}:
            return float(text)
        case {"__items__": items}:
            return {_unpack(key, arrays): _unpack(item, arrays) for key, item in items}
        case {"__tuple__": items}:
            return tuple(_unpack(item, arrays) for item in items)
        case {"__objects__": items, "shape": shape}:
            flat = np.empty(len(items), dtype=object)
            flat[:] = [_unpack(item, arrays) for item in items]
            return flat.reshape(shape)
        case dict():
            return {key: _unpack(item, arrays) for key, item in value.items()}
    return value
