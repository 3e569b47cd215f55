"""The examples in the package's docstrings run and print the output that they show."""

import ast
import doctest
import importlib
import inspect
import io
import pkgutil
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import pycuda
import pycuda.driver as cuda
from pycuda import (
    _driver,
    array_api,
    compiler,
    cumath,
    curandom,
    elementwise,
    fft,
    gpuarray,
    linalg,
    random,
    reduction,
    scan,
    sparse,
    special,
    tools,
)
from pycuda.arrays import registry
from pycuda.arrays.ufuncs.universal_functions import UFUNCS

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
import reference  # noqa: E402

# Names that all examples may use without an import.
NAMES = {
    "np": np,
    "numpy": np,
    "io": io,
    "cuda": cuda,
    "gpuarray": gpuarray,
    "linalg": linalg,
    "sparse": sparse,
    "fft": fft,
    "special": special,
    "array_api": array_api,
    "compiler": compiler,
    "cumath": cumath,
    "curandom": curandom,
    "Generator": random.Generator,
    "elementwise": elementwise,
    "reduction": reduction,
    "scan": scan,
    "tools": tools,
}
# Modules that do something when they are imported, or that need other programs and packages.
NOT_IMPORTED = {
    "pycuda.__main__", "pycuda.autoinit", "pycuda.autoprimaryctx", "pycuda.gl.autoinit", "pycuda.ipython",
    "pycuda.mpi", "pycuda._mpi_staging", "pycuda._mpi_windows",
}  # fmt: skip
# Examples that need a window system, MPI or several devices. The compiled module has a separate test.
NOT_RUN = {"pycuda.gl", "pycuda.nccl", "pycuda._driver"}
# Examples of the compiled module that need nvJitLink, or a driver with virtual memory and green contexts.
NOT_RUN_OF_DRIVER = {
    "JitLinker",
    "PhysicalMemory",
    "VirtualMemory",
    "GreenContext",
    "SmResource",
}
MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(pycuda.__path__, "pycuda.")
    if found.name not in NOT_IMPORTED | NOT_RUN and ".dask" not in found.name and "_mymako" not in found.name
)  # fmt: skip
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def documented(module):
    """(name, docstring) of a module and of what is defined in it."""
    yield module.__name__, module.__doc__
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value):
            yield name, value.__doc__
            for member, item in vars(value).items():
                if inspect.isfunction(inspect.unwrap(item)) or isinstance(
                    item, property
                ):
                    yield f"{name}.{member}", item.__doc__
        elif inspect.isfunction(inspect.unwrap(value)):
            yield name, value.__doc__


def failures(name, text, names):
    """The output of a docstring's examples and the expected output."""
    test = doctest.DocTestParser().get_doctest(text, dict(names), name, None, None)
    written = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=written.append)
    return written


@pytest.mark.parametrize("name", MODULES)
def test_examples(device, name):
    module = importlib.import_module(name)
    names = {**vars(module), **NAMES}
    written = []
    for one, text in documented(module):
        if text and ">>>" in text:
            written += failures(one, text, names)
    assert not written, "".join(written)


def compiled():
    """(name, docstring) of the public names of the compiled module."""
    for name, value in vars(_driver).items():
        if name.startswith("_"):
            continue
        yield name, value.__doc__
        if inspect.isclass(value):
            for member, item in vars(value).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", getattr(item, "__doc__", None)


def test_examples_of_the_compiled_module(device):
    written, run = [], 0
    for name, text in compiled():
        if text and ">>>" in text and name not in NOT_RUN_OF_DRIVER:
            run += 1
            written += failures(name, text, NAMES)
    assert not written, "".join(written)
    assert run >= 7


# Functions with several parameters that one line describes: methods of NumPy's names, whose class says that they
# are NumPy's, and calls of objects, whose class has the parameters.
BRIEF = {
    "dask.Generator", "dask.RandomState", "driver.Function.__call__",
}  # fmt: skip


def several_parameters():
    """(name, docstring) of the functions in the reference that have two parameters or more, but for stream.

    Stubs of functions that the registry makes have no docstrings; their sources are checked above.
    """
    for module in reference.MODULES:
        for public in reference.Sources(reference.ROOT).public(module):
            node = public.nodes[0]
            found = {public.name: public.nodes}
            if isinstance(node, ast.ClassDef):
                members = reference.members(node)
                found = {f"{public.name}.{k}": v for k, v in members.items()}
            for name, nodes in found.items():
                text = reference.docstring(nodes)
                if isinstance(nodes[0], ast.FunctionDef) and text:
                    a = nodes[0].args
                    names = {one.arg for one in a.posonlyargs + a.args + a.kwonlyargs}
                    if len(names - {"self", "cls", "stream"}) > 1:
                        yield f"{module}.{name}", text


def test_functions_of_several_parameters_describe_them():
    """One line cannot describe the meaning, the unit and the default of two parameters."""
    functions = dict(several_parameters())
    assert len(functions) > 300
    brief = {name for name, text in functions.items() if "\n" not in text.strip()}
    left = {name for name in brief if not {name, name.rpartition(".")[0]} & BRIEF}
    assert not left


def test_a_wrong_example_is_found():
    assert "Expected:\n    3" in "".join(failures("f", ">>> 1 + 1\n3\n", {}))
    assert failures("f", ">>> 1 + 1\n2\n", {}) == []


def test_each_array_function_has_an_example():
    missing = {
        f"{entry.namespace or 'gpuarray'}.{entry.name}"
        for entry in registry.ENTRIES
        if ">>>" not in (entry.function.__doc__ or "")
    }
    missing |= {
        f"cumath.{name}"
        for name, value in vars(cumath).items()
        if inspect.isfunction(value)
        and value.__module__ == "pycuda.cumath"
        and name[0] != "_"
        if ">>>" not in (value.__doc__ or "") or missing_words(value)
    }
    assert not missing


def prose(function):
    """The docstring of a function in front of its example."""
    return (inspect.getdoc(function) or "").partition(">>>")[0]


# PyCUDA's functions and those of NumPy share names, and their docstrings refer to each other.
DESCRIBED = defaultdict(str)
for entry in registry.ENTRIES:
    for name in entry.names:
        DESCRIBED[name] += prose(entry.function)
REFERENCE = re.compile(r":(?:func|meth|class):`~?([\w.]+)`")
RESULT = re.compile(
    r"\b(returns?|results?|views?|gives|bool|tuple|list|in place|arrays?|vectors?|matrix)\b",
    re.IGNORECASE,
)


def describes(text, parameter, seen=frozenset()):
    """Whether a docstring names a parameter, or names another function whose docstring does."""
    if re.search(rf"\b{re.escape(parameter)}\b", text):
        return True
    others = {name.rpartition(".")[2] for name in REFERENCE.findall(text)}
    return any(
        describes(DESCRIBED[name], parameter, seen | others) for name in others - seen
    )


def missing_words(function):
    """What a docstring does not describe: parameters but for the first one, the result, anything beyond one line."""
    text = prose(function)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    named = [one.name for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]  # fmt: skip
    missing = [name for name in named if not describes(text, name)]
    missing += [] if RESULT.search(text) else ["the result"]
    return missing + ([] if "\n" in text.strip() else ["more than one line"])


def test_each_array_function_describes_its_parameters_and_its_result():
    missing = {
        f"{entry.namespace or 'gpuarray'}.{entry.name}": missing_words(entry.function)
        for entry in registry.ENTRIES
    }
    assert len(missing) > 300
    assert {name: words for name, words in missing.items() if words} == {}


def test_a_missing_word_is_found():
    def total(a, axis=None, stream=None):
        """Add up elements.

        axis: as of :func:`cumsum`.
        """

    assert missing_words(total) == ["the result"]
    total.__doc__ = "Add up an array."
    assert missing_words(total) == ["axis", "stream", "more than one line"]


@pytest.mark.parametrize("name", [name for name in UFUNCS])
def test_examples_of_universal_functions(device, name):
    written = failures(name, UFUNCS[name].__doc__, NAMES)
    assert not written, "".join(written)
