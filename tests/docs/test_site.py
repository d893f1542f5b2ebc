"""Links of the documents lead to files and headings that exist. (`make docs` builds the site and runs its gallery.)"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_docs import DOCUMENTS, ROOT

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
#: Pages that the build writes.
GENERATED = ROOT / "docs" / "generated"


def prose(text: str) -> str:
    """Return a document without its blocks and code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(document: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_links_lead_somewhere(document: Path) -> None:
    for found in LINK.finditer(prose(document.read_text(encoding="utf-8"))):
        link = found.group(1) or found.group(2)
        if re.match(r"https?:|mailto:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (document.parent / file).resolve() if file else document
        if target.is_relative_to(GENERATED):
            continue
        assert target.exists(), f"{document.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{document.name}: {link}"


def test_the_site_lists_each_page() -> None:
    listed = {
        line.partition("<")[2].rstrip(">") or line
        for page in (ROOT / "docs").glob("*.md")
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        for line in block.splitlines()
    }
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} - listed == {"index"}
