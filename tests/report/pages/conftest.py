"""A browser for pages: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

Opened = Callable[..., "Tab"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A running browser; EVENLY_NEEDS_CHROMIUM=1 makes it a failure that there is none."""
    program = shutil.which("chromium")
    if program is None:
        if os.environ.get("EVENLY_NEEDS_CHROMIUM") == "1":
            pytest.fail("there is no chromium")
        pytest.skip("there is no chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    """Open a page; the test fails if it logs an error, or asks for anything but itself."""
    wrong: list[str] = []
    contexts = []

    def open_(path: Path, *, width: int = 1000, dark: bool = False) -> Tab:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda asked: wrong.append(asked.url) if asked.url != path.as_uri() else None)
        tab.goto(path.as_uri())
        return tab

    yield open_
    for context in contexts:
        context.close()
    assert not wrong
