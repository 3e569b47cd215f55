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
