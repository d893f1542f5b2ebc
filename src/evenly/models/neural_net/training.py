"""Training of many nets at once: members are the leading axis of all arrays, and one compiled program trains them all.

Members differ in their validation runs and in their hyper-parameters. Narrower nets have masked units, and shallower
ones skip the third hidden layer, so that all have the same shape and are compiled once. The optimizer is AdamW: Adam
with decoupled weight decay and a learning rate that falls to zero [Loshchilov and Hutter 2019]. Members predict with a
running mean of their weights [Polyak and Juditsky 1992], taken from the step with the least validation error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from evenly.errors import MissingExtraError
from evenly.models.array_types import Flags, Floats, Ints, Singles
from evenly.models.neural_net.members import ACTIVATIONS, Member
from evenly.models.stored_dataclass import Stored

__all__ = ["Hyper", "Schedule", "Trained", "train"]

#: Rows of random numbers of which dropout uses windows: new random numbers would cost as much time as the layers.
_POOL = 4096
#: Number of steps between two validations; it is fixed, so that only one program is compiled.
_STRETCH = 100


@dataclass(frozen=True)
class Hyper(Stored):
    """Hyper-parameters of a member.

    Attributes
    ----------
    width : int
        Number of units of a hidden layer.
    depth : {2, 3}
        Number of hidden layers.
    activation : {"leaky-relu", "tanh", "silu"}
    rate : float
        Largest learning rate of the schedule.
    decay : float
        Weight decay, relative to the learning rate.
    dropout : float
        Share of hidden units that are dropped in training.
    groups : tuple of str
        Groups of derived inputs that the member uses.
    bend : float
        The loss of a residual r is ``bend (√(1 + (r / bend)²) - 1)``: quadratic below `bend`, linear above.
    """

    width: int = 64
    depth: int = 3
    activation: str = "silu"
    rate: float = 1e-2
    decay: float = 1e-2
    dropout: float = 0.0
    bend: float = 0.2
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """Length of the training.

    Attributes
    ----------
    steps : int
        Number of steps, rounded to a multiple of 100; a validation follows every 100 steps.
    batch : int
        Number of runs per step.
    """

    steps: int
    batch: int


@dataclass(frozen=True)
class Trained:
    """Trained members, each from its best validation.

    Attributes
    ----------
    members : list of Member
    errors : array (n_members,)
        Mean absolute error of each member on its validation runs.
    """

    members: list[Member]
    errors: Floats


def train(
    x: Singles,
    y: Floats,
    weights: Floats,
    validation: Flags,
    seen: Flags,
    hypers: Sequence[Hyper],
    schedule: Schedule,
    seed: int,
) -> Trained:
    """Train one member per row of `validation`.

    Parameters
    ----------
    x : array (n, k)
    y : array (n,)
        Targets of scale about 1.
    weights : array (n,)
    validation : bool array (n_members, n)
        Validation runs of each member, from which it doesn't learn.
    seen : bool array (n_members, k)
        Columns that each member uses.
    hypers : sequence of Hyper (n_members,)
    schedule : Schedule
    seed : int

    Raises
    ------
    MissingExtraError
        If JAX or optax isn't installed.
    """
    width = max(hyper.width for hyper in hypers)
    rng = np.random.default_rng(seed)
    begin, stretch = _program(schedule.batch, width)
    traits = _traits(hypers, width) | {"seen": seen.astype(np.float32)}
    data = {"rows": x, "target": y.astype(np.float32), "weights": weights.astype(np.float32),
            "pool": rng.uniform(size=(_POOL + schedule.batch, width)).astype(np.float32)}  # fmt: skip
    nets = begin(_initial(rng, seen, width, hypers))
    draws = _batches(rng, validation, schedule.batch)
    checks = max(1, round(schedule.steps / _STRETCH))
    total = checks * _STRETCH
    lowest = np.full(len(hypers), np.inf)
    best: dict[str, Any] = {}
    for check in range(checks):
        batches = np.stack([next(draws) for _ in range(_STRETCH)]).astype(np.int32)
        starts = rng.integers(0, _POOL, (_STRETCH, len(hypers), 3)).astype(np.int32)
        clock = np.arange(check * _STRETCH, (check + 1) * _STRETCH, dtype=np.float32)
        nets, made = stretch(nets, traits, data, batches, starts, clock, np.float32(total))
        # Weighted mean absolute error of each member on its validation runs; early stopping keeps the best.
        counted = validation * weights
        errors = np.sum(counted * np.abs(np.asarray(made) - y), axis=1) / np.maximum(counted.sum(axis=1), 1e-300)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        better = errors < lowest if best else np.ones(len(hypers), dtype=bool)
        lowest = np.where(better, errors, lowest)
        for name, value in nets[2].items():
            now = np.array(value)
            best[name] = np.where(better.reshape(-1, *[1] * (now.ndim - 1)), now, best.get(name, now))
    return Trained([_member(best, k, hyper) for k, hyper in enumerate(hypers)], lowest)


@cache
def _program(batch: int, width: int) -> tuple[Any, Any]:
    """Return two functions: to begin the training of members, and to train them for a stretch. Imports JAX."""
    try:
        jax: Any = import_module("jax")
        optax: Any = import_module("optax")
    except ImportError:
        raise MissingExtraError("training neural nets", extra="nn") from None
    jnp = jax.numpy
    adam = optax.scale_by_adam()

    def forward(p: Any, trait: Any, rows: Any, kept: Any) -> Any:
        # Predictions (n,) of one member for rows (n, k). `kept` masks units and, in training, drops some of them.
        first = kept[0] * _activate(jnp, rows @ (trait["seen"][:, None] * p["w1"]) + p["b1"], trait["activation"])
        second = kept[1] * _activate(jnp, first @ p["w2"] + p["b2"], trait["activation"])
        third = kept[2] * _activate(jnp, second @ p["w3"] + p["b3"], trait["activation"])
        return jnp.where(trait["deep"], third, second) @ p["w4"] + p["b4"]

    def loss(p: Any, trait: Any, data: Any, chosen: Any, starts: Any) -> Any:
        # Dropout [Srivastava et al. 2014], and the pseudo-Huber loss [Charbonnier et al. 1997] of the residuals.
        keep = 1 - trait["dropout"]
        windows = [jax.lax.dynamic_slice(data["pool"], (starts[k], 0), (batch, width)) for k in range(3)]
        kept = [trait["mask"] * (window < keep) / keep for window in windows]
        missed = forward(p, trait, data["rows"][chosen], kept) - data["target"][chosen]
        return jnp.mean(data["weights"][chosen] * trait["bend"] * (jnp.sqrt(1 + (missed / trait["bend"]) ** 2) - 1))

    def step(net: Any, trait: Any, data: Any, chosen: Any, starts: Any, clock: Any, total: Any) -> Any:
        # AdamW, algorithm 2 of Loshchilov and Hutter: a warm-up of 5 % of the steps, then half a cosine down to zero.
        p, state, mean = net
        direction, state = adam.update(jax.grad(loss)(p, trait, data, chosen, starts), state)
        progress = clock / total
        rate = trait["rate"] * jnp.minimum(1.0, 20 * progress) * 0.5 * (1 + jnp.cos(jnp.pi * progress))
        p = {k: v - rate * (direction[k] + (trait["decay"] * v if k[0] == "w" else 0.0)) for k, v in p.items()}
        # Running mean of the weights over about the last 100 steps.
        slow = jnp.minimum(0.99, clock / (10 + clock))
        return p, state, {k: slow * mean[k] + (1 - slow) * p[k] for k in p}

    every = jax.vmap(step, in_axes=(0, 0, None, 0, 0, None, None))
    whole = jax.vmap(lambda p, trait, rows: forward(p, trait, rows, [trait["mask"]] * 3), in_axes=(0, 0, None))

    def stretch(nets: Any, traits: Any, data: Any, batches: Any, starts: Any, clock: Any, total: Any) -> Any:
        def body(carry: Any, given: Any) -> Any:
            return every(carry, traits, data, *given, total), None

        nets, _ = jax.lax.scan(body, nets, (batches, starts, clock))
        return nets, whole(nets[2], traits, data["rows"])

    def begin(parameters: dict[str, Singles]) -> Any:
        return parameters, jax.vmap(adam.init)(parameters), parameters

    return begin, jax.jit(stretch)


def _activate(jnp: Any, x: Any, which: Any) -> Any:
    """Apply the activation with index `which`; silu is x / (1 + exp(-x)) = x (1 + tanh(x / 2)) / 2."""
    bent = jnp.tanh(jnp.where(which == ACTIVATIONS.index("silu"), 0.5, 1.0) * x)
    smooth = jnp.where(which == ACTIVATIONS.index("tanh"), bent, 0.5 * x * (1 + bent))
    return jnp.where(which == ACTIVATIONS.index("leaky-relu"), jnp.maximum(x, 0.1 * x), smooth)


def _traits(hypers: Sequence[Hyper], width: int) -> dict[str, Any]:
    """Return the hyper-parameters of all members as arrays (n_members, …)."""
    return {
        "activation": np.array([ACTIVATIONS.index(h.activation) for h in hypers], np.int32),
        "deep": np.array([h.depth > 2 for h in hypers]),
        "mask": np.array([np.arange(width) < h.width for h in hypers], np.float32),
        **{name: np.array([getattr(h, name) for h in hypers], np.float32)
           for name in ("rate", "decay", "dropout", "bend")},
    }  # fmt: skip


def _initial(rng: np.random.Generator, seen: Flags, width: int, hypers: Sequence[Hyper]) -> dict[str, Singles]:
    """Return initial weights: normal with variance 1.5 / (number of unmasked inputs), smaller in the last layer.

    This variance lies between those of He's initialisation, 2 / inputs [He et al. 2015], and LeCun's, 1 / inputs.
    """
    m, fan = len(hypers), np.maximum(seen.sum(axis=1), 1)
    narrow = np.array([h.width for h in hypers])[:, None, None]

    def drawn(*shape: int, inputs: Any) -> Singles:
        return np.asarray(rng.normal(size=(m, *shape)) * np.sqrt(1.5 / inputs), dtype=np.float32)

    first = drawn(seen.shape[1], width, inputs=fan[:, None, None])
    return {
        "w1": np.float32(seen[:, :, None]) * first, "b1": np.asarray(rng.normal(size=(m, width)) * 0.3, np.float32),
        "w2": drawn(width, width, inputs=narrow), "b2": np.zeros((m, width), np.float32),
        "w3": drawn(width, width, inputs=narrow), "b3": np.zeros((m, width), np.float32),
        "w4": np.float32(0.3) * drawn(width, inputs=narrow[:, 0]), "b4": np.zeros(m, np.float32),
    }  # fmt: skip


def _batches(rng: np.random.Generator, validation: Flags, size: int) -> Iterator[Ints]:
    """Yield batches of row indices (n_members, size): each member's training runs, shuffled again after each pass."""
    runs = [np.flatnonzero(~there) for there in validation]
    queues = [np.zeros(0, np.int64) for _ in validation]
    while True:
        for k, queue in enumerate(queues):
            while len(queue) < size:
                queue = np.concatenate([queue, rng.permutation(runs[k])])
            queues[k] = queue
        yield np.stack([queue[:size] for queue in queues])
        queues = [queue[size:] for queue in queues]


def _member(p: dict[str, Any], k: int, hyper: Hyper) -> Member:
    """Return member k without masked units, and without the layer that it skips."""
    n = hyper.width
    weights = [p["w1"][k][:, :n], p["w2"][k][:n, :n], *([p["w3"][k][:n, :n]] if hyper.depth > 2 else []),
               p["w4"][k][:n, None]]  # fmt: skip
    biases = [p["b1"][k][:n], p["b2"][k][:n], *([p["b3"][k][:n]] if hyper.depth > 2 else []), p["b4"][k][None]]
    return Member(hyper.activation, *([np.ascontiguousarray(a) for a in arrays] for arrays in (weights, biases)))
