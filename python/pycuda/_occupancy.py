"""The number of blocks of a kernel that run on a multiprocessor at the same time."""

from __future__ import annotations

from pycuda import driver


def _round_up(value: int, unit: int) -> int:
    return (value + unit - 1) // unit * unit


class DeviceData:
    """The numbers of a device that limit how many blocks of a kernel run at the same time.

    dev: the Device; by default that of the current context.

    Attributes: ``max_threads`` of a block, ``warp_size`` in threads, ``warps_per_mp`` and ``thread_blocks_per_mp`` of a
    multiprocessor, ``registers`` of a block and ``registers_per_mp``, ``shared_memory`` and ``shared_memory_optin`` of a
    block and ``shared_memory_per_mp`` in bytes.

    >>> tools.DeviceData().warp_size
    32
    """

    def __init__(self, dev: driver.Device | None = None) -> None:
        if dev is None:
            dev = driver.Context.get_device()
        attribute = driver.device_attribute
        get = dev.get_attribute
        self.max_threads = get(attribute.MAX_THREADS_PER_BLOCK)
        self.warp_size = get(attribute.WARP_SIZE)
        self.warps_per_mp = (
            get(attribute.MAX_THREADS_PER_MULTIPROCESSOR) // self.warp_size
        )
        self.registers = get(attribute.MAX_REGISTERS_PER_BLOCK)
        self.shared_memory = get(attribute.MAX_SHARED_MEMORY_PER_BLOCK)
        known = dev.get_attributes()
        self.thread_blocks_per_mp = known.get(
            attribute.MAX_BLOCKS_PER_MULTIPROCESSOR, 16
        )
        self.shared_memory_optin = known.get(
            attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, self.shared_memory
        )
        self.registers_per_mp = known.get(
            attribute.MAX_REGISTERS_PER_MULTIPROCESSOR, self.registers
        )
        self.shared_memory_per_mp = known.get(
            attribute.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, self.shared_memory
        )
        self.reserved_shared_memory = known.get(
            attribute.RESERVED_SHARED_MEMORY_PER_BLOCK, 0
        )
        self.smem_alloc_granularity = 128
        self.smem_granularity = 32
        self.register_allocation_unit = "warp"
        self.register_granularity = 256

    def align(self, bytes: int, word_size: int = 4) -> int:
        """Round the length of a row up, so that accesses to the next row coalesce. Returns bytes.

        bytes: the length of a row.
        word_size: bytes that a thread accesses: 4, 8 or 16.
        """
        return _round_up(bytes, self.align_bytes(word_size))

    def align_dtype(self, elements: int, dtype_size: int) -> int:
        """Round the length of a row up, as :meth:`align` does. Returns elements.

        elements: the length of a row.
        dtype_size: bytes of an element: 4, 8 or 16.
        """
        return self.align(elements * dtype_size, dtype_size) // dtype_size

    def align_words(self, word_size: int) -> int:
        """Return the alignment of rows in words.

        word_size: bytes of a word: 4, 8 or 16. Others raise ValueError.

        >>> tools.DeviceData().align_words(4)
        16
        """
        return self.align_bytes(word_size) // word_size

    def align_bytes(self, word_size: int = 4) -> int:
        """Return the alignment of rows in bytes, with which accesses of a warp coalesce.

        word_size: bytes that a thread accesses: 4, 8 or 16. Others raise ValueError.

        >>> tools.DeviceData().align_bytes(8)
        128
        """
        if word_size == 4:
            return 64
        if word_size in (8, 16):
            return 128
        raise ValueError(f"word_size must be 4, 8 or 16 bytes, not {word_size}")

    def coalesce(self, thread_count: int) -> int:
        """Round a number of threads up to a multiple of 16, half a warp.

        >>> tools.DeviceData().coalesce(20)
        32
        """
        return _round_up(thread_count, 16)

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """Return the smallest number of channels of a texture that holds ``size`` values: 1, 2 or 4.

        size: from 1 to 4. Others raise ValueError.

        >>> tools.DeviceData.make_valid_tex_channel_count(3)
        4
        """
        valid = {1: 1, 2: 2, 3: 4, 4: 4}
        if size not in valid:
            raise ValueError(f"a texture cannot have {size} channels, expected 1 to 4")
        return valid[size]


class OccupancyRecord:
    """The number of blocks of ``threads`` threads that run on a multiprocessor at the same time, and its limit.

    ``shared_mem`` is in bytes per block, ``registers`` per thread. ``limited_by`` is "device",
    "warps", "regs" or "smem"; ``occupancy`` is the fraction of the maximum number of warps, 0 to 1.
    """

    def __init__(
        self,
        devdata: DeviceData,
        threads: int,
        shared_mem: int = 0,
        registers: int = 0,
    ) -> None:
        if threads > devdata.max_threads:
            raise ValueError(f"too many threads: {threads} > {devdata.max_threads}")
        if shared_mem > devdata.shared_memory_optin:
            raise ValueError(
                f"too much smem: {shared_mem} > {devdata.shared_memory_optin} bytes"
            )
        warps = _round_up(threads, devdata.warp_size) // devdata.warp_size
        block_registers = warps * _round_up(
            registers * devdata.warp_size, devdata.register_granularity
        )
        if block_registers > devdata.registers:
            raise ValueError(
                f"too many registers: {block_registers} > {devdata.registers} per block"
            )
        limits = [
            (devdata.thread_blocks_per_mp, "device"),
            (devdata.warps_per_mp // warps, "warps"),
        ]
        if block_registers:
            limits.append((devdata.registers_per_mp // block_registers, "regs"))
        if shared_mem:
            block_memory = _round_up(
                shared_mem + devdata.reserved_shared_memory,
                devdata.smem_alloc_granularity,
            )
            limits.append((devdata.shared_memory_per_mp // block_memory, "smem"))

        self.tb_per_mp_limits = limits
        self.tb_per_mp, self.limited_by = min(limits)
        self.warps_per_mp = self.tb_per_mp * warps
        self.occupancy = self.warps_per_mp / devdata.warps_per_mp
