"""A Dask cluster of this machine with one worker process for each device."""

from __future__ import annotations

import logging
import os

from dask.utils import parse_bytes
from distributed import Nanny, Scheduler
from distributed.deploy.spec import SpecCluster

from pycuda import driver
from pycuda.arrays.interop.exchange import device_number
from pycuda.dask._spilling import DeviceHostStore, limit_of, split_shared_memory

INTEGRATED = driver.device_attribute.INTEGRATED


class LocalPyCUDACluster(SpecCluster):
    """A scheduler in this process, and one worker process for each device.

    ``devices``: numbers, "cuda:1" or :class:`pycuda.driver.Device`; by default all devices. A device may
    occur several times. ``threads_per_worker``: the number of tasks that a worker runs at the same time, each
    in the device's primary context. ``device_memory_limit``: the limit above which results are copied to the
    host: bytes, "4 GB" or a fraction of the device's memory. ``memory_limit``: host memory of a worker in
    bytes or as a text; above 60 % of it, results are written to files; by default an equal part of the
    machine's memory; None: no limit. If the device's memory is the host's memory (integrated GPUs, softcuda),
    ``memory_limit`` applies to both, and the device gets at most 40 % of it. ``protocol``: "tcp://", or
    "ucx://" if distributed-ucxx is installed, which sends arrays directly between devices.
    ``worker_options`` are passed to ``distributed.Nanny``.

    A worker that ends is restarted, and Dask recomputes its lost results.

    >>> with LocalPyCUDACluster() as cluster, Client(cluster) as client:
    ...     x.sum().compute()

    Raises ValueError for devices that do not exist and for invalid limits.
    """

    def __init__(
        self,
        devices=None,
        threads_per_worker: int = 1,
        device_memory_limit=0.8,
        memory_limit="auto",
        protocol: str = "tcp://",
        host: str = "127.0.0.1",
        scheduler_port: int = 0,
        dashboard_address: str | None = None,
        local_directory: str | None = None,
        name: str | None = None,
        asynchronous: bool = False,
        silence_logs: bool | int = logging.WARNING,
        **worker_options,
    ) -> None:
        driver.init()
        if devices is None:
            devices = range(driver.Device.count())
        numbers = [device_number(device) for device in devices]
        if not numbers:
            raise ValueError("devices must name at least one device")
        if memory_limit == "auto":
            total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            memory_limit = total // len(numbers)
        elif isinstance(memory_limit, str):
            memory_limit = parse_bytes(memory_limit)
        spill_from = None if memory_limit is None else max(int(0.6 * memory_limit), 1)
        environment = worker_options.pop("env", {})
        common = {
            "host": host,
            "protocol": protocol,
            "nthreads": threads_per_worker,
            "memory_limit": memory_limit or 0,
            "local_directory": local_directory,
            "silence_logs": silence_logs,
            "preload": ["pycuda.dask.preload", *worker_options.pop("preload", [])],
            **worker_options,
        }

        def limits(number: int) -> dict:
            on_device, on_host = device_memory_limit, spill_from
            device = driver.Device(number)
            if memory_limit and device.get_attribute(INTEGRATED):
                on_device = limit_of(
                    on_device, device.total_memory(), "device_memory_limit"
                )
                on_device, on_host = split_shared_memory(memory_limit, on_device)
            return {"device_memory_limit": on_device, "memory_limit": on_host}

        workers = {
            place: {
                "cls": Nanny,
                "options": {
                    **common,
                    # The program's own process has printed the line about the CPU.
                    "env": {
                        "PYCUDA_QUIET": "1",
                        **environment,
                        "CUDA_DEVICE": str(number),
                    },
                    "data": (WorkerStore, {"device": number, **limits(number)}),
                    "resources": {"GPU": 1},
                },
            }
            for place, number in enumerate(numbers)
        }
        scheduler = {
            "cls": Scheduler,
            "options": {
                "host": host,
                "port": scheduler_port,
                "protocol": protocol,
                "dashboard": dashboard_address is not None,
                "dashboard_address": dashboard_address or ":0",
            },
        }
        self.devices = tuple(numbers)
        super().__init__(
            scheduler=scheduler, workers=workers, name=name,
            asynchronous=asynchronous, silence_logs=silence_logs,
        )  # fmt: skip

    def new_worker_spec(self):
        raise RuntimeError(
            "a LocalPyCUDACluster has one worker for each device and cannot be scaled; pass devices when the cluster is created"
        )

    def _update_worker_status(self, op, msg):
        # SpecCluster permanently drops a worker that is not back 15 s after it was lost, for
        # example because it crashes twice or starts slowly. Here a nanny restarts each worker.
        super(SpecCluster, self)._update_worker_status(op, msg)


class WorkerStore(DeviceHostStore):
    """The result store of a worker. Sets the worker's device before any task runs.

    Setting ``$CUDA_DEVICE`` alone is too late: a worker process imports the program's main module, and
    possibly :mod:`pycuda.dask`, before Dask sets the environment.
    """

    def __init__(self, worker_local_directory: str, device: int, **limits) -> None:
        driver.init()
        context = driver.Device(device).retain_primary_context()
        driver.Context.set_default(context)
        if driver.Context.get_current() not in (None, context):
            context.set_current()
        super().__init__(worker_local_directory, **limits)
