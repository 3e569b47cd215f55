#!/usr/bin/env python3
"""Make docs/reference: one page for each module, of the signatures and docstrings in the sources.

    tools/reference.py           write the pages
    tools/reference.py --check   exit with 1 where a page is not current, or a name has no docstring

Only texts are read, nothing is imported: the modules of python/pycuda, and of the compiled module
its stub. A name that a module takes over from another (``from x import y as y``) is described where
a program finds it.
"""

from __future__ import annotations

import ast
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("python/pycuda")
PAGES = Path("docs/reference")
MODULES = (
    "driver compiler gpuarray fft linalg cumath elementwise reduction scan random curandom tools gl "
    "gl.autoinit autoinit autoprimaryctx characterize debug fusion ipython mpi nccl dask"
).split()
# What `from pycuda._driver import *` makes names of pycuda.driver, beside its own.
STAR = {"driver": "_driver"}
ENUM = "pycuda._enum.DriverEnum"
PYTHONS_OWN = (
    "Call self as a function."  # of types made in C; the class says what it means
)
Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass
class Name:
    """A public name of a module and where it is defined."""

    name: str
    nodes: list[Definition]  # several for the overloads of a function


class Sources:
    """The package's files, each parsed once."""

    def __init__(self, root: Path):
        self.package = root / PACKAGE
        self.trees: dict[str, ast.Module] = {}

    def tree(self, module: str) -> ast.Module | None:
        """The parsed module, by its name below pycuda; None for what is not of the package."""
        if module not in self.trees:
            stem = self.package / module.replace(".", "/")
            for path in (
                stem.with_suffix(".pyi"),
                stem.with_suffix(".py"),
                stem / "__init__.py",
            ):
                if path.exists():
                    self.trees[module] = ast.parse(path.read_text())
                    break
        return self.trees.get(module)

    def definitions(self, module: str) -> dict[str, list[Definition]]:
        """All that a module defines or takes over, by name."""
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
                found[node.targets[0].id] = [node]
            elif isinstance(node, ast.ImportFrom):
                found.update(self.taken_over(module, node))
        return found

    def add_inherited(self, tree: ast.Module, node: ast.ClassDef) -> None:
        """Adds the methods that a class has from others written in Python in private modules."""
        bases = {ast.unparse(base) for base in node.bases}
        for line in tree.body:
            if not isinstance(line, ast.ImportFrom) or not line.module:
                continue
            if not line.module.startswith("pycuda._array"):
                continue
            for name in bases.intersection(alias.name for alias in line.names):
                base = self.tree(line.module.removeprefix("pycuda."))
                for other in base.body if base else []:
                    if isinstance(other, ast.ClassDef) and other.name == name:
                        own = {getattr(item, "name", "") for item in node.body}
                        node.body += [
                            item
                            for item in other.body
                            if getattr(item, "name", "") not in own
                        ]

    def taken_over(
        self, module: str, node: ast.ImportFrom
    ) -> dict[str, list[Definition]]:
        """What ``from pycuda.x import y as y`` brings; of autoinit and its like, any name."""
        source = (node.module or "").removeprefix("pycuda").lstrip(".")
        if not (node.module or "").startswith("pycuda") or self.tree(source) is None:
            return {}
        if source == module:  # a package's own submodules
            return {}
        exports_all = module.endswith(("autoinit", "autoprimaryctx"))
        wanted = {
            alias.name
            for alias in node.names
            if alias.asname == alias.name or exports_all
        }
        if not wanted:
            return {}
        return {
            name: nodes
            for name, nodes in self.definitions(source).items()
            if name in wanted
        }

    def public(self, module: str) -> list[Name]:
        """The public names of a module, in the order of their sources."""
        found = self.definitions(STAR[module]) if module in STAR else {}
        found.update(self.definitions(module))
        names = [
            Name(name, nodes)
            for name, nodes in found.items()
            if not name.startswith("_") and name not in ("TYPE_CHECKING", "Shape")
        ]
        return [name for name in names if not is_type_alias(name.nodes[0])]


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


def is_property(node: ast.FunctionDef) -> bool:
    return any(
        ast.unparse(mark) == "property" or ast.unparse(mark).endswith(".setter")
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
            return without_signature(node.name, text)
    return ""


def without_signature(name: str, text: str) -> str:
    """What is left of a docstring of a function in C, whose first line says how to call it."""
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
    """How objects of a class are made; nothing where programs do not make them."""
    return [
        signature(method).replace("__init__", node.name, 1).removesuffix(" -> None")
        for method in node.body
        if isinstance(method, ast.FunctionDef) and method.name == "__init__"
    ]


def code(lines: list[str]) -> str:
    return "```python\n" + "\n".join(lines) + "\n```\n"


def body(text: str) -> str:
    """A docstring as Markdown: its examples become code."""
    parts: list[str] = []
    for block in text.split("\n\n"):
        lines = block.splitlines()
        start = next((i for i, s in enumerate(lines) if s.startswith(">>>")), None)
        if start is None:
            parts.append(block.replace("``", "`"))
            continue
        if start:
            parts.append("\n".join(lines[:start]).replace("``", "`"))
        parts.append("```pycon\n" + "\n".join(lines[start:]) + "\n```")
    return "\n\n".join(parts) + "\n"


def members(node: ast.ClassDef) -> dict[str, list[Definition]]:
    """The public methods and properties of a class, with the operators it can be called by."""
    found: dict[str, list[Definition]] = {}
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
            found.setdefault(item.name, []).append(item)
        elif isinstance(item, ast.FunctionDef) and item.name == "__call__":
            found.setdefault(item.name, []).append(item)
    return found


def describe_member(owner: str, nodes: list[Definition]) -> str:
    first = nodes[0]
    assert isinstance(first, ast.FunctionDef)
    text = docstring(nodes)
    if text == PYTHONS_OWN:
        text = ""
    if is_property(first):
        kind = f": {ast.unparse(first.returns)}" if first.returns else ""
        head = [f"{owner}.{first.name}{kind}"]
    elif first.name == "__call__":
        head = [signature(n).replace("__call__", owner.lower(), 1) for n in nodes]
    else:
        head = [signature(n, f"{owner}.") for n in nodes]
    return code(head) + ("\n" + body(text) if text else "")


def describe(name: Name) -> str:
    """The section of a name."""
    first = name.nodes[0]
    text = f"## {name.name}\n\n"
    if is_enum(first):
        assert isinstance(first, ast.ClassDef)
        listed = [
            item.target.id
            for item in first.body
            if isinstance(item, ast.AnnAssign)
            and isinstance(item.target, ast.Name)
            and item.target.id not in ("names", "values")
        ]
        words = textwrap.fill("Constants: " + ", ".join(listed), 110)
        return text + words + "\n"
    if isinstance(first, ast.FunctionDef):
        heads = [signature(n) for n in name.nodes if isinstance(n, ast.FunctionDef)]
        return text + code(heads) + "\n" + body(docstring(name.nodes))
    if isinstance(first, ast.ClassDef):
        if made := constructor(first):
            text += code(made) + "\n"
        text += body(docstring(name.nodes))
        for nodes in members(first).values():
            text += "\n" + describe_member(name.name, nodes)
        return text
    value = f" = {ast.unparse(first.value)}" if first.value else ""
    kind = (
        f": {ast.unparse(first.annotation)}" if isinstance(first, ast.AnnAssign) else ""
    )
    return text + code([f"{name.name}{kind}{value if len(value) < 80 else ''}"])


def page(sources: Sources, module: str) -> str:
    tree = sources.tree(module)
    assert tree is not None, f"there is no module pycuda.{module}"
    about = ast.get_docstring(tree) or ""
    text = f"# pycuda.{module}\n\n{body(about)}"
    for name in sources.public(module):
        text += "\n" + describe(name)
    return text


def index(sources: Sources) -> str:
    text = (
        "# Reference\n\n`tools/reference.py` makes these pages of the signatures and docstrings in the "
        "sources; a test checks\nthat they are current.\n\n"
    )
    for module in MODULES:
        about = (
            ast.get_docstring(sources.tree(module) or ast.Module([], [])) or ""
        ).split("\n")[0]
        text += f"- [pycuda.{module}]({module}.md): {about}\n"
    return text


def pages(root: Path) -> dict[str, str]:
    """The text of each page by its file's name."""
    made = {f"{module}.md": page(Sources(root), module) for module in MODULES}
    return {"README.md": index(Sources(root)), **made}


def undocumented(root: Path) -> list[str]:
    """The public functions, classes and methods that have no docstring."""
    sources, missing = Sources(root), []
    for module in MODULES:
        for name in sources.public(module):
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
    made = pages(ROOT)
    folder = ROOT / PAGES
    if arguments == ["--check"]:
        stale = [
            name
            for name, text in made.items()
            if not (folder / name).exists() or (folder / name).read_text() != text
        ]
        missing = undocumented(ROOT)
        for name in stale:
            print(f"{PAGES / name} is not current: run tools/reference.py")
        for name in missing:
            print(f"{name} has no docstring")
        return 1 if stale or missing else 0
    folder.mkdir(exist_ok=True)
    for name, text in made.items():
        (folder / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
