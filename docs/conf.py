"""How Sphinx makes the site. tools/docs_site.py gathers the sources; ./test docs starts it."""

import posixpath
import re
from pathlib import Path

from docutils import nodes

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


def allow_breaks(app, doctree, docname):
    """Lets long names in tables break behind _ and other marks, and nowhere else."""
    for table in doctree.findall(nodes.table):
        for literal in list(table.findall(nodes.literal)):
            pieces = []
            for word in re.split(r"(?<= )", literal.astext()):
                long = len(word) > 14
                pieces += re.split(r"(?<=[_/.,(=])(?=\w)", word) if long else [word]
            if len(pieces) > 1 and all(type(c) is nodes.Text for c in literal.children):
                literal.clear()
                for piece in pieces:
                    literal += [
                        nodes.Text(piece),
                        nodes.raw("", "<wbr>", format="html"),
                    ]


def setup(app):
    app.add_role("source", source_link)
    app.connect("doctree-resolved", allow_breaks)
