// texture_binding.h -- what a texture or surface variable of a module is bound to.
#pragma once

#include "arrays/array_allocation.h"
#include "arrays/array_object.h"
#include "support/bindings.h"
#include "support/interruptible.h"

#include <pycuda/context.h>
#include <pycuda/cuda_array.h>
#include <pycuda/driver_calls.h>
#include <pycuda/memory.h>

#include <memory>
#include <utility>

namespace pycuda::python {

/// What a variable of a module refers to: the texture or surface, and its memory. The end waits for
/// the kernels that may read it. The memory lives as long, even if the program frees it: a launch
/// does not know which variables its kernel reads. (A block of a pool is in the pool's hands after
/// free().)
template <class Object> class Binding {
  public:
    Binding(Object object, nb::object memory)
        : kept_(keep(memory)), object_(std::move(object)), memory_(std::move(memory)),
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
        wait_with_signals([&](const KeepWaiting &keep) { context_.synchronize(keep); });
    }

  private:
    static std::shared_ptr<const void> keep(nb::handle memory) {
        const CudaArray *cuda_array = nullptr;
        if (nb::try_cast(memory, cuda_array) && cuda_array)
            return cuda_array->keep();
        if (is_array(memory))
            return array_of(memory).memory();
        if (const ArrayAllocation *block = find_array_allocation(memory))
            return block->memory();
        DeviceMemory *linear = nullptr;
        return nb::try_cast(memory, linear) && linear ? linear->keep() : nullptr;
    }

    std::shared_ptr<const void> kept_; // destroyed after the object that reads it
    Object object_;
    nb::object memory_;
    Context context_;
};

} // namespace pycuda::python
