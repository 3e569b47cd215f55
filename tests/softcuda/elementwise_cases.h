// elementwise_cases.h -- the tested operations, by family.
#pragma once

#include "elementwise_harness.h"

namespace test {

std::vector<Case> integer_cases();
std::vector<Case> logic_cases();
std::vector<Case> float_cases();
std::vector<Case> half_cases();
std::vector<Case> convert_cases();
std::vector<Case> approx_cases();

} // namespace test
