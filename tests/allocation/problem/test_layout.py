"""The layout expression: meaning, round trip, errors."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.allocation.problem.core_usage import footprint_of
from evenly.allocation.problem.layout import InTurn, Layout, Repeated, Shared, SideBySide, Solver, parse_layout
from evenly.errors import InputError

NAMES = st.text(min_size=1, max_size=8) | st.sampled_from(
    ["fluid-1", "a.b", "max", "sum", "serial", 'a"b', "a\\b", "é"]
)
LAYOUTS = st.recursive(
    NAMES.map(Solver),
    lambda inner: st.one_of(
        st.builds(SideBySide, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(InTurn, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Shared, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Repeated, st.floats(1e-3, 1e20), inner),
    ),
    max_leaves=8,
)


@given(LAYOUTS)
def test_text_reads_back_equal(layout: Layout) -> None:
    assert parse_layout(str(layout)) == layout


@pytest.mark.parametrize(
    ("text", "seconds", "cores"),
    [
        ("max(a, b)", 5.0, 7),
        ("sum(a, b)", 7.0, 7),
        ("a + b", 7.0, 4),
        ("3 * sum(a, b)", 21.0, 7),
        ("2.5*a + b", 10.0, 4),
        ("2 * (a + b)", 14.0, 4),
        ("max(a + b, c)", 11.0, 9),
        ("max(max(a, b) + c, d-e)", 16.0, 15),
        ("sum(a, a, b)", 9.0, 7),
        ("'a' + \"b\"", 7.0, 4),
        ("max ( a , max(b) )", 5.0, 7),
    ],
)
def test_meaning(text: str, seconds: float, cores: int) -> None:
    layout = parse_layout(text)
    times = {"a": 2.0, "b": 5.0, "c": 11.0, "d-e": 1.0}
    assert float(layout.seconds(times)) == seconds
    assert footprint_of(layout).cores({"a": 3, "b": 4, "c": 5, "d-e": 8}) == cores


def test_words_stand_for_all_solvers() -> None:
    assert str(parse_layout("parallel", ["a", "b"])) == "max(a, b)"
    assert str(parse_layout(" serial ", ["a", "b"])) == "sum(a, b)"
    assert parse_layout("serial", ["a"]) == Solver("a")
    assert parse_layout("serial", ["serial"]) == Solver("serial")
    with pytest.raises(InputError, match="at least one solver"):
        parse_layout("parallel", [])


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("max(a, b - c)", 10, "'-' is not part of the grammar"),
        ("max(a, b", 9, "but got 'the end'"),
        ("max(a,)", 7, "expected a solver"),
        ("", 1, "expected a solver"),
        ("a b", 3, r"expected '\+' or the end"),
        ("min(a, b)", 1, "groups are max"),
        ("a * 3", 3, "the number comes first"),
        ("3 a", 3, r"expected '\*' after a number"),
        ("0 * a", 1, "above zero"),
        ("a + 'b", 5, "never closed"),
        ("a + ''", 5, "can't be empty"),
        ("a + ocnn", 5, "no solver 'ocnn'; the solvers are a, b"),
    ],
)
def test_errors_point_at_the_place(text: str, column: int, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        parse_layout(text, ["a", "b"])
    message = str(caught.value).splitlines()
    assert f"at character {column}:" in message[0]
    assert message[1] == f"  {text}"
    assert message[2] == "  " + " " * (column - 1) + "^"


def test_every_solver_must_occur() -> None:
    with pytest.raises(InputError, match="every solver must occur in the layout, but 'c' doesn't"):
        parse_layout("max(a, b)", ["a", "b", "c"])


def test_open_sharing_is_refused() -> None:
    # a-b, b-c and c-d exclude each other and no other pair does: who shares with whom is a matter of placement.
    with pytest.raises(InputError, match="leaves open which of a, b, c, d share cores"):
        footprint_of(parse_layout("max(a, b) + max(b, c) + max(c, d)"))


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("max(a, a, b)", "a and a"),
        ("max(ice + atm, max(ocn, ice))", "ice and ice + atm"),
        ("sum(c, max(a, 2 * a))", "a and 2 * a"),
    ],
)
def test_a_solver_cannot_run_beside_itself(text: str, twice: str) -> None:
    """A plan was made in which ice ran before atm, and beside both."""
    with pytest.raises(InputError, match=f"at the same time, {re.escape(twice)}"):
        footprint_of(parse_layout(text))


def test_groups_made_of_lists_are_as_those_of_tuples() -> None:
    made = SideBySide([Solver("a"), Solver("b")])  # type: ignore[arg-type]
    assert made == parse_layout("max(a, b)")
    assert footprint_of(made).names() == ("a", "b")


@pytest.mark.parametrize("level", ["sum(", "(", "2 * ", "max(a, "])
def test_layouts_that_are_nested_too_deep_are_refused(level: str) -> None:
    for times in (101, 500, 100_000):
        with pytest.raises(InputError, match="more than 100 levels are nested here"):
            parse_layout(level * times)


def test_deep_layouts_are_read_and_written() -> None:
    text = "sum(a + max(b, " * 40 + "c" + "))" * 40
    layout = parse_layout(text)
    assert parse_layout(str(layout)) == layout
