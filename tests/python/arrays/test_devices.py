"""An array stores its device: threads without a context, several devices, copies between them."""

import textwrap
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray

SEVERAL = """
    import threading
    import numpy as np
    import pycuda.driver as cuda
    from pycuda import gpuarray, elementwise, fuse
    cuda.init()
    devices = [cuda.Device(i) for i in range(cuda.Device.count())]
    assert len(devices) >= 2, devices

    def on(i, host):
        with devices[i]:
            return gpuarray.to_gpu(host)

    last = len(devices) - 1

    def in_thread(function):
        result = []
        def run():
            try:
                result.append(function())
            except BaseException as error:
                result.append(error)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if isinstance(result[0], BaseException):
            raise result[0]
        return result[0]

    def raises(kind, text, function):
        try:
            function()
        except kind as error:
            assert text in str(error), str(error)
            return
        raise AssertionError(f"nothing was raised, wanted {text!r}")
    host = np.arange(12, dtype=np.float32)
"""


def run_several(run_program, body):
    """The program on four devices of softcuda, or on those of a machine with several GPUs."""
    done = run_program(
        textwrap.dedent(SEVERAL) + textwrap.dedent(body), SOFTCUDA_DEVICES="4"
    )
    if "AssertionError: [<pycuda.driver.Device 0" in done.stderr:
        pytest.skip("this machine has one GPU")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_operations_run_on_the_device_of_their_arrays(run_program):
    run_several(
        run_program,
        """
        x, y = on(1, host), on(1, host + 1)
        # No context is current, in the main thread nor in another one.
        assert cuda.Context.get_current() is None
        for call in (lambda f: f(), in_thread):
            z = call(lambda: (x + y) * 2 - 1)
            assert z.device == "cuda:1"
            np.testing.assert_array_equal(call(z.get), (host + host + 1) * 2 - 1)
            assert float(call(lambda: x.sum()).get()) == host.sum()
            assert call(lambda: np.sort(x[::-1])).get().tolist() == host.tolist()
            assert call(lambda: np.concatenate([x, y])).device == "cuda:1"
            assert call(lambda: np.convolve(x, y)).device == "cuda:1"
            np.testing.assert_allclose(call(lambda: np.std(x)).get(), host.std(), rtol=1e-6)
            assert call(lambda: x[np.array([1, 3])]).get().tolist() == [1, 3]
            assert call(lambda: x[x > 3]).size == 8
            assert call(lambda: np.linalg.norm(x)).device == "cuda:1"
            call(lambda: x.set(host))
        assert cuda.Context.get_current() is None

        # Another context is current, and stays so.
        with devices[0]:
            before = cuda.Context.get_current()
            z = x * y
            assert z.device == "cuda:1" and cuda.Context.get_current() == before
            assert np.concatenate([x, y]).device == "cuda:1"
            kernel = elementwise.ElementwiseKernel("float *x", "x[i] += 1", "add_one")
            kernel(x)
            assert cuda.Context.get_current() == before
            assert gpuarray.zeros(3).device == "cuda:0"
        assert x.get().tolist() == (host + 1).tolist()

        doubled = fuse(lambda a, b: a * b + 1)
        for device in {0, 1, last}:
            a = on(device, host)
            assert doubled(a, a).device == f"cuda:{device}"
            np.testing.assert_array_equal(doubled(a, a).get(), host * host + 1)
        """,
    )


def test_arrays_of_two_devices_are_an_error_that_names_them(run_program):
    run_several(
        run_program,
        """
        x, y = on(0, host), on(1, host)
        message = "must be on one device, not on cuda:0 and cuda:1; copy one of them with to_device()"
        raises(ValueError, message, lambda: x + y)
        raises(ValueError, message, lambda: np.hypot(x, y))
        raises(ValueError, message, lambda: x @ y)
        raises(ValueError, message, lambda: x.__iadd__(y))
        raises(ValueError, message, lambda: np.where(x > 1, x, y))
        raises(ValueError, message, lambda: fuse(lambda a, b: a + b)(x, y))
        kernel = elementwise.ElementwiseKernel("float *x, float *y", "x[i] += y[i]", "add")
        raises(ValueError, message, lambda: kernel(x, y))
        raises(ValueError, "on cuda:1 and cuda:0", lambda: np.searchsorted(y, x))
        """,
    )


def test_threads_without_a_context_use_the_default_one(run_program):
    run_several(
        run_program,
        """
        raises(cuda.LogicError, "no currently active context", lambda: in_thread(lambda: gpuarray.zeros(3)))
        context = devices[last].retain_primary_context()
        cuda.Context.set_default(context)
        assert cuda.Context.get_default() == context
        assert in_thread(lambda: gpuarray.zeros(3).device) == f"cuda:{last}"
        assert in_thread(lambda: cuda.mem_get_info()[1]) == devices[last].total_memory()
        # A context of the thread's own comes first.
        def own():
            with devices[1]:
                return gpuarray.zeros(3).device
        assert in_thread(own) == "cuda:1"
        cuda.Context.set_default(None)
        assert cuda.Context.get_default() is None
        raises(cuda.LogicError, "no currently active context", lambda: in_thread(lambda: gpuarray.zeros(3)))
        # One that is given up is no default any more.
        cuda.Context.set_default(context)
        context.detach()
        assert cuda.Context.get_default() is None
        raises(cuda.LogicError, "was detached", lambda: cuda.Context.set_default(context))
        """,
    )


def test_autoinit_serves_every_thread(run_program):
    done = run_program(
        """
        import threading
        import numpy as np
        import pycuda.autoinit
        from concurrent.futures import ThreadPoolExecutor
        from pycuda import gpuarray
        from pycuda.elementwise import ElementwiseKernel

        kernel = ElementwiseKernel("double *x", "x[i] *= 2", "twice")
        def work(n):
            x = gpuarray.arange(n, dtype=np.float64)
            kernel(x)
            return float((x + 1).sum().get())
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(work, range(1, 40))) == [n * (n - 1) + n for n in range(1, 40)]
        print("done")
        """
    )
    assert done.returncode == 0 and "done" in done.stdout, done.stderr


def test_copies_to_other_devices(run_program):
    run_several(
        run_program,
        """
        x = on(0, host.reshape(3, 4))
        for target in (1, "cuda:1", devices[1], np.int64(1)):
            y = x.to_device(target)
            assert y.device == "cuda:1" and y.dtype == x.dtype
            np.testing.assert_array_equal(y.get(), host.reshape(3, 4))
        assert x.to_device(0) is x and x.to_device("cuda:0") is x
        np.testing.assert_array_equal(x.to_device("cpu"), host.reshape(3, 4))
        # Views with gaps, in Fortran's order, and of nothing; work before the copy is waited for.
        np.testing.assert_array_equal(x[::2, 1:].to_device(last).get(), host.reshape(3, 4)[::2, 1:])
        assert x.T.to_device(last).strides == x.T.strides
        np.testing.assert_array_equal((x * 2 + 1).to_device(last).get(), host.reshape(3, 4) * 2 + 1)
        assert x[:0].to_device(1).shape == (0, 4)
        count = last + 1
        raises(ValueError, f"there is no device {count}; there are {count}", lambda: x.to_device(count))
        for wrong in ("gpu", "cuda:x", 1.0, True, None):
            raises(ValueError, "device must be", lambda: x.to_device(wrong))
        """,
    )


def test_copies_to_other_devices_are_done_on_return(run_program):
    run_several(
        run_program,
        """
        free = cuda.stream_flags.NON_BLOCKING
        with devices[1]:
            side = cuda.Stream(free)
        # Kernels that still use the memory which the copy gets.
        slow = elementwise.ElementwiseKernel(
            "double *x, int count", "for (int j = 0; j < count; j++) x[i] = sin(x[i]) * 0"
        )
        for i in range(1000):
            wanted = np.arange(64) * 7 % 251.0 + i + 1
            if i % 8 == 0:
                with devices[0]:
                    slow(gpuarray.zeros(64, np.float64), 2000)
            with devices[1], side:
                x = gpuarray.to_gpu(wanted).to_device(0)
            with devices[0], cuda.Stream(free):
                np.testing.assert_array_equal(x.get(), wanted)
            with devices[1], side:
                y = gpuarray.to_gpu(wanted)
            with devices[0]:
                x = gpuarray.empty(64, np.float64)
                contexts = [device.retain_primary_context() for device in devices[:2]]
                contexts[0].synchronize()
            with devices[1], side:
                cuda.memcpy_peer(x, y, y.nbytes, *contexts)
                contexts[1].synchronize()
            found = np.empty(64)
            with devices[0]:
                cuda.memcpy_dtoh(found, x)
            np.testing.assert_array_equal(found, wanted)
        """,
    )


def test_first_use_of_a_view_while_another_device_is_current(run_program):
    run_several(
        run_program,
        """
        class Sub(gpuarray.GPUArray):
            pass

        for make in (
            lambda x: Sub(x.shape, x.dtype, gpudata=x.gpudata, base=x),
            lambda x: gpuarray.GPUArray(x.shape, x.dtype, gpudata=int(x.gpudata), base=x),
        ):
            x = on(1, host)
            with devices[1]:
                view, other, longer = make(x), make(x), make(x)
            longer.shape = (13,)
            with devices[0]:
                assert (view + 1).get().tolist() == (host + 1).tolist()
                assert cuda.mem_get_address_range(int(x.gpudata))[1] >= x.nbytes
                y = gpuarray.zeros(12, np.float32)
                contexts = [device.retain_primary_context() for device in devices[:2]]
                cuda.memcpy_peer_async(y, other, x.nbytes, *contexts, cuda.Stream())
                cuda.Context.synchronize()
                assert y.get().tolist() == host.tolist()
                raises(ValueError, "of memory of", lambda: longer + 1)
        """,
    )


@pytest.mark.cuda_check_allow("leak")
def test_scope_of_an_array_whose_context_is_gone(device):
    context = cuda.Device(0).make_context()
    x = gpuarray.zeros(3, np.float32)
    cuda.Context.pop()
    context.detach()
    with pytest.raises(cuda.Error):
        (x + 1).get()


def test_a_stream_of_another_device_is_not_used(run_program):
    """The stream is determined after the context: here each operation uses the default stream of its own device."""
    run_several(
        run_program,
        """
        x = on(last, host)
        devices[0].retain_primary_context().push()
        s = cuda.Stream()
        calls = {
            "x + 1": lambda: x + 1, "-x": lambda: -x, "np.add": lambda: np.add(x, x), "x += 0": lambda: x.__iadd__(0),
            "sum": lambda: x.sum(), "where": lambda: gpuarray.where(x > 1, x, 0), "copy": lambda: x[::2].copy(),
            "out": lambda: np.add(x, x, out=gpuarray.empty_like(x)), "sort": lambda: np.sort(x), "x @ x": lambda: x @ x,
            "x[[1]]": lambda: x[[1, 2]], "fuse": lambda: fuse(lambda a: a * 2 + 1)(x),
            "elementwise": lambda: (elementwise.ElementwiseKernel("float *x", "x[i] += 0")(x), x)[1],
        }
        for name, call in calls.items():
            with s:
                result = call()
                assert result.__cuda_array_interface__["stream"] in (1, None), name
                assert gpuarray.zeros(1).__cuda_array_interface__["stream"] == s.handle
            result.get()
            assert result.device == f"cuda:{last}", name
        raw = cuda.mem_alloc(48)
        with s:
            cuda.memcpy_dtod(x, x.copy(), x.nbytes)  # of the other device
            cuda.memset_d8(x, 0, x.nbytes)
            cuda.memset_d8(raw, 0, 48)  # of this one
        assert not x.get().any()
        """,
    )


def test_functions_of_arrays_run_on_the_device_of_their_arrays(run_program):
    run_several(
        run_program,
        """
        import copy
        from pycuda import fft, linalg
        x = on(last, host.reshape(3, 4) + 1)
        square = on(last, np.eye(3) + 1)
        devices[0].retain_primary_context().push()
        calls = {
            "histogram": lambda: gpuarray.histogram(x), "concatenate": lambda: gpuarray.concatenate([x, x]),
            "stack": lambda: gpuarray.stack((x, x)), "gradient": lambda: gpuarray.gradient(x[0]), "tril": lambda: gpuarray.tril(x),
            "unique": lambda: gpuarray.unique(x), "nanmedian": lambda: gpuarray.nanmedian(x), "fft": lambda: fft.fft(x),
            "inv": lambda: linalg.inv(square), "eigh": lambda: linalg.eigh(square), "copy": lambda: copy.copy(x),
            "deepcopy": lambda: copy.deepcopy(x), "mean": lambda: x.mean(0), "by keyword": lambda: gpuarray.tril(m=x),
            "x[0] = list": lambda: x.__setitem__(0, [1, 2, 3, 4]), "argwhere": lambda: gpuarray.argwhere(x),
        }
        def arrays(result):
            if isinstance(result, gpuarray.GPUArray):
                return [result]
            return [one for part in result for one in arrays(part)] if isinstance(result, (tuple, list)) else []
        for name, call in calls.items():
            for result in arrays(call()):
                assert result.device == f"cuda:{last}", name
                result.get()
            assert cuda.Context.get_device() == devices[0], name
        """,
    )


def test_each_public_function_enters_the_context_of_its_arrays():
    import types

    from pycuda.arrays import registry

    for entry in registry.ENTRIES:
        assert not isinstance(entry.function, types.FunctionType), entry.name
    for owner in gpuarray.GPUArray.__mro__:
        if owner.__module__.startswith("pycuda"):
            for name, value in vars(owner).items():
                assert (
                    not isinstance(value, types.FunctionType) or name == "__init__"
                ), name


def test_public_functions_are_like_functions(device):
    import copy
    import inspect
    import pickle

    assert gpuarray.concatenate.__name__ == "concatenate"
    assert "axis" in inspect.signature(gpuarray.concatenate).parameters
    assert inspect.isroutine(gpuarray.concatenate)
    assert "join" in inspect.getdoc(gpuarray.concatenate).lower()
    again = pickle.loads(pickle.dumps(gpuarray.concatenate))
    x = gpuarray.zeros(2)
    assert again is gpuarray.concatenate
    assert again([x, x]).shape == (4,)
    assert copy.deepcopy(gpuarray.concatenate)([x, x]).shape == (4,)
    assert x.mean.__self__ is x
    with pytest.raises(TypeError, match="concatenate"):
        gpuarray.concatenate()


def test_every_function_while_another_device_is_current(run_program):
    """Arrays are on one device, another one is current: the values are NumPy's, and the result is with the arrays."""
    benchmarks = Path(__file__).parents[3] / "benchmarks"
    text = run_several(
        run_program,
        f"""
        import os, sys, warnings
        sys.path.insert(0, {str(benchmarks)!r})
        import every_function
        warnings.simplefilter("ignore")
        calls = {{**every_function.function_calls(), **dict.fromkeys(every_function.MORE, "")}}
        failed, done = [], 0

        def devices_of(result):
            if isinstance(result, gpuarray.GPUArray):
                return {{result.device}}
            parts = result if isinstance(result, (tuple, list)) else ()
            return set().union(*map(devices_of, parts))

        def attempt(name, words, number):
            made = []
            def array(host):
                made.append(number)
                return on(number, host)
            ours = every_function.Library("pycuda", every_function._Pycuda(), array, None)
            ours.data = every_function.Operands(array, 1024)
            with devices[number - 1]:  # of -1: the last one
                where = devices_of(ours.call(name, words)())
                if made and where - {{f"cuda:{{number}}"}}:
                    return f"is on {{where}}"
                if every_function.values_differ(ours, name, words):
                    return "other values than NumPy's"
                if cuda.Context.get_device() != devices[number - 1]:
                    return "leaves another device current"
            return None

        for number in range(len(devices)) if "PYCUDA_TEST_ALL_DEVICES" in os.environ else (last,):
            for name, words in calls.items():
                try:
                    problem = attempt(name, words, number)
                except Exception as error:
                    problem = f"{{type(error).__name__}}: {{error}}"
                done += 1
                if problem:
                    failed.append(f"{{name}} on device {{number}}: {{problem}}")
        print(done, "calls")
        assert not failed, "\\n".join(failed)
        """,
    )
    assert int(text.split()[0]) > 300
