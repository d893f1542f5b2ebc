"""A pattern proposed from an example: lines of a log that look like a time, a number of processes, or a size.

What a log means can't be known from one example, so each key has alternatives, best first, and the user chooses.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenly.errors import ReadError
from evenly.readers.files import stream
from evenly.readers.logs.extraction import extract
from evenly.readers.logs.pattern import Pattern, Take
from evenly.readers.logs.template import Template
from evenly.runs.durations import parse

__all__ = ["KEYS", "Choice", "Proposal", "propose"]

#: What is chosen, in the order of the file.
KEYS = ("recognise", "row", "ranks", "threads", "nodes", "cores", "size", "end")
_MOST = 4
_NUMBER = re.compile(
    r"(?:(?<=\.\.\.)|(?<![\w.,:/+-]))(?:(?:\d+[dhm] ?)+\d+(?:\.\d+)?s\b|\d+(?::\d\d){1,2}(?:\.\d+)?"
    r"|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)(?![.,:/-]?\d|[dD][+-]?\d)"
)
_TIME = re.compile(
    r"time|wall|elapsed|second|took|duration|runtime|(?:done|finished|completed) (?:in|after)|^real\b", re.IGNORECASE
)
#: When a line was written, which stands before what it says.
_STAMP = re.compile(r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?\]?[:,]?\s*")
#: A line that says in a number how a run ended.
_ENDED = re.compile(r"(?:exit|status|return|code|error)\D*\b0\W*$", re.IGNORECASE)
_UNIT = re.compile(r"\s*[\[(]?(ms|msec|us|usec|ns|min|minutes|h|hours|s|sec|secs|seconds)\b", re.IGNORECASE)
_UNIT_BEFORE = re.compile(
    r"[_\[(](ms|msec|us|usec|ns|min|minutes|h|hours|s|sec|secs|seconds)[\])]?\s*[:=]\s*$", re.IGNORECASE
)
_PER = re.compile(r"\bper\b|/", re.IGNORECASE)
#: evenly's unit for what a unit begins with.
_UNITS = {"ms": "ms", "us": "us", "ns": "ns", "m": "min", "h": "h"}
#: Words that make a line the time of a whole run, or not.
_SCORES = (
    (r"\bwall\b(?!-)|elapsed|clock ?time|^real\b", 3.0),
    (r"total|overall|run ?time|whole", 2.0),
    (r"seconds?\b|\b\d*s\b|\bsecs?\b", 1.0),
    (r"\btime", 0.5),
    (r"cpu|user|system|\bsys\b|%|\bMB|byte|flop", -3.0),
    (r"residual|error|norm\b|tolerance|\bcycles?\b", -6.0),
    (r"\bmin\b|\bavg\b|\bleast\b", -2.0),
    (r"set-?up|init|final|average|mean|\bper\b|step|waiting|interval|\bfs\b|\bps\b", -2.0),
)
#: What was counted: a word of several things, or of one, that is no unit of time.
_COUNTED = re.compile(
    r"\s*(?!(?:[mun]?s|[mu]?secs?|(?:milli|micro)?seconds|mins|minutes|hrs|hours)\b)(?:iteration|step|process|[a-z]+s)\b",
    re.IGNORECASE,
)
#: How much work the time was for, which is said on the way to it; and what a number names.
_FOR = re.compile(r"^\s*(?:\w+ )?(?:steps|iterations|[a-z]+s)\b", re.IGNORECASE)
_OF_WHAT = re.compile(r"\b(?:rank|process|node|thread|pid)\s*$", re.IGNORECASE)
_STATISTICS = ("min", "avg", "mean", "median", "max", "std", "stddev")
#: What is left of durations that templates don't read.
_COMPOUND = re.compile(r"\d+ ?[dhm]:? ?\d", re.IGNORECASE)
#: A number in such a line is a rate, or part of a date.
_RATE = re.compile(
    r"/ ?s(?:ec(?:ond)?)?\b|per (?:cpu[- ])?sec|/[^/]*\btime\b|\b(?:rate|speed|throughput|merit|[kmgt]?flop/?s)\b", re.I
)
_DATE = re.compile(
    r"\b(?:mon|tue|wed|thu|fri|sat|sun)(?:day)?\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ -]+\d"
    r"|\d{4}[-/]\d\d?[-/]\d\d?|\d\d?[./]\d\d?[./]\d{4}|\b(?:started|finished|ended|began) (?:at|on)\b",
    re.IGNORECASE,
)
#: A line below this score is no time of a run.
_LEAST = 2.0
_LONG = 200
_ID = re.compile(r"\bp?id\b|\bhost\b|model|version|family|compiled|build", re.IGNORECASE)
_COUNTS = {
    "ranks": r"ranks\b|process(?:es)?\b|processors\b|n?procs?\b|tasks\b|\b(?:mpi|world|comm\w*)[ _]size\b"
    r"|\bnp\b|\b(?:num)?pes\b|\brank \d+ of\b",
    "threads": r"threads?\b(?! for)",
    "nodes": r"nodes?\b",
    "cores": r"cores\b|cpus\b",
}
_SIZES = (
    "atoms", "cells", "sites", "zones", "particles", "bodies", "elements", "points", "unknowns", "dofs", "steps",
    "iterations",
)  # fmt: skip
#: The edges of a grid, with names or without.
_GRID = re.compile(
    r"\bnx ?= ?(\d+)[ ,;]+ny ?= ?(\d+)(?:[ ,;]+nz ?= ?(\d+))?"
    r"|\b(?:domain|grid|mesh|lattice|resolution)(?: size)? ?[:=] ?(\d+) ?[x*×] ?(\d+)(?: ?[x*×] ?(\d+))?",
    re.IGNORECASE,
)
#: A line of names, each with a number behind it.
_PAIRS = re.compile(r"(?:[A-Za-z_]\w*:? \d[\d.eE+-]*[,;]? ?){2,}")


@dataclass(frozen=True)
class Choice:
    """A template that may serve for a key, the line it comes from, and, of a time, its unit and what several are."""

    template: str
    line: str
    unit: str = "s"
    take: Take = "only"


@dataclass(frozen=True)
class Proposal:
    """The choices for each key, best first; a key without one has an empty list.

    Parameters
    ----------
    path : Path
        The example.
    choices : dict of str to list of Choice
        For each of `KEYS`.
    """

    path: Path
    choices: Mapping[str, Sequence[Choice]]

    def text(self, chosen: Mapping[str, int | None] | None = None) -> str:
        """Return the pattern as TOML; alternatives stand in comments where nothing was `chosen`.

        Parameters
        ----------
        chosen : dict of str to int or None, optional
            For each key, the number of the choice, or None for no such line.
        """
        picked = {key: self._picked(key, chosen) for key in KEYS}
        lines = [f"about = {json.dumps(f'logs like {self.path.name}')}"]
        lines += self._keyed("recognise", picked["recognise"], chosen)
        counts = [key for key in KEYS[2:7] if picked[key] is not None]
        lines.append("read = [")
        lines += [f"    {json.dumps(choice.template)}," for key in counts if (choice := picked[key]) is not None]
        if chosen is None:
            lines += [f"    # {json.dumps(c.template)}," for key in KEYS[2:7] for c in self.choices[key][1:_MOST]]
        lines.append("]")
        lines += self._keyed("row", picked["row"], chosen)
        if (row := picked["row"]) is not None and row.unit != "s":
            lines.append(f"unit = {json.dumps(row.unit)}")
        if row is not None and row.take != "only":
            lines.append(f"take = {json.dumps(row.take)}")
        names = [
            name
            for key in counts if (choice := picked[key]) is not None
            for name in re.findall(r"\{([a-z]\w*)", choice.template)
        ]  # fmt: skip
        lines.append(f"parameters = {json.dumps(list(dict.fromkeys(names)))}")
        if picked["end"] is not None:
            lines += self._keyed("end", picked["end"], chosen)
        return "\n".join(lines) + "\n"

    def _picked(self, key: str, chosen: Mapping[str, int | None] | None) -> Choice | None:
        number = 0 if chosen is None else chosen.get(key)
        return None if number is None or number >= len(self.choices[key]) else self.choices[key][number]

    def _keyed(self, key: str, picked: Choice | None, chosen: Mapping[str, int | None] | None) -> list[str]:
        others = [c for c in self.choices[key] if c is not picked][: _MOST - 1] if chosen is None else []
        first = [] if picked is None else [f"{key} = {json.dumps(picked.template)}"]
        return first + [f"# {key} = {json.dumps(choice.template)}" for choice in others]

    def check(self, chosen: Mapping[str, int | None] | None = None) -> str:
        """Return what the pattern reads from the example, as ``"ranks 8: 12.5 s"``, or why it reads nothing.

        Raises
        ------
        InputError
            If nothing was chosen that says a time or a parameter.
        """
        pattern = Pattern.from_dict(self.path.stem or "ours", tomllib.loads(self.text(chosen)))
        runs, problems = extract(pattern, stream(self.path))
        if not runs:
            return f"nothing yet: {problems[0].reason}"
        said = ", ".join(f"{name} {value}" for name, value in runs[0].parameters.items())
        said = said or "no parameter is found (tell them with --constant, or from the files' names with -O name=)"
        if runs[0].parameters and not {*_COUNTS} & {*runs[0].parameters}:
            said += " (no line is found that tells the ranks or cores)"
        more = f" (and {len(runs) - 1} more)" if len(runs) > 1 else ""
        return f"{said}: {runs[0].seconds[-1]:.6g} s{more}"


def propose(path: Path | str) -> Proposal:
    r"""Propose a pattern from an example of a log.

    Raises
    ------
    ReadError
        If the file can't be read, or no line of it looks like a time.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.log"
    >>> _ = path.write_text("OurSolver 1.2\nStarted on 8 processes\nTotal time: 12.5 s\nBye.\n")
    >>> print(propose(path).text())
    about = "logs like run.log"
    recognise = "OurSolver {:word}"
    # recognise = "Started on {:word} processes"
    # recognise = "Bye."
    read = [
        "Started on {ranks:int} processes",
    ]
    row = "Total time: {seconds} s"
    parameters = ["ranks"]
    end = "Bye."
    <BLANKLINE>
    >>> propose(path).check()
    'ranks 8: 12.5 s'
    """
    path = Path(path)
    # Dots that lead from a name to its value are a gap.
    lines = [re.sub(r"\s*\.{3,}\s*", "...", " ".join(line.split())) for line in stream(path)]
    lines = [_STAMP.sub("...", line) for line in lines if line and "{" not in line and "}" not in line]
    if not lines:
        raise ReadError(path, "there is no line of text to learn a pattern from")
    choices: dict[str, list[Choice]] = {
        "recognise": [],
        "row": _times(lines),
    }
    if not choices["row"]:
        raise ReadError(
            path, "no line looks like a time: none has a number and one of the words time, wall, elapsed, …"
        )
    taken = {choice.line for choice in choices["row"]}
    choices["recognise"] = _recognising(lines, taken)
    first = choices["recognise"][0].template
    starts = sum(_generalised(line) == first for line in lines)
    choices["row"] = _times(lines, starts)
    choices |= {key: _counts(lines, key, words, starts) for key, words in _COUNTS.items()}
    choices["size"] = _sizes(lines, starts)
    last = next((line for line in reversed(lines) if re.search(r"[A-Za-z]{3}", line)), lines[-1])
    choices["end"] = [] if last in taken else [Choice(last if _ENDED.search(last) else _generalised(last), last)]
    return Proposal(path, choices)


def _generalised(line: str) -> str:
    """Return a line with ``{:word}`` for each word that holds a digit."""
    return " ".join("{:word}" if any(c.isdigit() for c in word) else word for word in line.split())


def _recognising(lines: Sequence[str], taken: Collection[str]) -> list[Choice]:
    """Return lines near the beginning that come once in a run, those with a version or a name first.

    A line that comes again would begin another run, and one behind the time would come too late.
    """
    first = next((place for place, line in enumerate(lines) if line in taken), len(lines))
    free = [line for line in lines if line not in taken] or list(lines)
    start = [line for line in free[:40] if re.search(r"[A-Za-z]{3}", line) and len(line) <= _LONG] or free[:1]
    unique = {_generalised(line): line for line in start}
    counts = {template: sum(map(_matches(template), lines)) for template in unique}
    least = min(counts.values())

    def order(item: tuple[str, str]) -> tuple[bool, bool, bool]:
        template, line = item
        named = re.search(r"version|\b[A-Z]\w+ v?\d+\.\d|program|welcome", line, re.IGNORECASE)
        return lines.index(line) > first, counts[template] > least, not named

    return [Choice(template, line) for template, line in sorted(unique.items(), key=order)][:_MOST]


def _matches(template: str) -> Callable[[str], bool]:
    known = Template(template)
    return lambda line: known.match(line) is not None


def _template(line: str, at: re.Match[str], place: str) -> str:
    """Return a line with a place for the value at a match, and ``{:number}`` for each other number."""
    result, end = "", 0
    for match in _NUMBER.finditer(line):
        value = place if match.start() == at.start() else "{:duration}" if _is_clock(match.group()) else "{:number}"
        result += line[end : match.start()] + value
        end = match.end()
    return result + line[end:]


def _is_clock(text: str) -> bool:
    return ":" in text or text.endswith("s")


def _times(lines: Sequence[str], starts: int = 1) -> list[Choice]:
    """Return lines with a number that may be the time, each number by what stands around it; the best ones first."""
    found: dict[str, tuple[float, Choice]] = {}
    values: dict[str, list[float]] = defaultdict(list)
    statistics: list[str] = []  # what the numbers of a row of several ranks are
    for place, line in enumerate(lines):
        words = re.findall(r"[a-z]+", line.lower())
        if {"min", "max"} <= set(words) and not any(map(str.isdigit, line)):
            statistics = [word for word in words if word in _STATISTICS]
        if not _TIME.search(line) or len(line) > _LONG or _RATE.search(line) or _DATE.search(line):
            continue
        end = 0
        several = len(_NUMBER.findall(line)) == len(statistics)
        for number, at in enumerate(_NUMBER.finditer(line)):
            before = _FOR.sub("", line[end : at.start()])
            end = at.end()
            if _OF_WHAT.search(before):
                continue
            if not _is_clock(at.group()) and _COMPOUND.match(line, at.start()):  # one of several numbers
                continue
            if _COUNTED.match(line, end):
                continue
            clock = _is_clock(at.group())
            template = _template(line, at, "{seconds:duration}" if clock else "{seconds}")
            around = f"{before} {line[at.end() : at.end() + 8]}"
            score = sum(points for words, points in _SCORES if re.search(words, around, re.IGNORECASE))
            score += sum(points for words, points in _SCORES if re.search(words, line, re.IGNORECASE)) / 2
            score += (2.0 if statistics[number] == "max" else -2.0) if several else 0.0
            unit = "s" if clock else _unit(line, at)
            score += sum((clock or "." in at.group(), unit != "s")) + 2 * place / len(lines)
            values[template].append(parse(at.group(), "mm:ss") if clock else float(at.group()))
            found[template] = score, Choice(template, line, unit, _take(values[template], starts))
    good = [(score, choice) for score, choice in found.values() if score > _LEAST]
    good.sort(key=lambda item: item[0] - (1 if item[1].take != "only" else 0), reverse=True)
    return [choice for _, choice in good][:_MOST]


def _take(values: Sequence[float], starts: int) -> Take:
    """Return what several lines with a time are: a running clock only goes forward, times of steps don't.

    In a log of several runs, `starts`, each has a line of its own.
    """
    if len(set(values)) == 1 or len(values) == starts:
        return "only"
    return "last" if list(values) == sorted(values) else "steps"


def _unit(line: str, at: re.Match[str]) -> str:
    unit = _UNIT.match(line, at.end()) or _UNIT_BEFORE.search(line[: at.start()])
    if unit is None:
        return "s"
    return next((known for start, known in _UNITS.items() if unit[1].lower().startswith(start)), "s")


def _counts(lines: Sequence[str], name: str, words: str, starts: int) -> list[Choice]:
    """Return lines with a whole number just before or behind one of the words; the plainest ones first.

    A number that changes within a run counts something, and is no setting; one log may hold several runs, `starts`.
    """
    found: dict[str, tuple[float, Choice]] = {}
    said: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines:
        if _ID.search(line) or len(line) > _LONG:
            continue
        for at in _NUMBER.finditer(line):
            before, behind = line[max(0, at.start() - 30) : at.start()], line[at.end() :]
            if re.match(r" ?[xX×*] ?\d", behind) or re.search(r"\d ?[xX×*] ?$", before):  # an edge of a grid
                continue
            pairs = _PAIRS.fullmatch(line)
            labelled = pairs or re.search(
                r"[\w\])] ?[:=]\s*$", before
            )  # then the words behind belong to the next number
            follows = not labelled and re.match(rf"\s+(?:MPI\s+|OpenMP\s+)?(?:{words})", behind, re.IGNORECASE)
            leads = re.search(
                rf"(?:per |/ ?(?:MPI )?)?(?:{words})[\w ]{{0,12}}\s*(?:[:=]|\.\.\.)?\s*$", before, re.IGNORECASE
            )
            if leads and name != "threads" and _PER.search(leads.group()):  # tasks per node, threads / process
                leads = None
            alone = not behind.strip(" .,)") or pairs or (labelled and re.match(r"\s+[A-Za-z(]|\s*[,;)]", behind))
            if not (_is_count(at.group()) and (follows or (leads and alone))):
                continue
            template = _template(line, at, f"{{{name}:int}}" if at.group().isdigit() else f"{{{name}}}")
            said[template].append(at.group())
            score = len(re.findall(r"number of|total|running|using|started|parallel|\bon\b", line, re.IGNORECASE))
            found[template] = score + (1 if follows else 0) - len(line) / _LONG, Choice(template, line)
    settings = [
        its for template, its in found.items() if len(set(said[template])) == 1 or 1 < starts == len(said[template])
    ]
    settings.sort(key=lambda item: item[0], reverse=True)
    return [choice for _, choice in settings][:_MOST]


def _is_count(text: str) -> bool:
    """Tell whether a number is whole and above zero: ``64``, ``2e6``."""
    try:
        return float(text) >= 1 and float(text).is_integer()
    except ValueError:
        return False


def _sizes(lines: Sequence[str], starts: int) -> list[Choice]:
    found: dict[str, Choice] = {line: Choice(template, line) for line in lines if (template := _grid(line))}
    for name in _SIZES:
        word = "bod(?:y|ies)" if name == "bodies" else f"{name[:-1]}s?"
        for choice in _counts(lines, name, rf"{word}\b", starts)[:1]:
            found.setdefault(choice.line, choice)
    return list(found.values())[:_MOST]


def _grid(line: str) -> str:
    """Return a line with places for the edges of a grid that it tells, as ``Domain: {nx:int} x {ny:int}``; else ""."""
    at = None if re.search(r"proc|rank|topology|decomp", line, re.IGNORECASE) else _GRID.search(line)
    if at is None:
        return ""
    edges = {at.start(group): f"n{'xyz'[(group - 1) % 3]}" for group in range(1, 7) if at[group]}
    result, end = "", 0
    for match in re.finditer(r"\d+(?:\.\d+)?", line):
        result += line[end : match.start()]
        result += f"{{{edges[match.start()]}:int}}" if match.start() in edges else "{:number}"
        end = match.end()
    return result + line[end:]
