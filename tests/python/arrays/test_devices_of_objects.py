"""Generators, sparse matrices and user kernels work on the device of their arrays, whatever context is current."""

import time

import numpy as np
import pytest
from test_devices import run_several

import pycuda.driver as cuda
from pycuda import curandom


def test_random_methods_with_arrays_of_another_device(run_program):
    run_several(
        run_program,
        """
        from pycuda.random import default_rng
        x = on(1, host + 1)
        devices[0].retain_primary_context().push()
        rng = default_rng(1)
        zeros = on(1, np.zeros(12, np.float32))
        calls = dict(
            permutation=(x,), permuted=(x,), choice=(x, 5), poisson=(x,), gamma=(x,), geometric=(1 / x,), lognormal=(x, 1.0),
            uniform=(x, x + 1), normal=(x, [1.0]), exponential=(x,), integers=(0, x.astype(np.int32) + 1),
        )
        for name, arguments in calls.items():
            assert getattr(rng, name)(*arguments).device == "cuda:1", name
        for name in ("random", "standard_normal", "uniform"):
            assert getattr(rng, name)(out=zeros, dtype=np.float32) is zeros
        rng.shuffle(x)
        assert rng.random(3).device == "cuda:0"
        with devices[1]:
            here = default_rng(5).poisson(x).get()
        assert (default_rng(5).poisson(x).get() == here).all()  # the numbers do not depend on the device
        """,
    )


@pytest.mark.parametrize("kind", ["XORWOW", "MRG32k3a", "Sobol32", "ScrambledSobol64"])
def test_a_generator_of_another_device(run_program, kind):
    run_several(
        run_program,
        f"""
        from pycuda.curandom import {kind}RandomNumberGenerator as Generator
        from pycuda.curandom import seed_getter_unique
        devices[0].retain_primary_context().push()
        seeds = []
        if {kind!r} in ("XORWOW", "MRG32k3a"):
            seeds.append(lambda n: gpuarray.zeros(n, np.int32) + 7)
        with devices[1]:
            mine, theirs = Generator(*seeds), Generator(*seeds)
            mine.call_skip_ahead(3)
            want = mine.gen_uniform(100, np.float32).get()
        theirs.call_skip_ahead(3)
        made = theirs.gen_uniform(100, np.float32)
        assert made.device == "cuda:1" and (made.get() == want).all()
        theirs.fill_normal(made)
        raises(ValueError, "cuda:0", lambda: theirs.fill_uniform(gpuarray.zeros(9, np.float32)))
        """,
    )


@pytest.mark.parametrize("kind", ["Sobol32", "ScrambledSobol32"])
def test_skipping_ahead_is_work_of_the_stream(device, kind):
    generator, other = (
        getattr(curandom, kind + "RandomNumberGenerator")() for _ in range(2)
    )
    other.call_skip_ahead(5)
    want = other.gen_uniform(100, np.float32).get()
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    generator.gen_uniform(0, np.float32)
    cuda.Context.synchronize()
    cuda.launch_host_func(
        lambda: time.sleep(0.1)
    )  # work of the default stream waits for it
    generator.call_skip_ahead(5, stream=stream)
    got = generator.gen_uniform(100, np.float32, stream=stream).get(stream=stream)
    assert (got == want).all()


def test_sparse_functions_with_matrices_of_another_device(run_program):
    run_several(
        run_program,
        """
        from pycuda import sparse
        from pycuda.sparse.coordinate import CoordinateSpMV
        from pycuda.sparse.packeted import PacketedSpMV
        import pycuda.sparse.linalg
        devices[0].retain_primary_context().push()
        with devices[1]:
            a = sparse.eye(3, format="csr") * 2
        x, k = on(1, np.arange(3.0)), on(1, np.arange(4))
        dense = on(1, np.eye(3))
        made = [
            sparse.vstack([a, a]), sparse.hstack([a, dense]), sparse.bmat([[a, None], [None, a]]), sparse.block_diag([a, a]),
            sparse.kron(a, a), sparse.tril(a), sparse.diags([x], [0]), sparse.csr_array(dense), sparse.csc_array(a),
            sparse.coo_array((x, (k[:3], k[:3]))), sparse.csr_array((x, k[:3], k)),
        ]
        for matrix in made:
            assert matrix.data.device == "cuda:1"
        assert sparse.linalg.cg(a, x)[0].device == "cuda:1"
        assert sparse.find(a)[2].device == "cuda:1"
        assert (CoordinateSpMV(a, np.float64)(x).get() == [0, 2, 4]).all()
        packed = PacketedSpMV(a, True, np.float64)
        assert (packed.unpermute(packed(packed.permute(x))).get() == [0, 2, 4]).all()
        """,
    )


def test_results_of_another_device_than_the_operands_are_an_error(run_program):
    run_several(
        run_program,
        """
        from pycuda.scan import InclusiveScanKernel
        devices[0].retain_primary_context().push()
        a, b = on(0, np.eye(3)), on(1, np.ones(3))
        for function in (np.linalg.solve, np.linalg.lstsq, np.linalg.tensorsolve):
            raises(ValueError, "cuda:1", lambda: function(a, b))
        raises(ValueError, "cuda:1", lambda: np.fft.fft(a[0], out=on(1, np.zeros(3, complex))))
        scan = InclusiveScanKernel(np.float64, "a + b")
        raises(ValueError, "cuda:1", lambda: scan(a[0].copy(), b))
        sums = scan(b, "new")
        assert sums.device == "cuda:1" and (sums.get() == [1, 2, 3]).all()
        """,
    )


def test_operands_of_two_devices_are_an_error_that_names_both(run_program):
    run_several(
        run_program,
        """
        from pycuda.random import default_rng
        x, y = on(0, host + 1), on(1, host + 1)
        k = on(1, np.ones(len(host), np.int32))
        devices[0].retain_primary_context().push()
        rng = default_rng(1)
        for call in (
            lambda: gpuarray.repeat(x, k),
            lambda: gpuarray.histogram(x, bins=y),
            lambda: gpuarray.gradient(x, y),
            lambda: gpuarray.concatenate([x, y]),
            lambda: gpuarray.interp(x, y, y),
            lambda: np.histogram(x, bins=y),
            lambda: rng.poisson(x, out=y),
            lambda: rng.lognormal(x, y),
            lambda: rng.choice(x, 3, p=y),
        ):
            raises(ValueError, "cuda:0", call)
            raises(ValueError, "cuda:1", call)
        """,
    )


def test_a_stream_of_another_device_is_an_error_that_names_both(run_program):
    run_several(
        run_program,
        """
        x = on(0, host)
        with devices[1]:
            stream = cuda.Stream()
        devices[0].retain_primary_context().push()
        from pycuda.random import default_rng
        for call in (
            lambda: x.copy(stream=stream),
            lambda: x.fill(1, stream=stream),
            lambda: x.fill([1], stream=stream),
            lambda: x.astype(np.int16, stream=stream),
            lambda: gpuarray.searchsorted(x, 2, stream=stream),
            lambda: gpuarray.zeros(3, stream=stream),
            lambda: default_rng(1).random(3, stream=stream),
        ):
            raises(ValueError, "cuda:0", call)
            raises(ValueError, "cuda:1", call)
        with stream:
            assert (x.copy().get() == host).all()  # a current stream of another device is not for this array
        """,
    )


def test_a_stream_of_another_context_is_an_error_that_tells_the_contexts(run_program):
    run_several(
        run_program,
        """
        from pycuda.compiler import SourceModule
        x = on(0, host)
        devices[0].retain_primary_context().push()
        kernel = SourceModule("__global__ void k() {}").get_function("k")
        with devices[1]:
            far = cuda.Stream()
        own = devices[0].make_context()
        near = cuda.Stream()
        cuda.Context.pop()
        raises(ValueError, "another context on cuda:0 than the work", lambda: x.fill(1, stream=near))
        raises(cuda.LogicError, "another context on cuda:0 than the kernel", lambda: kernel(block=(1, 1, 1), stream=near))
        raises(cuda.LogicError, "a context on cuda:1, but the kernel is on cuda:0", lambda: kernel(block=(1, 1, 1), stream=far))
        """,
    )


def test_inner_products_of_two_devices_share_no_stream(run_program):
    run_several(
        run_program,
        """
        from pycuda.sparse.inner import AsyncInnerProduct
        x, y = on(0, host), on(1, host)
        devices[0].retain_primary_context().push()
        for _ in range(3):
            for z in (x, y):
                product = AsyncInnerProduct(z, z, cuda.pagelocked_empty)
                while product.get_host_result() is None:
                    pass
                assert product.get_host_result() == (host * host).sum()
        """,
    )


def test_host_arrays_of_a_kernel_of_another_device(run_program):
    """Their device memory is of the kernel's device, and a kernel that runs still has it."""
    run_several(
        run_program,
        """
        from pycuda.compiler import SourceModule
        source = '''__global__ void add(float *y, const float *x) {
            float sum = 0;
            for (int i = 0; i < 200000; ++i) sum += x[threadIdx.x] * 0.5f - x[threadIdx.x] * 0.5f;
            y[threadIdx.x] = sum + 2 * x[threadIdx.x];
        }'''
        given = cuda.In(host + 1)
        for number in (1, 0, 1):
            with devices[number]:
                kernel = SourceModule(source).get_function("add")
                stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
                y = gpuarray.zeros(host.size, np.float32)
                cuda.Context.synchronize()
            other = devices[1 - number].retain_primary_context()
            other.push()
            for argument in (cuda.In(host + 1), given):
                kernel(y, argument, block=(host.size, 1, 1), stream=stream)
                own = cuda.mem_alloc(host.nbytes)
                cuda.memset_d32(own, 0, host.size)
                stream.synchronize()
                assert (y.get() == 2 * (host + 1)).all()
            result = np.zeros_like(host)
            kernel(cuda.Out(result), given, block=(host.size, 1, 1), stream=stream)
            assert (result == 2 * (host + 1)).all()
            cuda.Context.pop()
        """,
    )


def test_a_graph_is_launched_in_its_context(run_program):
    run_several(
        run_program,
        """
        from pycuda.compiler import SourceModule
        source = "__global__ void add(float *x, float a) { x[threadIdx.x] += a; }"
        x = on(1, np.zeros(12, np.float32))
        devices[0].retain_primary_context().push()
        with devices[1]:
            add = SourceModule(source).get_function("add")
            built = cuda.Graph()
            built.add_kernel(add.bind(x, np.float32(1), block=(12, 1, 1)))
            stream = cuda.Stream()
            with cuda.capture(stream) as recording, stream:
                x += 1
            graphs = [built.instantiate(), recording.graph.instantiate()]
        for graph in graphs:
            for _ in range(20):
                graph.launch()
                x *= 1  # in the default stream of device 1
        assert (x.get() == 40).all()
        """,
    )


def test_gpudata_of_another_device(run_program):
    run_several(
        run_program,
        """
        x = on(1, np.arange(12, dtype=np.float32))
        devices[0].retain_primary_context().push()
        with devices[1]:
            plain = cuda.mem_alloc(48)
            pooled = cuda.DeviceMemoryPool().allocate(48)
            for memory in (plain, pooled):
                cuda.memset_d32(memory, 0, 12)
        class Holder(cuda.PointerHolderBase):
            def get_pointer(self):
                return plain
        zeros = np.zeros(12)
        for memory, want in ((x.gpudata, x.get()), (x, x.get()), (x.ptr, x.get()), (plain, zeros), (int(plain), zeros),
                             (pooled, zeros), (Holder(), zeros)):
            alias = gpuarray.GPUArray((12,), np.float32, gpudata=memory)
            assert alias.device == "cuda:1", memory
            assert ((alias + 1).get() == want + 1).all()
        alias = x[:]
        alias.shape, alias.gpudata = (8,), x.ptr + 16
        assert alias.device == "cuda:1" and ((alias * 2).get() == x.get()[4:] * 2).all()
        """,
    )


def test_memory_that_all_devices_access_is_on_the_current_one(run_program):
    run_several(
        run_program,
        """
        devices[0].retain_primary_context().push()
        with devices[1]:
            managed = cuda.managed_zeros(12, np.float32)
            pinned = cuda.pagelocked_zeros(12, np.float32, mem_flags=cuda.host_alloc_flags.PORTABLE)
        for address in (managed.ctypes.data, pinned.base.get_device_pointer()):
            x = gpuarray.GPUArray((12,), np.float32, gpudata=address)
            assert x.device == "cuda:0" and ((x + 1).get() == 1).all()
        """,
    )


def test_an_allocator_of_another_device(run_program):
    run_several(
        run_program,
        """
        devices[0].retain_primary_context().push()
        with devices[1]:
            pool = cuda.DeviceMemoryPool()
            x = gpuarray.zeros(12, np.float32, allocator=pool)
        assert (x + 1).device == "cuda:1"  # from the pool
        for make in (lambda: gpuarray.zeros(12, allocator=pool), lambda: gpuarray.to_gpu(np.ones(3), allocator=pool.allocate)):
            try:
                make()
            except ValueError as error:
                assert "device 1" in str(error) and "device 0" in str(error), error
            else:
                raise AssertionError("nothing was raised")
        """,
    )
