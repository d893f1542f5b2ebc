"""JSON of pytest-benchmark (``--benchmark-json``, ``--benchmark-save``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, final

from evenly.readers.benchmark_tools.results import BenchmarkReader, Result
from evenly.readers.json_files import at, list_at, number_at

__all__ = ["PytestBenchmarkReader"]


@final
class PytestBenchmarkReader(BenchmarkReader):
    """Reads JSON of pytest-benchmark: the time of each round where they were saved, else the mean over the rounds.

    Parameters of a test are parameters. Without them, the name of the test is a label.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "0001_a.json"
    >>> tests = [{"name": f"test_sort[{n}]", "params": {"n": n}, "stats": {"mean": 2e-6 * n}} for n in (8, 9)]
    >>> _ = path.write_text(json.dumps({"benchmarks": tests, "machine_info": {"node": "pc"}, "datetime": ""}))
    >>> PytestBenchmarkReader().read(path)["pytest-benchmark"]
    Runs(2 rows, 2 configurations of n; seconds 1.6e-05 to 1.8e-05 s)
    """

    name: ClassVar[str] = "pytest-benchmark"
    summary: ClassVar[str] = "JSON of pytest-benchmark: rounds, or the mean over the rounds"
    marks: ClassVar[tuple[str, ...]] = ()

    def recognises(self, path: Path) -> bool:
        from evenly.readers.files import head

        start = head(path)
        told = '"machine_info"' in start or '"hd15iqr"' in start or '"iqr_outliers"' in start
        return super().recognises(path) and told

    def _results(self, path: Path, content: Any) -> list[Result]:
        machine = str((content.get("machine_info") or {}).get("node", "")) if isinstance(content, dict) else ""
        results, averaged = [], 0
        for one in list_at(path, content, "benchmarks"):
            stats = at(path, one, "stats")
            seconds = [float(value) for value in stats.get("data") or []]
            if not seconds:
                seconds, averaged = [number_at(path, stats, "mean")], averaged + 1
            given = one.get("params") or {}
            plain = {
                str(name): value if isinstance(value, int | float) else str(value) for name, value in given.items()
            }
            name = str(at(path, one, "name"))
            test = name.split("[")[0] if plain else name
            results.append(Result(test, plain, seconds, when=str(content.get("datetime", "")), machine=machine))
        if averaged:
            self.notes.append(
                f"the rounds of {averaged} benchmark{'s' if averaged > 1 else ''} were not saved, so the mean over them"
                " counts as one run (--benchmark-save-data saves them)"
            )
        return results
