"""The order of runs: rounds over the configurations, in random order, until each mean is precise enough."""

from __future__ import annotations

import bisect
import heapq
import math
import operator
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from evenly.campaign.noise import half_width
from evenly.campaign.record import Record
from evenly.campaign.study import Repetitions, Study
from evenly.errors import InfeasibleError, InputError
from evenly.runs.runs import Runs

__all__ = ["Advisor", "NextRun", "Progress", "Schedule", "first_configurations", "removed", "rows_of"]

#: Takes the measured runs and a number n, and returns n configurations to run next, the best first. Its table may hold
#: the reason of each as ``attrs["why"]``. An advisor with a method ``attach`` is given the campaign's store first,
#: which holds the runs under way, too; so it may propose a configuration that was run before.
Advisor = Callable[[Runs, int], pd.DataFrame]
#: Whether a configuration comes after all others, its number of good runs, its places by time and in order, and itself.
_Turn: TypeAlias = tuple[bool, int, tuple[float, ...], int, int]
#: Most attempts to draw enough distinct configurations; each attempt draws twice as many as the one before.
_DRAWS = 8
#: The anchor takes at least this fraction of the median time.
_QUICK = 0.1


def first_configurations(study: Study) -> list[dict[str, Any]]:
    """Return the study's first configurations, distinct and in random order: all of the space, or a sample of it.

    The list is empty for the design "tune", where the advisor proposes every configuration.

    Raises
    ------
    InputError
        If all configurations are wanted but can't be listed.
    InfeasibleError
        If the space has no configuration.
    """
    plan, space = study.plan, study.space
    if plan.design == "tune":
        return []
    if plan.design == "all" or plan.runs is None:
        if any(kind.values() is None for kind in space.parameters.values()):
            raise InputError("a space with real numbers has infinitely many configurations: give runs in [plan]")
        table = space.enumerate()
    else:
        table = _distinct(study, plan.runs)
    if plan.design == "all" and plan.runs is not None:
        table = table.sample(n=min(plan.runs, len(table)), random_state=plan.seed)
    if not len(table):
        rules = ", ".join(c.name for c in space.constraints)
        raise InfeasibleError(f"{study.name}: no configuration obeys {rules}: loosen a rule", constraint=rules)
    order = np.random.default_rng(plan.seed).permutation(len(table))
    return rows_of(table.iloc[order])


def _distinct(study: Study, runs: int) -> pd.DataFrame:
    plan = study.plan
    if plan.design == "advisor":
        runs = min(runs, plan.first or max(4, 2 * len(study.space)))
    design = "sobol" if plan.design == "advisor" else plan.design
    found = pd.DataFrame()
    # Samples of integer and ordinal parameters contain duplicates, so the sample grows until enough rows differ.
    for attempt in range(_DRAWS):
        drawn = study.space.sample(runs * 2**attempt, design=design, seed=plan.seed)  # type: ignore[arg-type]
        found = drawn.drop_duplicates(ignore_index=True).head(runs)
        if len(found) == runs:
            break
    return found


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table of configurations as dictionaries of plain Python values, for JSON."""
    names = [str(name) for name in table]
    columns = (_plain(table[name]) for name in table)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(column: pd.Series[Any]) -> list[Any]:
    values = column.tolist()
    # Columns of numbers are lists of Python's own by now; those of objects may hold NumPy's.
    return values if column.dtype != object else [getattr(value, "item", lambda v=value: v)() for value in values]


def removed(made: Iterable[int], planned: Sequence[int], known: Mapping[int, Mapping[str, Any]]) -> str:
    """Return what to say of configurations with runs that aren't planned, and whether only a type tells them apart.

    Parameters
    ----------
    made : iterable of int
        The number of each run's configuration.
    planned : sequence of int
        Numbers of the planned configurations.
    known : mapping of int to mapping
        All configurations by their numbers.

    Examples
    --------
    >>> removed([1, 1], [2], {1: {"n": 1}, 2: {"n": "1"}})
    "runs of 1 configuration that is not in the study (n = 1): ... n = 1 and n = '1' differ in type, and are run as two"
    >>> removed([2], [2], {2: {"n": "1"}})
    ''
    """
    there = set(planned)
    gone = [number for number in dict.fromkeys(made) if number not in there]
    if not gone:
        return ""
    shown = "; ".join(_written(known[number]) for number in gone[:3]) + " …" * (len(gone) > 3)
    said = (
        f"runs of {len(gone)} configuration{'s that are' if len(gone) > 1 else ' that is'} not in the study ({shown}): "
        "they stay in the table"
    )
    looks = {_as_words(known[number]): number for number in planned}
    for number in gone:
        if (other := looks.get(_as_words(known[number]))) is not None:
            return f"{said}. {_written(known[number])} and {_written(known[other])} differ in type, and are run as two"
    return said


def _written(configuration: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in configuration.items())


def _as_words(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the values as a command has them."""
    return tuple(f"{name}={value}" for name, value in sorted(configuration.items()))


@dataclass(frozen=True)
class NextRun:
    """The next run to make: the configuration's number, the repetition's number, and the purpose."""

    configuration: int
    repetition: int
    purpose: str


@dataclass(frozen=True)
class Progress:
    """Progress of a campaign.

    Attributes
    ----------
    done, left : int
        Runs made, and runs still to be made as far as is known.
    seconds_left : float
        Expected seconds of the runs left, estimated from the medians of the runs made.
    """

    done: int
    left: int
    seconds_left: float


@dataclass(slots=True)
class _Known:
    """The measurements of one configuration, and the number of its next repetition."""

    repetition: int = 0
    seconds: tuple[float, ...] = ()
    took: tuple[float, ...] = ()
    failed: bool = False
    under_way: int = 0
    #: What `missing` returned last: looking at the mean takes long.
    still: int = 0

    @property
    def expected(self) -> int:
        """The number of good runs, if those under way go well."""
        return len(self.seconds) + self.under_way

    @property
    def usual(self) -> float | None:
        """The median time of its runs; None if there are none."""
        if len(self.took) < 2:  # of most configurations of a large plan
            return self.took[0] if self.took else None
        return statistics.median(self.took)

    def add(self, record: Record) -> None:
        if record.repetition >= self.repetition:  # repetitions of a salvaged file have gaps
            self.repetition = record.repetition + 1
        self.took += (record.took,)
        if record.status == "ok":
            self.seconds += (record.quantities["seconds"],)
        else:
            self.failed = True

    def missing(self, wanted: Repetitions) -> int:
        """Return the least number of runs that are still to be started; 0 where the mean is precise enough."""
        expected = self.expected
        if self.failed or expected >= wanted.most:
            return 0
        if expected < wanted.least:
            return wanted.least - expected
        # A run under way may be the one that makes the mean precise enough.
        return 0 if self.under_way or half_width(self.seconds) <= wanted.within else 1

    def most_missing(self, wanted: Repetitions) -> int:
        """Return the most runs that may still be started: fewer do where the mean is precise enough before."""
        return wanted.most - self.expected if self.still else 0


class _Left:
    """The runs that are left, and how long they will take: each its configuration's median time, else the usual one.

    Sums are kept up to date, so that a campaign of many runs needn't look at all of them after each.
    """

    def __init__(self, configurations: Iterable[tuple[int, float | None]] = ()) -> None:
        """Begin with the runs left of some configurations, and the median times of these."""
        self.runs = 0
        self._seconds = 0.0
        self._of_unknown = 0
        self._medians: list[float] = []
        for runs, usual in configurations:
            self._add(runs, usual)
            if usual is not None:
                self._medians.append(usual)
        self._medians.sort()

    def change(self, runs: int, usual: float | None, by: int) -> None:
        """Add (`by` = 1) or take away (-1) the runs left of a configuration with a median time."""
        self._add(by * runs, usual)
        if usual is None:
            return
        at = bisect.bisect_left(self._medians, usual)
        if by > 0:
            self._medians.insert(at, usual)
        else:
            del self._medians[at]

    def _add(self, runs: int, usual: float | None) -> None:
        self.runs += runs
        if usual is None:
            self._of_unknown += runs
        else:
            self._seconds += runs * usual

    def seconds(self, more: int) -> float:
        """Return how long the runs left take, and so many more of configurations that aren't known yet."""
        n = len(self._medians)
        usual = 0.5 * (self._medians[(n - 1) // 2] + self._medians[n // 2]) if n else 0.0
        return max(0.0, self._seconds) + (self._of_unknown + more) * usual


class Schedule:
    """Chooses the next run from the runs made so far.

    Configurations are run in rounds: all once, all twice, and so on. Later rounds contain only the configurations whose
    mean is not yet precise enough. So an interrupted campaign has data on all configurations, and slow changes of the
    machine affect all of them alike. A failed configuration is not run again. The anchor is a quick configuration that
    is repeated at regular intervals to detect drift.

    Parameters
    ----------
    study : Study
    order : iterable of int
        Numbers of the planned configurations.
    records : iterable of Record
        Runs made earlier.
    anchor : int, optional
        Number of the anchor configuration; by default chosen when it is first needed.
    last : iterable of int
        Configurations that are run after all others.
    """

    def __init__(
        self,
        study: Study,
        order: Iterable[int],
        records: Iterable[Record] = (),
        anchor: int | None = None,
        last: Iterable[int] = (),
    ) -> None:
        self._study, self._last = study, frozenset(last)
        # A search itself says what is run again.
        self._wanted = Repetitions(1, 1) if study.plan.design == "tune" else study.repetitions
        self.order = list(order)
        self.anchor = anchor
        self._known: defaultdict[int, _Known] = defaultdict(_Known)
        self._took, self._done = 0.0, 0
        #: For each number of cores, the configurations that need so many, by their turn. Those that have changed since
        #: are in it again; their old turns are skipped. So wide runs that wait for cores aren't looked at one by one.
        #: None until somebody asks which is next.
        self._turns: dict[int, list[_Turn]] | None = None
        #: Turns that weren't allowed to start.
        self._refused: list[_Turn] = []
        self._cores_for: Callable[[int], int] = lambda _: 0
        #: In each round, configurations with small values come first.
        self._first: Mapping[int, tuple[float, ...]] = {}
        self._places = {configuration: place for place, configuration in enumerate(self.order)}
        self._since_anchor = 0
        for record in records:
            self._known[record.configuration].add(record)
            self._took += record.spent_s
            self._done += 1
            self._count(record.configuration)
        planned = [self._known[configuration] for configuration in self.order]
        for known in planned:
            known.still = known.missing(self._wanted)
        self._left = _Left((known.still, known.usual) for known in planned)

    def append(self, configuration: int) -> None:
        """Plan another configuration."""
        self._places[configuration] = len(self.order)
        self.order.append(configuration)
        known = self._known[configuration]
        known.still = known.missing(self._wanted)
        self._take_turn(configuration)
        self._left.change(known.still + known.under_way, known.usual, 1)

    def _take_turn(self, configuration: int) -> None:
        if self._turns is not None and self._known[configuration].still:
            heapq.heappush(self._turns.setdefault(self._cores_for(configuration), []), self._turn(configuration))

    def _turn(self, configuration: int) -> _Turn:
        # Rounds: of the configurations with the fewest successful runs, the first one in order comes next.
        last, place = configuration in self._last, self._places[configuration]
        first = self._first.get(configuration, ())
        return last, self._known[configuration].expected, first, place, configuration

    def _order_turns(self) -> dict[int, list[_Turn]]:
        ordered: dict[int, list[_Turn]] = {}
        for configuration in self.order:
            if self._known[configuration].still:
                ordered.setdefault(self._cores_for(configuration), []).append(self._turn(configuration))
        for turns in ordered.values():
            heapq.heapify(turns)
        self._turns, self._refused = ordered, []
        return ordered

    def share_cores(self, cores_for: Callable[[int], int]) -> None:
        """Take note of how many cores a run of each configuration takes, of those that are free."""
        self._cores_for = cores_for
        self._order_turns()

    def put_first(self, first: Mapping[int, tuple[float, ...]]) -> None:
        """Run configurations with small values first in each round, and those without any before them."""
        self._first = first
        self._order_turns()

    def usual_s(self, configuration: int) -> float | None:
        """Return the median time of a configuration's runs; None if there are none."""
        return self._of(configuration).usual

    @contextmanager
    def _changing(self, configuration: int) -> Iterator[_Known]:
        """Give what is known of a configuration to be changed, and see to its turn and to the sums."""
        known = self._known[configuration]
        planned = configuration in self._places
        if planned:
            self._left.change(known.still + known.under_way, known.usual, -1)
        yield known
        known.still = known.missing(self._wanted)
        if planned:
            self._left.change(known.still + known.under_way, known.usual, 1)
            self._take_turn(configuration)

    def start(self, next_run: NextRun) -> None:
        """Note that a run is under way, so that it isn't started twice."""
        with self._changing(next_run.configuration) as known:
            known.repetition = max(known.repetition, next_run.repetition + 1)
            known.under_way += 1
        self._count(next_run.configuration)

    def _count(self, configuration: int) -> None:
        self._since_anchor = 0 if configuration == self.anchor else self._since_anchor + 1

    def add(self, record: Record) -> None:
        """Add a finished run."""
        with self._changing(record.configuration) as known:
            was_under_way = known.under_way > 0
            known.under_way -= was_under_way
            known.add(record)
        self._took += record.spent_s
        self._done += 1
        if not was_under_way:
            self._count(record.configuration)

    def next(self, may_start: Callable[[int], bool] = lambda _: True, free: float = math.inf) -> NextRun | None:
        """Return the next run; None if all means are precise enough, the budget is spent, or no other may start now.

        Parameters
        ----------
        may_start : callable
            Tells whether a run of a configuration may start. One that may not is asked for again after `put_first`.
        free : float
            How many cores are free.
        """
        if self.is_spent:
            return None
        chosen = self._first_in_turn(may_start, free)
        if chosen is None:
            return None
        # The anchor is repeated after `anchor_every` other runs. It is chosen only then, from the measured times.
        every = 0 if self._study.plan.design == "tune" else self._study.plan.anchor_every
        if every and self._since_anchor >= every:
            self.anchor = self.anchor or self._quick()
            if (
                self.anchor is not None
                and not self._of(self.anchor).failed
                and self._cores_for(self.anchor) <= free
                and may_start(self.anchor)
            ):
                return self._next_run(self.anchor, "anchor")
        return self._next_run(chosen, "plan")

    def _first_in_turn(self, may_start: Callable[[int], bool], free: float) -> int | None:
        ordered = self._order_turns() if self._turns is None else self._turns
        while there := [turns for cores, turns in ordered.items() if turns and cores <= free]:
            turns = min(there, key=operator.itemgetter(0))
            if not self._is_due(turns[0]):
                heapq.heappop(turns)  # it has another turn since
            elif may_start(configuration := turns[0][-1]):
                return configuration
            else:
                self._refused.append(heapq.heappop(turns))
        return None

    def _is_due(self, turn: _Turn) -> bool:
        known = self._known[turn[-1]]
        return bool(known.still) and turn[1] == known.expected

    @property
    def is_spent(self) -> bool:
        """Whether all runs together have taken the budget's time or more."""
        budget = self._study.plan.budget_s
        return budget is not None and self._took >= budget

    def _quick(self) -> int | None:
        """Return the quickest configuration that takes at least a tenth of the median time: shorter ones are noisy."""
        took = {c: float(np.median(k.took)) for c, k in self._known.items() if k.seconds and not k.failed}
        if not took:
            return None
        usual = float(np.median(list(took.values())))
        return min((time, c) for c, time in took.items() if time >= _QUICK * usual)[1]

    def _next_run(self, configuration: int, purpose: str) -> NextRun:
        return NextRun(configuration, self._of(configuration).repetition, purpose)

    def _of(self, configuration: int) -> _Known:
        return self._known.get(configuration, _Known())

    def again(self, configuration: int) -> NextRun:
        """Return one more run of a configuration."""
        return self._next_run(configuration, "plan")

    @property
    def runs(self) -> int:
        """Number of runs of planned configurations that were made or are under way."""
        return sum(len(known.took) + known.under_way for known in map(self._of, self.order))

    @property
    def progress(self) -> Progress:
        """Number of runs made, number of runs left, and the expected time of the runs left."""
        plan = self._study.plan
        if plan.design == "tune":
            # A search repeats the fastest configurations, so the runs left take about as long as the faster half.
            under_way = sum(self._of(number).under_way for number in self.order)
            left = max(0, (plan.runs or 0) - self.runs) + under_way
            took = sorted(statistics.median(known.took) for known in self._known.values() if known.took)
            usual = statistics.median(took[: (len(took) + 1) // 2]) if took else 0.0
            return Progress(self.runs - under_way, left, left * usual / self._study.program.placement.concurrent)
        coming = max(0, (plan.runs or 0) - len(self.order)) if plan.is_advised else 0
        coming *= self._study.repetitions.least
        seconds = self._left.seconds(coming) / self._study.program.placement.concurrent
        return Progress(self._done, self._left.runs + coming, seconds)

    @property
    def has_missing(self) -> bool:
        """Whether a run of a planned configuration is still to be started."""
        due = any(map(self._is_due, self._refused))
        return due or self._first_in_turn(lambda _: True, math.inf) is not None

    @property
    def missing(self) -> dict[int, int]:
        """Number of runs that each planned configuration still needs, as far as is known."""
        return {configuration: self._of(configuration).still for configuration in self.order}

    @property
    def most_missing(self) -> dict[int, int]:
        """Most runs that each planned configuration may still need, repetitions of the anchor aside."""
        return {configuration: self._of(configuration).most_missing(self._wanted) for configuration in self.order}
