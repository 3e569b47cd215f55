// error_flags.cpp -- allocates page-locked flags, and reads them after a wait.
#include "arrays/error_flags.h"

#include <pycuda/called_function.h>
#include <pycuda/driver.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace pycuda {
namespace {

constexpr detail::HostRange::Kind page_locked = {
    "cuMemFreeHost", [](void *data) { return driver().cuMemFreeHost.status(data); }};

constexpr std::size_t bytes_of_call = ErrorFlags::flags_of_call * sizeof(std::int32_t);

} // namespace

FailedCheck index_out_of_bounds(std::string_view operation, int axis, std::int64_t extent) {
    return {FailedCheck::Kind::Index,
            called_function(operation) + ": an index is out of bounds for axis " +
                std::to_string(axis) + " with size " + std::to_string(extent) +
                ", in a launch of the graph that recorded the call"};
}

ErrorFlags::ErrorFlags(Context context) : context_(std::move(context)) {}

void ErrorFlags::Call::take_place() {
    ErrorFlags &flags = flags_;
    std::lock_guard lock(flags.mutex_);
    if (flags.free_.empty()) {
        const ScopedContext scope(flags.context_);
        constexpr std::size_t bytes = calls_at_once * bytes_of_call;
        void *data = driver().cuMemHostAlloc.value(bytes, CU_MEMHOSTALLOC_DEVICEMAP);
        detail::HostRange block(page_locked, data, bytes, flags.context_);
        std::memset(data, 0, bytes);
        const CUdeviceptr address = block.device_pointer();
        flags.free_.reserve((flags.blocks_.size() + 1) * calls_at_once); // ~Call() must not throw
        flags.addresses_.push_back(address);
        flags.blocks_.push_back(std::move(block));
        for (std::size_t i = calls_at_once; i > 0; --i)
            flags.free_.push_back(flags.blocks_.size() * calls_at_once - i);
    }
    place_ = flags.free_.back();
    flags.free_.pop_back();
}

ErrorFlags::Call::~Call() {
    const Driver *loaded = driver_for_cleanup();
    if (loaded == nullptr || recorded_ != 0)
        return;
    if (!is_complete_) // after an exception: a kernel may still write
        (void)loaded->cuStreamSynchronize.status(stream_.get());
    std::ranges::fill(values(), 0);
    std::lock_guard lock(flags_.mutex_);
    flags_.free_.push_back(place_);
}

std::span<std::int32_t> ErrorFlags::Call::values() const noexcept {
    std::lock_guard lock(flags_.mutex_); // another call may add a block
    auto *block = static_cast<std::byte *>(flags_.blocks_[place_ / calls_at_once].data());
    auto *first = reinterpret_cast<std::int32_t *>(block + place_ % calls_at_once * bytes_of_call);
    return {first, flags_of_call};
}

CUdeviceptr ErrorFlags::Call::address() const noexcept {
    if (recorded_ != 0)
        return recorded_;
    std::lock_guard lock(flags_.mutex_);
    return flags_.addresses_[place_ / calls_at_once] + place_ % calls_at_once * bytes_of_call;
}

void ErrorFlags::Call::mark_last_use() {
    if (recorded_ != 0)
        return;
    {
        std::lock_guard lock(flags_.mutex_);
        auto place = flags_.marks_.find(place_);
        if (place == flags_.marks_.end())
            place =
                flags_.marks_.try_emplace(place_, Event(flags_.context_, CU_EVENT_DISABLE_TIMING))
                    .first;
        last_use_ = &place->second;
    }
    last_use_->record(stream_);
}

int ErrorFlags::Call::wait(std::size_t count) {
    if (recorded_ != 0)
        return -1;
    if (last_use_ != nullptr)
        last_use_->synchronize();
    else
        synchronize(stream_);
    is_complete_ = true;
    const auto found = values().first(count);
    const auto first = std::ranges::find(found, 1);
    return first == found.end() ? -1 : static_cast<int>(first - found.begin());
}

} // namespace pycuda
