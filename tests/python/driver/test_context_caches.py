"""Cached objects of a context are removed with the context; they are not identified by its handle."""

import gc

import numpy as np
import pytest

import pycuda
import pycuda.driver as cuda
from pycuda import curandom, gpuarray
from pycuda import random as philox
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel
from pycuda.tools import context_dependent_memoize

twice = ElementwiseKernel("float *z, const float *x", "z[i] = 2 * x[i]", "twice")
total = ReductionKernel(np.float32, "0", "a + b", "x[i]", "const float *x")
scan = InclusiveScanKernel(np.float32, "a + b")


@pycuda.fuse
def fused(x):
    return x * 3 + 1


def use_everything():
    x = gpuarray.arange(0, 100, dtype=np.float32)
    numbers = np.arange(100, dtype=np.float32)
    z = gpuarray.empty_like(x)
    twice(z, x)
    assert (z.get() == 2 * numbers).all()
    assert total(x).get() == numbers.sum()
    assert (scan(x.copy()).get() == numbers.cumsum()).all()
    assert (fused(x).get() == 3 * numbers + 1).all()
    assert ((x + 1).cumsum().get() == (numbers + 1).cumsum()).all()
    assert (gpuarray.sort(-x).get() == np.sort(-numbers)).all()
    drawn = philox.Generator(3).random(64).get()
    assert 0 <= drawn.min() and drawn.max() < 1
    assert curandom.rand((8,)).get().shape == (8,)
    return drawn


def test_a_hundred_contexts_one_after_the_other(device):
    expected, handles = use_everything(), set()
    for _ in range(100):
        context = device.make_context()
        handles.add(context.handle)
        try:
            assert (use_everything() == expected).all()
        finally:
            gc.collect()
            context.pop()
            context.detach()
    assert (use_everything() == expected).all()
    if len(handles) == 100:
        pytest.skip("the driver gave no handle twice")


def test_memoized_results_are_removed_with_their_context(device):
    calls = []

    @context_dependent_memoize
    def remember(value):
        calls.append(value)
        return np.zeros(3)

    remember(1)
    remember(1)
    assert calls == [1]
    for count in range(2, 5):
        context = device.make_context()
        remember(1)
        remember(1)
        assert len(calls) == count
        context.pop()
        context.detach()
    remember(1)
    assert calls == [1] * 4
    # Of the destroyed contexts, at most the last one's results are left.
    assert len(remember._pycuda_ctx_dep_memoize_dic) <= 2


def test_a_context_has_a_unique_number(device):
    context = device.make_context()
    first, handle = context._serial, context.handle
    assert cuda.Context.get_current()._serial == first
    context.pop()
    context.detach()
    again = device.make_context()
    assert again._serial != first
    again.pop()
    again.detach()
    del handle


def test_a_reset_of_the_primary_context_ends_what_is_kept_for_it(run_program):
    done = run_program(
        """
        import gc, weakref
        import numpy as np
        import pycuda.driver as cuda

        cuda.init()
        device = cuda.Device(0)
        numbers = np.arange(1 << 20, dtype=np.float32)

        def use():
            context = device.retain_primary_context()
            context.push()
            memory = cuda.mem_alloc(numbers.nbytes)
            stream, host = cuda.Stream(), np.zeros(10, np.float32)
            with cuda.capture(stream) as recording:
                cuda.memcpy_htod_async(memory, host, stream)
            cuda.memcpy_htod(memory, numbers)  # a large copy through page-locked memory
            assert (cuda.from_device(memory, 1 << 20, np.float32) == numbers).all()
            return recording.graph, weakref.ref(host)

        for _ in range(3):
            graph, host = use()
            gc.collect()
            assert host() is not None
            device.reset_primary_context()
            gc.collect()
            assert host() is None
        print("done")
        """,
        PYCUDA_COPY_THREADS="2",
    )
    assert (done.stdout, done.stderr) == ("done\n", "")
