// caller_lock.cpp -- releases the lock of the library's caller during waits.
#include <pycuda/caller_lock.h>

namespace pycuda {
namespace {
CallerLock caller_lock;
}

void set_caller_lock(const CallerLock &lock) noexcept { caller_lock = lock; }

std::atomic<int> CallerLockUse::uses_ = 0;

void CallerMutex::wait() {
    const CallerUnlocked unlocked;
    mutex_.lock();
}

CallerUnlocked::CallerUnlocked() noexcept
    : released_(caller_lock.release == nullptr ? nullptr : caller_lock.release()) {}

CallerUnlocked::~CallerUnlocked() {
    if (released_ != nullptr)
        caller_lock.acquire(released_);
}

} // namespace pycuda
