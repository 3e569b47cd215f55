#!/usr/bin/env python3
"""Generate the reference of libpycuda: a page for each group of the headers in core/include/pycuda.

    ./run tools/cpp_reference.py FOLDER    write the pages, in reStructuredText; ./test docs does it

Doxygen parses the headers. This program turns Doxygen's XML into entries of Sphinx's domain for C++, in the order of the
headers. The Sphinx extension breathe does the same, but takes minutes for these headers, describes the namespace again
on each page, and has no groups and no summary tables.

The pages have the public names of the namespace pycuda that a program can use. They leave out private members, the
namespace pycuda::detail, and destructors, assignments and deleted functions without a comment.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = Path("core/include")
UMBRELLA = "pycuda"  # pycuda.h includes the others


@dataclass(frozen=True)
class Group:
    """A page: its title, what a reader finds there, and the names of its headers without ``.h``."""

    title: str
    about: str
    headers: str


GROUPS = {
    "devices": Group(
        "Devices, contexts and errors",
        "How a program starts, and how calls report errors.",
        "init driver driver_calls device device_traits compute_capability context primary_context green_context error kernel_fault "
        "softcuda_library handle caller_lock called_function failed_check",
    ),
    "memory": Group(
        "Memory and copies",
        "Memory of the device and of the host, copies, and textures.",
        "memory copy staging memory_pool virtual_memory cuda_array texture tensor_map host_range known_address",
    ),
    "streams": Group(
        "Streams, events and graphs",
        "The order of work on the device.",
        "stream event wait graph work kept_objects pending_work",
    ),
    "launches": Group(
        "Modules and launches",
        "Loaded code, its kernels, and their arguments.",
        "module function launch argument_block launch_attributes kernel_signature parameter",
    ),
    "compiler": Group(
        "Compiling",
        "From CUDA C++ to code that the driver loads.",
        "compiler compile_error image_kind jit_linker kernel_variant",
    ),
    "kernels": Group(
        "Kernels from expressions",
        "Elementwise kernels, reductions and scans whose bodies are C expressions.",
        "elementwise_kernel reduction_kernel scan_kernel kernel_argument",
    ),
    "arrays": Group(
        "Arrays",
        "Typed, strided views of device memory, and the operations of pycuda.gpuarray.",
        "array array_memory dtype layout scalar array_operation array_fusion fused_program array_reduction "
        "array_scan array_sort array_parts array_product array_index array_gather array_nonzero array_rows "
        "index_check array_small_matrices array_libraries array_sparse",
    ),
    "tools": Group(
        "Check modes, profiles, NCCL",
        "What softcuda reports about kernels, and communication between devices.",
        "check_modes profile noted_operation nccl",
    ),
}

SETTINGS = """
PROJECT_NAME = pycuda
INPUT = {include}/pycuda
STRIP_FROM_PATH = {include}
INCLUDE_PATH = {include}
OUTPUT_DIRECTORY = {output}
EXCLUDE_SYMBOLS = pycuda::detail pycuda::detail::*
PREDEFINED = CUDAAPI=
EXTRACT_ALL = YES
GENERATE_XML = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
MACRO_EXPANSION = YES
XML_PROGRAMLISTING = NO
QUIET = YES
WARNINGS = NO
"""


@dataclass
class Entry:
    """A name of a header. ``directive`` is that of Sphinx's domain; ``heads`` has the declaration."""

    directive: str
    head: str
    name: str
    line: int
    text: str = ""
    members: list[Entry] = field(default_factory=list)


def run_doxygen(output: Path) -> list[ElementTree.Element]:
    """The descriptions of namespaces and classes."""
    if not shutil.which("doxygen"):
        sys.exit("the reference of C++ needs doxygen: apt-get install doxygen")
    settings = SETTINGS.format(include=ROOT / INCLUDE, output=output)
    # Its messages are about comments whose words look like commands, such as "#include".
    done = subprocess.run(
        ["doxygen", "-"], input=settings, text=True, capture_output=True
    )
    if done.returncode != 0:
        sys.exit(f"doxygen failed:\n{done.stderr}")
    paths = sorted((output / "xml").glob("*.xml"))
    return [
        compound
        for path in paths
        for compound in ElementTree.parse(path).getroot().iter("compounddef")
        if compound.get("kind") in ("namespace", "class", "struct")
    ]


# -- text -----------------------------------------------------------------------------------------


def plain(element: ElementTree.Element | None) -> str:
    """The text of an element without its markup, on one line."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def escape(text: str) -> str:
    return re.sub(r"([*`|\\]|_(?=\W|$))", r"\\\1", text)


def with_code(text: str) -> str:
    """A line of a comment as reStructuredText: `code` as ``code``."""
    words = escape(text).split("\\`")
    return "".join(
        f"``{word}``" if number % 2 else word for number, word in enumerate(words)
    )


def inline(element: ElementTree.Element) -> str:
    """A paragraph as reStructuredText."""
    parts = [escape(element.text or "")]
    for child in element:
        if child.tag == "computeroutput":
            parts.append(f"``{plain(child)}``")
        else:
            parts.append(inline(child))
        tail = child.tail or ""
        joined = child.tag == "computeroutput" and tail[:1].isalnum()
        parts.append(("\\ " if joined else "") + escape(tail))
    return " ".join("".join(parts).split())


def description(element: ElementTree.Element) -> str:
    """The comment of a declaration, as paragraphs."""
    paragraphs = []
    for kind in ("briefdescription", "detaileddescription"):
        for part in element.findall(f"{kind}/para"):
            for listing in part.findall("verbatim"):
                code = textwrap.indent(textwrap.dedent(listing.text or ""), "   ")
                paragraphs.append(f".. code-block:: cpp\n   :force:\n\n{code}")
                part.remove(listing)
            if words := inline(part):
                paragraphs.append(words)
    return "\n\n".join(paragraphs)


def first_sentence(text: str) -> str:
    paragraph = text.split("\n\n")[0]
    found = re.match(r".*?\.(?=\s|$)", paragraph)
    return found[0] if found else paragraph


# -- declarations ---------------------------------------------------------------------------------


def declare(kind: str, name: str) -> str:
    """``int name``, or ``int (*name)(float)`` for a pointer to a function."""
    if "(*)" in kind:
        return kind.replace("(*)", f"(*{name})")
    return f"{kind} {name}".strip()


def template_of(element: ElementTree.Element) -> str:
    parameters = element.find("templateparamlist")
    if parameters is None:
        return ""
    words = [
        declare(plain(p.find("type")), p.findtext("declname", "").strip())
        + (f" = {plain(p.find('defval'))}" if p.find("defval") is not None else "")
        for p in parameters
    ]
    return f"template <{', '.join(words)}> "


def line_of(element: ElementTree.Element) -> int:
    return int(element.find("location").get("line"))


def is_special(name: str, owner: str, head: str) -> bool:
    """Whether a function is a destructor, an assignment, a copy or a move, or deleted."""
    own = re.escape(owner.rpartition("::")[2])
    moves = re.fullmatch(rf"{own}\((const )?{own} &&?\w*\).*", head) is not None
    return name.startswith("~") or name == "operator=" or moves or "delete" in head


def function(element: ElementTree.Element, owner: str) -> Entry | None:
    name = element.findtext("name", "")
    arguments = element.findtext("argsstring", "")
    arguments = re.sub(r"\s*=\s*(default|delete|0)$", r" = \1", arguments)
    kind = re.sub(r"\[\[nodiscard\]\]\s*", "", plain(element.find("type")))
    text = description(element)
    if is_special(name, owner, f"{name}{arguments}") and not text:
        return None
    words = [
        "static" if element.get("static") == "yes" and owner != "pycuda" else "",
        "explicit" if element.get("explicit") == "yes" else "",
        kind,
    ]
    head = " ".join([*filter(None, words), f"{name}{arguments}"])
    return Entry("function", template_of(element) + head, name, line_of(element), text)


def enumeration(element: ElementTree.Element) -> Entry:
    name = element.findtext("name", "")
    strong = element.get("strong") == "yes"
    values = element.findall("enumvalue")
    texts = [description(value) for value in values]
    entry = Entry(
        "enum-class" if strong else "enum",
        name,
        name,
        line_of(element),
        description(element),
    )
    names = [value.findtext("name", "") for value in values]
    if any(texts):
        entry.members = [
            Entry("enumerator", value, value, entry.line, text)
            for value, text in zip(names, texts, strict=True)
        ]
    else:
        entry.text += "\n\nValues: " + ", ".join(f"``{value}``" for value in names)
        entry.text = entry.text.strip()
    return entry


def variable(element: ElementTree.Element) -> Entry:
    name = element.findtext("name", "")
    start = plain(element.find("initializer"))
    # A lambda or a long table says nothing to a reader.
    start = f" {start}" if start and len(start) < 50 and "[" not in start else ""
    static = "static " if element.get("static") == "yes" else ""
    kind, rest = plain(element.find("type")), element.findtext("argsstring") or ""
    head = f"{static}{kind} {name}{rest}{start}"  # rest: of a pointer to a function
    return Entry("member", head, name, line_of(element), description(element))


def alias(element: ElementTree.Element) -> Entry:
    name, of = element.findtext("name", ""), plain(element.find("type"))
    head = f"{template_of(element)}{name} = {of}"
    return Entry("type", head, name, line_of(element), description(element))


def member(element: ElementTree.Element, owner: str) -> Entry | None:
    kind = element.get("kind")
    if element.get("prot") == "private" or kind in ("friend", "define"):
        return None
    if kind == "function":
        return function(element, owner)
    make = {"enum": enumeration, "variable": variable, "typedef": alias}
    return make[kind](element)


def class_of(compound: ElementTree.Element) -> Entry:
    name = compound.findtext("compoundname", "")
    bases = [
        plain(base)
        for base in compound.findall("basecompoundref")
        if base.get("prot") == "public"
    ]
    inherits = f" : public {', public '.join(bases)}" if bases else ""
    short = name.removeprefix("pycuda::")
    entry = Entry(
        "struct" if compound.get("kind") == "struct" else "class",
        f"{template_of(compound)}{short}{inherits}",
        short,
        line_of(compound),
        description(compound),
    )
    found = [member(item, name) for item in compound.iter("memberdef")]
    entry.members = sorted(filter(None, found), key=lambda item: item.line)
    return entry


def read_headers() -> dict[str, list[Entry]]:
    """The entries of each header, in the order of its lines."""
    headers: dict[str, list[Entry]] = {}
    with tempfile.TemporaryDirectory() as folder:
        compounds = run_doxygen(Path(folder))
    for compound in compounds:
        name = compound.findtext("compoundname", "")
        if not (name + "::").startswith("pycuda::"):
            continue
        if compound.get("kind") == "namespace":
            for item in compound.iter("memberdef"):
                if name == "pycuda" and (entry := member(item, name)):
                    file = item.find("location").get("file")
                    headers.setdefault(Path(file).stem, []).append(entry)
        elif compound.get("prot") != "private":
            file = compound.find("location").get("file")
            headers.setdefault(Path(file).stem, []).append(class_of(compound))
    return {
        name: sorted(entries, key=lambda e: e.line) for name, entries in headers.items()
    }


# -- pages ----------------------------------------------------------------------------------------


def about_header(path: Path) -> tuple[str, str]:
    """The comment at the start of a header: its first line, and the rest as reStructuredText."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    first = lines[0].partition(" -- ")[2]
    blocks = "\n".join(lines[1:]).strip("\n").split("\n\n")
    text = []
    for block in filter(str.strip, blocks):
        if all(line.startswith("    ") for line in block.splitlines() if line):
            text.append(
                ".. code-block:: cpp\n   :force:\n\n"
                + textwrap.indent(textwrap.dedent(block), "   ")
            )
        else:
            words = re.sub(r"`([^`]+)`", r"``\1``", re.sub(r"\s+", " ", block))
            text.append("\n".join([re.sub(r"(?<!`)\*", r"\\*", words)]))
    return first[:1].upper() + first[1:], "\n\n".join(text)


def show(entry: Entry, source: str) -> str:
    lines = [f".. cpp:{entry.directive}:: {entry.head}", ""]
    body = f":source:`{source}#L{entry.line}`\n\n" if source else ""
    body += entry.text + "\n"
    for item in entry.members:
        body += "\n" + show(item, "")
    return "\n".join(lines) + "\n" + textwrap.indent(body, "   ")


def summary(entries: list[Entry]) -> str:
    """A table of the names and their first sentences."""
    rows: dict[str, str] = {}
    for entry in entries:
        rows[entry.name] = rows.get(entry.name) or first_sentence(entry.text)
    lines = [".. list-table::", "   :class: summary", "   :widths: 30 70", ""]
    for name, sentence in rows.items():
        role = "" if "<" in name else ":cpp:any:"
        lines += [f"   * - {role}`{name}`", f"     - {sentence}"]
    return "\n".join(lines) + "\n"


def heading(text: str, mark: str) -> str:
    return f"{text}\n{mark * len(text)}\n"


def header_section(name: str, entries: list[Entry]) -> str:
    path = INCLUDE / f"pycuda/{name}.h"
    first, rest = about_header(ROOT / path)
    parts = [
        f".. _cpp-{name.replace('_', '-')}:\n",
        heading(f"{name}.h", "-"),
        f":source:`{path}`\n",
        f"{with_code(first)}\n",
        f"{rest}\n" if rest else "",
        summary(entries) if len(entries) > 1 else "",
        *(show(entry, str(path)) for entry in entries),
    ]
    return "\n".join(filter(None, parts))


def page(group: Group, headers: dict[str, list[Entry]]) -> str:
    parts = [heading(group.title, "="), f"{group.about}\n", ".. cpp:namespace:: pycuda"]
    parts += [header_section(name, headers.get(name, [])) for name in names(group)]
    return "\n".join(parts)


def names(group: Group) -> list[str]:
    return group.headers.split()


def index() -> str:
    text = heading("C++ reference", "=")
    text += "\nThe public headers of libpycuda, made of the comments in ``core/include/pycuda``. "
    text += "``#include <pycuda/pycuda.h>`` includes all of them.\n"
    text += "A name without a prefix is in the namespace ``pycuda``.\n\n"
    text += ".. toctree::\n   :hidden:\n   :maxdepth: 1\n\n"
    text += "".join(f"   {name}\n" for name in GROUPS) + "\n"
    for name, group in GROUPS.items():
        text += heading(group.title, "-") + f"\n:doc:`{name}`: {group.about}\n\n"
        text += ".. list-table::\n   :class: summary\n   :widths: 30 70\n\n"
        for header in names(group):
            about = about_header(ROOT / INCLUDE / f"pycuda/{header}.h")[0]
            anchor = f"cpp-{header.replace('_', '-')}"
            text += f"   * - :ref:`{header}.h <{anchor}>`\n     - {with_code(about)}\n"
        text += "\n"
    return text


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    headers = read_headers()
    made = {f"{name}.rst": page(group, headers) for name, group in GROUPS.items()}
    return {"index.rst": index(), **made}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
