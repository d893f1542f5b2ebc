"""A model of any parameters as a model of cores: for allocation, whose answer is a number of cores.

>>> import evenly, pandas as pd
>>> rows = [{"nodes": n, "ppn": p, "seconds": 96 / (n * p)} for n in (1, 2, 4) for p in (24, 48)]
>>> model = evenly.fit(evenly.Runs.from_frame(pd.DataFrame(rows), ["nodes", "ppn"]), method="power-law")
>>> ocean = evenly.by_cores(model, "nodes * ppn", at={"ppn": 48})
>>> evenly.allocate({"ocean": ocean}, cores=200).cores
{'ocean': 192}
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.core_counts.failures import outcomes_of
from evenly.errors import InputError
from evenly.models.base import Model
from evenly.runs.cores import Cores, constants, find_cores
from evenly.runs.count_names import kind_of
from evenly.space.configurations import as_table
from evenly.space.expressions import quoted
from evenly.space.parameters import Categorical, Integer
from evenly.space.ranges import ends
from evenly.space.space import Configurations, Space

__all__ = ["ByCores", "by_cores", "check_whole", "ways"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The largest value of a parameter that is tried to make a number of cores.
_LARGEST = 2**22


class ByCores:
    """A fitted model whose first parameter is the number of cores, as `by_cores` returns it.

    It predicts as a `Model` does, from a table with a column named like `cores_name_`.

    Attributes
    ----------
    cores_name_ : str
        The expression of the cores, which is the name of the first parameter.
    feature_names_in_ : array of str (n_parameters,)
        That name, and the model's parameters that the expression doesn't use.
    space_ : Space
        Their ranges.
    """

    def __init__(self, model: Model, cores: Cores, varied: str, fixed: Mapping[str, Any]) -> None:
        self.model, self.cores, self.varied = model, cores, varied
        self.fixed = {name: fixed[name] for name in cores.names if name != varied}
        others = [name for name in model.space_.names if name not in cores.names]
        self.cores_name_ = cores.text
        self.feature_names_in_ = np.array([self.cores_name_, *others], dtype=object)
        kinds = model.space_.parameters
        low, high = cores.of({varied: np.array(ends(kinds[varied])), **self.fixed}, 2)
        self.space_ = Space.of(
            {self.cores_name_: Integer(int(low), int(high), scale="log"), **{name: kinds[name] for name in others}}
            if np.isfinite([low, high]).all()
            else {self.cores_name_: kinds[varied], **{name: kinds[name] for name in others}}
        )

    def __getattr__(self, name: str) -> Any:
        # A formula, and what follows from it, are functions of the parameter itself.
        if name.startswith("__") or (name in ("formula_", "monotone_pieces") and not self.cores.is_one_parameter):
            raise AttributeError(name)
        return getattr(self.__dict__["model"], name) if "model" in self.__dict__ else None

    def __repr__(self) -> str:
        return f"by_cores({self.model!r}, {self.cores_name_!r}, at={self.fixed!r})"

    def predict(self, X: Configurations) -> Floats:
        """Predict the value of each configuration, in the model's unit."""
        return self.model.predict(self._inner(X))

    def interval(self, X: Configurations, level: float = 0.9) -> tuple[Floats, Floats]:
        """Return the prediction interval of each configuration."""
        return self.model.interval(self._inner(X), level)

    def fail(self, X: Configurations) -> NDArray[np.bool_]:
        """Tell for which configurations, (n,), all runs failed, or, where none was made, all around them."""
        return outcomes_of(self.model).fail(self._inner(X))

    def counts(self, most: int) -> Ints | None:
        """Return the core counts up to `most` that the varied parameter can make; None if it makes all."""
        return None if self.cores.is_one_parameter else np.unique(ways(self.cores, self.varied, self.fixed, most)[1])

    def way(self, cores: int) -> dict[str, Any]:
        """Return the parameters that make so many cores.

        Raises
        ------
        InputError
            If nothing makes them.
        """
        row = self._inner({self.cores_name_: [cores]}).iloc[0]
        return {name: row[name] if isinstance(row[name], str) else int(row[name]) for name in self.cores.names}

    @property
    def cores_per_task(self) -> int:
        """The cores, or threads, of each task.

        Raises
        ------
        InputError
            If it isn't known which parameters are the tasks.
        """
        return self.cores_of_task(1)

    def cores_of_task(self, cores: int) -> int:
        """Return the cores, or threads, of each task where there are so many `cores`; the errors are those above."""
        kind = kind_of(self.varied)
        if self.cores.is_one_parameter and kind != "per rank":
            return 1
        made = float(self.cores.of({self.varied: 1, **self.fixed}, 1)[0])
        fixed = {kind_of(name): int(value) for name, value in self.fixed.items()}
        per_node, ranks = fixed.get("per node", 1), fixed.get("ranks", 1)
        each = {
            "ranks": made,
            "nodes": made / per_node if per_node > 1 else math.nan,
            "per node": made / fixed["nodes"] if "nodes" in fixed else math.nan,
            "per rank": cores / ranks if set(fixed) <= {"ranks"} else math.nan,
        }.get(kind or "", math.nan)
        if not each.is_integer():
            raise InputError(
                f"the cores are {self.cores_name_}, which doesn't tell how many tasks (MPI ranks) they have"
                f"{self._way_of_tasks(kind, made)}"
            )
        return int(each)

    def _way_of_tasks(self, kind: str | None, made: float) -> str:
        """Return what tells the tasks of a node, where the cores are a number of those of a node."""
        if kind != "nodes" or self.fixed or not made.is_integer():
            return ""
        way = f"--constant ranks_per_node={made:g} --cores-are {shlex.quote(f'{quoted(self.varied)} * ranks_per_node')}"
        return f": with one on each core, say {way}"

    def _inner(self, X: Configurations) -> pd.DataFrame:
        table = as_table(X).copy()
        counts = table.pop(self.cores_name_).to_numpy()
        if self.cores.is_one_parameter:
            return table.assign(**{self.varied: counts})
        values, made = ways(self.cores, self.varied, self.fixed, int(np.max(counts, initial=1)))
        order = np.argsort(made, kind="stable")
        place = np.minimum(np.searchsorted(made[order], counts), max(len(made) - 1, 0))
        wrong = counts if not len(made) else counts[made[order][place] != counts]
        if len(wrong):
            raise InputError(f"no {self.varied} makes {wrong[0]} cores, which are {self.cores_name_} with {self.fixed}")
        return table.assign(**{self.varied: values[order][place], **self.fixed})


@explained
def by_cores(model: Model, cores_are: str | None = None, *, at: Mapping[str, Any] | None = None) -> Any:
    """Return a model as a model of cores, for `evenly.allocate`.

    Parameters
    ----------
    model : Model
        A fitted model.
    cores_are : str, optional
        What the cores are, as an expression of the parameters: ``"nodes * tasks_per_node"``. By default the parameter
        whose name says so unmistakably.
    at : mapping, optional
        Values of the parameters in the expression, for all but the one that may vary. Those that never varied in the
        measurements keep their value.

    Raises
    ------
    InputError
        If it is open what the cores are, or not exactly one parameter of the expression is left to vary.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"p": [1, 2, 4], "seconds": [8.0, 4.0, 2.0]})
    >>> model = evenly.fit(evenly.Runs.from_frame(table, ["p"]), method="power-law")
    >>> evenly.by_cores(model, "p").predict({"p": [2]}).round(6)
    array([4.])
    """
    cores = find_cores(model.space_, cores_are)
    given = {**constants(model.space_), **(at or {})}
    left = [name for name in cores.names if name not in given] or [n for n in cores.names if n not in (at or {})][:1]
    if not left:
        raise InputError(f"the cores are {cores.text!r}, all of which `at` fixes: leave one of them open")
    if len(left) > 1:
        others = [name for name in left if name != left[0]]
        raise InputError(
            f"the cores are {cores.text!r}, but an assignment of cores varies one parameter: give a value for all but "
            f"one of {', '.join(left)}, as in {' '.join(f'--at {name}=…' for name in others)}"
        )
    kind = model.space_.parameters[left[0]]
    if isinstance(kind, Categorical):
        raise InputError(f"{left[0]!r} must be a number to count cores, but it has the labels {kind.describe()}")
    return ByCores(model, cores, left[0], given)


def ways(cores: Cores, varied: str, fixed: Mapping[str, Any], most: int) -> tuple[Ints, Ints]:
    """Return the whole values (n,) of a parameter that make at most `most` cores, and the cores (n,) that they make.

    Examples
    --------
    >>> ways(Cores("nodes * ppn"), "nodes", {"ppn": 24}, 100)
    (array([1, 2, 3, 4]), array([24, 48, 72, 96]))
    """
    check_whole(most)
    largest = most
    while largest < _LARGEST and float(cores.expression({varied: largest, **fixed})) <= most:
        largest *= 2
    values = np.arange(1, largest + 1, dtype=np.int64)
    made = cores.of({varied: values, **fixed}, len(values))
    fits = made <= most
    return values[fits], made[fits].astype(np.int64)


def check_whole(most: int) -> None:
    """Refuse more cores than can be tried one by one."""
    if not 1 <= most <= _LARGEST:
        raise InputError(f"core counts must lie between 1 and {_LARGEST}, but got {most}")
