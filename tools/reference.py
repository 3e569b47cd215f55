#!/usr/bin/env python3
"""Generate the reference: a page for each module, from the signatures and docstrings in the sources.

    ./run tools/reference.py FOLDER    write the pages, in reStructuredText; ./test docs does it
    ./run tools/reference.py --check   exit with 1 if a name has no docstring

Signatures are read from the sources: the modules of python/pycuda, and the type stubs that the build writes. A
name that a module imports from another one (``from x import y as y``) is described where programs find
it. Functions that a module creates when it is imported (``gpuarray.exp``) and the docstrings of the compiled module are
read at run time.
"""

from __future__ import annotations

import ast
import copy
import importlib
import importlib.util
import inspect
import re
import sys
import textwrap
import types
from dataclasses import dataclass
from pathlib import Path

import reference_groups

import pycuda
from pycuda.arrays.ufuncs.universal_functions import UniversalFunction

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("python/pycuda")
MODULES = (
    "driver compiler gpuarray fft linalg sparse sparse.linalg sparse.cg sparse.coordinate sparse.inner "
    "sparse.operator sparse.packeted cumath elementwise reduction scan random curandom tools gl "
    "gl.autoinit autoinit autoprimaryctx characterize check debug fusion ipython mpi nccl profile tune "
    "dask"
).split()
# Modules whose names `from pycuda._driver import *` adds to pycuda.driver.
STAR = {"driver": "_driver"}
ENUM = "pycuda._enum.DriverEnum"
PYTHONS_OWN = "Call self as a function."  # for types made in C; their meaning is in the docstring of the class
Functions = dict[str, tuple[str, str]]
Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass
class Name:
    """A public name of a module, and its definition."""

    name: str
    nodes: list[Definition]  # several for the overloads of a function


class Sources:
    """The package's files, each parsed once. ``stubs``: the folder of the type stubs, by default the built package."""

    def __init__(self, root: Path, stubs: Path = Path(pycuda.__file__).parent):
        self.package, self.stubs = root / PACKAGE, stubs
        self.trees: dict[str, ast.Module] = {}
        self.found: dict[str, dict[str, list[Definition]]] = {}

    def tree(self, module: str) -> ast.Module | None:
        """The parsed module, by its name below pycuda; None if it is not part of the package."""
        if module not in self.trees:
            name = module.replace(".", "/")
            for path in (
                self.stubs / f"{name}.pyi",
                self.package / f"{name}.py",
                self.package / name / "__init__.py",
            ):
                if path.exists():
                    tree = self.trees[module] = ast.parse(path.read_text())
                    if path.suffix == ".py":
                        note_lines(tree, path.relative_to(self.package))
                    if module in STAR.values():
                        add_docstrings(
                            tree,
                            importlib.import_module(f"pycuda.{module}"),
                        )
                    break
        return self.trees.get(module)

    def definitions(self, module: str) -> dict[str, list[Definition]]:
        """All definitions and re-exports of a module, by name."""
        if module not in self.found:
            self.found[module] = {}  # parts of a package import from the package
            self.found[module] = self.find_definitions(module)
        return self.found[module]

    def find_definitions(self, module: str) -> dict[str, list[Definition]]:
        found: dict[str, list[Definition]] = {}
        tree = self.tree(module)
        for node in tree.body if tree else []:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.setdefault(node.name, []).append(node)
                if isinstance(node, ast.ClassDef):
                    self.add_inherited(tree, node)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = [node]
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name, value = node.targets[0].id, ast.unparse(node.value)
                found[name] = renamed(found[value], name) if value in found else [node]
            elif isinstance(node, ast.ImportFrom):
                found.update(self.taken_over(module, node))
        return found

    def add_inherited(self, tree: ast.Module, node: ast.ClassDef) -> None:
        """Adds the methods that a class inherits from Python classes in private modules."""
        bases = {ast.unparse(base) for base in node.bases}
        for line in tree.body:
            if not isinstance(line, ast.ImportFrom) or not line.module:
                continue
            if not line.module.startswith(("pycuda.arrays.", "pycuda.sparse._")):
                continue
            for name in bases.intersection(alias.name for alias in line.names):
                base = self.tree(line.module.removeprefix("pycuda."))
                for other in base.body if base else []:
                    if isinstance(other, ast.ClassDef) and other.name == name:
                        own = {getattr(item, "name", "") for item in node.body}
                        node.body += [
                            item
                            for item in self.with_functions(base, other.body)
                            if getattr(item, "name", "") not in own
                        ]

    def with_functions(self, tree: ast.Module, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a class; ``sum = _reductions.sum`` becomes that function as a method."""
        modules = {
            alias.asname or alias.name: f"{node.module}.{alias.name}".removeprefix(
                "pycuda."
            )
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        found: list[ast.stmt] = []
        for item in body:
            found.append(item)
            if not isinstance(item, ast.Assign) or not isinstance(
                item.value, ast.Attribute
            ):
                continue
            owner = modules.get(ast.unparse(item.value.value), "")
            function = self.definitions(owner).get(item.value.attr, [None])[0]
            if isinstance(function, ast.FunctionDef):
                method = copy.deepcopy(function)
                method.name = ast.unparse(item.targets[0])
                (method.args.posonlyargs + method.args.args)[0].arg = "self"
                found[-1] = method
        return found

    def taken_over(
        self, module: str, node: ast.ImportFrom
    ) -> dict[str, list[Definition]]:
        """The names of ``from pycuda.x import y as y``; for autoinit and similar modules, any name."""
        source = (node.module or "").removeprefix("pycuda").lstrip(".")
        if not (node.module or "").startswith("pycuda") or self.tree(source) is None:
            return {}
        if source == module:  # a package's own submodules
            return {}
        exports_all = module.endswith(("autoinit", "autoprimaryctx"))
        taken = {}
        for alias in node.names:
            new = alias.asname or alias.name
            if new == alias.asname == alias.name or exports_all or new.startswith("_"):
                if nodes := self.definitions(source).get(alias.name):
                    taken[new] = renamed(nodes, new)
        return taken

    def public(self, module: str) -> list[Name]:
        """The public names of a module, in the order of their sources."""
        taken = self.definitions(STAR[module]) if module in STAR else {}
        found = {**taken, **self.definitions(module)}
        names = [
            Name(name, nodes)
            for name, nodes in found.items()
            if not name.startswith("_") and name not in ("TYPE_CHECKING", "Shape")
        ]
        return [name for name in names if not is_type_alias(name.nodes[0])]


def add_docstrings(node: ast.Module | ast.ClassDef, owner: object) -> None:
    """Adds the docstrings of a compiled module to the definitions of its stub, which has none."""
    for item in node.body:
        if not isinstance(item, ast.FunctionDef | ast.ClassDef):
            continue
        found = getattr(owner, item.name, None)
        text = inspect.getdoc(found)
        if text and not ast.get_docstring(item):
            item.body.insert(0, ast.Expr(ast.Constant(text)))
        if isinstance(item, ast.ClassDef) and found is not None:
            add_docstrings(item, found)


def note_lines(tree: ast.Module, path: Path) -> None:
    """Sets the attribute ``source`` of functions and classes: the file and the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.source = f"{PACKAGE}/{path}#L{node.lineno}"


def renamed(nodes: list[Definition], name: str) -> list[Definition]:
    """The definitions of a function with another name; classes keep their names."""
    nodes = [copy.copy(node) for node in nodes]
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            node.name = name
    return nodes


def is_type_alias(node: Definition) -> bool:
    return isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) in (
        "TypeAlias",
        "typing.TypeAlias",
    )


def is_enum(node: Definition) -> bool:
    """A class of constants, which print their names or are plain ints."""
    return isinstance(node, ast.ClassDef) and (
        any(ast.unparse(base) == ENUM for base in node.bases)
        or all(isinstance(item, ast.AnnAssign) for item in node.body)
    )


def constants(node: Definition) -> list[str]:
    """The names of the constants of an enumeration."""
    assert isinstance(node, ast.ClassDef)
    return [
        item.target.id
        for item in node.body
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and item.target.id not in ("names", "values")
    ]


def is_property(node: ast.FunctionDef) -> bool:
    return any(
        ast.unparse(mark) in ("property", "Derived")
        or ast.unparse(mark).endswith(".setter")
        for mark in node.decorator_list
    )


def docstring(nodes: list[Definition]) -> str:
    """The first docstring of a definition's overloads."""
    for node in nodes:
        text = (
            ast.get_docstring(node)
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            else None
        )
        if text:
            text = without_signature(node.name, text)
            return listed(text)
    return ""


def without_signature(name: str, text: str) -> str:
    """The docstring of a C function without its first line, which contains the signature."""
    first, _, rest = text.partition("\n")
    return rest.strip() if first.startswith(f"{name}(") else text


def signature(node: ast.FunctionDef, prefix: str = "") -> str:
    """``name(arguments) -> result`` without self."""
    arguments = node.args
    for group in (arguments.posonlyargs, arguments.args):
        if group and group[0].arg in ("self", "cls"):
            del group[0]
            break
    text = ast.unparse(arguments).removesuffix(", /").removesuffix("/")
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{prefix}{node.name}({text}){result}"


def constructor(node: ast.ClassDef) -> list[str]:
    """The signature of a class's constructor; empty if programs do not create objects."""
    return [
        signature(method).replace("__init__", node.name, 1).removesuffix(" -> None")
        for method in node.body
        if isinstance(method, ast.FunctionDef) and method.name == "__init__"
    ]


PARAMETER = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*): +(\S.*)")


def parameter_list(block: str) -> str:
    """Converts a paragraph of lines ``name: meaning``, with indented continuation lines, to a list; other paragraphs are unchanged."""
    lines = block.split("\n")
    heads = [PARAMETER.fullmatch(line) for line in lines if not line.startswith(" ")]
    if len(lines) < 2 or not heads or not all(heads):
        return block
    return "\n".join(
        f"- **{found[1]}**: {found[2]}"
        if (found := PARAMETER.fullmatch(line))
        else f"  {line.strip()}"
        for line in lines
    )


def listed(text: str) -> str:
    """A docstring with its parameter paragraphs as lists."""
    return "\n\n".join(parameter_list(block) for block in text.split("\n\n"))


def full_names(head: str) -> str:
    """A signature with full type names, which Sphinx finds; it shows their short names."""
    head = re.sub(r"(?<![\w.])_?driver\.", "pycuda.driver.", head)
    return re.sub(
        r"(?<![\w.])(?:gpuarray\.)?GPUArray\b", "pycuda.gpuarray.GPUArray", head
    )


def directive(
    kind: str, heads: list[str], text: str, options: str = "", source: str = ""
) -> str:
    """One entry of the reference; several heads are overloads of a function."""
    first = f".. py:{kind}:: "
    heads, options = [full_names(head) for head in heads], full_names(options)
    lines = [first + heads[0]] + [" " * len(first) + head for head in heads[1:]]
    if options:
        lines += [f"   {options}"]
    if source:
        text = f":source:`{source}`\n\n{text}"
    return "\n".join(lines) + "\n\n" + textwrap.indent(text, "   ") + "\n"


def members(node: ast.ClassDef) -> dict[str, list[Definition]]:
    """The public methods and properties of a class, including operators."""
    found: dict[str, list[Definition]] = {}
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
            found.setdefault(item.name, []).append(item)
        elif isinstance(item, ast.FunctionDef) and item.name == "__call__":
            found.setdefault(item.name, []).append(item)
    return found


def describe_member(nodes: list[Definition]) -> str:
    first = nodes[0]
    assert isinstance(first, ast.FunctionDef)
    text = docstring(nodes)
    if text == PYTHONS_OWN:
        text = ""
    if is_property(first):
        kind = f":type: {ast.unparse(first.returns)}" if first.returns else ""
        return directive("property", [first.name], text, kind)
    heads = [signature(n) for n in nodes if isinstance(n, ast.FunctionDef)]
    marks = {ast.unparse(mark) for mark in first.decorator_list}
    options = next(
        (f":{m}:" for m in ("staticmethod", "classmethod") if m in marks), ""
    )
    return directive("method", heads, text, options, source_of(first))


def source_of(node: Definition) -> str:
    return getattr(node, "source", "")


def member_table(node: ast.ClassDef) -> str:
    """The names of the methods of a large class, in alphabetical order."""
    names = sorted(members(node))
    if len(names) < 12:
        return ""
    links = ", ".join(f":py:obj:`{name} <{node.name}.{name}>`" for name in names)
    return f"{len(names)} methods and properties: {links}\n\n"


def describe(name: Name, module: str = "") -> str:
    """The entry of a name."""
    first = name.nodes[0]
    source = source_of(first)
    if module == "gpuarray" and not source:
        source = reference_groups.source_of_function(name.name)
    if is_enum(first):
        words = "Constants: " + ", ".join(f"``{word}``" for word in constants(first))
        return directive("class", [name.name], textwrap.fill(words, 110))
    if isinstance(first, ast.FunctionDef):
        heads = [signature(n) for n in name.nodes if isinstance(n, ast.FunctionDef)]
        return directive("function", heads, docstring(name.nodes), source=source)
    if isinstance(first, ast.ClassDef):
        text = docstring(name.nodes) + "\n\n" + member_table(first)
        for nodes in members(first).values():
            text += "\n" + describe_member(nodes)
        heads = constructor(first) or [name.name]
        return directive("class", heads, text, source=source)
    kind = (
        f":type: {ast.unparse(first.annotation)}"
        if isinstance(first, ast.AnnAssign)
        else ""
    )
    return directive("data", [name.name], "", kind)


def page(sources: Sources, module: str, functions: Functions | None = None) -> str:
    """A page of reStructuredText. ``functions`` contains the functions that the module creates at import."""
    tree = sources.tree(module)
    assert tree is not None, f"there is no module pycuda.{module}"
    title = f"pycuda.{module}"
    about = ast.get_docstring(tree) or ""
    made = functions or {}
    text = f"{title}\n{'=' * len(title)}\n\n.. py:module:: {title}\n\n{about}\n"
    groups: dict[str, list[Item]] = {}
    for item in items(sources, module, made):
        title = reference_groups.group_of(module, item.name, item.kind)
        groups.setdefault(title, []).append(item)
    titles = [title for title in reference_groups.order(module) if title in groups]
    for title in titles:
        if len(titles) > 1:
            text += f"\n{title}\n{'-' * len(title)}\n"
        if len(groups[title]) > 2:
            text += "\n" + summary(module, groups[title])
        text += "".join("\n" + item.entry for item in groups[title])
    return text


@dataclass
class Item:
    """An entry of a page."""

    name: str
    kind: str  # the heading in a module without groups
    about: str  # its first sentence
    entry: str


def kind_of(node: Definition) -> str:
    if isinstance(node, ast.FunctionDef):
        return reference_groups.FUNCTIONS
    if isinstance(node, ast.ClassDef) and not is_enum(node):
        return reference_groups.CLASSES
    return reference_groups.CONSTANTS


def items(sources: Sources, module: str, made: Functions) -> list[Item]:
    """The entries of a module, in the order of its sources; functions that it makes at import come last."""
    found = [
        Item(
            name.name,
            kind_of(name.nodes[0]),
            about(name),
            describe(name, module),
        )
        for name in sources.public(module)
        if name.name not in made
    ]
    for name, (head, text) in made.items():
        source = (
            reference_groups.source_of_function(name) if module == "gpuarray" else ""
        )
        entry = directive("function", [name + head], text, source=source)
        found.append(
            Item(name, reference_groups.FUNCTIONS, first_sentence(text), entry)
        )
    return found


def about(name: Name) -> str:
    """What a table says of a name."""
    first = name.nodes[0]
    if is_enum(first):
        return f"{len(constants(first))} constants."
    return first_sentence(docstring(name.nodes))


def first_sentence(text: str) -> str:
    paragraph = " ".join(text.split("\n\n")[0].split())
    found = re.match(r".*?[^.]\.(?=\s|$)", paragraph)
    sentence = found[0] if found else paragraph
    return sentence if not sentence.startswith((">>>", "- ", "..")) else ""


def summary(module: str, group: list[Item]) -> str:
    """A table of names with their first sentences."""
    lines = [".. list-table::", "   :class: summary", "   :widths: 30 70", ""]
    for item in group:
        lines.append(f"   * - :py:obj:`{item.name} <pycuda.{module}.{item.name}>`")
        lines.append(f"     - {item.about}".rstrip())
    return "\n".join(lines) + "\n"


def made_functions(module: str) -> Functions:
    """(signature, docstring) of the public functions that a module creates in a loop or by a call."""
    found: Functions = {}
    if importlib.util.find_spec(f"pycuda.{module}") is None:
        return found
    for name, value in vars(importlib.import_module(f"pycuda.{module}")).items():
        if name.startswith("_"):
            continue
        if isinstance(value, UniversalFunction):
            inputs = (
                "x"
                if value.nin == 1
                else ", ".join(f"x{i + 1}" for i in range(value.nin))
            )
            keywords = (
                "out=None, where=True, dtype=None, casting='same_kind', stream=None"
            )
            text = listed(inspect.getdoc(value) or "")
            found[name] = (
                f"({inputs}, /, *, {keywords}, allocator=None) -> GPUArray",
                text,
            )
        elif (
            isinstance(inspect.unwrap(value), types.FunctionType)
            # Created in a loop, or by the registry with PyCUDA's order of parameters.
            and inspect.unwrap(value).__code__.co_name in ("function", "called")
        ):
            head = str(inspect.signature(value)).replace("'", "")
            found[name] = head, listed(inspect.getdoc(value) or "")
    return found


def index(sources: Sources) -> str:
    text = "Reference\n=========\n\nMade of the signatures and docstrings in the sources.\n\n"
    # For the navigation; the page has a list with descriptions.
    text += ".. toctree::\n   :hidden:\n   :maxdepth: 1\n\n"
    text += "".join(f"   {module}\n" for module in MODULES) + "\n"
    for module in MODULES:
        tree = sources.tree(module) or ast.Module([], [])
        about = (ast.get_docstring(tree) or "").split("\n")[0]
        text += f"- :doc:`pycuda.{module} <{module}>`: {about}\n"
    return text


def pages(root: Path) -> dict[str, str]:
    """The text of each page by its file name."""
    sources = Sources(root)
    made = {f"{m}.rst": page(sources, m, made_functions(m)) for m in MODULES}
    return {"index.rst": index(Sources(root)), **made}


def undocumented(root: Path) -> list[str]:
    """The public functions, classes and methods without a docstring."""
    sources, missing = Sources(root), []
    for module in MODULES:
        made = made_functions(module)
        missing += [f"pycuda.{module}.{name}" for name in made if not made[name][1]]
        for name in sources.public(module):
            if name.name in made:
                continue
            first = name.nodes[0]
            if is_enum(first) or not isinstance(first, ast.FunctionDef | ast.ClassDef):
                continue
            if not docstring(name.nodes):
                missing.append(f"pycuda.{module}.{name.name}")
            if isinstance(first, ast.ClassDef):
                missing += [
                    f"pycuda.{module}.{name.name}.{member}"
                    for member, nodes in members(first).items()
                    if not docstring(nodes)
                ]
    return missing


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        missing = undocumented(ROOT)
        for name in missing:
            print(f"{name} has no docstring")
        return 1 if missing else 0
    if len(arguments) != 1:
        print(__doc__)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(ROOT).items():
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
