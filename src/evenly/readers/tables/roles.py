"""Roles of a table's columns: what each column is, and why it is taken for that.

A parameter was chosen before a run. An outcome came out of it (speed-up, efficiency, cost, a rate beside the time), so
a model that learned from it would know the answer: it is no parameter unless the user names it. The same holds for an
identifier (job, user, node list, date, path) and for a column with one value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.readers.tables.columns import STATISTICS, is_rate, unit_of_time
from evenly.readers.tables.per_work import with_short_rate
from evenly.readers.tables.states import name_key
from evenly.runs.count_names import kind_of, was_requested, was_used
from evenly.runs.runs import Runs
from evenly.space.space import Space

__all__ = [
    "ASSUMED",
    "A_WISH",
    "ENOUGH",
    "NAMED",
    "ONE_VALUE",
    "Column",
    "Role",
    "are_counted",
    "are_round",
    "bounds_time",
    "columns_of",
    "have_many_digits",
    "is_count",
    "is_limit",
    "is_memory",
    "is_outcome",
    "is_result",
    "is_statistic",
    "is_summed",
    "is_usage",
    "look_measured",
    "only",
    "settle",
    "words_of",
]  # fmt: skip

Role = Literal[
    "parameter", "time", "quantity", "outcome", "state", "identifier", "constant", "solver", "repetition", "left out"
]


#: Why a column is a parameter that the user named.
NAMED = "named in parameters= (--parameters)"
#: Why a column is left out that says what was asked for.
A_WISH = "a limit or a wish, which was not measured"
#: Why a column is a constant; the value follows.
ONE_VALUE = "one value: "
#: Why a column is the time, at its end, if nothing tells its unit.
ASSUMED = ", in seconds (assumed: --unit)"
#: Why a column of another format is one.
BY_FORMAT = "its format says so"


@dataclass(frozen=True)
class Column:
    """What a column of a table is taken for.

    Parameters
    ----------
    name : str
        Its name in the file.
    role : str
        ``"time"`` is what models learn, ``"quantity"`` another measured one that they can learn; only
        ``"parameter"`` is an input of models.
    why : str
        The reason, in a few words.
    unit : str
        The unit of the values in the file, where it is known.
    days : float, optional
        The simulated days that each time is of, where a column beside it tells.

    Examples
    --------
    >>> Column("speedup", "outcome", "its name").role
    'outcome'
    """

    name: str
    role: Role
    why: str
    unit: str = ""
    days: float | None = None

    @property
    def only_value(self) -> str:
        """The value of a constant column; "" of others."""
        return self.why.removeprefix(ONE_VALUE) if self.why.startswith(ONE_VALUE) else ""


#: In so many rows, a column can be told from chance; below, only its name counts.
ENOUGH = 6
#: Words of names that only a result has.
_OUTCOMES = frozenset({
    "kernstunden", "kernh", "acc", "wer", "bleu", "perplexity", "kosten", "coût", "cout", "eur", "usd",
    "costo", "coste", "costi", "custo", "precio", "prezzo",
    "effizienz", "beschleunigung", "efficacité", "efficacite", "accélération", "eficiencia", "aceleración",
    "efficienza",
    "speedup", "speedups", "efficiency", "eff", "gflops", "mflops", "tflops", "pflops", "gflop", "mflop", "tflop",
    "flops", "sypd", "sdpd", "asypd", "chsy", "chpsy", "mlups", "glups", "mips", "teps", "gteps", "mteps", "imbalance",
    "utilisation", "utilization", "residual", "residuals", "misses", "loss", "rmse", "accuracy", "percent",
    "fom", "karp", "flatt", "gustafson", "utilized", "utilised", "price", "billing", "bill", "billed", "prix", "preis",
    "przyspieszenie", "rendimiento", "rendement", "wirkungsgrad",
    "rendimento", "desempenho", "hızlanma", "verim", "co2", "carbon", "faster", "accel", "acceleration",
    "edp", "walltimeratio", "slowdown", "overhead", "gc", "amdahl", "qps", "tps", "iops",
    "charged", "charge", "su", "sus", "ipc", "cpi", "relative", "normalized", "normalised", "normed",
    "scalability", "skalierbarkeit", "aceleração", "eficiência", "accelerazione", "razão",
    "plaquette", "acceptance", "mfu", "hfu", "genauigkeit", "ticks", "procticks", "perf", "performance",
})  # fmt: skip
_OUTCOME_NAMES = frozenset({
    "vs_serial", "vs_base", "vs_baseline", "scaling", "strong_scaling", "weak_scaling", "parallel_scaling",
    "ideal", "linear", "ideal_speedup", "linear_speedup", "ideal_time", "linear_time", "ideal_scaling",
    "linear_scaling",
    "top_1", "top_5", "top1", "top5", "power_w", "heures_cœur", "heures_coeur", "temps_cpu", "cpu_zeit",
    "speed_up", "parallel_eff", "core_hours", "cpu_hours", "node_hours", "gpu_hours", "corehours", "cpuhours",
    "nodehours", "gpuhours", "core_h", "coreh", "cpuh", "nodeh", "gpuh",
    "cpu_h", "node_h", "core_seconds", "cpu_seconds", "core_sec", "ns_day", "ns_per_day", "queue_time", "queuetime",
    "wait_time", "waiting_time", "waiting", "waited", "queued", "time_in_queue", "max_rss", "maxrss", "ave_rss",
    "max_vms", "max_uss", "max_pss", "io_in", "io_out", "mean_load", "h_m_s",
    "total_cpu", "totalcpu", "cputime", "cpu_time", "cputimeraw", "cpu_time_raw", "consumed_energy", "gb_s", "mb_s",
    "gib_s", "flop_s", "scaling_efficiency", "steps_per_second", "iterations_per_second", "std_dev",
    "sys", "sys_time", "system_time", "user_time", "utime", "stime", "loadavg", "load_avg", "load_average",
})  # fmt: skip
#: Words that results have, and sometimes parameters: they count where the values look measured.
_MAYBE_OUTCOMES = frozenset({
    "error", "err", "cost", "costs", "energy", "power", "watts", "watt", "joules", "rate", "throughput", "bandwidth",
    "wait", "overhead", "loss", "speed", "gain", "ratio", "percent", "latency", "fps",
    "ops", "usage", "load", "drag", "lift", "scf", "leistung", "verbrauch", "énergie", "puissance",
    "energie", "energía", "energia", "consommation", "consumo", "fraction",
})  # fmt: skip
#: Nobody types larger numbers without zeros at their end.
_LARGE = 1e5
#: Words of errors, which may be the same in many runs.
_ERRORS = frozenset({"error", "err", "l2", "linf", "rmse", "mae", "deviation", "misfit", "fehler", "erreur"})
#: Words of the power that a run draws, and those that tell of what was set.
_POWER = frozenset({"power", "watts", "watt", "leistung", "puissance", "potencia"})
_CHOSEN = frozenset({"cap", "capped", "budget", "set", "setting", "target", "level", "of", "max", "grenze"})
_MEMORY = frozenset({
    "memory", "mem", "rss", "footprint", "resident", "allocs", "allocations", "speicher", "arbeitsspeicher", "mémoire",
})  # fmt: skip
#: Statistics of a time beside a time.
_STATISTIC_NAMES = frozenset({
    "mean", "avg", "average", "median", "min", "max", "minimum", "maximum", "sd", "iqr", "cv", "var", "sigma", "p50",
    "p90", "p95", "p99", "q1", "q3", "samples", "best", "fastest", "slowest",
    "mittel", "mittelwert", "durchschnitt", "moyenne", "moy", "médiane", "media", "promedio", "mediana", "média",
})  # fmt: skip
#: Words of statistics of anything, beside another word: ``avg_comm``.
_AVERAGES = frozenset({"mean", "avg", "average", "median", "min", "max", "std", "stddev", "sd"})
#: Words that, with a per cent sign, are the share of a run's time, and no setting.
_SHARES = frozenset({
    "cpu", "comm", "communication", "mpi", "io", "idle", "wait", "user", "sys", "system", "busy", "time", "compute",
    "gpu", "load", "total",
})  # fmt: skip
_ITERATIONS = frozenset({"iterations", "iters", "niter", "niters", "nits", "its", "cycles", "scf"})
_LIMIT_NAMES = frozenset({
    "max_laufzeit", "maximale_laufzeit", "laufzeitlimit", "laufzeit_limit", "beantragte_zeit", "angeforderte_zeit",
    "temps_limite", "temps_demandé", "temps_max", "tiempo_límite", "tiempo_limite", "tiempo_solicitado",
    "tempo_richiesto", "tempo_massimo", "tijdslimiet", "limit_czasu", "límite",
    "req'd_time", "runlimit", "run_limit",
    "req_walltime", "walltime_req", "req_time", "reqtime", "zeitlimit", "zeitgrenze", "zeitvorgabe", "limite",
    "limite_de_temps", "limite_de_tiempo", "límite_de_tiempo", "limite_di_tempo", "tempo_limite", "allocated_time",
    "time_budget",
})  # fmt: skip
#: Words of a limit, and those that a limit of time may have beside them.
_LIMITS = frozenset({
    "limit", "requested", "timelimit", "beantragt", "beantragte", "angefordert", "angeforderte", "demandé", "demandée",
    "solicitado", "solicitada", "pedido", "pedida", "richiesto", "richiesta", "aangevraagd", "aangevraagde",
})  # fmt: skip
_OF_TIME = _LIMITS | {
    "time", "times", "wall", "walltime", "wallclock", "clock", "job", "run", "runtime", "elapsed", "max", "maximum",
    "maximal", "hard", "soft", "upper", "queue", "partition", "slurm", "pbs", "batch", "scheduler", "user", "by", "of",
    "the", "in", "s", "sec", "secs", "second", "seconds", "ms", "min", "mins", "minute", "minutes", "h", "hr", "hrs",
    "hour", "hours", "d", "day", "days", "raw", "duration", "kill", "timeout",
    "resource", "list", "wandzeit", "laufzeit", "zeit", "rechenzeit", "dauer", "durée", "temps", "tiempo", "tempo",
    "duración", "duração", "durata", "tijd", "looptijd",
}  # fmt: skip
_MOST_TIME = frozenset(
    {"max_walltime", "max_wall_time", "max_wallclock", "walltime_max", "maximum_walltime", "maxtime"}
)
_COUNT_WORDS = frozenset({
    "core", "rank", "proc", "process", "processes", "processors", "thread", "task", "node", "gpu", "cpu", "cores",
    "ranks", "tasks", "procs", "threads", "nodes", "gpus", "cpus", "np", "nproc", "nprocs", "ntasks", "nranks",
    "ncores", "pes", "p", "n", "m", "k", "size", "cells", "elements", "points", "particles", "atoms", "dofs", "dof",
    "unknowns", "level", "order", "degree", "resolution", "dx", "dy", "dz", "dt", "h", "step", "tol", "tolerance",
})  # fmt: skip
#: What Grid Engine tells of a job beside ``ru_wallclock``; all that begins with ``ru_`` is of getrusage.
_OF_GRID_ENGINE = frozenset({"cpu", "mem", "io", "iow", "maxvmem", "maxrss", "maxpss"})
#: The time of a piece of work, as ``ms/step``.
_TIME_OF_EACH = re.compile(
    r"(.*[\s_])?(s|sec|seconds?|ms|msec|us|µs|min|h|hours?)(\s*/\s*|[\s_]+per[\s_]+)(?!s\b|min\b|h\b|hour|day)\w+",
    re.IGNORECASE,
)
#: The time of all cores together, also per something.
_SUMMED = re.compile(
    r"((core|node|gpu|cpu|pe)s?[\s_-]*(hours?|hrs?)|(core|node|gpu|pe)s?[\s_-]+(h|s|secs?|seconds?))\b", re.I
)
#: Speed-up and efficiency as in textbooks.
_TEXTBOOK = re.compile(r"[SE]\s*[(_]?\s*[pPnN]\s*\)?")
_UNIT_TAIL = re.compile(r"\s*(\[[^\]]*\]|\([^)]*\))\s*$")


def is_count(column: str) -> bool:
    """Tell whether a name says that something was counted out before the run: cores, ranks, n, a size.

    Examples
    --------
    >>> is_count("cores"), is_count("num_nodes"), is_count("mesh size"), is_count("speedup")
    (True, True, True, False)
    """
    key = name_key(_UNIT_TAIL.sub("", column))
    return (
        bool(kind_of(column))
        or key in _COUNT_WORDS
        or bool(set(key.split("_")) & (_COUNT_WORDS - {"h", "p", "n", "m", "k"}))
    )


def is_outcome(column: str, values: NDArray[np.float64]) -> str:
    """Return why a column is the result of a run, by its name; empty if nothing says so.

    Parameters
    ----------
    column : str
        Its name.
    values : array (n_rows,)
        Its numbers; NaN where there is none.

    Examples
    --------
    >>> is_outcome("Speedup", np.array([1.0, 1.9])), is_outcome("cost", np.array([1.0, 1.0, 2.0]))
    ('its name is that of a result', '')
    """
    if not np.isfinite(values).any():
        return ""
    key = name_key(_UNIT_TAIL.sub("", column))
    words = set(key.split("_"))
    if words & {"cutoff", "limit"} or is_limit(column):
        return ""
    if is_result(column):
        return "its name is that of a result"
    if "%" in column and (words & _SHARES or look_measured(values)):
        return "a share in per cent"
    if was_used(column) and (values % 1 > 0).any():
        return "what was used of the cores, as it was measured"
    if words & _ITERATIONS and are_counted(values, 0.75):
        return "numbers of iterations that nobody would choose: they came out of the runs"
    if words & _MEMORY and are_counted(values):
        return "amounts of memory that nobody would choose: they came out of the runs"
    if may_be_outcome(column) and look_measured(values):
        return "its name is that of a result, and its values look measured"
    if words & (_AVERAGES | {"fraction", "share", "ratio", "pct"}) and words & _SHARES:
        return "its name is that of a statistic, or a share, of a part of the run"
    are_odd = look_measured(values) or have_many_digits(values) or (are_counted(values) and values.max() > _LARGE)
    if words & _AVERAGES and len(words) > 1 and are_odd:
        return "its name is that of a statistic, and its values look measured"
    if words & _ERRORS and have_many_digits(values):
        return "its name is that of an error, and nobody would choose so many digits"
    if words & _POWER and not words & _CHOSEN and len(np.unique(values)) == len(values) > 2:
        return "its name is that of a result, and it differs in all runs"
    return ""


def may_be_outcome(column: str) -> bool:
    """Tell whether a name is that of results, and sometimes of a parameter.

    Examples
    --------
    >>> may_be_outcome("cost [EUR]"), may_be_outcome("mesh")
    (True, False)
    """
    return bool(set(name_key(_UNIT_TAIL.sub("", column)).split("_")) & (_MAYBE_OUTCOMES | _MEMORY))


def is_result(column: str) -> bool:
    """Tell whether a name is that of a result, whatever its values are.

    Examples
    --------
    >>> is_result("Efficiency (%)"), is_result("GB/s"), is_result("cost")
    (True, True, False)
    """
    column = with_short_rate(column)
    key = name_key(_UNIT_TAIL.sub("", column))
    words = set(key.split("_"))
    return (
        is_rate(column)
        or is_summed(column)
        or _TEXTBOOK.fullmatch(column.strip()) is not None
        or _TIME_OF_EACH.fullmatch(column.strip()) is not None
        or (bool(words & {"cpu", "user", "sys"}) and bool(unit_of_time(column)))
        or bool(words & _OUTCOMES)
        or key in _OUTCOME_NAMES
        or words >= {"speed", "up"}
    )


def is_summed(column: str) -> bool:
    """Tell whether a name is that of the time of all cores together, also per something.

    Examples
    --------
    >>> is_summed("core-h/SY"), is_summed("pe-hrs/simulated_year"), is_summed("cores")
    (True, True, False)
    """
    return _SUMMED.match(column) is not None


def is_usage(column: str, columns: Collection[str]) -> bool:
    """Tell whether a column holds what a job used, as Grid Engine accounts it.

    Examples
    --------
    >>> is_usage("cpu", ["slots", "ru_wallclock", "cpu"]), is_usage("cpu", ["cpu", "time"])
    (True, False)
    """
    return "ru_wallclock" in columns and (column in _OF_GRID_ENGINE or column.startswith("ru_"))


def is_memory(column: str) -> bool:
    """Tell whether a name is that of an amount of memory.

    Examples
    --------
    >>> is_memory("MAX_MEM"), is_memory("mesh")
    (True, False)
    """
    return not words_of(column).isdisjoint(_MEMORY)


def is_statistic(column: str) -> bool:
    """Tell whether a name is that of a statistic beside a time.

    Examples
    --------
    >>> is_statistic("std"), is_statistic("time_stddev"), is_statistic("ci_median_left"), is_statistic("time")
    (True, True, True, False)
    >>> is_statistic("count"), is_statistic("object_count")
    (True, False)
    """
    key = name_key(column.replace("%", "")).rstrip("_/")
    words = set(key.split("_")) & (STATISTICS - {"count"})  # object_count is a size
    name = key.rsplit("_", 1)[0] if unit_of_time(column) else key  # min_s
    is_number_of_runs = words_of(column) >= {"time", "count"}
    return name in _STATISTIC_NAMES | STATISTICS or bool(words) or key.startswith("ci_") or is_number_of_runs


def is_limit(column: str) -> bool:
    """Tell whether a name is that of a limit of time, or of a wish, which was not measured.

    Examples
    --------
    >>> is_limit("Timelimit"), is_limit("ReqCPUS"), is_limit("time"), is_limit("power limit [W]")
    (True, True, False, False)
    """
    key = name_key(column)  # Resource_List.ncpus are the cores that a job of PBS had
    is_wish = key.startswith("resource_list") and not kind_of(key.removeprefix("resource_list_"))
    return bounds_time(column) or is_wish or "requested" in words_of(column) or was_requested(column)


def bounds_time(column: str) -> bool:
    """Tell whether a name is that of a limit of the time: no word says that it is one of something else.

    Examples
    --------
    >>> bounds_time("Timelimit"), bounds_time("requested_cores"), bounds_time("bandwidth limit (Gb/s)")
    (True, False, False)
    >>> bounds_time("Zeitlimit (h)"), bounds_time("limite_h"), bounds_time("Limite (MB)")
    (True, True, False)
    """
    key, its = name_key(column), words_of(column)
    bare = name_key(_UNIT_TAIL.sub("", column)).removesuffix(f"_{unit_of_time(column)}")
    asked = bool(its & _LIMITS) or key.startswith("resource_list")
    named = {key, bare} if unit_of_time(column) else {key}
    return (asked and its <= _OF_TIME) or not named.isdisjoint(_LIMIT_NAMES | _MOST_TIME)


def words_of(name: str) -> set[str]:
    """Return the words of a name in lower case, without numbers.

    Examples
    --------
    >>> sorted(words_of("wallTime_2 [s]"))
    ['s', 'time', 'wall']
    """
    return set(re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", "_", name).lower()))


def look_measured(values: NDArray[np.float64]) -> bool:
    """Tell whether numbers look as if measured: nearly all differ, and some are no round numbers."""
    found = values[np.isfinite(values)]
    differ = len(found) >= 3 and len(np.unique(found)) >= 0.7 * len(found)
    return bool(differ) and not are_round(found)


def have_many_digits(values: NDArray[np.float64]) -> bool:
    """Tell whether most numbers have more digits than people choose: at least four, unless they are 1 over a number.

    Examples
    --------
    >>> have_many_digits(np.array([1.373e-4, 2.081e-5])), have_many_digits(np.array([0.0625, 0.015625, 1e-6]))
    (True, False)
    """
    found = np.unique(values[np.isfinite(values) & (values != 0) & (values != np.round(values))]).tolist()
    chosen = [float(f"{one:.3g}") == one or math.isclose(1 / one, round(1 / one), rel_tol=1e-9) for one in found]
    return bool(found) and 2 * sum(chosen) < len(found)


def are_counted(values: NDArray[np.float64], chosen: float = 0.5) -> bool:
    """Tell whether fewer whole numbers than a share are multiples of 5 or powers of 2, as people choose them.

    Examples
    --------
    >>> are_counted(np.array([37, 41, 71.0])), are_counted(np.array([10, 100, 64.0]))
    (True, False)
    """
    found = np.unique(values[np.isfinite(values)])
    plain = [value % 5 == 0 or (value > 0 and math.log2(value) % 1 == 0) for value in found.tolist()]
    return len(found) > 1 and sum(plain) < chosen * len(found)


def are_round(values: NDArray[np.float64]) -> bool:
    """Tell whether half of the numbers are whole or have at most two digits, as people choose them."""
    short = [value == round(value) or float(f"{value:.2g}") == value for value in values.tolist()]
    return bool(2 * sum(short) >= len(short))


def columns_of(runs: Mapping[str, Runs]) -> list[Column]:
    """Return the roles that runs tell, for formats whose readers tell none.

    Examples
    --------
    >>> import pandas as pd
    >>> [column.role for column in columns_of({"": Runs.from_frame(pd.DataFrame({"n": [1], "seconds": [2]}), ["n"])})]
    ['parameter', 'time']
    """
    found: dict[str, Column] = {}
    for one in runs.values():
        for name in one.parameters:
            found.setdefault(name, Column(name, "parameter", BY_FORMAT, one.space.parameters[name].unit))
        for name, unit in one.quantities.items():
            role: Role = "time" if name == one.response else "quantity"
            found.setdefault(name, Column(name, role, BY_FORMAT, unit))
    return list(found.values())


def settle(runs: Mapping[str, Runs], columns: Sequence[Column]) -> tuple[dict[str, Runs], list[Column]]:
    """Leave out of runs the parameters with one value in all files, and return the roles over all files.

    They stay where nothing else varies, and where they say how many cores a rank or a node has: cores are counted so.

    Parameters
    ----------
    runs : mapping of str to Runs
        Those of each solver, from all files.
    columns : sequence of Column
        Those of all files, which may name a column several times.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2], "mesh": ["fine", "fine"], "seconds": [8.0, 4.0]})
    >>> told = [Column("cores", "parameter", ""), Column("mesh", "constant", "one value: fine")]
    >>> settled, told = settle({"": Runs.from_frame(table, ["cores", "mesh"])}, told)
    >>> settled[""].parameters, [column.role for column in told]
    (['cores'], ['parameter', 'constant'])
    """
    roles: dict[str, Column] = {}
    for column in columns:
        first = roles.setdefault(column.name, column)
        if first.role == "constant" and column.role == "parameter":
            roles[column.name] = column
    values = {
        name: {value for one in runs.values() if name in one.parameters for value in one.configurations[name].unique()}
        for name, column in roles.items()
        if column.role == "constant"
    }
    fixed = {name for name, found in values.items() if len(found) <= 1 and not _multiplies(name, found)}
    for name in values:
        if name not in fixed and len(values[name]) > 1:
            roles[name] = Column(name, "parameter", "it differs between files", roles[name].unit)
    kept = {solver: [name for name in one.parameters if name not in fixed] for solver, one in runs.items()}
    if not all(kept.values()):  # one configuration, measured again and again
        for name in fixed:
            if any(name in one.parameters for one in runs.values()):
                roles[name] = Column(name, "parameter", "one value, but nothing else varies", roles[name].unit)
        return dict(runs), list(roles.values())
    return {solver: only(one, kept[solver]) for solver, one in runs.items()}, list(roles.values())


def _multiplies(name: str, values: Collection[Any]) -> bool:
    return kind_of(name) in ("per rank", "per node") and all(
        isinstance(one, int | np.integer) and one > 1 for one in values
    )


def only(runs: Runs, parameters: Sequence[str]) -> Runs:
    """Return the same runs with only some of their parameters.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2], "nodes": [1, 1], "seconds": [8.0, 4.0]})
    >>> only(Runs.from_frame(table, ["cores", "nodes"]), ["cores"]).parameters
    ['cores']
    """
    if list(parameters) == runs.parameters:
        return runs
    space = Space.of({name: runs.space.parameters[name] for name in parameters})
    return Runs(runs.to_frame(), space=space, quantities=runs.quantities, response=runs.response, days=runs.days)
