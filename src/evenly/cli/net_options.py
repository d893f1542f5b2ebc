"""The options of one network that is built by hand, which all commands share that learn by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from evenly.cli import parsing
from evenly.cli.option_groups import panel

__all__ = ["NetOptions"]

_nets = panel("Network (--method mlp)")


@dataclass(frozen=True)
class NetOptions:
    """One network: how it is built and trained."""

    layers: Annotated[str | None, _nets("--layers", help="Units of the hidden layers: 30,30.")] = None
    activation: Annotated[str | None, _nets("--activation", help="relu, leaky-relu, sigmoid or tanh.")] = None
    dropout: Annotated[
        str | None, _nets("--dropout", help="Share of units dropped in training, between hidden layers: 0.3.")
    ] = None
    optimiser: Annotated[str | None, _nets("--optimiser", help="adam, adagrad, adadelta or gradient-descent.")] = None
    rate: Annotated[float | None, _nets("--rate", help="Learning rate (default: the optimiser's own).")] = None
    batch: Annotated[int | None, _nets("--batch", min=1, help="Runs of one training step (default: all).")] = None
    epochs: Annotated[int | None, _nets("--epochs", min=1, help="Passes over the runs.")] = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the method's class for what was typed."""
        given: dict[str, Any] = {
            "layers": None if self.layers is None else tuple(parsing.counts(self.layers, "--layers")),
            "activation": self.activation, "optimiser": self.optimiser, "rate": self.rate, "batch": self.batch,
            "dropout": None if self.dropout is None else parsing.share(self.dropout, "--dropout"),
            "epochs": self.epochs,
        }  # fmt: skip
        return {name: value for name, value in given.items() if value is not None}
