// memory_pool.cpp -- pools that keep freed blocks and reuse them.
#include "support/bindings.h"

#include "support/allocate.h"
#include "support/buffer_export.h"
#include "support/python_object.h"
#include "support/with_block.h"

#include <pycuda/memory_pool.h>

#include <nanobind/stl/string.h>

#include <bit>

namespace pycuda::python {
namespace {

/// Two Python classes for two kinds of memory.
struct DevicePool {
    MemoryPool pool;
};
struct PinnedPool {
    MemoryPool pool;
};
/// A block of a PinnedPool. A separate Python class, because it has a host address.
struct PooledHostMemory {
    PooledMemory memory;
    void *data() const { return memory.data(); }
    std::size_t size() const noexcept { return memory.size(); }
};
/// How a PinnedPool allocates memory.
struct PinnedAllocator {
    unsigned flags;
};

template <class Pool> void make_pool(Pool *self, MemoryPool pool) {
    pool.on_out_of_memory([] {
        nb::gil_scoped_acquire acquire;
        collect_garbage();
    });
    new (self) Pool{std::move(pool)};
}

PooledMemory allocate_on_device(DevicePool &self, nb::handle size) {
    return self.pool.allocate(byte_count(size, "size"));
}
PooledHostMemory allocate_on_host(PinnedPool &self, std::size_t bytes) {
    return {self.pool.allocate(bytes == 0 ? 1 : bytes)};
}

std::string represent_pool(nb::handle self, const PoolStatistics &blocks) {
    return "<pycuda.driver." + unqualified_name_of_type(self) + " with " +
           std::to_string(blocks.active_blocks) + " blocks in use and " +
           std::to_string(blocks.held_blocks) + " held, " + std::to_string(blocks.managed_bytes) +
           " bytes>";
}

template <class Pool> void bind_pool(nb::class_<Pool> &cls) {
    cls.def("__repr__",
            [](nb::handle self) {
                return represent_pool(self, nb::cast<Pool &>(self).pool.statistics());
            })
        .def_prop_ro(
            "held_blocks", [](Pool &p) { return p.pool.statistics().held_blocks; },
            "The number of free blocks that the pool keeps for reuse.")
        .def_prop_ro(
            "active_blocks", [](Pool &p) { return p.pool.statistics().active_blocks; },
            "The number of blocks in use.")
        .def_prop_ro(
            "managed_bytes", [](Pool &p) { return p.pool.statistics().managed_bytes; },
            "Bytes that the pool has from the driver, both in use and free.\n\n"
            "The number is at least active_bytes, because blocks have the sizes of bins.")
        .def_prop_ro(
            "active_bytes", [](Pool &p) { return p.pool.statistics().active_bytes; },
            "Bytes in use: the sum of the requested sizes.")
        .def_static(
            "bin_number", &pool_bin_number, nb::arg("size"),
            "Return the number of the bin that serves an allocation.\n\n"
            "size: bytes.\n\n"
            "The bins are PyCUDA's: 16 for each power of two, so a block is larger than the "
            "request by 1/16 at most.\n\n"
            ">>> cuda.DeviceMemoryPool.bin_number(1000) < cuda.DeviceMemoryPool.bin_number(1100)\n"
            "True")
        .def_static("alloc_size", &pool_block_size, nb::arg("bin"),
                    "Return the size of the blocks in a bin, in bytes.\n\n"
                    "bin: the number of a bin; see bin_number().\n\n"
                    ">>> pool = cuda.DeviceMemoryPool\n"
                    ">>> pool.alloc_size(pool.bin_number(1000))\n"
                    "1023")
        .def(
            "free_held", [](Pool &p) { p.pool.free_held(); },
            "Return all free blocks to the driver. Blocks in use stay, and the pool remains "
            "usable.\n\n"
            ">>> pool = cuda.DeviceMemoryPool()\n"
            ">>> pool.allocate(1000).free()\n"
            ">>> pool.free_held()\n"
            ">>> pool.held_blocks, pool.managed_bytes\n"
            "(0, 0)")
        .def(
            "stop_holding", [](Pool &p) { p.pool.stop_holding(); },
            "Stop keeping freed blocks: from now on, the pool returns them to the driver at "
            "once.\n\n"
            "The free blocks that the pool holds are returned, too. The pool can still "
            "allocate.\n\n"
            ">>> pool = cuda.DeviceMemoryPool()\n"
            ">>> block = pool.allocate(1000)\n"
            ">>> pool.stop_holding()\n"
            ">>> block.free()\n"
            ">>> pool.held_blocks\n"
            "0");
}

std::string represent(const PooledMemory &memory) {
    return "<pycuda.driver.PooledDeviceAllocation" +
           (memory.freed() ? std::string(", freed>")
                           : " of " + std::to_string(memory.size()) + " bytes>");
}

} // namespace

void bind_memory_pool(nb::module_ &module) {
    bind_with_block(
        nb::class_<PooledMemory>(module, "PooledDeviceAllocation", nb::dynamic_attr(),
                                 nb::is_weak_referenceable(),
                                 "A block of memory of a DeviceMemoryPool. The last reference "
                                 "returns the block to the pool.\n\n"
                                 "``int(block)`` is the address. Kernels and copies take the block "
                                 "as a pointer, and ``with block:`` returns the block at\n"
                                 "the end. The pool gives a returned block to a later allocation "
                                 "without a wait. So work that uses the block must be\n"
                                 "done, or be in the same stream as the later work.\n\n"
                                 ">>> pool = cuda.DeviceMemoryPool()\n"
                                 ">>> with pool.allocate(16) as block:\n"
                                 "...     cuda.memset_d8(block, 0, block.size)\n"
                                 ">>> pool.active_blocks\n"
                                 "0")
            .def("free", &PooledMemory::free, nb::lock_self(),
                 "Return the block to the pool now. Raises LogicError if the block was "
                 "freed before.")
            .def("__int__", &PooledMemory::get)
            .def("__index__", &PooledMemory::get)
            .def("__long__", &PooledMemory::get)
            .def("__len__", &PooledMemory::size)
            .def_prop_ro("size", &PooledMemory::size, "The requested size in bytes.")
            .def("__bool__", [](const PooledMemory &) { return true; })
            .def("__repr__", represent),
        "free");

    nb::class_<PooledHostMemory>(
        module, "PooledHostAllocation", buffer_export<PooledHostMemory>(),
        nb::is_weak_referenceable(),
        "A block of page-locked memory of a PageLockedMemoryPool: a buffer of the host.\n\n"
        "The last reference returns the block to the pool. ``PageLockedMemoryPool.allocate(shape, "
        "dtype)`` makes NumPy arrays in\n"
        "such blocks.")
        .def(
            "free", [](PooledHostMemory &block) { block.memory.free(); }, nb::lock_self(),
            "Return the block to the pool now. Raises LogicError if the block was freed before.")
        .def("__repr__",
             [](const PooledHostMemory &block) {
                 return "<pycuda.driver.PooledHostAllocation" +
                        (block.memory.freed() ? std::string(", freed>")
                                              : " of " + std::to_string(block.size()) + " bytes>");
             })
        .def("__len__", &PooledHostMemory::size)
        .def("__bool__", [](const PooledHostMemory &) { return true; });

    nb::class_<PinnedAllocator>(
        module, "PageLockedAllocator",
        "Where a PageLockedMemoryPool gets its memory.\n\n"
        "flags: a sum of host_alloc_flags for each block.\n\n"
        ">>> pool = "
        "tools.PageLockedMemoryPool(tools.PageLockedAllocator(cuda.host_alloc_flags.PORTABLE))\n"
        ">>> pool.allocate((2, 3), np.float32).shape\n"
        "(2, 3)")
        .def(
            "__init__",
            [](PinnedAllocator *self, unsigned flags) { new (self) PinnedAllocator{flags}; },
            nb::arg("flags") = 0);

    nb::class_<DevicePool> device_pool(module, "DeviceMemoryPool", nb::is_weak_referenceable(),
                                       "A pool of device memory of the current context. Freed "
                                       "blocks are kept, and serve later allocations.\n\n"
                                       "The size of a block is rounded up to that of a bin. "
                                       "``pool.allocate`` can be the\n"
                                       "``allocator=`` of functions of arrays.\n\n"
                                       ">>> pool = cuda.DeviceMemoryPool()\n"
                                       ">>> block = pool.allocate(1000)\n"
                                       ">>> block.free()\n"
                                       ">>> pool.held_blocks, pool.active_blocks\n"
                                       "(1, 0)");
    device_pool.def("__init__", [](DevicePool *self) { make_pool(self, MemoryPool::device()); })
        .def("allocate", allocate_on_device, nb::arg("size"),
             nb::sig("def allocate(self, size: int) -> PooledDeviceAllocation"),
             "Allocate a block. Returns a PooledDeviceAllocation.\n\n"
             "size: bytes.\n\n"
             "If the device has no memory left, the pool frees its waiting blocks and tries again. "
             "Raises MemoryError if the\n"
             "second attempt fails.")
        .def("__call__", allocate_on_device, nb::arg("size"),
             nb::sig("def __call__(self, size: int) -> PooledDeviceAllocation"),
             "Call allocate(). So a pool can be the ``allocator=`` of functions of arrays.\n\n"
             "size: bytes.\n\n"
             ">>> pool = cuda.DeviceMemoryPool()\n"
             ">>> x = gpuarray.zeros(4, np.float32, allocator=pool)\n"
             ">>> pool.active_bytes\n"
             "16");
    bind_pool(device_pool);

    nb::class_<PinnedPool> pinned_pool(module, "_PageLockedMemoryPool",
                                       nb::is_weak_referenceable());
    pinned_pool
        .def(
            "__init__",
            [](PinnedPool *self, const PinnedAllocator &allocator) {
                make_pool(self, MemoryPool::pinned(allocator.flags));
            },
            nb::arg("allocator") = PinnedAllocator{0})
        .def("_allocate", allocate_on_host);
    bind_pool(pinned_pool);

    module.def(
        "bitlog2", [](std::size_t n) { return n == 0 ? 0 : std::bit_width(n) - 1; }, nb::arg("n"),
        "Return the position of the highest set bit, the logarithm to base 2 rounded down; 0 for "
        "0.\n\n"
        "n: an int from 0 to 2**64 - 1.\n\n"
        ">>> cuda.bitlog2(255), cuda.bitlog2(256)\n"
        "(7, 8)");
}

} // namespace pycuda::python
