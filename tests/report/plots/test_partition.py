"""Pictures and tables of cuts hold what they should: a shape per chunk, heights that are the plan's seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.text import Text
from rich.console import Console

from evenly import fdtd
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.partitioning.partition import partition
from evenly.decomposition.partitioning.plan import CutPlan
from evenly.decomposition.partitioning.predict import predict
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.report.plots.partition import plot_chunks, plot_counts, plot_layout, plot_plan, plot_shares, plot_where
from evenly.report.plots.partition_drawing import back_to_front, rank_colour
from evenly.report.plots.partition_tree import plot_tree
from evenly.report.plots.style import save_figure
from evenly.report.tables.partition import cuts_as_dict, cuts_counts_table, cuts_table, shares_table

#: Values of one kind, faces between ranks, and other ranks take time.
COST = CostModel(
    "fdtd",
    {"nonlinear values": Coefficient(2e-9), "faces sent": Coefficient(1e-8), "neighbours": Coefficient(1e-7)},
    share_error=0.01,
)


def cell(shape: tuple[int, int, int], center: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Cell:
    """A cell with three values at each point of the low quarter of x, one at the others, and a PML along x."""
    x, y, z = shape
    edges = ((0, x // 4, x), (0, y), (0, z))
    values = np.array([3.0 * (x // 4), 1.0 * (x - x // 4)]).reshape(2, 1, 1, 1) * y * z
    grid = Grid((x / 10, y / 10 if y > 1 else 0.0, z / 10 if z > 1 else 0.0), 10)
    survey = Survey.of_blocks(edges, ("nonlinear values",), values)
    return Cell("fdtd", grid, survey, pml=((2, 2), (0, 0), (0, 0)), name="lopsided", center=center)


SHAPES = {"3d": (24, 16, 12), "2d": (48, 32, 1), "1d": (80, 1, 1), "tall": (8, 8, 80)}


@pytest.fixture(params=SHAPES)
def plan(request: pytest.FixtureRequest) -> CutPlan:
    return partition(cell(SHAPES[request.param]), 8, COST)


def of(axes: Axes, gid: str) -> list[Any]:
    return [artist for artist in axes.get_children() if artist.get_gid() == gid]


def chunk_colours(axes: Axes) -> list[tuple[float, ...]]:
    """Colours of the chunks; of a box, that of the side that is drawn as it is."""
    boxes = [artist for artist in of(axes, "chunks") if isinstance(artist, PolyCollection)]
    if boxes:
        colours: Any = boxes[0].get_facecolor()
        return [tuple(colour) for colour in colours[1::3]]
    return [tuple(patch.get_facecolor()) for patch in of(axes, "chunk")]


def test_every_chunk_is_drawn_in_the_colour_of_its_rank(plan: CutPlan) -> None:
    figure = plot_chunks(plan)
    panels = figure.axes[: 3 if plan.chosen == "balanced" else 2]
    wanted = sorted(map(tuple, mpl.colors.to_rgba_array([rank_colour(n) for n in plan.layout.owners]).tolist()))
    np.testing.assert_allclose(sorted(chunk_colours(panels[0])), wanted)
    assert [len(chunk_colours(axes)) for axes in panels] == [len(plan.layout.owners)] * len(panels)


def test_loads_are_coloured_on_one_scale_around_the_mean() -> None:
    plan = partition(cell(SHAPES["2d"]), 4, COST)
    assert plan.chosen == "balanced"
    figure = plot_chunks(plan)
    _, chosen, even, bar = figure.axes
    share = plan.even.rank_s / plan.even.rank_s.mean()
    low, high = bar.get_ylim()
    assert low <= share.min()
    assert high == pytest.approx(share.max())
    # Equal loads have equal colours, and a heavier one is redder than a lighter one.
    red = {
        owner: colour[0] - colour[2] for owner, colour in zip(plan.even.layout.owners, chunk_colours(even), strict=True)
    }
    assert red[int(np.argmax(share))] > 0 > red[int(np.argmin(share))]
    assert len(chunk_colours(chosen)) == 4
    assert f"{plan.gain:.2f} times as fast" in figure.get_suptitle()


def test_nothing_is_compared_where_equal_volumes_are_the_answer() -> None:
    survey = Survey.of_blocks(((0, 40), (0, 20), (0, 1)), ("nonlinear values",), np.full((1, 1, 1, 1), 800.0))
    plan = partition(Cell("fdtd", Grid((4.0, 2.0, 0.0), 10), survey), 4, replace(COST, share_error=0.5))
    assert plan.chosen == "even"
    assert len(plot_chunks(plan).axes) == 3  # ranks, load, and the bar
    assert len(plot_shares(plan).axes) == 1


def test_slices_show_the_work_of_points_and_the_cuts(plan: CutPlan) -> None:
    figure = plot_where(plan, COST)
    planes = 3 if plan.cell.grid.dimensions == 3 else 1
    assert len(figure.axes) == planes + 1
    for axes in figure.axes[:planes]:
        (work,) = of(axes, "work")
        low, high = 2.0, 6.0  # one and three values of 2 ns
        assert low * 0.999 <= work.get_array().min()
        assert work.get_array().max() <= high * 1.001
        assert of(axes, "chunk")
    x_panels = [axes for axes in figure.axes[:planes] if axes.get_xlabel().startswith("x")]
    assert all(len(of(axes, "layer")) == 2 for axes in x_panels)
    work = of(x_panels[0], "work")[0].get_array()
    assert {round(float(v), 6) for v in (work.min(), work.max())} == {low, high}


def test_outlines_of_a_slice_are_those_of_the_chunks_it_goes_through() -> None:
    plan = partition(cell(SHAPES["2d"], center=(10.0, 0.0, 0.0)), 4, COST)
    (axes, _) = plot_where(plan, COST).axes
    drawn = {(round(p.get_x(), 6), round(p.get_width(), 6)) for p in of(axes, "chunk")}
    grid = plan.cell.grid
    wanted = {
        (round(10 + grid.origin[0] + box.lo[0] * grid.dx, 6), round(box.shape[0] * grid.dx, 6))
        for box in plan.layout.boxes(grid)
    }
    assert drawn == wanted
    assert axes.get_xlim() == pytest.approx((10 - 2.4, 10 + 2.4))


@pytest.mark.parametrize("ranks", [8, 100])
def test_bars_stack_to_the_predicted_seconds(ranks: int) -> None:
    plan = partition(cell((40, 40, 1)), ranks, COST)
    figure = plot_shares(plan)
    cuts = [plan.prediction] + ([plan.even] if plan.chosen == "balanced" else [])
    assert len(figure.axes) == len(cuts)
    for axes, one in zip(figure.axes, cuts, strict=True):
        patches: Any = axes.patches
        if ranks <= 64:
            heights = [p.get_y() + p.get_height() for p in patches[ranks:]]
        else:
            heights = list(patches[1].get_data().values)
        np.testing.assert_allclose(heights, one.rank_s)
        assert of(axes, "mean")[0].get_ydata()[0] == pytest.approx(one.rank_s.mean())


def test_the_tree_has_a_node_for_each_cut_and_an_end_for_each_chunk(plan: CutPlan) -> None:
    (axes,) = plot_tree(plan).axes
    assert len(of(axes, "cut")) == len(plan.layout.owners) - 1
    assert len(of(axes, "end")) == len(plan.layout.owners)
    (links,) = of(axes, "link")
    assert len(links.get_segments()) == 2 * (len(plan.layout.owners) - 1)
    texts = [text.get_text() for text in axes.texts]
    assert sum(" = " in text for text in texts) == len(plan.layout.owners) - 1
    assert {str(owner) for owner in plan.layout.owners} <= set(texts)


def test_positions_in_the_tree_are_the_programs_own() -> None:
    plan = partition(cell(SHAPES["1d"], center=(10.0, 0.0, 0.0)), 2, COST)
    (axes,) = plot_tree(plan).axes
    position = plan.layout.position
    assert position is not None
    assert f"x = {position + 10:.4g}" in [text.get_text() for text in axes.texts]


def test_deep_parts_of_a_large_tree_are_one_end_each() -> None:
    plan = partition(cell((40, 40, 1)), 100, COST)
    (axes,) = plot_tree(plan, most=30).axes
    ends = of(axes, "end")
    assert 2 <= len(ends) <= 30
    told = [text.get_text() for text in axes.texts if text.get_gid() == "load" and "chunks" in text.get_text()]
    alone = len(ends) - len(told)
    assert sum(int(text.split()[0]) for text in told) + alone == 100


@pytest.mark.parametrize("towards", [(1.0, -1.0, 0.5), (-1.0, 1.0, -1.0)])
def test_what_is_drawn_later_is_never_behind(towards: tuple[float, ...]) -> None:
    """A box can hide another only if no plane that parts them has it on the far side."""
    plan = partition(cell(SHAPES["3d"]), 8, COST)
    boxes = plan.layout.boxes(plan.cell.grid)
    order = back_to_front(plan.layout, np.array(towards))
    assert sorted(order) == list(range(len(boxes)))
    sign = np.sign(towards)
    # Ends of each box towards the camera and away from it.
    near, far = (np.array([np.where(sign > 0, a, b) * sign for a, b in ends]) for ends in
                 ([(box.hi, box.lo) for box in boxes], [(box.lo, box.hi) for box in boxes]))  # fmt: skip
    for i, first in enumerate(order):
        for later in order[i + 1 :]:
            # If `first` hid `later`, it would be nearer along every axis that parts them.
            nearer, parted = far[first] >= near[later], (far[first] >= near[later]) | (far[later] >= near[first])
            assert not np.all(nearer[parted])


def test_all_pictures_of_a_plan_are_written(plan: CutPlan, tmp_path: Path) -> None:
    figures = plot_plan(plan, COST, unit="µm")
    assert list(figures) == ["chunks", "work", "ranks", "tree"]
    for name, figure in figures.items():
        assert save_figure(figure, tmp_path / f"{name}.png").stat().st_size > 8_000


def test_speedups_of_several_numbers_of_ranks_are_the_plans() -> None:
    made = cell(SHAPES["2d"])
    plans = [partition(made, ranks, COST) for ranks in (2, 4, 8)]
    serial = predict(made, BinaryPartition(0), 1, COST).step_s
    (axes,) = plot_counts(plans, serial).axes
    drawn = {line.get_gid(): np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()}
    np.testing.assert_allclose(drawn["answer"], [serial / plan.prediction.step_s for plan in plans])
    np.testing.assert_allclose(drawn["equal volumes"], [serial / plan.even.step_s for plan in plans])
    np.testing.assert_allclose(drawn["ideal (number of ranks)"], [2, 4, 8])
    assert cuts_counts_table(plans, serial).row_count == 3


# ---- tables -----------------------------------------------------------------------------------------------------


def printed(table: Any) -> str:
    console = Console(width=80, file=None, record=True, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def test_tables_fit_a_terminal_of_80_columns(plan: CutPlan) -> None:
    serial = predict(plan.cell, BinaryPartition(0), 1, COST).step_s
    for table in (shares_table(plan), cuts_table(plan), cuts_counts_table([plan], serial)):
        assert "…" not in printed(table)
    assert "equal volumes" in printed(cuts_table(plan))


def test_the_table_of_ranks_adds_up(plan: CutPlan) -> None:
    table = shares_table(plan)
    columns = {column.header: [str(text) for text in column.cells] for column in table.columns}
    work, borders, total = ([float(v) for v in columns[name]] for name in ("work", "borders", "total"))
    np.testing.assert_allclose(np.add(work, borders), total, atol=0.011)
    np.testing.assert_allclose([float(v) for v in columns["/ mean"]], plan.seconds / plan.seconds.mean(), atol=5.1e-4)
    assert shares_table(plan, most=3).row_count == 3
    assert "5 more ranks" in str(shares_table(plan, most=3).caption)


def test_a_plan_as_numbers_holds_layout_ranks_and_other_cuts(plan: CutPlan) -> None:
    serial = predict(plan.cell, BinaryPartition(0), 1, COST).step_s
    told = cuts_as_dict(plan, serial, {"mine": plan.even})
    assert told["cuts"]["mine"] == told["cuts"]["equal volumes"]
    assert BinaryPartition(told["layout"]) == plan.layout
    assert sum(rank["points"] for rank in told["per_rank"]) == plan.cell.grid.box.volume
    assert max(rank["seconds"] for rank in told["per_rank"]) == pytest.approx(told["seconds_per_step"])
    assert "per_rank" not in cuts_as_dict(plan, serial, layout=False)


@pytest.mark.parametrize("symmetries", [[], [fdtd.Mirror("x"), fdtd.Mirror("y")]])
@pytest.mark.parametrize("size", [(4, 3, 0), (4, 3, 2), (4, 0, 0)])
def test_a_simulation_shows_its_chunks(size: tuple[float, float, float], symmetries: list[Any]) -> None:
    mirrors = [mirror for mirror in symmetries if size["xyz".index(mirror.axis)]]
    sim = fdtd.Simulation(
        cell=size,
        resolution=10,
        boundaries=[fdtd.PML(0.3)],
        symmetries=mirrors,
        layout=[("x", 0.4), 1, [("x", 1), 0, 1]],
    )
    figure = sim.visualize_chunks()
    (axes,) = figure.axes
    if size[2]:
        assert sum(len(shown.get_paths()) for shown in axes.collections if isinstance(shown, PolyCollection)) == 3 * 3
    else:
        shapes = of(axes, "chunk")
        assert [mpl.colors.to_hex(shape.get_facecolor()) for shape in shapes] == [
            rank_colour(rank).lower() for rank in (1, 0, 1)
        ]
        lowest = min(shape.get_x() for shape in shapes)
        assert lowest == pytest.approx(0 if mirrors else -2)
    for shown, title in ((figure, "3 chunks on 2 ranks"), (plot_layout(sim, 1), "3 chunks on 1 rank")):
        assert any(title in text.get_text() for text in shown.findobj(Text))
    assert "chunks" not in vars(sim), "fields were made"
    with pytest.raises(InputError, match="`ranks` must be a whole number"):
        sim.visualize_chunks(ranks=0)
