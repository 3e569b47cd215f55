// device_scope.h -- runs an operation on the device of its arrays.
#pragma once

#include "array_object.h"
#include "bindings.h"

#include <pycuda/context.h>
#include <pycuda/stream.h>

#include <optional>
#include <span>
#include <utility>

namespace pycuda::python {

/// Makes a context current in a scope. The thread's current stream becomes the context's default
/// stream, unless it is a stream of that context.
class [[nodiscard]] ContextScope {
  public:
    explicit ContextScope(const Context &context);

  private:
    ScopedContext context_;
    std::optional<StreamScope> stream_;
};

/// Makes the context of an operation's arrays current in a scope, if another context or none is
/// current in this thread. Without arrays, nothing changes.
class [[nodiscard]] DeviceScope {
  public:
    DeviceScope() = default;
    /// Uses the arrays among these objects.
    explicit DeviceScope(std::span<const nb::handle> objects) {
        for (nb::handle object : objects)
            add(object);
        enter();
    }

    /// Throws ValueError, which names both devices, if the arrays are on different devices.
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
    /// Ignores other parameters of a bound function.
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

    const ArrayContext *home_ = nullptr; ///< kept alive by the arrays
    std::optional<ContextScope> scope_;
};

/// Wraps a function for nanobind: it runs in the DeviceScope of its array arguments.
template <class Result, class... Args> auto on_device_of_arrays(Result (*function)(Args...)) {
    return [function](Args... args) -> Result {
        DeviceScope scope;
        (scope.add(args), ...);
        scope.enter();
        return function(std::forward<Args>(args)...);
    };
}

} // namespace pycuda::python
