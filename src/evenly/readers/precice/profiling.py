"""Profiling files of preCICE 3: rank files, merged ``profiling.json`` and ``profiling.db``.

A rank writes ``precice-profiling/Fluid-0-24.json`` (up to preCICE 3.2) or ``.txt`` (from 3.3, optionally compressed);
preCICE's ``merge`` tool puts all of them into ``profiling.json`` or ``profiling.db``. Both give the same rows and the
same name of the run, so a run that is read from both is recognised. Tables exported by other tools cut durations to
whole numbers of a coarser unit: read these files instead.

A step is one ``solver.advance``, from the end of one coupling call to the begin of the next. There is one more of them
than coupling calls: the last is the shutdown of a few microseconds and is left out, and so is a step that was cut off.
In an implicit scheme every iteration of a time window is a step of its own, because each is the solver's whole work
once. The first step is left out as a warm-up unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np

from evenly.errors import InputError, ReadError
from evenly.readers.precice.merged import looks_merged, read_merged
from evenly.readers.precice.rank_file import has_rank_file_name, looks_like_rank_file, read_rank_file
from evenly.readers.precice.steps import Execution, Interval, RankSteps, StepReader, identity, rank_steps, reading
from evenly.readers.registry import Skipped
from evenly.runs.runs import Runs

__all__ = ["MissingRanks", "PreciceProfilingReader"]

MissingRanks = Literal["refuse", "ignore"]

_TICK_S = 1e-6
#: Names under which versions of preCICE record that a participant waits for its partner.
_WAITING = frozenset({"waitAndReceiveData", "receiveConvergence", "m2n.receiveData"})
#: Ranks begin together, but the clocks of nodes may differ by minutes.
_TOGETHER_US = 900e6
#: A version that records this records all waiting.
_ALL_WAITING = "waitAndReceiveData"


class PreciceProfilingReader(StepReader):
    r"""Reads a folder of rank files, one rank file, ``profiling.json`` or ``profiling.db``.

    Quantities, all in seconds: ``seconds`` (what the partner waits for: the solver's work and preCICE's, of the slowest
    rank), ``solving`` (of it, the solver's work), ``rank_mean`` and ``rank_min`` (of it over ranks; solving / rank_mean
    is the solver's own imbalance), ``coupling`` (the coupling call after the step), and in it ``waiting`` (for the
    partner) and ``mapping``. Coupling and waiting are those of the rank with the least, since the others also wait
    there for slow ranks of their own solver. Where the files don't tell how long preCICE waits, ``seconds`` is the
    solver's work and the mapping; with ``<profiling mode="fundamental"/>`` the solver's work alone.

    Parameters
    ----------
    warm_up : int
        How many steps at the begin are left out.
    missing_ranks : {"refuse", "ignore"}
        Whether a run of which not every rank's file is there is an error. If ignored, the slowest of the ranks that
        are there counts.

    Examples
    --------
    >>> import json, tempfile
    >>> meta = {"name": "Fluid", "rank": 0, "size": 1, "unix_us": "1795178101840235", "tinit": "", "compression": False}
    >>> steps = ["B1:0", "E1:900", "B2:900", "E2:950", "B1:950", "E1:1450", "B2:1450", "E2:1480", "B1:1480", "E1:1484"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = [json.dumps(meta), "N1:solver.advance", "N2:advance", *steps, ""]
    ...     _ = Path(folder, "Fluid-0-1.txt").write_text("\n".join(lines))
    ...     runs = PreciceProfilingReader().read(Path(folder))
    >>> runs["Fluid"].to_frame()[["cores", "seconds", "coupling", "repetition"]]
       cores  seconds  coupling  repetition
    0      1   0.0005   0.00003           1
    """

    name: ClassVar[str] = "precice-profiling"
    summary: ClassVar[str] = "preCICE 3: folder of rank files, profiling.json, profiling.db"

    def __init__(self, *, warm_up: int = 1, missing_ranks: MissingRanks = "refuse") -> None:
        super().__init__(warm_up=warm_up)
        if missing_ranks not in get_args(MissingRanks):
            raise InputError(f"missing_ranks must be 'refuse' or 'ignore', but got {missing_ranks!r}")
        self.missing_ranks = missing_ranks
        #: The participants whose runs, in what was read last, didn't come to their end.
        self.cut: tuple[str, ...] = ()

    def recognises(self, path: Path) -> bool:
        try:
            if path.is_dir():
                return any(looks_like_rank_file(file) for file in path.iterdir())
            return looks_like_rank_file(path) or looks_merged(path)
        except OSError:
            return False

    def _read(self, path: Path) -> dict[str, Runs]:
        self.cut = ()
        if path.is_dir():
            ranks = self._ranks_of_files(sorted(file for file in path.iterdir() if has_rank_file_name(file)))
        elif has_rank_file_name(path):
            ranks = self._ranks_of_files([path])
        else:
            ranks = _ranks_of_merged(path)
        if not ranks and not self.skipped:
            raise ReadError(path, "holds no profiling events of preCICE 3")
        return self._runs(self._executions(path, ranks))

    def _ranks_of_files(self, files: Sequence[Path]) -> _Ranks:
        ranks: _Ranks = {}
        found: dict[tuple[str, int, int], Path] = {}
        ended: dict[str, list[Path]] = {}
        for file in files:
            try:
                rank_file = read_rank_file(file)
                other = found.setdefault((rank_file.solver, rank_file.size, rank_file.rank), file)
                if other != file:
                    raise ReadError(file, f"holds the same rank as {other.name}: remove the older of the two")
                with reading(file):
                    entry = (rank_file.rank, rank_file.start_us, rank_file.end_us, _steps(rank_file.events))
            except ReadError as error:
                self.skipped.append(Skipped.of(error, file))
                continue
            ranks.setdefault((rank_file.solver, rank_file.size), []).append(entry)
            if not rank_file.is_complete:
                ended.setdefault(rank_file.solver, []).append(file)
        for solver, some in ended.items():
            more = f" and {len(some) - 1} more" if len(some) > 1 else ""
            self.notes.append(f"{solver}: the run was cut off ({some[0].name}{more}); the steps up to there are read")
        self.cut = tuple(ended)
        return ranks

    def _executions(self, path: Path, ranks: _Ranks) -> list[Execution]:
        executions = []
        for (solver, size), parts in sorted(ranks.items()):
            try:
                executions.append(self._execution(path, solver, size, parts))
            except ReadError as error:
                self.skipped.append(Skipped.of(error, path))
        return executions

    def _execution(self, path: Path, solver: str, size: int, parts: Sequence[_Rank]) -> Execution:
        ranks = {rank: (start_us, steps) for rank, start_us, _, steps in parts}
        missing = [str(rank) for rank in range(size) if rank not in ranks]
        if missing and self.missing_ranks == "refuse":
            some = ", ".join(missing[:8]) + (", …" if len(missing) > 8 else "")
            raise ReadError(
                path,
                f"{solver} ran on {size} ranks, but {len(missing)} of them can't be read (rank {some}): "
                "give the folder with all rank files, or missing_ranks='ignore' (-O missing_ranks=ignore) to use those "
                "that are there",
            )
        steps = [ranks[rank][1] for rank in sorted(ranks)]
        starts = [start_us for start_us, _ in ranks.values()]
        start, later = min(starts), max(starts) - min(starts)
        if later > _TOGETHER_US:
            first, last = (min(rank for rank in ranks if ranks[rank][0] == at) for at in (start, max(starts)))
            raise ReadError(
                path,
                f"the ranks of {solver} must be of one run, but rank {last} began {later / 3.6e9:.3g} h "
                f"after rank {first}: remove the files of the earlier run, or give each run a folder of its own",
            )
        ended = _time(max(end_us for _, _, end_us, _ in parts))
        return Execution(solver, size, identity(solver, size, steps), _time(start), ended, str(path), _TICK_S, steps)


#: Rank, start and end in microseconds since 1970, steps.
_Rank = tuple[int, int, int, RankSteps]
#: By participant and size.
_Ranks = dict[tuple[str, int], list[_Rank]]


def _ranks_of_merged(path: Path) -> _Ranks:
    ranks: _Ranks = {}
    for rank in read_merged(path):
        ranks.setdefault((rank.solver, rank.size), []).append(
            (rank.rank, rank.start_us, rank.end_us, _steps(rank.events))
        )
    return ranks


def _time(us: int) -> str:
    return datetime.fromtimestamp(us / 1e6, tz=UTC).isoformat(timespec="milliseconds")


def _maps(name: str) -> bool:
    return name == "mapping" or name.startswith("map.")


def _steps(events: Iterable[tuple[str, Interval]]) -> RankSteps:
    work: list[Interval] = []
    calls: list[Interval] = []
    inside: dict[str, list[Interval]] = {}
    told = False
    for path, interval in events:
        if path == "solver.advance":
            work.append(interval)
        elif path == "advance":
            calls.append(interval)
        elif path.startswith("advance/"):
            *outer, last = path.split("/")
            if _maps(last) and not any(map(_maps, outer)):
                inside.setdefault("mapping", []).append(interval)
            elif last in _WAITING and _WAITING.isdisjoint(outer):
                inside.setdefault("waiting", []).append(interval)
                told = told or last == _ALL_WAITING
    steps = rank_steps(work, calls, inside)
    if not told:
        return steps
    own = np.maximum(steps.phases["coupling"] - steps.phases["waiting"], 0)
    return RankSteps(steps.work, {**steps.phases, "own": own})
