// call.cpp -- the beginning of a driver function: the driver, the context or device, the
// permission.
#include "api/call.h"

#include "device/graphs/capture.h"
#include "device/process_state.h"

namespace softcuda::api {
namespace {

void check(InCapture rule) {
    if (rule == InCapture::Refused)
        device::capture::forbid_unsafe_calls();
}

} // namespace

device::System &begin_call(InCapture rule) {
    device::System &system = device::System::get();
    device::ProcessState::wait_until_running();
    check(rule);
    return system;
}

device::Context &begin_call_in_context(InCapture rule) {
    device::System::get();
    device::ProcessState::wait_until_running();
    device::refuse_in_host_function();
    device::Context &context = device::current_context::require_usable();
    check(rule);
    return context;
}

device::Device &begin_call_for_device(InCapture rule, CUdevice ordinal) {
    device::refuse_in_host_function();
    device::Device &device = device::System::get().device(ordinal);
    device::ProcessState::wait_until_running();
    check(rule);
    return device;
}

} // namespace softcuda::api
