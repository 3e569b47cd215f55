// caller_lock.h -- a lock that programs hold while they call the library, such as Python's GIL.
#pragma once

namespace pycuda {

/// How such a lock is let go of and taken again. Both run in the thread that calls the library.
struct CallerLock {
    /// Lets go of the lock where this thread holds it. Returns what acquire() needs; null where
    /// there is nothing to take again.
    void *(*release)() = nullptr;
    void (*acquire)(void *released) = nullptr;
};

/// From now on, calls that take long and need nothing of their caller let go of this lock
/// meanwhile: waits for the device, copies that may wait for it, and compiling a kernel at its
/// first use. The device may itself wait for who has the lock: a host function of a stream does.
/// To be set once, before other threads call.
void set_caller_lock(const CallerLock &lock) noexcept;

/// Lets go of the caller's lock for a scope. No lock of C++ may be held where this ends: the
/// caller's is the outermost.
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
