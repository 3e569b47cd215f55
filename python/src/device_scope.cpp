// device_scope.cpp -- an operation runs on the device that its arrays are on.
#include "device_scope.h"

#include "errors.h"
#include "python_object.h"

#include <pycuda/driver.h>

#include <string>

namespace pycuda::python {
namespace {

std::string name_of(const ArrayContext &context) {
    return "cuda:" + std::to_string(context.context().device().get());
}

} // namespace

void DeviceScope::check_same_device(const ArrayContext &other) const {
    // Contexts of one device share its addresses.
    if (home_->context().device() == other.context().device())
        return;
    throw_value_error("the arrays of one operation must be on one device, not on " +
                      name_of(*home_) + " and " + name_of(other) +
                      "; copy one of them with to_device()");
}

void DeviceScope::enter_home() {
    CUcontext current = nullptr;
    driver().cuCtxGetCurrent(&current);
    if (current == home_->context().get()) [[likely]]
        return;
    // What was given back cannot be entered: the operation itself says so.
    if (home_->context().usable())
        scope_.emplace(home_->context());
}

} // namespace pycuda::python
