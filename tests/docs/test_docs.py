"""Every Python and console block of the documents runs, in order, and prints what it shows."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Evenly, Printed
from tests.cli.conftest import evenly as evenly  # the fixture
from tests.cluster.conftest import cluster as cluster
from tests.cluster.conftest import running as running

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(python|console|csv|toml|ini|json|text)(?: (\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Return (language, file name or flag, body) of each block that can be run or saved."""
    return [(m.group(1), m.group(2) or "", m.group(3)) for m in BLOCK.finditer(text)]


def words(text: str) -> list[str]:
    return text.split()


def run_console(body: str, folder: Path, evenly: Evenly) -> None:
    """Run each ``$`` line; what follows it up to the next is its output ("…" stands for any text)."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        arguments = shlex.split(command, comments=True)
        # Simple commands of evenly run in this process: starting fifty processes takes minutes.
        if arguments[0] == "evenly" and not set(command) & set("|<>;&$*"):
            done = evenly(*arguments[1:])
        else:
            done = run_in_shell(command, folder)
        assert done.code == 0, f"$ {command}\n{done.out}{done.err}"
        if shown.strip():
            pattern = r"\s+".join(".*?" if w == "…" else re.escape(w) for w in words(shown))
            got = " ".join(words(done.out))
            assert re.search(pattern, got, re.DOTALL), f"$ {command}\nshown:\n{shown}\nprinted:\n{done.out}"


def run_in_shell(command: str, folder: Path) -> Printed:
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    return Printed(done.returncode, done.stdout, done.stderr)


def needs(document: Path) -> None:
    """Skip a guide whose program isn't here, unless it must be."""
    if document.name == "meep.md" and os.environ.get("EVENLY_NEEDS_MEEP") != "1":
        from evenly.adapters.meep.cell.interpreter import find_python

        try:
            find_python()
        except ValueError as error:
            pytest.skip(str(error))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_blocks_run(
    document: Path,
    tmp_path: Path,
    evenly: Evenly,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    needs(document)
    if document.name == "cluster.md":
        request.getfixturevalue("cluster")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "100")
    names: dict[str, object] = {"__name__": "__docs__"}
    for language, label, body in blocks(document.read_text(encoding="utf-8")):
        if label and language != "console":
            (tmp_path / label).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / label).write_text(body, encoding="utf-8")
        # Scripts of Meep run in its own Python, by what the console blocks do with them.
        if language == "python" and label != "fragment" and "import meep" not in body:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(body, f"{document.name}", "exec"), names)  # noqa: S102
        elif language == "console":
            run_console(body, tmp_path, evenly)


def test_there_is_something_to_run() -> None:
    assert any(blocks(d.read_text(encoding="utf-8")) for d in DOCUMENTS)
