"""Puts the sites of a chunk in order: which edges each site sees, and which sites have the same poles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.media.materials import Pole
from evenly.fdtd.media.sites import Sites, joined
from evenly.fdtd.stepping.coefficients import Edges
from evenly.fdtd.stepping.frame import Frame

__all__ = ["edges_of", "pole_sets", "sorted_sites"]


def sorted_sites(pieces: list[Sites]) -> Sites:
    """Return the sites of several slabs, each once, by their poles, then by their kind, then by their place."""
    sites = joined(pieces)
    x, y, z = sites.place.T
    order = np.lexsort((z, y, x, sites.kind, _set_numbers(sites)))
    sites = sites.chosen(order)
    key = np.column_stack([sites.kind, sites.place])
    return sites.chosen(np.r_[True, np.any(np.diff(key, axis=0) != 0, axis=1)])


def pole_sets(sites: Sites) -> Iterator[tuple[tuple[Pole, ...], slice]]:
    """Yield the poles that sorted sites have, and which sites have them."""
    numbers = _set_numbers(sites)
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(numbers)], strict=True):
        poles = tuple(pole for pole, values in sites.strengths.items() if values[start] != 0)
        if poles:
            yield poles, slice(int(start), int(stop))


def _set_numbers(sites: Sites) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.zeros(len(sites.kind), np.int64)
    for n, values in enumerate(sites.strengths.values()):
        found += (values != 0).astype(np.int64) << n
    return found


def edges_of(sites: Sites, name: str, frame: Frame, dtype: Any) -> Edges:
    """Return the edges that sites see: two along each axis of a node (centre), or the edge of a half site."""
    rows, components, places, weights, own = [], [], [], [], []
    strides = np.array([frame.shape[1] * frame.shape[2], frame.shape[2], 1])
    half, lo, hi = sites.halves, np.array(frame.box.lo), np.array(frame.box.hi)
    # In user order, so that a site that two chunks hold sums the same values in the same order.
    for user in range(3):
        component = frame.order.index(user)
        # The other edge of a node is one back; that of a centre one further.
        for step in (0, -1 if name == "E" else 1):
            there = np.flatnonzero((sites.direction[:, user] != 0) & ((step == 0) | ~half))
            index = sites.place[there] + step * (np.arange(3) == user)
            local = [index[:, u] - frame.box.lo[u] + g for u, g in zip(frame.order, frame.ghosts, strict=True)]
            rows.append(there)
            components.append(np.full(len(there), component))
            places.append(np.stack(local, axis=1) @ strides)
            weights.append(sites.direction[there, user] * np.where(half[there], 1.0, 0.5))
            own.append(np.all((index >= lo) & (index < hi), axis=1))
    row = np.concatenate(rows)
    order = np.argsort(row, kind="stable")
    starts = np.searchsorted(row[order], np.arange(len(sites.kind) + 1))
    columns = (np.concatenate(column)[order] for column in (components, places, weights, own))
    c, p, w, o = columns
    return Edges(starts.astype(np.int64), c.astype(np.int64), p.astype(np.int64), w.astype(dtype), o)
