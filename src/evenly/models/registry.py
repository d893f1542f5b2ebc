"""Lookup of model classes by method name: models of evenly, of plug-in packages, and of the running program."""

from __future__ import annotations

from inspect import isabstract

from evenly.models.base import Model
from evenly.plugins import installed, load

__all__ = ["method_names", "model_class"]


_GROUP = "evenly.models"


def _defined(base: type[Model] = Model) -> dict[str, type[Model]]:
    found: dict[str, type[Model]] = {}
    for child in base.__subclasses__():
        if hasattr(child, "method") and not isabstract(child):
            found[child.method] = child
        found |= _defined(child)
    return found


def method_names() -> list[str]:
    """Return all method names that ``evenly.fit(method=…)`` accepts.

    Examples
    --------
    >>> "power-law" in method_names()
    True
    """
    return sorted({*_defined(), *installed(_GROUP)})


def model_class(method: str) -> type[Model]:
    """Return the class of a method; no other method is imported.

    Raises
    ------
    InputError
        If there is no such method; the message lists the methods that exist.

    Examples
    --------
    >>> model_class("power-law").__name__
    'PowerLaw'
    """
    defined = _defined()
    kind: type[Model] = defined[method] if method in defined else load(_GROUP, method, "method", others=defined)
    return kind
