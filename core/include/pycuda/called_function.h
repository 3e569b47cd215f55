// called_function.h -- the function that a program has called, for error messages.
#pragma once

#include <string>
#include <string_view>

namespace pycuda {

/// Names the function that the program calls in a scope, for the errors of the work in the scope.
/// An inner scope changes nothing: the program knows the outermost function. For one thread.
class [[nodiscard]] CalledFunction {
  public:
    /// `describe(object)` returns the name, such as "take()", or "" if the program does not know
    /// the function. It is called only if there is an error, or a check that may become one.
    using Describe = std::string (*)(void *object);

    /// `object` must outlive the scope.
    CalledFunction(Describe describe, void *object) noexcept;
    ~CalledFunction();
    CalledFunction(const CalledFunction &) = delete;
    CalledFunction &operator=(const CalledFunction &) = delete;

  private:
    bool is_outermost_;
};

/// The name of the thread's scope; `otherwise` outside of all scopes, or for a name "".
std::string called_function(std::string_view otherwise);

} // namespace pycuda
