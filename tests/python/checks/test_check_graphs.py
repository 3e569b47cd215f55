"""Races between the nodes of a graph that no edge orders."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = [
    pytest.mark.skipif(not is_softcuda(), reason="only softcuda has check modes"),
    pytest.mark.cuda_check_allow("race"),
]

N = 256
SOURCE = """
__global__ void write(int *x, int value) { x[threadIdx.x] = value + threadIdx.x; }
__global__ void read(const int *x, int *y) { y[threadIdx.x] = x[255 - threadIdx.x]; }
"""


class Nodes:
    """Kernels and memory for the nodes of one graph."""

    def __init__(self):
        module = SourceModule(SOURCE)
        self._write, self._read = (
            module.get_function("write"),
            module.get_function("read"),
        )
        self.x, self.y = gpuarray.zeros(N, np.int32), gpuarray.zeros(N, np.int32)
        self.z = gpuarray.zeros(N, np.int32)

    def write(self, x, value):
        return self._write.bind(x, np.int32(value), block=(N, 1, 1))

    def read(self, x, y):
        return self._read.bind(x, y, block=(N, 1, 1))


@pytest.fixture
def nodes(device):
    made = Nodes()
    cuda.Context.synchronize()
    return made


def kinds_of(graph, launches=1):
    """The kinds of the findings of some launches."""
    with pycuda.check("race") as checks:
        executable = graph.instantiate()
        for _ in range(launches):
            executable.launch()
        cuda.Context.synchronize()
    return {finding.kind for finding in checks.findings}


def test_two_nodes_write_one_array(nodes):
    graph = cuda.Graph()
    graph.add_kernel(nodes.write(nodes.x, 1))
    graph.add_kernel(nodes.write(nodes.x, 2))
    assert kinds_of(graph) == {"write-after-write"}


def test_a_node_reads_what_another_one_writes(nodes):
    graph = cuda.Graph()
    graph.add_kernel(nodes.write(nodes.x, 1))
    graph.add_kernel(nodes.read(nodes.x, nodes.y))
    assert kinds_of(graph) <= {"read-after-write", "write-after-read"} != set()
    assert kinds_of(graph) != set()


def test_a_copy_beside_a_kernel(nodes):
    graph = cuda.Graph()
    graph.add_kernel(nodes.write(nodes.x, 1))
    graph.add_copy(nodes.y, nodes.x, nodes.x.nbytes)
    assert kinds_of(graph) != set()


def test_edges_order_nodes_also_through_others(nodes):
    graph = cuda.Graph()
    first = graph.add_kernel(nodes.write(nodes.x, 1))
    second = graph.add_kernel(nodes.read(nodes.x, nodes.y), [first])
    third = graph.add_copy(nodes.z, nodes.y, nodes.y.nbytes, [second])
    graph.add_kernel(nodes.write(nodes.x, 2), [third])
    assert kinds_of(graph, launches=2) == set()


def test_the_branches_of_a_diamond_are_not_ordered(nodes):
    def diamond(second_output):
        graph = cuda.Graph()
        first = graph.add_kernel(nodes.write(nodes.x, 1))
        left = graph.add_kernel(nodes.read(nodes.x, nodes.y), [first])
        right = graph.add_kernel(nodes.read(nodes.x, second_output), [first])
        graph.add_kernel(nodes.write(nodes.x, 3), [left, right])
        return graph

    assert kinds_of(diamond(nodes.z), launches=2) == set()
    nodes.y.fill(0)
    right = diamond(nodes.x)  # reads and writes the array that the left branch reads
    assert kinds_of(right) != set()


def test_work_after_the_graph_is_ordered(nodes):
    graph = cuda.Graph()
    graph.add_kernel(nodes.write(nodes.x, 1))
    graph.add_kernel(nodes.write(nodes.y, 2))
    with pycuda.check("race") as checks:
        executable = graph.instantiate()
        executable.launch()
        cuda.memcpy_dtod(nodes.z.gpudata, nodes.x.gpudata, nodes.x.nbytes)
        cuda.memset_d32(nodes.y.gpudata, 0, N)
        cuda.Context.synchronize()
    assert [str(finding) for finding in checks.findings] == []


def with_body(nodes, kind, fill_body, **options):
    """A graph whose conditional node of this kind has a body that fill_body() fills."""
    graph = cuda.Graph()
    node = graph.add_conditional(kind, **options)
    for body in node.bodies:
        fill_body(body)
    return graph, node


def test_two_nodes_in_a_body_write_one_array(nodes):
    def fill(body):
        body.add_kernel(nodes.write(nodes.x, 1))
        body.add_kernel(nodes.write(nodes.x, 2))

    graph, _ = with_body(nodes, "if", fill, value=1)
    assert kinds_of(graph) == {"write-after-write"}


def test_edges_order_the_nodes_in_a_body(nodes):
    def fill(body):
        first = body.add_kernel(nodes.write(nodes.x, 1))
        second = body.add_kernel(nodes.read(nodes.x, nodes.y), [first])
        body.add_copy(nodes.z, nodes.y, nodes.y.nbytes, [second])

    graph, _ = with_body(nodes, "if", fill, value=1)
    assert kinds_of(graph, launches=2) == set()


def test_a_body_beside_a_sibling_of_its_node(nodes):
    graph, _ = with_body(
        nodes, "if", lambda body: body.add_kernel(nodes.write(nodes.x, 1)), value=1
    )
    graph.add_kernel(nodes.read(nodes.x, nodes.y))
    assert kinds_of(graph) != set()


def test_edges_order_a_body_and_its_siblings(nodes):
    graph = cuda.Graph()
    first = graph.add_kernel(nodes.write(nodes.x, 1))
    node = graph.add_conditional("switch", bodies=2, value=1, dependencies=[first])
    for body in node.bodies:
        body.add_kernel(nodes.read(nodes.x, nodes.y))
    graph.add_kernel(nodes.write(nodes.y, 1), [node])
    assert kinds_of(graph, launches=2) == set()


COUNT_DOWN = """
__global__ void count_down(cudaGraphConditionalHandle condition, int *left) {
    left[0] -= 1;
    cudaGraphSetConditional(condition, left[0]);
}
"""


def test_the_rounds_of_a_loop_are_ordered(nodes):
    count_down = SourceModule(COUNT_DOWN).get_function("count_down")
    left = gpuarray.to_gpu(np.array([3], np.int32))

    def loop(second):
        graph = cuda.Graph()
        node = graph.add_conditional("while", value=1)
        body = node.bodies[0]
        first = body.add_kernel(nodes.write(nodes.x, 1))
        last = body.add_kernel(nodes.read(nodes.x, second), [first])
        body.add_kernel(
            count_down.bind(np.uint64(node.condition), left, block=(1, 1, 1)), [last]
        )
        return graph

    assert kinds_of(loop(nodes.y)) == set()
    assert left.get()[0] == 0
    left.fill(3)
    graph = loop(nodes.y)
    graph.add_kernel(nodes.read(nodes.y, nodes.z))  # beside the loop
    assert kinds_of(graph) != set()
