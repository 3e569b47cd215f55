#!/usr/bin/env python3
"""Write the type stubs of a built package. The build runs this program (python/CMakeLists.txt).

    type_stubs.py FOLDER     FOLDER: the package pycuda of a build, build/release/python/pycuda

_driver.pyi is the stub of the compiled module. nanobind's stubgen reads the module, and python/src/stub_patterns.txt
contains what stubgen cannot see of the classes that are written by hand. The stub has no docstrings, because the module has
them, and no values of constants.

gpuarray.pyi, linalg.pyi, fft.pyi and array_api.pyi are the stubs of the modules whose functions come from the registry of
array functions. A stub contains the module's own text without function bodies, and a line for each function of the registry.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import sys
from collections import defaultdict
from pathlib import Path

PATTERNS = Path(__file__).resolve().parent.parent / "python/src/stub_patterns.txt"
HEAD = "# Made by tools/type_stubs.py; not to be edited.\n# ruff: noqa\n# fmt: off\n"
# A constant of an enum: ``    WARP_SIZE: device_attribute = ...``.
CONSTANT = re.compile(r"^(    \w+: \w+) = .*$", re.MULTILINE)
# An attribute that can be read and set, as two functions.
ATTRIBUTE = re.compile(
    r"^    @property\n    def (\w+)\(self\) -> (.*): \.\.\.\n\n"
    r"    @\1\.setter\n    def \1\(self, arg: (.*), /\) -> None: \.\.\.$",
    re.MULTILINE,
)
UNIVERSAL = "_UniversalFunction"


def driver_stub() -> str:
    """The text of the stub of the compiled module."""
    os.environ["NB_STUBGEN"] = "1"  # before the module is imported
    from nanobind.stubgen import StubGen, load_pattern_file

    import pycuda._driver

    patterns = load_pattern_file(str(PATTERNS))
    stubs = StubGen(pycuda._driver, include_docstrings=False, patterns=patterns)
    stubs.put(pycuda._driver)
    unused = [str(one.query) for one in patterns if not one.matches]
    if unused:
        raise SystemExit(f"patterns that match nothing: {', '.join(unused)}")
    return HEAD + ATTRIBUTE.sub(
        lambda m: f"    {m[1]}: {m[2]}" if m[2] in (m[3], "object") else m[0],
        CONSTANT.sub(r"\1", stubs.get()).replace("\n    pass\n", " ...\n"),
    )


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


def array_stub(module: str, functions: dict) -> str:
    """The text of the stub of a module with these functions of the registry."""
    from pycuda.arrays.ufuncs.universal_functions import UniversalFunction

    seen: dict = {}
    imports, ufuncs, made, aliases = defaultdict(list), "", "", ""
    for name in sorted(
        functions, key=lambda name: (functions[name].__name__ != name, name)
    ):
        function = functions[name]
        own = function.__name__
        if isinstance(function, UniversalFunction):
            ufuncs += f"{name}: {UNIVERSAL}\n"
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
        home = UniversalFunction.__module__
        imports[home].append(f"UniversalFunction as {UNIVERSAL}")
    source = importlib.import_module(f"pycuda.{module}")
    tree = ast.parse(Path(source.__file__).read_text(encoding="utf-8"))
    text = HEAD + ast.unparse(Bodiless().visit(tree)) + "\n"
    for home, names in sorted(imports.items()):
        text += f"from {home} import {', '.join(names)}\n"
    text += made + aliases + ufuncs
    if module in ("linalg", "fft"):
        text += f"__all__ = {source.__all__}\n"
    return text


def array_stubs() -> dict[str, str]:
    """The text of each stub of a module with functions of the registry, by the module's name."""
    from pycuda.arrays import registry
    from pycuda.arrays.protocols import all_functions  # noqa: F401

    functions = {
        "gpuarray": registry.module_functions(""),
        "linalg": registry.module_functions("linalg"),
        "fft": registry.module_functions("fft"),
        "array_api": registry.array_api_functions(),
    }
    return {module: array_stub(module, functions[module]) for module in functions}


def main(folder: Path) -> None:
    sys.path.insert(0, str(folder.parent))
    for module, text in {"_driver": driver_stub(), **array_stubs()}.items():
        (folder / f"{module}.pyi").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
