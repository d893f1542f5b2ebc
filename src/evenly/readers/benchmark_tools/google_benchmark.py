"""JSON of Google Benchmark (``--benchmark_out_format=json``)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar, final

from evenly.readers.benchmark_tools.results import BenchmarkReader, Result, in_seconds
from evenly.readers.files import head, plain_suffix
from evenly.readers.json_files import at, list_at, number_at

__all__ = ["GoogleBenchmarkReader"]

#: Parts of a name that say how a benchmark was run, and don't vary what is computed.
_SETTINGS = re.compile(r"(iterations|repeats|min_time|min_warmup_time|warmup)[:_].*|real_time|manual_time|process_time")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@final
class GoogleBenchmarkReader(BenchmarkReader):
    """Reads JSON of Google Benchmark: ``real_time`` of one iteration, in the file's own unit.

    The arguments in a name are parameters: ``BM_copy/8/512`` has ``arg1`` and ``arg2``, ``BM_copy/size:8`` has
    ``size``, ``…/threads:4`` has ``threads``. Means, medians and deviations of repetitions are no further runs.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "out.json"
    >>> runs = [{"name": f"BM_copy/{n}", "iterations": 9, "real_time": n / 2, "time_unit": "us"} for n in (8, 64)]
    >>> _ = path.write_text(json.dumps({"context": {"num_cpus": 4}, "benchmarks": runs}))
    >>> GoogleBenchmarkReader().read(path)["google-benchmark"]
    Runs(2 rows, 2 configurations of arg1; seconds 4e-06 to 3.2e-05 s)
    """

    name: ClassVar[str] = "google-benchmark"
    summary: ClassVar[str] = "JSON of Google Benchmark: real time of one iteration"
    marks: ClassVar[tuple[str, ...]] = ('"context"', '"benchmarks"', '"num_cpus"')

    def recognises(self, path: Path) -> bool:
        return super().recognises(path) or _is_saved_again(path)

    def _results(self, path: Path, content: Any) -> list[Result]:
        context = at(path, content, "context")
        when, machine = str(context.get("date", "")), str(context.get("host_name", ""))
        found: dict[tuple[str, tuple[tuple[str, float | str], ...]], list[float]] = {}
        lost: dict[tuple[str, tuple[tuple[str, float | str], ...]], int] = {}
        for named, one in self._runs(path, list_at(path, content, "benchmarks")):
            name, given = _parts(named)
            key = name, tuple(given.items())
            found.setdefault(key, [])
            if one.get("error_occurred") or one.get("skipped"):
                self.notes.append(f"{one['name']}: left out as failed: {one.get('error_message') or 'it was skipped'}")
                lost[key] = lost.get(key, 0) + 1
                continue
            found[key].append(in_seconds(path, number_at(path, one, "real_time"), str(one.get("time_unit", "ns"))))
        self.notes.append("the time is real_time, the wall time of one iteration")
        return [
            Result(name, dict(given), seconds, lost.get((name, given), 0), when, machine)
            for (name, given), seconds in found.items()
        ]

    def _runs(self, path: Path, entries: list[Any]) -> list[tuple[str, Any]]:
        """Return the entries that are runs, with their names; the mean stands for runs of which none was kept."""
        names = {str(at(path, one, "name")) for one in entries}
        told = [(*_name_and_statistic(one, names), one) for one in entries if not _is_complexity(one)]
        runs = [(name, one) for name, statistic, one in told if not statistic]
        there = {name for name, _ in runs}
        means = [(name, one) for name, statistic, one in told if statistic == "mean" and name not in there]
        if means:
            self.notes.append(
                f"{len(means)} benchmark{'s' if len(means) > 1 else ''} kept only statistics, so the mean over the "
                "repetitions counts as one run"
            )
        return runs + means


def _is_saved_again(path: Path) -> bool:
    """Return whether the benchmarks come first, as in a file that another program has sorted."""
    start = head(path) if plain_suffix(path) == ".json" else ""
    return start.lstrip().startswith("{") and all(f'"{m}"' in start for m in ("benchmarks", "cpu_time", "time_unit"))


def _name_and_statistic(one: Any, names: set[str]) -> tuple[str, str]:
    """Return the name of a benchmark, and which statistic over repetitions an entry is: ``""`` for a run."""
    name = str(one["name"])
    if "run_type" in one:
        is_run = one["run_type"] != "aggregate"
        return str(one.get("run_name", name)), "" if is_run else str(one.get("aggregate_name", "?"))
    base, _, word = name.rpartition("_")  # files of versions before 1.5 tell it by the name alone
    known = base in names or {f"{base}_mean", f"{base}_stddev"} <= names
    return (base, word) if known and word in ("mean", "median", "stddev", "cv") else (name, "")


def _is_complexity(one: Any) -> bool:
    """Return whether an entry is a fitted complexity (``_BigO``, ``_RMS``)."""
    return "real_time" not in one or "cpu_coefficient" in one or "rms" in one


def _parts(name: str) -> tuple[str, dict[str, float | str]]:
    """Split a name into the benchmark and its arguments.

    Examples
    --------
    >>> _parts("BM_copy<int>/8/size:512/real_time")
    ('BM_copy<int>', {'arg1': 8, 'size': 512})
    """
    words: list[str] = []
    given: dict[str, float | str] = {}
    count = 0
    for word in name.split("/"):
        key, colon, value = word.partition(":")
        if words and _SETTINGS.fullmatch(word):
            continue
        if words and colon and key and _NUMBER.fullmatch(value):
            given[key] = _number(value)
        elif words and _NUMBER.fullmatch(word):
            count += 1
            given[f"arg{count}"] = _number(word)
        else:
            words.append(word)
    return "/".join(words), given


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)
