"""Conversion of a fitted model to plain values and back, for files and for models that contain other models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenly.models.base import Model
from evenly.models.registry import model_class
from evenly.space.space import Space

__all__ = ["nested_state", "restored"]


def nested_state(model: Model) -> dict[str, Any]:
    """Return everything that a fitted model needs for predictions, as plain values; see `Model._get_state`."""
    # `progress` is a callback of the fit. It is of no use afterwards and can't be stored. The fitted state keeps what
    # predictions need of a `prior`.
    arguments = model.get_params(deep=False).items()
    return {
        "method": model.method,
        "arguments": {name: value for name, value in arguments if name not in ("progress", "prior")},
        "space": model.space_.to_dict(),
        "n_runs": model.n_runs_,
        "state": model._get_state(),
    }


def restored(state: Mapping[str, Any], *, nested: bool = True) -> Model:
    """Rebuild a fitted model from the result of `nested_state`.

    With `nested` the model doesn't warn of extrapolation, because the model that contains it already does.
    """
    model = model_class(state["method"])(**state["arguments"])
    model.space_ = Space.from_dict(state["space"])
    model.feature_names_in_ = np.array(model.space_.names, dtype=object)
    model.n_features_in_ = len(model.space_)
    model.n_runs_ = int(state["n_runs"])
    # Nested models and files of earlier versions hold no response, training summary, digest or leave-out predictions.
    model.response_ = state.get("response", {"name": "share", "unit": "1"})
    model.training_ = state.get("training", {})
    model.training_digest_, model.left_out_predictions_ = state.get("learned", ""), state.get("left_out")
    model._warned = nested
    model._set_state(state["state"])
    return model
