// array_protocols.cpp -- NumPy's protocols for the usual calls: numpy.concatenate([x, y]),
// numpy.sin(x).
//
// A call of a small array takes a few microseconds, of which a protocol in Python would be one. So
// the usual calls are answered here: a function of NumPy is replaced by ours, and a ufunc without
// keywords by its operation. All other calls, and all errors, are the business of
// pycuda/arrays/protocols.
#include "arrays/array_protocols.h"

#include "arrays/array_function.h"
#include "arrays/array_object.h"
#include "arrays/array_value.h"
#include "support/errors.h"
#include "support/numpy_types.h"
#include "support/python_object.h"

#include <optional>
#include <string>
#include <vector>

namespace pycuda::python {
namespace {

/// The value for a key of a dict. Invalid if there is none.
nb::object value_of(nb::handle table, PyObject *key) {
    PyObject *value = nullptr;
#ifdef Py_GIL_DISABLED
    static_cast<void>(PyDict_GetItemRef(table.ptr(), key, &value));
#else
    value = Py_XNewRef(PyDict_GetItemWithError(table.ptr(), key));
#endif
    if (value == nullptr && PyErr_Occurred())
        throw nb::python_error();
    return nb::steal(value);
}

// NumPy's functions

/// Our function in the place of one of NumPy's. Invalid if there is none.
nb::object function_for(PyObject *theirs) {
    static constinit KeptObject table;
    return value_of(table.get([]() -> nb::object {
        return nb::module_::import_("pycuda.arrays.protocols.numpy_functions").attr("functions")();
    }),
                    theirs);
}

PyTypeObject *numpy_array_class() {
    static constinit KeptObject type;
    return reinterpret_cast<PyTypeObject *>(
        type.get([]() -> nb::object { return nb::module_::import_("numpy").attr("ndarray"); })
            .ptr());
}

/// Whether all are classes of arrays of the device, or NumPy's own class.
bool are_plain(PyObject *types) {
    if (!PyTuple_Check(types))
        return false;
    const Py_ssize_t count = PyTuple_Size(types);
    for (Py_ssize_t i = 0; i < count; ++i) {
        auto *type = reinterpret_cast<PyTypeObject *>(PyTuple_GetItem(types, i));
        if (type != array_class && type != numpy_array_class() &&
            PyType_IsSubtype(type, array_base_class) == 0)
            return false;
    }
    return true;
}

/// __array_function__(self, func, types, args, kwargs) of arrays. Other types and functions, and
/// errors, are the business of the protocol in Python.
PyObject *call_for_numpy(PyObject *self, PyObject *const *args, Py_ssize_t count) noexcept {
    return guarded([&]() -> PyObject * {
        constexpr Py_ssize_t kArguments = 4; // func, types, args, kwargs
        if (count != kArguments)
            throw_type_error("__array_function__() takes 4 arguments, not " +
                             std::to_string(count));
        if (are_plain(args[1]) && PyTuple_Check(args[2]) && PyDict_Check(args[3]))
            if (const nb::object ours = function_for(args[0]); ours.is_valid()) [[likely]] {
                WorkContext context;
                add_contexts(context, &self, 1);
                context.enter();
                return PyObject_Call(ours.ptr(), args[2], args[3]);
            }
        return nb::module_::import_("pycuda.arrays.protocols.numpy_functions")
            .attr("array_function")(nb::handle(self), nb::handle(args[0]), nb::handle(args[1]),
                                    nb::handle(args[2]), nb::handle(args[3]))
            .release()
            .ptr();
    });
}

// NumPy's ufuncs

nb::object ufunc_protocol() { return nb::module_::import_("pycuda.arrays.protocols.numpy_ufuncs"); }

/// The number of the operation of a ufunc; empty if there is none.
std::optional<unsigned> operation_of(PyObject *ufunc) {
    static constinit KeptObject table;
    const nb::object number = value_of(
        table.get([]() -> nb::object { return ufunc_protocol().attr("operations")(); }), ufunc);
    if (!number.is_valid())
        return {};
    return nb::cast<unsigned>(number);
}

/// Whether an operand is an array or a number, so that no other protocol has to be asked.
bool is_plain_operand(PyObject *operand) {
    return is_array(operand) || PyLong_CheckExact(operand) || PyFloat_CheckExact(operand) ||
           PyComplex_CheckExact(operand) || PyBool_Check(operand) || is_numpy_generic(operand);
}

/// The result of a call without keywords. Invalid for calls that Python handles.
nb::object plain_result(PyObject *const *args, Py_ssize_t count) {
    constexpr Py_ssize_t kMostOperands = 2;
    const Py_ssize_t operands = count - 2;
    if (operands < 1 || operands > kMostOperands || !PyUnicode_Check(args[1]) ||
        PyUnicode_CompareWithASCIIString(args[1], "__call__") != 0)
        return {};
    for (Py_ssize_t i = 0; i < operands; ++i)
        if (!is_plain_operand(args[2 + i]))
            return {};
    const std::optional<unsigned> operation = operation_of(args[0]);
    if (!operation || operand_count(static_cast<Operation>(*operation)) != operands)
        return {};
    if (operands == 1)
        return apply_plainly(*operation, nb::handle(args[2]));
    return apply_plainly(*operation, nb::handle(args[2]), nb::handle(args[3]));
}

/// The call of the protocol in Python: array_ufunc(self, ufunc, method, *operands, **keywords).
PyObject *call_python(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    static constinit KeptObject kept;
    const nb::handle function =
        kept.get([]() -> nb::object { return ufunc_protocol().attr("array_ufunc"); });
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    std::vector<PyObject *> all = {self};
    all.insert(all.end(), args, args + count + named);
    return PyObject_Vectorcall(function.ptr(), all.data(), static_cast<std::size_t>(count + 1),
                               names);
}

/// __array_ufunc__(self, ufunc, method, *operands, **keywords) of arrays.
PyObject *call_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t count,
                     PyObject *names) noexcept {
    return guarded([&]() -> PyObject * {
        if (names == nullptr || PyTuple_Size(names) == 0)
            if (nb::object result = plain_result(args, count); result.is_valid()) [[likely]]
                return result.release().ptr();
        return call_python(self, args, count, names);
    });
}

PyMethodDef methods[] = {
    {"__array_function__", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(call_for_numpy)),
     METH_FASTCALL, "Call our version of a function of NumPy, an argument of which is an array."},
    {"__array_ufunc__", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(call_ufunc)),
     METH_FASTCALL | METH_KEYWORDS,
     "Call our version of a ufunc of NumPy, an operand of which is an array."},
    {},
};

} // namespace

PyType_Slot numpy_protocols_slot() { return {Py_tp_methods, methods}; }

} // namespace pycuda::python
