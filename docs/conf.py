"""How Sphinx makes the site. tools/docs_site.py gathers the sources; ./test docs starts it."""

import re
from pathlib import Path

project = "PyCUDA"
copyright = "the authors of PyCUDA"
version = release = re.findall(
    r'__version__ = "(.*)"', Path(__file__).with_name("_version.py").read_text()
)[0]
extensions = ["myst_parser"]
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
pygments_dark_style = "monokai"
