"""Reading and writing tables of runs: CSV with one comment line on top, or Parquet with the same line as metadata.

Numbers are written so that reading restores them exactly. Labels that are not text (true, 8, null) are written as JSON.
Text is written as JSON only if it could be read as JSON, starts with a quote or as a formula does, or has unprintable
characters (line breaks); all other text is written unchanged.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError, MissingExtraError, ReadError
from evenly.memory import ARRAYS_MIB, check_unpacked
from evenly.runs.columns import BOOKKEEPING, as_text
from evenly.space.configurations import plain, to_floats
from evenly.writing import MARK, replacing

__all__ = [
    "FORMAT_VERSION", "FORMULA", "check_own", "check_parquet", "decode_label", "decode_text", "decoded", "encode_label",
    "encode_text", "encoded", "not_a_formula", "read", "write",
]  # fmt: skip

FORMAT_VERSION = 1
_HEADER = "# evenly runs "
#: What a formula begins with, for spreadsheets.
FORMULA = ("=", "+", "-", "@")
#: About what a cell of a table takes as text.
_CELL_BYTES = 64
_TEXTS = ("run", "status", "machine", "when", "source")


def encode_text(text: str) -> str:
    r"""Return text in a form that fits on one line; `decode_text` restores the text.

    Examples
    --------
    >>> encode_text("two words"), encode_text("two\nlines")
    ('two words', '"two\\nlines"')
    """
    return json.dumps(text) if text.startswith(('"', *FORMULA)) or not text.isprintable() else text


def not_a_formula(value: Any) -> Any:
    """Return a label so that no spreadsheet takes it for a formula: with an apostrophe in front; others unchanged.

    Examples
    --------
    >>> [not_a_formula(value) for value in ("=1+1", "-O3", "cg", -5)]
    ["'=1+1", "'-O3", 'cg', -5]
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def decode_text(text: str) -> str:
    r"""Reverse `encode_text`.

    Raises
    ------
    ValueError
        If a quote is not closed.

    Examples
    --------
    >>> decode_text('"say \\"hi\\""')
    'say "hi"'
    """
    return str(json.loads(text)) if text.startswith('"') else text


def encode_label(label: Any) -> str:
    """Return a label as text from which `decode_label` restores value and type.

    Examples
    --------
    >>> [encode_label(x) for x in ("cg", 8, "8", True, None, "")]
    ['cg', '8', '"8"', 'true', 'null', '']
    """
    if not isinstance(label, str):
        return json.dumps(label)
    try:
        json.loads(label)
    except (ValueError, RecursionError):
        return encode_text(label)
    return json.dumps(label)


def decode_label(text: str) -> Any:
    """Reverse `encode_label`.

    Examples
    --------
    >>> decode_label("true"), decode_label('"8"'), decode_label("cg")
    (True, '8', 'cg')
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def encoded(table: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return a table of runs with its labels and texts encoded for a file; `decoded` restores the table.

    Parameters
    ----------
    table : DataFrame (n_rows, …)
        The table inside `evenly.Runs`.
    labels : sequence of str
        The names of the categorical parameters.

    Examples
    --------
    >>> bookkeeping = dict.fromkeys(("run", "status", "machine", "when", "source"), "")
    >>> encoded(pd.DataFrame({"fast": [True, None], **bookkeeping}), ["fast"])["fast"].tolist()
    ['true', 'null']
    """
    result = table.copy()
    for name in labels:
        result[name] = _mapped(result[name], encode_label)
    for name in _TEXTS:
        result[name] = _mapped(result[name], encode_text)
    return result


def decoded(table: pd.DataFrame, labels: Sequence[str], quantities: Sequence[str]) -> pd.DataFrame:
    """Reverse `encoded`, and convert the text of quantities and repetitions to numbers.

    Raises
    ------
    InputError
        If a quantity isn't a number; the message names the row.

    Examples
    --------
    >>> texts = dict.fromkeys(("run", "status", "machine", "when", "source"), "")
    >>> decoded(pd.DataFrame({"fast": ["true", "null"], "repetition": "0", "t": "2.5", **texts}), ["fast"], ["t"])["t"]
    0    2.5
    1    2.5
    Name: t, dtype: float64
    """
    result = table.copy()
    for name in labels:
        result[name] = _mapped(result[name], decode_label)
    for name in _TEXTS:
        result[name] = _mapped(as_text(result[name]), decode_text)
    for name in quantities:
        result[name] = _numbers(result[name])
    result["repetition"] = _numbers(result["repetition"]).astype(np.int64)
    return result


def _mapped(column: pd.Series[Any], function: Callable[[Any], Any]) -> pd.Series[Any]:
    return pd.Series([function(value) for value in column.tolist()], index=column.index, dtype=object)


def _numbers(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return a stored column as numbers, shape (n,); an empty cell becomes NaN, other text is an error."""
    numbers = to_floats(column)
    lost = np.isnan(numbers) & ~(column.isna() | (column.astype(str) == "")).to_numpy(dtype=np.bool_)
    if lost.any():
        row = int(np.flatnonzero(lost)[0])
        raise InputError(f"{column.name!r} must be a number, but row {row} holds {plain(column.iloc[row])}")
    return numbers


def write(table: pd.DataFrame, header: str, path: Path) -> None:
    """Write a table of numbers and one-line texts; an existing file is replaced only after all is written.

    Parameters
    ----------
    table : DataFrame (n_rows, …)
        Numbers and encoded text.
    header : str
        One line of JSON: the metadata.
    path : Path
        Ends in ``.csv`` or ``.parquet``.

    Raises
    ------
    InputError
        If the path has another suffix, or the file can't be written.
    MissingExtraError
        If the path ends in ``.parquet`` and the packages that write Parquet are not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(pd.DataFrame({"cores": [8]}), "{}", Path(folder, "runs.csv"))
    ...     print(Path(folder, "runs.csv").read_text())
    # evenly runs 1 {}
    cores
    8
    """
    if path.suffix not in (".csv", ".parquet"):
        raise InputError(f"runs are saved as .csv or .parquet, but got {path.name!r}")
    try:
        with replacing(path) as new:
            (_write_csv if path.suffix == ".csv" else _write_parquet)(table, f"{FORMAT_VERSION} {header}", new)
    except OSError as error:
        raise InputError(f"the runs can't be written to {path}: {error.strerror or error}") from None


def _write_csv(table: pd.DataFrame, header: str, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"{_HEADER}{header}\n")
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([encode_text(name) for name in table.columns])
        writer.writerows(zip(*(_cells(table[name]) for name in table.columns), strict=True))


def _cells(column: pd.Series[Any]) -> Iterable[Any]:
    values = column.tolist()
    return ("" if value != value else value for value in values) if column.dtype.kind == "f" else values


def _write_parquet(table: pd.DataFrame, header: str, path: Path) -> None:
    pa, pq = _parquet("writing")
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    metadata = {**(arrow.schema.metadata or {}), b"evenly": header.encode(), b"writer": MARK.encode()}
    pq.write_table(arrow.replace_schema_metadata(metadata), path, write_page_checksum=True)


def read(path: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a file that `write` wrote; every cell of a CSV file is returned as text.

    Returns
    -------
    DataFrame (n_rows, …), dict
        The table, and the parsed header.

    Raises
    ------
    ReadError
        If the file is not a file of runs, has another format version, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(pd.DataFrame({"cores": [8]}), "{}", Path(folder, "runs.csv"))
    ...     read(Path(folder, "runs.csv"))
    (  cores
    0     8, {})
    """
    table, head = _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
    version, _, header = head.partition(" ")
    if version != str(FORMAT_VERSION):
        raise ReadError(
            path, f"format version {version} is not known: this evenly reads {FORMAT_VERSION}, a newer one may read it"
        )
    fields = json.loads(header)
    if not isinstance(fields, dict):
        raise ReadError(path, "the header is damaged")
    if (rows := fields.get("rows", len(table))) != len(table):
        reason = f"the header says that there are {rows} rows, but there are {len(table)}: the file was cut off"
        raise ReadError(path, f'{reason}, or somebody changed it and must correct "rows" in the header')
    return table, fields


def check_own(path: Path) -> None:
    """Raise `ReadError` for a file that exists and isn't one of runs as evenly wrote it: other text, more columns."""
    if not path.exists():
        return
    try:
        table, header = read(path)
        known = {*header["space"]["parameters"], *header["quantities"], *BOOKKEEPING}
    except (ValueError, LookupError, TypeError) as error:
        reason = error.reason if isinstance(error, ReadError) else "its header is damaged"
        told = f"evenly would write its table of runs here, but did not write this file ({reason})"
        raise ReadError(path, told) from None
    more = [name for name in table.columns if name not in known]
    if more:
        raise ReadError(path, f"evenly would write its table of runs here, but somebody added the column {more[0]!r}")


def _read_csv(path: Path) -> tuple[pd.DataFrame, str]:
    with path.open(encoding="utf-8", newline="") as stream:
        first = stream.readline(10_000_000)
        if not first.startswith(_HEADER):
            raise ReadError(path, "not a runs file of evenly: read it as a table with evenly.read", line=1)
        names, rows = _rows(path, stream)
    cells = list(zip(*rows, strict=True)) or [()] * len(names)
    columns = {decode_text(name): pd.Series(list(x), dtype=object) for name, x in zip(names, cells, strict=True)}
    return pd.DataFrame(columns), first.removeprefix(_HEADER).rstrip("\r\n")


def _rows(path: Path, stream: TextIO) -> tuple[list[str], list[list[str]]]:
    lines = stream.readlines()
    if not lines or not lines[-1].endswith("\n"):
        raise ReadError(path, "the last line has no end: the file was cut off", line=len(lines) + 1)
    reader = csv.reader(lines)
    names = next(reader)
    rows = []
    for row in reader:
        if len(row) != len(names):
            raise ReadError(path, f"{len(names)} cells were expected, got {len(row)}", line=reader.line_num + 1)
        rows.append(row)
    return names, rows


def check_parquet(path: Path) -> None:
    """Raise `ReadError` if a Parquet file is too large to be read as a table, which repeated values hide."""
    _, pq = _parquet("reading")
    about = pq.read_metadata(path)
    check_unpacked(path, _CELL_BYTES * about.num_rows * about.num_columns, ARRAYS_MIB)


def _read_parquet(path: Path) -> tuple[pd.DataFrame, str]:
    _, pq = _parquet("reading")
    check_parquet(path)
    arrow = pq.read_table(path, page_checksum_verification=True)
    header = (arrow.schema.metadata or {}).get(b"evenly")
    if header is None:
        raise ReadError(path, "not a runs file of evenly: read it as a table with evenly.read")
    return arrow.to_pandas(), header.decode()


def _parquet(doing: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(f"{doing} Parquet", extra="parquet") from None
    return pyarrow, pyarrow.parquet
