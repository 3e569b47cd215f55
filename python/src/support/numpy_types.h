// numpy_types.h -- numpy's types, looked up only after the program has imported numpy.
//
// Does not use numpy's C API. A scalar such as numpy.float32 contains its value. The position of
// the value is read once for each type, through the buffer protocol.
#pragma once

#include "support/bindings.h"

#include <pycuda/parameter.h>

#include <cstdint>
#include <span>

namespace pycuda::python {

/// True for a numpy.ndarray and its subclasses. Never imports numpy.
bool is_numpy_array(nb::handle object);

/// True for numpy.void, a record of a structured array.
bool is_numpy_record(nb::handle object);

/// True for scalars of any type: those of numpy itself, and of libraries such as ml_dtypes.
bool is_numpy_generic(nb::handle object);

bool is_numpy_bool(const PyTypeObject *type);

/// How the scalars of one numpy type store their value.
struct NumpyScalar {
    PyTypeObject *type = nullptr;
    std::uint32_t offset = 0; ///< of the value, from the start of the object
    std::uint32_t size = 0;
    ValueKind kind = ValueKind::Unknown;

    const void *value(PyObject *scalar) const noexcept {
        return reinterpret_cast<const char *>(scalar) + offset;
    }
};

/// The numeric types; empty until numpy has been imported.
std::span<const NumpyScalar> numpy_scalars();

} // namespace pycuda::python
