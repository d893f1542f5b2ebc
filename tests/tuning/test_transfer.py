"""Runs of other tasks: like ones shorten a search, unlike ones don't lengthen it for long."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical, Ordinal
from evenly.space.space import Space
from evenly.tuning.search import Search
from evenly.tuning.surrogates.base import Observed
from evenly.tuning.surrogates.transferred import TransferredProcess

BLOCKS = tuple(range(1, 17))


def seconds(configuration: dict[str, Any], best: int) -> float:
    """Fastest at `best` and "y", faster on more cores."""
    slower = {"x": 0.5, "y": 0.0, "z": 0.9}[configuration["kind"]]
    return float(np.exp(5 - np.log(configuration["cores"]) + 0.02 * (configuration["block"] - best) ** 2 + slower))


def known(best: int) -> Runs:
    rows = [{"cores": n, "block": b, "kind": k} for n in (64, 256) for b in BLOCKS[::2] for k in "xyz"]
    table = pd.DataFrame(rows)
    table["seconds"] = [seconds(row, best) for row in rows]
    return Runs.from_frame(table, ["cores", "block", "kind"])


SPACE = Space(cores=Ordinal(1024), block=Ordinal(*BLOCKS), kind=Categorical("x", "y", "z"))


def runs_until_best(others: Runs | None, seed: int, most: int = 30) -> int:
    search = Search(SPACE, known=others, tasks=["cores"] if others else [], seed=seed)
    for number in range(1, most + 1):
        configuration = search.ask()
        assert configuration is not None
        if (configuration["block"], configuration["kind"]) == (11, "y"):
            return number
        search.tell(configuration, seconds(configuration, 11))
    return most + 1


def test_like_tasks_shorten_a_search_and_unlike_ones_do_not_mislead_for_long() -> None:
    # One search depends on the last bits of a machine's sums: several are looked at together.
    alone, alike, unlike = (
        sum(runs_until_best(runs, seed) for seed in (0, 1, 2)) for runs in (None, known(11), known(1))
    )
    assert alike <= 0.7 * alone
    assert unlike <= alone + 3 * 8


def test_evidence_decides_how_much_is_believed() -> None:
    from evenly.tuning.candidates import Candidates

    candidates = Candidates(SPACE)
    table = candidates.listed
    assert table is not None
    some = table.iloc[::4].reset_index(drop=True)
    logs = np.array([np.log(seconds(row, 11)) for row in some.to_dict("records")])  # type: ignore[arg-type]
    observed = Observed(candidates.inputs(some), logs, np.ones(len(logs)), np.zeros(len(logs), dtype=bool))
    random = np.random.default_rng(0)
    right, wrong = TransferredProcess(candidates.placed), TransferredProcess(candidates.placed)
    right.learn(observed, logs + 0.3, random)
    wrong.learn(observed, random.normal(0, 3, len(logs)), random)
    assert right.share > 0.9
    assert wrong.share < 0.1


def test_wrong_use() -> None:
    with pytest.raises(InputError, match="tasks must be parameters of the space"):
        Search(SPACE, known=known(3), tasks=["nodes"])
