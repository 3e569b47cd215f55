// called_function.cpp -- the thread's outermost named function.
#include <pycuda/called_function.h>

namespace pycuda {
namespace {

struct Named {
    CalledFunction::Describe describe = nullptr;
    void *object = nullptr;
};

thread_local constinit Named outermost;

} // namespace

CalledFunction::CalledFunction(Describe describe, void *object) noexcept
    : is_outermost_(outermost.describe == nullptr) {
    if (is_outermost_)
        outermost = {describe, object};
}

CalledFunction::~CalledFunction() {
    if (is_outermost_)
        outermost = {};
}

std::string called_function(std::string_view otherwise) {
    std::string name = outermost.describe != nullptr ? outermost.describe(outermost.object) : "";
    return name.empty() ? std::string(otherwise) : name;
}

} // namespace pycuda
