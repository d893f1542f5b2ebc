"""Extra-P's JSON formats: the new one by region and metric, and the old one of numbered lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from evenly.errors import ReadError
from evenly.readers.files import head, plain_suffix, text
from evenly.readers.profiles.extrap import ExtrapReader, Series, pick, value_of

__all__ = ["ExtrapJsonReader"]


class ExtrapJsonReader(ExtrapReader):
    """Reads both of Extra-P's JSON formats; see `ExtrapReader` for its options.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "profile.json"
    >>> points = [{"point": [p], "values": [8 / p, 8.1 / p]} for p in (4, 8)]
    >>> _ = path.write_text(json.dumps({"parameters": ["p"], "measurements": {"solve": {"time": points}}}))
    >>> ExtrapJsonReader(unit="s").read(path)[""]
    Runs(4 rows, 2 configurations of region, p; seconds 1 to 2.025 s)
    """

    name: ClassVar[str] = "extrap-json"
    summary: ClassVar[str] = "Extra-P's JSON formats, new and old"

    def recognises(self, path: Path) -> bool:
        start = head(path) if plain_suffix(path) == ".json" else ""
        new = '"parameters"' in start and '"measurements"' in start and '"point"' in start
        return start.lstrip().startswith("{") and (new or '"parameter_value_pairs"' in start or '"callpaths"' in start)

    def _series(self, path: Path) -> Iterator[Series]:
        try:
            data = json.loads(text(path))
        except json.JSONDecodeError as error:
            raise ReadError(path, f"the JSON is broken or cut off: {error.msg}", line=error.lineno) from None
        except RecursionError:
            raise ReadError(path, "the JSON is nested too deeply") from None
        if isinstance(data, dict) and "callpaths" in data:
            return _old(path, data)
        return _new(path, data)


def _new(path: Path, data: Any) -> Iterator[Series]:
    names = [str(name) for name in _list(path, pick(path, data, "parameters"))]
    for region, metrics in _items(path, pick(path, data, "measurements")):
        for metric, measured in _items(path, metrics):
            for one in _list(path, measured):
                values = [value_of(path, value) for value in _list(path, pick(path, one, "point"))]
                if len(values) != len(names):
                    raise ReadError(path, f"a point has {len(values)} values for {len(names)} parameters")
                times = [value_of(path, value) for value in _list(path, pick(path, one, "values"))]
                yield Series(region, metric, dict(zip(names, values, strict=True)), times)


def _old(path: Path, data: Any) -> Iterator[Series]:
    names = _by_id(path, data, "parameters", "name")
    regions, metrics = _by_id(path, data, "callpaths", "name"), _by_id(path, data, "metrics", "name")
    points = {
        key: {
            str(_known(path, names, pick(path, pair, "parameter_id"))): value_of(
                path, pick(path, pair, "parameter_value")
            )
            for pair in _list(path, pairs)
        }
        for key, pairs in _by_id(path, data, "coordinates", "parameter_value_pairs").items()
    }
    for one in _list(path, pick(path, data, "measurements")):
        region = _known(path, regions, pick(path, one, "callpath_id"))
        metric = _known(path, metrics, pick(path, one, "metric_id"))
        point = _known(path, points, pick(path, one, "coordinate_id"))
        yield Series(str(region), str(metric), point, [value_of(path, pick(path, one, "value"))])


def _by_id(path: Path, data: Any, table: str, entry: str) -> dict[Any, Any]:
    return {pick(path, one, "id"): pick(path, one, entry) for one in _list(path, pick(path, data, table))}


def _known(path: Path, table: dict[Any, Any], key: Any) -> Any:
    if isinstance(key, list | dict) or key not in table:
        raise ReadError(path, f"a measurement refers to the number {key!r}, which is not in the file")
    return table[key]


def _list(path: Path, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ReadError(path, f"a list was expected, but got {type(value).__name__}")
    return value


def _items(path: Path, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise ReadError(path, f"an object was expected, but got {type(value).__name__}")
    return list(value.items())
