// array_exchange.cpp -- exchanges arrays with other libraries through DLPack.
#include "arrays/array_object.h"
#include "arrays/array_scope.h"

#include "memory/work_scope.h"
#include "support/dlpack.h"
#include "support/python_object.h"

#include <pycuda/device.h>
#include <pycuda/driver_calls.h>
#include <pycuda/work.h>

#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pycuda::python {
namespace {

constexpr const char *plain_name = "dltensor";
constexpr const char *versioned_name = "dltensor_versioned";
constexpr std::uint64_t flag_read_only = 1;
constexpr std::uint64_t flag_copied = 2;

[[noreturn]] void throw_buffer_error(const std::string &message) {
    PyErr_SetString(PyExc_BufferError, message.c_str());
    throw nb::python_error();
}

// Types.

dlpack::DataType dlpack_type(ScalarType type) {
    auto of = [&](dlpack::TypeCode code) {
        return dlpack::DataType{code, static_cast<std::uint8_t>(8 * item_size(type)), 1};
    };
    if (type == ScalarType::BFloat16)
        return of(dlpack::BFloat);
    switch (type_class(type)) {
    case TypeClass::Bool:
        return of(dlpack::Bool);
    case TypeClass::Signed:
        return of(dlpack::Int);
    case TypeClass::Unsigned:
        return of(dlpack::UInt);
    case TypeClass::Float:
        return of(dlpack::Float);
    case TypeClass::Complex:
        return of(dlpack::Complex);
    case TypeClass::Opaque:
        break;
    }
    throw_buffer_error("DLPack has no type for elements that are structs");
}

ScalarType scalar_type(const dlpack::DataType &wanted) {
    for (int i = 0; i < scalar_type_count; ++i) {
        const auto type = static_cast<ScalarType>(i);
        const dlpack::DataType own = dlpack_type(type);
        if (own.code == wanted.code && own.bits == wanted.bits && wanted.lanes == 1)
            return type;
    }
    throw_buffer_error("a GPUArray has no elements of DLPack's type code " +
                       std::to_string(wanted.code) + " with " + std::to_string(wanted.bits) +
                       " bits and " + std::to_string(wanted.lanes) + " lanes");
}

// Export.

/// The objects that an exported tensor needs until the consumer releases it: memory, shape,
/// strides.
template <class Managed> struct Lent {
    Managed managed{};
    Array array;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides; ///< in elements

    Lent(const Array &lent, CUdeviceptr address)
        : array(lent), shape(lent.shape().begin(), lent.shape().end()) {
        const auto item = static_cast<std::int64_t>(lent.item_size());
        for (std::int64_t stride : lent.layout().strides()) {
            if (stride % item != 0)
                throw_buffer_error("a stride of " + std::to_string(stride) +
                                   " bytes is not a multiple of the element size, " +
                                   std::to_string(item) +
                                   " bytes: DLPack counts strides in elements");
            strides.push_back(stride / item);
        }
        managed.manager = this;
        managed.deleter = [](Managed *given_back) {
            delete static_cast<Lent *>(given_back->manager);
        };
        dlpack::Tensor &tensor = managed.tensor;
        tensor.data = reinterpret_cast<void *>(lent.size() ? address : 0);
        tensor.device = {dlpack::Cuda, lent.context()->context().device().get()};
        tensor.ndim = lent.dimensions();
        tensor.dtype = dlpack_type(lent.scalar_type());
        tensor.shape = shape.data();
        tensor.strides = strides.data();
    }
};

/// A capsule that was not consumed releases the tensor itself.
template <class Managed> void destroy_capsule(PyObject *capsule, const char *name) {
    if (!PyCapsule_IsValid(capsule, name))
        return; // consumed: the consumer has renamed it
    auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
    managed->deleter(managed);
}

template <class Managed>
nb::object make_capsule(std::unique_ptr<Lent<Managed>> lent, const char *name,
                        PyCapsule_Destructor destroy) {
    nb::object capsule = made(PyCapsule_New(&lent->managed, name, destroy));
    static_cast<void>(lent.release());
    return capsule;
}

/// Makes the consumer's stream wait for our work. The numbers are DLPack's. Recorded work does not
/// run, so only a stream that is captured, too, can wait for it.
void order_for_borrower(nb::handle stream, const Work &work) {
    std::intptr_t number = 1; // None: the default stream
    if (!stream.is_none() && !nb::try_cast(stream, number))
        throw_type_error("stream must be None, -1, 1, 2 or a stream's handle as an int, not " +
                         name_of_type(stream));
    if (number == 0 || number < -1)
        throw_value_error("stream must be -1, 1, 2 or a stream's handle, not " +
                          std::to_string(number) + "; in DLPack the default stream is 1");
    if (number == -1)
        return;
    const StreamRef borrower(number == 2 ? CU_STREAM_PER_THREAD
                                         : reinterpret_cast<CUstream>(number));
    if (borrower.get() == work.stream().get())
        return;
    if (borrower.is_default() || !is_capturing(borrower.get()))
        work.require_running("__dlpack__()");
    Work(borrower).follow(work.stream());
}

nb::object array_to_dlpack(nb::handle self, nb::handle stream, bool versioned, bool copied) {
    const Array &array = require_array(self, "self");
    if (!array.memory())
        throw_buffer_error("the array has no memory");
    if (!versioned && !array.is_writable())
        throw_buffer_error("the array is read-only, which DLPack describes from version 1.0 on; "
                           "the consumer must pass max_version=(1, 0) or request a copy");
    Work work(current_stream());
    const CUdeviceptr address = work.lend(array);
    order_for_borrower(stream, work);
    if (!versioned)
        return make_capsule(
            std::make_unique<Lent<dlpack::ManagedTensor>>(array, address), plain_name,
            [](PyObject *capsule) { destroy_capsule<dlpack::ManagedTensor>(capsule, plain_name); });
    auto lent = std::make_unique<Lent<dlpack::ManagedTensorVersioned>>(array, address);
    lent->managed.version = {1, 1};
    lent->managed.flags = (copied ? flag_copied : 0) | (array.is_writable() ? 0 : flag_read_only);
    return make_capsule(std::move(lent), versioned_name, [](PyObject *capsule) {
        destroy_capsule<dlpack::ManagedTensorVersioned>(capsule, versioned_name);
    });
}

int array_device(nb::handle self) {
    const Array &array = require_array(self, "self");
    const std::shared_ptr<ArrayContext> &context =
        array.memory() ? array.context() : ArrayContext::current();
    return context->context().device().get();
}

/// The context in which the Python part of a function must run: the array's context, unless it is
/// current.
std::optional<Context> array_context(nb::handle self) {
    const Array &array = require_array(self, "self");
    if (!array.memory() || array.context()->context().is_current())
        return std::nullopt;
    return array.context()->context();
}

// Import.

Layout layout_of(const dlpack::Tensor &tensor, std::size_t item_size) {
    if (tensor.ndim > 0 && tensor.shape == nullptr)
        throw_buffer_error("the tensor has no shape");
    const std::span<const std::int64_t> shape(tensor.shape, static_cast<std::size_t>(tensor.ndim));
    Layout layout = Layout::contiguous(shape, item_size);
    if (tensor.strides != nullptr)
        for (int axis = 0; axis < tensor.ndim; ++axis)
            layout.set(axis, tensor.shape[axis],
                       tensor.strides[axis] * static_cast<std::int64_t>(item_size));
    return layout;
}

void check_device(const dlpack::Device &device, const ArrayContext &context) {
    if (device.type != dlpack::Cuda && device.type != dlpack::CudaHost &&
        device.type != dlpack::CudaManaged)
        throw_buffer_error("a tensor on a device of DLPack type " + std::to_string(device.type) +
                           " cannot become a GPUArray");
    const int current = context.context().device().get();
    if (device.type == dlpack::Cuda && device.id != current)
        throw_buffer_error("the tensor is on device " + std::to_string(device.id) +
                           ", but the current context is on device " + std::to_string(current));
}

template <class Managed> nb::object borrow(nb::handle capsule, const char *name, const char *used) {
    auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (managed == nullptr)
        throw nb::python_error();
    const dlpack::Tensor &tensor = managed->tensor;
    const std::shared_ptr<ArrayContext> &context = ArrayContext::current();
    check_device(tensor.device, *context);
    const DType dtype = scalar_type(tensor.dtype);
    const Layout layout = layout_of(tensor, dtype.item_size());
    const CUdeviceptr address = reinterpret_cast<CUdeviceptr>(tensor.data) + tensor.byte_offset;
    if (tensor.data == nullptr && layout.size() != 0)
        throw_buffer_error("the tensor has elements, but no memory");

    // From here, this code must release the tensor.
    PyCapsule_SetName(capsule.ptr(), used);
    nb::object tensor_owner = nb::capsule(managed, [](void *borrowed) noexcept {
        auto *tensor = static_cast<Managed *>(borrowed);
        if (tensor->deleter != nullptr && driver_is_usable())
            tensor->deleter(tensor); // it may use Python objects
    });
    std::shared_ptr<void> owner = keep_lender(std::move(tensor_owner), context->context());
    const Layout::ByteRange range = layout.byte_range(dtype.item_size());
    auto memory =
        ArrayMemory::borrow(context, address + static_cast<CUdeviceptr>(range.begin),
                            static_cast<std::size_t>(range.end - range.begin), std::move(owner));
    return wrap_array(Array(std::move(memory), address, dtype, layout));
}

/// A view of a read-only array, so that flags.writeable is False.
nb::object as_read_only(nb::object borrowed) {
    array_of(borrowed).set_writable(false);
    return view_of(borrowed, array_of(borrowed).layout(), 0);
}

nb::object array_from_dlpack(nb::handle capsule) {
    if (PyCapsule_IsValid(capsule.ptr(), versioned_name)) {
        const auto *managed = static_cast<const dlpack::ManagedTensorVersioned *>(
            PyCapsule_GetPointer(capsule.ptr(), versioned_name));
        if (managed->version.major != 1)
            throw_buffer_error("DLPack version " + std::to_string(managed->version.major) +
                               " is not supported, expected version 1");
        const bool read_only = (managed->flags & flag_read_only) != 0;
        nb::object borrowed = borrow<dlpack::ManagedTensorVersioned>(capsule, versioned_name,
                                                                     "used_dltensor_versioned");
        return read_only ? as_read_only(std::move(borrowed)) : borrowed;
    }
    return borrow<dlpack::ManagedTensor>(capsule, plain_name, "used_dltensor");
}

} // namespace

void bind_array_exchange(nb::module_ &module) {
    module.def("_array_to_dlpack", in_work_scope(array_to_dlpack), nb::arg("self"),
               nb::arg("stream").none(), nb::arg("versioned"), nb::arg("copied"));
    module.def("_array_from_dlpack", array_from_dlpack);
    module.def("_array_context", array_context,
               "The context of the array where it is not current in this thread, else None.");
    module.def("_array_device", array_device, "The number of the device that the array is on.");
}

} // namespace pycuda::python
