"""The options of the PMNF search, which all commands share that learn laws to decide by."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from evenly.cli import parsing
from evenly.cli.console import note
from evenly.cli.option_groups import panel
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.models.base import Model

__all__ = ["SearchOptions", "check_taken", "tell_without_effect"]

_searches = panel("PMNF search")

#: Arguments of methods whose options have other names.
_NAMED = {"residuals": "--log", "average": "--one"}
#: Arguments that act on searched candidates only.
_OF_CANDIDATES = frozenset({
    "terms", "exponents", "log_exponents", "search", "ridge", "residuals", "loss", "validation",
})  # fmt: skip
_OF_NETS = frozenset({"layers", "activation", "dropout", "optimiser", "rate", "batch", "epochs"})
#: Candidates of less weight change no figure that is printed.
_LEAST_WEIGHT = 0.001


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


def check_taken(method: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse an option that a method doesn't have.

    Parameters
    ----------
    method : str
    given : mapping of str to value
        The arguments of the method's class that were typed.
    known : collection of str
        Those that it takes.

    Examples
    --------
    >>> check_taken("power-law", {"average": False}, [])
    Traceback (most recent call last):
    evenly.errors.InputError: --method power-law has no --one: leave it out, or take a method that has it, as pmnf
    """
    for name in given:
        if name not in known:
            other = "mlp" if method != "mlp" and name in _OF_NETS else "pmnf"
            raise InputError(
                f"--method {method} has no {_option(name)}: leave it out, or take a method that has it, as {other}"
            )


def tell_without_effect(models: Mapping[str, Model], given: Mapping[str, Any]) -> None:
    """Say which options of the search change nothing, since no searched candidate predicts.

    Parameters
    ----------
    models : mapping of str to Model
        The model of each solver.
    given : mapping of str to value
        The arguments of the method's class that were typed.
    """
    asked = [name for name in given if name in _OF_CANDIDATES]
    one = given.get("average") is False
    listed = ", ".join(map(_option, [*asked, *["average"][: int(one)]]))
    unsearched: dict[str, list[str]] = {}
    unused: dict[str, list[str]] = {}
    for solver, model in models.items():
        if (search := getattr(model, "search_", None)) is None or not listed:
            continue
        members = getattr(model, "members_", [])
        if not search.considered:
            unsearched.setdefault(search.notes[0] if search.notes else "", []).append(solver)
        elif sum(member.weight for member in members if member.searched) < _LEAST_WEIGHT:
            unused.setdefault(members[0].kind, []).append(solver)
    for why, solvers in unsearched.items():
        note(f"{listed}: no candidate could be searched{_of(solvers)}{f' ({why})' * bool(why)}, so simple laws predict")
    for leader, solvers in unused.items():
        note(
            f"{listed}: without effect on predictions{_of(solvers)}, since no searched candidate has weight in the "
            f"blend, in which {leader} leads; with --one, the best candidate predicts alone"
        )


def _of(solvers: Collection[str]) -> str:
    """Return whose models are meant; nothing for the only one, which has no name."""
    names = [name for name in solvers if name]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f" for {', '.join(names[:3])}{more}" if names else ""


def _option(argument: str) -> str:
    """Return the option that is typed for an argument of a method's class."""
    return _NAMED.get(argument, f"--{argument.replace('_', '-')}")


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
