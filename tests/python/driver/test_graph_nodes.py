"""Single nodes of graphs: their updates, conditional nodes, and copies in batches."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void add(float *x, float value) { x[threadIdx.x] += value; }

__global__ void count_down(cudaGraphConditionalHandle condition, int *left) {
    left[0] -= 1;
    cudaGraphSetConditional(condition, left[0]);
}
"""


@pytest.fixture
def kernels(device):
    return SourceModule(SOURCE)


def test_one_kernel_of_a_graph_gets_other_arguments(device, kernels):
    add = kernels.get_function("add")
    x, y = gpuarray.zeros(4, np.float32), gpuarray.zeros(8, np.float32)
    graph = cuda.Graph()
    first = graph.add_kernel(add.bind(x, np.float32(1), block=(4, 1, 1)))
    graph.add_kernel(add.bind(x, np.float32(10), block=(4, 1, 1)), [first])
    executable = graph.instantiate()
    executable.launch()
    executable.update_kernel(first, add.bind(y, np.float32(5), block=(8, 1, 1)))
    executable.launch()
    assert (x.get() == 21).all()
    assert (y.get() == 5).all()


def test_an_updated_node_keeps_its_arguments_alive(device, kernels):
    add = kernels.get_function("add")
    x = gpuarray.zeros(4, np.float32)
    graph = cuda.Graph()
    node = graph.add_kernel(add.bind(x, np.float32(1), block=(4, 1, 1)))
    executable = graph.instantiate()
    for value in range(50):
        executable.update_kernel(node, add.bind(x, np.float32(value), block=(4, 1, 1)))
    executable.launch()
    assert (x.get() == 49).all()


def test_one_copy_and_one_fill_get_other_arguments(device):
    a, b = gpuarray.to_gpu(np.arange(4, dtype=np.int32)), gpuarray.zeros(4, np.int32)
    c = gpuarray.zeros(4, np.int32)
    graph = cuda.Graph()
    fill = graph.add_fill(c, 7, 4, element_size=4)
    copy = graph.add_copy(b, a, 16, [fill])
    executable = graph.instantiate()
    executable.launch()
    assert (b.get() == a.get()).all() and (c.get() == 7).all()
    executable.update_fill(fill, c, 9, 2, element_size=4)
    executable.update_copy(copy, b, c, 8)
    executable.launch()
    assert c.get().tolist() == [9, 9, 7, 7]
    assert b.get().tolist() == [9, 9, 2, 3]


def test_a_node_of_another_kind_is_an_error(device, kernels):
    x = gpuarray.zeros(4, np.float32)
    graph = cuda.Graph()
    fill = graph.add_fill(x, 0, 4, element_size=4)
    executable = graph.instantiate()
    with pytest.raises(cuda.LogicError, match="add"):
        launch = kernels.get_function("add").bind(x, np.float32(1), block=(4, 1, 1))
        executable.update_kernel(fill, launch)
    with pytest.raises(TypeError):
        executable.update_kernel(fill, "no launch")


def test_a_while_node_runs_its_body_until_a_kernel_clears_the_value(device, kernels):
    x, left = gpuarray.zeros(4, np.float32), gpuarray.to_gpu(np.array([5], np.int32))
    graph = cuda.Graph()
    loop = graph.add_conditional("while", value=1)
    (body,) = loop.bodies
    first = body.add_kernel(
        kernels.get_function("add").bind(x, np.float32(1), block=(4, 1, 1))
    )
    body.add_kernel(
        kernels.get_function("count_down").bind(
            np.uint64(loop.condition), left, block=(1, 1, 1)
        ),
        [first],
    )
    executable = graph.instantiate()
    executable.launch()
    assert (x.get() == 5).all()
    left.fill(3)
    executable.launch()
    assert (x.get() == 8).all()


@pytest.mark.parametrize("value, wanted", [(0, 2), (1, 1), (7, 1)])
def test_an_if_node_has_a_second_body_for_else(device, value, wanted):
    x = gpuarray.zeros(1, np.int32)
    graph = cuda.Graph()
    then, otherwise = graph.add_conditional("if", bodies=2, value=value).bodies
    then.add_fill(x, 1, 1, element_size=4)
    otherwise.add_fill(x, 2, 1, element_size=4)
    graph.instantiate().launch()
    assert x.get()[0] == wanted


@pytest.mark.parametrize("value, wanted", [(0, 10), (2, 12), (3, 0)])
def test_a_switch_node_runs_the_body_of_its_value(device, value, wanted):
    x = gpuarray.zeros(1, np.int32)
    graph = cuda.Graph()
    node = graph.add_conditional("switch", bodies=3, value=value)
    for number, body in enumerate(node.bodies):
        body.add_fill(x, 10 + number, 1, element_size=4)
    graph.instantiate().launch()
    assert x.get()[0] == wanted


def test_wrong_conditional_nodes_are_errors(device):
    graph = cuda.Graph()
    with pytest.raises(ValueError, match='"if", "while" or "switch", not "unless"'):
        graph.add_conditional("unless")
    with pytest.raises(ValueError, match='"while" cannot have 2 bodies'):
        graph.add_conditional("while", bodies=2)
    with pytest.raises(ValueError, match='"switch" cannot have 0 bodies'):
        graph.add_conditional("switch", bodies=0)


@pytest.mark.parametrize("make_stream", [cuda.Stream, lambda: None])
def test_copies_in_a_batch(device, make_stream):
    sources = [gpuarray.arange(n, dtype=np.int32) for n in (1, 1000, 3)]
    copies = [gpuarray.zeros(n, np.int32) for n in (1, 1000, 3)]
    stream = make_stream()
    cuda.memcpy_batch_async(copies, sources, [4, 4000, 8], stream)
    cuda.memcpy_batch_async([], [], [], stream)
    cuda.memcpy_batch_async([copies[0]], [sources[1]], [0], stream)
    cuda.Context.synchronize()
    assert copies[0].get().tolist() == [0]
    assert (copies[1].get() == np.arange(1000)).all()
    assert copies[2].get().tolist() == [0, 1, 0]


def test_a_batch_in_a_capture_is_part_of_the_graph(device):
    a, b = gpuarray.arange(4, dtype=np.int32), gpuarray.zeros(4, np.int32)
    stream = cuda.Stream()
    with cuda.capture(stream) as recording:
        cuda.memcpy_batch_async([b], [a], [16], stream)
    assert not b.get().any()
    recording.graph.instantiate().launch(stream)
    stream.synchronize()
    assert (b.get() == a.get()).all()


def test_a_batch_needs_as_many_sizes_as_copies(device):
    a = gpuarray.zeros(4, np.int32)
    with pytest.raises(ValueError, match="same length, not 1, 1 and 2"):
        cuda.memcpy_batch_async([a], [a], [4, 4])


def test_nodes_do_not_write_into_read_only_arrays(device):
    x, y = gpuarray.zeros(4, np.int32), gpuarray.zeros(4, np.int32)
    source = gpuarray.to_gpu(np.arange(1, 5, dtype=np.int32))
    x.flags.writeable = False
    graph = cuda.Graph()
    with pytest.raises(ValueError, match="read-only"):
        graph.add_copy(x, source, 16)
    with pytest.raises(ValueError, match="read-only"):
        graph.add_fill(x, 1, 4, element_size=4)
    assert len(graph) == 0
    copy = graph.add_copy(y, source, 16)
    fill = graph.add_fill(y, 1, 4, dependencies=[copy])
    executable = graph.instantiate()
    with pytest.raises(ValueError, match="read-only"):
        executable.update_copy(copy, x, source, 16)
    with pytest.raises(ValueError, match="read-only"):
        executable.update_fill(fill, x, 1, 4)
    executable.launch()
    assert not x.get().any()


def test_nodes_and_bodies_end_with_their_graph(device, kernels):
    x = gpuarray.zeros(4, np.float32)
    launch = kernels.get_function("add").bind(x, np.float32(1), block=(4, 1, 1))
    graph = cuda.Graph()
    node = graph.add_kernel(launch)
    (body,) = graph.add_conditional("if").bodies
    executable = graph.instantiate()
    graph.close()
    other = cuda.Graph()
    for call in (
        lambda: other.add_empty([node]),
        lambda: executable.update_kernel(node, launch),
        lambda: body.add_empty(),
        lambda: body.instantiate(),
        lambda: len(body),
    ):
        with pytest.raises(cuda.LogicError, match="closed"):
            call()
    assert repr(body) == "<pycuda.driver.Graph, closed>"
    executable.launch()
    assert (x.get() == 1).all()


def test_memory_of_a_node_that_was_freed_is_an_error(device, kernels):
    x = gpuarray.zeros(4, np.float32)
    graph = cuda.Graph()
    graph.add_fill(x, 1, 4)
    executable = graph.instantiate()
    x.gpudata.free()
    with pytest.raises(cuda.LogicError, match="freed"):
        executable.launch()
