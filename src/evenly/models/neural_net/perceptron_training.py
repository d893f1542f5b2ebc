"""Training of one architecture on several selections of runs at once, with JAX and optax.

The weights of the runs tell members apart: a run that a member must not see has the weight 0. All members are trained
by one compiled program, whose leading axis is the member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from evenly.errors import MissingExtraError
from evenly.models.array_types import Floats, Ints, Singles
from evenly.models.neural_net.members import Member

__all__ = ["RATES", "Activation", "Architecture", "Loss", "Optimiser", "Passes", "train"]

Activation = Literal["relu", "leaky-relu", "sigmoid", "tanh"]
Optimiser = Literal["adam", "adagrad", "adadelta", "gradient-descent"]
Loss = Literal["mse", "mae", "mape", "smape"]

#: Learning rates where none is given: those of Keras for Adam and gradient descent, the thesis' for Adagrad; Adadelta's
#: steps have a length of their own.
RATES: dict[Optimiser, float] = {"adam": 1e-3, "adagrad": 1e-2, "adadelta": 1.0, "gradient-descent": 1e-2}
#: Steps of one call of the compiled program; fixed, so that it is compiled once.
_STRETCH = 50
_TINY = 1e-12


@dataclass(frozen=True)
class Architecture:
    """What a network computes, and how it is trained.

    Attributes
    ----------
    layers : tuple of int
        Units of each hidden layer.
    activation : {"relu", "leaky-relu", "sigmoid", "tanh"}
    dropout : float
        Share of units that are dropped in training, after each hidden layer but the last.
    optimiser : {"adam", "adagrad", "adadelta", "gradient-descent"}
    rate : float
        Learning rate.
    loss : {"mse", "mae", "mape", "smape"}
    """

    layers: tuple[int, ...]
    activation: Activation
    dropout: float
    optimiser: Optimiser
    rate: float
    loss: Loss


@dataclass(frozen=True)
class Passes:
    """Epochs, each a pass over all runs in another order, and the runs of one step."""

    epochs: int
    batch: int


def train(x: Singles, y: Floats, weights: Floats, built: Architecture, passes: Passes, *, seed: int) -> list[Member]:
    """Train one member per row of weights.

    Parameters
    ----------
    x : array (n, k)
    y : array (n,)
    weights : array (n_members, n)
        0 for runs that a member must not see.
    built : Architecture
    passes : Passes
    seed : int

    Raises
    ------
    MissingExtraError
        If JAX or optax isn't installed.
    """
    rng = np.random.default_rng(seed)
    begin, stretch = _program(built)
    nets = begin(_initial(rng, x.shape[1], built.layers, len(weights)))
    data = (x, y.astype(np.float32), weights.astype(np.float32))
    for at, batches in enumerate(_stretches(rng, len(y), passes)):
        nets = stretch(nets, data, batches, np.uint32(at))
    arrays = [(np.asarray(w), np.asarray(b)) for w, b in nets[0]]
    return [
        Member(built.activation, [np.ascontiguousarray(w[k]) for w, _ in arrays], [b[k] for _, b in arrays])
        for k in range(len(weights))
    ]


def _initial(rng: np.random.Generator, inputs: int, layers: tuple[int, ...], members: int) -> list[tuple[Any, Any]]:
    """Return initial weights, uniform within √(6 / (n_in + n_out)), and biases of 0 [Glorot and Bengio 2010].

    All members begin with the same ones.
    """
    sizes, made = [inputs, *layers, 1], []
    for n_in, n_out in pairwise(sizes):
        bound = np.sqrt(6 / (n_in + n_out))
        one = rng.uniform(-bound, bound, (n_in, n_out)).astype(np.float32)
        made.append((np.tile(one, (members, 1, 1)), np.zeros((members, n_out), np.float32)))
    return made


def _stretches(rng: np.random.Generator, n: int, passes: Passes) -> Iterator[Ints]:
    """Yield the indices of the runs of 50 steps, (50, batch), or of those that are left; -1 is no run."""
    steps = -(-n // passes.batch)
    waiting: list[Ints] = []
    for _ in range(passes.epochs):
        # One batch of all runs has no order.
        order = np.arange(n) if steps == 1 else rng.permutation(n)
        padded = np.concatenate([order, np.full(steps * passes.batch - n, -1)]).astype(np.int32)
        waiting.extend(padded.reshape(steps, passes.batch))
        while len(waiting) >= _STRETCH:
            yield np.stack(waiting[:_STRETCH])
            del waiting[:_STRETCH]
    if waiting:
        yield np.stack(waiting)


@cache
def _program(built: Architecture) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return two functions: to begin the training of members, and to train them for a stretch. Imports JAX."""
    try:
        jax: Any = import_module("jax")
        optax: Any = import_module("optax")
    except ImportError:
        raise MissingExtraError("training neural nets", extra="nn") from None
    jnp = jax.numpy
    makers = {"adam": optax.adam, "adagrad": optax.adagrad, "adadelta": optax.adadelta, "gradient-descent": optax.sgd}
    optimiser = makers[built.optimiser](built.rate)
    bend = {
        "relu": jax.nn.relu, "leaky-relu": lambda x: jnp.maximum(x, 0.1 * x), "sigmoid": jax.nn.sigmoid,
        "tanh": jnp.tanh,
    }[built.activation]  # fmt: skip

    def forward(net: Any, rows: Any, key: Any) -> Any:
        *hidden, (last, offset) = net
        for k, (weights, biases) in enumerate(hidden):
            rows = bend(rows @ weights + biases)
            if built.dropout and k < len(hidden) - 1:  # inverted dropout [Srivastava et al. 2014]
                kept = jax.random.bernoulli(jax.random.fold_in(key, k), 1 - built.dropout, rows.shape)
                rows = rows * kept / (1 - built.dropout)
        return (rows @ last)[:, 0] + offset[0]

    def loss(net: Any, data: Any, chosen: Any, key: Any) -> Any:
        x, y, weights = data
        made, wanted = forward(net, x[chosen], key), y[chosen]
        missed = jnp.abs(made - wanted)
        each = {
            "mse": missed**2,
            "mae": missed,
            "mape": missed / jnp.maximum(jnp.abs(wanted), _TINY),
            "smape": 2 * missed / jnp.maximum(jnp.abs(made) + jnp.abs(wanted), _TINY),
        }[built.loss]
        counted = jnp.where(chosen >= 0, weights[chosen], 0.0)
        return jnp.sum(counted * each) / jnp.maximum(jnp.sum(counted), _TINY)

    def step(net: Any, state: Any, weights: Any, data: Any, chosen: Any, key: Any) -> Any:
        slope = jax.grad(loss)(net, (*data, weights), chosen, key)
        moved, state = optimiser.update(slope, state, net)
        return optax.apply_updates(net, moved), state

    every = jax.vmap(step, in_axes=(0, 0, 0, None, None, None))

    def stretch(nets: Any, data: Any, batches: Any, number: Any) -> Any:
        first = jax.random.fold_in(jax.random.PRNGKey(0), number)

        def body(carry: Any, given: Any) -> Any:
            chosen, at = given
            return every(*carry, data[2], data[:2], chosen, jax.random.fold_in(first, at)), None

        return jax.lax.scan(body, nets, (batches, jnp.arange(len(batches))))[0]

    def begin(net: Any) -> Any:
        return net, jax.vmap(optimiser.init)(net)

    return begin, jax.jit(stretch)
