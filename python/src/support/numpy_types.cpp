// numpy_types.cpp -- gets the layout of numpy's scalar types from numpy.
#include "support/numpy_types.h"

#include <atomic>
#include <memory>
#include <vector>

namespace pycuda::python {
namespace {

struct NamedKind {
    const char *name;
    ValueKind kind;
};

/// One entry for each C type, because numpy has two types if two C types have the same size.
constexpr NamedKind scalar_kinds[] = {
    {"bool_", ValueKind::Unsigned},     {"byte", ValueKind::Signed},
    {"ubyte", ValueKind::Unsigned},     {"short", ValueKind::Signed},
    {"ushort", ValueKind::Unsigned},    {"intc", ValueKind::Signed},
    {"uintc", ValueKind::Unsigned},     {"int_", ValueKind::Signed},
    {"uint", ValueKind::Unsigned},      {"longlong", ValueKind::Signed},
    {"ulonglong", ValueKind::Unsigned}, {"int64", ValueKind::Signed},
    {"uint64", ValueKind::Unsigned},    {"float16", ValueKind::Float},
    {"float32", ValueKind::Float},      {"float64", ValueKind::Float},
    {"longdouble", ValueKind::Float},   {"complex64", ValueKind::Bytes},
    {"complex128", ValueKind::Bytes},
};

struct Numpy {
    PyTypeObject *ndarray = nullptr;
    PyTypeObject *record = nullptr;
    PyTypeObject *generic = nullptr;
    std::vector<NumpyScalar> scalars;
};

/// The position of the value in scalars of `type`. Throws if the value is not inside the object.
NumpyScalar examine(nb::handle type, ValueKind kind) {
    nb::object sample = type(1);
    Py_buffer view;
    if (PyObject_GetBuffer(sample.ptr(), &view, PyBUF_SIMPLE) != 0)
        throw nb::python_error();
    auto start = reinterpret_cast<std::uintptr_t>(sample.ptr());
    auto value = reinterpret_cast<std::uintptr_t>(view.buf);
    NumpyScalar scalar{reinterpret_cast<PyTypeObject *>(type.ptr()),
                       static_cast<std::uint32_t>(value - start),
                       static_cast<std::uint32_t>(view.len), kind};
    PyBuffer_Release(&view);
    if (value < start || value - start > 256)
        throw nb::import_error(
            "this version of numpy stores its scalars in a layout that PyCUDA does not know");
    return scalar;
}

PyTypeObject *type_named(nb::handle numpy, const char *name) {
    return reinterpret_cast<PyTypeObject *>(nb::object(numpy.attr(name)).release().ptr());
}

/// Null until the import of numpy is complete.
const Numpy *loaded_numpy() {
    static constinit std::atomic<const Numpy *> loaded =
        nullptr; // never freed, used until the process ends
    if (const Numpy *known = loaded.load(std::memory_order_acquire))
        return known;
    nb::dict modules = nb::borrow<nb::dict>(nb::module_::import_("sys").attr("modules"));
    if (!modules.contains("numpy"))
        return nullptr;
    nb::object numpy = modules["numpy"];
    if (!nb::hasattr(numpy, "float32") || !nb::hasattr(numpy, "longdouble"))
        return nullptr;
    auto found = std::make_unique<Numpy>(type_named(numpy, "ndarray"), type_named(numpy, "void"),
                                         type_named(numpy, "generic"));
    for (const NamedKind &named : scalar_kinds) {
        nb::object type = numpy.attr(named.name);
        found->scalars.push_back(examine(type.release(), named.kind));
    }
    const Numpy *first = nullptr; // another thread may have stored one first
    return loaded.compare_exchange_strong(first, found.get()) ? found.release() : first;
}

bool is_instance(nb::handle object, PyTypeObject *type) {
    return PyObject_TypeCheck(object.ptr(), type);
}

} // namespace

bool is_numpy_array(nb::handle object) {
    const Numpy *numpy = loaded_numpy();
    return numpy && is_instance(object, numpy->ndarray);
}

bool is_numpy_record(nb::handle object) {
    const Numpy *numpy = loaded_numpy();
    return numpy && is_instance(object, numpy->record);
}

bool is_numpy_generic(nb::handle object) {
    const Numpy *numpy = loaded_numpy();
    return numpy && is_instance(object, numpy->generic);
}

bool is_numpy_bool(const PyTypeObject *type) {
    const Numpy *numpy = loaded_numpy();
    return numpy && numpy->scalars.front().type == type; // the first of scalar_kinds
}

std::span<const NumpyScalar> numpy_scalars() {
    const Numpy *numpy = loaded_numpy();
    return numpy ? std::span<const NumpyScalar>(numpy->scalars) : std::span<const NumpyScalar>();
}

} // namespace pycuda::python
