// array_allocation.cpp -- a DeviceAllocation for a block of the pool, as PyCUDA's programs expect.
#include "arrays/array_allocation.h"

#include "launch/argument_types.h"
#include "memory/device_memory.h"

#include <nanobind/stl/string.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <utility>

namespace pycuda::python {
namespace {

PyObject *mem_alloc_function = nullptr; ///< set once, when the module is initialised

std::string describe(const ArrayAllocation &memory) {
    if (memory.freed())
        return "<pycuda.driver.ArrayMemory, freed>";
    char text[96];
    std::snprintf(text, sizeof text, "<pycuda.driver.ArrayMemory of %zu bytes at 0x%llx>",
                  memory.size(), static_cast<unsigned long long>(memory.get()));
    return text;
}

void pack_array_allocation(const ArgumentType &, PyObject *value, Packing &packing) {
    packing.block.push_pointer(
        packing.staged.use().use(nb::inst_ptr<ArrayAllocation>(value)->memory()));
}

} // namespace

ArrayAllocation::ArrayAllocation(std::shared_ptr<ArrayMemory> memory)
    : DeviceMemory(DeviceMemory::borrow(memory->freed() ? 0 : memory->get(), memory->size(),
                                        memory->context()->context())),
      memory_(std::move(memory)) {}

nb::object kept_allocation(PyObject *&slot, const std::shared_ptr<ArrayMemory> &memory) {
    std::atomic_ref<PyObject *> kept(slot);
    if (PyObject *known = kept.load(std::memory_order_acquire))
        return nb::borrow(known);
    nb::object made = nb::cast(ArrayAllocation(memory));
    PyObject *first = nullptr; // another thread may have stored one first
    if (!kept.compare_exchange_strong(first, made.ptr()))
        return nb::borrow(first);
    return nb::borrow(made.release());
}

const ArrayAllocation *find_array_allocation(nb::handle object) {
    static const nb::handle type = nb::type<ArrayAllocation>();
    return object.type().is(type) ? nb::inst_ptr<ArrayAllocation>(object) : nullptr;
}

nb::object default_allocator() { return nb::borrow(mem_alloc_function); }

bool is_default_allocator(nb::handle allocator) {
    return allocator.is_none() || allocator.ptr() == mem_alloc_function;
}

void bind_array_allocation(nb::module_ &module) {
    mem_alloc_function = nb::object(module.attr("mem_alloc")).release().ptr();
    nb::class_<ArrayAllocation, DeviceMemory>(
        module, "ArrayMemory",
        "The memory of GPUArrays: a DeviceAllocation from the memory pool that arrays share.\n\n"
        "``GPUArray.gpudata`` returns the object. Views of an array share it.")
        .def("free", &ArrayAllocation::free, nb::lock_self(),
             "Return the memory to the pool now. All arrays that use the memory become invalid.\n\n"
             "Raises LogicError if the memory was freed before.")
        .def(
            "as_buffer",
            [](nb::handle self, std::size_t size, std::size_t offset) {
                const auto &memory = nb::cast<const ArrayAllocation &>(self);
                return host_view(self, memory.get(), memory.size(), size, offset);
            },
            nb::arg("size"), nb::arg("offset") = 0,
            "A memoryview of the memory, for memory that the host can access (managed memory, "
            "softcuda).\n\n"
            "size: its length in bytes.\n"
            "offset: bytes from the begin of the memory.")
        .def("__int__", &ArrayAllocation::get)
        .def("__index__", &ArrayAllocation::get)
        .def("__long__", &ArrayAllocation::get)
        .def("__len__", &ArrayAllocation::size)
        .def("__bool__", [](const ArrayAllocation &) { return true; })
        .def("__repr__", describe)
        .def_prop_ro("size", &ArrayAllocation::size, "The requested size in bytes.");
    ArgumentTypes::add({reinterpret_cast<PyTypeObject *>(nb::type<ArrayAllocation>().ptr()),
                        pack_array_allocation,
                        {},
                        0,
                        true});
}

} // namespace pycuda::python
