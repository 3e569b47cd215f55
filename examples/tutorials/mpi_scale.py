"""Scale an array on four devices, one for each MPI rank.

On the CPU, with four devices in software:

    SOFTCUDA_DEVICES=4 ./run mpirun --oversubscribe -n 4 python examples/tutorials/mpi_scale.py
"""

import time

from mpi4py import MPI
from numpy import allclose, array, float32, float64
from numpy.random import randn as rand

import pycuda.driver as cuda

cuda.init()  # init pycuda driver

from pycuda import gpuarray  # noqa: E402

comm = MPI.COMM_WORLD
rank = comm.rank
root = 0

nr_gpus = 4

sendbuf = []

N = 2**20 * nr_gpus
K = 1000

if rank == 0:
    x = rand(N).astype(float32) * 10**16
    print("x:", x)

    t1 = time.time()

    sendbuf = x.reshape(nr_gpus, N // nr_gpus)

if rank > nr_gpus - 1:
    raise ValueError("Too few gpus!")


current_dev = cuda.Device(rank)  # device we are working on
ctx = current_dev.make_context()  # make a working context
ctx.push()  # make it the current context

# receive data and copy it to the GPU:
x_gpu_part = gpuarray.to_gpu(comm.scatter(sendbuf, root))

# do something...
for k in range(K):
    x_gpu_part = 0.9 * x_gpu_part

# get data back:
x_part = (x_gpu_part).get()

ctx.pop()  # deactivate again
ctx.detach()  # delete it

recvbuf = comm.gather(x_part, root)  # receive data

if rank == 0:
    x_scaled = array(recvbuf).reshape(N)
    t2 = time.time() - t1

    print("scaled x:", x_scaled)
    print("time needed:", t2 * 1000, " ms ")

    # 1000 float32 roundings cause a relative error of about 1e-5
    expected = x.astype(float64) * 0.9**K
    assert allclose(x_scaled, expected, rtol=1e-3, atol=1e-37), (
        "the scaled array is wrong"
    )
    print(f"ok: {comm.size} ranks scaled {N} numbers")
