// elementwise_float.cpp -- references of this family (to come).
#include "elementwise_cases.h"
namespace test {
std::vector<Case> float_cases() { return {}; }
} // namespace test
