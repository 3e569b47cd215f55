// device_scope.h -- an operation runs on the device that its arrays are on.
#pragma once

#include "array_object.h"
#include "bindings.h"

#include <pycuda/context.h>
#include <pycuda/stream.h>

#include <optional>
#include <span>
#include <utility>

namespace pycuda::python {

/// Makes a context current for a scope. The thread's current stream gives way to the context's
/// default stream, unless it is a stream of that context.
class [[nodiscard]] ContextScope {
  public:
    explicit ContextScope(const Context &context);

  private:
    ScopedContext context_;
    std::optional<StreamScope> stream_;
};

/// Makes the context of an operation's arrays current for a scope, where another one is current in
/// this thread, or none. Without arrays, nothing changes.
class [[nodiscard]] DeviceScope {
  public:
    DeviceScope() = default;
    /// Of these objects, those that are arrays count.
    explicit DeviceScope(std::span<const nb::handle> objects) {
        for (nb::handle object : objects)
            add(object);
        enter();
    }

    /// Throws ValueError, which names both devices, where arrays are on different ones.
    void add(const Array &array) {
        if (array.memory()) [[likely]]
            add(array.context());
    }
    void add(nb::handle object) {
        if (object.is_valid() && is_array(object)) [[likely]]
            add(array_of(object));
    }
    void add(const nb::list &objects) { add_all(objects); }
    void add(const nb::args &objects) { add_all(objects); }
    /// Any other parameter of a bound function.
    template <class Other>
        requires(!std::is_base_of_v<nb::handle, Other>)
    void add(const Other &) noexcept {}

    void enter() {
        if (home_ != nullptr)
            enter_home();
    }

  private:
    void add(const std::shared_ptr<ArrayContext> &context) {
        if (home_ == nullptr)
            home_ = context.get();
        else if (home_ != context.get()) [[unlikely]]
            check_same_device(*context);
    }
    template <class Objects> void add_all(const Objects &objects) {
        for (nb::handle object : objects)
            add(object);
    }
    void check_same_device(const ArrayContext &other) const;
    void enter_home();

    const ArrayContext *home_ = nullptr; ///< which the arrays keep alive
    std::optional<ContextScope> scope_;
};

/// A function for nanobind that runs in the DeviceScope of the arrays among its arguments.
template <class Result, class... Args> auto on_device_of_arrays(Result (*function)(Args...)) {
    return [function](Args... args) -> Result {
        DeviceScope scope;
        (scope.add(args), ...);
        scope.enter();
        return function(std::forward<Args>(args)...);
    };
}

} // namespace pycuda::python
