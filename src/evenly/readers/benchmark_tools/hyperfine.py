"""JSON of hyperfine (``--export-json``): wall times of shell commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar, final

from evenly.readers.benchmark_tools.results import BenchmarkReader, Result
from evenly.readers.json_files import at, list_at, number_at

__all__ = ["HyperfineReader"]


@final
class HyperfineReader(BenchmarkReader):
    """Reads JSON of hyperfine: each time is a repetition, and each parameter of a scan is a parameter.

    A time whose exit code isn't zero belongs to a failed run. A command without parameters is a label.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "times.json"
    >>> one = {"command": "sleep 1", "mean": 1.1, "times": [1.0, 1.2], "exit_codes": [0, 0], "parameters": {"n": "1"}}
    >>> _ = path.write_text(json.dumps({"results": [one]}))
    >>> HyperfineReader().read(path)["hyperfine"]
    Runs(2 rows, 1 configurations of n; seconds 1 to 1.2 s)
    """

    name: ClassVar[str] = "hyperfine"
    summary: ClassVar[str] = "JSON of hyperfine: times of commands"
    marks: ClassVar[tuple[str, ...]] = ('"results"', '"command"', '"mean"')

    def _results(self, path: Path, content: Any) -> list[Result]:
        return [self._result(path, one) for one in list_at(path, content, "results")]

    def _result(self, path: Path, one: Any) -> Result:
        command = str(at(path, one, "command"))
        times = [float(value) for value in one.get("times") or []]
        if not times:
            times = [number_at(path, one, "mean")]
            self.notes.append(f"{command!r}: single times are missing, so its mean counts as one run")
        codes = one.get("exit_codes") or [0] * len(times)
        good = [value for value, code in zip(times, codes, strict=False) if code == 0 and value > 0]
        if len(good) < len(times):
            self.notes.append(
                f"{command!r}: {len(times) - len(good)} of {len(times)} runs are left out as failed: their exit code "
                "isn't zero, or their time is"
            )
        if command.rstrip().endswith("[ERROR]"):
            self.notes.append(f"{command!r} is marked as an error: its runs are left out as failed")
            good = []
        given = {str(name): _value(value) for name, value in (one.get("parameters") or {}).items()}
        for name, text in (one.get("parameters") or {}).items():
            command = re.sub(rf"(?<!\w){re.escape(str(text))}(?!\w)", f"{{{name}}}", command)
        return Result(command, given, good, failed=len(times) - len(good))


def _value(text: Any) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return str(text)
    return int(number) if number.is_integer() else number
