"""Dask workers, one for each of several devices: placement, spilling, messages, ends of workers."""

import os

import pytest
from marks import slow

pytest.importorskip("distributed")

PROGRAM = """
    import os
    import signal
    import time

    import dask
    import dask.array as da
    import numpy as np
    from distributed import Client, get_worker, wait

    import pycuda.dask
    import pycuda.driver as cuda
    from pycuda import gpuarray


    def where():
        return cuda.Context.get_device().handle, gpuarray.zeros(1).device


    def counts(dask_worker):
        store = dask_worker.data
        return store.spilled, store.restored, store.used, len(store)


    def die_once(block, flag=None):
        # The first worker that comes here dies as by a failed machine. Dask tries functions on
        # empty blocks in this process.
        if block.size == 0:
            return block
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return block + 1
        os.kill(os.getpid(), signal.SIGKILL)


    if __name__ == "__main__":
        import sys
        with pycuda.dask.LocalPyCUDACluster(
            device_memory_limit=3_000_000, local_directory=sys.argv[1]
        ) as cluster, Client(cluster) as client:
            client.wait_for_workers(4)
            found = client.run(where)
            assert sorted(found.values()) == [(i, f"cuda:{i}") for i in range(4)], found

            with dask.config.set({"array.backend": "pycuda"}):
                x = da.random.default_rng(1).standard_normal((2000, 800), chunks=(200, 800))
                x = x.persist()  # 12.8 MB on devices that may keep 3 MB each
                wait(x)
                spilled = client.run(counts)
                assert sum(one[0] for one in spilled.values()) > 0, spilled
                assert all(one[2] <= 3_000_000 for one in spilled.values()), spilled
                host = x.compute().get()
                assert host.shape == (2000, 800)
                # Chunks of other workers come in messages.
                gram = (x.T @ x).compute()
                assert isinstance(gram, gpuarray.GPUArray)
                np.testing.assert_allclose(gram.get(), host.T @ host, rtol=1e-9, atol=1e-9)
                np.testing.assert_allclose(x.std(axis=0).compute().get(), host.std(axis=0), rtol=1e-9)
                s = da.linalg.svd(x)[1].compute().get()
                np.testing.assert_allclose(s, np.linalg.svd(host, compute_uv=False), rtol=1e-9)

                pids = set(client.run(os.getpid).values())
                flag = os.path.join(sys.argv[1], "died")
                y = x.map_blocks(die_once, flag=flag, dtype=x.dtype)
                np.testing.assert_allclose(y.sum().compute().get(), (host + 1).sum(), rtol=1e-9)
                assert os.path.exists(flag)
                client.wait_for_workers(4)
                assert len(pids - set(client.run(os.getpid).values())) == 1
                assert sorted(client.run(where).values()) == sorted(found.values())
        try:
            pycuda.dask.LocalPyCUDACluster(devices=[9])
        except ValueError as error:
            assert "there is no device 9" in str(error)
        else:
            raise AssertionError("device 9 was accepted")
        print("done")
"""


DEATHS = """
    import os
    import signal
    import sys
    import time
    from pathlib import Path

    import dask
    import dask.array as da
    import numpy as np
    from distributed import Client, wait

    import pycuda.dask


    def die_once(block, flag=None):
        if block.size == 0:  # Dask tries the function in this process
            return block
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return block * 2
        os.kill(os.getpid(), signal.SIGKILL)


    def slowly(block):
        time.sleep(0.1 if block.size else 0)
        return block + 1


    def spilled(dask_worker):
        return dask_worker.data.spilled


    if __name__ == "__main__":
        folder, count = Path(sys.argv[1]), int(sys.argv[2])
        with pycuda.dask.LocalPyCUDACluster(
            range(count), device_memory_limit=1_000_000, local_directory=str(folder)
        ) as cluster, Client(cluster) as client, dask.config.set({"array.backend": "pycuda"}):
            def pids():
                client.wait_for_workers(count)
                found = client.run(os.getpid).values()
                assert len(set(found)) == count
                return set(found)

            x = da.random.default_rng(1).standard_normal((4000, 200), chunks=(100, 200)).persist()
            wait(x)
            assert sum(client.run(spilled).values()) > 0
            host = x.compute().get()

            # In a task: what the worker had is made again, the same bits.
            before = pids()
            y = x.map_blocks(die_once, flag=str(folder / "died"), dtype=x.dtype).persist()
            np.testing.assert_array_equal(y.compute().get(), host * 2)
            assert len(before - pids()) == 1
            np.testing.assert_array_equal(x.compute().get(), host)

            # From outside, while tasks of all workers run and blocks travel: one, then all at once.
            z = y.map_blocks(slowly, dtype=x.dtype)
            alone = (z.T @ z).compute().get()
            np.testing.assert_allclose(alone, (host * 2 + 1).T @ (host * 2 + 1), rtol=1e-9, atol=1e-8)
            for victims in (1, count):
                before = pids()
                future = client.compute(z.T @ z)
                time.sleep(0.5)
                assert not future.done()
                for pid in sorted(before)[:victims]:
                    os.kill(pid, signal.SIGKILL)
                np.testing.assert_array_equal(future.result(timeout=120).get(), alone)
                assert len(before - pids()) == victims
            np.testing.assert_array_equal(x.compute().get(), host)
        assert not [path for path in folder.rglob("storage/*")], "files of dead workers are left"
        print("done")
"""


@pytest.mark.parametrize("count", slow([2, 3]))
def test_a_crashed_worker_loses_no_results(run_program, tmp_path, count):
    done = run_program(
        DEATHS, tmp_path, str(count), timeout=300, SOFTCUDA_DEVICES=str(count), SOFTCUDA_THREADS="1",
        PYCUDA_CACHE_DIR=os.environ.get("PYCUDA_CACHE_DIR", ""),
    )  # fmt: skip
    if "is no device" in done.stderr:
        pytest.skip(f"this machine has fewer than {count} devices")
    assert done.returncode == 0 and "done" in done.stdout, (
        done.stdout + done.stderr[-4000:]
    )


def test_cluster_of_four_devices(run_program, tmp_path):
    done = run_program(
        PROGRAM,
        tmp_path,
        timeout=240,
        SOFTCUDA_DEVICES="4",
        SOFTCUDA_THREADS="1",
        # Most of the time is used by four workers that compile the same kernels at once.
        PYCUDA_CACHE_DIR=os.environ.get("PYCUDA_CACHE_DIR", ""),
    )
    if "is no device" in done.stderr or "[(0, 'cuda:0')" in done.stderr:
        pytest.skip("this machine has fewer than four devices")
    assert done.returncode == 0 and "done" in done.stdout, (
        done.stdout + done.stderr[-4000:]
    )
