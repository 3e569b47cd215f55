// bool_like.h -- parameters that accept any truth value, like Python's own functions.
#pragma once

#include "support/bindings.h"

namespace pycuda::python {

/// The truth value of any object that has one: bool, 1, None, numpy.bool_.
struct BoolLike {
    bool value = false;
    operator bool() const noexcept { return value; } // NOLINT: used like a bool
};

} // namespace pycuda::python

namespace nanobind::detail {

template <> struct has_arg_defaults<pycuda::python::BoolLike> : std::true_type {}; // None is false

template <> struct type_caster<pycuda::python::BoolLike> {
    NB_TYPE_CASTER(pycuda::python::BoolLike, const_name("bool"))

    bool from_python(handle source, std::uint8_t, cleanup_list *) noexcept {
        const int truth = PyObject_IsTrue(source.ptr());
        if (truth < 0)
            PyErr_Clear(); // an array of several elements has no truth value
        value.value = truth > 0;
        return truth >= 0;
    }
    static handle from_cpp(pycuda::python::BoolLike truth, rv_policy, cleanup_list *) noexcept {
        return PyBool_FromLong(truth.value);
    }
};

} // namespace nanobind::detail
