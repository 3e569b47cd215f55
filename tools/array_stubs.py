#!/usr/bin/env python3
"""Generate the type stubs of the modules whose functions come from the registry of array functions.

    ./run tools/array_stubs.py           write python/pycuda/gpuarray.pyi, linalg.pyi, fft.pyi, array_api.pyi
    ./run tools/array_stubs.py --check   exit with 1 if a stub is not current

A stub contains the module's own text without function bodies, and a line for each function of the registry.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path

from driver_stub import formatted, several_in_a_line

from pycuda.arrays import registry
from pycuda.arrays.protocols import all_functions  # noqa: F401
from pycuda.arrays.ufuncs.universal_functions import UniversalFunction

PACKAGE = Path(__file__).resolve().parent.parent / "python/pycuda"
HEAD = "# Made by tools/array_stubs.py; not to be edited.\n# ruff: noqa\n# fmt: off\n"
FUNCTIONS = {
    "gpuarray": lambda: registry.module_functions(""),
    "linalg": lambda: registry.module_functions("linalg"),
    "fft": lambda: registry.module_functions("fft"),
    "array_api": registry.array_api_functions,
}
UNIVERSAL = "_UniversalFunction"
# Names in parentheses or brackets, one a line.
NAMES = re.compile(r"(?<=[(\[]\n)(?:    [\w .\"']+,\n)+", re.MULTILINE)


class Bodiless(ast.NodeTransformer):
    """Removes function bodies, docstrings, and statements that only run something."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        node.body = node.body or [ast.Expr(ast.Constant(...))]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        if (
            node.name == "__getattr__"
        ):  # a type checker would accept any name of the module
            return None
        node.body = [ast.Expr(ast.Constant(...))]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | None:
        made = {"_FUNCTIONS", "__all__"}
        return None if ast.unparse(node.targets[0]) in made else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.value = None
        return node

    def visit_Expr(self, node: ast.Expr) -> None:
        return None


def own_text(module: str) -> str:
    """The definitions and imports in the module's text."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text())
    return ast.unparse(Bodiless().visit(tree)) + "\n"


def parameter(one: inspect.Parameter) -> str:
    """A parameter in the form of a stub."""
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    annotation = "" if one.annotation is one.empty else f": {one.annotation}"
    default = "" if one.default is one.empty else " = ..."
    return f"{stars}{one.name}{annotation}{default}"


def signature(function) -> str:
    """``(parameters) -> result`` of a function whose parameters the registry has reordered."""
    found = inspect.signature(function)
    texts, keywords = [], False
    for one in found.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not keywords:
            texts.append("*")
            keywords = True
        texts.append(parameter(one))
    result = found.return_annotation
    text = "" if result is found.empty else f" -> {result}"
    return f"({', '.join(texts)}){text}"


def stub(module: str) -> str:
    """The text of a module's stub."""
    seen: dict = {}
    functions = FUNCTIONS[module]()
    imports, ufuncs, made, aliases = defaultdict(list), [], "", ""
    for name in sorted(
        functions, key=lambda name: (functions[name].__name__ != name, name)
    ):
        function = functions[name]
        own = function.__name__
        if isinstance(function, UniversalFunction):
            ufuncs.append(f"{name}: {UNIVERSAL}")
        elif function in seen:
            aliases += f"{name} = {seen[function]}\n"
        elif function.__module__ == "pycuda.gpuarray":  # made by the registry
            made += f"def {name}{signature(function)}: ...\n"
        elif own == name:
            imports[function.__module__].append(f"{name} as {name}")
        else:
            imports[function.__module__].append(f"{own} as _{own}")
            aliases += f"{name} = _{own}\n"
        seen.setdefault(function, name)
    if ufuncs:
        home = "pycuda.arrays.ufuncs.universal_functions"
        imports[home].append(f"UniversalFunction as {UNIVERSAL}")
    text = own_text(module)
    for home, names in sorted(imports.items()):
        text += f"from {home} import {', '.join(names)}\n"
    text += made + aliases
    if module in ("linalg", "fft"):
        names = importlib.import_module(f"pycuda.{module}").__all__
        text += f"__all__ = {names}\n"
    text = re.sub(r"\n\n+", "\n", formatted(text, f"{module}.pyi"))
    text = NAMES.sub(lambda m: several_in_a_line(m[0].splitlines(), " "), text)
    return HEAD + text + (several_in_a_line(ufuncs) if ufuncs else "")


def main() -> int:
    stale = []
    for module in FUNCTIONS:
        path, text = PACKAGE / f"{module}.pyi", stub(module)
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.name)
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
    if stale and "--check" in sys.argv[1:]:
        print(f"{', '.join(stale)} not current: run ./run tools/array_stubs.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
