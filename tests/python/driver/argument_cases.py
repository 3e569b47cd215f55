"""Calls every function of the package with wrong arguments; run by test_argument_fuzz.py in processes of its own.

    python argument_cases.py list                 the names of all functions, one a line
    python argument_cases.py owners               the classes of which no object can be made, one a line
    python argument_cases.py run FIRST LAST SEED   calls the functions with these numbers

The functions and their parameters come from the stub of pycuda._driver and from inspect.signature(), so a new function
is called without an entry here. Each call replaces one argument of a call that may be right by a wrong value. A line
``? function(parameter=value)`` comes before each call, so that the last line of a process that died names the call;
a line ``! ...`` reports an error of another kind than those that an argument may cause.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import pkgutil
import random
import sys
import threading
import warnings

import numpy as np
from argument_instances import WITHOUT_INSTANCE, instance_of, kernel_image

import pycuda
import pycuda.driver as cuda
from pycuda import _driver, gpuarray

#: Functions that end or wait for something outside of the process, or that read memory at any address by their meaning.
LEFT_OUT = {
    "pycuda._exit": "ends the process",
    "pycuda.autoinit": "makes a context for the whole process",
    "pycuda.autoprimaryctx": "makes a context for the whole process",
    "pycuda.debug": "starts a debugger",
    "pycuda.docs": "serves pages",
    "pycuda.ipython": "needs IPython",
    "pycuda.pytest_plugin": "is called by pytest",
    "pycuda.dask": "needs a cluster; has tests of its own",
    "pycuda.mpi": "waits for other processes",
    "pycuda.gl": "needs OpenGL",
    "pycuda._gdb": "runs in gdb",
    "pycuda.__main__": "the command",
    "pycuda._check_command": "starts a program",
    "pycuda._gdb_command": "starts a program",
    "pycuda._profile_command": "starts a program",
}

WRONG_KINDS = (TypeError, ValueError, OverflowError, cuda.Error)
#: Errors of a right call in a wrong state, and of Python's containers.
STATE_KINDS = (IndexError, KeyError, NotImplementedError, RuntimeError, OSError, BufferError, ImportError,
               np.linalg.LinAlgError, StopIteration, MemoryError, ArithmeticError)  # fmt: skip


class Function:
    """A function, and the names of its parameters, without ``self``."""

    def __init__(self, name, call, parameters, owner=None):
        self.name = name
        self.call = call
        self.parameters = parameters
        self.owner = owner


# Finding the functions


def parameters_of_stub(node: ast.FunctionDef) -> list[tuple[str, str, bool]]:
    """Name, annotation, and whether the parameter is a keyword only."""
    arguments = node.args
    found = [
        (one.arg, ast.unparse(one.annotation) if one.annotation else "", False)
        for one in (*arguments.posonlyargs, *arguments.args)
    ]
    found += [
        (one.arg, ast.unparse(one.annotation) if one.annotation else "", True)
        for one in arguments.kwonlyargs
    ]
    return found


def functions_of_stub():
    """The functions and methods of pycuda._driver, from its stub."""
    stub = __import__("pathlib").Path(pycuda.__file__).with_name("_driver.pyi")
    tree = ast.parse(stub.read_text())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            call = getattr(_driver, node.name, None)
            if call is not None:
                yield Function(f"_driver.{node.name}", call, parameters_of_stub(node))
        elif isinstance(node, ast.ClassDef):
            owner = getattr(_driver, node.name, None)
            for method in node.body if owner is not None else ():
                if isinstance(method, ast.AnnAssign):  # an attribute
                    name = method.target.id
                    if getattr(getattr(owner, name, None), "fset", None) is not None:
                        kind = ast.unparse(method.annotation)
                        yield Function(
                            f"_driver.{node.name}.{name} =", setter(name), [("value", kind, False)], node.name
                        )  # fmt: skip
                    continue
                if not isinstance(method, ast.FunctionDef):
                    continue
                decorators = {ast.unparse(one) for one in method.decorator_list}
                if decorators & {"property"}:
                    continue
                parameters = parameters_of_stub(method)
                name = f"_driver.{node.name}.{method.name}"
                if any(one.endswith(".setter") for one in decorators):
                    yield Function(
                        f"{name} =", setter(method.name), parameters[1:], node.name
                    )
                elif "staticmethod" in decorators:
                    yield Function(name, getattr(owner, method.name), parameters)
                elif method.name == "__init__":
                    yield Function(name, owner, parameters[1:])
                elif hasattr(owner, method.name):
                    yield Function(
                        name, getattr(owner, method.name), parameters[1:], node.name
                    )


def setter(name: str):
    return lambda self, value: setattr(self, name, value)


def public_modules():
    yield gpuarray
    for one in pkgutil.walk_packages(pycuda.__path__, "pycuda."):
        parts = one.name.split(".")
        if any(part.startswith("_") for part in parts) or "arrays" in parts:
            continue
        if any(
            one.name == left or one.name.startswith(left + ".") for left in LEFT_OUT
        ):
            continue
        try:
            yield importlib.import_module(one.name)
        except ImportError:
            continue


def parameters_of(call) -> list[tuple[str, str, bool]] | None:
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):
        return None
    return [
        (one.name, str(one.annotation), one.kind is one.KEYWORD_ONLY)
        for one in signature.parameters.values()
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]


def functions_of_modules():
    """The public functions, classes and methods of the Python modules."""
    seen = set()
    for module in public_modules():
        for name, call in sorted(vars(module).items()):
            home = getattr(call, "__module__", None) or ""
            if name.startswith("_") or not callable(call) or id(call) in seen:
                continue
            if not home.startswith("pycuda") or home.startswith("pycuda._driver"):
                if not isinstance(call, type(gpuarray.sin)):
                    continue
            seen.add(id(call))
            full = f"{module.__name__.removeprefix('pycuda.')}.{name}"
            if full in LEFT_OUT or f"pycuda.{full}" in LEFT_OUT:
                continue
            if inspect.isclass(call):
                yield from functions_of_class(full, call)
                continue
            parameters = parameters_of(call)
            if isinstance(call, type(gpuarray.sin)):
                parameters = [(f"x{k}", "", False) for k in range(call.nin)] + [
                    (one, "", True) for one in ("out", "where", "dtype", "casting", "stream", "allocator")
                ]  # fmt: skip
            if parameters is not None:
                yield Function(full, call, parameters)


_seen_methods = set()


def first_time(method) -> bool:
    """Whether this method was not seen in another class. Classes without a maker come before their subclasses."""
    key = id(getattr(method, "__func__", method))
    new = key not in _seen_methods
    _seen_methods.add(key)
    return new


def functions_of_class(full: str, owner):
    if issubclass(owner, BaseException):
        return
    parameters = parameters_of(owner)
    if parameters is not None:
        yield Function(full, owner, parameters)
    for name, method in sorted(inspect.getmembers(owner)):
        if not first_time(method):  # the method of a base class
            continue
        special = name in ("__getitem__", "__setitem__")
        if name.startswith("_") and not special or not callable(method):
            continue
        parameters = parameters_of(method)
        if parameters is None:
            continue
        bound = inspect.ismethod(method)
        if not bound and parameters and parameters[0][0] == "self":
            yield Function(f"{full}.{name}", method, parameters[1:], full)
        else:
            yield Function(f"{full}.{name}", method, parameters)


def all_functions() -> list[Function]:
    found = {}
    for one in itertools.chain(functions_of_stub(), functions_of_modules()):
        found.setdefault(one.name, one)
    return list(found.values())


# Values


class Values:
    """Right values by name and type of a parameter, and wrong values for every parameter."""

    def __init__(self) -> None:
        self.context = cuda.Context.get_current()
        self.kernel = cuda.module_from_buffer(kernel_image()).get_function("kernel")
        closed = cuda.Stream()
        self.closed_stream = closed
        if hasattr(closed, "close"):
            closed.close()
        freed = cuda.mem_alloc(16)
        freed.free()
        self.freed = freed
        self.of_thread = []
        thread = threading.Thread(target=lambda: self.of_thread.append(object()))
        thread.start()
        thread.join()
        self.other = self.of_other_device()

    def of_other_device(self):
        if cuda.Device.count() < 2:
            return None
        other = cuda.Device(1).retain_primary_context()
        other.push()
        try:
            return gpuarray.zeros(4, np.float32)
        finally:
            cuda.Context.pop()

    def wrong(self) -> dict:
        array = gpuarray.zeros(4, np.float32)
        emptied = gpuarray.zeros(3, np.float32)
        emptied.gpudata = None
        opaque = gpuarray.GPUArray((2,), np.dtype("V8"))
        read_only = gpuarray.zeros(4, np.float32)
        read_only.flags.writeable = False
        values = {
            "None": None,
            "a float": 1.5,
            "a huge int": 2**70,
            "a negative int": -3,
            "2**63": 2**63,
            "nan": float("nan"),
            "a string": "no such thing",
            "an empty string": "",
            "bytes": b"ab",
            "an object": object(),
            "a dtype": np.dtype("V8"),
            "a structured dtype": np.dtype([("a", "f4"), ("b", "i2")]),
            "an object dtype": np.dtype(object),
            "a freed allocation": self.freed,
            "a closed stream": self.closed_stream,
            "a negative shape": (-1, -2),
            "a huge shape": (2**40, 2**40),
            "a tuple": (1, "a", None),
            "an empty tuple": (),
            "a list of arrays": [array, array],
            "an array": array,
            "an array without memory": emptied,
            "an array of structs": opaque,
            "a read-only array": read_only,
            "an overlapping array": gpuarray.zeros(8, np.float32)[1:5],
            "an empty array": gpuarray.zeros((0, 3), np.float32),
            "an array without axes": gpuarray.zeros((), np.float32),
            "a complex array": gpuarray.zeros(4, np.complex128),
            "a bool array": gpuarray.zeros(4, bool),
            "a matrix": gpuarray.zeros((3, 4), np.float32),
            "an uninitialised array": gpuarray.GPUArray.__new__(gpuarray.GPUArray),
            "a host array": np.zeros(4, np.float32),
            "a host array of objects": np.array([None, 1], object),
            "a host array of strings": np.array(["a", "b"]),
            "a class": int,
            "a function": len,
            "a kernel": self.kernel,
        }
        if self.other is not None:
            values["an array of another device"] = self.other
        return values

    def right(self, name: str, annotation: str):
        """A value that the parameter may have."""
        lower = name.lower()
        if "stream" in lower:
            return None
        if lower in (
            "out",
            "where",
            "allocator",
            "initial",
            "axis",
            "order",
            "pagelocked",
        ):
            return inspect.Parameter.empty
        if lower in ("dtype",):
            return np.float32
        if lower in ("shape", "newshape", "dim"):
            return (2, 2)
        if "bool" in annotation:
            return True
        if annotation in ("int", "typing.SupportsInt") or lower in (
            "n", "size", "nbytes", "bytes", "width", "height", "depth", "pitch", "k", "num", "flags", "rank", "seed",
            "offset", "count", "data", "access_size",
        ):  # fmt: skip
            return 4
        if annotation == "float":
            return 1.0
        if annotation == "str" or lower in ("name", "arguments", "operation", "source"):
            return {
                "arguments": "float *x",
                "operation": "x[i] = 0",
                "name": "kernel",
            }.get(lower, "f")
        if "Context" in annotation:
            return self.context
        if "Event" in annotation:
            return cuda.Event()
        if "Device" in annotation:
            return cuda.Device(0)
        if lower in ("dest", "src", "devptr", "pointer"):
            return cuda.mem_alloc(64)
        if lower in ("host", "buffer", "ary_host"):
            return np.zeros(4, np.float32)
        if lower in ("arrays", "tup", "seq", "operands"):
            return [gpuarray.zeros(4, np.float32)] * 2
        return gpuarray.zeros(4, np.float32)


# Calls


#: Methods that change the stack of contexts, or that wait.
STATEFUL = {"push", "pop", "detach", "attach", "reset", "make_context", "retain_primary_context", "set_limit",
            "stop_holding", "profiler", "start_profiler", "stop_profiler"}  # fmt: skip


def calls_of(function: Function, values: Values, seed: int):
    """Each call: its text, and the arguments."""
    wrong = values.wrong()
    names = list(wrong)
    if seed >= 0:  # a few of the values for each parameter, others with each seed
        names = random.Random(f"{seed} {function.name}").sample(names, 3)
    for at, (parameter, _, _) in enumerate(function.parameters):
        for name in names:
            positional, keywords = [], {}
            for k, (other, annotation, keyword) in enumerate(function.parameters):
                value = wrong[name] if k == at else values.right(other, annotation)
                if value is inspect.Parameter.empty:
                    continue
                if keyword or len(positional) != k:
                    keywords[other] = value
                else:
                    positional.append(value)
            yield f"{function.name}({parameter}={name})", positional, keywords


def restore(values: Values) -> None:
    """The stack of contexts as before the call."""
    while cuda.Context.get_current() is not None:
        if cuda.Context.get_current() == values.context:
            return
        cuda.Context.pop()
    values.context.push()


def complain(number: int, text: str, error: Exception) -> None:
    about = f"{type(error).__name__}: {str(error)[:150]}"
    print(f"! {number} {text}: {about}", flush=True)


def run(first: int, last: int, seed: int) -> None:
    warnings.simplefilter("ignore")
    values = Values()
    for number, function in enumerate(all_functions()[first:last], first):
        if function.name.rsplit(".", 1)[-1] in STATEFUL:
            continue
        for text, positional, keywords in calls_of(function, values, seed):
            print(f"? {number} {text}", flush=True)
            try:
                if function.owner is not None:
                    positional = [instance_of(function.owner), *positional]
                    if positional[0] is None:
                        break
                function.call(*positional, **keywords)
                cuda.Context.synchronize()
            except WRONG_KINDS + STATE_KINDS:
                pass
            except AttributeError as error:
                # Functions in Python ask an argument for what they need; the error names its type.
                is_attribute = function.name.endswith(".__getattr__")
                if function.name.startswith("_driver.") and not is_attribute:
                    complain(number, text, error)
            except Exception as error:
                complain(number, text, error)
            restore(values)


def print_unmade() -> None:
    """The classes of which no object can be made, each with the error."""
    for owner in sorted({one.owner for one in all_functions() if one.owner}):
        try:
            made = instance_of(owner)
        except Exception as error:
            print(owner, type(error).__name__, error)
            continue
        if made is None and owner not in WITHOUT_INSTANCE:
            print(owner, "no maker")


def main() -> None:
    if sys.argv[1] == "list":
        for one in all_functions():
            print(one.name, *(name for name, _, _ in one.parameters))
        return
    cuda.init()
    context = cuda.Device(0).retain_primary_context()
    context.push()
    if sys.argv[1] == "owners":
        print_unmade()
        return
    first, last, seed = map(int, sys.argv[2:5])
    run(first, last, seed)
    print("done", flush=True)
    context.pop()


if __name__ == "__main__":
    main()
