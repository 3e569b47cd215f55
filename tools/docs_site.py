#!/usr/bin/env python3
"""Build the documentation in build/docs/html; ./test docs calls this program.

    ./run tools/docs_site.py

The sources are collected in build/docs/source: the pages of docs/, the changelog, CONTRIBUTING.md, and references that
are generated from the docstrings (tools/reference.py) and from the headers of libpycuda (tools/cpp_reference.py). The
cells of the course run on softcuda, and the pages show their results (tools/course_results.py). Sphinx then builds the
pages. A warning is an error: a link to a page or heading that does not exist, an invalid docstring.
"""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import course_results  # noqa: E402
import cpp_reference  # noqa: E402
import reference  # noqa: E402
import source_pages  # noqa: E402

ROOT = reference.ROOT
SITE = ROOT / "build/docs"
# The position of the repository's pages in the documentation.
MOVED = {
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../README.md": "index.md",
    "../core/include/pycuda": "cpp_reference/index.rst",
}


def moved(text: str) -> str:
    """A page's text with the links of the documentation."""
    for old, new in MOVED.items():
        text = text.replace(f"]({old})", f"]({new})")
    text = re.sub(r"\]\((?:\.\./)?docs/([\w/.]+\.md)", r"](\1", text)
    # The site has no page for other files of the repository: their names stay.
    return re.sub(r"\[([^]]+)\]\(\.\./[\w/.-]+\)", r"\1", text)


def with_charts(text: str, folder: Path) -> str:
    """A page with its charts inside, so that they have the colours of the page: light or dark."""

    def chart(found: re.Match) -> str:
        drawn = (folder / found[1]).read_text()
        drawn = re.sub(r"<style>.*?</style>", "", drawn)
        return f'```{{raw}} html\n<figure class="chart">{drawn}</figure>\n```'

    return re.sub(r"!\[[^]]*\]\((pictures/benchmarks/\w+\.svg)\)", chart, text)


def with_results(path: Path, results: list[dict[str, str]]) -> None:
    """Writes a notebook's cells as blocks of code, each with its result below."""
    left = iter(results)

    def block(found: re.Match) -> str:
        language = "cuda" if found[2].startswith("%%cuda\n") else "python"
        text = f"```{language}\n{found[2]}```"
        result = next(left)
        if result["text"]:
            text += (
                f"\n\n````{{code-block}} text\n:class: result\n\n{result['text']}\n````"
            )
        if result["picture"]:
            picture = path.with_name(f"{path.stem}_{found.start()}.png")
            picture.write_bytes(base64.b64decode(result["picture"]))
            text += f"\n\n![The picture that the cell draws]({picture.name})"
        return text

    cell = r"^```\{code-cell\} ipython3\n(:tags: [^\n]*\n\n)?(.*?)^```$"
    text = re.sub(cell, block, path.read_text(), flags=re.MULTILINE | re.DOTALL)
    path.write_text(text)


def gather(source: Path) -> None:
    """Copies all sources to a folder."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "python/pycuda/_version.py", source)
    shutil.copy(ROOT / "CHANGELOG.md", source / "changelog.md")
    shutil.copy(ROOT / "CONTRIBUTING.md", source / "contributing.md")
    for path in source.glob("*.md"):
        path.write_text(with_charts(moved(path.read_text()), source))
    chapters = sorted((ROOT / "docs/course").glob("[0-9]*.md"))
    for name, results in course_results.results(chapters, SITE / "results").items():
        with_results(source / f"course/{name}.md", results)
    references = {
        "reference": reference.pages(ROOT),
        "cpp_reference": cpp_reference.pages(),
    }
    for folder, pages in references.items():
        (source / folder).mkdir()
        for name, text in pages.items():
            (source / folder / name).write_text(text)


def main() -> int:
    source, html = SITE / "source", SITE / "html"
    gather(source)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2"]
    status = subprocess.call([*command, "-d", SITE / "doctrees", source, html])
    if status == 0:
        source_pages.write(source, html / "source")
        print(f"the site is {html}/index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())
