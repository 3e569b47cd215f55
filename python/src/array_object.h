// array_object.h -- pycuda._driver.ArrayBase, the class below GPUArray, written against CPython.
//
// Arithmetic on small arrays is decided by what is done beside the launch, so the class holds its
// Array in place and has the operators as type slots. What is not hot is Python, in the class
// GPUArray that derives from this one (python/pycuda/gpuarray.py).
#pragma once

#include "bindings.h"

#include <pycuda/array.h>

#include <cstdint>
#include <span>

namespace pycuda::python {

/// The object behind a GPUArray.
struct ArrayObject {
    PyObject_HEAD PyObject *attributes; ///< __dict__
    PyObject *weak_references;
    PyObject *dtype;     ///< numpy's
    PyObject *base;      ///< the array that this is a view of; null: none
    PyObject *allocator; ///< as it was passed; null: the pool
    PyObject *gpudata;   ///< the ArrayAllocation that stands for the pool's block, once asked for
    Array array;
};

/// The class that results have when no operand says otherwise: GPUArray, once it exists.
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

/// Throws TypeError, which names `what`, where it is no array.
Array &require_array(nb::handle object, const char *what);

/// Whether a subclass has an __init__ or a __new__ of its own. Its objects come from its
/// constructor alone, so results and views that have no way to call that one are of class GPUArray,
/// as PyCUDA's.
bool constructs_itself(PyTypeObject *type);

/// A new object of class `type` around an array; of GPUArray where `type` constructs itself.
/// `dtype` is numpy's for opaque elements; null otherwise.
nb::object wrap_array(Array array, PyTypeObject *type = nullptr, nb::handle dtype = {});

/// A view of an array, of its class, with its allocator: the elements that `layout` says, the first
/// one `offset` bytes behind the array's.
nb::object view_of(nb::handle self, const Layout &layout, std::int64_t offset);
/// The same with another type. `dtype` is numpy's, for opaque elements.
nb::object view_of(nb::handle self, const Layout &layout, std::int64_t offset, DType type,
                   nb::handle dtype);

/// How new arrays get their memory: from the thread's allocator or the pool, or from a function of
/// the user.
struct Allocation {
    nb::handle allocator; ///< null or None: the thread's, or the pool; mem_alloc: the pool
    StreamRef stream = current_stream();
};
/// A new array with memory from `allocation`.
nb::object make_array(const Layout &layout, DType dtype, nb::handle numpy_dtype, PyTypeObject *type,
                      const Allocation &allocation);

/// numpy's dtype objects and ours.
nb::object numpy_dtype(ScalarType type);
DType dtype_of(nb::handle numpy_dtype);

/// `shape` with strides in bytes as they were passed, any sequence of ints.
Layout strided_layout(const Layout &shape, nb::handle strides);
/// Throws ValueError where `layout`, at the array's address, leaves its memory.
void check_inside(const Array &array, const Layout &layout);

/// An int, or anything iterable of them.
Layout shape_argument(nb::handle shape);
nb::object tuple_of(std::span<const std::int64_t> numbers);

void bind_array_functions(nb::module_ &module);
void bind_array_exchange(nb::module_ &module);

} // namespace pycuda::python
