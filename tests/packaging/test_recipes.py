"""The recipes for conda, Spack and containers ask for what pyproject.toml asks for."""

from __future__ import annotations

import ast
import re
import subprocess
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from rattler_build import RattlerBuildError, RenderConfig, Stage0Recipe, VariantConfig

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: Packages that have another name there.
CONDA = {"matplotlib": "matplotlib-base"}


def wanted(requirements: list[str]) -> dict[str, str]:
    """Return package → lower bound; of several lines for one package, all have the same."""
    found: dict[str, str] = {}
    for line in requirements:
        name, bound = re.fullmatch(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)(?:,<[\d.]+)?(?:;.*)?", line.strip()).groups()  # type: ignore[union-attr]
        assert found.setdefault(name, bound) == bound
    return found


def test_condas_recipe() -> None:
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())
    asked = dict(line.split(" >=") for line in recipe["requirements"]["run"])
    assert asked.pop("python") == PROJECT["requires-python"].removeprefix(">=")
    assert asked == {CONDA.get(name, name): bound for name, bound in wanted(PROJECT["dependencies"]).items()}
    assert recipe["context"]["version"] == PROJECT["version"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["summary"] == PROJECT["description"]
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == "evenly = " + PROJECT["scripts"]["evenly"]


def test_condas_builder_reads_the_recipe() -> None:
    recipe = Stage0Recipe.from_file(str(ROOT / "packaging" / "conda" / "recipe.yaml"))
    (made,) = recipe.render(VariantConfig(), RenderConfig())
    assert made.recipe.package.name == "evenly"
    with pytest.raises(RattlerBuildError, match="unknown top-level field"):
        Stage0Recipe.from_yaml("package: {name: evenly, version: 0.1.0}\nneeds: []")


def test_spacks_recipe() -> None:
    tree = ast.parse((ROOT / "packaging" / "spack" / "package.py").read_text())
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "depends_on"
    ]
    always: dict[str, str] = {}
    optional: dict[str, dict[str, str]] = {}
    for call in calls:
        name, _, bound = ast.literal_eval(call.args[0]).removesuffix(":").partition("@")
        given = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
        place = optional.setdefault(given["when"].removeprefix("+"), {}) if "when" in given else always
        place[name.removeprefix("py-")] = bound
    assert always.pop("python") == PROJECT["requires-python"].removeprefix(">=")
    always.pop("hatchling")
    assert always == wanted(PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    for variant, asked in optional.items():
        known = wanted(extras[variant])
        assert {name: known[name] for name in asked} == asked


def test_the_container_is_as_its_linter_wants_it() -> None:
    (linter,) = Path(sysconfig.get_path("scripts")).glob("hadolint*")
    done = subprocess.run([linter, ROOT / "packaging" / "Containerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_container_installs_extras_that_there_are() -> None:
    text = (ROOT / "packaging" / "Containerfile").read_text()
    extras = re.search(r"'/src\[([\w,]+)\]'", text)
    assert extras is not None
    assert set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])
    version = re.search(r"python:(\d+)\.(\d+)", text)
    assert version is not None
    assert (int(version[1]), int(version[2])) >= (3, 11)
    assert text.count("ENTRYPOINT") == 1


@pytest.mark.parametrize("line", ["numpy>=1.24", "pandas>=1.5.3,<3; python_version < '3.12'", "evenly[all]>=1"])
def test_requirements_are_understood(line: str) -> None:
    assert len(wanted([line])) == 1
