#!/usr/bin/env python3
"""Check the documentation in build/docs/html: its links, its markup, and its pages in a browser.

    tools/check_site.py [FOLDER]    writes screenshots of some pages to FOLDER

Each link to a page, a picture or an anchor of the documentation must be valid. No text except a source file may show the
markup of a docstring. If a Chromium is installed, a browser opens the main pages with the width of a desktop, and all pages
but the references with that of a phone: a page must load without script errors, its pictures must be shown, it must fit
the width, no line may break inside a word of code, and the search must find a function.
"""

from __future__ import annotations

import re
import shutil
import sys
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, TimeoutError, sync_playwright

HTML = Path(__file__).resolve().parent.parent / "build/docs/html"
SHOWN = (
    "index",
    "installing",
    "tutorial",
    "gallery",
    "benchmarks",
    "packages",
    "ptx_instructions",
    "reference/cumath",
    "reference/gpuarray",
    "cpp",
    "cpp_reference/memory",
)
# Words of code with a line break inside, and headings of columns with markup (docs/conf.py).
BROKEN_WORDS = """[...document.querySelectorAll("code .pre")]
    .filter(word => word.getClientRects().length > 1).map(word => word.textContent)"""
MARKED_HEADS = """[...document.querySelectorAll("td[data-column*='<']")].map(cell => cell.dataset.column)"""
WIDE_TABLES = """[...document.querySelectorAll(".table-wrapper")]
    .some(wrapper => wrapper.scrollWidth > wrapper.clientWidth + 1)"""
RAW_MARKUP = re.compile(r":(?:py:)?(?:class|meth|func|mod|data|attr|exc):`")


class Page(HTMLParser):
    """The links, the anchors and the text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.text: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            if value and (name, tag) in (("href", "a"), ("src", "img")):
                self.links.append(value)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without logging requests."""

    def log_message(self, *_: object) -> None:
        pass


def check_pages(folder: Path) -> list[str]:
    """The errors in the links and texts of a folder of pages."""
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        found = RAW_MARKUP.search("".join(page.text))
        if found and name.parts[0] != "source":  # a source shows its markup
            wrong.append(f"{name}: raw markup: {found[0]}")
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (
                (path.parent / unquote(parts.path)).resolve() if parts.path else path
            )
            if not target.is_file():
                wrong.append(f"{name}: no file for the link {link}")
            elif parts.fragment and target in pages:
                if unquote(parts.fragment) not in pages[target].places:
                    wrong.append(f"{name}: no place for the link {link}")
    return wrong


def browse(folder: Path, chromium: str, shots: Path | None) -> list[str]:
    """The errors in a browser; writes screenshots if requested."""
    wrong: list[str] = []
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(folder))
    )
    Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
        for name in SHOWN:
            page.goto(f"{site}/{name}.html")
            empty = "[...document.images].filter(i => !i.naturalWidth).map(i => i.src)"
            wrong += [
                f"{name}: the picture {src} does not show"
                for src in page.evaluate(empty)
            ]
            if page.evaluate(WIDE_TABLES):
                wrong.append(f"{name}: a table is wider than the page")
            if shots:
                page.screenshot(path=shots / f"{name.replace('/', '_')}.png")
        wrong += browse_on_a_phone(browser, site, folder, shots)
        page.goto(f"{site}/search.html?q=hypot")
        try:
            page.wait_for_selector("#search-results li a", timeout=20_000)
        except TimeoutError:
            wrong.append("the search finds no hypot")
        if shots:
            page.screenshot(path=shots / "search.png")
        browser.close()
    server.shutdown()
    return wrong


def browse_on_a_phone(
    browser: Browser, site: str, folder: Path, shots: Path | None
) -> list[str]:
    """The errors of pages on a phone; tables may scroll in their frames."""
    wrong = []
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme="dark"
    )
    page = context.new_page()
    pages = [*folder.glob("*.html"), *folder.glob("course/*.html")]
    names = {str(path.relative_to(folder).with_suffix("")) for path in pages}
    for name in sorted(names | set(SHOWN)):
        page.goto(f"{site}/{name}.html")
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            wrong.append(f"{name}: {width} pixels wide on a phone")
        wrong += [
            f"{name}: a line breaks inside {word!r} on a phone"
            for word in page.evaluate(BROKEN_WORDS)
        ]
        wrong += [
            f"{name}: markup in the heading {text!r}"
            for text in page.evaluate(MARKED_HEADS)
        ]
        if shots and name in SHOWN:
            page.screenshot(path=shots / f"{name.replace('/', '_')}_phone.png")
    context.close()
    return wrong


def main(arguments: list[str]) -> int:
    shots = Path(arguments[0]) if arguments else None
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    wrong = check_pages(HTML)
    if chromium := shutil.which("chromium") or shutil.which("chromium-browser"):
        wrong += browse(HTML, chromium, shots)
    else:
        print("no chromium here: the pages were not opened in a browser")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
