"""JSON of the Java Microbenchmark Harness (``-rf json``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, final

from evenly.errors import ReadError
from evenly.readers.benchmark_tools.results import BenchmarkReader, Result, in_seconds
from evenly.readers.json_files import at, number_at

__all__ = ["JmhReader"]


@final
class JmhReader(BenchmarkReader):
    """Reads JSON of JMH: average times (``us/op``), and throughputs (``ops/s``) as seconds of one operation.

    Raw data of iterations are repetitions. ``threads`` and the parameters of a benchmark are parameters. Where a file
    has several modes, each is a benchmark of its own.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "jmh.json"
    >>> metric = {"score": 2.0, "scoreUnit": "ms/op", "rawData": [[1.9, 2.1]]}
    >>> one = {"benchmark": "a.B.sort", "mode": "avgt", "threads": 1, "params": {"n": "64"}, "primaryMetric": metric}
    >>> _ = path.write_text(json.dumps([{"jmhVersion": "1.36", **one}]))
    >>> JmhReader().read(path)["jmh"]
    Runs(2 rows, 1 configurations of threads, n; seconds 0.0019 to 0.0021 s)
    """

    name: ClassVar[str] = "jmh"
    summary: ClassVar[str] = "JSON of JMH: seconds of one operation"
    marks: ClassVar[tuple[str, ...]] = ('"benchmark"', '"mode"', '"primaryMetric"')

    def recognises(self, path: Path) -> bool:
        from evenly.readers.files import head

        return super().recognises(path) or (path.suffix == ".json" and '"jmhVersion"' in head(path))

    def _results(self, path: Path, content: Any) -> list[Result]:
        if not isinstance(content, list):
            raise ReadError(path, "JMH writes a list of benchmarks, but this is another format")
        modes = {str(at(path, one, "mode")) for one in content}
        results = [self._result(path, one, named=len(modes) > 1) for one in content]
        if "thrpt" in modes:
            self.notes.append("a throughput (mode thrpt) counts as seconds of one operation: 1 / score")
        return results

    def _result(self, path: Path, one: Any, *, named: bool) -> Result:
        metric = at(path, one, "primaryMetric")
        unit = str(at(path, metric, "scoreUnit"))
        raw = [value for fork in metric.get("rawData") or [] for value in fork if isinstance(value, int | float)]
        scores = raw or [number_at(path, metric, "score")]
        mode = f" ({one['mode']})" if named else ""  # throughput of all threads, or time in one of them
        name, given = f"{at(path, one, 'benchmark')}{mode}", {"threads": int(one.get("threads", 1))}
        params = {str(key): _value(text) for key, text in (one.get("params") or {}).items()}
        return Result(name, {**given, **params}, [_seconds(path, float(score), unit) for score in scores])


def _seconds(path: Path, score: float, unit: str) -> float:
    top, _, bottom = unit.partition("/")
    if bottom == "op":
        return in_seconds(path, score, top)
    if top == "ops":
        return in_seconds(path, 1.0, bottom) / score if score > 0 else float("nan")
    raise ReadError(path, f"the score's unit must be a time per operation or operations per time, but is {unit!r}")


def _value(text: Any) -> float | str:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return str(text)
    return int(number) if number.is_integer() else number
