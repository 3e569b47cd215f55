"""A program of the CUDA driver API that needs only the standard library: adds 1 to eight numbers."""

import ctypes

PTX = b"""
.version 7.0
.target sm_75
.address_size 64

.visible .entry increment(.param .u64 numbers) {
    .reg .u64 %rd<3>;
    .reg .u32 %r<3>;
    ld.param.u64 %rd1, [numbers];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""

driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    """Call a function of the driver; it must succeed."""
    result = getattr(driver, name)(*arguments)
    if result != 0:
        raise SystemExit(f"{name} failed with {result}")


context, module, function = (ctypes.c_void_p() for _ in range(3))
address = ctypes.c_uint64()
numbers = (ctypes.c_uint32 * 8)(*range(8))
size = ctypes.c_size_t(ctypes.sizeof(numbers))
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(address))
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", ctypes.byref(module), PTX)
call("cuModuleGetFunction", ctypes.byref(function), module, b"increment")
call("cuMemAlloc_v2", ctypes.byref(address), size)
call("cuMemcpyHtoD_v2", address, numbers, size)
call("cuLaunchKernel", function, 1, 1, 1, 8, 1, 1, 0, None, arguments, None)
call("cuMemcpyDtoH_v2", numbers, address, size)
print(list(numbers))
