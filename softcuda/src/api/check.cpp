// check.cpp -- the check modes for clients: see abi/extensions.h.
#include "api/call.h"
#include "check/finding.h"
#include "check/modes.h"
#include "device/checked_memory.h"

#include <algorithm>
#include <cstring>
#include <string>

using namespace softcuda;

SCU_EXPORT unsigned scuCheckModes() { return check::modes(); }

SCU_EXPORT CUresult scuSetCheckModes(unsigned modes) {
    return api::guarded([&] {
        device::require((modes & ~check::kAllModes) == 0, CUDA_ERROR_INVALID_VALUE);
        device::checked_memory::set_modes(modes);
    });
}

SCU_EXPORT std::size_t scuCheckReport(char *json, std::size_t size) {
    std::size_t needed = 0;
    static_cast<void>(api::guarded([&] {
        const std::string text = check::to_json();
        needed = text.size();
        if (json && size > 0) {
            const std::size_t count = std::min(text.size(), size - 1);
            std::memcpy(json, text.data(), count);
            json[count] = '\0';
        }
    }));
    return needed;
}

SCU_EXPORT void scuMarkFindingsTold(const std::uint64_t *numbers, std::size_t count) {
    static_cast<void>(api::guarded([&] {
        if (numbers)
            check::mark_read({numbers, count});
    }));
}

SCU_EXPORT void scuForgetFindings() { check::forget_findings(); }

SCU_EXPORT void scuMarkBlock(CUdeviceptr address, std::size_t bytes, int taken) {
    static_cast<void>(api::with_context<api::InCapture::Permitted>([&](device::Context &context) {
        if (check::modes() != 0 && !taken) // earlier launches use the block with its old state
            context.wait_for_all(device::HostNotified::No);
        device::checked_memory::mark_block(address, bytes, taken != 0);
    }));
}

SCU_EXPORT void scuMarkWritten(CUdeviceptr address, std::size_t bytes) {
    static_cast<void>(api::guarded([&] { device::checked_memory::written(address, bytes); }));
}

SCU_EXPORT void scuNoteAllocation(CUdeviceptr address, const char *where) {
    static_cast<void>(api::guarded(
        [&] { device::checked_memory::note_allocation(address, where ? where : ""); }));
}
