"""Methods by name."""

from __future__ import annotations

import pytest

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.models.registry import method_names, model_class
from tests.models.toy_model import Toy


class _Unfinished(Model):
    """Abstract still: fills in no hook."""

    method = "unfinished"


def test_classes_of_the_running_program_are_known() -> None:
    assert Toy.method in method_names()
    assert model_class(Toy.method) is Toy


def test_every_named_method_gives_its_class() -> None:
    for name in ("power-law", "log-quadratic"):
        assert name in method_names()
        assert model_class(name).method == name


def test_abstract_classes_and_unknown_names_are_no_methods() -> None:
    assert _Unfinished.method not in method_names()
    with pytest.raises(InputError, match=r"method must be one of .*power-law.*, but got 'unfinished'"):
        model_class("unfinished")
