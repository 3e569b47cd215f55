// device.cpp -- devices and their primary contexts.
#include "device/device.h"

#include "device/context.h"
#include "device/error.h"
#include "device/machine.h"
#include "device/memory_pool.h"
#include "device/registry.h"

#include <cstdio>
#include <cstring>

namespace softcuda::device {
namespace {

DeviceLimits limits_of(int architecture) {
    DeviceLimits limits; // as for compute capability 8.6 and 8.9
    switch (architecture) {
    case 75:
        limits.threads_per_multiprocessor = 1024;
        limits.shared_per_block_optin = 64 * 1024;
        limits.shared_per_multiprocessor = 64 * 1024;
        limits.reserved_shared_per_block = 0;
        break;
    case 80:
    case 87:
        limits.threads_per_multiprocessor = architecture == 80 ? 2048 : 1536;
        limits.blocks_per_multiprocessor = architecture == 80 ? 32 : 16;
        limits.shared_per_block_optin = 163 * 1024;
        limits.shared_per_multiprocessor = 164 * 1024;
        break;
    case 89:
        limits.blocks_per_multiprocessor = 24;
        break;
    case 90:
        limits.threads_per_multiprocessor = 2048;
        limits.blocks_per_multiprocessor = 32;
        limits.shared_per_block_optin = 227 * 1024;
        limits.shared_per_multiprocessor = 228 * 1024;
        break;
    default:
        break;
    }
    return limits;
}

} // namespace

std::string device_name() { return "softcuda (" + machine().processor + ")"; }

CUuuid device_uuid(int ordinal) {
    CUuuid uuid{};
    std::memcpy(uuid.bytes, "softcuda", 8);
    uuid.bytes[14] = static_cast<char>(ordinal >> 8);
    uuid.bytes[15] = static_cast<char>(ordinal);
    return uuid;
}

std::string device_pci_bus_id(int ordinal) {
    char text[16];
    std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(ordinal + 1) & 0xff);
    return text;
}

Device::Device(int ordinal, std::uint64_t memory_bytes, int architecture, unsigned multiprocessors)
    : ordinal_(ordinal), architecture_(architecture), multiprocessors_(multiprocessors),
      total_memory_(memory_bytes), limits_(limits_of(architecture)), name_(device_name()),
      default_pool_(std::make_shared<MemoryPool>(*this)), current_pool_(default_pool_) {
    registry<MemoryPool>().add(default_pool_);
}

Device::~Device() = default;

bool Device::take_memory(std::uint64_t bytes) noexcept {
    std::uint64_t used = used_.load();
    do {
        if (bytes > total_memory_ - used)
            return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return true;
}

Context &Device::retain_primary() {
    std::lock_guard lock(primary_mutex_);
    if (!primary_) {
        primary_ = std::make_shared<Context>(*this, primary_flags_, Context::Role::Primary);
        registry<Context>().add(primary_);
    } else if (!primary_->active()) {
        primary_->activate();
    }
    primary_uses_++;
    return *primary_;
}

void Device::release_primary() {
    std::lock_guard lock(primary_mutex_);
    require(primary_uses_ > 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--primary_uses_ == 0)
        primary_->tear_down(Context::Pending::Finish);
}

void Device::reset_primary() {
    std::lock_guard lock(primary_mutex_);
    if (!primary_ || !primary_->active())
        return;
    primary_->tear_down(Context::Pending::Drop);
    if (primary_uses_ > 0) // code that retains the context gets a new one
        primary_->activate();
}

void Device::set_primary_flags(unsigned flags) {
    std::lock_guard lock(primary_mutex_);
    primary_flags_ = flags;
    if (primary_)
        primary_->set_flags(flags);
}

unsigned Device::primary_flags() const {
    std::lock_guard lock(primary_mutex_);
    return primary_flags_;
}

bool Device::primary_active() const {
    std::lock_guard lock(primary_mutex_);
    return primary_ && primary_->active();
}

std::shared_ptr<MemoryPool> Device::current_pool() const {
    std::lock_guard lock(primary_mutex_);
    return current_pool_;
}

void Device::set_current_pool(std::shared_ptr<MemoryPool> pool) {
    std::lock_guard lock(primary_mutex_);
    current_pool_ = std::move(pool);
}

} // namespace softcuda::device
