// array_index.h -- x[index] and x[index] = value, as type slots.
#pragma once

#include "support/bindings.h"

#include <vector>

namespace pycuda::python {

void add_index_slots(std::vector<PyType_Slot> &slots);
void bind_array_index(nb::module_ &module);

} // namespace pycuda::python
