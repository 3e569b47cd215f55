// array_dtype.cpp -- conversions between numpy's dtype objects and core's types.
#include "arrays/array_object.h"

#include "support/python_object.h"

#include <pycuda/caller_lock.h>

#include <nanobind/stl/string.h>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace pycuda::python {
namespace {

/// numpy's dtype objects for the types of core, looked up once. bfloat16 comes from ml_dtypes.
nb::handle cached_dtype(ScalarType type) {
    static constinit std::array<std::atomic<PyObject *>, scalar_type_count> cache{};
    std::atomic<PyObject *> &entry = cache[static_cast<std::size_t>(type)];
    if (PyObject *known = entry.load(std::memory_order_acquire))
        return known;
    nb::object name = nb::cast(std::string(numpy_name(type)));
    if (type == ScalarType::BFloat16)
        name = nb::module_::import_("ml_dtypes").attr("bfloat16");
    nb::object dtype = nb::module_::import_("numpy").attr("dtype")(name);
    PyObject *first = nullptr; // another thread may have stored one first
    return entry.compare_exchange_strong(first, dtype.ptr()) ? dtype.release().ptr() : first;
}

ScalarType integer_of(std::size_t size, bool is_signed) {
    switch (size) {
    case 1:
        return is_signed ? ScalarType::Int8 : ScalarType::UInt8;
    case 2:
        return is_signed ? ScalarType::Int16 : ScalarType::UInt16;
    case 4:
        return is_signed ? ScalarType::Int32 : ScalarType::UInt32;
    default:
        return is_signed ? ScalarType::Int64 : ScalarType::UInt64;
    }
}

/// A copy of the name that is never destroyed, for a DType.
const char *kept_name(const std::string &name) {
    static CallerMutex mutex;
    static auto &names = *new std::set<std::string>;
    std::lock_guard lock(mutex);
    return names.insert(name).first->c_str();
}

DType examine(nb::handle dtype) {
    const char kind = nb::cast<std::string>(dtype.attr("kind"))[0];
    const auto size = nb::cast<std::size_t>(dtype.attr("itemsize"));
    if (!nb::cast<bool>(nb::object(dtype.attr("isnative"))))
        throw_type_error("arrays on the device have the machine's byte order; convert " +
                         nb::cast<std::string>(nb::str(dtype)) + " with .astype() first");
    if (kind == 'b')
        return ScalarType::Bool;
    if (kind == 'i' || kind == 'u')
        return integer_of(size, kind == 'i');
    if (kind == 'f' && (size == 2 || size == 4 || size == 8))
        return size == 2   ? ScalarType::Float16
               : size == 4 ? ScalarType::Float32
                           : ScalarType::Float64;
    if (kind == 'c' && (size == 8 || size == 16))
        return size == 8 ? ScalarType::Complex64 : ScalarType::Complex128;
    if (size == 2 && nb::cast<std::string>(dtype.attr("name")) == "bfloat16")
        return ScalarType::BFloat16;
    if (nb::cast<bool>(nb::object(dtype.attr("hasobject"))))
        throw_type_error("an array on the device cannot hold Python objects");
    if (size == 0) // sizes and strides are divided by it
        throw_type_error("an array on the device cannot hold elements of 0 bytes");
    return DType::opaque(size, kept_name(nb::cast<std::string>(nb::str(dtype))));
}

/// A type of elements, and numpy's dtype object of it.
struct Converted {
    DType type;
    nb::handle exact;
};

/// The dtypes, and numpy's classes of numbers, that were converted before.
class KnownDtypes {
  public:
    std::optional<Converted> find(nb::handle dtype) {
        nb::ft_lock_guard guard(mutex_);
        const auto found = known_.find(dtype.ptr());
        return found == known_.end() ? std::nullopt : std::optional(found->second);
    }

    /// Keeps references, so that the objects' addresses are not reused by others.
    void remember(nb::handle dtype, const Converted &converted) {
        nb::ft_lock_guard guard(mutex_);
        if (known_.size() < 1000 && known_.insert({dtype.ptr(), converted}).second) {
            dtype.inc_ref();
            converted.exact.inc_ref();
        }
    }

  private:
    nb::ft_mutex mutex_;
    std::unordered_map<PyObject *, Converted> known_;
};

KnownDtypes &known_dtypes() {
    static auto *known = new KnownDtypes; // never destroyed
    return *known;
}

} // namespace

nb::object numpy_dtype(ScalarType type) { return nb::borrow(cached_dtype(type)); }

nb::object exact_dtype(nb::handle dtype) {
    if (!dtype.is_valid())
        return {};
    if (const std::optional<Converted> known = known_dtypes().find(dtype))
        return nb::borrow(known->exact);
    return nb::module_::import_("numpy").attr("dtype")(dtype);
}

DType dtype_of(nb::handle dtype) {
    if (const std::optional<Converted> known = known_dtypes().find(dtype))
        return known->type;
    nb::object exact = nb::module_::import_("numpy").attr("dtype")(dtype);
    const DType type = examine(exact);
    if (exact.is(dtype) || exact.attr("type").is(dtype))
        known_dtypes().remember(dtype, {type, exact});
    return type;
}

ScalarType number_type_of(nb::handle dtype) {
    const DType type = dtype_of(dtype);
    if (type.is_opaque())
        throw_type_error("no operation computes in elements of " +
                         nb::cast<std::string>(nb::repr(exact_dtype(dtype))) +
                         "; dtype must be bool or the type of a number");
    return type.scalar();
}

} // namespace pycuda::python
