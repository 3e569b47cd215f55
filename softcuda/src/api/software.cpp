// software.cpp -- functions that NVIDIA's driver does not have: see softcuda.h.
#include "api/call.h"
#include "device/client_question.h"
#include "device/fault_log.h"
#include "device/registry.h"

#include <algorithm>
#include <cstring>

using namespace softcuda;

SCU_EXPORT const char *scuImageKind() { return "ptx"; }

SCU_EXPORT CUresult scuCtxInterrupt(CUcontext handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        const std::shared_ptr<device::Context> context =
            device::registry<device::Context>().find(handle);
        device::require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        context->interrupt();
    });
}

SCU_EXPORT void scuAskWhileWaiting(int (*keep_waiting)(), pthread_t thread) {
    device::client_question::set(keep_waiting, thread);
}

SCU_EXPORT void scuAskForBlockSizes(std::size_t (*bytes_in_use)(CUdeviceptr block)) {
    device::AddressSpace::ask_for_block_sizes(bytes_in_use);
}

SCU_EXPORT int scuKnowsAddress(CUdeviceptr address) {
    int known = 0;
    const CUresult result =
        api::with_system<api::InCapture::Permitted>([&](device::System &system) {
            const device::AddressSpace &memory = system.memory();
            known =
                address - memory.arena_base() < memory.arena_size() ||
                memory.find(address).has_value() ||
                memory.find(address - 1).has_value(); // an empty array at the end of an allocation
        });
    return result == CUDA_SUCCESS && known;
}

SCU_EXPORT CUresult scuDescribeDevice(int ordinal, ScuDevice *result) {
    return api::guarded([&] {
        api::require_non_null(result);
        *result = device::System::describe(ordinal);
    });
}

SCU_EXPORT int scuLastFault(ScuFault *fault) {
    const std::optional<ScuFault> last = device::last_fault();
    if (last && fault)
        *fault = *last;
    return last.has_value();
}

SCU_EXPORT std::size_t scuLastFaultMessage(char *buffer, std::size_t size) {
    const std::string message = device::last_fault_message();
    if (buffer && size > 0) {
        const std::size_t count = std::min(message.size(), size - 1);
        std::memcpy(buffer, message.data(), count);
        buffer[count] = '\0';
    }
    return message.size();
}
