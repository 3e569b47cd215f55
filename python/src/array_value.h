// array_value.h -- converts Python objects to operands of array operations.
#pragma once

#include "bindings.h"

#include <pycuda/array_operation.h>

#include <optional>

namespace pycuda::python {

/// Converts a GPUArray, a Python number, a numpy scalar or a numpy array without dimensions. Empty
/// for other objects. Borrows the object.
std::optional<Operand> find_operand(nb::handle object);

/// As find_operand(), but throws TypeError for other objects; the message explains what to do with
/// a host array.
Operand require_operand(nb::handle object, const char *what);

/// Calls apply(), with memory from the allocator of the first operand that has one. Returns a new
/// object of that operand's class, or `out`.
nb::object apply_to_objects(Operation operation, std::span<const nb::handle> objects,
                            std::span<const Operand> operands, ApplyOptions options,
                            nb::handle out = {});

void bind_array_operations(nb::module_ &module);

} // namespace pycuda::python
