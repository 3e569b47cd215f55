// stream_memory.cpp -- stream-ordered allocation, the driver's pools, and hints for managed memory.
#include "support/bindings.h"

#include "memory/device_pointer.h"
#include "memory/python_work.h"
#include "support/allocate.h"
#include "support/python_object.h"

#include <pycuda/driver.h>
#include <pycuda/init.h>
#include <pycuda/memory.h>

#include <nanobind/stl/string.h>

namespace pycuda::python {
namespace {

DeviceMemory mem_alloc_async(std::size_t bytes, nb::handle stream) {
    const StreamRef queue = stream_ref(stream);
    Context context = Context::require_current();
    CUdeviceptr address = 0;
    allocate_or_collect([&] {
        check(driver().cuMemAllocAsync.status(&address, bytes, queue.get()), "cuMemAllocAsync",
              [&] { return "requested " + std::to_string(bytes) + " bytes"; });
    });
    return DeviceMemory::adopt(address, bytes, std::move(context));
}

void mem_free_async(nb::handle memory, nb::handle stream) {
    const PythonWork work({memory}, stream);
    DeviceMemory *allocation = nullptr;
    if (!nb::try_cast(memory, allocation) || !allocation)
        throw_type_error("memory must be a pycuda.driver.DeviceAllocation, not " +
                         name_of_type(memory));
    driver().cuMemFreeAsync(allocation->release(), work.stream().get());
}

// The driver's pools.

/// The pool from which mem_alloc_async() allocates on a device.
struct DriverPool {
    CUmemoryPool handle = nullptr;

    explicit DriverPool(const Device &device) {
        driver().cuDeviceGetMemPool(&handle, device.get());
    }
    std::uint64_t get(CUmemPool_attribute attribute) const {
        std::uint64_t value = 0;
        driver().cuMemPoolGetAttribute(handle, attribute, &value);
        return value;
    }
    void set(CUmemPool_attribute attribute, std::uint64_t value) const {
        driver().cuMemPoolSetAttribute(handle, attribute, &value);
    }
    void trim(std::size_t keep) const { driver().cuMemPoolTrimTo(handle, keep); }
};

template <CUmemPool_attribute Attribute> std::uint64_t pool_attribute(const DriverPool &pool) {
    return pool.get(Attribute);
}

// Managed memory.

/// None is the host, a Device is that device.
CUdevice place_of(nb::handle device) {
    if (device.is_none())
        return CU_DEVICE_CPU;
    if (const Device * place; nb::try_cast(device, place) && place)
        return place->get();
    throw_type_error("device must be a pycuda.driver.Device, or None for the host, not " +
                     name_of_type(device));
}

void mem_prefetch(nb::handle pointer, std::size_t bytes, nb::handle device, nb::handle stream) {
    PythonWork work({pointer}, stream);
    driver().cuMemPrefetchAsync(work.write(pointer, "devptr"), bytes, place_of(device),
                                work.stream().get());
}

void mem_advise(nb::handle pointer, std::size_t bytes, int advice, nb::handle device) {
    driver().cuMemAdvise(device_address(pointer, "devptr"), bytes, CUmem_advise(advice),
                         place_of(device));
}

} // namespace

void bind_stream_memory(nb::module_ &module) {
    module.def("mem_alloc_async", mem_alloc_async, nb::arg("bytes"), nb::arg("stream") = nb::none(),
               "Allocate device memory as work of a stream. Later work of the stream may use the "
               "memory.\n\n"
               "bytes: the size.\n"
               "stream: a Stream; by default the thread's current stream.\n\n"
               "free() of the memory waits for the stream; mem_free_async() does not wait. Raises "
               "MemoryError.");
    module.def("mem_free_async", mem_free_async, nb::arg("memory").lock(),
               nb::arg("stream") = nb::none(),
               "Free memory as work of a stream: after all earlier work of the stream.\n\n"
               "memory: a DeviceAllocation. It cannot be used afterwards.\n"
               "stream: a Stream; by default the thread's current stream.");
    module.def("mem_prefetch", mem_prefetch, nb::arg("devptr"), nb::arg("bytes"),
               nb::arg("device").none(), nb::arg("stream") = nb::none(),
               "Move managed memory to a device or to the host, as work of a stream.\n\n"
               "devptr: managed memory.\n"
               "bytes: how many bytes from there on.\n"
               "device: a Device, or None for the host.\n"
               "stream: a Stream; by default the thread's current stream.");
    module.def("mem_advise", mem_advise, nb::arg("devptr"), nb::arg("bytes"), nb::arg("advice"),
               nb::arg("device").none() = nb::none(),
               "Advise the driver how managed memory will be used. Results do not depend on the "
               "advice.\n\n"
               "devptr: managed memory.\n"
               "bytes: how many bytes from there on.\n"
               "advice: a member of mem_advice.\n"
               "device: the Device of the advice, or None for the host.");

    nb::class_<DriverPool>(
        module, "DriverMemoryPool",
        "The driver's own pool of a device, from which mem_alloc_async() takes memory.\n\n"
        "device: a Device.\n\n"
        "The pool is part of the driver: CuPy, torch and other libraries that allocate in streams "
        "use the same one. Memory that\n"
        "is freed in a stream serves later allocations in the stream's order.\n\n"
        ">>> pool = cuda.DriverMemoryPool(cuda.Device(0))\n"
        ">>> pool.release_threshold = 1 << 20\n"
        ">>> pool.used_bytes <= pool.reserved_bytes\n"
        "True\n"
        ">>> pool.release_threshold = 0")
        .def(nb::init<const Device &>(), nb::arg("device"))
        .def("__repr__",
             [](const DriverPool &pool) {
                 return "<pycuda.driver.DriverMemoryPool with " +
                        std::to_string(pool.get(CU_MEMPOOL_ATTR_USED_MEM_CURRENT)) + " of " +
                        std::to_string(pool.get(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)) +
                        " bytes in use>";
             })
        .def_prop_rw(
            "release_threshold", pool_attribute<CU_MEMPOOL_ATTR_RELEASE_THRESHOLD>,
            [](const DriverPool &pool, std::uint64_t bytes) {
                pool.set(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, bytes);
            },
            "Bytes that the pool keeps for reuse when a stream or the device is synchronized; 0 at "
            "first. May be assigned.\n\n"
            "The pool returns unused memory above this number to the device.")
        .def_prop_ro("reserved_bytes", pool_attribute<CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT>,
                     "Bytes that the pool has from the device, both in use and free.")
        .def_prop_ro("used_bytes", pool_attribute<CU_MEMPOOL_ATTR_USED_MEM_CURRENT>,
                     "Bytes in use.")
        .def_prop_ro("most_used_bytes", pool_attribute<CU_MEMPOOL_ATTR_USED_MEM_HIGH>,
                     "The largest number of bytes that were in use at the same time.")
        .def("trim", &DriverPool::trim, nb::arg("keep") = 0,
             "Return unused memory to the device now.\n\n"
             "keep: the bytes that the pool keeps, memory in use included.");
}

} // namespace pycuda::python
