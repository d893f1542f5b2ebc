"""Calibration of Meep: `calibrate_meep` times small runs on this machine and fits a cost model to them.

A worker process in Meep's own Python makes the runs (`evenly.adapters.meep.timing.worker`). If it dies, it is started
again.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from evenly.adapters.meep.cell.interpreter import environment, find_python, package_folder
from evenly.adapters.meep.timing.calibration_designs import meep_designs
from evenly.decomposition.calibration.calibration import Progress, calibrate
from evenly.decomposition.calibration.designs import Design, Timed, Timing
from evenly.decomposition.calibration.fitting import learn
from evenly.decomposition.calibration.timing_store import TimingStore
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.locations import machine_name, shipped_file, store_file
from evenly.errors import EvenlyError, InputError

__all__ = ["MeepFailed", "MeepWorker", "calibrate_meep", "open_store", "time_meep"]

MODULE = "evenly.adapters.meep.timing.worker"
#: Wall seconds that one run may take, and that Meep may take to start.
PATIENCE_S = 120.0


class MeepFailed(EvenlyError):  # noqa: N818 - as evenly.RunFailed
    """Meep, or a run of it, failed.

    Parameters
    ----------
    why : str
        The reason, with the end of Meep's output.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class MeepWorker:
    """A process in Meep's Python that times the runs of designs.

    Parameters
    ----------
    python : Path
        Meep's own Python, as returned by `find_python`.
    patience_s : float
        Longest wall time of one run, in seconds.

    Raises
    ------
    MeepFailed
        If the process doesn't start.

    Examples
    --------
    >>> with MeepWorker(find_python()) as worker:  # doctest: +SKIP
    ...     worker.run(Design("vacuum", "8^3", {"points": [8, 8, 8]})).amounts[0]["points"]
    512.0
    """

    def __init__(self, python: Path, patience_s: float = PATIENCE_S) -> None:
        self.python, self.patience_s = python, patience_s
        self.version = ""
        self._process: subprocess.Popen[str] | None = None
        self._stack = contextlib.ExitStack()
        self._folder = self._stack.enter_context(package_folder())
        self._errors: IO[str] = self._stack.enter_context(tempfile.TemporaryFile("w+"))  # noqa: SIM115 - it is
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> MeepWorker:  # noqa: PYI034 - Self is newer than our oldest Python
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The process id of the worker that runs now."""
        return self._process.pid if self._process else 0

    def run(self, design: Design) -> Timing:
        """Time a design once. If the worker dies, it is started again, and the design is tried once more.

        Raises
        ------
        MeepFailed
            If the run fails, or takes longer than `patience_s`.
        """
        answer = self._ask(dict(design.settings)) or self._ask(dict(design.settings))
        if answer is None:
            raise MeepFailed(f"Meep died at the run {design.group}, {design.name}:\n{self._said()}")
        if "error" in answer:
            raise MeepFailed(f"the run {design.group}, {design.name} of Meep failed: {answer['error']}")
        return Timing((float(answer["seconds"]),), (answer["amounts"],), float(answer["pace"]))

    def close(self) -> None:
        """End the process."""
        self._stop()
        self._stack.close()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [str(self.python), "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment(self._folder),
            text=True,
        )
        ready = self._reply()
        if ready is None:
            raise MeepFailed(f"Meep can't be started with {self.python}:\n{self._said()}")
        self.version = str(ready["ready"])

    def _ask(self, settings: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer; None if the process died."""
        _, requests, _ = self._running()
        try:
            requests.write(json.dumps(settings) + "\n")
            requests.flush()
        except OSError:
            self._stop()
            return None
        return self._reply()

    def _reply(self) -> dict[str, Any] | None:
        process, _, replies = self._running()
        watch = threading.Timer(self.patience_s, process.kill)
        watch.start()
        try:
            line = replies.readline()
        finally:
            watch.cancel()
        if not line.endswith("\n"):
            self._stop()
            return None
        found: dict[str, Any] = json.loads(line)
        return found

    def _running(self) -> tuple[subprocess.Popen[str], IO[str], IO[str]]:
        """Return the process, its input and its output. The process is started if there is none."""
        if self._process is None:
            self._start()
        process = self._process
        assert process is not None  # noqa: S101 - it was just started
        assert process.stdin is not None  # noqa: S101 - both were asked for
        assert process.stdout is not None  # noqa: S101
        return process, process.stdin, process.stdout

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        process.kill()
        process.wait()

    def _said(self) -> str:
        """Return the end of what the process printed."""
        self._errors.seek(0)
        return self._errors.read()[-2000:].strip() or "(it said nothing)"


def calibrate_meep(
    budget_s: float = 180.0,
    python: Path | str | None = None,
    *,
    store: Path | None = None,
    progress: Callable[[Progress], object] = lambda _: None,
) -> CostModel:
    """Return a calibration of Meep on this machine, from timed runs.

    Parameters
    ----------
    budget_s : float
        Wall seconds for all runs together; an interrupted calibration continues from its stored timings.
    python : Path or str, optional
        Meep's own Python; by default `find_python` finds it.
    store : Path, optional
        File that keeps the timings during the calibration.
    progress : callable
        Called before every run and at the end.

    Raises
    ------
    InputError
        If there is no Meep, the budget isn't above 0, or the store is of another machine or version.
    MeepFailed
        If a run fails.
    """
    with MeepWorker(find_python(python)) as worker:
        kept = open_store(store or store_file("meep"), worker.version)
        timed = time_meep(worker, kept, budget_s, progress)
    shipped = shipped_file("meep")
    prior = CostModel.load(shipped) if shipped.exists() else None
    about = {"machine": machine_name(), "versions": {"meep": worker.version}}
    return learn("meep", timed, prior=prior, pace_s=kept.pace, pace_spread=kept.pace_spread, **about)


def open_store(path: Path, version: str) -> TimingStore:
    """Return the store of timings of a version of Meep on this machine."""
    return TimingStore(path, {"program": "meep", "machine": machine_name(), "meep": version})


def time_meep(
    worker: MeepWorker, store: TimingStore, budget_s: float, progress: Callable[[Progress], object] = lambda _: None
) -> list[Timed]:
    """Return the timed designs."""
    if not budget_s > 0:
        raise InputError(f"The budget must be above 0 s, but got {budget_s!r}.")
    return calibrate(meep_designs(), worker.run, store, budget_s=budget_s, progress=progress)
