// foreign_array.cpp -- arrays of other libraries as kernel arguments: torch, CuPy, Numba, JAX ...
#include "memory/foreign_array.h"

#include "launch/element_check.h"
#include "support/dlpack.h"
#include "support/names.h"
#include "support/python_object.h"

#include <pycuda/known_address.h>

#include <nanobind/stl/string.h>

#include <atomic>
#include <cstring>

namespace pycuda::python {
namespace {

nb::object attribute(nb::handle object, PyObject *name) {
    nb::object found = made(PyObject_GetAttr(object.ptr(), name));
    return found;
}

[[noreturn]] void reject_host_array(nb::handle value, const Packing &packing) {
    packing.block.reject("a " + name_of_type(value) +
                         ", which is in host memory; copy it to the device first");
}

/// Pushes the array's address, unless the array belongs to another driver than the launch.
void push_address(CUdeviceptr address, nb::handle value, Packing &packing) {
    if (!knows_address(address)) [[unlikely]]
        packing.block.reject("a " + name_of_type(value) + " at " +
                             describe_unknown_address(address));
    packing.staged.keep_in_graph(value);
    packing.block.push_pointer(address);
}

// DLPack.

char numpy_kind(const dlpack::DataType &type) {
    switch (type.code) {
    case dlpack::Int:
        return 'i';
    case dlpack::UInt:
        return 'u';
    case dlpack::Float:
        return 'f';
    case dlpack::Complex:
        return 'c';
    case dlpack::Bool:
        return 'b';
    default:
        return 'V'; // any type: not checked against the kernel's declaration
    }
}

void push_tensor(const dlpack::Tensor &tensor, nb::handle value, Packing &packing) {
    if (tensor.device.type != dlpack::Cuda && tensor.device.type != dlpack::CudaHost &&
        tensor.device.type != dlpack::CudaManaged)
        reject_host_array(value, packing);
    check_elements(packing.function, packing.block.count(), numpy_kind(tensor.dtype),
                   tensor.dtype.bits * std::size_t{tensor.dtype.lanes} / 8);
    push_address(reinterpret_cast<CUdeviceptr>(tensor.data) + tensor.byte_offset, value, packing);
}

void pack_by_exchange(const ArgumentType &type, PyObject *value, Packing &packing) {
    const dlpack::ExchangeApi &exchange = *type.exchange;
    dlpack::Tensor tensor{};
    if (exchange.tensor_from_object(value, &tensor) != 0)
        throw nb::python_error();
    push_tensor(tensor, value, packing);
    if (tensor.device.type != dlpack::Cuda)
        return;
    void *stream = nullptr;
    if (exchange.current_work_stream(tensor.device.type, tensor.device.id, &stream) != 0)
        throw nb::python_error();
    packing.staged.use().follow(static_cast<CUstream>(stream));
}

/// The type's functions for this version of DLPack; null if it has none that can be used.
const dlpack::ExchangeApi *exchange_api_of(nb::handle type) {
    nb::object capsule = optional_attribute(type, "__dlpack_c_exchange_api__");
    constexpr const char *name = "dlpack_exchange_api";
    if (!capsule.is_valid() || !PyCapsule_IsValid(capsule.ptr(), name))
        return nullptr;
    const auto *api =
        static_cast<const dlpack::ExchangeApi *>(PyCapsule_GetPointer(capsule.ptr(), name));
    while (api && api->version.major != 1)
        api = api->previous;
    return api && api->tensor_from_object && api->current_work_stream ? api : nullptr;
}

/// Uses a capsule for each call; the producer makes our stream wait for its work.
void pack_by_capsule(const ArgumentType &, PyObject *value, Packing &packing) {
    nb::object device = nb::handle(value).attr("__dlpack_device__")();
    const auto kind = dlpack::DeviceType(nb::cast<int>(nb::object(device[0])));
    if (kind != dlpack::Cuda && kind != dlpack::CudaHost && kind != dlpack::CudaManaged)
        reject_host_array(value, packing);
    const CUstream queue = packing.staged.queue().get();
    // 1 is DLPack's number of the default stream.
    const std::uintptr_t stream = queue ? reinterpret_cast<std::uintptr_t>(queue) : 1;
    nb::object capsule = kind == dlpack::Cuda
                             ? nb::handle(value).attr("__dlpack__")(nb::arg("stream") = stream)
                             : nb::handle(value).attr("__dlpack__")();
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned"))
        return push_tensor(static_cast<const dlpack::ManagedTensorVersioned *>(
                               PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"))
                               ->tensor,
                           value, packing);
    const void *managed = PyCapsule_GetPointer(capsule.ptr(), "dltensor");
    if (managed == nullptr)
        throw nb::python_error();
    push_tensor(static_cast<const dlpack::ManagedTensor *>(managed)->tensor, value, packing);
}

// torch.

void pack_torch_tensor(const ArgumentType &, PyObject *value, Packing &packing) {
    if (!attribute(value, names.is_cuda).is(nb::handle(Py_True)))
        reject_host_array(value, packing);
    check_elements(packing.function, packing.block.count(), attribute(value, names.dtype));
    PyObject *self[] = {value};
    nb::object address = made(PyObject_VectorcallMethod(names.data_ptr, self, 1, nullptr));
    push_address(unsigned_integer(address), value, packing);
}

bool is_torch_tensor(nb::handle type) {
    nb::object module = optional_attribute(type, "__module__");
    return module.is_valid() && nb::isinstance<nb::str>(module) &&
           nb::cast<std::string>(module).starts_with("torch") && nb::hasattr(type, "data_ptr") &&
           nb::hasattr(type, "is_cuda");
}

// CuPy.

/// cupy.cuda.get_current_stream; set before the first value is packed.
std::atomic<PyObject *> cupy_current_stream = nullptr;

/// CuPy creates a dictionary at each access to its array interface; this reads the members
/// directly.
void pack_cupy_array(const ArgumentType &, PyObject *value, Packing &packing) {
    check_elements(packing.function, packing.block.count(), attribute(value, names.dtype));
    push_address(unsigned_integer(attribute(attribute(value, names.data), names.ptr)), value,
                 packing);
    if (!packing.cupy_stream) {
        nb::object stream = made(PyObject_CallNoArgs(cupy_current_stream));
        packing.cupy_stream =
            reinterpret_cast<CUstream>(unsigned_integer(attribute(stream, names.ptr)));
        packing.staged.use().follow(*packing.cupy_stream); // once for all arrays of the call
    }
}

PackArgument cupy_packer() {
    const nb::object cuda = nb::module_::import_("cupy").attr("cuda");
    cupy_current_stream = nb::object(cuda.attr("get_current_stream")).release().ptr();
    return pack_cupy_array;
}

/// Whether the type is cupy.ndarray itself. In a subclass, `data` may have another meaning.
bool is_cupy_array(nb::handle type) {
    nb::object module = optional_attribute(type, "__module__");
    nb::object name = optional_attribute(type, "__qualname__");
    return module.is_valid() && name.is_valid() && module.equal(nb::str("cupy")) &&
           name.equal(nb::str("ndarray"));
}

// __cuda_array_interface__.

PyObject *item(PyObject *interface, PyObject *name, nb::handle value) {
    PyObject *found = PyDict_GetItemWithError(interface, name); // borrowed
    if (found == nullptr && PyErr_Occurred())
        throw nb::python_error();
    if (found == nullptr)
        throw_type_error("the __cuda_array_interface__ of a " + name_of_type(value) + " has no \"" +
                         nb::cast<std::string>(nb::handle(name)) + "\"");
    return found;
}

void pack_interface(PyObject *interface, nb::handle value, Packing &packing) {
    check_elements(packing.function, packing.block.count(), item(interface, names.typestr, value));
    nb::object address = made(PySequence_GetItem(item(interface, names.data, value), 0));
    push_address(unsigned_integer(address), value, packing);
    if (CUstream producer = stream_of_interface(interface, value))
        packing.staged.use().follow(producer);
}

void pack_by_interface(const ArgumentType &, PyObject *value, Packing &packing) {
    if (!try_array_interface(value, packing))
        packing.block.reject("a " + name_of_type(value) +
                             " without __cuda_array_interface__, which is in host memory");
}

} // namespace

CUstream stream_of_interface(PyObject *interface, nb::handle owner) {
    PyObject *mask = PyDict_GetItemWithError(interface, names.mask); // borrowed
    if (mask == nullptr && PyErr_Occurred())
        throw nb::python_error();
    if (mask != nullptr && mask != Py_None)
        throw_type_error("a " + name_of_type(owner) +
                         " has a mask, which kernels and GPUArrays do not support");
    PyObject *stream = PyDict_GetItemWithError(interface, names.stream); // borrowed
    if (stream == nullptr && PyErr_Occurred())
        throw nb::python_error();
    if (stream == nullptr || stream == Py_None)
        return nullptr;
    return reinterpret_cast<CUstream>(
        unsigned_integer(stream)); // 1 and 2 are handles of CUDA's default streams
}

bool try_array_interface(nb::handle value, Packing &packing) {
    nb::object interface = nb::steal(PyObject_GetAttr(value.ptr(), names.cuda_array_interface));
    if (!interface.is_valid()) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            throw nb::python_error();
        PyErr_Clear();
        return false;
    }
    if (!PyDict_Check(interface.ptr()))
        return false;
    pack_interface(interface.ptr(), value, packing);
    return true;
}

std::optional<ArgumentType> recognise_foreign_array(PyTypeObject *python_type) {
    const nb::handle type = reinterpret_cast<PyObject *>(python_type);
    ArgumentType found{python_type, nullptr, {}, 0, true};
    if ((found.exchange = exchange_api_of(type)))
        found.pack = pack_by_exchange;
    else if (is_torch_tensor(type))
        found.pack = pack_torch_tensor;
    else if (is_cupy_array(type))
        found.pack = cupy_packer();
    else if (nb::hasattr(type, "__cuda_array_interface__"))
        found.pack = pack_by_interface;
    else if (nb::hasattr(type, "__dlpack__") && nb::hasattr(type, "__dlpack_device__"))
        found.pack = pack_by_capsule;
    else
        return std::nullopt;
    return found;
}

} // namespace pycuda::python
