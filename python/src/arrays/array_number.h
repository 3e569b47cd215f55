// array_number.h -- the operators of arrays: +, -, +=, <, abs() and so on, as type slots.
#pragma once

#include "support/bindings.h"

#include <vector>

namespace pycuda::python {

void add_number_slots(std::vector<PyType_Slot> &slots);

} // namespace pycuda::python
