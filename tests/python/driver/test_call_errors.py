"""The error for wrong arguments has a message from pycuda, never the signature of a C++ function."""

import inspect
import re

import numpy as np
import pytest

import pycuda.compiler
import pycuda.driver as cuda
from pycuda import _driver, gpuarray

RAW = re.compile(
    r"incompatible function arguments|Invoked with types|std::|nanobind|0x[0-9a-f]{6,}|\bself: "
)


class Odd:
    """An argument that no function accepts."""


def functions_of(owner, prefix=""):
    """(name, callable) of the functions, classes, methods and static methods bound in C++."""
    for name, value in vars(owner).items():
        if name.startswith("_"):
            continue
        kind = type(value).__name__
        if kind in ("nb_func", "nb_method", "_EitherMethod"):
            yield f"{prefix}{name}", getattr(owner, name)
        elif (
            isinstance(value, type)
            and not prefix
            and value.__module__ == _driver.__name__
        ):
            yield name, value
            yield from functions_of(value, f"{name}.")


CALLABLES = dict(functions_of(_driver))


def test_there_are_functions_to_call():
    assert len(CALLABLES) > 200
    assert {"Stream", "mem_alloc", "memcpy_htod", "Event.record"} <= set(CALLABLES)


@pytest.mark.parametrize("name", sorted(CALLABLES))
@pytest.mark.parametrize("arguments", [(Odd(),) * 12, (Odd(),)], ids=["twelve", "one"])
def test_no_raw_signature(device, name, arguments):
    function = CALLABLES[name]
    if name in ("set_finalizing",):
        return
    try:
        function(*arguments)
    except TypeError as error:
        assert not RAW.search(str(error)), str(error)
    except (cuda.Error, ValueError, AttributeError, RuntimeError) as error:
        assert "std::" not in str(error)


@pytest.mark.parametrize("name", sorted(CALLABLES))
def test_no_raw_signature_for_a_wrong_keyword(device, name):
    try:
        CALLABLES[name](no_such_argument=1)
    except TypeError as error:
        assert not RAW.search(str(error)), str(error)
    except (cuda.Error, ValueError, AttributeError, RuntimeError) as error:
        assert "std::" not in str(error)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cuda.mem_alloc("much"),
            "bytes must be an int, not str",
        ),
        (lambda: cuda.mem_alloc(), "mem_alloc() needs the argument 'bytes'"),
        (lambda: cuda.mem_alloc(1, 2), "mem_alloc() takes 1 argument, got 2"),
        (lambda: cuda.mem_alloc(size=2), "mem_alloc() has no argument 'size'"),
        (
            lambda: cuda.Event().record(1),
            "stream must be a pycuda.driver.Stream or None",
        ),
        (lambda: cuda.Stream().wait_for_event(3), "Event"),
        (
            lambda: cuda.Context.set_limit("a", 1),
            "wants an int as 'limit', not 'a' (str)",
        ),
        (lambda: cuda.memcpy_htod(None, b"x"), "memcpy_htod() got None as 'dest'"),
        (lambda: gpuarray.zeros(None), "the call got None as 'shape'"),
        (lambda: gpuarray.sqrt(None), "the call got None where a value is expected"),
        (lambda: gpuarray.zeros(3) + None, "NoneType"),
        (lambda: gpuarray.to_gpu(None), "cannot hold Python objects"),
    ],
)
def test_the_message_names_the_argument(device, call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize("true", [1, np.bool_(True), True, "yes"])
@pytest.mark.parametrize("false", [0, None, np.bool_(False), ""])
def test_truth_values(device, true, false):
    source = 'extern "C" __global__ void f(int *x) { *x = 1; }'
    module = pycuda.compiler.SourceModule(source, no_extern_c=true, keep=false)
    out = gpuarray.zeros(1, np.int32)
    module.get_function("f")(out, block=(1, 1, 1))
    assert out.get()[0] == 1
    with pytest.raises(cuda.LogicError):
        pycuda.compiler.SourceModule(
            "__global__ void g(int *x) { *x = 1; }", no_extern_c=false
        ).get_function("f")
    cuda.Linker(log_verbose=false)


def test_an_array_has_no_truth_value_for_a_parameter(device):
    with pytest.raises(TypeError, match="log_verbose"):
        cuda.Linker(log_verbose=np.zeros(3))


def test_docstrings_and_signatures_are_still_there():
    assert "bytes" in (inspect.getdoc(cuda.mem_alloc) or "")


@pytest.mark.parametrize("value", [-1, 1.5, "a", 2**70, None])
def test_the_message_names_the_attribute(value):
    with pytest.raises(TypeError, match=r"Memcpy2D\.height "):
        cuda.Memcpy2D().height = value
