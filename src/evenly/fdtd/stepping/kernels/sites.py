"""Update at slanted surfaces of dispersive media: sites take what they see of the edges' increments, and give back.

A site sees d = Σ w G over its edges, with weights w of its own, and its field e gains d/ε, after poles have taken their
part of e. Then each edge gains w times what `media.sites` calls scale e + rest d. Taking and giving have the same
weights, so the update is symmetric, and therefore stable.
"""

from __future__ import annotations

from evenly.compiling import njit

__all__ = ["apply_sites", "take_off"]


@njit(cache=True, nogil=True)
def apply_sites(F, G, field, kept, starts, components, places, weights, own, factors, factor):
    """Advance the fields of sites by the increments G, and add what they give to F.

    Parameters
    ----------
    F, G : three flat arrays each
        Field and increments (curl minus currents), ghosts of G included.
    field, kept : (n_sites,)
        The sites' fields, with what the poles took at this step, and before it.
    starts : (n_sites + 1,) ints
        First of each site's entries in the next four arrays.
    components, places : (n_entries,) ints
        Component and flat index of an edge.
    weights : (n_entries,)
        w.
    own : (n_entries,) of bool
        Whether the chunk owns the edge.
    factors : (3, n_sites)
        1/ε, scale and rest of each site.
    factor : scalar
        dt.
    """
    (F0, F1, F2), (G0, G1, G2) = F, G
    for s in range(field.size):
        seen = field[s] - field[s]
        for k in range(starts[s], starts[s + 1]):
            c, o = components[k], places[k]
            seen += weights[k] * (G0[o] if c == 0 else G1[o] if c == 1 else G2[o])
        seen *= factor
        field[s] += factors[0, s] * seen
        given = factors[1, s] * (field[s] - kept[s]) + factors[2, s] * seen
        for k in range(starts[s], starts[s + 1]):
            if own[k]:
                c, o, gain = components[k], places[k], weights[k] * given
                if c == 0:
                    F0[o] += gain
                elif c == 1:
                    F1[o] += gain
                else:
                    F2[o] += gain


@njit(cache=True, nogil=True)
def take_off(F, G, places, shares):
    """Subtract from F, flat, shares of the increments G at places: what the sweep adds there and sites do instead."""
    for k in range(places.size):
        F[places[k]] -= shares[k] * G[places[k]]
