// device_pointer.cpp -- converts Python objects to device pointers and streams.
#include "device_pointer.h"

#include "array_allocation.h"
#include "array_object.h"
#include "numpy_types.h"
#include "python_object.h"

#include <pycuda/known_address.h>
#include <pycuda/memory.h>
#include <pycuda/memory_pool.h>

namespace pycuda::python {
namespace {
CUdeviceptr address_of_interface(nb::handle array, nb::handle interface) {
    const CUdeviceptr address = unsigned_integer(nb::object(nb::object(interface["data"])[0]));
    if (!knows_address(address))
        throw_value_error("a " + name_of_type(array) + " at " + describe_unknown_address(address));
    return address;
}

} // namespace

std::optional<CUdeviceptr> find_device_address(nb::handle object) {
    if (const ArrayAllocation *memory = find_array_allocation(object))
        return memory->get();
    if (const DeviceMemory * memory; nb::try_cast(object, memory) && memory)
        return memory->get();
    if (const PooledMemory * memory; nb::try_cast(object, memory) && memory)
        return memory->get();
    if (is_array(object)) // an array of a single integer has __index__ too
        return array_of(object).unrecorded_address();
    if (PyIndex_Check(object.ptr()) && !is_numpy_array(object))
        return unsigned_integer(object);
    if (nb::object interface = optional_attribute(object, "__cuda_array_interface__");
        interface.is_valid() && nb::isinstance<nb::dict>(interface))
        return address_of_interface(object, interface);
    if (nb::object gpudata = optional_attribute(object, "gpudata"); gpudata.is_valid())
        return gpudata.is_none() ? CUdeviceptr{0} : find_device_address(gpudata);
    return std::nullopt;
}

CUdeviceptr device_address(nb::handle object, const char *what) {
    if (std::optional<CUdeviceptr> address = find_device_address(object))
        return *address;
    std::string message = std::string(what) +
                          " must be memory of the device (from mem_alloc, a GPUArray, or an "
                          "address as an int), not " +
                          name_of_type(object);
    if (PyObject_CheckBuffer(object.ptr()))
        message += ", which is in host memory";
    throw_type_error(message);
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
