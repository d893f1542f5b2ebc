"""preCICE's configuration: schemes, their combination into an objective, and damaged files."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenly.allocation.problem.layout import parse_layout
from evenly.errors import InputError, ReadError
from evenly.readers.precice.config import Coupling, Scheme, read_coupling, read_iterations
from evenly.readers.precice.task_order import expression_of

SAMPLES = {
    "precice-config/flow-over-heated-plate-precice-config.xml": "sum(Fluid, Solid)",
    "precice-config/heat-exchanger-precice-config.xml": "max(Solid, Fluid-Inner, Fluid-Outer)",
    "precice-config/multiple-perpendicular-flaps-precice-config.xml": "max(Fluid, Solid-Upstream, Solid-Downstream)",
    "precice-v3/parallel-explicit/2_2/precice-config.xml": "max(Inner, Outer)",
    "precice-v3/serial-explicit/2_2/precice-config.xml": "sum(Inner, Outer)",
    "precice-v3/serial-implicit/2_2/precice-config.xml": "sum(Inner, Outer)",
}


def value(expression: str, weights: dict[str, float]) -> float:
    return float(parse_layout(expression, list(weights)).seconds(weights))


@pytest.mark.parametrize(("name", "layout"), SAMPLES.items())
def test_objective_of_real_configurations(samples: Path, name: str, layout: str) -> None:
    coupling = read_coupling(samples / name)
    assert coupling.layout == layout
    assert parse_layout(layout, coupling.participants).names == coupling.participants
    assert coupling.notes == ()


def test_fields_of_real_schemes(samples: Path) -> None:
    folder = samples / "precice-config"
    (plate,) = read_coupling(folder / "flow-over-heated-plate-precice-config.xml").schemes
    assert (plate.kind, plate.implicit, plate.participants) == ("serial", True, ("Fluid", "Solid"))
    assert (plate.max_iterations, plate.windows) == (30, 100)
    assert plate.sends("Fluid", "Solid")
    assert plate.sends("Solid", "Fluid")
    assert str(plate) == "serial-implicit of Fluid, Solid"
    (flaps,) = read_coupling(folder / "multiple-perpendicular-flaps-precice-config.xml").schemes
    assert (flaps.kind, flaps.implicit, flaps.max_iterations, flaps.windows) == ("multi", True, 50, 500)
    assert not flaps.sends("Solid-Upstream", "Solid-Downstream")
    heat = read_coupling(folder / "heat-exchanger-precice-config.xml")
    assert [scheme.participants[1] for scheme in heat.schemes] == ["Fluid-Inner", "Fluid-Outer"]
    assert not heat.implicit


def test_steps_in_a_window_are_factors(samples: Path) -> None:
    coupling = read_coupling(samples / "precice-v3" / "serial-implicit" / "2_2" / "precice-config.xml")
    assert coupling.windows == 20
    assert coupling.expression({"Inner": 3, "Outer": 3}) == "3 * sum(Inner, Outer)"
    assert coupling.expression({"Inner": 3, "Outer": 12}) == "3 * sum(Inner, 4 * Outer)"
    explicit = read_coupling(samples / "precice-v3" / "serial-explicit" / "2_2" / "precice-config.xml")
    assert explicit.expression() == "sum(Inner, Outer)"
    assert explicit.expression({"Inner": 5}) == "sum(5 * Inner, Outer)"
    with pytest.raises(InputError, match="at least one step"):
        coupling.expression({"Inner": 0.5})


# ---- several schemes ------------------------------------------------------------------------------------------------


def serial(first: str, second: str, *flows: str) -> Scheme:
    return Scheme("serial", False, (first, second), flows=tuple((flow[0], flow[1]) for flow in flows))


def parallel(first: str, second: str, *, implicit: bool = False) -> Scheme:
    return Scheme("parallel", implicit, (first, second))


@pytest.mark.parametrize(
    ("participants", "schemes", "layout"),
    [
        ("ABC", [serial("A", "B"), serial("A", "C")], "sum(A, max(B, C))"),
        ("ABC", [serial("A", "C"), serial("B", "C")], "sum(max(A, B), C)"),
        ("ABC", [serial("A", "B"), serial("B", "C")], "sum(A, B, C)"),
        ("ABC", [parallel("A", "B"), serial("A", "C")], "max(sum(A, C), B)"),
        ("ABC", [parallel("A", "B"), parallel("B", "C")], "max(A, B, C)"),
        ("ABC", [serial("A", "B"), serial("B", "C"), serial("A", "C")], "sum(A, B, C)"),
        ("ABCD", [serial("A", "C"), serial("B", "C"), serial("B", "D")], "max(sum(A, C), sum(B, C), sum(B, D))"),
        ("ABCD", [serial("A", "B"), serial("C", "D")], "max(sum(A, B), sum(C, D))"),
        ("ABC", [parallel("A", "B", implicit=True), serial("A", "C")], "sum(max(A, B), C)"),
        ("ABC", [parallel("A", "B")], "max(A, B, C)"),
        ("AB", [serial("A", "B", "AB")], "max(A, B)"),
        ("AB", [serial("A", "B", "BA")], "max(A, B)"),
        ("AB", [serial("A", "B", "AB", "BA")], "sum(A, B)"),
        # preCICE's own example of a circle: it works if A is first in both of its schemes, and then all take turns.
        ("ABC", [serial("A", "B", "AB"), serial("B", "C", "BC"), serial("A", "C", "CA")], "sum(A, B, C)"),
    ],
)
def test_schemes_combine_into_a_graph(participants: str, schemes: Sequence[Scheme], layout: str) -> None:
    assert Coupling.of(tuple(participants), schemes).layout == layout


def test_an_implicit_scheme_iterates_while_the_others_wait() -> None:
    coupling = Coupling.of(tuple("ABC"), [parallel("A", "B", implicit=True), serial("B", "C")])
    assert coupling.expression({"A": 4.5, "B": 4.5}) == "sum(4.5 * max(A, B), C)"


def test_a_circle_of_serial_schemes_is_an_error() -> None:
    schemes = [serial("A", "B", "AB"), serial("B", "C", "BC"), serial("C", "A", "CA")]
    with pytest.raises(InputError, match=r"circle: . → . → . → ."):
        Coupling.of(tuple("ABC"), schemes)


def test_two_implicit_schemes_must_not_overlap() -> None:
    with pytest.raises(InputError, match="'B' takes part in two implicit schemes"):
        Coupling.of(tuple("ABC"), [parallel("A", "B", implicit=True), parallel("B", "C", implicit=True)])


def test_names_that_are_no_words_are_quoted() -> None:
    coupling = Coupling.of(("my solver", "max", "Täter"), [parallel("my solver", "max"), parallel("max", "Täter")])
    assert coupling.layout == 'max("my solver", "max", "Täter")'
    assert parse_layout(coupling.layout).names == ("my solver", "max", "Täter")


def simulated_period(participants: Sequence[str], schemes: Sequence[Scheme], weights: dict[str, float]) -> float:
    """Seconds per window in the long run, if everybody begins as soon as all that the schemes say has arrived.

    The longest path over windows is followed for 60 windows after 60 to settle; the period of such a recurrence repeats
    after at most the number of participants' windows, of which 60 is a multiple up to 5.
    """
    waits = [
        (a, b, scheme.kind == "serial" and a == scheme.participants[0])
        for scheme in schemes
        for a, b in itertools.permutations(scheme.participants)
        if scheme.sends(a, b)
    ]
    end = dict.fromkeys(participants, 0.0)
    marks = []
    for window in range(120):
        begin = {b: max([end[b], *(end[a] for a, other, _ in waits if other == b)]) for b in participants}
        now = {name: begin[name] + weights[name] for name in participants}
        for _ in participants:  # as many rounds as the longest chain within a window
            for a, b, same in waits:
                if same:
                    now[b] = max(now[b], now[a] + weights[b])
        end = now
        if window in (59, 119):
            marks.append(max(end.values()))
    return (marks[1] - marks[0]) / 60


@st.composite
def couplings(draw: st.DrawFn) -> tuple[list[str], list[Scheme], dict[str, float]]:
    names = list("ABCDE"[: draw(st.integers(2, 5))])
    pairs = draw(st.lists(st.sampled_from(list(itertools.combinations(names, 2))), min_size=1, unique=True))
    schemes = []
    for first, second in pairs:
        ways = ((first, second), (second, first))
        flows = draw(st.sampled_from([(), ways[:1], ways[1:], ways]))
        schemes.append(Scheme(draw(st.sampled_from(["serial", "parallel"])), False, (first, second), flows=flows))
    weights = {name: float(draw(st.integers(1, 20))) for name in names}
    return names, schemes, weights


@settings(deadline=None, max_examples=200)
@given(case=couplings())
def test_layout_is_never_faster_than_a_simulated_run(case: tuple[list[str], list[Scheme], dict[str, float]]) -> None:
    names, schemes, weights = case
    layout = value(Coupling.of(names, schemes).layout, weights)
    assert layout >= simulated_period(names, schemes, weights) - 1e-9


@settings(deadline=None, max_examples=100)
@given(case=couplings())
def test_layout_is_exact_without_chains(case: tuple[list[str], list[Scheme], dict[str, float]]) -> None:
    names, schemes, weights = case
    two_way = [
        Scheme(scheme.kind, False, scheme.participants)
        if scheme.kind == "parallel" or scheme.participants[0] == "A"
        else Scheme("parallel", False, scheme.participants)
        for scheme in schemes
    ]
    # Serial schemes only from A: each chain of two ends where it began, so no windows overlap.
    layout = value(Coupling.of(names, two_way).layout, weights)
    assert layout == pytest.approx(simulated_period(names, two_way, weights))


@settings(deadline=None)
@given(data=st.data())
def test_expression_of_an_order_is_its_heaviest_chain(data: st.DataObject) -> None:
    names = list("abcdef"[: data.draw(st.integers(1, 6))])
    edges = [pair for pair in itertools.combinations(names, 2) if data.draw(st.booleans())]
    weights = {name: float(data.draw(st.integers(1, 50))) for name in names}
    longest: dict[str, float] = {}
    for name in names:  # edges go from earlier letters to later ones
        longest[name] = weights[name] + max([longest[a] for a, b in edges if b == name], default=0.0)
    shuffled = data.draw(st.permutations(names))
    expression = expression_of({name: name for name in shuffled}, edges)
    assert value(expression, weights) == max(longest.values())


def test_orders_of_too_many_chains_are_refused() -> None:
    names = [f"{letter}{i}" for i in range(8) for letter in "abc"]
    # Layers whose neighbours are linked but for one pair: 7 links of 8 per step, and no way to take it apart.
    edges = [(f"{a}{i}", f"{b}{i + 1}") for i in range(7) for a in "abc" for b in "abc" if (a, b) != ("a", "c")]
    with pytest.raises(InputError, match="more than 1000 chains"):
        expression_of({name: name for name in names}, edges)


# ---- files of all versions, damaged and foreign ones ----------------------------------------------------------------

OLD = """<?xml version="1.0"?>
<precice-configuration>
  <solver-interface dimensions="3">
    <participant name="SolverOne"> <use-mesh name="MeshOne" provide="yes" /> </participant>
    <participant name="SolverTwo"> <use-mesh name="MeshOne" from="SolverOne" /> </participant>
    <coupling-scheme:parallel-implicit>
      <participants first="SolverOne" second="SolverTwo" />
      <max-timesteps value="40" /> <max-time value="-1" /> <timestep-length value="0.1" />
      <exchange data="a" mesh="MeshOne" from="SolverOne" to="SolverTwo" />
      <exchange data="b" mesh="MeshOne" from="SolverTwo" to="SolverOne" />
      <max-iterations value="7" />
    </coupling-scheme:parallel-implicit>
  </solver-interface>
</precice-configuration>
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "precice-config.xml"
    path.write_text(text)
    return path


def test_configuration_of_versions_1_and_2(tmp_path: Path) -> None:
    coupling = read_coupling(written(tmp_path, OLD))
    assert coupling.layout == "max(SolverOne, SolverTwo)"
    assert coupling.schemes[0].max_iterations == 7
    assert coupling.windows == 40


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        (OLD, "", None, "the file is empty"),
        (OLD, "no xml", 1, "not well-formed"),
        (OLD, "<a/>", 1, "outermost tag"),
        ("</solver-interface>", "", 14, "not well-formed"),
        ('<?xml version="1.0"?>', '<!DOCTYPE x [<!ENTITY a "a">]>', 1, "document type"),
        ("parallel-implicit", "sideways-implicit", 6, "must be one of serial-explicit"),
        (' first="SolverOne"', "", 7, "'first'"),
        ('<participants first="SolverOne" second="SolverTwo" />', "", 6, "'participants'"),
        (
            'second="SolverTwo"',
            'second="SolverThree"',
            6,
            "no participant 'SolverThree' (there are SolverOne, SolverTwo)",
        ),
        ('second="SolverTwo"', 'second="SolverOne"', 6, "different participants"),
        ('participant name="SolverTwo"', 'participant name="SolverOne"', 5, "defined twice"),
        ('from="SolverTwo" to="SolverOne"', 'to="SolverOne"', 10, "'from'"),
        ('max-timesteps value="40"', 'max-timesteps value="many"', 8, "max-timesteps must be a number"),
        ("coupling-scheme:", "coupled:", None, "no coupling scheme"),
    ],
)
def test_errors_say_file_line_and_reason(tmp_path: Path, old: str, new: str, line: int | None, reason: str) -> None:
    path = written(tmp_path, OLD.replace(old, new))
    with pytest.raises(ReadError) as caught:
        read_coupling(path)
    assert caught.value.path == path
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_schemes_that_cant_work_name_the_file(tmp_path: Path) -> None:
    schemes = "".join(
        f"<coupling-scheme:serial-explicit><participants first='{a}' second='{b}'/></coupling-scheme:serial-explicit>"
        for a, b in ("AB", "BC", "CA")
    )
    people = "".join(f"<participant name='{name}'/>" for name in "ABC")
    path = written(tmp_path, f"<precice-configuration>{people}{schemes}</precice-configuration>")
    with pytest.raises(ReadError, match=r"precice-config\.xml: the participants wait for each other in a circle"):
        read_coupling(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(data=st.data(), name=st.sampled_from(sorted(SAMPLES)))
def test_damage_never_raises_anything_but_a_read_error(
    samples: Path, tmp_path: Path, name: str, data: st.DataObject
) -> None:
    content = bytearray((samples / name).read_bytes())
    where = data.draw(st.integers(0, len(content) - 1))
    content[where : where + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=20))
    path = tmp_path / "precice-config.xml"
    path.write_bytes(content)
    message, coupled = "", 0
    try:
        coupled = len(read_coupling(path).participants)
    except ReadError as error:
        message = str(error)
    assert (str(path) in message) != (coupled > 1)


def test_iterations_are_read_by_the_name_of_their_column(tmp_path: Path) -> None:
    path = tmp_path / "precice-Fluid-iterations.log"
    path.write_text(
        "  TimeWindow  TotalIterations  Iterations  Convergence  QNColumns\n     1       6       6       1       5\n"
        "     2       9       3       1       7\n\n"
    )
    assert read_iterations(path).tolist() == [6, 3]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("a b c\n", 1),
        ("TimeWindow Iterations\n", None),
        ("TimeWindow Iterations\n1 x\n", 2),
        ("W Iterations\n1\n", 2),
    ],
)
def test_damaged_iterations_are_refused(tmp_path: Path, text: str, line: int | None) -> None:
    path = tmp_path / "precice-Fluid-iterations.log"
    path.write_text(text)
    with pytest.raises(ReadError) as caught:
        read_iterations(path)
    assert (caught.value.path, caught.value.line) == (path, line)


def test_a_chain_of_three_says_which_layout_overlaps() -> None:
    chain = [Scheme("serial", False, ("A", "B")), Scheme("serial", False, ("B", "C"))]
    (note,) = [one for one in Coupling.of(("A", "B", "C"), chain).notes if "inside a chain" in one]
    assert "--layout 'sum(B, max(A, C))'" in note
