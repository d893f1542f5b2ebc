"""Saving and loading models: one ``.evenly`` file, a zip of ``model.json`` and ``arrays.npz``, never pickle.

``model.json`` holds the format version, the method and its arguments, the parameters' range, a summary of the training
and the learned state; arrays of the state lie in ``arrays.npz`` and are referred to by name.
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

from evenly.errors import InputError, ReadError
from evenly.models.base import Model
from evenly.models.registry import model_class
from evenly.space import Space

__all__ = ["FORMAT_VERSION", "load", "save"]

FORMAT_VERSION = 1
_ARRAY = "__array__"
_FLOAT = "__float__"


def save(model: Model | Mapping[str, Model], path: str | Path) -> None:
    """Write a fitted model, or several by solver name, to one file.

    Parameters
    ----------
    model : Model or mapping of str to Model
        Fitted.
    path : str or Path
        Where to; by custom it ends in ``.evenly``. It is replaced only once all is written.
    """
    models = {"": model} if isinstance(model, Model) else dict(model)
    if not models:
        raise InputError("there is no model to save")
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    document = {
        "format": "evenly model",
        "format_version": FORMAT_VERSION,
        "evenly_version": version("evenly"),
        "models": {name: _describe(one, arrays) for name, one in models.items()},
    }
    target = Path(path)
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
    partial = target.with_name(target.name + ".part")
    try:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("model.json", json.dumps(document, indent=1, allow_nan=False))
            archive.writestr("arrays.npz", packed.getvalue())
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"the model can't be written to {target}: {error.strerror or error}") from None


def load(path: str | Path) -> Model | dict[str, Model]:
    """Read what `save` wrote: a model, or a dict of models by solver name.

    Raises
    ------
    ReadError
        If the file is missing, damaged, not a model, or of a newer format.
    """
    target = Path(path)
    try:
        with zipfile.ZipFile(target) as archive:
            document = json.loads(archive.read("model.json"))
            with np.load(io.BytesIO(archive.read("arrays.npz")), allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
    except FileNotFoundError:
        raise ReadError(target, "there is no such file: save a model with `evenly fit … --save FILE` first") from None
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ReadError(target, f"not a model of evenly, or damaged ({error})") from None
    if not isinstance(document, dict) or document.get("format_version") != FORMAT_VERSION:
        found = document.get("format_version") if isinstance(document, dict) else None
        raise ReadError(target, f"format version {found} is not known: this evenly reads {FORMAT_VERSION}")
    try:
        models = {name: _build(fields, arrays) for name, fields in document["models"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ReadError(target, f"the model's description is incomplete ({error!r})") from None
    return models[""] if set(models) == {""} else models


def _describe(model: Model, arrays: dict[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
    if not hasattr(model, "space_"):
        raise InputError(f"this {type(model).__name__} has not learned anything yet: fit it before saving")
    return {
        "method": model.method,
        "arguments": _pack(model.get_params(deep=False), arrays),
        "space": model.space_.to_dict(),
        "n_runs": model.n_runs_,
        "response": model.response_,
        "training": _pack(model.training_, arrays),
        "state": _pack(model._get_state(), arrays),
    }


def _build(fields: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Model:
    model = model_class(fields["method"])(**_unpack(fields["arguments"], arrays))
    model.space_ = Space.from_dict(fields["space"])
    model.feature_names_in_ = np.array(model.space_.names, dtype=object)
    model.n_features_in_ = len(model.space_)
    model.n_runs_ = fields["n_runs"]
    model.response_ = fields["response"]
    model.training_ = _unpack(fields["training"], arrays)
    model._warned = False
    model._set_state(_unpack(fields["state"], arrays))
    return model


def _pack(value: Any, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """Turn a value into JSON, moving arrays aside; numpy scalars become plain, non-finite floats are spelt out."""
    match value:
        case np.ndarray():
            if value.dtype.hasobject:
                return [_pack(item, arrays) for item in value.tolist()]
            arrays[f"a{len(arrays)}"] = value
            return {_ARRAY: f"a{len(arrays) - 1}"}
        case np.generic():
            return _pack(value.item(), arrays)
        case Mapping():
            return {str(key): _pack(item, arrays) for key, item in value.items()}
        case list() | tuple():
            return [_pack(item, arrays) for item in value]
        case float() if not math.isfinite(value):
            return {_FLOAT: repr(value)}
        case None | bool() | int() | float() | str():
            return value
    raise InputError(f"a {type(value).__name__} can't be stored in a model file: {value!r}")


def _unpack(value: Any, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, list):
        return [_unpack(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {_ARRAY}:
        return arrays[value[_ARRAY]]
    if set(value) == {_FLOAT}:
        return float(value[_FLOAT])
    return {key: _unpack(item, arrays) for key, item in value.items()}
