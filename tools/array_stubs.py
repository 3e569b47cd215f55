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
import subprocess
import sys
from pathlib import Path

from pycuda.arrays import registry
from pycuda.arrays.protocols import all_functions  # noqa: F401
from pycuda.arrays.ufuncs.universal_functions import UniversalFunction

PACKAGE = Path(__file__).resolve().parent.parent / "python/pycuda"
HEAD = "# Made by tools/array_stubs.py; not to be edited.\n# ruff: noqa\n"
FUNCTIONS = {
    "gpuarray": lambda: registry.module_functions(""),
    "linalg": lambda: registry.module_functions("linalg"),
    "fft": lambda: registry.module_functions("fft"),
    "array_api": registry.array_api_functions,
}
UNIVERSAL = "_UniversalFunction"


class Bodiless(ast.NodeTransformer):
    """Removes function bodies, and statements that only run something."""

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

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return node if isinstance(node.value, ast.Constant) else None


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


def line(name: str, function, seen: dict) -> str:
    """The line of a name; ``seen`` contains the names of earlier functions."""
    if isinstance(function, UniversalFunction):
        return f"{name}: {UNIVERSAL}\n"
    if function in seen:
        return f"{name} = {seen[function]}\n"
    seen[function] = name
    if function.__module__ == "pycuda.gpuarray":  # made by the registry
        return f"def {name}{signature(function)}: ...\n"
    source = f"from {function.__module__} import {function.__name__}"
    if function.__name__ == name:
        return f"{source} as {name}\n"
    return f"{source} as _{function.__name__}\n{name} = _{function.__name__}\n"


def stub(module: str) -> str:
    """The text of a module's stub."""
    seen: dict = {}
    functions = FUNCTIONS[module]()
    text = own_text(module)
    if any(isinstance(one, UniversalFunction) for one in functions.values()):
        text += (
            "from pycuda.arrays.ufuncs.universal_functions import UniversalFunction"
            f" as {UNIVERSAL}\n"
        )
    in_order = sorted(
        functions, key=lambda name: (functions[name].__name__ != name, name)
    )
    text += "".join(line(name, functions[name], seen) for name in in_order)
    if module in ("linalg", "fft"):
        names = importlib.import_module(f"pycuda.{module}").__all__
        text += f"__all__ = {names}\n"
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", f"{module}.pyi", "-"],
        input=HEAD + text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


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
