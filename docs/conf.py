"""How Sphinx makes the site. tools/docs_site.py gathers the sources; ./test docs starts it."""

import html
import posixpath
import re
from pathlib import Path

from docutils import nodes
from sphinx.writers.html5 import HTML5Translator

project = "PyCUDA"
copyright = "the authors of PyCUDA"
version = release = re.findall(
    r'__version__ = "(.*)"', Path(__file__).with_name("_version.py").read_text()
)[0]
extensions = ["myst_parser", "sphinx_copybutton"]
copybutton_exclude = (
    ".linenos, .gp, .go"  # what is copied from a block: without prompts and output
)
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
myst_heading_anchors = 3
html_theme = "furo"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_title = f"PyCUDA {version}"
html_show_sphinx = False
html_copy_source = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
cpp_maximum_signature_line_length = 90


def source_link(name, rawtext, text, line, inliner, options=None, content=None):
    """:source:`path#L12`: a link to the page of a source file, which tools/source_pages.py makes."""
    path, _, number = text.partition("#L")
    folder = posixpath.dirname(inliner.document.settings.env.docname)
    address = posixpath.relpath(f"source/{path}.html", folder or ".")
    address += f"#line-{number}" if number else ""
    link = nodes.reference(rawtext, "source", refuri=address, classes=["source-link"])
    return [link], []


def pieces_of(word: str, in_table: bool) -> list[str]:
    """The parts of a word of code between which a line may break: behind _, - and other marks in a long word, also before
    a capital in a very long one. There is no break behind a mark at the start, nor inside a version such as .so.12. An
    option, such as --shrink, breaks at its hyphens only if it is very long."""
    if len(word) <= (14 if in_table else 24):
        return [word]
    marks = r"(?<=.[_/,(=])(?=\w)|(?<=.\.)(?=[^\W\d])"
    if len(word) > 24 or not word.startswith("-"):
        marks += r"|(?<=\w-)(?=\w)"
    if len(word) > 24:
        marks += r"|(?<=[a-z])(?=[A-Z])"
    return re.split(marks, word)


def has_parent(node, kind) -> bool:
    while node := node.parent:
        if isinstance(node, kind):
            return True
    return False


def mark_cards(app, doctree, docname):
    """Gives the class `cards` to tables of three or more columns with words. site.css shows each of their rows as a card
    on a phone. The attribute `column` of a cell is the heading of its column."""
    for table in doctree.findall(nodes.table):
        heads, bodies = [*table.findall(nodes.thead)], [*table.findall(nodes.tbody)]
        if not heads or len(heads[0][0]) < 3:
            continue
        names = [entry.astext() for entry in heads[0][0]]
        rows = [row for body in bodies for row in body]
        cells = [entry for row in rows for entry in row[1:]]
        if all("text-right" in entry["classes"] for entry in cells):
            continue  # numbers are compared along a column
        table["classes"].append("cards")
        for row in rows:
            for name, entry in zip(names, row, strict=False):
                entry["column"] = name if entry.astext() else ""


class Translator(HTML5Translator):
    """Writes the attribute `column` of a table's cell, and the places where a line of code in a text may break."""

    def visit_Text(self, node):
        before = len(self.body)
        super().visit_Text(node)
        if not self.protect_literal_text:
            return
        in_table = has_parent(node, nodes.table)
        for i in range(before, len(self.body)):
            if word := re.fullmatch(r'<span class="pre">(.*)</span>', self.body[i]):
                spans = [
                    f'<span class="pre">{html.escape(piece, quote=False)}</span>'
                    for piece in pieces_of(html.unescape(word[1]), in_table)
                ]
                self.body[i] = "<wbr>".join(spans)

    def visit_entry(self, node):
        super().visit_entry(node)
        if node.get("column"):
            name = self.attval(node["column"])
            self.body[-1] = self.body[-1].replace("<td", f'<td data-column="{name}"', 1)


def setup(app):
    app.add_role("source", source_link)
    app.connect("doctree-resolved", mark_cards)
    app.set_translator("html", Translator)
