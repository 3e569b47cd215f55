"""More data than the devices' memory holds: Dask's chunks on all devices, spilled to host and disk.

    ./run examples/multi_device/dask_out_of_core.py [--devices 2] [--gigabytes 0.2] [--device-limit 20MB]

A tall matrix of random numbers is made in chunks, each by the worker of one device, and stays in memory. The
workers may use --device-limit of their devices' memory; further data moves to the host's memory, then to
files. The means, the deviations and the singular values are computed from it, and checked against the
distribution that the numbers come from. Without a GPU, softcuda has --devices devices.
"""

from __future__ import annotations

import argparse
import os
import tempfile

import numpy as np


def spilled(dask_worker):
    """How many results a worker has moved from its device to the host."""
    return dask_worker.data.spilled


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--gigabytes", type=float, default=0.1)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--chunk", default="4MB")
    parser.add_argument("--device-limit", default="20MB")
    parser.add_argument(
        "--memory-limit", default="2GB", help="of the host, for each worker"
    )
    given = parser.parse_args()
    os.environ.setdefault("SOFTCUDA_DEVICES", str(given.devices))

    import dask
    import dask.array as da
    from dask.utils import parse_bytes
    from distributed import Client, wait

    import pycuda.dask

    rows = int(given.gigabytes * 1e9) // (8 * given.columns)
    rows_of_chunk = max(parse_bytes(given.chunk) // (8 * given.columns), given.columns)
    with (
        tempfile.TemporaryDirectory() as folder,
        pycuda.dask.LocalPyCUDACluster(
            range(given.devices), device_memory_limit=given.device_limit,
            memory_limit=given.memory_limit, local_directory=folder,
        ) as cluster,
        Client(cluster) as client,
        dask.config.set({"array.backend": "pycuda"}),
    ):  # fmt: skip
        rng = da.random.default_rng(5)
        x = rng.normal(1, 2, size=(rows, given.columns), chunks=(rows_of_chunk, -1))
        x = client.persist(x)
        wait(x)
        moved = sum(client.run(spilled).values())
        means, deviations, total = dask.compute(x.mean(axis=0), x.std(axis=0), x.sum())
        _, values, _ = da.linalg.svd(x)
        values = values.compute().get()
    means, deviations = means.get(), deviations.get()
    assert abs(means - 1).max() < 12 / np.sqrt(rows), means
    assert abs(deviations - 2).max() < 12 / np.sqrt(rows), deviations
    # The sum of the squares of all elements, in two ways.
    squares = rows * (deviations**2 + means**2).sum()
    np.testing.assert_allclose((values**2).sum(), squares, rtol=1e-9)
    print(
        f"{given.devices} devices, {rows * given.columns * 8 / 1e9:.2f} GB in {len(x.chunks[0])} chunks, "
        f"{moved} moved to the host: mean {float(total.get()) / x.size:.4f}, "
        f"largest singular value {values[0]:.1f}"
    )


if __name__ == "__main__":
    main()
