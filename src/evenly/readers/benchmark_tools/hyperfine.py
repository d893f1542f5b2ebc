"""JSON of hyperfine (``--export-json``): wall times of shell commands."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, final

from evenly.readers.benchmark_tools.results import BenchmarkReader, Result
from evenly.readers.json_files import at, list_at, number_at

__all__ = ["HyperfineReader"]

#: In a command in which a value stands at more places than this, it stands for the parameter at all of them.
_MOST_PLACES = 4


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
        entries = list_at(path, content, "results")
        results = [self._result(path, one) for one in entries]
        values = [{str(name): str(text) for name, text in (one.get("parameters") or {}).items()} for one in entries]
        names = _templates([(one.benchmark, texts) for one, texts in zip(results, values, strict=True)])
        return [replace(one, benchmark=name) for one, name in zip(results, names, strict=True)]

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
        return Result(command, given, good, failed=len(times) - len(good))


def _templates(scanned: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
    """Return commands with ``{name}`` for the value of a scan, so that a scan is one benchmark.

    A number in a command may equal the value by chance. So of all templates, the one that most commands fit is taken.

    Examples
    --------
    >>> _templates([("solve -p 4 -n2", {"n": "2"}), ("solve -p 4 -n4", {"n": "4"})])
    ['solve -p 4 -n{n}', 'solve -p 4 -n{n}']
    """
    possible = []
    for command, values in scanned:
        templates = {command}
        for name, value in values.items():
            templates = {new for one in templates for new in _with_name(one, name, value)}
        possible.append(templates)
    fitting = Counter(one for templates in possible for one in templates)
    return [max(sorted(templates), key=lambda one: (fitting[one], one.count("{"))) for templates in possible]


def _with_name(text: str, name: str, value: str) -> set[str]:
    """Return a text with ``{name}`` for the value, for each choice of the places where it stands."""
    words = re.split(rf"(?<!\d){re.escape(value)}(?!\d)", text) if value else [text]
    place = f"{{{name}}}"
    if len(words) > _MOST_PLACES + 1:
        return {place.join(words)}
    choices = itertools.product((value, place), repeat=len(words) - 1)
    return {"".join(itertools.chain(*zip(words, (*choice, ""), strict=True))) for choice in choices}


def _value(text: Any) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return str(text)
    return int(number) if number.is_integer() else number
