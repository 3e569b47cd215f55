// registry.h -- the valid handles of one type.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace softcuda::device {

/// Maps a handle, which is the address of its object, to the object while it exists. An invalid or
/// destroyed handle is recognised without a dereference. If one thread destroys an object while
/// calls of other threads use it, the object exists until these calls end.
template <class T> class Registry {
  public:
    void add(std::shared_ptr<T> object) {
        std::unique_lock lock(mutex_);
        const void *handle = object.get();
        objects_.emplace(handle, std::move(object));
    }

    /// The object of `handle`, or null.
    [[nodiscard]] std::shared_ptr<T> find(const void *handle) const {
        std::shared_lock lock(mutex_);
        const auto position = objects_.find(handle);
        return position == objects_.end() ? nullptr : position->second;
    }

    /// Removes `handle` and returns its object, or null.
    std::shared_ptr<T> remove(const void *handle) {
        std::unique_lock lock(mutex_);
        const auto position = objects_.find(handle);
        if (position == objects_.end())
            return nullptr;
        std::shared_ptr<T> object = std::move(position->second);
        objects_.erase(position);
        return object;
    }

    /// Removes all objects for which `predicate` is true. They are destroyed with the result, after
    /// the lock is released.
    template <class Predicate> std::vector<std::shared_ptr<T>> remove_if(Predicate predicate) {
        std::vector<std::shared_ptr<T>> removed;
        std::unique_lock lock(mutex_);
        for (auto position = objects_.begin(); position != objects_.end();) {
            if (!predicate(*position->second)) {
                ++position;
                continue;
            }
            removed.push_back(std::move(position->second));
            position = objects_.erase(position);
        }
        return removed;
    }

  private:
    mutable std::shared_mutex mutex_;
    std::unordered_map<const void *, std::shared_ptr<T>> objects_;
};

/// As Registry, for objects that have other owners: an object removes itself when it is destroyed.
template <class T> class WeakRegistry {
  public:
    void add(std::uint64_t handle, const std::shared_ptr<T> &object) {
        std::lock_guard lock(mutex_);
        objects_[handle] = object;
    }
    void remove(std::uint64_t handle) noexcept {
        std::lock_guard lock(mutex_);
        objects_.erase(handle);
    }
    /// The object of `handle`, or null.
    [[nodiscard]] std::shared_ptr<T> find(std::uint64_t handle) {
        std::lock_guard lock(mutex_);
        const auto position = objects_.find(handle);
        return position == objects_.end() ? nullptr : position->second.lock();
    }

  private:
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::weak_ptr<T>> objects_;
};

/// The process's registry of objects of class T; never destroyed: destructors of clients may still
/// destroy objects.
template <class T> WeakRegistry<T> &weak_registry() {
    static auto *const instance = new WeakRegistry<T>;
    return *instance;
}

/// The process's registry of objects of class T; never destroyed.
template <class T> Registry<T> &registry() {
    static auto *const instance = new Registry<T>;
    return *instance;
}

} // namespace softcuda::device
