// argument_packing.cpp -- packs arguments that are not in the table of types: subclasses, numpy
// arrays, records, arrays of other libraries. Also the error messages.
#include "launch/argument_types.h"

#include "launch/element_check.h"
#include "memory/device_memory.h"
#include "memory/device_pointer.h"
#include "memory/foreign_array.h"
#include "memory/host_memory.h"
#include "support/names.h"
#include "support/python_object.h"

#include <pycuda/memory_pool.h>

#include <nanobind/stl/string.h>

namespace pycuda::python {

namespace {

std::string describe_array(nb::handle array) {
    return "a " + name_of_type(array) + " of " +
           nb::cast<std::string>(nb::str(nb::object(array.attr("dtype")))) + " with shape " +
           nb::cast<std::string>(nb::str(nb::object(array.attr("shape"))));
}

/// True if kernels can access the array's memory: managed, pinned or registered memory.
bool is_reachable(nb::handle array) {
    nb::object base = array.attr("base");
    while (is_numpy_array(base))
        base = base.attr("base");
    if (const HostPointer * host; nb::try_cast(base, host) && host)
        return host->reach == HostPointer::Reach::Device;
    return nb::isinstance<ManagedAllocation>(base);
}

CUdeviceptr address_of(nb::handle array) {
    return nb::cast<CUdeviceptr>(nb::object(array.attr("ctypes").attr("data")));
}

/// Whether an array is passed by value, as a struct: an array without axes, or one for a parameter
/// that is known to be a struct. A parameter of unknown type and 8 bytes may be a pointer; one of
/// another size, or with a declared type, is not.
bool wanted_by_value(nb::handle array, const Parameter *wanted, const Packing &packing) {
    if (nb::cast<int>(array.attr("ndim")) == 0)
        return true;
    if (!wanted || wanted->kind == ValueKind::Bytes)
        return wanted;
    const ParameterLayout &layout = packing.function.function.layout();
    const bool may_be_pointer =
        wanted->size == sizeof(CUdeviceptr) && layout.type(packing.block.count()).empty();
    return wanted->kind == ValueKind::Unknown && !may_be_pointer &&
           nb::cast<std::size_t>(array.attr("nbytes")) == wanted->size;
}

/// The scalar in an array without axes, which is then checked like a scalar; invalid for a struct.
nb::object scalar_in(nb::handle array) {
    if (nb::cast<int>(array.attr("ndim")) != 0 || !array.attr("dtype").attr("names").is_none())
        return {};
    return array[nb::make_tuple()];
}

void pack_numpy_array(nb::handle array, Packing &packing) {
    if (const nb::object scalar = scalar_in(array); scalar.is_valid() && !is_numpy_array(scalar))
        return pack(scalar.ptr(), packing);
    const Parameter *wanted = packing.block.next_parameter();
    const bool pointer_wanted = !wanted || wanted->size == sizeof(CUdeviceptr);
    if (pointer_wanted && nb::cast<int>(array.attr("ndim")) != 0 && is_reachable(array)) {
        check_elements(packing.function, packing.block.count(), nb::object(array.attr("dtype")));
        return packing.block.push_pointer(address_of(array));
    }
    if (wanted_by_value(array, wanted, packing)) {
        HostBuffer bytes = HostBuffer::to_read(array, "an array by value");
        if (packing.block.try_push(bytes.data(), bytes.size(), ValueKind::Bytes))
            return;
        packing.block.reject(describe_array(array) + " (" + std::to_string(bytes.size()) +
                             " bytes)");
    }
    packing.block.reject(describe_array(array) +
                         ", which is in host memory; pass it as pycuda.driver.In(), Out() or "
                         "InOut(), or copy it to the device first (pycuda.gpuarray.to_gpu)");
}

void pack_record(nb::handle record, Packing &packing) {
    HostBuffer bytes = HostBuffer::to_read(record, "a record");
    const Parameter *wanted = packing.block.next_parameter();
    const bool is_pointer = wanted && wanted->kind == ValueKind::Pointer;
    if (is_pointer || !packing.block.try_push(bytes.data(), bytes.size(), ValueKind::Bytes))
        packing.block.reject("a " + name_of_type(record) + " of " + std::to_string(bytes.size()) +
                             " bytes");
}

/// Whether the value is a scalar of a type that numpy itself lacks: bfloat16 and other types of
/// ml_dtypes.
bool is_foreign_scalar(nb::handle value) {
    if (!nb::hasattr(value, "tobytes"))
        return false;
    return is_numpy_generic(value);
}

void pack_foreign_scalar(nb::handle value, Packing &packing) {
    const nb::bytes bytes = nb::cast<nb::bytes>(nb::object(value.attr("tobytes")()));
    const bool is_bfloat16 = name_of_type(value).ends_with("bfloat16");
    const ValueKind kind = is_bfloat16 ? ValueKind::BFloat16 : ValueKind::Bytes;
    if (!packing.block.try_push(bytes.data(), bytes.size(), kind))
        packing.block.reject("a " + name_of_type(value) + " (" + std::to_string(bytes.size()) +
                             " bytes)");
}

/// The class `name` of ctypes; invalid if the program has not imported ctypes.
nb::object ctypes_class(const char *name) {
    const nb::handle modules = PyImport_GetModuleDict(); // borrowed
    PyObject *module = PyDict_GetItemString(modules.ptr(), "_ctypes");
    return module ? nb::object(nb::handle(module).attr(name)) : nb::object();
}

bool is_of_ctypes(nb::handle value, const char *name) {
    const nb::object type = ctypes_class(name);
    return type.is_valid() && PyObject_IsInstance(value.ptr(), type.ptr()) == 1;
}

/// Packs a ctypes structure or union as a record, and a ctypes number as its value.
bool try_ctypes(nb::handle value, Packing &packing) {
    if (is_of_ctypes(value, "_SimpleCData")) {
        const nb::object number = value.attr("value");
        if (!PyLong_Check(number.ptr()) && !PyFloat_Check(number.ptr()))
            return false; // a character, a string, a null pointer
        return pack(number.ptr(), packing), true;
    }
    if (!is_of_ctypes(value, "Structure") && !is_of_ctypes(value, "Union"))
        return false;
    if (nb::hasattr(value, "_swappedbytes_"))
        packing.block.reject("a " + name_of_type(value) +
                             ", whose bytes are in the other order than the device's");
    pack_record(value, packing);
    return true;
}

/// Packs values of subclasses of the types in the table.
bool try_subclass(PyObject *value, Packing &packing) {
    if (PyLong_Check(value))
        return pack_int({}, value, packing), true;
    if (PyFloat_Check(value))
        return pack_float({}, value, packing), true;
    if (PyComplex_Check(value))
        return pack_complex({}, value, packing), true;
    return false;
}

bool is_handler(nb::handle value) {
    return nb::hasattr(value, "get_device_alloc") && nb::hasattr(value, "pre_call");
}

/// Compares the element type of the handler's array with the type that the kernel's pointer refers
/// to.
void check_elements_of_handler(nb::handle handler, std::size_t index, Packing &packing) {
    const nb::object array = made(PyObject_GetAttr(handler.ptr(), names.array));
    const nb::object dtype = nb::steal(PyObject_GetAttr(array.ptr(), names.dtype));
    if (dtype.is_valid())
        return check_elements(packing.function, index, dtype);
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
        throw nb::python_error();
    PyErr_Clear(); // a bytearray or another object without a dtype
}

} // namespace

void pack_handler(const ArgumentType &type, PyObject *value, Packing &packing) {
    const std::size_t index = packing.block.count();
    const CUdeviceptr address = packing.staged.add(value, type.direction, index);
    const Parameter *wanted = packing.block.next_parameter();
    if (wanted && wanted->element_size != 0)
        check_elements_of_handler(value, index, packing);
    packing.block.push_pointer(address);
}

void pack_other(PyObject *value, Packing &packing) {
    register_numpy_types();
    if (const ArgumentType *known = ArgumentTypes::find(Py_TYPE(value)))
        return known->pack(*known, value, packing); // added meanwhile by this thread or another
    if (is_numpy_array(value))
        return pack_numpy_array(value, packing);
    if (is_numpy_record(value))
        return pack_record(value, packing);
    if (is_foreign_scalar(value))
        return pack_foreign_scalar(value, packing);
    if (nb::isinstance<DeviceMemory>(value) || nb::isinstance<PooledMemory>(value))
        return packing.block.push_pointer(
            device_address(value, "argument", packing.staged.use(), Access::Read));
    if (is_handler(value))
        return packing.block.push_pointer(packing.staged.add_custom(value));
    if (std::optional<ArgumentType> array = recognise_foreign_array(Py_TYPE(value))) {
        ArgumentTypes::add_foreign(*array);
        return array->pack(*array, value, packing);
    }
    if (try_array_interface(value, packing) || try_subclass(value, packing) ||
        try_ctypes(value, packing))
        return;
    if (std::optional<CUdeviceptr> address =
            find_device_address(value, "argument", packing.staged.use(), Access::Read))
        return packing.block.push_pointer(*address);
    const bool is_sequence = PyList_Check(value) || PyTuple_Check(value);
    packing.block.reject(
        "a " + name_of_type(value) +
        (is_sequence ? "; make an array of it with numpy.array(..., dtype=...)" : ""));
}

} // namespace pycuda::python
