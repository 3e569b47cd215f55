"""Pages with the source files that the references link to, with an anchor for each line; tools/docs_site.py calls it."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename

ROOT = Path(__file__).resolve().parent.parent
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{path}</title><style>
body {{ margin: 1rem; font-family: sans-serif; background: white; color: black; }}
pre {{ font-size: 0.85rem; line-height: 1.4; }}
a {{ color: inherit; text-decoration: none; }}
span:target {{ background: #fff3b0; }}
.linenos {{ opacity: 0.5; padding-right: 1em; user-select: none; }}
{light}
@media (prefers-color-scheme: dark) {{
body {{ background: #131416; color: #cfd0d0; }}
span:target {{ background: #4a4520; }}
{dark}
}}
</style></head><body><h1>{path}</h1>
{code}
</body></html>
"""


def formatter(style: str) -> HtmlFormatter:
    return HtmlFormatter(
        style=style, linenos="inline", linespans="line", nobackground=True
    )


def page(path: str, text: str) -> str:
    shown = formatter("friendly")
    return PAGE.format(
        path=escape(path),
        light=shown.get_style_defs(".highlight"),
        dark=formatter("monokai").get_style_defs(".highlight"),
        code=highlight(text, get_lexer_for_filename(path), shown),
    )


def write(pages: Path, folder: Path) -> None:
    """Makes a page of each file that a role ``:source:`` of the pages names."""
    named = {
        path
        for rst in pages.rglob("*.rst")
        for path in re.findall(r":source:`([^`#]+)", rst.read_text())
    }
    for path in sorted(named):
        target = folder / f"{path}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(path, (ROOT / path).read_text()))
