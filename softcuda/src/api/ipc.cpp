// ipc.cpp -- memory and events of other processes.
//
// Shared memory is in a file without a name. A handle contains the process and its file descriptor;
// another process of the same user opens the file through /proc. So no file remains when processes
// end, and shared memory exists as long as it is mapped.
#include "api/call.h"
#include "device/event.h"
#include "device/physical_memory.h"
#include "device/registry.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace softcuda;
using device::Allocation;
using device::Context;
using device::Event;
using device::PhysicalMemory;

namespace {

enum class Content : std::uint32_t { Memory = 1, Event = 2 };

struct Handle {
    char maker[8] = {'s', 'o', 'f', 't', 'c', 'u', 'd', 'a'};
    Content content{};
    std::int32_t process = 0;
    std::int32_t file = 0;
    std::int32_t device = 0;
    std::uint64_t inode = 0; ///< to check that the descriptor still refers to the same file
    std::uint64_t offset = 0, bytes = 0; ///< for memory
};
static_assert(sizeof(Handle) <= CU_IPC_HANDLE_SIZE);

template <class Cuda> void put(Cuda *result, const Handle &handle) {
    *result = {};
    std::memcpy(result->reserved, &handle, sizeof handle);
}

/// Throws Error(invalid value) for an invalid handle.
template <class Cuda> Handle take(const Cuda &from, Content content) {
    Handle handle;
    std::memcpy(&handle, from.reserved, sizeof handle);
    device::require(std::memcmp(handle.maker, Handle().maker, sizeof handle.maker) == 0 &&
                        handle.content == content,
                    CUDA_ERROR_INVALID_VALUE);
    return handle;
}

std::uint64_t inode_of(int file) {
    struct stat status{};
    device::require(fstat(file, &status) == 0, CUDA_ERROR_OPERATING_SYSTEM);
    return status.st_ino;
}

/// A descriptor. Owns it.
class File {
  public:
    explicit File(int number) noexcept : number_(number) {}
    File(File &&other) noexcept : number_(other.release()) {}
    File &operator=(File &&) = delete;
    ~File() {
        if (number_ >= 0)
            close(number_);
    }
    [[nodiscard]] int get() const noexcept { return number_; }
    int release() noexcept { return std::exchange(number_, -1); }

  private:
    int number_;
};

/// Opens the file of another process. Throws Error(invalid handle) if it does not exist any more.
File open_file(const Handle &handle) {
    const std::string path =
        "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
    File file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    device::require(file.get() >= 0 && inode_of(file.get()) == handle.inode,
                    CUDA_ERROR_INVALID_HANDLE);
    return file;
}

/// The memory that this process has opened, by the file's inode, so that it has the same address
/// each time.
struct Opened {
    std::uint64_t address = 0;
    unsigned uses = 0;
};
std::mutex opened_mutex;
std::map<std::uint64_t, Opened> opened;

CUresult open_memory(CUdeviceptr *result, const CUipcMemHandle &from, unsigned flags) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(result);
        device::require(flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, CUDA_ERROR_INVALID_VALUE);
        const Handle handle = take(from, Content::Memory);
        device::require(handle.process != getpid(), CUDA_ERROR_INVALID_CONTEXT); // as on a GPU
        device::System &system = device::System::get();
        std::lock_guard lock(opened_mutex);
        Opened &known = opened[handle.inode];
        if (known.uses == 0) {
            const File file = open_file(handle);
            known.address = system.memory().open_shared(
                PhysicalMemory::import(system.device(handle.device), file.get()), handle.offset,
                handle.bytes, context);
        }
        known.uses++;
        *result = known.address;
    });
}

} // namespace

CUresult cuIpcGetMemHandle(CUipcMemHandle *result, CUdeviceptr address) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(result);
        context.wait_for_all(); // the memory is moved to a file
        const Allocation shared = device::System::get().memory().share(address);
        Handle handle;
        handle.content = Content::Memory;
        handle.process = getpid();
        handle.file = shared.backing->file();
        handle.device = shared.device->ordinal();
        handle.inode = inode_of(handle.file);
        handle.offset = shared.address - shared.run;
        handle.bytes = shared.size;
        put(result, handle);
    });
}

#undef cuIpcOpenMemHandle
SCU_EXPORT CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr *result, CUipcMemHandle handle,
                                               unsigned int flags) {
    return open_memory(result, handle, flags);
}

SCU_EXPORT CUresult CUDAAPI cuIpcOpenMemHandle_v2(CUdeviceptr *result, CUipcMemHandle handle,
                                                  unsigned int flags) {
    return open_memory(result, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        std::lock_guard lock(opened_mutex);
        const auto found = std::find_if(opened.begin(), opened.end(), [&](const auto &each) {
            return each.second.address == address && each.second.uses > 0;
        });
        device::require(found != opened.end(), CUDA_ERROR_INVALID_VALUE);
        if (--found->second.uses > 0)
            return;
        opened.erase(found);
        context.wait_for_all();
        device::System::get().memory().free(address, device::MemoryKind::Shared);
    });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *result, CUevent event_handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        const auto event = device::registry<Event>().find(event_handle);
        device::require(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
        device::require(event->share() != nullptr, CUDA_ERROR_INVALID_VALUE);
        Handle handle;
        handle.content = Content::Event;
        handle.process = getpid();
        handle.file = event->share()->file();
        handle.inode = inode_of(handle.file);
        put(result, handle);
    });
}

CUresult cuIpcOpenEventHandle(CUevent *result, CUipcEventHandle from) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(result);
        const Handle handle = take(from, Content::Event);
        device::require(handle.process != getpid(), CUDA_ERROR_INVALID_CONTEXT);
        auto share = std::make_shared<device::EventShare>(open_file(handle).release());
        auto event = std::make_shared<Event>(
            context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, std::move(share));
        device::registry<Event>().add(event);
        *result = reinterpret_cast<CUevent>(event.get());
    });
}
