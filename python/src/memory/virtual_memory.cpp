// virtual_memory.cpp -- pycuda.driver.PhysicalMemory and VirtualMemory.
#include "support/bindings.h"

#include "support/bool_like.h"
#include "support/python_object.h"
#include "support/with_block.h"

#include <pycuda/virtual_memory.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdio>

namespace pycuda::python {
namespace {

PhysicalMemory::Sharing sharing(BoolLike shareable) {
    return shareable ? PhysicalMemory::Sharing::FileDescriptor : PhysicalMemory::Sharing::None;
}

std::string represent(const VirtualMemory &range) {
    char text[96];
    std::snprintf(text, sizeof text, "<pycuda.driver.VirtualMemory of %zu bytes at 0x%llx>",
                  range.size(), static_cast<unsigned long long>(range.get()));
    return text;
}

void bind_physical_memory(nb::module_ &module) {
    bind_with_block(
        nb::class_<PhysicalMemory>(
            module, "PhysicalMemory", nb::is_weak_referenceable(),
            "Device memory without an address. VirtualMemory.map() maps the memory to "
            "addresses.\n\n"
            "size: bytes, a multiple of mem_get_allocation_granularity(device). Others raise "
            "LogicError.\n"
            "device: the Device.\n"
            "shareable: True allows export_fd(), which shares the memory with another process.\n\n"
            "Raises MemoryError if the device has too little free memory. ``with memory:`` closes "
            "the object at the end of the block.\n\n"
            ">>> memory = cuda.PhysicalMemory(cuda.mem_get_allocation_granularity(device), device)")
            .def(
                "__init__",
                [](PhysicalMemory *self, std::size_t size, const Device &device,
                   BoolLike shareable) {
                    new (self) PhysicalMemory(size, device, sharing(shareable));
                },
                nb::arg("size"), nb::arg("device"), nb::arg("shareable") = false)
            .def_static("import_fd", &PhysicalMemory::import_descriptor, nb::arg("fd"),
                        nb::arg("size"),
                        "Import memory that another process exported. The caller keeps, and "
                        "closes, the file descriptor.\n\n"
                        "fd: the file descriptor of export_fd().\n"
                        "size: bytes, as the other process has made it.")
            .def("export_fd", &PhysicalMemory::export_descriptor,
                 "Return a new file descriptor of the memory, as an int. Another process opens it "
                 "with import_fd().\n\n"
                 "The caller must close the descriptor with os.close(). Raises LogicError if the "
                 "memory was made without ``shareable``.")
            .def("__repr__",
                 [](const PhysicalMemory &memory) {
                     return "<pycuda.driver.PhysicalMemory of " + std::to_string(memory.size()) +
                            " bytes>";
                 })
            .def("close", &PhysicalMemory::close, nb::lock_self(),
                 "Release the memory. The driver frees it when its last mapping ends.\n\n"
                 "A second call does nothing.")
            .def_prop_ro("size", &PhysicalMemory::size, "The size in bytes; 0 after close().")
            .def_prop_ro("device", &PhysicalMemory::device, "The Device that has the memory.")
            .def_prop_ro("handle", &PhysicalMemory::get,
                         "The CUmemGenericAllocationHandle, as an int."),
        "close");
}

} // namespace

void bind_virtual_memory(nb::module_ &module) {
    bind_physical_memory(module);

    module.def(
        "mem_get_allocation_granularity",
        [](const Device &device, BoolLike recommended) {
            return granularity(device,
                               recommended ? Granularity::Recommended : Granularity::Minimum);
        },
        nb::arg("device"), nb::arg("recommended") = false,
        "The granularity in bytes: the sizes of PhysicalMemory and VirtualMemory are multiples of "
        "this number.\n\n"
        "device: the Device.\n"
        "recommended: True for the granularity with the best speed, False for the smallest one.");

    nb::class_<VirtualMemory>(
        module, "VirtualMemory", nb::is_weak_referenceable(),
        "A reserved range of device addresses. PhysicalMemory can be mapped to any part of the "
        "range.\n\n"
        "size: bytes, a multiple of mem_get_allocation_granularity().\n"
        "alignment: the alignment of the first address in bytes; 0 is the granularity.\n"
        "address: the wanted first address; 0 lets the driver choose.\n\n"
        "The object is a kernel argument and an operand of copies, like other device memory. A "
        "part of the range can be accessed\n"
        "after map() and set_access().\n\n"
        ">>> range = cuda.VirtualMemory(1 << 30)\n"
        ">>> range.map(memory)\n"
        ">>> range.set_access(device)")
        .def(nb::init<std::size_t, std::size_t, CUdeviceptr>(), nb::arg("size"),
             nb::arg("alignment") = 0, nb::arg("address") = 0)
        .def("map", &VirtualMemory::map, nb::lock_self(), nb::arg("memory"), nb::arg("offset") = 0,
             "Map a PhysicalMemory to a part of the range. set_access() must follow before any "
             "access.\n\n"
             "memory: the memory. All of it is mapped.\n"
             "offset: bytes from the begin of the range to the mapping.\n\n"
             "Raises LogicError if a part of the target is already mapped.")
        .def("unmap", &VirtualMemory::unmap, nb::lock_self(), nb::arg("offset") = 0,
             "Unmap the memory at an offset.\n\n"
             "offset: bytes from the begin of the range, as in map().\n\n"
             "The call does not wait: all work that uses the memory must be done. Raises "
             "LogicError if nothing is mapped there.")
        .def(
            "set_access",
            [](VirtualMemory &range, const Device &device, int access,
               std::optional<std::size_t> offset) {
                range.set_access(device, CUmemAccess_flags(access), offset);
            },
            nb::lock_self(), nb::arg("device"),
            nb::arg("access") = int{CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
            nb::arg("offset") = nb::none(),
            "Set the access of a device to the mapped memory.\n\n"
            "device: the Device.\n"
            "access: a member of mem_access; the default allows reads and writes.\n"
            "offset: the offset of one mapping in bytes; None is all mappings.")
        .def(
            "get_access",
            [](const VirtualMemory &range, const Device &device, std::size_t offset) {
                return enum_member("mem_access", int{range.access(device, offset)});
            },
            nb::lock_self(), nb::arg("device"), nb::arg("offset") = 0,
            "The access of a device to mapped memory: a member of mem_access.\n\n"
            "device: the Device.\n"
            "offset: bytes from the begin of the range.")
        .def("close", &VirtualMemory::close, nb::lock_self(),
             "Unmap all memory and free the addresses. A second call does nothing.")
        .def_prop_ro("size", &VirtualMemory::size, "The size of the range in bytes.")
        .def("__int__", &VirtualMemory::get)
        .def("__index__", &VirtualMemory::get)
        .def("__enter__", [](nb::object self) { return self; })
        .def(
            "__exit__", [](VirtualMemory &range, nb::args) { range.close(); }, nb::lock_self())
        .def("__repr__", represent);
}

} // namespace pycuda::python
