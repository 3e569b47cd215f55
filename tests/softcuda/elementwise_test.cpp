// elementwise_test.cpp -- compares generated code for per-lane operations with scalar references.
//
//     softcuda_elementwise_test [integer|logic|float|half|convert|approx]...
#include "check.h"
#include "elementwise_cases.h"

#include <cstring>

namespace {

struct Family {
    const char *name;
    std::vector<test::Case> (*cases)();
};

constexpr Family kFamilies[] = {
    {"integer", test::integer_cases}, {"logic", test::logic_cases},
    {"float", test::float_cases},     {"half", test::half_cases},
    {"convert", test::convert_cases}, {"approx", test::approx_cases},
};

bool is_wanted(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; ++i)
        if (std::strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

} // namespace

int main(int argc, char **argv) {
    for (const Family &family : kFamilies)
        if (is_wanted(family.name, argc, argv)) {
            std::printf("%s: ", family.name);
            std::fflush(stdout);
            test::run(family.cases());
        }
    return test::status();
}
