// user_object.h -- a client's object that graphs keep alive.
#pragma once

#include <atomic>
#include <cuda.h>
#include <map>
#include <memory>

namespace softcuda::device {

/// An object of the client with a reference count. Any thread may call any function.
class UserObject {
  public:
    UserObject(void *object, CUhostFn destroy, unsigned count) noexcept
        : object_(object), destroy_(destroy), count_(count) {}

    void retain(unsigned count) noexcept { count_ += count; }
    /// Calls the client's function when the last reference is released. Throws Error(invalid value)
    /// for more references than exist.
    void release(unsigned count);

  private:
    void *object_;
    CUhostFn destroy_;
    std::atomic<unsigned> count_;
};

/// The references of a graph. A copy has separate references. Not synchronised.
class UserReferences {
  public:
    UserReferences() = default;
    UserReferences(const UserReferences &other);
    UserReferences &operator=(const UserReferences &) = delete;
    ~UserReferences();

    [[nodiscard]] bool empty() const noexcept { return counts_.empty(); }
    /// Takes over references of another owner.
    void adopt(const std::shared_ptr<UserObject> &object, unsigned count);
    /// Throws Error(invalid value) if there are fewer references.
    void release(const std::shared_ptr<UserObject> &object, unsigned count);

  private:
    std::map<std::shared_ptr<UserObject>, unsigned> counts_;
};

} // namespace softcuda::device
