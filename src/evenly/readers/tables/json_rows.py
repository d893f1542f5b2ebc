"""Tables as JSON: a list of records, also with records in them, an object of columns, or a record in each line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import EvenlyError, ReadError
from evenly.readers.files import head, lines
from evenly.readers.tables.columns import time_candidates
from evenly.readers.tables.constants import SETTINGS
from evenly.readers.tables.identifiers import is_prose
from evenly.readers.tables.number_texts import exact
from evenly.readers.tables.roles import words_of

__all__ = ["is_rows", "read_rows"]

#: Where pandas writes names and rows apart.
_SPLIT = frozenset({"columns", "index", "data"})


def is_rows(path: Path) -> bool:
    """Tell whether a file of JSON holds a table with a time, by the names of its columns."""
    if not head(path).lstrip().startswith(("[", "{")):
        return False
    try:
        found = _parsed(path)
    except (ValueError, EvenlyError):
        return False
    return _tells_times(_records_in(found)) or len(_tables_in(found)) > 1


def read_rows(path: Path) -> tuple[pd.DataFrame, NDArray[np.int64], list[str]]:
    """Return the cells of a table (n_rows, n_columns) as text, the number of each row (n_rows,), and texts beside it.

    These are the texts outside the records, behind their names.

    Raises
    ------
    ReadError
        If the file holds no records of plain values.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "runs.json"
    >>> _ = path.write_text('[{"cores": 8, "time_s": 1.5}, {"cores": 16, "time_s": null}]')
    >>> read_rows(path)[0].to_dict("list")
    {'cores': ['8', '16'], 'time_s': ['1.5', '']}
    """
    try:
        found = _parsed(path)
    except ValueError as error:
        raise ReadError(path, f"damaged JSON: {error}") from None
    records = _records_in(found)
    if not records and len(tables := _tables_in(found)) > 1:
        one = json.dumps({"name": tables[0]}, ensure_ascii=False)[:-1]
        raise ReadError(
            path,
            f"it holds several tables ({', '.join(tables)}): write one list of records, and in each the name of its "
            f"table, as in {one}, …}}",
        )
    if not records:
        raise ReadError(path, "a table in JSON is a list of records, an object of columns, or a record in each line")
    names = dict.fromkeys(name for record in records for name in record)
    cells = pd.DataFrame(
        [[_text(record.get(name)) for name in names] for record in records], columns=list(names), dtype=object
    )
    beside = list(_texts_outside(found, names)) if isinstance(found, Mapping) else []
    return cells, np.arange(1, len(records) + 1, dtype=np.int64), beside


def _parsed(path: Path) -> Any:
    """Return what a file holds, or a list of what each of its lines holds; `ValueError` if it is no JSON."""
    text = "\n".join(lines(path))
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def _tells_times(records: Sequence[Any]) -> bool:
    names = {str(name) for one in records if isinstance(one, Mapping) for name in _with_units(one)}
    return bool(time_candidates(names))


def _tables_in(found: Any) -> list[str]:
    """Return the names of the lists of records with a time that an object holds.

    Examples
    --------
    >>> _tables_in({"coarse": [{"n": 8, "time_s": 1.5}], "fine": [{"n": 8, "time_s": 5.9}], "machines": [{"n": 2}]})
    ['coarse', 'fine']
    """
    lists = found.items() if isinstance(found, Mapping) else ()
    return [str(name) for name, value in lists if isinstance(value, list) and _tells_times(value)]


def _texts_outside(found: Mapping[str, Any], names: Collection[str], above: Sequence[str] = ()) -> Iterator[str]:
    """Yield what stands in an object outside its records, of the columns `names`, behind its own names.

    Examples
    --------
    >>> found = {"meta": {"note": "[1]", "members": 10, "grid": 64}, "sum_of_5_runs": [{"n": 8}], "see": ["the paper"]}
    >>> list(_texts_outside(found, {"n"}))
    ['meta note: [1]', 'meta members: 10', 'sum of 5 runs', 'see: the paper']
    """
    for name, value in found.items():
        if not above and (name in names or name in _SPLIT):
            continue
        path = (*above, name)
        if isinstance(value, Mapping):
            yield from _texts_outside(value, names, path)
            continue
        parts = [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
        if parts and not above:  # the records
            yield from filter(is_prose, [name.replace("_", " ")])
            continue
        for part in parts:
            yield from (text for text in _texts_outside(part, names, path) if is_prose(text.partition(": ")[2]))
        texts = [one for one in value if isinstance(one, str) and is_prose(one)] if isinstance(value, list) else []
        usual = not above or words_of(name) & SETTINGS
        if (isinstance(value, str) and (is_prose(value) or not usual)) or (type(value) in (int, float) and not usual):
            texts = [_text(value)]
        yield from (f"{' '.join(path)}: {text}" for text in texts)


def _records_in(found: Any) -> list[Mapping[str, Any]]:
    """Return the records that an object or a list holds; none if it holds something else."""
    if isinstance(found, Mapping):
        found = _as_pandas_writes(found)
    if isinstance(found, Mapping):
        lists = [value for value in found.values() if isinstance(value, list)]
        if len(lists) == 1 and all(isinstance(one, Mapping) for one in lists[0]):  # {"machine": …, "runs": [{…}, …]}
            shared = {name: value for name, value in found.items() if not isinstance(value, list | Mapping)}
            found = [{**{name: v for name, v in shared.items() if name not in one}, **one} for one in lists[0]]
        elif lists and len({len(value) for value in lists}) == 1:
            columns = {name: value for name, value in found.items() if isinstance(value, list)}
            shared = {name: value for name, value in found.items() if name not in columns}
            if not time_candidates(columns) or time_candidates(path[-1] for path, _ in _paths(shared)):
                return []  # lists of something else, in the record of one run
            found = [shared | dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        return []
    found = [one for record in found for one in _nested(record)]
    found = [one for record in _flat(found) for one in _repeated(record)]
    plain = all(not isinstance(value, Mapping | list) for one in found for value in one.values())
    return found if plain else []


def _nested(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a record that holds a list of records, and no time itself, as one record for each of these.

    Examples
    --------
    >>> _nested({"case": "a", "runs": [{"cores": 8}, {"cores": 16}]})
    [{'case': 'a', 'cores': 8}, {'case': 'a', 'cores': 16}]
    """
    lists = {
        name: value
        for name, value in record.items()
        if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value)
    }
    if len(lists) != 1:
        return [record]
    ((name, records),) = lists.items()
    rest = {other: value for other, value in record.items() if other != name}
    if time_candidates(path[-1] for path, _ in _paths(rest)):  # the phases of a run, say
        return [record]
    return [{**{other: value for other, value in rest.items() if other not in one}, **one} for one in records]


def _as_pandas_writes(found: Mapping[str, Any]) -> Any:
    """Return the records of an object of columns whose rows are numbered, or that has names and rows apart.

    Examples
    --------
    >>> _as_pandas_writes({"n": {"0": 8, "1": 16}}), _as_pandas_writes({"columns": ["n"], "index": [0], "data": [[8]]})
    ([{'n': 8}, {'n': 16}], [{'n': 8}])
    """
    names, rows = found.get("columns"), found.get("data")
    if (
        isinstance(names, list)
        and isinstance(rows, list)
        and all(isinstance(name, str) for name in names)
        and all(isinstance(row, list) and len(row) == len(names) for row in rows)
    ):
        shared = {name: value for name, value in found.items() if not isinstance(value, list | Mapping)}
        return [shared | dict(zip(names, row, strict=True)) for row in rows]
    columns = list(found.values())
    if not columns or not all(isinstance(one, Mapping) and one and all(map(str.isdigit, one)) for one in columns):
        return found
    if any(one.keys() != columns[0].keys() for one in columns):
        return found
    return [{name: one[row] for name, one in found.items()} for row in columns[0]]


def _flat(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return records with the values of the records in them, by their own names, or with that before a point.

    Examples
    --------
    >>> _flat([{"config": {"cores": 8}, "time_s": 1.5}]), _flat([{"a": {"n": 1}}, {"a": {"n": 2}, "b": {"n": 3}}])
    ([{'cores': 8, 'time_s': 1.5}], [{'a.n': 1}, {'a.n': 2, 'b.n': 3}])
    """
    paths = [dict(_paths(_with_units(record))) for record in records]
    ends = Counter(path[-1] for path in {path for one in paths for path in one})
    return [
        {path[-1] if ends[path[-1]] == 1 else ".".join(path): value for path, value in one.items()} for one in paths
    ]


def _with_units(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record in which values with their units, as objects of these two, are texts of both.

    Examples
    --------
    >>> _with_units({"cores": 8, "time": {"value": 1.5, "unit": "ms"}, "config": {"size": {"value": 2, "units": "m"}}})
    {'cores': 8, 'time': '1.5 ms', 'config': {'size': '2 m'}}
    """
    found: dict[str, Any] = {}
    for name, value in record.items():
        known = value.keys() if isinstance(value, Mapping) else frozenset()
        unit = next((one for one in ("unit", "units") if known == {"value", one}), None)
        if unit is not None and isinstance(value[unit], str) and not isinstance(value["value"], Mapping | list):
            found[name] = f"{_text(value['value'])} {value[unit]}".strip() if value["value"] is not None else ""
        else:
            found[name] = _with_units(value) if isinstance(value, Mapping) else value
    return found


def _paths(record: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _paths(value, (*above, str(name)))
        else:
            yield (*above, str(name)), value


def _repeated(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a record whose times are a list, of repeated runs, as one record for each."""
    lists = {name: value for name, value in record.items() if isinstance(value, list)}
    if len(lists) != 1 or not time_candidates(lists):
        return [record]
    ((name, values),) = lists.items()
    return [{**record, name: value} for value in values]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return exact(value)
    return " ".join(str(value).split())
