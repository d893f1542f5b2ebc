"""Tables of searches."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from evenly.report.tables.tuning import alike_table
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
