"""Comparisons of an index, which rises from lane to lane, with a bound that all lanes share."""

import operator

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.compiler import SourceModule

COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}

BOUNDS = [*range(130), 500, 1156, 1157, 1160, 2**31 - 1, 2**31, 2**32 - 100, 2**32 - 1]


@pytest.mark.parametrize("type", ["int", "unsigned"])
def test_an_index_and_a_bound(device, type):
    """The distance of the bound from the first lane's index may be any number."""
    lines = "\n".join(
        f"bits |= (x {op} ({type})bound) << {2 * k}; bits |= (({type})bound {op} x) << {2 * k + 1};"
        for k, op in enumerate(COMPARISONS)
    )
    source = f"""
    extern "C" __global__ void compare(unsigned *out, long long bound)
    {{
        unsigned at = blockIdx.x * blockDim.x + threadIdx.x, bits = 0;
        {type} x = at * 3 + 5;
        {lines}
        out[at] = bits;
    }}
    """
    f = SourceModule(source, no_extern_c=True).get_function("compare")
    n = 4 * 96
    x = np.arange(n, dtype=np.int64) * 3 + 5
    for bound in BOUNDS:
        out = gpuarray.zeros(n, np.uint32)
        f(out, np.int64(bound), block=(96, 1, 1), grid=(4, 1))
        number = bound - 2**32 if type == "int" and bound >= 2**31 else bound
        bits = np.zeros(n, np.uint32)
        for k, compare in enumerate(COMPARISONS.values()):
            bits |= compare(x, number).astype(np.uint32) << np.uint32(2 * k)
            bits |= compare(number, x).astype(np.uint32) << np.uint32(2 * k + 1)
        np.testing.assert_array_equal(out.get(), bits, err_msg=str(bound))
