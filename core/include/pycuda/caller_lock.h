// caller_lock.h -- a lock that programs hold while they call the library, such as Python's GIL.
#pragma once

namespace pycuda {

/// Functions that release and acquire the lock. Both run in the thread that calls the library.
struct CallerLock {
    /// Releases the lock if this thread holds it. Returns the argument of acquire(); null if this
    /// thread does not hold the lock.
    void *(*release)() = nullptr;
    void (*acquire)(void *released) = nullptr;
};

/// Sets the lock that long calls release: waits for the device, copies that may wait for the
/// device, and the compilation of a kernel at its first use. Without the release a deadlock is
/// possible, because a host function of a stream may wait for the lock. Call it once, before other
/// threads use the library.
void set_caller_lock(const CallerLock &lock) noexcept;

/// Releases the caller's lock for a scope. No C++ lock may be held at the end of the scope, because
/// the caller's lock is the outermost.
class [[nodiscard]] CallerUnlocked {
  public:
    CallerUnlocked() noexcept;
    ~CallerUnlocked();
    CallerUnlocked(const CallerUnlocked &) = delete;
    CallerUnlocked &operator=(const CallerUnlocked &) = delete;

  private:
    void *released_;
};

} // namespace pycuda
