// host_memory.cpp -- host memory that is known to the device (pinned, registered), and aligned
// memory.
#include <pycuda/memory.h>

#include "memory/freed.h"

#include <pycuda/driver.h>
#include <pycuda/handle.h>

#include <bit>
#include <cstdlib>
#include <utility>

namespace pycuda {
namespace {

constexpr detail::HostRange::Kind pinned = {
    "cuMemFreeHost", [](void *data) { return driver().cuMemFreeHost.status(data); }};
constexpr detail::HostRange::Kind registered = {
    "cuMemHostUnregister", [](void *data) { return driver().cuMemHostUnregister.status(data); }};

void *require(void *data, const char *function, const char *what, std::size_t bytes) {
    if (!data)
        throw Error(function, CUDA_ERROR_INVALID_HANDLE,
                    std::string("the ") + what + " of " + std::to_string(bytes) +
                        " bytes was released before");
    return data;
}

void *pin(std::size_t bytes, unsigned flags) {
    void *data = nullptr;
    check(driver().cuMemHostAlloc.status(&data, bytes, flags), "cuMemHostAlloc",
          [&] { return "requested " + std::to_string(bytes) + " bytes"; });
    return data;
}

void register_with_driver(void *data, std::size_t bytes, unsigned flags) {
    check(driver().cuMemHostRegister.status(data, bytes, flags), "cuMemHostRegister", [&] {
        return detail::describe_memory("host memory", reinterpret_cast<std::uintptr_t>(data),
                                       bytes);
    });
}

} // namespace

namespace detail {

HostRange::HostRange(HostRange &&other) noexcept
    : kind_(other.kind_), data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_),
      context_(std::move(other.context_)) {}

HostRange &HostRange::operator=(HostRange &&other) noexcept {
    if (this != &other) {
        reset();
        kind_ = other.kind_;
        data_ = std::exchange(other.data_, nullptr);
        bytes_ = other.bytes_;
        context_ = std::move(other.context_);
    }
    return *this;
}

HostRange::~HostRange() { reset(); }

void HostRange::reset() noexcept {
    if (void *data = std::exchange(data_, nullptr))
        run_cleanup(context_, kind_->function, kind_->give_back, data);
}

void HostRange::give_back() {
    void *data = std::exchange(data_, nullptr);
    if (!context_.usable())
        return;
    ScopedContext scope(context_);
    check(kind_->give_back(data), kind_->function);
}

CUdeviceptr HostRange::device_pointer() const {
    ScopedContext scope(context_);
    return driver().cuMemHostGetDevicePointer.value(data_, 0);
}

} // namespace detail

// Both constructors check the context first, so that a missing context is the reported error.

PinnedMemory::PinnedMemory(std::size_t bytes, unsigned flags)
    : range_([&] {
          Context context = Context::require_current();
          return detail::HostRange(pinned, pin(bytes, flags), bytes, std::move(context));
      }()),
      hold_(range_.context()) {}

void *PinnedMemory::data() const {
    return require(range_.data(), "pagelocked_host_allocation::data", "pinned memory", size());
}

CUdeviceptr PinnedMemory::device_pointer() const {
    static_cast<void>(data());
    return range_.device_pointer();
}

unsigned PinnedMemory::flags() const { return driver().cuMemHostGetFlags.value(data()); }

void PinnedMemory::free() {
    require(range_.data(), "pagelocked_host_allocation::free", "pinned memory", size());
    range_.give_back();
    hold_.reset();
}

AlignedHostMemory::AlignedHostMemory(std::size_t bytes, std::size_t alignment) : bytes_(bytes) {
    if (!std::has_single_bit(alignment))
        throw Error("aligned_malloc", CUDA_ERROR_INVALID_VALUE,
                    "the alignment is " + std::to_string(alignment) + ", expected a power of two");
    // aligned_alloc requires a size that is a multiple of the alignment, and an alignment of at
    // least a pointer's.
    alignment = std::max(alignment, alignof(std::max_align_t));
    const std::size_t rounded =
        (std::max<std::size_t>(bytes, 1) + alignment - 1) & ~(alignment - 1);
    data_ = std::aligned_alloc(alignment, rounded);
    if (!data_)
        throw Error("aligned_malloc", CUDA_ERROR_OUT_OF_MEMORY,
                    "requested " + std::to_string(bytes) + " bytes of host memory");
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
    : range_([&] {
          Context context = Context::require_current();
          register_with_driver(data, bytes, flags);
          return detail::HostRange(registered, data, bytes, std::move(context));
      }()) {}

void *RegisteredHostMemory::data() const {
    return require(range_.data(), "registered_host_memory::data", "registration", size());
}

CUdeviceptr RegisteredHostMemory::device_pointer() const {
    static_cast<void>(data());
    return range_.device_pointer();
}

void RegisteredHostMemory::unregister() {
    require(range_.data(), "registered_host_memory::unregister", "registration", size());
    range_.give_back();
}

} // namespace pycuda
