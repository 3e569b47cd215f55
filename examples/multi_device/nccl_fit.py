"""Fits a model with gradients that all devices of this machine sum up: data-parallel, with NCCL.

    ./run examples/multi_device/nccl_fit.py [--devices 4] [--samples 40000] [--steps 60]

Each device has its own part of the samples and the same weights. In a step each computes the gradient
of its part; an all-reduce computes their mean, with the same bits on all devices; then each device does
the same step. One process has a thread for each device. Without a GPU, softcuda has
--devices devices.
"""

from __future__ import annotations

import argparse
import os
import threading

import numpy as np


def make_samples(count: int, features: int):
    """Samples of a linear model with noise: (x, y, the weights that made y)."""
    rng = np.random.default_rng(11)
    x = rng.standard_normal((count, features))
    weights = rng.standard_normal(features)
    return x, x @ weights + 0.01 * rng.standard_normal(count), weights


def fit_part(comm, x, y, steps: int, rate: float, results: dict) -> None:
    """What the thread of one device does. All threads make the same calls of ``comm``."""
    from pycuda import gpuarray

    with comm.device:
        x, y = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
        weights = gpuarray.zeros(x.shape[1], np.float64)
        for _ in range(steps):
            gradient = (x.T @ (x @ weights - y)) * (2 / len(y))
            comm.all_reduce(gradient, op="avg")
            weights -= rate * gradient
        comm.synchronize()
        results[comm.rank] = weights.get()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--samples", type=int, default=20000)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--steps", type=int, default=60)
    given = parser.parse_args()
    os.environ.setdefault("SOFTCUDA_DEVICES", str(given.devices))

    import pycuda.driver as cuda
    from pycuda import nccl

    cuda.init()
    count = min(given.devices, cuda.Device.count())
    x, y, truth = make_samples(given.samples, given.features)
    each = given.samples // count  # equal parts, so that the mean of means is the mean
    results: dict[int, np.ndarray] = {}
    comms = nccl.all_devices(range(count))
    threads = []
    for rank, comm in enumerate(comms):
        part = slice(rank * each, (rank + 1) * each)
        arguments = (comm, x[part].copy(), y[part].copy(), given.steps, 0.1, results)
        threads.append(threading.Thread(target=fit_part, args=arguments))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(results) != count:
        raise SystemExit("a device failed; see above")
    for weights in results.values():
        np.testing.assert_array_equal(weights, results[0])
    error = np.abs(results[0] - truth).max()
    if error > 0.01:
        raise SystemExit(f"the fit is off by {error:.3g}")
    print(
        f"{count} devices, NCCL {'.'.join(map(str, nccl.version()))}: {given.steps} steps, largest "
        f"error of a weight {error:.2g}, all devices agree in every bit"
    )


if __name__ == "__main__":
    main()
