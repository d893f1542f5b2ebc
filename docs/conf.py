"""How Sphinx builds the documentation site: `make docs`."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from pygments.lexers.special import TextLexer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from imports import with_imports
from reference import write

write(HERE / "generated")

project = "evenly"
author = "The evenly developers"
copyright = author  # noqa: A001
release = importlib.metadata.version("evenly")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery"]
templates_path = ["_templates"]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

smartquotes = False  # quotes and dashes of commands stay as they are typed
default_role = "py:obj"  # names in single backticks become links where the reference has them
autodoc_typehints = "none"  # the docstrings say types, shapes and units
autosummary_generate = ["generated/python.rst"]
autosummary_imported_members = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "evenly"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"index": [], "start": [], "compared": []}
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def _pages_outside(_app: object, page: str, source: list[str]) -> None:
    """Pages link to files beside this folder, which are pages of the site under other names."""
    for file, name in {"../CONTRIBUTING.md": "contributing.md", "../CHANGELOG.md": "changelog.md"}.items():
        if not page.startswith(name[:-3]):
            source[0] = source[0].replace(f"]({file}", f"]({name}")


def _imported(_app: object, _what: str, _name: str, thing: Any, _options: object, lines: list[str]) -> None:
    """Examples can be copied: they begin with what they import."""
    module = sys.modules.get(getattr(thing, "__module__", None) or "")
    if module is not None:
        lines[:] = with_imports(lines, vars(module))


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise SkipNode


def _block(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise SkipNode


def setup(app) -> None:
    app.connect("source-read", _pages_outside)
    app.connect("autodoc-process-docstring", _imported, priority=100)  # before numpydoc
    app.add_lexer("csv", TextLexer)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))  # needs neither scripts nor a network
