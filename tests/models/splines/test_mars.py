from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.inputs.coding import Inputs
from evenly.models.splines.backward import costs, gcv, least_squares, prune
from evenly.models.splines.forward import Limits, forward
from evenly.models.splines.kernels import best_knot
from evenly.models.splines.mars import Mars
from evenly.models.splines.terms import Factor, Term, design, terms_from_state, terms_to_state
from evenly.models.storage import load, save
from tests.models.contract import LAWS

Floats = NDArray[np.float64]


def _inputs(n: int, d: int, sizes: tuple[int, ...] = (), seed: int = 0) -> Inputs:
    rng = np.random.default_rng(seed)
    labels = np.column_stack([rng.integers(0, s, n) for s in sizes]) if sizes else np.zeros((n, 0), np.int64)
    return Inputs(rng.uniform(-1, 1, (n, d)), labels, sizes)


def _knots(terms: list[Term], source: int) -> set[float]:
    return {f.knot for term in terms for f in term if f.input == source and f.kind in ("above", "below")}


def test_gcv_is_that_of_the_formula() -> None:
    # 20 runs, 5 columns, penalty 3: C = 5 + 3 · 4 / 2 = 11, so (8 / 20) / (1 - 11/20)² = 0.4 / 0.2025.
    assert costs(5, 3.0).sum() == 11
    assert gcv(8.0, 20, 11) == pytest.approx(0.4 / 0.2025)
    # Without a cost of knots C = M; and a fit of as many effective coefficients as runs tells nothing.
    assert gcv(8.0, 20, costs(5, 0.0).sum()) == pytest.approx(0.4 / 0.5625)
    assert gcv(8.0, 11, 11) == np.inf


def test_the_gain_of_a_knot_is_the_drop_of_the_squares() -> None:
    rng = np.random.default_rng(0)
    n = 60
    inputs = _inputs(n, 1, seed=3)
    x, weights = inputs.numbers[:, 0], rng.uniform(0.5, 2, n)
    roots, y = np.sqrt(weights), rng.normal(size=n)
    parent = np.maximum(rng.normal(size=n), 0) * roots
    span = np.column_stack([roots, rng.normal(size=n), parent])
    q = np.linalg.qr(span)[0]
    target = y * roots
    residual = target - q @ (q.T @ target)
    gain, knot, new = best_knot(np.argsort(-x), x, parent, q, 3, residual, 1, 1)

    def squares(t: float) -> float:
        pair = [parent * np.maximum(x - t, 0), parent * np.maximum(t - x, 0)]
        columns = np.column_stack([span, *pair])
        return float(np.sum((target - columns @ np.linalg.lstsq(columns, target, rcond=None)[0]) ** 2))

    assert new
    assert residual @ residual - gain == pytest.approx(squares(knot), rel=1e-8)
    among = np.sort(x[parent > 0])[1:-1]
    assert squares(knot) <= min(squares(t) for t in among) * (1 + 1e-9)


def test_a_planted_hinge_is_found_at_its_knot() -> None:
    inputs = _inputs(500, 3)
    knot = np.sort(inputs.numbers[:, 0])[150]
    target = 1 + 2 * np.maximum(inputs.numbers[:, 0] - knot, 0)
    terms = forward(inputs, target, np.ones(500), Limits(terms=8, degree=2, span=1, end=1, knots=500))
    assert _knots(terms, 0) == {knot}
    columns = design(terms, inputs)
    kept = prune(columns, target, costs(len(terms), 3.0)).kept
    # Inputs without effect, and the other half of the pair, are gone.
    assert [terms[k] for k in kept] == [Term(), Term((Factor(0, "above", knot),))]
    np.testing.assert_allclose(least_squares(columns[:, kept], target), [1, 2], atol=1e-8)


def test_planted_hinges_of_two_inputs_are_found_nearby() -> None:
    inputs = _inputs(500, 3)
    x, y = inputs.numbers[:, 0], inputs.numbers[:, 1]
    target = 1 + 2 * np.maximum(x + 0.4, 0) - 3 * np.maximum(0.6 - y, 0)
    terms = forward(inputs, target, np.ones(500), Limits(terms=12, degree=1, span=1, end=1, knots=500))
    # Each is found while the other still looks like noise, so by a few runs off.
    assert min(abs(knot + 0.4) for knot in _knots(terms, 0)) < 0.05
    assert min(abs(knot - 0.6) for knot in _knots(terms, 1)) < 0.05
    columns = design(terms, inputs)
    off = columns @ least_squares(columns, target) - target
    assert np.abs(off).max() < 0.02 * np.ptp(target)


def test_a_planted_interaction_with_a_label_is_found() -> None:
    inputs = _inputs(400, 2, (3,))
    knot = np.sort(inputs.numbers[:, 1])[200]
    target = np.maximum(inputs.numbers[:, 1] - knot, 0) * (inputs.labels[:, 0] == 2)
    terms = forward(inputs, target, np.ones(400), Limits(terms=10, degree=2, span=1, end=1, knots=400))
    assert Term(tuple(sorted((Factor(1, "above", knot), Factor(0, "label", 2.0))))) in terms
    columns = design(terms, inputs)
    np.testing.assert_allclose(columns @ least_squares(columns, target), target, atol=1e-8)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_terms_join_no_more_inputs_than_allowed_and_none_twice(degree: int) -> None:
    inputs = _inputs(300, 4, (3,))
    target = np.prod(1.5 + inputs.numbers, axis=1) + inputs.labels[:, 0]
    terms = forward(inputs, target, np.ones(300), Limits(terms=40, degree=degree))
    assert max(len(term) for term in terms) == degree
    for term in terms:
        assert len({(factor.kind == "label", factor.input) for factor in term}) == len(term)
    assert len(set(terms)) == len(terms)
    assert np.linalg.matrix_rank(design(terms, inputs)) == len(terms)


def test_knots_keep_apart() -> None:
    inputs = _inputs(400, 1)
    noise = np.random.default_rng(1).normal(size=400)
    terms = forward(inputs, noise, np.ones(400), Limits(terms=12, degree=1, span=50, end=40, min_gain=0.0))
    places = np.searchsorted(np.sort(inputs.numbers[:, 0]), sorted(_knots(terms, 0)))
    assert len(places) >= 3
    assert np.diff(places).min() >= 50
    assert places.min() >= 40
    assert places.max() <= 360


def test_pruning_never_raises_gcv_and_follows_the_squares() -> None:
    rng = np.random.default_rng(0)
    columns = np.column_stack([np.ones(80), rng.normal(size=(80, 12))])
    y = columns[:, 3] - 2 * columns[:, 7] + 0.3 * rng.normal(size=80)
    pruned = prune(columns, y, costs(13, 3.0))
    assert {0, 3, 7} <= set(pruned.kept)
    assert len(pruned.path) == 13
    kept = columns[:, pruned.kept]
    squares = float(np.sum((y - kept @ np.linalg.lstsq(kept, y, rcond=None)[0]) ** 2))
    found = gcv(squares, 80, costs(len(pruned.kept), 3.0).sum())
    assert found == pytest.approx(min(pruned.path), rel=1e-8)
    assert found <= pruned.path[0]
    # The last of the path is the constant alone.
    assert pruned.path[-1] == pytest.approx(gcv(float(np.sum((y - y.mean()) ** 2)), 80, 1.0), rel=1e-8)


def test_terms_are_stored_as_they_are() -> None:
    terms = [Term(), Term((Factor(0, "above", 0.25),)), Term((Factor(0, "label", 2.0), Factor(3, "below", -0.5)))]
    assert terms_from_state(terms_to_state(terms)) == terms


def _table(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"size": np.exp(rng.uniform(2, 8, n)), "cores": 2 ** rng.integers(0, 8, n), "solver": rng.choice(["a", "b"], n)}
    )


def _seconds(table: pd.DataFrame) -> Floats:
    work = np.maximum(table["size"], 200.0) / table["cores"] * np.where(table["solver"] == "a", 1.0, 1.8)
    return np.asarray(0.01 * work)


def test_the_equation_says_what_was_planted() -> None:
    sizes = np.array([10, 20, 50, 100, 200, 400, 800, 1600, 3200])
    grid = [(s, c, v) for s in sizes for c in (1, 2, 4, 8, 16, 32, 64) for v in ("a", "b")]
    table = pd.DataFrame(grid, columns=["size", "cores", "solver"])
    model = Mars(degree=1, span=1, folds=0).fit(table, _seconds(table))
    np.testing.assert_allclose(model.predict(table), _seconds(table), rtol=1e-6)
    assert "ln(size/200)" in model.equation_
    assert model.terms_ <= 6
    assert model.gcv_ < 1e-12


def test_beyond_the_runs_logs_go_on_straight() -> None:
    table = _table(300)
    model = Mars(degree=1, folds=0).fit(table, _seconds(table))
    far = pd.DataFrame({"size": [2e4, 4e4, 8e4], "cores": 8, "solver": "a"})
    with pytest.warns(match="extrapolations"):
        logs = np.log(model.predict(far))
    assert np.diff(logs)[0] == pytest.approx(np.diff(logs)[1], rel=1e-9)
    # Above the kink time is proportional to size; the runs tell the slope but for the kink between knots.
    assert np.diff(logs)[0] == pytest.approx(np.log(2), rel=0.05)


def test_degree_is_chosen_by_gcv() -> None:
    table = _table(300)
    seconds = np.exp(np.log(table["size"]) * np.log(table["cores"]) / 5).to_numpy()
    models = {degree: Mars(degree=degree, folds=0).fit(table, seconds) for degree in (1, 2, 3)}
    chosen = Mars(folds=0).fit(table, seconds)
    assert chosen.gcv_ == min(model.gcv_ for model in models.values())
    assert models[2].gcv_ < 0.1 * models[1].gcv_


def test_noise_is_pruned() -> None:
    table = _table(400)
    model = Mars(folds=0).fit(table, np.exp(np.random.default_rng(0).normal(size=400)))
    # By chance a few of many candidates lower GCV; all of them at once would be half of 200.
    assert model.terms_ <= 12


def test_a_stored_model_is_the_same(tmp_path) -> None:  # type: ignore[no-untyped-def]
    table = _table(100)
    model = Mars(terms=12).fit(table, _seconds(table))
    save(model, tmp_path / "model.evenly")
    other = load(tmp_path / "model.evenly")
    assert isinstance(other, Mars)
    assert other.equation_ == model.equation_
    np.testing.assert_array_equal(other.predict(table), model.predict(table))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"degree": 0}, "degree must be at least 1, but got 0"),
        ({"terms": 0}, "terms must be at least 1"),
        ({"penalty": -1.0}, "penalty must be a finite number from 0 on"),
        ({"span": 0}, "span must be at least 1"),
        ({"parents": 0}, "parents must be at least 1"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Mars(**options).fit({"n": [1, 2]}, [1.0, 2.0])  # type: ignore[arg-type]


@pytest.mark.parametrize("law", list(LAWS))
def test_law(law: str) -> None:
    table = _table(40)
    LAWS[law](Mars, table, _seconds(table))
