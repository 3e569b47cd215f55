"""Functions of the driver API since CUDA 13.2: the newest cuda.core calls them when the driver's version has them."""

import ctypes
import os

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SUCCESS, INVALID_VALUE = 0, 1
IN_STREAM_ORDER = 1


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class Attributes(ctypes.Structure):
    _fields_ = [
        ("order", ctypes.c_int),
        ("source", Location),
        ("target", Location),
        ("flags", ctypes.c_uint),
    ]


class Rows(ctypes.Structure):
    _fields_ = [
        ("pointer", ctypes.c_uint64),
        ("length", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("hint", Location),
    ]


class Operand(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rows", Rows)]


class Box(ctypes.Structure):
    _fields_ = [
        ("source", Operand),
        ("target", Operand),
        ("extent", ctypes.c_size_t * 3),
        ("order", ctypes.c_int),
        ("flags", ctypes.c_uint),
    ]


@pytest.fixture
def driver(device):
    if "softcuda" not in os.path.basename(cuda.get_driver_path()):
        pytest.skip("softcuda is not the driver under test")
    return ctypes.CDLL(cuda.get_driver_path())


def pointer(array):
    return ctypes.c_uint64(int(array))


def test_the_version_is_that_of_the_newest_function(driver):
    found = ctypes.c_void_p()
    status = ctypes.c_int()
    get = driver.cuGetProcAddress_v2
    for name in (b"cuGraphNodeGetParams", b"cuMemcpyWithAttributesAsync"):
        version = ctypes.c_int(cuda.get_driver_version())
        assert (
            get(
                name,
                ctypes.byref(found),
                version,
                ctypes.c_uint64(0),
                ctypes.byref(status),
            )
            == SUCCESS
        )
        assert found.value
    assert cuda.get_driver_version() == 13050


def test_a_copy_with_attributes(driver):
    data = np.arange(100, dtype=np.float32)
    source, target = cuda.to_device(data), cuda.mem_alloc(data.nbytes)
    stream = cuda.Stream()
    how = Attributes(order=IN_STREAM_ORDER)
    copy = driver.cuMemcpyWithAttributesAsync
    arguments = [pointer(target), pointer(source), ctypes.c_size_t(data.nbytes)]
    handle = ctypes.c_void_p(stream.handle)
    assert copy(*arguments, ctypes.byref(how), handle) == SUCCESS
    stream.synchronize()
    np.testing.assert_array_equal(cuda.from_device_like(target, data), data)
    assert copy(*arguments, None, handle) == INVALID_VALUE
    assert copy(*arguments, ctypes.byref(Attributes(order=9)), handle) == INVALID_VALUE


def test_a_copy_of_a_box_with_attributes(driver):
    data = np.arange(4 * 6 * 10, dtype=np.uint8).reshape(4, 6, 10)
    source, target = cuda.to_device(data), cuda.to_device(np.zeros(2 * 3 * 5, np.uint8))
    box = Box(
        source=Operand(1, Rows(int(source), 10, 6)),
        target=Operand(1, Rows(int(target))),
        extent=(5, 3, 2),
        order=IN_STREAM_ORDER,
    )
    copy = driver.cuMemcpy3DWithAttributesAsync
    own_stream = cuda.Stream()
    stream = ctypes.c_void_p(own_stream.handle)
    assert copy(ctypes.byref(box), ctypes.c_uint64(0), stream) == SUCCESS
    cuda.Context.synchronize()
    found = cuda.from_device(target, (2, 3, 5), np.uint8)
    np.testing.assert_array_equal(found, data[:2, :3, :5])
    assert copy(ctypes.byref(box), ctypes.c_uint64(1), stream) == INVALID_VALUE
    box.extent[1] = 0
    assert copy(ctypes.byref(box), ctypes.c_uint64(0), stream) == INVALID_VALUE


def test_the_parameters_of_nodes(driver):
    kernel = SourceModule("__global__ void k(int *o, int v) { *o = v; }").get_function(
        "k"
    )
    target = cuda.mem_alloc(64)
    stream = cuda.Stream()
    cuda.begin_capture(stream)
    kernel(target, np.int32(3), grid=(2, 3), block=(4, 1, 1), stream=stream)
    cuda.memset_d32_async(target, 7, 5, stream)
    graph = cuda.end_capture(stream)
    count = ctypes.c_size_t(2)
    nodes = (ctypes.c_void_p * 2)()
    assert (
        driver.cuGraphGetNodes(
            ctypes.c_void_p(graph.handle), nodes, ctypes.byref(count)
        )
        == SUCCESS
    )
    types = {}
    for node in nodes:
        params = (ctypes.c_uint64 * 32)()
        get = driver.cuGraphNodeGetParams
        assert get(ctypes.c_void_p(node), params) == SUCCESS
        types[params[0]] = list(params[2:])
    kernel_node, fill = types[0], types[2]
    words = np.array(kernel_node[1:4], np.uint64).view(np.uint32)
    assert list(words[:6]) == [2, 3, 1, 4, 1, 1]
    assert fill[0] == int(target)
    assert get(ctypes.c_void_p(nodes[0]), None) == INVALID_VALUE
