// work_scope.h -- the context, the stream and the allocator of a call from Python.
#pragma once

#include "arrays/array_object.h"
#include "support/bindings.h"

#include <pycuda/work.h>

#include <span>
#include <utility>

namespace pycuda::python {

/// Makes the context of the arrays among the arguments of a call current in a scope. Without
/// arrays, nothing changes. The call reads its stream in the scope.
class [[nodiscard]] WorkScope {
  public:
    WorkScope() = default;
    /// Uses the arrays among these objects.
    explicit WorkScope(std::span<const nb::handle> objects) {
        for (nb::handle object : objects)
            add(object);
        enter();
    }

    void add(const Array &array) { context_.add(array); }
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

    /// Throws ValueError if the arrays are on two devices.
    void enter() { context_.enter(); }

  private:
    template <class Objects> void add_all(const Objects &objects) {
        for (nb::handle object : objects)
            add(object);
    }

    WorkContext context_;
};

/// Wraps a function for nanobind: it runs in the WorkScope of its arguments.
template <class Result, class... Args> auto in_work_scope(Result (*function)(Args...)) {
    return [function](Args... args) -> Result {
        WorkScope scope;
        (scope.add(args), ...);
        scope.enter();
        return function(std::forward<Args>(args)...);
    };
}

/// Calls `work(the current stream)` with the GIL released.
template <class Work> auto run_unlocked(Work &&work) {
    const StreamRef stream = current_stream();
    nb::gil_scoped_release release;
    return work(stream);
}

} // namespace pycuda::python
