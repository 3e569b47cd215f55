// device_pointer.cpp -- converts Python objects to device pointers and streams.
#include "memory/device_pointer.h"

#include "arrays/array_allocation.h"
#include "arrays/array_object.h"
#include "arrays/array_scope.h"
#include "memory/device_memory.h"
#include "memory/foreign_array.h"
#include "support/numpy_types.h"
#include "support/python_object.h"

#include <pycuda/cuda_array.h>
#include <pycuda/known_address.h>
#include <pycuda/memory.h>
#include <pycuda/memory_pool.h>

namespace pycuda::python {
namespace {
/// What is done with the addresses that are found. The default is nothing: the caller keeps the
/// memory alive itself.
struct Use {
    Work *work = nullptr;
    Access access = Access::Read;
    const char *what = "";

    CUdeviceptr array_memory(const std::shared_ptr<ArrayMemory> &memory) const {
        return work != nullptr ? work->use(memory) : memory->get();
    }
    CUdeviceptr array(const Array &array) const {
        if (access == Access::Write)
            array.require_writable(what);
        return work == nullptr ? array.ptr() : work->read(array);
    }
    /// Memory whose owner returns it in no stream's order.
    CUdeviceptr plain(CUdeviceptr address, nb::handle owner) const {
        if (work != nullptr && work->is_captured()) [[unlikely]]
            work->keep_in_graph(keep_alive(nb::borrow(owner)));
        return address;
    }
    /// Memory that an object of the program holds, in its own way.
    void keep(nb::handle holder) const {
        if (work != nullptr)
            work->keep_until_done(keep_alive(nb::borrow(holder)));
    }
    CUdeviceptr interface(nb::handle owner, const nb::dict &interface) const {
        const nb::object data = interface["data"];
        const CUdeviceptr address = unsigned_integer(nb::object(data[0]));
        if (!knows_address(address))
            throw_value_error("a " + name_of_type(owner) + " at " +
                              describe_unknown_address(address));
        if (access == Access::Write && nb::cast<bool>(nb::bool_(nb::object(data[1]))))
            throw_value_error(std::string(what) + " is a " + name_of_type(owner) +
                              ", which is read-only");
        const CUstream producer = stream_of_interface(interface.ptr(), owner);
        if (work == nullptr)
            return address;
        if (producer != nullptr)
            work->follow(producer);
        return plain(address, owner);
    }
};

std::optional<CUdeviceptr> find(nb::handle object, const Use &use) {
    if (const ArrayAllocation *memory = find_array_allocation(object))
        return use.array_memory(memory->memory());
    if (const DeviceMemory * memory; nb::try_cast(object, memory) && memory)
        return use.plain(memory->get(), object);
    if (const PooledMemory * memory; nb::try_cast(object, memory) && memory)
        return use.plain(memory->get(), object);
    if (is_array(object)) // an array of a single integer has __index__ too
        return use.array(array_of(object));
    if (nb::isinstance<PointerHolder>(object)) {
        use.keep(object);
        return find(pointer_of(object), use);
    }
    if (PyIndex_Check(object.ptr()) && !is_numpy_array(object))
        return use.plain(unsigned_integer(object), object);
    if (nb::object interface = optional_attribute(object, "__cuda_array_interface__");
        interface.is_valid() && nb::isinstance<nb::dict>(interface))
        return use.interface(object, nb::borrow<nb::dict>(interface));
    if (nb::object gpudata = optional_attribute(object, "gpudata"); gpudata.is_valid())
        return gpudata.is_none() ? CUdeviceptr{0} : find(gpudata, use);
    return std::nullopt;
}

[[noreturn]] void refuse(nb::handle object, const char *what) {
    std::string message = std::string(what) +
                          " must be memory of the device (from mem_alloc, a GPUArray, or an "
                          "address as an int), not " +
                          name_of_type(object);
    if (PyObject_CheckBuffer(object.ptr()))
        message += ", which is in host memory";
    if (PyTuple_Check(object.ptr()) && PyTuple_Size(object.ptr()) == 2)
        message += "; get_global() returns an address and a number of bytes, pass the first one";
    throw_type_error(message);
}

} // namespace

std::optional<CUdeviceptr> find_device_address(nb::handle object) { return find(object, {}); }

std::optional<CUdeviceptr> find_device_address(nb::handle object, const char *what, Work &work,
                                               Access access) {
    return find(object, {&work, access, what});
}

CUdeviceptr device_address(nb::handle object, const char *what, Access access) {
    if (std::optional<CUdeviceptr> address = find(object, {nullptr, access, what}))
        return *address;
    refuse(object, what);
}

CUdeviceptr device_address(nb::handle object, const char *what, Work &work, Access access) {
    if (std::optional<CUdeviceptr> address = find_device_address(object, what, work, access))
        return *address;
    refuse(object, what);
}

void add_context(WorkContext &context, nb::handle object) {
    if (is_array(object))
        context.add(array_of(object));
    else if (const ArrayAllocation *block = find_array_allocation(object))
        context.add(block->memory()->context()->context());
    else if (const DeviceMemory * memory; nb::try_cast(object, memory) && memory)
        context.add(memory->context());
    else if (const PooledMemory * memory; nb::try_cast(object, memory) && memory)
        context.add(memory->context());
    else if (const CudaArray * array; nb::try_cast(object, array) && array)
        context.add(array->context());
}

StreamRef stream_ref(nb::handle object) {
    if (object.is_none())
        return current_stream();
    static const nb::handle stream_type = nb::type<Stream>();
    if (nb::handle(object.type()).is(stream_type)) [[likely]]
        return *nb::inst_ptr<Stream>(object);
    if (const Stream * stream; nb::try_cast(object, stream) && stream)
        return *stream;
    if (nb::object protocol = optional_attribute(object, "__cuda_stream__"); protocol.is_valid()) {
        nb::object version_and_handle = PyCallable_Check(protocol.ptr()) ? protocol() : protocol;
        return reinterpret_cast<CUstream>(
            nb::cast<std::uintptr_t>(nb::object(version_and_handle[1])));
    }
    throw_type_error("stream must be a pycuda.driver.Stream or None, not " + name_of_type(object));
}

} // namespace pycuda::python
