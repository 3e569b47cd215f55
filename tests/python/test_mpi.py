"""Arrays of the device as buffers of mpi4py, in two processes."""

import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from pycuda import gpuarray, mpi

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


def test_two_processes(device, tmp_path, monkeypatch):
    pytest.importorskip("mpi4py")
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("there is no mpirun")
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(MPI_PROGRAM))
    monkeypatch.setenv("PYCUDA_MPI", "staged")
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    done = subprocess.run(
        [mpirun, "-n", "2", "--oversubscribe", sys.executable, program],
        capture_output=True,
        text=True,
        timeout=120,
        # Without what an MPI in this process has put into the environment behind Python's back.
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
    # mpirun passes on what comes from both in any order, also within a line.
    assert done.stdout.count("done") == 2, done.stdout


class Recorder:
    """A communicator that notes what it gets."""

    def Send(self, buf, dest, tag=0):
        self.got = buf

    def Get_rank(self):
        return 7


def test_device_buffers_go_as_they_are(device):
    x = gpuarray.to_gpu(np.arange(3.0))
    recorder = Recorder()
    comm = mpi.Comm(recorder, staged=False)
    comm.Send(x, dest=1)
    assert recorder.got is x
    assert comm.Get_rank() == 7
    comm = mpi.Comm(recorder, staged=True)
    comm.Send([x, 3], dest=1)
    assert isinstance(recorder.got[0], np.ndarray) and recorder.got[1] == 3
    with pytest.raises(
        ValueError, match="buf of Send.. must lie in memory without gaps"
    ):
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
