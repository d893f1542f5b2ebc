"""A program that calls a Python function with a configuration: ``python -m evenly.launch.call study:run``.

The environment variable ``EVENLY_CONFIGURATION`` holds the configuration (JSON). The result goes to the file named by
``EVENLY_RESULT``: ``{"seconds": …}``, with further quantities if the function returns a mapping. If the function
returns no seconds, the wall time of the call is used. If the function raises `evenly.RunFailed`, the program ends with
the error's message and with its exit code, or with 1 where the error has none.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evenly.errors import InputError, RunFailed

__all__ = ["CONFIGURATION", "RESULT", "main"]

CONFIGURATION, RESULT = "EVENLY_CONFIGURATION", "EVENLY_RESULT"


def main(name: str) -> int:
    """Call the function ``module:function``, write its result, and return the program's exit status."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        function = _function(name)
        configuration = json.loads(os.environ[CONFIGURATION])
        began = time.perf_counter()
        answer = function(configuration)
        took = time.perf_counter() - began
        result = _quantities(name, answer, took)
    except RunFailed as error:
        sys.stderr.write(f"{error}\n{error.output}".rstrip() + "\n")
        _tell({"failed": str(error)})
        return error.exit_code or 1
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        _tell({"failed": str(error)})
        return 2
    _tell(result)
    return 0


def _tell(result: Mapping[str, Any]) -> None:
    """Write the result to the result file; with several MPI ranks, only the first rank writes."""
    if all(os.environ.get(variable, "0") == "0" for variable in ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")):
        Path(os.environ[RESULT]).write_text(json.dumps(result), encoding="utf-8")


def _function(name: str) -> Callable[[Mapping[str, Any]], Any]:
    module, _, attribute = name.partition(":")
    try:
        function = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise InputError(f"callable must be 'module:function', but there is no module {module!r}") from None
    if not callable(function):
        raise InputError(f"callable must be 'module:function', but {module!r} has no function {attribute!r}")
    found: Callable[[Mapping[str, Any]], Any] = function
    return found


def _quantities(name: str, answer: Any, took: float) -> dict[str, float]:
    if answer is None:
        return {"seconds": took}
    given = dict(answer) if isinstance(answer, Mapping) else {"seconds": answer}
    numbers = {str(key): float(value) for key, value in given.items() if _is_number(value)}
    if not given or len(numbers) < len(given) or not all(math.isfinite(x) for x in numbers.values()):
        rule = "must return seconds, a mapping of numbers, or nothing to be timed"
        raise InputError(f"{name} {rule}, but got {answer!r}")
    return {"seconds": took} | numbers


def _is_number(value: Any) -> bool:
    """Tell whether a value is a number, NumPy's included; booleans and text are none."""
    return hasattr(value, "__float__") and not isinstance(value, bool | str)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
