"""Memory pools that two processes share: one allocates, the other maps the memory with a file descriptor."""

import ctypes
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pycuda.driver as cuda

DESCRIPTOR, PINNED, ON_DEVICE = 1, 1, 1
BYTES = 5000


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class PoolProperties(ctypes.Structure):
    _fields_ = [
        ("allocation", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", Location),
        ("security", ctypes.c_void_p),
        ("most_bytes", ctypes.c_size_t),
        ("usage", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 54),
    ]


OTHER_PROCESS = """
    import ctypes, os, sys
    import numpy as np
    import pycuda.driver as cuda

    cuda.init()
    driver = ctypes.CDLL(cuda.get_driver_path())
    with cuda.Device(0).retain_primary_context():
        pool = ctypes.c_void_p()
        file = ctypes.c_void_p(int(sys.argv[1]))
        assert driver.cuMemPoolImportFromShareableHandle(ctypes.byref(pool), file, 1, 0) == 0
        address = ctypes.c_uint64()
        assert driver.cuMemPoolImportPointer(ctypes.byref(address), pool, bytes.fromhex(sys.argv[2])) == 0
        seen = np.empty(5000, np.uint8)
        cuda.memcpy_dtoh(seen, address.value)
        print(seen[0], seen[-1], len(set(seen)))
        cuda.memset_d8(address.value, 9, 5000)
        cuda.Context.synchronize()
        assert driver.cuMemFree_v2(address) == 0
        assert driver.cuMemPoolDestroy(pool) == 0
"""


@pytest.fixture
def driver(device):
    attribute = cuda.device_attribute.MEMPOOL_SUPPORTED_HANDLE_TYPES
    if not device.get_attribute(attribute) & DESCRIPTOR:
        pytest.skip("the device shares no pools by descriptors")
    return ctypes.CDLL(cuda.get_driver_path())


def test_another_process_maps_memory_of_a_pool(driver):
    wanted = PoolProperties(PINNED, DESCRIPTOR, Location(ON_DEVICE, 0))
    pool, address, file = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_int()
    shared = ctypes.create_string_buffer(64)
    assert driver.cuMemPoolCreate(ctypes.byref(pool), ctypes.byref(wanted)) == 0
    assert (
        driver.cuMemAllocFromPoolAsync(
            ctypes.byref(address), ctypes.c_size_t(BYTES), pool, None
        )
        == 0
    )
    cuda.memset_d8(address.value, 7, BYTES)
    cuda.Context.synchronize()
    export = driver.cuMemPoolExportToShareableHandle
    assert export(ctypes.byref(file), pool, DESCRIPTOR, ctypes.c_ulonglong(0)) == 0
    assert driver.cuMemPoolExportPointer(shared, address) == 0
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(OTHER_PROCESS), str(file.value)]
        + [shared.raw.hex()],
        pass_fds=(file.value,),
        capture_output=True,
        text=True,
        timeout=120,
    )
    os.close(file.value)
    assert done.stdout == "7 7 1\n", done.stderr
    result = np.empty(BYTES, np.uint8)
    cuda.memcpy_dtoh(result, address.value)
    assert (result == 9).all()
    assert driver.cuMemFree_v2(address) == 0
    assert driver.cuMemPoolDestroy(pool) == 0
