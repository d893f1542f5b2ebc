"""A mixin of dataclasses that are parts of stored models: it converts their fields to plain values and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Self, get_args, get_origin, get_type_hints

import numpy as np

__all__ = ["Stored"]


class Stored:
    """Adds `to_state` and `from_state` to a dataclass.

    A field may hold a number, a text, an array, another `Stored`, or a list or tuple of these; ``X | None`` is allowed.
    """

    def to_state(self) -> dict[str, Any]:
        """Return the fields by name: `Stored` values as dicts, tuples as lists, other values unchanged."""
        assert is_dataclass(self)  # noqa: S101 - for the type checker
        state: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list | tuple):
                value = [item.to_state() if isinstance(item, Stored) else item for item in value]
            state[field.name] = value.to_state() if isinstance(value, Stored) else value
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Restore what `to_state` returned, with the types that the fields are declared with.

        Fields with a default may be missing, in models that were stored before there were such fields.
        """
        assert is_dataclass(cls)  # noqa: S101 - for the type checker
        kinds = get_type_hints(cls)
        optional = {
            field.name for field in fields(cls) if field.default is not MISSING or field.default_factory is not MISSING
        }
        missing = optional - set(state)
        names = [field.name for field in fields(cls) if field.name not in missing]
        return cls(**{name: _restored(kinds[name], state[name]) for name in names})


def _restored(kind: Any, value: Any) -> Any:
    """Convert a stored value to its declared type."""
    inner = get_args(kind)
    if get_origin(kind) is np.ndarray:
        # NDArray[np.float64] is np.ndarray[shape, np.dtype[np.float64]].
        return np.asarray(value, dtype=get_args(inner[1])[0])
    if get_origin(kind) is list:
        return [_restored(inner[0], item) for item in value]
    if get_origin(kind) is tuple:
        each = inner if inner[-1] is not ... else inner[:1] * len(value)
        return tuple(_restored(one, item) for one, item in zip(each, value, strict=True))
    if type(None) in inner:
        return None if value is None else _restored(inner[0], value)
    if isinstance(kind, type) and issubclass(kind, Stored):
        return kind.from_state(value)
    return kind(value) if kind in (bool, int, float, str) else value
