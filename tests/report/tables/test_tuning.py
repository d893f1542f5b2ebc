"""Tables of searches."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from evenly.report.tables.tuning import alike_table, found_text, tasks_table, tasks_text
from evenly.space.parameters import Categorical, Ordinal
from evenly.space.space import Space
from evenly.tuning.tuning import tune


def test_nothing_is_cut_off_where_a_terminal_is_narrow() -> None:
    space = Space(
        processes_per_node=Ordinal(1, 2), cutting_method=Categorical("multisection", "bisection"), precision=Ordinal(32)
    )

    def run(configuration: dict[str, Any]) -> float:
        return 0.0004738 * float(configuration["processes_per_node"])

    result = tune(space, run, budget=4, strategy="all")
    console = Console(width=50, file=StringIO(), record=True)
    console.print(alike_table(result))
    shown = console.export_text()
    assert "…" not in shown
    assert shown.count("473.8 µs") == shown.count("947.6 µs") == 2


def test_of_tasks_the_saving_the_intervals_and_the_chances_are_told() -> None:
    noise = iter([1.0, 1.02, 0.99, 1.01, 0.98] * 9)

    def run(configuration: dict[str, Any]) -> float:
        return float((1 + abs(configuration["block"] - 2)) / configuration["cores"]) * next(noise)

    space = Space(cores=Ordinal(1, 2, 4), block=Ordinal(1, 2, 8, 16))
    result = tune(space, run, budget=24, tasks=["cores"], baseline={"cores": 2, "block": 8})
    console = Console(width=90, file=StringIO(), record=True)
    console.print(tasks_table(result))
    shown = console.export_text()
    assert "95 %" in shown
    assert shown.count("more than 99.5 %") == 3
    assert "the fastest of cores = 2 saves 8" in tasks_text(result)
    assert "the fastest of cores = 2 saves 8" in found_text(result)


def test_a_chance_that_is_nearly_certain_is_told_too() -> None:
    noise = iter([1.0, 1.02, 0.99, 1.01] * 9)
    result = tune(Space(n=Ordinal(1, 20, 30, 40)), lambda one: float(one["n"]) * next(noise), budget=8)
    assert "with a chance of more than 99.5 %, it is the fastest of all that were run" in found_text(result)
