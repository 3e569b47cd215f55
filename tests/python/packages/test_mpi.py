"""Arrays of the device as buffers of mpi4py, in two processes."""

import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import require_devices

from pycuda import gpuarray, mpi, nccl

MPI_PROGRAM = """
    import numpy as np
    import pycuda.autoprimaryctx
    from mpi4py import MPI
    from pycuda import gpuarray, mpi

    assert not mpi.is_device_aware()
    comm = mpi.Comm(MPI.COMM_WORLD)
    rank, size = comm.Get_rank(), comm.Get_size()
    assert size == 2
    other = 1 - rank

    # x is still being computed when it is sent
    x = gpuarray.arange(6, dtype=np.float32) * 2 + rank
    y = gpuarray.zeros(6, np.float32)
    if rank == 0:
        comm.Send(x, dest=1, tag=3)
        comm.Recv([y, MPI.FLOAT], source=1)
    else:
        comm.Recv(y, source=0, tag=3)
        comm.Send([x, 6, MPI.FLOAT], 0)
    np.testing.assert_array_equal(y.get(), np.arange(6) * 2 + other)

    comm.Sendrecv(x, other, recvbuf=y, source=other)
    np.testing.assert_array_equal(y.get(), np.arange(6) * 2 + other)

    total = gpuarray.zeros(6, np.float32)
    comm.Allreduce(x, total, op=MPI.SUM)
    np.testing.assert_array_equal(total.get(), np.arange(6) * 4 + 1)
    comm.Allreduce(MPI.IN_PLACE, total)
    np.testing.assert_array_equal(total.get(), np.arange(6) * 8 + 2)

    part = gpuarray.full(6, -1, np.float32)  # a message shorter than the array
    requests = [comm.Isend([x, 4, MPI.FLOAT], other), comm.Irecv(part, other)]
    mpi.waitall(requests)
    expected = np.array([0, 2, 4, 6, -1, -1]) + np.array([other] * 4 + [0] * 2)
    np.testing.assert_array_equal(part.get(), expected)

    matrix = gpuarray.to_gpu(np.asfortranarray(np.full((2, 3), rank, "i4")))
    comm.Bcast(matrix, root=1)
    np.testing.assert_array_equal(matrix.get(), np.full((2, 3), 1))

    rows = gpuarray.zeros((2, 6), np.float32)
    comm.Gather(x, rows if rank == 0 else None, root=0)
    if rank == 0:
        np.testing.assert_array_equal(rows.get()[1], np.arange(6) * 2 + 1)

    host = np.full(3, rank, "f8")  # mpi4py's own buffers and objects as before
    comm.Bcast(host, root=1)
    assert host[0] == 1 and comm.allreduce(rank) == 1
    print("rank", rank, "done", flush=True)
"""


BUFFER_PROGRAM = """
    import numpy as np
    import pycuda.autoprimaryctx
    import pycuda.driver as cuda
    from mpi4py import MPI
    from pycuda import gpuarray, mpi

    comm = mpi.Comm(MPI.COMM_WORLD)
    rank, size = comm.Get_rank(), comm.Get_size()
    assert size == 3
    after, before = (rank + 1) % size, (rank - 1) % size

    def gpu(*values, dtype="f8"):
        return gpuarray.to_gpu(np.array(values, dtype))

    # Persistent requests send what the array holds when they are started.
    x, y = gpu(0, 0), gpu(0, 0)
    requests = [comm.Send_init(x, after, 5), comm.Recv_init(y, before, 5)]
    for step in range(3):
        x.fill(10 * step + rank)
        y.fill(-1)
        mpi.startall(requests)
        mpi.waitall(requests)
        assert y.get().tolist() == [10 * step + before] * 2, y
    for request in requests:
        request.Free()
    total = gpu(0, 0)
    if hasattr(comm, "Allreduce_init") and MPI.Get_version() >= (4, 0):
        summing = comm.Allreduce_init(x, total)
        for step in range(2):
            x.fill(step + rank)
            summing.Start()
            summing.Wait()
            assert total.get().tolist() == [3 * step + 3] * 2
        summing.Free()

    # Collectives with counts.
    counts = np.arange(1, size + 1)
    starts = np.cumsum(counts) - counts
    mine = gpuarray.to_gpu(np.full(counts[rank], rank, "f4"))
    whole = gpuarray.zeros(int(counts.sum()), np.float32)
    comm.Allgatherv(mine, [whole, counts, starts, MPI.FLOAT])
    assert whole.get().tolist() == [0, 1, 1, 2, 2, 2]
    part = gpuarray.zeros(int(counts[rank]), np.float32)
    comm.Scatterv([whole, counts, starts, MPI.FLOAT] if rank == 1 else None, part, root=1)
    assert part.get().tolist() == [rank] * counts[rank]
    request = comm.Igatherv(mine, [whole, counts, starts, MPI.FLOAT] if rank == 0 else None)
    request.Wait()
    sent = gpuarray.to_gpu(np.arange(6, dtype="f4") + 10 * rank)
    got = gpuarray.zeros(3 * int(counts[rank]), np.float32)
    comm.Alltoallv([sent, counts, starts, MPI.FLOAT],
                   [got, [counts[rank]] * 3, [counts[rank] * i for i in range(3)], MPI.FLOAT])
    expected = [10 * other + starts[rank] + k for other in range(3) for k in range(counts[rank])]
    assert got.get().tolist() == expected
    sums = gpuarray.zeros(1, np.float32)
    comm.Reduce_scatter_block(gpuarray.to_gpu(np.arange(3, dtype="f4")), sums)
    assert sums.get().tolist() == [3 * rank]

    # Neighbours: a ring, and its halves.
    ring = comm.Create_cart([size], periods=[True])
    assert isinstance(ring, mpi.Comm)
    left, right = ring.Shift(0, 1)
    sides = gpu(rank, rank + 100)
    halo = gpu(0, 0)
    ring.Neighbor_alltoall(sides, halo)
    assert halo.get().tolist() == [left + 100, right]
    request = ring.Ineighbor_allgather(gpu(rank), halo)
    request.Wait()
    assert halo.get().tolist() == [left, right]
    halves = comm.Split(rank % 2, rank)
    assert halves.allreduce(1) == (2 if rank % 2 == 0 else 1)

    # Large messages in pieces, received into part of an array; behind work in a stream.
    stream = cuda.Stream()
    big = gpuarray.zeros(3_000_000, np.float32)
    quick = mpi.Comm(MPI.COMM_WORLD, stream=stream)
    if rank == 0:
        with stream:
            big += 3
            big *= 2
        quick.Send_pipelined(big, 1)
        quick.Send(big, 2)
    elif rank == 1:
        comm.Recv_pipelined(big, 0)
        assert (big.get() == 6).all()
    else:
        comm.Recv(big, 0)
        assert (big.get() == 6).all()
    print("rank", rank, "done", flush=True)
"""


DEVICES_PROGRAM = """
    import copy
    import numpy as np
    import pycuda.driver as cuda
    from mpi4py import MPI
    from pycuda import gpuarray, mpi

    cuda.init()
    comm = mpi.Comm(MPI.COMM_WORLD)
    rank = comm.Get_rank()
    other = 1 - rank
    with cuda.Device(1):
        stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
        x = gpuarray.zeros(2_000_000, np.float64)
        y = gpuarray.zeros(2_000_000, np.float64)

    def compute():
        # Still running when the message is sent: the wait must be for the array's device.
        with cuda.Device(1), stream:
            x.fill(0)
            for _ in range(20):
                np.add(x, rank + 1, out=x)

    for inside in (cuda.Device(0), None):
        if inside is not None:
            inside.__enter__()
        compute()
        comm.Sendrecv(x, other, recvbuf=y, source=other)
        assert (y.get() == 20 * (other + 1)).all()
        compute()
        if rank == 0:
            comm.Send_pipelined(x, 1)
            comm.Recv_pipelined(y, 1)
        else:
            comm.Recv_pipelined(y, 0)
            comm.Send_pipelined(x, 0)
        assert (y.get() == 20 * (other + 1)).all()
        if inside is not None:
            inside.__exit__(None, None, None)

    with cuda.Device(0):
        # Axes in any order: MPI sees the memory.
        host = np.arange(24.0).reshape(2, 3, 4) + rank
        turned = gpuarray.to_gpu(host).transpose(1, 2, 0)
        comm.Bcast(turned, root=1)
        np.testing.assert_array_equal(turned.get(), (host - rank + 1).transpose(1, 2, 0))

        # Matched messages.
        small = gpuarray.to_gpu(np.full(3, rank + 5.0))
        got = gpuarray.zeros(3, np.float64)
        request = comm.Isend(small, other, 9)
        message = comm.Mprobe(other, 9)
        assert isinstance(message, mpi.Message), message
        message.Recv(got)
        request.Wait()
        assert got.get().tolist() == [other + 5.0] * 3
        request = comm.Isend(small, other, 9)
        message = None
        while message is None:
            message = comm.Improbe(other, 9)
        message.Irecv(got * 0).Wait()
        request.Wait()

        for kind, text, call in (
            (NotImplementedError, "not in partitions", lambda: comm.Psend_init(small, 1, other)),
            (TypeError, "expects host memory", lambda: comm.Attach_buffer(small)),
            (ValueError, "must be contiguous", lambda: comm.Send(small[::2], other)),
        ):
            try:
                call()
            except kind as error:
                assert text in str(error), error
            else:
                raise AssertionError(f"nothing was raised, wanted {text!r}")
        assert copy.copy(comm).Get_size() == 2
    print("rank", rank, "done", flush=True)
"""


WINDOW_PROGRAM = """
    import sys
    import numpy as np
    import pycuda.autoprimaryctx
    from mpi4py import MPI
    from pycuda import gpuarray, mpi

    comm = mpi.Comm(MPI.COMM_WORLD)
    rank, size = comm.Get_rank(), comm.Get_size()
    assert size == 3
    after, before = (rank + 1) % size, (rank - 1) % size
    try:
        MPI.Win.Create(np.zeros(4), comm=MPI.COMM_WORLD).Free()
    except MPI.Exception as error:
        print("no windows of host memory:", error, "done", flush=True)
        sys.exit()

    def gpu(*values, dtype="f8"):
        return gpuarray.to_gpu(np.array(values, dtype))

    # Written, read and added to by others; what this rank changes is there as well.
    memory = gpu(*[rank] * 4)
    win = mpi.Win.Create(memory, comm=comm)
    win.Fence()
    win.Put(gpu(50 + rank), after, [1, 1, MPI.DOUBLE])
    fetched = gpu(0)
    win.Get(fetched, after, [0, 1, MPI.DOUBLE])
    win.Fence()
    assert memory.get().tolist() == [rank, 50 + before, rank, rank]
    assert fetched.get().tolist() == [after]
    memory[3:4].fill(rank + 7)
    win.Fence()
    win.Accumulate(gpu(1, 1), 0, [2, 2, MPI.DOUBLE], op=MPI.SUM)
    win.Fence()
    if rank == 0:
        assert memory.get().tolist() == [0, 52, 3, 10]
    win.Lock(after)
    win.Get(fetched, after, [3, 1, MPI.DOUBLE])
    win.Unlock(after)
    assert fetched.get().tolist() == [10 if after == 0 else after + 7]
    comm.Barrier()
    win.Free()
    print("rank", rank, "done", flush=True)
"""


def run_mpi(program, count, tmp_path, monkeypatch, choice="staged"):
    pytest.importorskip("mpi4py")
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("there is no mpirun")
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    monkeypatch.setenv("PYCUDA_MPI", choice)
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    done = subprocess.run(
        [mpirun, "-n", str(count), "--oversubscribe", sys.executable, path],
        capture_output=True,
        text=True,
        timeout=180,
        # Without the variables that an MPI in this process has added to the environment without Python.
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # mpirun merges the output of all processes in any order, also within a line.
    assert done.stdout.count("done") == count, done.stdout
    return done.stdout


def test_two_processes(device, tmp_path, monkeypatch):
    run_mpi(MPI_PROGRAM, 2, tmp_path, monkeypatch)


def test_all_buffers(device, tmp_path, monkeypatch):
    run_mpi(BUFFER_PROGRAM, 3, tmp_path, monkeypatch)


def test_arrays_of_another_device_and_messages(device, tmp_path, monkeypatch):
    require_devices(2)
    monkeypatch.setenv("SOFTCUDA_DEVICES", "2")
    run_mpi(DEVICES_PROGRAM, 2, tmp_path, monkeypatch)


def test_an_mpi_without_windows_is_named(device, tmp_path, monkeypatch):
    # Open MPI's component of shared memory cannot make windows of a program's own memory.
    monkeypatch.setenv("OMPI_MCA_osc", "sm")
    program = """
        import numpy as np
        import pycuda.autoprimaryctx
        from mpi4py import MPI
        from pycuda import gpuarray, mpi
        try:
            win = mpi.Win.Create(gpuarray.zeros(4, np.float64), comm=mpi.Comm(MPI.COMM_WORLD))
        except RuntimeError as error:
            print(error, "done", flush=True)
        else:
            win.Free()
            print("a window was made: done", flush=True)
    """
    said = run_mpi(program, 2, tmp_path, monkeypatch)
    if "a window was made" in said:
        pytest.skip("this MPI makes windows whatever OMPI_MCA_osc says")
    assert "cannot create a window for this memory" in said, said
    assert "MPI_ERR_WIN" in said and "ompi_info" in said, said


def test_windows(device, tmp_path, monkeypatch):
    said = run_mpi(WINDOW_PROGRAM, 3, tmp_path, monkeypatch)
    if "no windows" in said:
        pytest.skip(f"this MPI makes {said.splitlines()[0].removesuffix(' done')}")


NCCL_PROGRAM = """
    import os
    import numpy as np
    import pycuda.driver as cuda
    from mpi4py import MPI
    from pycuda import gpuarray, nccl

    cuda.init()
    comm = nccl.Communicator.from_mpi(MPI.COMM_WORLD)
    assert comm.device.handle == comm.rank % cuda.Device.count()
    with comm.device, comm:
        x = gpuarray.to_gpu(np.full((3, 2), comm.rank + 1.0))
        comm.all_reduce(x)
        assert (x.get() == 6).all()
        comm.synchronize()
    print("rank", comm.rank, "done", flush=True)
"""


def test_no_rank_waits_for_a_root_without_nccl(device, tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_LIBRARIES", "none")
    program = """
        import pycuda.driver as cuda
        from mpi4py import MPI
        from pycuda import nccl
        cuda.init()
        try:
            nccl.Communicator.from_mpi(MPI.COMM_WORLD)
        except nccl.NcclError as error:
            assert "no libnccl.so.2" in str(error)
            print("done", flush=True)
    """
    run_mpi(program, 2, tmp_path, monkeypatch)


def test_nccl_from_mpi(device, tmp_path, monkeypatch):
    require_devices(3)
    if not has_nccl():
        pytest.skip("there is no NCCL")
    monkeypatch.setenv("SOFTCUDA_DEVICES", "3")
    run_mpi(NCCL_PROGRAM, 3, tmp_path, monkeypatch)


def has_nccl():
    try:
        return nccl.version() > (0,)
    except nccl.NcclError:
        return False


class Recorder:
    """A communicator that records its arguments."""

    def Send(self, buf, dest, tag=0):
        self.got = buf

    def Get_rank(self):
        return 7


def test_device_buffers_are_passed_unchanged(device):
    x = gpuarray.to_gpu(np.arange(3.0))
    recorder = Recorder()
    comm = mpi.Comm(recorder, staged=False)
    comm.Send(x, dest=1)
    assert recorder.got is x
    assert comm.Get_rank() == 7
    comm = mpi.Comm(recorder, staged=True)
    comm.Send([x, 3], dest=1)
    assert isinstance(recorder.got[0], np.ndarray) and recorder.got[1] == 3
    with pytest.raises(ValueError, match="buf of Send.. must be contiguous"):
        comm.Send(x[::2], dest=1)


@pytest.mark.parametrize("choice, expected", [("device", True), ("staged", False)])
def test_choice(choice, expected, monkeypatch):
    monkeypatch.setenv("PYCUDA_MPI", choice)
    mpi.is_device_aware.cache_clear()
    assert mpi.is_device_aware() is expected
    monkeypatch.setenv("PYCUDA_MPI", "perhaps")
    mpi.is_device_aware.cache_clear()
    with pytest.raises(ValueError, match="perhaps"):
        mpi.is_device_aware()
    mpi.is_device_aware.cache_clear()
