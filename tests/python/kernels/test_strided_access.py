"""Lanes that access addresses a few elements apart, in shared and in global memory.

softcuda loads and stores whole ranges for them: memory between the elements must not change, and a
thread that is masked out must neither store nor read beyond the end.
"""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

THREADS = 128

SOURCE = """
#define PLACE(t) ({place})
extern "C" __global__ void through_shared(const {type} *in, {type} *out, int active)
{{
    __shared__ {type} tile[{size}];
    int t = threadIdx.x;
    for (int i = t; i < {size}; i += blockDim.x)
        tile[i] = ({type})(1000 + i);
    __syncthreads();
    if (t < active)
        tile[PLACE(t)] = in[t];
    __syncthreads();
    {type} mine = t < active ? tile[PLACE(t)] : ({type})0;
    __syncthreads();
    if (t < active)
        tile[PLACE(t)] = mine + ({type})1;
    __syncthreads();
    for (int i = t; i < {size}; i += blockDim.x)
        out[i] = tile[i];
}}

extern "C" __global__ void through_global(const {type} *in, {type} *out, int active)
{{
    int t = threadIdx.x;
    if (t < active)
        out[PLACE(t)] = in[PLACE(t)] + ({type})1;
}}
"""

PLACES = {
    "2 * t": lambda t: 2 * t,
    "2 * t + 1": lambda t: 2 * t + 1,
    "3 * t": lambda t: 3 * t,
    "4 * t + 3": lambda t: 4 * t + 3,
    "5 * t": lambda t: 5 * t,
    "t ^ 1": lambda t: t ^ 1,
    "t ^ 4": lambda t: t ^ 4,
    "t ^ 16": lambda t: t ^ 16,
    "127 - t": lambda t: 127 - t,
    "(t & 15) * 17 + (t >> 4)": lambda t: (t & 15) * 17 + (t >> 4),
}


C_TYPES = {
    "float": "f4",
    "double": "f8",
    "int": "i4",
    "unsigned char": "u1",
    "short": "i2",
}


@pytest.fixture(params=PLACES)
def place(request):
    return request.param


@pytest.mark.parametrize("c_type", C_TYPES)
@pytest.mark.parametrize("active", [THREADS, 100, 33, 1, 0])
def test_only_the_lanes_places_change(device, place, c_type, active):
    dtype = np.dtype(C_TYPES[c_type])
    places = PLACES[place](np.arange(THREADS))
    size = int(places.max()) + 1
    module = SourceModule(
        SOURCE.format(place=place, type=c_type, size=size), no_extern_c=True
    )
    values = (np.arange(THREADS) % 100).astype(dtype)
    expected = (1000 + np.arange(size)).astype(dtype)  # bytes have these modulo 256
    expected[places[:active]] = values[:active] + dtype.type(1)
    out = np.zeros(size, dtype)
    module.get_function("through_shared")(
        cuda.In(values), cuda.Out(out), np.int32(active), block=(THREADS, 1, 1)
    )
    np.testing.assert_array_equal(out, expected)

    start = (np.arange(size) % 90).astype(dtype)
    out = np.full(size, 7, dtype)
    expected = out.copy()
    expected[places[:active]] = start[places[:active]] + dtype.type(1)
    module.get_function("through_global")(
        cuda.In(start), cuda.InOut(out), np.int32(active), block=(THREADS, 1, 1)
    )
    np.testing.assert_array_equal(out, expected)


def test_an_address_after_shared_memory_is_found(device, run_program):
    """A range that reaches beyond the end of memory is accessed lane by lane, and the fault is found."""
    done = run_program(
        """
        import numpy as np
        import pycuda.autoinit, pycuda.driver as cuda
        from pycuda.compiler import SourceModule

        module = SourceModule('''
        __global__ void beyond(int *out, int stride)
        {
            __shared__ int tile[64];
            tile[threadIdx.x] = threadIdx.x;
            __syncthreads();
            out[threadIdx.x] = tile[2 * threadIdx.x + stride];
        }''')
        out = cuda.mem_alloc(128)
        try:
            module.get_function("beyond")(out, np.int32(1 << 24), block=(32, 1, 1))
            cuda.Context.synchronize()
        except cuda.Error as error:
            print(type(error).__name__)
        """,
        PYCUDA_DRIVER="softcuda",
    )
    if "there is no libsoftcuda.so" in done.stderr:
        pytest.skip("libsoftcuda.so is not built")
    assert done.stdout.strip() == "LogicError", done.stderr
