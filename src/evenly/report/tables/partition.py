"""Tables of how a cell is cut: the share of each rank, a comparison of cuts, and other numbers of ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.plan import CutPlan, Prediction
from evenly.fdtd.cell.box import Box
from evenly.report.formatting import common_prefix, compact, in_unit, interval, percent, plain, quantity, ranks_text
from evenly.report.tables.run import add_numbers, add_row, new_table

__all__ = [
    "answer", "cuts_as_dict", "cuts_counts_table", "cuts_headline", "cuts_table", "prediction_as_dict", "shares_table",
    "step_interval", "within",
]  # fmt: skip

#: The names of the two cuts of a plan.
EVEN, BALANCED = "equal volumes", "balanced"
#: What the times of a cut leave out, and where it is counted.
ALONE = "if each rank has the memory of a node to itself: evenly predict --simulation counts ranks that share it"


def cuts_headline(plan: CutPlan) -> str:
    """Return the cell, the number of ranks and the predicted time of a step, in one line.

    Examples
    --------
    >>> import evenly
    >>> from evenly.decomposition.costs.cost_model import Coefficient, CostModel
    >>> from evenly.fdtd import Simulation
    >>> cost = CostModel("fdtd", {"chunks": Coefficient(5e-6)})
    >>> cuts_headline(evenly.partition(Simulation(cell=(8, 2, 2), resolution=10), ranks=2, cost=cost))
    'cell: 80 × 20 × 20 = 32k points on 2 ranks; 5 µs per step predicted, slowest rank 1 × the mean'
    """
    cell, chosen = plan.cell, plan.prediction
    shape = " × ".join(map(str, cell.grid.shape))
    return (
        f"{cell.name}: {shape} = {compact(cell.grid.box.volume)} points on {ranks_text(chosen.ranks)}; "
        f"{quantity(chosen.step_s, digits=3)} per step predicted, slowest rank {compact(chosen.imbalance)} × the mean"
    )


def within(plan: CutPlan, cost: CostModel, level: float = 0.9) -> str:
    """Return the interval of the predicted time of a step, in a sentence, and what it leaves out.

    Parameters
    ----------
    plan : CutPlan
    cost : CostModel
        What the prediction was made from; its errors on cells that weren't calibrated make the interval.
    level : float
        Probability of the interval.
    """
    lower, upper = step_interval(plan, cost, level)
    alone = f", {ALONE}" if plan.prediction.ranks > 1 else ""
    return f"{percent(level)}: {interval(lower, upper)} per step{alone}"


def step_interval(plan: CutPlan, cost: CostModel, level: float = 0.9) -> tuple[float, float]:
    """Return the interval of the predicted seconds of a step."""
    half = math.exp(cost.half_width(level))
    return plan.prediction.step_s / half, plan.prediction.step_s * half


def answer(plan: CutPlan) -> str:
    """Return the chosen cut and the reason, in one sentence."""
    return f"the answer is {_chosen(plan)}: {plan.why}"


def _chosen(plan: CutPlan) -> str:
    if plan.prediction.ranks == 1:
        return "one chunk"
    return "the balanced cut" if plan.chosen == "balanced" else "chunks of equal volume"


def shares_table(plan: CutPlan, *, title: str = "", most: int = 64) -> Table:
    """Return a table of the ranks: grid of the chunk, predicted time of work and borders, and total time over the mean.

    Parameters
    ----------
    plan : CutPlan
    title : str
    most : int
        Show only this many ranks, the first ones.
    """
    chosen = plan.prediction
    factor, prefix = common_prefix([chosen.step_s])
    left_out = chosen.ranks - min(most, chosen.ranks)
    notes = [
        f"predicted {prefix} per step; faces: point faces shared with other ranks; others: number of these ranks",
        f"and {left_out} more ranks (--json shows all)" if left_out else "",
    ]
    table = new_table(title, "\n".join(note for note in notes if note))
    add_numbers(table, "rank", "grid", "points", "work", "borders", "total", "/ mean", "faces", "others")
    shapes, points = _grids(plan)
    mean = chosen.rank_s.mean()
    for rank in range(min(most, chosen.ranks)):
        times = (chosen.work_s[rank], chosen.border_s[rank], chosen.rank_s[rank])
        add_row(
            table, str(rank), shapes[rank], compact(points[rank]), *(_digits(t / factor) for t in times),
            f"{chosen.rank_s[rank] / mean:.3f}", compact(chosen.faces[rank]), str(int(chosen.neighbours[rank])),
        )  # fmt: skip
    return table


def _digits(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.1f}"


def _grids(plan: CutPlan) -> tuple[list[str], list[int]]:
    """Return for each rank the shape of its chunk (or the number of its chunks), and the number of its points."""
    boxes = _boxes(plan)
    shapes = ["×".join(map(str, own[0].shape)) if len(own) == 1 else f"{len(own)} chunks" for own in boxes]
    return shapes, [sum(box.volume for box in own) for own in boxes]


def _boxes(plan: CutPlan) -> list[list[Box]]:
    """Return the boxes of each rank's chunks."""
    chosen = plan.prediction
    boxes: list[list[Box]] = [[] for _ in range(chosen.ranks)]
    for box, owner in zip(chosen.layout.boxes(plan.cell.grid), chosen.layout.owners, strict=True):
        boxes[owner % chosen.ranks].append(box)
    return boxes


def cuts_table(
    plan: CutPlan, others: Mapping[str, Prediction] | None = None, *, title: str = "", left_out: str = ALONE
) -> Table:
    """Return a table that compares the cuts of a plan with each other and with other layouts.

    Parameters
    ----------
    plan : CutPlan
    others : mapping of str to Prediction, optional
        The predictions for layouts of the user, by name.
    title : str
    left_out : str
        What the caption says that the times leave out; "" where `within` stands beside the table and says it.
    """
    rows = _rows(plan, others or {})
    factor, prefix = common_prefix([one.step_s for one in rows.values()], own=plan.prediction.step_s)
    told = "most: faces of the rank with the most faces; speed: relative to equal volumes"
    table = new_table(title, "\n".join(filter(None, (told, left_out))))
    table.add_column("cut", overflow="fold", min_width=len(EVEN))
    add_numbers(table, f"{prefix} per step", "max/mean", "borders", "faces", "most", "speed")
    for name, one in rows.items():
        share = float(one.border_s.sum() / one.rank_s.sum())
        add_row(
            table, name, in_unit(one.step_s, factor), f"{one.imbalance:.3f}", percent(share, 2),
            compact(one.faces.sum() / 2), compact(one.faces.max()), times(plan.even.step_s / one.step_s),
        )  # fmt: skip
    return table


def times(factor: float) -> str:
    """Return a factor as text.

    Examples
    --------
    >>> times(1.234), times(1.0)
    ('1.23 ×', '1 ×')
    """
    return f"{compact(factor, 3)} ×"


def _rows(plan: CutPlan, others: Mapping[str, Prediction]) -> dict[str, Prediction]:
    own = {EVEN: plan.even} if plan.balanced is plan.even else {BALANCED: plan.balanced, EVEN: plan.even}
    return {**own, **others}


def cuts_counts_table(plans: Sequence[CutPlan], serial_s: float, *, title: str = "") -> Table:
    """Return a table of the predictions for several numbers of ranks.

    Parameters
    ----------
    plans : sequence of CutPlan
        Plans of one cell.
    serial_s : float
        Predicted seconds per step of one rank.
    title : str
    """
    factor, prefix = common_prefix([plan.prediction.step_s for plan in plans])
    notes = [
        f"predicted; one rank takes {quantity(serial_s, digits=3)} per step",
        "even: max/mean of equal volumes; gain: speed relative to equal volumes",
        ALONE,
    ]
    if any(serial_s > 1.005 * plan.prediction.step_s * plan.prediction.ranks for plan in plans):
        notes.append("efficiency above 100 %: a chunk that fits into a core's caches takes less time per point")
    table = new_table(title, "\n".join(notes))
    add_numbers(table, "ranks")
    table.add_column("cut", no_wrap=True)
    add_numbers(table, f"{prefix}/step", "max/mean", "speedup", "efficiency", "even", "gain")
    for plan in plans:
        one = plan.prediction
        add_row(
            table, str(one.ranks), plan.chosen, in_unit(one.step_s, factor), f"{one.imbalance:.3f}",
            compact(serial_s / one.step_s, 3), percent(serial_s / one.step_s / one.ranks),
            f"{plan.even.imbalance:.3f}", compact(plan.gain, 3),
        )  # fmt: skip
    return table


def cuts_as_dict(
    plan: CutPlan, serial_s: float, others: Mapping[str, Prediction] | None = None, *, layout: bool = True
) -> dict[str, Any]:
    """Return a plan as plain values for JSON: the layout, each rank, the whole cell, and a comparison with other cuts.

    Parameters
    ----------
    plan : CutPlan
    serial_s : float
        Predicted seconds per step of one rank.
    others : mapping of str to Prediction, optional
    layout : bool
        Whether to include the layout and the values of each rank.
    """
    chosen = plan.prediction
    told: dict[str, Any] = {
        "ranks": chosen.ranks,
        "chosen": plan.chosen,
        "why": plan.why,
        "seconds_per_step": chosen.step_s,
        "imbalance": chosen.imbalance,
        "speedup": serial_s / chosen.step_s,
        "efficiency": serial_s / chosen.step_s / chosen.ranks,
        "gain_over_even": plan.gain,
        "cuts": {name: prediction_as_dict(one) for name, one in _rows(plan, others or {}).items()},
    }
    if layout:
        told |= {"layout": plan.to_list(), "owners": plan.layout.owners, "per_rank": _per_rank(plan)}
    return dict(plain(told))


def prediction_as_dict(prediction: Prediction) -> dict[str, Any]:
    """Return the predictions for the whole layout as plain values for JSON."""
    told = {
        "seconds_per_step": prediction.step_s,
        "imbalance": prediction.imbalance,
        "border_share": prediction.border_s.sum() / prediction.rank_s.sum(),
        "most_faces": prediction.faces.max(),
        "faces": prediction.faces.sum() / 2,
    }
    return dict(plain(told))


def _per_rank(plan: CutPlan) -> list[dict[str, Any]]:
    chosen = plan.prediction
    return [
        {
            "rank": rank,
            "chunks": [{"low": box.lo, "high": box.hi} for box in boxes],
            "points": sum(box.volume for box in boxes),
            "work_seconds": chosen.work_s[rank],
            "border_seconds": chosen.border_s[rank],
            "seconds": chosen.rank_s[rank],
            "faces": chosen.faces[rank],
            "neighbours": int(chosen.neighbours[rank]),
        }
        for rank, boxes in enumerate(_boxes(plan))
    ]
