"""A program of the driver API and of cuBLAS: a matrix times a vector on the device."""

import ctypes

driver = ctypes.CDLL("libcuda.so.1")
blas = ctypes.CDLL("libcublas.so")


def check(status):
    assert status == 0, status


def on_device(values):
    address = ctypes.c_uint64()
    host = (ctypes.c_double * len(values))(*values)
    check(driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(8 * len(values))))
    check(driver.cuMemcpyHtoD_v2(address, host, ctypes.c_size_t(8 * len(values))))
    return address


context, handle = ctypes.c_void_p(), ctypes.c_void_p()
check(driver.cuInit(0))
check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(driver.cuCtxSetCurrent(context))
check(blas.cublasCreate_v2(ctypes.byref(handle)))
matrix, vector = on_device([1.0, 3.0, 2.0, 4.0]), on_device([1.0, 2.0])
result = on_device([0.0, 0.0])
one, zero = ctypes.c_double(1), ctypes.c_double(0)
check(
    blas.cublasDgemv_v2(
        *(handle, 0, 2, 2, ctypes.byref(one), matrix, 2, vector, 1),
        *(ctypes.byref(zero), result, 1),
    )
)
host = (ctypes.c_double * 2)()
check(driver.cuMemcpyDtoH_v2(host, result, ctypes.c_size_t(16)))
check(blas.cublasDestroy_v2(handle))
print(list(host))
