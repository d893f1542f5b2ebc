"""The options of the PMNF search, which all commands share that learn laws to decide by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from evenly.cli import parsing
from evenly.cli.option_groups import panel
from evenly.errors import InputError

__all__ = ["SearchOptions"]

_searches = panel("PMNF search")


@dataclass(frozen=True)
class SearchOptions:
    """The PMNF search: what is typed, and what it means."""

    terms: Annotated[int | None, _searches("--terms", min=1, max=9, help="Number of terms.")] = None
    exponents: Annotated[
        str | None, _searches("--exponents", "-I", help="Exponents of the parameters: -2:2.75:0.25 or 0,1/2,1.")
    ] = None
    log_exponents: Annotated[
        str | None, _searches("--log-exponents", "-J", help="Exponents of their logarithms: -2:2.")
    ] = None
    ridge: Annotated[float | None, _searches("--ridge", help="Ridge parameter α.")] = None
    log: Annotated[bool, _searches("--log", help="Learn the logarithm of the times.")] = False
    loss: Annotated[
        str | None,
        _searches("--loss", help="Error of left-out runs: mlogq2, mlogq, smape, se (mlp: mse, mae, mape)."),
    ] = None
    one: Annotated[
        bool, _searches("--one", help="Take the one best candidate, instead of the average of near-ties.")
    ] = False
    validation: Annotated[
        str | None, _searches("--validation", help="How runs are left out: loo (one by one), or a number of folds.")
    ] = None
    search: Annotated[str | None, _searches("--search", help="full, hierarchical, golden-section or auto.")] = None
    monotone: Annotated[
        list[str] | None,
        _searches("--monotone", help="Keep only candidates that fall, or grow: cores=decreasing."),
    ] = None
    asked: Annotated[
        list[str] | None, _searches("--asked", help="Range where predictions must be positive: cores=1..4096.")
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the method's class for what was typed."""
        given: dict[str, Any] = {
            "terms": self.terms,
            "exponents": None if self.exponents is None else parsing.numbers(self.exponents, "--exponents"),
            "log_exponents": None
            if self.log_exponents is None
            else parsing.numbers(self.log_exponents, "--log-exponents"),
            "ridge": self.ridge,
            "residuals": "log" if self.log else None,
            "loss": self.loss,
            "average": False if self.one else None,
            "validation": _validation(self.validation),
            "search": self.search,
            "monotone": parsing.pairs(self.monotone, "--monotone") if self.monotone else None,
            "asked": _ranges(self.asked) if self.asked else None,
        }
        return {name: value for name, value in given.items() if value is not None}


def _validation(text: str | None) -> str | int | None:
    if text is None or text == "loo":
        return text
    return parsing.counts(text, "--validation")[0]


def _ranges(items: list[str]) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for name, text in parsing.pairs(items, "--asked").items():
        bounds = text.replace("..", ":").split(":")
        if len(bounds) != 2:
            raise InputError(f"--asked takes low..high, as cores=1..4096, but {name!r} has {text!r}")
        found[name] = (parsing.numbers(bounds[0], "--asked")[0], parsing.numbers(bounds[1], "--asked")[0])
    return found
