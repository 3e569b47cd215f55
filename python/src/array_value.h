// array_value.h -- operands of array operations as Python passes them.
#pragma once

#include "bindings.h"

#include <pycuda/array_operation.h>

#include <optional>

namespace pycuda::python {

/// A GPUArray, a Python number, a numpy scalar or a numpy array of no dimension. Empty for
/// anything else. Borrows the object.
std::optional<Operand> find_operand(nb::handle object);

/// The same; throws TypeError for anything else, which says what to do with a host array.
Operand require_operand(nb::handle object, const char *what);

/// Calls apply(), with memory from the allocator of the first operand that has one, and returns a
/// new object of that operand's class, or `out`.
nb::object apply_to_objects(Operation operation, std::span<const nb::handle> objects,
                            std::span<const Operand> operands, ApplyOptions options,
                            nb::handle out = {});

void bind_array_operations(nb::module_ &module);

} // namespace pycuda::python
