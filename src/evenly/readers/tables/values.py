"""Cells of a table as values: numbers, labels, durations, seconds. An error names the line."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError, did_you_mean, option_text
from evenly.readers.tables import columns as words
from evenly.readers.tables.number_texts import (
    has_decimal_commas,
    has_decimal_points,
    has_suffix,
    may_be_grouped,
    numbers,
)
from evenly.readers.tables.options import TableOptions
from evenly.readers.tables.repetitions import are_whole
from evenly.readers.tables.roles import is_result, words_of
from evenly.readers.tables.side_by_side import pattern_in
from evenly.readers.tables.states import name_key
from evenly.runs.count_names import kind_of
from evenly.runs.durations import TWO_FIELDS, has_two_fields, is_duration, parse, two_fields_of
from evenly.runs.units import base_unit, to_base
from evenly.space.expressions import Expression, quoted, unlike

__all__ = ["Values"]


_VERSION_WORDS = frozenset({
    "version", "versions", "ver", "release", "revision", "module", "modules", "modul", "tag",
})  # fmt: skip
#: Programs whose columns hold versions, if these repeat: times of each of them would not.
_PROGRAMS = frozenset({
    "openmpi", "ompi", "mpich", "mvapich", "mvapich2", "impi", "ucx", "gcc", "gfortran", "icc", "ifort", "clang",
    "llvm", "compiler", "cuda", "rocm", "mkl", "fftw", "petsc", "hdf5", "netcdf", "kernel", "slurm", "os",
})  # fmt: skip
#: Spaces at which no line may break, as between groups of digits.
_THIN_SPACE = re.compile("[\u00a0\u2009\u202f]")
#: A number, perhaps with groups of digits, and a unit of time.
_WITH_UNIT = re.compile(r"(?P<number>\d[\d.,]*|\d{1,3}(?: \d{3})+(?:[.,]\d+)?)\s*(?P<unit>[A-Za-zµμí]+)")
#: A part of a node, or of a GPU.
_SHARE = re.compile(r"\d*[.,]\d+|\d+/\d+")
_VERSION = re.compile(r"[1-9]\d?(\.\d{1,2})*")
_SHORT, _ENDS_IN_ZERO = re.compile(r"\d\.\d"), re.compile(r"\d\.\d0")
#: Not a number of minutes: ``2M`` beside ``12k``.
_MILLIONS = re.compile(r"\d+(\.\d+)? ?[kKmMG]")


class Values:
    """The values in the cells of one table.

    Parameters
    ----------
    options : TableOptions
        What the user said.
    path : Path
        The file, for messages.
    cells : DataFrame (n_rows, n_columns)
        Stripped text.
    lines : array (n_rows,)
        The line of each row.
    units : mapping of str to str, optional
        The units that stood in the cells of a column, or in a row below its name.
    semicolons : bool
        Whether semicolons stand between the cells, as where commas are decimal marks.
    typed : bool
        Whether the file tells numbers from text, see `Cells`.
    around : sequence of str
        The lines above and below the table.
    headings : mapping of int to sequence of str
        The lines of text right above rows, by the first line of each block, see `headings_between`.

    Examples
    --------
    >>> cells = pd.DataFrame({"cores": ["8", "1e3"], "Elapsed": ["1:02:00", "12:30"]})
    >>> values = Values(TableOptions(), Path("runs.csv"), cells, np.array([2, 3]))
    >>> values.parameter("cores").tolist(), values.seconds("Elapsed", "s").tolist()
    ([8, 1000], [3720.0, 750.0])
    """

    def __init__(
        self,
        options: TableOptions,
        path: Path,
        cells: pd.DataFrame,
        lines: NDArray[np.int64],
        units: Mapping[str, str] = MappingProxyType({}),
        *,
        semicolons: bool = False,
        typed: bool = False,
        around: Sequence[str] = (),
        headings: Mapping[int, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        self.options: Final = options
        self.path: Final = path
        self.cells = cells
        self.lines = lines
        #: Which block each row is in, where lines that are no rows part them.
        self.blocks = _blocks_of(lines)
        self.units: Final = units
        self.around: Final = around
        self.headings: Final = headings
        auto = options.decimal == "auto"
        self._commas: Final = auto and has_decimal_commas(cells)
        self._may_have_commas: Final = self._commas or (auto and semicolons and not has_decimal_points(cells))
        others = cells[[name for name in cells.columns if not words_of(str(name)) & (_VERSION_WORDS | _PROGRAMS)]]
        # Beside decimal points, a comma between groups of three digits is no decimal one.
        points = not typed and has_decimal_points(others)
        self._decimal: Final = "." if auto and not self._commas and points else options.decimal
        self._typed: Final = typed
        self._known: dict[str, NDArray[np.float64]] = {}
        self._blank: dict[str, NDArray[np.bool_]] = {}

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Keep some of the rows, bool of shape (n_rows,)."""
        self.cells = self.cells[mask].reset_index(drop=True)
        self.lines, self.blocks = self.lines[mask], self.blocks[mask]
        self._known, self._blank = {}, {}

    def replace(self, name: str, texts: Sequence[str]) -> None:
        """Replace the cells of a column, (n_rows,)."""
        self.cells = self.cells.assign(**{name: pd.Series(texts, index=self.cells.index, dtype=object)})
        self._known.pop(name, None)
        self._blank.pop(name, None)

    def require(self, names: Sequence[str], option: str) -> None:
        """Refuse names of columns that the table doesn't have; `option` is the one that names them."""
        missing = [name for name in names if name not in self.cells.columns]
        if missing:
            typed = {"quantities": "--quantity", "status": "-O status"}.get(option, f"--{option}")
            raise ReadError(
                self.path,
                f"{option}= ({typed}) names the column {missing[0]!r}, but there are only "
                f"{', '.join(map(repr, self.cells.columns))}{did_you_mean(missing[0], self.cells.columns)}",
            )

    def holding(self, condition: Expression) -> NDArray[np.bool_]:
        """Return the rows for which a condition holds, bool of shape (n_rows,).

        Raises
        ------
        ReadError
            If it names a column that isn't there, or holds for no row.
        """
        self.require(sorted(condition.names), "where")
        columns = {name: self._values_or_text(name, condition.texts.get(name, ())) for name in condition.names}
        mask = np.broadcast_to(condition(columns), (len(self.cells),)).astype(np.bool_)
        if not mask.any():
            raise ReadError(self.path, f"no row is left by where={condition.text!r}")
        return mask

    def _values_or_text(self, name: str, compared: Collection[str]) -> NDArray[Any]:
        """Return a column's values; its text where words stand among numbers, which a condition may leave out.

        Its text, too, where it is only `compared` with texts that stand in it, as ``"80M"``.
        """
        if compared and {*compared} <= {*self.texts(name)}:
            return self.cells[name].to_numpy(dtype=object)
        if self.some_have_none(name):
            return self.numbers(name)
        try:
            return self.parameter(name).to_numpy()
        except ReadError:
            return self.cells[name].to_numpy(dtype=object)

    def unit_of_time(self, name: str) -> str:
        """Return the unit of time that stood in the cells of a column or in a row below its name; else nothing."""
        unit = self.units.get(name, "")
        return unit if unit and base_unit(unit) == "s" else ""

    def texts(self, name: str) -> list[str]:
        """Return the cells of a column, (n_rows,)."""
        found: list[str] = self.cells[name].tolist()
        return found

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column's numbers, (n_rows,); NaN where a cell is none."""
        if name not in self._known:
            # Beside decimal commas, the comma of what was measured is one, too: nobody needs to be asked about it.
            is_measured = is_result(name) or (words.measured(name) and not self._have_points(name))
            decimal = "," if self._commas and is_measured else self._decimal
            self._known[name] = numbers(
                self.path, name, self.cells[name], self.lines, decimal=decimal,
                whole=bool(kind_of(name)), commas=self._may_have_commas,
            )  # fmt: skip
        return self._known[name]

    def _have_points(self, name: str) -> bool:
        """Tell whether points in a column may stand between groups of digits: those of typed numbers don't."""
        return any(may_be_grouped(cell) if self._typed else True for cell in self.cells[name] if "." in cell)

    def blank(self, name: str) -> NDArray[np.bool_]:
        """Tell which cells of a column hold no number but nothing, or a word for nothing: ``NA``, ``-``."""
        if name not in self._blank:
            found = [cell.lower() in words.NO_TIME for cell in self.cells[name]]
            self._blank[name] = np.array(found, dtype=np.bool_)
        return self._blank[name]

    def is_numeric(self, name: str) -> bool:
        """Tell whether more than half of a column's cells are numbers."""
        if name in self.options.categories or self._are_versions(name) or self.some_have_none(name):
            return False
        found = int(np.isfinite(self.numbers(name)).sum())
        return found * 2 > int((~self.blank(name)).sum())

    def is_label(self, name: str) -> bool:
        """Tell whether no cell of a column begins with a number: it holds no times, whatever their unit."""
        return not any(cell.lstrip("~≈<>.+- ")[:1].isdigit() for cell in self.cells[name])

    def some_have_none(self, name: str) -> bool:
        """Tell whether a column counts GPUs and some runs, not all, had none: these follow another law."""
        if kind_of(name) != "gpus":
            return False
        none = self.numbers(name) == 0
        return bool(none.any() and not none.all())

    def _are_versions(self, name: str) -> bool:
        """Tell whether a column holds versions, of which 1.1 and 1.10 are two.

        So it does by its name, or where 1.10 stands beside 1.9: as numbers, both would have as many digits.
        """
        its_words = set(name_key(name).split("_"))
        if its_words & _VERSION_WORDS:
            return any("." in cell for cell in self.cells[name])
        if not len(self.cells) or _VERSION.fullmatch(self.cells[name].iloc[0]) is None:  # as in most columns
            return False
        distinct = set(self.cells[name])
        if 2 * len(distinct) > len(self.cells) or not all(map(_VERSION.fullmatch, distinct)):
            return False
        if its_words & _PROGRAMS:
            return any("." in cell for cell in distinct)
        return any(map(_SHORT.fullmatch, distinct)) and any(map(_ENDS_IN_ZERO.fullmatch, distinct))

    def are_durations(self, name: str) -> bool:
        """Tell whether a column holds durations as ``1:02:03`` or ``3 min``, and nothing else."""
        texts = (cell.lstrip("> ") for cell in self.cells[name] if cell.lower() not in words.NO_TIME)
        first = next(texts, "")  # no other cell is looked at in most columns
        return is_duration(first) and all(map(is_duration, texts))

    def are_suffixed(self, name: str) -> bool:
        """Tell whether all cells of a column are numbers like ``2M``: millions where no name says that it is a time.

        Raises
        ------
        ReadError
            If they are like ``2m``, which may be minutes, too.
        """
        texts = [cell for cell in self.cells[name] if cell.lower() not in words.NO_TIME]
        if not texts or not all(map(_MILLIONS.fullmatch, texts)):
            return False
        for row, cell in enumerate(self.cells[name]):
            if cell.endswith("m"):
                raise self.at(row, f"{cell!r} in column {name!r} may be minutes or millions: write min or M")
        return True

    def parameter(self, name: str) -> pd.Series[Any]:
        """Return a column as whole numbers, numbers or labels, (n_rows,); blank cells stay NaN or empty."""
        cells = self.cells[name]
        if not self.is_numeric(name):
            return cells
        values = self.numbers(name)
        wrong = np.flatnonzero(~np.isfinite(values) & ~self.blank(name))
        if len(wrong):
            row = int(wrong[0])
            cell = cells.iloc[row]
            raise self.at(
                row,
                f"a number was expected in column {name!r}, as in most rows, but got {cell!r}: correct it, leave such "
                f"rows out with where= ({self.options.with_where(unlike(name, cell))}), or pass categories=[{name!r}] "
                f"({option_text('-O', f'categories={name}')}) if the column holds labels",
            )
        return pd.Series(values.astype(np.int64) if are_whole(values) else values, index=cells.index)

    def check_counts(self, name: str) -> None:
        """Refuse cores, ranks, … that are no whole numbers above zero, unless the column holds labels."""
        if not kind_of(name) or name in self.options.categories:
            return
        values, filled = self.numbers(name), ~self.blank(name) | (self.cells[name] == "nan").to_numpy()
        if np.isfinite(values).sum() * 2 < filled.sum():
            return
        least = 0 if kind_of(name) == "gpus" else 1  # some runs use none
        fine = np.isfinite(values) & (values >= least) & (values == np.round(values))
        filled |= np.isinf(values)
        wrong = np.flatnonzero(~fine & filled)
        if len(wrong):
            row = int(wrong[0])
            reason = f"{name!r} must be a whole number above zero, but got {self.cells[name].iloc[row]!r}"
            if kind_of(name) in ("nodes", "gpus") and _SHARE.fullmatch(self.cells[name].iloc[row]):
                reason += f" (for parts of {name}, count what they are made of, as cores, in that column)"
            way = self.options.with_where(self._without(name, wrong)) if self.is_numeric(name) else "--where"
            if pattern := pattern_in(self.cells.columns):  # 16 cores, 32 cores
                way = f"{way}; if these columns hold times, say so with {option_text('--time', pattern)}"
            may_be_title = self.cells[name].iloc[row][:1].isalpha() and row + 1 < len(self.cells)
            title = "; if it tells what the rows below it are, give that a column of its own" if may_be_title else ""
            raise self.at(row, f"{reason}: correct it, or choose rows with where= ({way}){title}")

    def _without(self, name: str, wrong: NDArray[np.int64]) -> str:
        """Return a condition that leaves out the cells of some rows; words can't be compared with numbers."""
        found = dict.fromkeys(self.cells[name].iloc[wrong])
        values = self.numbers(name)[wrong]
        if np.isfinite(values).all():
            parts = np.unique(values[values > 0]).tolist()
            return " and ".join(f"{quoted(name)} != {part:g}" for part in parts) or f"{quoted(name)} > 0"
        return " and ".join(unlike(name, cell) for cell in found)

    def said_of(self, names: Sequence[str]) -> list[str]:
        """Return a note for each column with cells like ``12k``, and for each that holds versions."""
        versions = [name for name in names if name not in self.options.categories and self._are_versions(name)]
        some = [name for name in names if name not in self.options.categories and self.some_have_none(name)]
        said = [f"{name!r} holds versions: labels, of which 1.1 and 1.10 are two" for name in versions] + [
            f"{name!r} is 0 in some runs, which follow another law: its values are labels (numbers if these runs are "
            f"left out, {self.options.with_where(f'{quoted(name)} > 0')})"
            for name in some
        ]
        return said + [
            f"{cell!r} in {name!r} is {numbers(self.path, name, pd.Series([cell]), self.lines[:1])[0]:,.0f}: write the "
            "number where 1024 was meant"
            for name in names
            if self.is_numeric(name) and (cell := has_suffix(self.texts(name)))
        ]

    # ---- times ---------------------------------------------------------------------------------------------

    def longer_than(self, name: str) -> NDArray[np.bool_]:
        """Tell which cells say that a run took longer: ``> 3600``."""
        return np.array([cell.startswith(">") for cell in self.cells[name]], dtype=np.bool_)

    def seconds(self, name: str, unit: str) -> NDArray[np.float64]:
        """Return the seconds in a column, (n_rows,); NaN where a cell holds none.

        Parameters
        ----------
        name : str
            The column.
        unit : str
            The unit of plain numbers, or what ``12:30`` means: ``mm:ss`` or ``hh:mm``.

        Raises
        ------
        ReadError
            If that isn't known.
        """
        texts = [cell.lstrip(">= ") for cell in self.cells[name]]
        column = pd.Series(texts, dtype=object)
        values = (
            self.numbers(name)
            if texts == self.texts(name)
            else numbers(self.path, name, column, self.lines, decimal=self._decimal)
        )
        plain = "s" if unit in TWO_FIELDS else unit
        known = np.isfinite(values) & (values > 0)
        found = np.where(known, to_base(np.where(known, values, 1.0), plain), values)
        unread = np.flatnonzero(~np.isfinite(values))
        durations = self._without_groups(name, [texts[row] for row in unread], self.lines[unread])
        others = {int(row): text for row, text in zip(unread, durations, strict=True) if is_duration(text)}
        two = self._two_fields(name, unit, list(others.values()))
        found[list(others)] = [parse(text, two) for text in others.values()]
        return found

    def _without_groups(self, name: str, texts: list[str], lines: NDArray[np.int64]) -> list[str]:
        """Return durations with a unit, as ``1,477 s``, without marks between groups of digits; ask what ``,`` is.

        Raises
        ------
        ReadError
            If it may be one between thousands or a decimal one.
        """
        texts = [_THIN_SPACE.sub(" ", text) for text in texts]
        found = [_WITH_UNIT.fullmatch(text) for text in texts]
        if not any(match and re.search("[., ]", match["number"]) for match in found):
            return texts
        parts = pd.Series([match["number"].replace(" ", "") if match else "" for match in found], dtype=object)
        # Who writes 610 s beside 1.204 s may mean thousands, too.
        commas = self._may_have_commas or any(len(part) > 2 and part.isdigit() for part in parts)
        plain = numbers(self.path, name, parts, lines, decimal=self._decimal, commas=commas)
        return [
            f"{value!r} {match['unit']}" if match and np.isfinite(value) else text
            for text, match, value in zip(texts, found, plain.tolist(), strict=True)
        ]

    def _two_fields(self, name: str, unit: str, texts: Sequence[str]) -> Any:
        """Return what ``12:30`` means: by the user, the column's name, its unit, or other cells."""
        open_ones = [text for text in texts if has_two_fields(text)]
        compact = name.lower().replace(" ", "")
        named: dict[str, str] = {"mm:ss": "mm:ss", "m:ss": "mm:ss", "h:mm)": "hh:mm", "h:mm]": "hh:mm"}
        told = unit if unit in TWO_FIELDS else next((value for key, value in named.items() if key in compact), "")
        told = told or {"min": "mm:ss", "h": "hh:mm"}.get(unit, "") or (two_fields_of(texts) or "")
        if open_ones and not told:
            row = self.texts(name).index(next(cell for cell in self.cells[name] if cell.endswith(open_ones[0])))
            raise self.at(
                row,
                f"{open_ones[0]!r} in column {name!r} may be minutes and seconds or hours and minutes: pass "
                "unit='mm:ss' or unit='hh:mm' (--unit mm:ss or --unit hh:mm)",
            )
        return told or None

    def at(self, row: int, reason: str) -> ReadError:
        """Return the error of one row."""
        return ReadError(self.path, reason, line=int(self.lines[row]))


def _blocks_of(lines: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the block of each row, from 0: lines between rows part them.

    Examples
    --------
    >>> _blocks_of(np.array([2, 3, 4, 8, 9]))
    array([0, 0, 0, 1, 1])
    """
    return np.concatenate([[0], np.cumsum(np.diff(lines) > 1)])[: len(lines)].astype(np.int64)
