// physical_memory.cpp -- files in memory, and their handles.
#include "device/physical_memory.h"

#include "device/device.h"
#include "device/error.h"
#include "device/registry.h"

#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace softcuda::device {
namespace {

std::mutex handles_mutex;

/// A file of zeros without a name, or -1.
int new_file(std::uint64_t bytes) {
    const int file = memfd_create("softcuda", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) != 0) {
        close(file);
        return -1;
    }
    return file;
}

} // namespace

PhysicalMemory::PhysicalMemory(Device &device, std::uint64_t bytes,
                               CUmemAllocationHandleType handle_types)
    : device_(device), bytes_(bytes), handle_types_(handle_types) {
    require(device.take_memory(bytes), CUDA_ERROR_OUT_OF_MEMORY);
    file_ = new_file(bytes);
    if (file_ < 0) {
        device.return_memory(bytes);
        throw Error(CUDA_ERROR_OUT_OF_MEMORY);
    }
    counted_ = true;
}

std::shared_ptr<PhysicalMemory> PhysicalMemory::uncounted(Device &device, std::uint64_t bytes) {
    const int file = new_file(bytes);
    require(file >= 0, CUDA_ERROR_OUT_OF_MEMORY);
    return std::shared_ptr<PhysicalMemory>(new PhysicalMemory(device, file, bytes, Imported{}));
}

PhysicalMemory::PhysicalMemory(Device &device, int file, std::uint64_t bytes, Imported) noexcept
    : device_(device), bytes_(bytes), file_(file),
      handle_types_(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {}

std::shared_ptr<PhysicalMemory> PhysicalMemory::import(Device &device, int file) {
    struct stat status{};
    require(fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
                fcntl(file, F_GET_SEALS) >= 0, // only files in memory have seals
            CUDA_ERROR_INVALID_VALUE);
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    require(own >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    return std::shared_ptr<PhysicalMemory>(
        new PhysicalMemory(device, own, static_cast<std::uint64_t>(status.st_size), Imported{}));
}

PhysicalMemory::~PhysicalMemory() {
    close(file_);
    if (counted_)
        device_.return_memory(bytes_);
}

CUmemGenericAllocationHandle PhysicalMemory::retain(const std::shared_ptr<PhysicalMemory> &memory) {
    std::lock_guard lock(handles_mutex);
    if (memory->handles_++ == 0)
        registry<PhysicalMemory>().add(memory);
    return reinterpret_cast<CUmemGenericAllocationHandle>(memory.get());
}

void PhysicalMemory::release(CUmemGenericAllocationHandle handle) {
    std::shared_ptr<PhysicalMemory> last; // destroyed after the lock is released
    std::lock_guard lock(handles_mutex);
    last = find(handle);
    if (--last->handles_ == 0)
        registry<PhysicalMemory>().remove(last.get());
}

std::shared_ptr<PhysicalMemory> PhysicalMemory::find(CUmemGenericAllocationHandle handle) {
    auto memory = registry<PhysicalMemory>().find(reinterpret_cast<const void *>(handle));
    require(memory != nullptr, CUDA_ERROR_INVALID_VALUE);
    return memory;
}

} // namespace softcuda::device
