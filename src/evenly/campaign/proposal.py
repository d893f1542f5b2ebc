"""A first study for a program: from a command line as it is typed, or from a table of runs.

What varies is guessed: the number of ranks and threads, and whole numbers of at least 8, which are often sizes. All
else stays as it is. Each guess is said, and stands as a comment in the study.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import shlex
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from evenly.campaign.study import PLACES, Study
from evenly.errors import InputError
from evenly.launch.submissions import check_waits
from evenly.runs.count_names import kind_of
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical

__all__ = ["StudyProposal", "study_of_command", "study_of_runs"]

#: A run is ended after so long where nothing is known of its time.
_TIMEOUT_S = 3600
_LAUNCHERS: Final = ("mpirun", "mpiexec", "mpiexec.hydra", "srun", "aprun")
_RANKS: Final = ("-n", "-np", "--np", "--ntasks")
_SETTING: Final = re.compile(r"([A-Za-z_]\w*)=(.*)")
_OPTION: Final = re.compile(r"(--?[A-Za-z][\w-]*)=(.+)")
_WHOLE: Final = re.compile(r"\d+")
#: Options of launchers that are followed by no value, so that the program may come next.
_FLAGS: Final = frozenset({
    "--oversubscribe", "--overcommit", "--exclusive", "--exact", "--overlap", "--label", "-l", "--allow-run-as-root",
    "--use-hwthread-cpus", "--report-bindings", "--nooversubscribe", "-v", "--verbose", "-q", "--quiet", "-s", "-O",
    "--tag-output", "--bynode", "--bycore", "-prepend-rank", "--kill-on-bad-exit", "-K", "--unbuffered", "-u",
})  # fmt: skip
_RANKS_JOINED: Final = re.compile(r"(-np?)(\d+)")
#: What a shell takes for more than a word, outside of quotes.
_OPERATOR: Final = re.compile(r"[();<>|&]+")
_QUOTED: Final = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_FILLED: Final = re.compile(r"[$`*?]")
#: Words that need no quotes; braces are places for values.
_BARE: Final = re.compile(r"[\w@%+=:,./{}-]+")
#: Numbers that are no sizes, however large.
_NO_SIZES: Final = frozenset({"port", "seed"})
#: A smaller whole number is more often an order, a switch or a level than a size.
_LEAST_SIZE: Final = 8
_TAIL = """
# Without this table, the wall time of the whole command counts.
# [time]
# pattern = 'time per step: (\\S+)'
# unit = "s"

[repetitions]
least = 2
most = 5
within = 0.05
"""


@dataclass(frozen=True)
class StudyProposal:
    """A study, and what was guessed.

    Parameters
    ----------
    text : str
        The study as TOML.
    guesses : tuple of str
        What was guessed, in a sentence each.
    """

    text: str
    guesses: tuple[str, ...]

    def check(self) -> Study:
        """Return the study that the text means."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "study.toml")
            path.write_text(self.text, encoding="utf-8")
            return Study.load(path)


@dataclass
class _Found:
    values: dict[str, list[Any]] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    #: Parameters that may be sizes of the problem.
    sizes: list[str] = field(default_factory=list)
    nodes: int = 1

    def vary(self, name: str, values: Sequence[Any], why: str) -> str:
        """Take a parameter, and return its place in a command."""
        name = _plain(name)
        numbered = (f"{name}{i}" for i in itertools.count(2))
        free = next(one for one in itertools.chain([name], numbered) if one not in self.values)
        self.values[free], self.why[free] = list(values), why
        return f"{{{free}}}"


def _plain(name: str) -> str:
    """Return a name that TOML and a study take as it is.

    Examples
    --------
    >>> [_plain(name) for name in ("--größe", "n cells", "-5", "run")]
    ['grosse', 'n_cells', 'value', 'run_']
    """
    letters = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    word = re.sub(r"\W+", "_", letters).strip("_")
    if not word or word[0].isdigit():
        return "value"
    return f"{word}_" if word in (*PLACES, "seconds", "cpu_seconds") else word


def study_of_command(command: str) -> StudyProposal:
    """Propose a study for a command line.

    Raises
    ------
    InputError
        If the command can't be split into words, needs a shell, or has no number that may be varied.

    Examples
    --------
    >>> proposal = study_of_command("OMP_NUM_THREADS=2 mpirun -np 4 ./solve --size 512 --tol 1e-6")
    >>> study = proposal.check()
    >>> study.program.command, study.space.names
    ('mpirun -np {ranks} ./solve --size {size} --tol 1e-6', ['threads', 'ranks', 'size'])
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"--command can't be split into words ({error}): check its quotes") from None
    if operator := _OPERATOR.search(_QUOTED.sub(" ", command)):
        raise InputError(
            f"{operator[0]} in --command needs a shell, which a study doesn't start: write the line into a script, as "
            "run.sh, and give that: --command 'bash run.sh …'"
        )
    found, environment = _Found(), {}
    while words and (setting := _SETTING.fullmatch(words[0])):
        name, value = setting.groups()
        environment[name] = value.replace("{", "{{").replace("}", "}}")
        if name == "OMP_NUM_THREADS" and _WHOLE.fullmatch(value):
            environment[name] = found.vary("threads", _doublings(int(value)), f"{words[0]}, from one on")
        words = words[1:]
    if not words:
        raise InputError("--command names no program: give it as you type it, in quotes")
    check_waits(words)
    shown = " ".join(word if _BARE.fullmatch(word) else shlex.quote(word) for word in _varied(words, found))
    if not found.values:
        raise InputError(
            f"nothing in the command {command!r} is a number of ranks or threads, or a size of {_LEAST_SIZE} or more: "
            "write a study with the parameters that you vary (docs/measuring.md)"
        )
    literal = [word for word in words if _FILLED.search(word)]
    if literal:
        found.kept.append(f"{literal[0]} (no shell runs: the program gets it as it is)")
    return _proposal(shown, environment, found)


def _varied(words: list[str], found: _Found) -> Iterator[str]:
    """Yield the words of a command with places for what varies."""
    launcher = Path(words[0]).name
    found.nodes = _nodes(words)
    first = 2 if [launcher, *words[1:2]] == ["flux", "run"] else 1
    launched, before = launcher in _LAUNCHERS or first == 2, ""
    for number, word in enumerate(words):
        joined = _RANKS_JOINED.fullmatch(word) if launched else None
        option = joined or _OPTION.fullmatch(word) or _SETTING.fullmatch(word)
        name, value = option.groups() if option else (before, word)
        if launched and number >= first and not word.startswith("-") and (not before or before in _FLAGS):
            launched, name = False, ""  # the program itself begins
        place = None
        if number and _WHOLE.fullmatch(value):
            place = _place(name, int(value), launched=launched, found=found)
        elif number and re.search(r"\d", value) and not value.startswith("-"):
            found.kept.append(word)
        yield word.replace("{", "{{").replace("}", "}}") if place is None else word[: len(word) - len(value)] + place
        before = word if word.startswith("-") and not option else ""


def _place(name: str, value: int, *, launched: bool, found: _Found) -> str | None:
    said = f"{name} {value}".strip()
    if launched:
        if name in _RANKS and "ranks" not in found.values:
            from_ = "one on each node" if found.nodes > 1 else "one"
            return found.vary("ranks", _doublings(value, found.nodes), f"{said}, from {from_} on")
        found.kept.append(said)
        return None
    if kind_of(name) in ("ranks", "cores") and "ranks" not in found.values:
        return found.vary(kind_of(name), _doublings(value), f"{said}, from one on")
    if "thread" in name.lower() or name in ("-t", "-nt", "-ntomp"):
        return found.vary("threads", _doublings(value), f"{said}, from one on")
    if value >= _LEAST_SIZE and _NO_SIZES.isdisjoint(re.split(r"[\W_]+", name.lower())):
        place = found.vary(name or "value", [value // 4, value // 2, value], f"{said}, and half and a quarter of it")
        found.sizes.append(place.strip("{}"))
        return place
    found.kept.append(said)
    return None


def _doublings(most: int, least: int = 1) -> list[int]:
    """Return doublings of the least number up to the most, and that.

    Examples
    --------
    >>> _doublings(6), _doublings(1), _doublings(8, 3)
    ([1, 2, 4, 6], [1, 2], [3, 6, 8])
    """
    powers = [least * 2**i for i in range(max(most, 1).bit_length()) if least * 2**i <= most]
    return sorted({*powers, most}) if most > 1 else [1, 2]


def _nodes(words: Sequence[str]) -> int:
    """Return the number of nodes that Slurm or Flux is asked for, each of which has a rank at least; 1 if none is.

    Examples
    --------
    >>> _nodes(["srun", "-N", "2", "./solve"]), _nodes(["srun", "--nodes=4", "./solve"]), _nodes(["mpirun", "-N", "2"])
    (2, 4, 1)
    """
    found = re.match(
        r"(?:\S*/)?(?:srun|flux run)(?: -\S+(?: \d+)?)*? (?:-N ?|--nodes[ =])(\d+)(?= |$)", " ".join(words)
    )
    return int(found[1]) if found else 1


def study_of_runs(runs: Runs) -> StudyProposal:
    """Propose a study of the parameters of a table of runs, whose program isn't known.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2], "kind": ["a", "b"], "seconds": [2.0, 1.0]})
    >>> study_of_runs(Runs.from_frame(table, ["cores", "kind"])).check().space.names
    ['cores', 'kind']
    """
    found = _Found()
    table = runs.configurations
    for name in runs.parameters:
        labels = isinstance(runs.space.parameters[name], Categorical)
        values = sorted(set(table[name].tolist()), key=str if labels else None)
        found.vary(name, values, "the values in the table")
    options = " ".join(f"--{name} {{{name}}}" for name in found.values)
    found.kept.append("the command, of which a table tells nothing: write that of your program")
    return _proposal(f"./program {options}", {}, found, longest_s=_longest_s(runs))


def _longest_s(runs: Runs) -> float:
    """Return how long the longest run took, or was let run; 0 where no time is known."""
    if runs.response != "seconds":
        return 0.0
    return float(np.nanmax([0.0, *runs.ok.values, *runs.bounds]))


def _proposal(command: str, environment: Mapping[str, str], found: _Found, longest_s: float = 0.0) -> StudyProposal:
    lines = ["# Proposed by evenly init: look at each line.", "[program]", f"command = {_toml(command)}"]
    if environment:
        settings = ", ".join(f"{name} = {_toml(text)}" for name, text in environment.items())
        lines.append(f"environment = {{ {settings} }}")
    timeout_s = max(_TIMEOUT_S, 600 * math.ceil(2 * longest_s / 600))
    lines += ["# at least twice the longest run in the table"] if longest_s else []
    lines += [f"timeout_s = {timeout_s}", "", "[parameters]"]
    for name, values in found.values.items():
        lines += [f"# guessed from {found.why[name]}", f"{name} = [{', '.join(map(_toml, values))}]"]
    guesses = [
        f"{name} varies: {', '.join(map(str, values))} ({found.why[name]})" for name, values in found.values.items()
    ]
    if found.sizes:
        one, these = ("it is a size", "it") if len(found.sizes) == 1 else ("they are sizes", "them")
        guesses.append(
            f"{', '.join(found.sizes)}: if {one}, `evenly tune --tasks {','.join(found.sizes)}` finds the fastest of "
            f"each; without --tasks, it takes less work for faster. If only one size is of use, don't vary {these}"
        )
    if found.kept:
        guesses.append(f"left as it is: {', '.join(found.kept)}")
    return StudyProposal("\n".join(lines) + "\n" + _TAIL, tuple(guesses))


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    number = float(value)
    return str(int(number)) if number.is_integer() and not isinstance(value, np.bool_ | bool) else repr(number)
