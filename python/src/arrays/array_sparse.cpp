// array_sparse.cpp -- cuSPARSE's products and transposes, for the package's Python code.
//
// The functions check types and extents, because wrong ones would access memory out of bounds. The
// package has checked the indices when it made the matrix.
#include "arrays/array_object.h"
#include "memory/work_scope.h"
#include "support/bindings.h"
#include "support/errors.h"
#include "support/python_object.h"

#include <pycuda/array_sparse.h>
#include <pycuda/work.h>

#include <string>

namespace pycuda::python {
namespace {

/// Checks a vector: contiguous, of a type and, if `extent` is not negative, of an extent.
const Array &vector(nb::handle object, const char *name, ScalarType type, std::int64_t extent) {
    const Array &array = require_array(object, name);
    if (array.dimensions() != 1 || !array.is_c_contiguous() || array.dtype() != DType(type) ||
        (extent >= 0 && array.layout().extent(0) != extent))
        throw_value_error(std::string(name) + ", of shape " + shape_text(array.shape()) +
                          " and type " + array.dtype().name() +
                          ", does not fit the other operands");
    return array;
}

ScalarType type_of(nb::handle values) {
    const Array &array = require_array(values, "values");
    if (array.dtype().is_opaque() || !sparse_library_takes(array.scalar_type()))
        throw_type_error("cuSPARSE is not available for " + array.dtype().name());
    return array.scalar_type();
}

/// A matrix by rows, with at least one element; `type`: that of its values.
SparseRows rows_of(nb::handle starts, nb::handle columns, nb::handle values, std::int64_t width,
                   ScalarType type) {
    const Array &pointers = vector(starts, "starts", ScalarType::Int32, -1);
    const Array &numbers = vector(values, "values", type, -1);
    const std::int64_t count = numbers.layout().extent(0);
    if (pointers.size() < 2 || count == 0 || width < 1)
        throw_value_error("a matrix without elements is not a matrix of cuSPARSE");
    return {pointers, vector(columns, "columns", ScalarType::Int32, count), numbers,
            pointers.layout().extent(0) - 1, width};
}

bool takes(nb::handle dtype) {
    const DType type = dtype_of(dtype);
    return !type.is_opaque() && sparse_library_takes(type.scalar());
}

void times_vector(nb::handle starts, nb::handle columns, nb::handle values, std::int64_t width,
                  bool transposed, nb::handle x, nb::handle out, bool add) {
    const ScalarType type = type_of(values);
    const SparseRows a = rows_of(starts, columns, values, width, type);
    const Array &from = vector(x, "x", type, transposed ? a.rows : a.width);
    const Array &to = vector(out, "out", type, transposed ? a.width : a.rows);
    run_unlocked([&](StreamRef stream) {
        sparse_times_vector(a, transposed ? SparseSide::Columns : SparseSide::Rows, from, to,
                            add ? SparseResult::Add : SparseResult::Set, stream);
    });
}

void transpose(nb::handle starts, nb::handle columns, nb::handle values, nb::handle out_starts,
               nb::handle out_columns, nb::handle out_values) {
    const ScalarType type = type_of(values);
    const std::int64_t width =
        static_cast<std::int64_t>(require_array(out_starts, "out_starts").size()) - 1;
    const SparseRows a = rows_of(starts, columns, values, width, type);
    const SparseRows out = rows_of(out_starts, out_columns, out_values, a.rows, type);
    if (out.values.size() != a.values.size())
        throw_value_error("a transposed matrix has as many elements as the matrix");
    run_unlocked([&](StreamRef stream) { sparse_transpose(a, out, stream); });
}

/// (starts, columns, values); None if there is not enough memory.
nb::object times_sparse(nb::handle a_starts, nb::handle a_columns, nb::handle a_values,
                        nb::handle b_starts, nb::handle b_columns, nb::handle b_values,
                        std::int64_t width) {
    const ScalarType type = type_of(a_values);
    const SparseRows b = rows_of(b_starts, b_columns, b_values, width, type);
    const SparseRows a = rows_of(a_starts, a_columns, a_values, b.rows, type);
    std::optional<SparseProduct> made =
        run_unlocked([&](StreamRef stream) { return sparse_times_sparse(a, b, stream); });
    if (!made)
        return nb::none();
    PyTypeObject *const kind = Py_TYPE(a_values.ptr());
    return nb::make_tuple(wrap_array(std::move(made->starts), kind),
                          wrap_array(std::move(made->columns), kind),
                          wrap_array(std::move(made->values), kind));
}

} // namespace

void bind_array_sparse(nb::module_ &module) {
    module.def("_sparse_takes", takes);
    module.def("_sparse_times_vector", in_work_scope(times_vector));
    module.def("_sparse_transpose", in_work_scope(transpose));
    module.def("_sparse_times_sparse", in_work_scope(times_sparse));
}

} // namespace pycuda::python
