// array_object.h -- pycuda._driver.ArrayBase, the class below GPUArray, written against CPython.
//
// For small arrays, the work around the launch determines the speed of arithmetic. So the class
// contains its Array directly and implements operators as type slots. Code that need not be fast is
// in Python, in the class GPUArray, which derives from this class (python/pycuda/gpuarray.py).
#pragma once

#include "support/bindings.h"

#include <pycuda/array.h>

#include <cstdint>
#include <span>

namespace pycuda::python {

/// The object of a GPUArray.
struct ArrayObject {
    PyObject_HEAD PyObject *attributes; ///< __dict__
    PyObject *weak_references;
    PyObject *dtype;     ///< numpy's dtype
    PyObject *base;      ///< for a view, the array that it is a view of; else null
    PyObject *allocator; ///< as it was passed; null for the pool
    PyObject *strides;   ///< that were set for another number of axes, a tuple; else null
    PyObject
        *gpudata; ///< the ArrayAllocation for the block of the pool; created at the first access
    Array array;
};

/// The class of results if no operand determines it: GPUArray, after it has been defined.
extern PyTypeObject *array_class;
/// ArrayBase.
extern PyTypeObject *array_base_class;

inline bool is_array(nb::handle object) {
    return Py_TYPE(object.ptr()) == array_class ||
           PyObject_TypeCheck(object.ptr(), array_base_class);
}
inline ArrayObject &array_object(nb::handle object) {
    return *reinterpret_cast<ArrayObject *>(object.ptr());
}
inline Array &array_of(nb::handle object) { return array_object(object).array; }

/// Arrays of the device as they are; of anything else an array of the device.
nb::object as_array(nb::handle value);

/// Throws TypeError, which names `what`, if the object is not an array.
Array &require_array(nb::handle object, const char *what);

/// Whether a subclass defines __init__ or __new__. Only its constructor can then create its
/// objects. Results and views, which cannot call it, have class GPUArray, as in PyCUDA.
bool constructs_itself(PyTypeObject *type);

/// A new object of class `type` for an array; of class GPUArray if `type` constructs itself.
/// `dtype` is numpy's dtype for opaque elements; null otherwise.
nb::object wrap_array(Array array, PyTypeObject *type = nullptr, nb::handle dtype = {});

/// A view of an array, with its class and its allocator. `layout` selects the elements; the first
/// one is `offset` bytes after the array's first element.
nb::object view_of(nb::handle self, const Layout &layout, std::int64_t offset);
/// As above, with another type. `dtype` is numpy's dtype for opaque elements.
nb::object view_of(nb::handle self, const Layout &layout, std::int64_t offset, DType type,
                   nb::handle dtype);

/// How new arrays are allocated: from the thread's allocator, from the pool, or by a function of
/// the user.
struct Allocation {
    nb::handle
        allocator; ///< null or None: the thread's allocator, or the pool; mem_alloc: the pool
    GivenStream stream;
};
/// A new array with memory from `allocation`.
nb::object make_array(const Layout &layout, DType dtype, nb::handle numpy_dtype, PyTypeObject *type,
                      const Allocation &allocation);

/// Conversions between numpy's dtype objects and our types.
nb::object numpy_dtype(ScalarType type);
DType dtype_of(nb::handle numpy_dtype);
/// The type that an operation shall compute in. Throws TypeError, which names the dtype, if the
/// elements are no numbers (bytes, structs): no operation computes in these.
ScalarType number_type_of(nb::handle numpy_dtype);
/// NumPy's dtype object for a type, a name or a dtype. Null for null.
nb::object exact_dtype(nb::handle dtype);

/// `shape` with strides in bytes as the user passed them: any sequence of ints.
Layout strided_layout(const Layout &shape, nb::handle strides);

/// An int, or an iterable of ints.
Layout shape_argument(nb::handle shape);
nb::object tuple_of(std::span<const std::int64_t> numbers);

void bind_array_functions(nb::module_ &module);
void bind_array_join(nb::module_ &module);
void bind_array_views(nb::module_ &module);
void bind_array_exchange(nb::module_ &module);
void bind_array_from_interface(nb::module_ &module);

} // namespace pycuda::python
