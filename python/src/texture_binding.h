// texture_binding.h -- what a texture or surface variable of a module is bound to.
#pragma once

#include "bindings.h"
#include "interruptible.h"

#include <pycuda/context.h>
#include <pycuda/cuda_array.h>
#include <pycuda/driver_calls.h>

#include <memory>
#include <utility>

namespace pycuda::python {

/// What a variable of a module refers to: the texture or surface, and its memory. The end waits for
/// the kernels that may read it. The memory of an Array lives as long, even if the program frees
/// the Array: a launch does not know which variables its kernel reads.
template <class Object> class Binding {
  public:
    Binding(Object object, nb::object memory)
        : kept_(keep_array(memory)), object_(std::move(object)), memory_(std::move(memory)),
          context_(Context::require_current()) {}
    Binding(const Binding &) = delete;
    Binding &operator=(const Binding &) = delete;
    ~Binding() {
        if (!driver_is_usable() || !context_.usable())
            return;
        const ScopedContext scope(context_);
        settle_current_context();
    }

    const Object &object() const noexcept { return object_; }
    const nb::object &memory() const noexcept { return memory_; }
    /// A kernel that has not run yet reads the variable when it runs.
    void wait() const {
        wait_without_gil([&](const KeepWaiting &keep) { context_.synchronize(keep); });
    }

  private:
    static std::shared_ptr<const void> keep_array(nb::handle memory) {
        const CudaArray *array = nullptr;
        return nb::try_cast(memory, array) && array ? array->keep() : nullptr;
    }

    std::shared_ptr<const void> kept_; // destroyed after the object that reads it
    Object object_;
    nb::object memory_;
    Context context_;
};

} // namespace pycuda::python
