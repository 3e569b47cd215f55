# A random program of streams: SOFTCUDA_DEVICES=2 SOFTCUDA_SCHEDULE=N python program.py
import threading

import numpy as np

import pycuda
import pycuda.driver as cuda

cuda.init()
contexts = [cuda.Device(i).retain_primary_context() for i in range(cuda.Device.count())]
contexts[0].push()

import pycuda.cumath  # noqa: E402
import pycuda.fft  # noqa: E402
import pycuda.linalg  # noqa: E402
import pycuda.sparse  # noqa: E402
from pycuda import gpuarray  # noqa: E402
from pycuda.compiler import SourceModule  # noqa: E402
from pycuda.elementwise import ElementwiseKernel  # noqa: E402
from pycuda.reduction import ReductionKernel  # noqa: E402
from pycuda.scan import InclusiveScanKernel  # noqa: E402


class InStream:
    """A stream of a device, which becomes the current device in a `with` block, too."""

    def __init__(self, device, make):
        self.device = cuda.Device(device)
        with self.device:
            self.stream = make()

    def __enter__(self):
        self.device.__enter__()
        if self.stream:
            self.stream.__enter__()

    def __exit__(self, *error):
        if self.stream:
            self.stream.__exit__(*error)
        self.device.__exit__(*error)


class Sub(gpuarray.GPUArray):
    pass


def subclassed(x):
    """A view of the memory of x."""
    return Sub(x.shape, x.dtype, strides=x.strides, gpudata=x.gpudata, base=x)


class Foreign:
    """An array of another library, written in a stream."""

    def __init__(self, array, stream):
        self.array = array
        interface = dict(array.__cuda_array_interface__)
        handle = stream.stream.handle if stream.stream else 1
        self.__cuda_array_interface__ = {**interface, "stream": handle, "version": 3}


band = np.eye(16) * 3 + np.eye(16, k=1)
matrix_of_host = np.eye(16) * 40 + np.arange(256).reshape(16, 16) % 5


class Modules:
    """The kernels of one device."""

    def __init__(self):
        module = SourceModule("""
            __global__ void mix(double *z, const double *x, int n, double k) {
                for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                    z[i] = fmod(z[i] + x[i] * 3 + k, 251.0);
            }
            __global__ void read_texture(cudaTextureObject_t t, double *z, int n) {
                for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                    z[i] = tex1Dfetch<float>(t, i);
            }
            __global__ void read_image(cudaTextureObject_t t, double *z, int n) {
                for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                    z[i] = tex2D<float>(t, i + 0.5f, 0.5f);
            }
        """)
        self.mix = module.get_function("mix")
        self.read_texture = module.get_function("read_texture")
        self.read_image = module.get_function("read_image")
        self.matrix = gpuarray.to_gpu(matrix_of_host)
        self.sparse = pycuda.sparse.csr_array(gpuarray.to_gpu(band))
        self.prepared = module.get_function("mix").prepare("PPid")


def texture_of(x):
    narrow = x.astype(np.float32)
    return cuda.TextureObject(
        narrow.gpudata,
        size=narrow.nbytes,
        format=cuda.array_format.FLOAT,
        num_channels=1,
    )


def image_of(x, stream):
    """A texture of a CUDA array, which nothing but the texture keeps."""
    narrow = x.astype(np.float32)
    of_array = cuda.ArrayDescriptor()
    of_array.width, of_array.height = narrow.size, 1
    of_array.format, of_array.num_channels = cuda.array_format.FLOAT, 1
    array = cuda.Array(of_array)
    copy = cuda.Memcpy2D()
    copy.set_src_device(narrow.gpudata)
    copy.set_dst_array(array)
    copy.src_pitch = copy.width_in_bytes = narrow.nbytes
    copy.height = 1
    copy(stream or cuda.Stream.from_handle(1))
    return cuda.TextureObject(array)


def copy_over(z, x, stream):
    """A copy by way of memory that is allocated and freed in the stream's order."""
    stream = stream or cuda.Stream.from_handle(1)
    memory = cuda.mem_alloc_async(x.nbytes, stream)
    cuda.memcpy_dtod_async(memory, x.gpudata, x.nbytes, stream)
    cuda.memcpy_dtod_async(z.gpudata, memory, x.nbytes, stream)
    cuda.mem_free_async(memory, stream)


class Exporter:
    """An array as DLPack's producer, which remembers nothing of the consumer."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def exchanged(x):
    """The same memory, by way of DLPack."""
    return gpuarray.from_dlpack(Exporter(x))


def in_a_stream_that_closes(stream, make):
    side = InStream(stream.device.handle, cuda.Stream)
    order(stream, side)
    with side:
        result = make()
    order(side, stream)
    side.stream.close()
    return result


twist = ElementwiseKernel(
    "double *z, double *x, double k", "z[i] = fmod(x[i] * 2 + k, 251.0)"
)
total = ReductionKernel(np.float64, "0", "a + b", arguments="double *in")
scan = InclusiveScanKernel(np.float64, "a + b")
fused = pycuda.fuse(lambda x, y: (x * 5 + y) % 251)
modules = []
for each in range(len(contexts)):
    with cuda.Device(each):
        modules.append(Modules())
        cuda.Context.synchronize()


def stream_of(device, name):
    flags = cuda.stream_flags.NON_BLOCKING
    make = {
        "default": lambda: None,
        "thread": lambda: cuda.Stream.from_handle(2),
        "blocking": cuda.Stream,
        "urgent": lambda: cuda.Stream(priority=-5),
        "free": lambda: cuda.Stream(flags),
        "other": lambda: cuda.Stream(flags, priority=-1),
    }
    return InStream(device, make[name])


def order(before, after):
    with before.device:
        event = cuda.Event().record(before.stream)
    with after.device:
        if after.stream:
            after.stream.wait_for_event(event)
        else:
            cuda.Stream.from_handle(1).wait_for_event(event)


def finish(stream):
    with stream.device:
        (stream.stream or cuda.Stream.from_handle(1)).synchronize()


def poll(stream):
    with stream.device:
        event = cuda.Event().record(stream.stream)
        while not event.query():
            pass


def finish_event(stream):
    with stream.device:
        cuda.Event().record(stream.stream).synchronize()


def finish_all():
    for i in range(len(contexts)):
        with cuda.Device(i):
            cuda.Context.synchronize()


def run_together(*jobs):
    errors = []

    def guarded(job):
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def copied(x):
    """The elements, by a synchronous copy in the current stream."""
    host = np.empty(x.shape, x.dtype)
    cuda.memcpy_dtoh(host, x)
    return host


def check(name, found, expected):
    if not np.array_equal(np.array(found), np.array(expected)):
        raise AssertionError(f"{name} is {np.array(found)}, not {np.array(expected)}")
