// host_memory.cpp -- host memory that the device knows (pinned, registered), and aligned memory.
#include <pycuda/memory.h>

#include "memory/freed.h"

#include <pycuda/driver.h>
#include <pycuda/handle.h>

#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

namespace pycuda {
namespace {

CUresult free_pinned(void *data) { return driver().cuMemFreeHost.status(data); }
CUresult unregister_memory(void *data) { return driver().cuMemHostUnregister.status(data); }

void *require(void *data, const char *function, const char *what, std::size_t bytes) {
    if (!data)
        throw Error(function, CUDA_ERROR_INVALID_HANDLE,
                    std::string("the ") + what + " of " + std::to_string(bytes) +
                        " bytes was given back before");
    return data;
}

CUdeviceptr device_pointer_of(void *data, const Context &context) {
    ScopedContext scope(context);
    CUdeviceptr pointer = 0;
    driver().cuMemHostGetDevicePointer(&pointer, data, 0);
    return pointer;
}

} // namespace

PinnedMemory::PinnedMemory(std::size_t bytes, unsigned flags)
    : bytes_(bytes), context_(Context::require_current()) {
    check(driver().cuMemHostAlloc.status(&data_, bytes, flags), "cuMemHostAlloc",
          [&] { return std::to_string(bytes) + " bytes wanted"; });
}

PinnedMemory::PinnedMemory(PinnedMemory &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_),
      context_(std::move(other.context_)) {}

PinnedMemory &PinnedMemory::operator=(PinnedMemory &&other) noexcept {
    if (this != &other) {
        reset();
        data_ = std::exchange(other.data_, nullptr);
        bytes_ = other.bytes_;
        context_ = std::move(other.context_);
    }
    return *this;
}

PinnedMemory::~PinnedMemory() { reset(); }

void PinnedMemory::reset() noexcept {
    if (void *data = std::exchange(data_, nullptr))
        detail::run_cleanup(context_, "cuMemFreeHost", free_pinned, data);
}

void *PinnedMemory::data() const {
    return require(data_, "pagelocked_host_allocation::data", "pinned memory", bytes_);
}

CUdeviceptr PinnedMemory::device_pointer() const { return device_pointer_of(data(), context_); }

unsigned PinnedMemory::flags() const {
    unsigned flags = 0;
    driver().cuMemHostGetFlags(&flags, data());
    return flags;
}

void PinnedMemory::free() {
    require(data_, "pagelocked_host_allocation::free", "pinned memory", bytes_);
    void *data = std::exchange(data_, nullptr);
    if (!context_.usable())
        return; // its context took the memory with it
    ScopedContext scope(context_);
    driver().cuMemFreeHost(data);
}

AlignedHostMemory::AlignedHostMemory(std::size_t bytes, std::size_t alignment) : bytes_(bytes) {
    if (!std::has_single_bit(alignment))
        throw Error("aligned_malloc", CUDA_ERROR_INVALID_VALUE,
                    "the alignment is " + std::to_string(alignment) +
                        ", it must be a power of two");
    // aligned_alloc wants a multiple of an alignment that is at least a pointer's.
    alignment = std::max(alignment, alignof(std::max_align_t));
    const std::size_t rounded =
        (std::max<std::size_t>(bytes, 1) + alignment - 1) & ~(alignment - 1);
    data_ = std::aligned_alloc(alignment, rounded);
    if (!data_)
        throw Error("aligned_malloc", CUDA_ERROR_OUT_OF_MEMORY,
                    std::to_string(bytes) + " bytes of host memory wanted");
}

AlignedHostMemory::AlignedHostMemory(AlignedHostMemory &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

AlignedHostMemory &AlignedHostMemory::operator=(AlignedHostMemory &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

AlignedHostMemory::~AlignedHostMemory() { std::free(data_); }

void *AlignedHostMemory::data() const {
    return require(data_, "aligned_host_allocation::data", "aligned memory", bytes_);
}

void AlignedHostMemory::free() {
    require(data_, "aligned_host_allocation::free", "aligned memory", bytes_);
    std::free(std::exchange(data_, nullptr));
}

RegisteredHostMemory::RegisteredHostMemory(void *data, std::size_t bytes, unsigned flags)
    : bytes_(bytes), context_(Context::require_current()) {
    check(driver().cuMemHostRegister.status(data, bytes, flags), "cuMemHostRegister", [&] {
        return detail::describe_memory("host memory", reinterpret_cast<std::uintptr_t>(data),
                                       bytes);
    });
    data_ = data;
}

RegisteredHostMemory::RegisteredHostMemory(RegisteredHostMemory &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_),
      context_(std::move(other.context_)) {}

RegisteredHostMemory &RegisteredHostMemory::operator=(RegisteredHostMemory &&other) noexcept {
    if (this != &other) {
        reset();
        data_ = std::exchange(other.data_, nullptr);
        bytes_ = other.bytes_;
        context_ = std::move(other.context_);
    }
    return *this;
}

RegisteredHostMemory::~RegisteredHostMemory() { reset(); }

void RegisteredHostMemory::reset() noexcept {
    if (void *data = std::exchange(data_, nullptr))
        detail::run_cleanup(context_, "cuMemHostUnregister", unregister_memory, data);
}

void *RegisteredHostMemory::data() const {
    return require(data_, "registered_host_memory::data", "registration", bytes_);
}

CUdeviceptr RegisteredHostMemory::device_pointer() const {
    return device_pointer_of(data(), context_);
}

void RegisteredHostMemory::unregister() {
    require(data_, "registered_host_memory::unregister", "registration", bytes_);
    void *data = std::exchange(data_, nullptr);
    if (!context_.usable())
        return;
    ScopedContext scope(context_);
    driver().cuMemHostUnregister(data);
}

} // namespace pycuda
