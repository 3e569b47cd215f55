// array_value.h -- converts Python objects to operands of array operations.
#pragma once

#include "support/bindings.h"

#include <pycuda/array_operation.h>
#include <pycuda/array_reduction.h>

#include <optional>
#include <string>

namespace pycuda::python {

/// Converts a GPUArray, a Python number, a numpy scalar or a numpy array without dimensions. Empty
/// for other objects. Borrows the object.
std::optional<Operand> find_operand(nb::handle object);

/// As find_operand(), but throws TypeError for other objects; the message explains what to do with
/// a host array.
Operand require_operand(nb::handle object, const char *what);

/// What a call asks of an operation. The stream is determined after the context, so it is an object
/// here, and not yet a stream of the ApplyOptions.
struct OperationRequest {
    nb::handle out = {}; ///< an array, or null
    const Array *where = nullptr;
    std::optional<ScalarType> dtype = {};
    Casting casting = Casting::SameKind;
    nb::handle stream = nb::none();
};

/// Calls apply() in the context of the arrays and in the requested stream, with memory from the
/// allocator of the first operand that has one. Returns a new object of that operand's class, or
/// `out`.
nb::object apply_to_objects(Operation operation, std::span<const nb::handle> objects,
                            std::span<const Operand> operands,
                            const OperationRequest &request = {});

/// The usual call of a universal function, without keywords: the operation is selected by its
/// number.
nb::object apply_plainly(unsigned operation, nb::handle x);
nb::object apply_plainly(unsigned operation, nb::handle x, nb::handle y);

/// By NumPy's name. Throw ValueError for other names.
Operation operation_named(const std::string &name);
Reduction reduction_named(const std::string &name);
/// As number_type_of(); none for None.
std::optional<ScalarType> type_or_none(nb::handle dtype);

void bind_array_operations(nb::module_ &module);

} // namespace pycuda::python
