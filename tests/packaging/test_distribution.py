"""The wheel and the source distribution: what is in them, and that they work where nothing else is installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOME = "https://example.org/evenly"
#: This Python, and with EVENLY_ALL_PYTHONS=1 the others that pyenv has.
PYTHONS = [sys.executable]
if os.environ.get("EVENLY_ALL_PYTHONS") == "1":
    PYTHONS = [
        str(path) for minor in (11, 12, 13) for path in Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")
    ]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("built")
    # The wheel is built from the source distribution.
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    known = {**os.environ, "EVENLY_URL": f"{HOME}/"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=known)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


@pytest.mark.slow
def test_what_is_in_them(built: tuple[Path, Path]) -> None:
    wheel, source = built
    names = zipfile.ZipFile(wheel).namelist()
    # All that is in the package's folder and not made by running it.
    ours = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "evenly").rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".nbi", ".nbc") and "__pycache__" not in path.parts
    }
    assert ours - set(names) == set()
    assert {name.split("/")[0] for name in names} == {"evenly", f"evenly-{wheel.name.split('-')[1]}.dist-info"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert wheel.stat().st_size < 5_000_000
    with tarfile.open(source) as packed:
        inside = {name.partition("/")[2] for name in packed.getnames()}
    assert {"pyproject.toml", "LICENSE", "CITATION.cff", "README.md", "src/evenly/py.typed"} <= inside
    metadata = zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert "Description-Content-Type: text/markdown" in metadata
    assert f"Project-URL: Issues, {HOME}/issues" in metadata
    assert f"[tables]({HOME}/blob/main/docs/tables.md)" in metadata
    assert f"({HOME}/raw/main/docs/timeline.svg)" in metadata
    # On a package index, a link that leads to a file of the checkout is broken.
    assert not re.search(r"\]\((?!https?:)", metadata)


@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS)
def test_it_works_where_nothing_else_is_installed(built: tuple[Path, Path], tmp_path: Path, python: str) -> None:
    subprocess.run([python, "-m", "venv", tmp_path / "env"], check=True)
    tools = tmp_path / "env" / "bin"
    done = subprocess.run([tools / "python", "-m", "pip", "-q", "install", built[0]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "EVENLY"))}
    clean["EVENLY_HOME"] = str(tmp_path / "home")

    def evenly(*words: str) -> str:
        ran = subprocess.run(
            [tools / "evenly", *words], cwd=tmp_path, env=clean, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    assert evenly("--version").startswith("evenly ")
    evenly("example", "gaussian-pulse", "case")
    plan = json.loads(evenly("allocate", "case/gaussian-pulse", "--cores", "560", "--method", "power-law", "--json"))
    assert sum(plan["cores"].values()) <= 560
    evenly("report", "case/gaussian-pulse", "--method", "power-law", "--next", "0", "-o", "page.html")
    assert "data-explorer" in (tmp_path / "page.html").read_text()
