"""Study files: what they say, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly import Categorical, Integer, Ordinal, Real
from evenly.campaign.study import Program, Study
from evenly.campaign.templates import Template
from evenly.errors import InputError, ReadError

WHOLE = """
constraints = ["ranks * threads <= 8"]
[program]
command = "solve --cells {size} -t {threads} {solver} {tolerance}"
launcher = "mpi"
ranks = "{ranks}"
timeout_s = 600
environment = { OMP_NUM_THREADS = "{threads}" }
[parameters]
size = { low = 1000, high = 1000000, scale = "log" }
tolerance = { low = 1e-8, high = 1e-2, scale = "log" }
ranks = [1, 2, 4]
threads = { kind = "ordinal", values = [1, 2] }
solver = ["cg", "gmres"]
[time]
pattern = 'time: (\\S+)'
unit = "ms"
[time.quantities]
memory = { pattern = 'peak (\\S+)', unit = "MiB" }
[repetitions]
least = 3
[plan]
runs = 10
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text)
    return path


def test_all_that_a_file_says(tmp_path: Path) -> None:
    study = Study.load(written(tmp_path, WHOLE))
    assert study.name == "study"
    assert study.folder == tmp_path
    assert [type(kind) for kind in study.space.parameters.values()] == [Integer, Real, Ordinal, Ordinal, Categorical]
    assert study.program.ranks == "{ranks}"
    assert study.timing.quantities == {"seconds": "s", "memory": "B"}
    assert (study.repetitions.least, study.repetitions.most, study.plan.runs) == (3, 8, 10)
    assert [c.name for c in study.space.constraints] == ["ranks * threads <= 8"]


SMALL = '[program]\ncommand = "solve {n}"\n[parameters]\nn = [1, 2]\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[program", "TOML"),
        ("", r"at least the tables \[program\] and \[parameters\]"),
        ("program = 3", r"begin it with a line \[program\]"),
        (SMALL.replace("{n}", "{m}"), "needs 'm', which is none of n,"),
        (SMALL.replace("{n}", "{n"), "without a partner"),
        (SMALL + "[paln]\nruns = 3\n", "did you mean 'plan'"),
        (SMALL + "[plan]\nrun = 3\n", "did you mean 'runs'"),
        (SMALL + "[plan]\nruns = 0\n", "runs must be a whole number above 0"),
        (SMALL + '[plan]\ndesign = "grid"\n', "design must be one of all, advisor, tune, random"),
        (SMALL + '[plan]\ndesign = "advisor"\n', "give runs"),
        (SMALL + "[repetitions]\nleast = 9\n", "least must not be above most"),
        (SMALL + "[repetitions]\nwithin = 10\n", "a share of the time, 0.1 for 10 %, .* but got 10"),
        (SMALL + "[repetitions]\nwithin = -1\n", "within must be a number above 0"),
        (SMALL + "[time]\npattern = 'took'\n", "must have one group"),
        (SMALL + "[time]\npattern = '(('\n", "not a regular expression"),
        (SMALL + "[time]\nunit = 'ms'\n", "belongs to a pattern"),
        (SMALL + "[time]\nreader = 'nobody'\npath = 'x'\n", "reader must be any or one of"),
        (SMALL + "[time]\nreader = 'any'\n", "needs a path"),
        (SMALL + "[time]\npattern = '(a)'\nunit = 'parsec'\n", "parsec"),
        (SMALL + "[time]\nclock = 'sun'\n", "clock must be wall or cpu"),
        (SMALL.replace("command", "launcher"), "needs a command or a callable"),
        (SMALL.replace('"solve {n}"', '"solve {n}"\ncallable = "a:b"'), "only one of them"),
        (SMALL.replace('command = "solve {n}"', 'callable = "run"'), "module:function"),
        (SMALL.replace('"solve {n}"', '"solve {n}"\nlauncher = "cloud"'), "launcher must be one of"),
        (SMALL.replace('"solve {n}"', '"solve {n}"\ntimeout_s = -1'), "timeout_s must be a number above 0"),
        (SMALL.replace('"solve {n}"', "'solve \"{n}'"), "can't be split"),
        (SMALL.replace("[1, 2]", "3"), "must be a list of values or"),
        (SMALL.replace("[1, 2]", "{ low = 3 }"), "lacks 'high'"),
        (SMALL.replace("[1, 2]", "{ low = 3, hihg = 4 }"), "did you mean 'high'"),
        (SMALL.replace("{n}", ""), "nothing in .program. depends on 'n'"),
        (SMALL.replace("n = [1", "constraints = ['n > 1']\nn = [1"), "stand above the first table"),
        (SMALL.replace('"solve {n}"', '"solve {n}"\nranks = 2'), "started by the launcher 'mpi'"),
        (SMALL.replace('"solve {n}"', '"solve {n}"\nlauncher = "mpi"'), "give ranks"),
        (SMALL.replace("[1, 2]", "[1, 1]"), "parameter 'n': .* must differ"),
        (SMALL.replace("n = [", "run = [").replace("{n}", "{run}"), "may not be called 'run'"),
        ("constraints = ['m < 3']\n" + SMALL, "mentions 'm'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_the_file(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=told) as caught:
        Study.load(written(tmp_path, text))
    assert "study.toml" in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="there is no such file"):
        Study.load(tmp_path / "nothing.toml")


def test_templates() -> None:
    template = Template("{n} {n // 3} {x} {flag} {cores per node} {{n}}")
    values = {"n": 10, "x": 2.5, "flag": True, "cores per node": 4}
    assert template.fill(values) == "10 3 2.5 true 4 {n}"
    assert Template("{x}").fill({"x": 1e6}) == "1000000"
    assert Template("{x}").fill({"x": 0.1}) == "0.1"
    with pytest.raises(InputError, match=r"\{1 / n\} has no value where n=0"):
        Template("{1 / n}").fill({"n": 0})
    with pytest.raises(InputError, match="not allowed"):
        Template("{__import__('os')}")


def test_commands_are_split_into_words_as_a_shell_does() -> None:
    words = Program("solve '{a} b' {n // 2}{m} {{x}} --t={2 * n}").words
    assert [word.text for word in words] == ["solve", "{a} b", "{n // 2}{m}", "{{x}}", "--t={2 * n}"]
    assert [word.text for word in Program(["a b", "{n}"]).words] == ["a b", "{n}"]


def test_whole_numbers_that_could_not_be_told_apart_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('[program]\ncommand = "true {n}"\n[parameters]\nn = [9007199254740993, 9007199254740992]\n')
    with pytest.raises(InputError, match=r"at most 2\^53 in size"):
        Study.load(path)


def test_at_most_one_repetition_is_also_the_fewest(tmp_path: Path) -> None:
    found = Study.load(written(tmp_path, SMALL + "[repetitions]\nmost = 1\n")).repetitions
    assert (found.least, found.most) == (1, 1)
