"""Nonsense for any word of any command works, or ends with a message; with --json, what is printed is JSON."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import click
import pytest
import typer

from evenly import examples
from evenly.campaign.store import Store
from evenly.cli.app import app
from tests.chaos.amount import amount
from tests.chaos.conftest import MakeTally
from tests.chaos.doors import some_runs
from tests.chaos.test_wrong_arguments import within
from tests.cli.conftest import Evenly, evenly

pytestmark = pytest.mark.chaos

__all__ = ["evenly"]  # a fixture

STUDY = """
[program]
command = "true {cores}"
[parameters]
cores = [1, 2]
"""
#: Commands that are quick, with words that they accept.
LINES = [
    "read table.csv --json",
    "fit table.csv --save m.json --method power-law --at cores=8",
    "predict m.json --at cores=64,128 --json",
    "predict table.csv --at cores=64 --method power-law --level 0.8",
    "allocate gaussian-pulse --cores 64,128 --layout max(fluid,structure) --json",
    "sort logs sorted",
    "example gaussian-pulse other --force",
    "partition oled --ranks 2 --json",
    "rebalance run.json --json",
    "measure study.toml --store runs.sqlite --json",
    "tune study.toml --runs 2 --seed 1 --json",
    "advise table.csv --json",
    "sensitivity table.csv --json",
    "plot table.csv --method power-law",
    "fdtd counts oled --ranks 2 --json",
    "fdtd layout oled --ranks 2",
    "fdtd list",
    "cost show",
    "machine list --json",
    "machine show infiniband",
    "runs check study.db --json",
]
WORDS = [
    "", " ", "x", "-1", "0", "1", "3.7", "1e308", "nan", "inf", "-inf", "1" * 40, "a" * 5000, "é\u202e", "\x1b[31mred",
    "a=b", "=", "cores=", "=8", "cores=x", "cores=nan", "cores=-8", "cores=8,8", "cores=1e400", "1,2,,3", ",", "1:2:3",
    "8:1", "{", "}", "[]", "max(", "max(a,b", "sum(" * 500, "../../..", "/nonexistent/x", "/dev/null", ".", "-", "--",
    "--json", "--nothing", "-q", "table.csv", "m.json", "study.toml", "gaussian-pulse", "logs", "empty", "binary", "*",
    "[", "~nobody/x", "True", "None", "\\",
]  # fmt: skip


@pytest.fixture
def folder(evenly: Evenly, tmp_path: Path) -> Path:
    """An empty folder with some files, deep enough for ``../../..`` to stay inside the test's own."""
    del evenly  # which goes to the test's folder
    examples.copy("gaussian-pulse", tmp_path)
    some_runs().to_frame().to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    Store(tmp_path / "study.db").close()
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "x.log").write_text("hello\n")
    (tmp_path / "empty").touch()
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 4)
    return tmp_path


def options(line: list[str]) -> list[str]:
    """Return the options of the command in a line."""
    command: Any = typer.main.get_command(app)
    context = click.Context(command)
    for word in line:
        if hasattr(command, "resolve_command"):
            _, command, _ = command.resolve_command(context, [word])
    return [option for one in command.params for option in one.opts if option.startswith("--")]


def mutated(line: list[str], chosen: random.Random) -> list[str]:
    """Return the line with a word replaced, left out, doubled or added."""
    words = list(line)
    start = 2 if words[0] in ("fdtd", "cost", "machine", "runs") else 1
    at = chosen.randrange(start, len(words) + 1)
    kind = chosen.choice(["replace", "replace", "option", "option", "leave out", "add"])
    if kind == "replace" and at < len(words):
        words[at] = chosen.choice(WORDS)
    elif kind == "leave out" and at < len(words):
        del words[at]
    elif kind == "option":
        words[at:at] = [chosen.choice(options(line)), chosen.choice(WORDS)]
    else:
        words.insert(at, chosen.choice(WORDS))
    return words


@pytest.mark.parametrize("seed", range(amount(1, of=8)))
@pytest.mark.usefixtures("folder")
def test_wrong_words_end_with_a_message(seed: int, evenly: Evenly, tally: MakeTally) -> None:
    chosen, counts = random.Random(seed), tally("commands with a wrong word")
    evenly("fit", "table.csv", "--save", "m.json", "--method", "power-law")
    for _ in range(250):
        line = mutated(chosen.choice(LINES).split(), chosen)
        shown = [word[:60] for word in line]
        counts.try_one()
        try:
            with within(60), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                printed = evenly(*line)
        except TimeoutError as error:
            counts.bad("hung", f"{shown}: {error}")
            continue
        except BaseException as error:
            counts.bad("traceback", f"{shown}: {type(error).__name__}: {error}")
            continue
        if printed.code not in (0, 1, 2) or (printed.code and not printed.err.strip()):
            counts.bad("wrong", f"{shown}: exit {printed.code}, {printed.err[-200:]!r}")
        elif printed.code == 0 and "--json" in line:
            try:
                json.loads(printed.out)
            except ValueError as error:
                counts.bad("wrong", f"{shown}: {error}")
