"""Properties of the current device and of the kernel compiler."""

from __future__ import annotations

from pycuda import driver
from pycuda.compiler import SourceModule
from pycuda.tools import context_dependent_memoize


def platform_bits() -> int:
    """Return the width of a pointer on the host, in bits.

    >>> from pycuda import characterize
    >>> characterize.platform_bits()
    64
    """
    import struct

    return 8 * struct.calcsize("P")


def has_stack() -> bool:
    """Test whether kernels of the current device may recurse.

    >>> from pycuda import characterize
    >>> characterize.has_stack()
    True
    """
    return driver.Context.get_device().compute_capability() >= (2, 0)


def has_double_support() -> bool:
    """Test whether the current device has floating-point numbers of double precision.

    >>> from pycuda import characterize
    >>> characterize.has_double_support()
    True
    """
    return driver.Context.get_device().compute_capability() >= (1, 3)


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """Return the size in bytes of a CUDA C++ type in kernels; ``preamble`` may declare the type.

    >>> sizeof("float4")
    16
    """
    import numpy as np

    kernel = SourceModule(
        f"""
        {preamble}
        extern "C" __global__ void write_size(unsigned long long *out)
        {{
            *out = sizeof({type_name});
        }}
        """,
        no_extern_c=True,
    ).get_function("write_size")
    size = np.zeros(1, np.uint64)
    kernel(driver.Out(size), block=(1, 1, 1))
    return int(size[0])
