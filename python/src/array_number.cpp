// array_number.cpp -- the operators of arrays: from Python's operands to an operation of core.
#include "array_number.h"

namespace pycuda::python {

void add_number_slots(std::vector<PyType_Slot> &) {}

} // namespace pycuda::python
