# SPDX-License-Identifier: MIT
"""The committed page in a real browser, at desktop and phone width."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from results import REFERENCE

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PAGE = REFERENCE.with_suffix(".html").as_uri()
PATIENCE_MS = 600_000  # on a busy machine
# Elements wider than the window that are outside of every scrollable box.
ESCAPED = """() => [...document.querySelectorAll("body *")].filter(e =>
    e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll")
).map(e => e.tagName + " " + e.textContent.slice(0, 40))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium
        opened = chromium.launch(
            executable_path=found, args=["--no-sandbox"], timeout=PATIENCE_MS
        )
        yield opened
        opened.close()


def new_page(browser: Any, width: int, scheme: str = "light") -> Any:
    size = {"width": width, "height": 900}
    opened = browser.new_page(viewport=size, color_scheme=scheme)
    opened.set_default_timeout(PATIENCE_MS)
    return opened


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_without_a_fault(width: int, scheme: str, browser: Any) -> None:
    opened = new_page(browser, width, scheme)
    said: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(PAGE)
    assert said == []
    assert requests == [PAGE]
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.evaluate(ESCAPED) == []
    opened.close()


def test_no_column_of_words_is_squeezed(browser: Any) -> None:
    opened = new_page(browser, 390)
    opened.goto(PAGE)
    widths = opened.evaluate(
        """() => [...document.querySelectorAll(".words td")].map(
        e => e.getBoundingClientRect().width)"""
    )
    assert min(widths) > 100
    opened.close()


def test_every_plot_is_seen_and_can_be_read(browser: Any) -> None:
    opened = new_page(browser, 390)
    opened.goto(PAGE)
    sizes = opened.evaluate("""() => [...document.querySelectorAll("svg")].map(e => {
        const place = e.getBoundingClientRect();
        const letters = [...e.querySelectorAll("text")].map(
            t => t.getBoundingClientRect().height);
        return [place.width, place.height, Math.min(...letters)];
    })""")
    assert len(sizes) >= 25
    for width, height, letters in sizes:
        assert width > 300 and height > 80
        assert letters > 8  # the height of a line in pixels
    opened.close()


def test_no_label_is_cut_off_or_lies_on_another(browser: Any) -> None:
    opened = new_page(browser, 1280)
    opened.goto(PAGE)
    faults = opened.evaluate(
        """() => [...document.querySelectorAll("svg")].flatMap(e => {
        const all = e.getBoundingClientRect();
        const texts = [...e.querySelectorAll("text")];
        const places = texts.map(t => t.getBoundingClientRect());
        const cut = texts.filter((t, i) =>
            places[i].left < all.left - 1 || places[i].right > all.right + 1);
        const met = texts.filter((t, i) => places.some((p, j) => j < i &&
            p.left < places[i].right - 1 && places[i].left < p.right - 1 &&
            p.top < places[i].bottom - 3 && places[i].top < p.bottom - 3));
        return [...cut, ...met].map(t => e.getAttribute("aria-label") + t.textContent);
    })"""
    )
    assert faults == []
    opened.close()
