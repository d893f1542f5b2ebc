from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.errors import ExtrapolationWarning, InputError
from evenly.models.pmnf.model_averaging import Member, predict
from evenly.models.pmnf.pmnf import PMNF
from evenly.models.scaling_laws.formula import Formula, Term

Floats = NDArray[np.float64]
CORES = np.array([2.0, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128])


def _leading(model: PMNF) -> Formula:
    assert model.leading_ is not None
    return model.leading_


def test_a_planted_model_is_recovered_exactly() -> None:
    model = PMNF().fit({"cores": CORES}, 100 * CORES**-1.25 + 0.5 * np.log2(CORES) ** 2 + 3)
    terms = {(t.powers, t.logs): t.coefficient for t in _leading(model).terms}
    # Exact data: coefficients are those planted but for rounding times the condition number, below 1e6 here.
    assert terms[((-1.25,), (0.0,))] == pytest.approx(100, rel=1e-7)
    assert terms[((0.0,), (2.0,))] == pytest.approx(0.5, rel=1e-7)
    assert terms[((0.0,), (0.0,))] == pytest.approx(3, rel=1e-7)
    assert model.members_[0].weight > 0.99


def test_two_parameters_are_recovered_from_scattered_runs() -> None:
    rng = np.random.default_rng(0)
    p, n = np.exp(rng.uniform(0.7, 5, 40)), np.exp(rng.uniform(3, 8, 40))
    small = [-1, 0, 0.5, 1, 1.5]
    model = PMNF(exponents=small, log_exponents=[0, 1]).fit(
        {"p": p, "n": n}, 0.1 * n * np.log2(n) / p + 2 * np.log2(p) + 1
    )
    assert {(t.powers, t.logs) for t in _leading(model).terms} == {
        ((-1.0, 1.0), (0.0, 1.0)),
        ((0.0, 0.0), (1.0, 0.0)),
        ((0.0, 0.0), (0.0, 0.0)),
    }


@pytest.mark.parametrize("search", ["hierarchical", "golden-section"])
def test_heuristic_searches_say_that_they_looked_at_less(search: Any) -> None:
    rng = np.random.default_rng(1)
    p, n = np.exp(rng.uniform(0.7, 5, 40)), np.exp(rng.uniform(3, 8, 40))
    values = (0.1 * n / p + 1) * np.exp(0.02 * rng.normal(size=40))
    model = PMNF(search=search).fit({"p": p, "n": n}, values)
    assert model.search_.method == search
    assert 0 < model.search_.considered < model.search_.asked == math.comb(63**2, 2)
    assert np.abs(np.log(model.predict({"p": p, "n": n}) / (0.1 * n / p + 1))).mean() < 0.05


def test_many_parameters_end_in_bounded_time_and_hierarchical_search() -> None:
    rng = np.random.default_rng(2)
    table = pd.DataFrame(np.exp(rng.uniform(0.5, 4, (60, 5))), columns=list("abcde"))
    values = (2 + table["a"] * table["b"] / table["c"]).to_numpy()
    model = PMNF().fit(table, values)
    assert model.search_.method == "hierarchical"
    assert model.search_.considered < 10_000_000


def test_values_of_one_reject_poles_and_count_them() -> None:
    model = PMNF(log_exponents=[-1, 0, 1]).fit({"cores": [1, 2, 4, 8, 16, 32]}, [80.0, 41, 21, 11, 6, 3.5])
    total = 21 * 3
    assert model.search_.counts["pole"] == math.comb(total, 2) - math.comb(21 * 2, 2)


def test_parts_of_the_search_add_up() -> None:
    rng = np.random.default_rng(3)
    model = PMNF(log_exponents=[-1, 0, 1]).fit({"n": CORES}, (50 / CORES + 1) * np.exp(0.1 * rng.normal(size=13)))
    counts = model.search_.counts
    parts = sum(counts.get(name, 0) for name in ("evaluated", "pruned", "ill-conditioned", "pole"))
    assert parts == model.search_.considered == model.search_.asked
    assert "full search" in str(model.search_)


def test_members_are_positive_and_monotone_where_asked() -> None:
    rng = np.random.default_rng(4)
    x = np.array([150.0, 170, 200, 250, 300, 330, 350, 380, 400, 420])
    values = 68000 / x * np.exp(0.1 * rng.normal(size=10))
    model = PMNF(monotone="decreasing", asked={"cores": (100, 2000)}).fit({"cores": x}, values)
    asked = np.linspace(100, 2000, 500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        predicted = model.predict({"cores": asked})
    assert (np.diff(predicted) < 0).all()
    assert model.prediction_range_ == {"cores": (100.0, 2000.0)}


def test_the_formula_is_the_prediction_and_its_pieces_hold() -> None:
    rng = np.random.default_rng(5)
    values = (300 / CORES + 0.4 * CORES**0.5 + 1) * np.exp(0.03 * rng.normal(size=13))
    model = PMNF().fit({"cores": CORES}, values)
    assert model.formula_ is not None
    np.testing.assert_allclose(model.formula_({"cores": CORES}), model.predict({"cores": CORES}), rtol=1e-12)
    curve = model.formula_.evaluate(np.arange(2.0, 513.0)[:, None])
    pieces = model.monotone_pieces(2, 512)
    assert [low for low, _, _ in pieces] == [2, *(high + 1 for _, high, _ in pieces[:-1])]
    assert pieces[-1][1] == 512
    for low, high, slope in pieces:
        assert (slope * np.diff(curve[low - 2 : high - 1]) >= 0).all()
    assert min(curve[[k - 2 for low, high, _ in pieces for k in (low, high)]]) == curve.min()


def test_one_repeated_coordinate_and_constant_parameters_are_no_obstacle() -> None:
    table = {"cores": [4, 4, 4, 8, 8, 16, 16, 32, 64, 64], "size": [7] * 10}
    values = [25.0, 26, 24, 13, 12.5, 6.8, 6.5, 3.4, 1.9, 1.8]
    model = PMNF().fit(table, values)
    assert model.predict({"cores": [24], "size": [7]})[0] == pytest.approx(4.5, rel=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search": "guess"}, "search must be one of"),
        ({"residuals": "cubic"}, "residuals must be one of"),
        ({"loss": "mae"}, "loss must be one of"),
        ({"terms": 0}, "terms must be"),
        ({"ridge": -1.0}, "ridge must be"),
        ({"exponents": []}, "exponents must be"),
        ({"validation": 1}, "validation must be"),
        ({"asked": {"nodes": (1, 2)}}, "asked names 'nodes'"),
        ({"asked": {"cores": (2, 1)}}, "the lower first"),
        ({"monotone": {"cores": "up"}}, "monotone must be one of"),
        ({"monotone": {"nodes": "decreasing"}}, "monotone must be one of 'cores'"),
    ],
)
def test_misuse_is_explained(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PMNF(**options).fit({"cores": CORES}, 1 / CORES)


def test_labels_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="'solver' holds labels such as 'cg'"):
        PMNF().fit({"cores": [1, 2, 4], "solver": ["cg", "cg", "amg"]}, [3.0, 2, 1])


def test_progress_goes_from_little_to_one() -> None:
    seen: list[float] = []
    PMNF(terms=3, exponents=[-1, 0, 1], log_exponents=[0, 1], progress=seen.append).fit({"n": CORES}, 5 / CORES + 1)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) > 3


def test_formulas_evaluate_differentiate_and_rank() -> None:
    formula = Formula(
        ("p", "n"),
        (Term(2.0, (-1.0, 1.0), (0.0, 1.0)), Term(3.0, (0.0, 0.0), (2.0, 0.0)), Term(1.0, (0.0, 0.0), (0.0, 0.0))),
    )
    point = np.array([[8.0, 16.0]])
    assert formula.evaluate(point)[0] == pytest.approx(2 * 16 * 4 / 8 + 3 * 9 + 1)
    step = 1e-6
    for k, name in enumerate(formula.names):
        ahead, back = point.copy(), point.copy()
        ahead[0, k] += step
        back[0, k] -= step
        numeric = (formula.evaluate(ahead) - formula.evaluate(back)) / (2 * step)
        # Central differences err by step^2 times the third derivative and 1e-16 · value / step: below 1e-8 here.
        np.testing.assert_allclose(formula.derivative(point, name), numeric, rtol=1e-6)
    assert [share for _, share in formula.shares({"p": 8, "n": 16})] == pytest.approx([27 / 44, 16 / 44, 1 / 44])
    assert formula.dominating() == "O(p^-1 · n · log2(n) + log2(p)^2)"
    assert str(formula) == "2 · p^-1 · n · log2(n) + 3 · log2(p)^2 + 1"


def test_exact_data_leave_no_terms_of_rounding() -> None:
    table = pd.DataFrame([(n, s) for n in (1, 2, 4, 8) for s in (10, 20, 40)], columns=["threads", "size"])
    model = PMNF().fit(table, 0.02 * table["size"] / table["threads"] + 0.01 * table["threads"])
    assert str(model.leading_) == "0.02 · threads^-1 · size + 0.01 · threads"


def test_one_candidate_instead_of_the_average() -> None:
    """The thesis takes the candidate of the smallest loss; near-ties still widen its intervals."""
    random = np.random.default_rng(5)
    cores = np.array([2, 4, 8, 16, 32, 64, 128])
    times = (120 / cores + 0.3 * np.log2(cores) + 1) * np.exp(0.03 * random.standard_normal(len(cores)))
    one, average = (PMNF(average=kind).fit({"cores": cores}, times) for kind in (False, True))
    best, *others = one.members_
    assert (best.weight, best.searched) == (1, True)
    assert best.loss == min(member.loss for member in one.members_ if member.searched)
    assert {member.weight for member in others} <= {0}
    asked = {"cores": np.array([3, 24, 100])}
    assert best.formula is not None
    assert one.formula_ is not None
    assert one.predict(asked) == pytest.approx(one.formula_(asked), rel=1e-9)
    widths = [np.log(np.divide(*model.interval(asked)[::-1])) for model in (one, average)]
    assert (widths[0] > 0.7 * widths[1]).all()


def test_a_sum_that_peaks_or_falls_below_zero_beyond_the_range_has_no_weight_there() -> None:
    # 1000 / p - 2000 / p^2 peaks at 4 cores, and is below zero at 1; the power law 500 / p doesn't, and takes over.
    names, none = ("ranks", "threads"), np.zeros((0, 0))
    peaks = Formula(names, (Term(1000.0, (-1.0, 0.0), (0.0, 0.0)), Term(-2000.0, (-2.0, 0.0), (0.0, 0.0))))
    plain = Formula(names, (Term(500.0, (-1.0, 0.0), (0.0, 0.0)),))
    members = [Member("pmnf", w, 0.0, 2, none, f, none, credibility=w) for w, f in ((0.9, peaks), (0.1, plain))]
    table = pd.DataFrame({"ranks": [1, 3, 8, 16], "threads": 2})
    edge = np.clip(table.to_numpy(dtype=np.float64), [8, 2], [64, 2])
    centre, logs = predict(members, table, edge)
    assert centre[:2] == pytest.approx([500, 500 / 3])
    assert np.exp(logs[0, :2]) == pytest.approx(centre[:2])
    inside = 0.9 * (1000 / np.array([8, 16]) - 2000 / np.array([8, 16]) ** 2) + 0.1 * 500 / np.array([8, 16])
    assert centre[2:] == pytest.approx(inside)
