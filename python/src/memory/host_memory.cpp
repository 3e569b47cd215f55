// host_memory.cpp -- pinned, aligned and registered host memory.
#include "memory/host_memory.h"

#include "support/bindings.h"

#include "memory/host_buffer.h"
#include "support/allocate.h"
#include "support/buffer_export.h"
#include "support/python_object.h"
#include "support/with_block.h"

#include <pycuda/memory.h>

#include <nanobind/stl/string.h>

#include <optional>

namespace pycuda::python {
namespace {

struct PinnedAllocation : HostPointer, PinnedMemory {
    using PinnedMemory::PinnedMemory;
};

struct AlignedAllocation : HostPointer, AlignedHostMemory {
    AlignedAllocation(std::size_t bytes, std::size_t alignment)
        : HostPointer{Reach::HostOnly}, AlignedHostMemory(bytes, alignment) {}
};

/// Host memory of a Python object, which is pinned as long as this object exists.
class RegisteredMemory : public HostPointer {
  public:
    RegisteredMemory(nb::object owner, unsigned flags)
        : owner_(owner), buffer_(HostBuffer::to_write(owner, "ary")),
          memory_(buffer_.data(), buffer_.size(), flags) {}

    void *data() const { return memory_.data(); }
    std::size_t size() const noexcept { return memory_.size(); }
    CUdeviceptr device_pointer() const { return memory_.device_pointer(); }
    void unregister() { memory_.unregister(); }
    nb::object base() const { return owner_; }

  private:
    nb::object owner_;
    HostBuffer buffer_;
    RegisteredHostMemory memory_; // destroyed first
};

/// The driver does not allocate 0 bytes, but numpy's empty arrays need an address.
std::size_t at_least_one(std::size_t bytes) { return bytes == 0 ? 1 : bytes; }

template <class Memory> std::string represent(nb::handle self) {
    const Memory &memory = nb::cast<const Memory &>(self);
    const std::string name = "<pycuda.driver." + unqualified_name_of_type(self);
    try {
        (void)memory.data();
    } catch (const Error &) { // thrown if the memory was freed
        return name + ", freed>";
    }
    return name + " of " + std::to_string(memory.size()) + " bytes>";
}

} // namespace

void bind_host_memory(nb::module_ &module) {
    nb::class_<HostPointer>(module, "HostPointer",
                            "Base of the classes of host memory that the driver knows: "
                            "page-locked, aligned and registered memory.");

    bind_with_block(
        nb::class_<PinnedAllocation, HostPointer>(
            module, "PagelockedHostAllocation", buffer_export<PinnedAllocation>(),
            nb::is_weak_referenceable(),
            "Page-locked host memory. The device copies from and to it directly, while other "
            "work runs.\n\n"
            "bytes: the size.\n"
            "mem_flags: a sum of host_alloc_flags.\n\n"
            "The object is a buffer: ``np.frombuffer(memory, dtype)`` is an array in the memory. "
            "pagelocked_empty() makes such an\n"
            "array, whose ``base`` is the allocation. ``with memory:`` frees the memory at the end "
            "of the block. Raises MemoryError\n"
            "if the system has too little memory.\n\n"
            ">>> array = cuda.pagelocked_empty(4, np.float32)\n"
            ">>> isinstance(array.base, cuda.PagelockedHostAllocation)\n"
            "True")
            .def(
                "__init__",
                [](PinnedAllocation *self, std::size_t bytes, unsigned flags) {
                    allocate_or_collect(
                        [&] { return new (self) PinnedAllocation(at_least_one(bytes), flags); });
                },
                nb::arg("bytes"), nb::arg("mem_flags") = 0)
            .def("free", &PinnedAllocation::free, nb::lock_self(),
                 "Free the memory now. NumPy arrays in this memory are invalid afterwards: an "
                 "access may end the process.\n\n"
                 "Copies from or to the memory must be done. Raises LogicError if the memory was "
                 "freed before.")
            .def("__repr__", represent<PinnedAllocation>)
            .def("get_flags", &PinnedAllocation::flags,
                 "Return the flags that the memory was made with: a sum of host_alloc_flags.")
            .def("get_device_pointer", &PinnedAllocation::device_pointer,
                 "Return the address of the memory for kernels, as an int. Kernels access host "
                 "memory over the bus, without a copy.\n\n"
                 "Make the memory with host_alloc_flags.DEVICEMAP. Without the flag, a driver "
                 "without unified addresses raises\n"
                 "LogicError.\n\n"
                 ">>> memory = cuda.PagelockedHostAllocation(8, cuda.host_alloc_flags.DEVICEMAP)\n"
                 ">>> cuda.memset_d32(memory.get_device_pointer(), 6, 2)\n"
                 ">>> cuda.Context.synchronize()\n"
                 ">>> np.frombuffer(memory, np.int32)\n"
                 "array([6, 6], dtype=int32)"),
        "free");
    module.attr("HostAllocation") = module.attr("PagelockedHostAllocation");

    bind_with_block(nb::class_<AlignedAllocation, HostPointer>(
                        module, "AlignedHostAllocation", buffer_export<AlignedAllocation>(),
                        nb::is_weak_referenceable(),
                        "Pageable host memory with an aligned address.\n\n"
                        "bytes: the size.\n"
                        "alignment: the address is a multiple of this number of bytes.")
                        .def(
                            "__init__",
                            [](AlignedAllocation *self, std::size_t bytes, std::size_t alignment) {
                                new (self) AlignedAllocation(at_least_one(bytes), alignment);
                            },
                            nb::arg("bytes"), nb::arg("alignment") = 4096)
                        .def("__repr__", represent<AlignedAllocation>)
                        .def("free", &AlignedAllocation::free, nb::lock_self(),
                             "Free the memory now. NumPy arrays in this memory are invalid "
                             "afterwards: an access may end the process.\n\n"
                             "Copies from or to the memory must be done. Raises LogicError if the "
                             "memory was freed before."),
                    "free");

    nb::class_<RegisteredMemory, HostPointer>(
        module, "RegisteredHostMemory", buffer_export<RegisteredMemory>(),
        nb::is_weak_referenceable(),
        "Memory of a host array, page-locked while this object lives.\n\n"
        "ary: a NumPy array, or another contiguous buffer.\n"
        "flags: a sum of mem_host_register_flags.\n\n"
        "register_host_memory() makes the object and returns an array in the same memory. Raises "
        "LogicError if the memory is\n"
        "registered already.\n\n"
        ">>> array = np.zeros(1024, np.float32)\n"
        ">>> memory = cuda.RegisteredHostMemory(array)\n"
        ">>> memory.base is array\n"
        "True\n"
        ">>> memory.unregister()")
        .def(nb::init<nb::object, unsigned>(), nb::arg("ary"), nb::arg("flags") = 0)
        .def("__repr__", represent<RegisteredMemory>)
        .def_prop_ro("base", &RegisteredMemory::base, "The array whose memory it is.")
        .def("unregister", &RegisteredMemory::unregister, nb::lock_self(),
             "End the registration now: the memory is pageable again. The array remains usable.\n\n"
             "Copies from or to the memory must be done. Raises LogicError if the memory was "
             "unregistered before.")
        .def("get_device_pointer", &RegisteredMemory::device_pointer,
             "Return the address of the memory for kernels, as an int. Kernels access host memory "
             "over the bus, without a copy.\n\n"
             "Register the memory with mem_host_register_flags.DEVICEMAP. Without the flag, a "
             "driver without unified addresses\n"
             "raises LogicError.");
}

} // namespace pycuda::python
