// host_memory.cpp -- pinned, aligned and registered host memory.
#include "host_memory.h"

#include "bindings.h"

#include "allocate.h"
#include "buffer_export.h"
#include "host_buffer.h"
#include "python_object.h"
#include "with_block.h"

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

/// Host memory of an object of Python, pinned while this lives.
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
    RegisteredHostMemory memory_; // goes first
};

/// The driver does not give out 0 bytes; numpy's empty arrays want an address all the same.
std::size_t at_least_one(std::size_t bytes) { return bytes == 0 ? 1 : bytes; }

template <class Memory> std::string represent(nb::handle self) {
    const Memory &memory = nb::cast<const Memory &>(self);
    const std::string name = "<pycuda.driver." + unqualified_name_of_type(self);
    try {
        (void)memory.data();
    } catch (const Error &) { // which is how it says that it is gone
        return name + ", freed>";
    }
    return name + " of " + std::to_string(memory.size()) + " bytes>";
}

} // namespace

void bind_host_memory(nb::module_ &module) {
    nb::class_<HostPointer>(module, "HostPointer", "Host memory that the device knows of.");

    bind_with_block(
        nb::class_<PinnedAllocation, HostPointer>(
            module, "PagelockedHostAllocation", buffer_export<PinnedAllocation>(),
            nb::is_weak_referenceable(),
            "Page-locked host memory. The device copies from and to it directly, "
            "beside other work.\n\n"
            "bytes: the size.\n"
            "mem_flags: a sum of host_alloc_flags.\n\n"
            "pagelocked_empty() makes a NumPy array in such memory.")
            .def(
                "__init__",
                [](PinnedAllocation *self, std::size_t bytes, unsigned flags) {
                    allocate_or_collect(
                        [&] { return new (self) PinnedAllocation(at_least_one(bytes), flags); });
                },
                nb::arg("bytes"), nb::arg("mem_flags") = 0)
            .def("free", &PinnedAllocation::free, nb::lock_self(),
                 "Free the memory now. Do not use NumPy arrays in this memory afterwards.")
            .def("__repr__", represent<PinnedAllocation>)
            .def("get_flags", &PinnedAllocation::flags,
                 "The host_alloc_flags that it was made with.")
            .def("get_device_pointer", &PinnedAllocation::device_pointer,
                 "The address for kernels; needs host_alloc_flags.DEVICEMAP."),
        "free");
    module.attr("HostAllocation") = module.attr("PagelockedHostAllocation");

    bind_with_block(
        nb::class_<AlignedAllocation, HostPointer>(
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
                 "Free the memory now. Do not use NumPy arrays in this memory afterwards."),
        "free");

    nb::class_<RegisteredMemory, HostPointer>(
        module, "RegisteredHostMemory", buffer_export<RegisteredMemory>(),
        nb::is_weak_referenceable(), "Memory of a host array, pinned while this lives.")
        .def(nb::init<nb::object, unsigned>(), nb::arg("ary"), nb::arg("flags") = 0)
        .def("__repr__", represent<RegisteredMemory>)
        .def_prop_ro("base", &RegisteredMemory::base, "The array whose memory it is.")
        .def("unregister", &RegisteredMemory::unregister, nb::lock_self(),
             "Unpin the array's memory now. A second time is an error.")
        .def("get_device_pointer", &RegisteredMemory::device_pointer,
             "The address for kernels; needs mem_host_register_flags.DEVICEMAP.");
}

} // namespace pycuda::python
