// checkpoint.cpp -- the calls of tools that make checkpoints of processes.
//
// A process's device memory is ordinary memory, which the tool saves with the rest of the process.
// So a checkpoint only has to keep the process from calling the driver.
#include "api/call.h"
#include "device/process_state.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

using namespace softcuda;
using device::ProcessState;

namespace {

/// These calls are also permitted before cuInit(), and while their own process is locked.
template <class Body> CUresult call(Body &&body) noexcept {
    return api::guarded([&] {
        device::refuse_in_host_function();
        body();
    });
}

/// Arguments without a meaning must be 0.
template <class Words> void require_zero(const Words &reserved) {
    device::require(
        std::all_of(std::begin(reserved), std::end(reserved), [](auto word) { return word == 0; }),
        CUDA_ERROR_INVALID_VALUE);
}

bool is_device(const CUuuid &uuid) {
    for (int i = 0, count = device::System::describe(0).count; i < count; i++)
        if (const CUuuid own = device::System::describe(i).uuid;
            std::memcmp(&own, &uuid, sizeof uuid) == 0)
            return true;
    return false;
}

/// The memory of a device cannot become another device's.
void check_devices(const CUcheckpointRestoreArgs &arguments) {
    device::require(arguments.gpuPairsCount == 0 || arguments.gpuPairs, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < arguments.gpuPairsCount; i++) {
        const CUcheckpointGpuPair &pair = arguments.gpuPairs[i];
        device::require(is_device(pair.oldUuid) && is_device(pair.newUuid),
                        CUDA_ERROR_INVALID_VALUE);
        device::require(std::memcmp(&pair.oldUuid, &pair.newUuid, sizeof pair.oldUuid) == 0,
                        CUDA_ERROR_NOT_SUPPORTED);
    }
}

} // namespace

// No thread of the process has a part in a checkpoint, so it is the first one.
CUresult cuCheckpointProcessGetRestoreThreadId(int process, int *thread) {
    return call([&] {
        api::require_non_null(thread);
        ProcessState::find(process);
        *thread = process;
    });
}

CUresult cuCheckpointProcessGetState(int process, CUprocessState *state) {
    return call([&] {
        api::require_non_null(state);
        *state = ProcessState::find(process)->get();
    });
}

CUresult cuCheckpointProcessLock(int process, CUcheckpointLockArgs *arguments) {
    return call([&] {
        std::optional<std::chrono::milliseconds> limit;
        if (arguments) {
            device::require(arguments->reserved0 == 0, CUDA_ERROR_INVALID_VALUE);
            require_zero(arguments->reserved1);
            if (arguments->timeoutMs != 0)
                limit = std::chrono::milliseconds(arguments->timeoutMs);
        }
        ProcessState::find(process)->lock(limit);
    });
}

CUresult cuCheckpointProcessCheckpoint(int process, CUcheckpointCheckpointArgs *arguments) {
    return call([&] {
        if (arguments)
            require_zero(arguments->reserved);
        ProcessState::find(process)->change(CU_PROCESS_STATE_LOCKED, CU_PROCESS_STATE_CHECKPOINTED);
    });
}

CUresult cuCheckpointProcessRestore(int process, CUcheckpointRestoreArgs *arguments) {
    return call([&] {
        if (arguments) {
            // Newer headers have other names behind the count; this driver supports none of them.
            constexpr std::size_t known =
                offsetof(CUcheckpointRestoreArgs, gpuPairsCount) + sizeof(arguments->gpuPairsCount);
            const char *const bytes = reinterpret_cast<const char *>(arguments);
            device::require(std::all_of(bytes + known, bytes + sizeof *arguments,
                                        [](char byte) { return byte == 0; }),
                            CUDA_ERROR_INVALID_VALUE);
            check_devices(*arguments);
        }
        ProcessState::find(process)->change(CU_PROCESS_STATE_CHECKPOINTED, CU_PROCESS_STATE_LOCKED);
    });
}

CUresult cuCheckpointProcessUnlock(int process, CUcheckpointUnlockArgs *arguments) {
    return call([&] {
        if (arguments)
            require_zero(arguments->reserved);
        ProcessState::find(process)->change(CU_PROCESS_STATE_LOCKED, CU_PROCESS_STATE_RUNNING);
    });
}
