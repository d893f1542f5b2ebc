"""Gives a package its addresses while it is built: the environment's EVENLY_URL is that of the repository.

With it, the package has the project's addresses, and README's links lead there, so that it reads on a package index.
Without it, there are none: a checkout knows no address of its own.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A link or picture of Markdown to a file of the repository: ](docs/meep.md).
_OWN_FILE = re.compile(r"(!?\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)")


class Addresses(MetadataHookInterface):
    """The dynamic fields ``readme`` and ``urls`` of pyproject.toml."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the fields."""
        home = os.environ.get("EVENLY_URL", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, home) if home else text}
        metadata["urls"] = addresses(home) if home else {}


def addresses(home: str) -> dict[str, str]:
    """Return the project's addresses by name."""
    return {
        "Homepage": home,
        "Documentation": f"{home}/blob/main/docs/index.md",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }


def absolute(text: str, home: str) -> str:
    """Return Markdown whose links to files of the repository lead to `home`; pictures lead to the files themselves."""

    def link(found: re.Match[str]) -> str:
        shown, file = found.groups()
        return f"{shown}({home}/{'raw' if shown.startswith('!') else 'blob'}/main/{file})"

    return _OWN_FILE.sub(link, text)
