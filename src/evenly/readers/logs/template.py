"""Templates of lines: text as a log has it, with places for values in braces.

``"Loop time of {seconds} on {:int} procs for {steps:int} steps"`` matches the line that a program prints, and takes two
values from it. A template matches a whole line:

- A space stands for any white space, also around the line.
- ``...`` stands for anything, or nothing.
- ``{name}`` is a number; ``{name:int}`` a whole number, ``{name:word}`` text without spaces, ``{name:text}`` any text,
  ``{name:path}`` the last part of a path,
  ``{name:duration}`` a time as ``2h 9m``, ``1m13.5s`` or ``1-02:03:04``, in seconds. Without a name, it is read over.
- ``{name=1}`` matches nothing: the line itself means this value.
- Several lines must agree in a value, except in ``{name:int:first}``, ``{name:int:last}`` and ``{name:int:most}``.

``evenly measure`` fills the same places into a command.
"""

from __future__ import annotations

import re
from typing import Any

from evenly.errors import InputError, did_you_mean
from evenly.runs.durations import parse

__all__ = ["CHOICES", "Template"]

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eEdD][-+]?\d+)?"
#: What each kind of value looks like in a line.
_KINDS = {
    "number": _NUMBER,
    "int": r"[-+]?\d+",
    "word": r"\S+",
    "text": r"\S.*?",
    "path": r"\S+",
    "duration": r"(?:\d+-)?\d+(?::\d+){1,2}(?:\.\d*)?|\d+(?:\.\d*)?\s*[dhms](?:\s*\d+(?:\.\d*)?\s*[hms])*",
}
#: Which of several lines counts, where they need not agree.
CHOICES = ("first", "last", "most")
_PLACE = re.compile(r"\{(?P<name>[A-Za-z_]\w*)?(?:=(?P<value>[^{}]*)|(?P<tail>(?::[a-z]+)*))\}")
_PART = re.compile(r"(?P<place>\{[^{}]*\})|(?P<gap>\.\.\.)|(?P<space>\s+)")


class Template:
    r"""A template of a line.

    Parameters
    ----------
    text : str
        The template.
    within : bool
        Whether it may match a part of a line, as it does in names of files.

    Attributes
    ----------
    names : tuple of str
        The names of its values.
    choices : dict of str to str
        Which of several lines counts, by name: ``"first"``, ``"last"``, ``"most"``.

    Raises
    ------
    InputError
        If a place in braces is none, or nothing but places is left.

    Examples
    --------
    >>> Template("Loop time of {seconds} on {:int} procs for {steps:int} steps ...").match(
    ...     "Loop time of 2.55762 on 4 procs for 100 steps with 128000 atoms\n")
    {'seconds': 2.55762, 'steps': 100}
    >>> Template("PWSCF : {:text} CPU time, {seconds:duration} wall time").match(
    ...     "     PWSCF        :     2h 2m CPU time,        2h 9m wall time")
    {'seconds': 7740.0}
    >>> Template("Serial version{ranks=1}").match(" Serial version ")
    {'ranks': 1}
    >>> Template("{nodes:int}nodes{ranks:int}tasks", within=True).match("run_2nodes48tasks.log")
    {'nodes': 2, 'ranks': 48}
    """

    def __init__(self, text: str, *, within: bool = False) -> None:
        self.text = _checked(text)
        self.choices: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._fixed: dict[str, Any] = {}
        body, literals = self._compiled(text.strip())
        self.names = (*self._kinds, *self._fixed)
        self._regex = re.compile(body if within else rf"\s*{body}\s*\Z")
        self._search = self._regex.search if within else self._regex.match
        #: The longest text that each matching line holds: lines without it are passed over fast.
        self.literal = max(literals, key=len, default="")

    def _compiled(self, text: str) -> tuple[str, list[str]]:
        """Return the regular expression, and the pieces of text that a line must hold."""
        body, literals, at = "", [], 0
        for part in _PART.finditer(text):
            literals.append(text[at : part.start()])
            body += re.escape(literals[-1])
            at = part.end()
            if part["place"]:
                body += self._place(part["place"])
            else:
                body += ".*?" if part["gap"] else r"\s+"
        literals.append(text[at:])
        if any(set("{}") & set(literal) for literal in literals):
            raise InputError(
                f"a brace in {text!r} has no partner: places are written {{name}}; for a brace itself, write ..."
            )
        body += re.escape(literals[-1])
        if text.startswith("... "):
            body = r"(?:.*?\s)??" + body.removeprefix(r".*?\s+")
        if text.endswith(" ..."):
            body = body.removesuffix(r"\s+.*?") + r"(?:\s.*)?"
        return body.replace(r"\s+.*?\s+", r"\s+(?:.*?\s+)??"), literals

    def _place(self, place: str) -> str:
        match = _PLACE.fullmatch(place)
        if match is None or (match["name"] is None and match["value"] is not None):
            raise InputError(
                f"{place} in {self.text!r} is no place for a value: write {{name}}, {{name:int}}, {{name=1}}, {{:word}}"
            )
        name = match["name"]
        if name in self._kinds or name in self._fixed:
            raise InputError(f"{{{name}}} stands twice in {self.text!r}: give each place its own name")
        if match["value"] is not None:
            self._fixed[name] = _plain(match["value"])
            return ""
        kind, choice = self._tail(place, match["tail"])
        if name is None:
            return f"(?:{_KINDS[kind]})"
        self._kinds[name] = kind
        if choice:
            self.choices[name] = choice
        return f"(?P<{name}>{_KINDS[kind]})"

    def _tail(self, place: str, tail: str) -> tuple[str, str]:
        kind, choice, *more = *(tail or "").split(":")[1:], "", ""
        kind = kind or "number"
        if kind not in _KINDS or choice not in ("", *CHOICES) or any(more):
            hint = did_you_mean(kind, _KINDS) if kind not in _KINDS else ""
            raise InputError(
                f"{place} in {self.text!r} must be one of {', '.join(_KINDS)}, and then nothing or one of "
                f"{', '.join(CHOICES)}{hint}"
            )
        return kind, choice

    def match(self, line: str) -> dict[str, Any] | None:
        """Return the values that a line holds; None if the line doesn't match."""
        if self.literal not in line:
            return None
        found = self._search(line)
        if found is None:
            return None
        return {name: _value(found[name], kind) for name, kind in self._kinds.items()} | self._fixed

    def begins(self, line: str) -> bool:
        """Tell whether a line has the first word of the template, whether or not the rest matches."""
        words, found = self.text.split(maxsplit=1), line.split(maxsplit=1)
        return bool(words) and bool(found) and words[0] == found[0] and "{" not in words[0]

    def __repr__(self) -> str:
        return f"Template({self.text!r})"


def _checked(text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"a template must be text, as in 'Total time: {{seconds}} s', but got {text!r}")
    return text


def _value(text: str, kind: str) -> Any:
    if kind == "int":
        return int(text)
    if kind == "number":
        return float(text.replace("d", "e").replace("D", "e"))
    if kind == "path":
        return text.rsplit("/", 1)[-1]
    return parse(text, "mm:ss") if kind == "duration" else text.strip()


def _plain(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
