// elementwise_test.cpp -- compares generated code for per-lane operations with scalar references.
//
//     softcuda_elementwise_test [--every N] [integer|logic|float|half|convert|approx]...
//
// With --every, it takes each N-th form of the operations.
#include "check.h"
#include "elementwise_cases.h"

#include <algorithm>
#include <cstdlib>
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

std::vector<test::Case> each(std::size_t n, const std::vector<test::Case> &cases) {
    std::vector<test::Case> taken;
    for (std::size_t i = 0; i < cases.size(); i += n)
        taken.push_back(cases[i]);
    return taken;
}

} // namespace

int main(int argc, char **argv) {
    std::size_t every = 1;
    if (argc > 2 && std::strcmp(argv[1], "--every") == 0) {
        every = std::max(1ul, std::strtoul(argv[2], nullptr, 10));
        argc -= 2;
        argv += 2;
    }
    for (const Family &family : kFamilies)
        if (is_wanted(family.name, argc, argv)) {
            std::printf("%s: ", family.name);
            std::fflush(stdout);
            test::run(each(every, family.cases()));
        }
    return test::status();
}
