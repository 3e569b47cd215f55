// array_index.h -- x[index] and x[index] = value, as type slots.
#pragma once

#include "support/bindings.h"

#include <vector>

namespace pycuda::python {

void add_index_slots(std::vector<PyType_Slot> &slots);
void bind_array_index(nb::module_ &module);

/// base[places] for an array of int32 or int64. None for others, and if an index is out of bounds.
nb::object selected_rows(nb::handle base, nb::handle places);

} // namespace pycuda::python
