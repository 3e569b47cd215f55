// caller_lock.h -- a lock that programs hold while they call the library, such as Python's GIL.
//
// A function of the host in a stream may need the lock. A call that waits for the stream while it
// holds the lock would wait for ever, and so would a call that waits for a lock of the driver,
// which another thread holds until the function has run. So the table of driver functions releases
// the caller's lock in each call that can wait for work, and in all calls while such functions
// exist (driver.h); calls of NVIDIA's libraries do the same, and a thread that waits for a mutex of
// the library releases it too (CallerMutex).
#pragma once

#include <atomic>
#include <mutex>

namespace pycuda {

/// Functions that release and acquire the lock. Both run in the thread that calls the library.
struct CallerLock {
    /// Releases the lock if this thread holds it. Returns the argument of acquire(); null if this
    /// thread does not hold the lock.
    void *(*release)() = nullptr;
    /// Acquires the lock. `released` is the result of release(), which was not null.
    void (*acquire)(void *released) = nullptr;
};

/// Sets the lock that calls release while they wait: for the device, for a mutex, and for the
/// compilation of a kernel at its first use. Call it once, before other threads use the library.
void set_caller_lock(const CallerLock &lock) noexcept;

/// Releases the caller's lock for a scope.
class [[nodiscard]] CallerUnlocked {
  public:
    /// Calls CallerLock::release(). Does nothing if there is no lock or if this thread does not
    /// hold it.
    CallerUnlocked() noexcept;
    ~CallerUnlocked();
    CallerUnlocked(const CallerUnlocked &) = delete;
    CallerUnlocked &operator=(const CallerUnlocked &) = delete;

  private:
    void *released_;
};

/// Exists while the driver may need the caller's lock: for a function of the host that runs once, a
/// graph with such functions, or a tool that the driver calls. Meanwhile every call of the driver
/// releases the lock, because it may wait for a place in a full queue or for a lock of the driver.
class [[nodiscard]] CallerLockUse {
  public:
    /// Counts one more use.
    CallerLockUse() noexcept { uses_.fetch_add(1, std::memory_order_relaxed); }
    ~CallerLockUse() { uses_.fetch_sub(1, std::memory_order_relaxed); }
    CallerLockUse(const CallerLockUse &) = delete;
    CallerLockUse &operator=(const CallerLockUse &) = delete;

    /// Whether an object exists in any thread.
    static bool any() noexcept { return uses_.load(std::memory_order_relaxed) != 0; }

  private:
    static std::atomic<int> uses_;
};

/// A mutex of the library. No thread waits for it while it holds the caller's lock, so the owner
/// may release and acquire the caller's lock meanwhile.
class CallerMutex {
  public:
    /// Releases the caller's lock while it waits.
    void lock() {
        if (!mutex_.try_lock()) [[unlikely]]
            wait();
    }
    /// Does not wait.
    bool try_lock() noexcept { return mutex_.try_lock(); }
    /// Call it in the thread that has locked the mutex.
    void unlock() noexcept { mutex_.unlock(); }

  private:
    void wait();
    std::mutex mutex_;
};

} // namespace pycuda
