// function.h -- a kernel of a loaded module: its name, attributes and parameters.
#pragma once

#include <pycuda/context.h>
#include <pycuda/parameter.h>

#include <cuda.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace pycuda {

namespace detail {
struct ModuleState;

struct FunctionState {
    FunctionState(CUfunction handle, std::string name, ParameterLayout layout,
                  std::shared_ptr<ModuleState> module, Context context)
        : handle(handle), name(std::move(name)), layout(std::move(layout)),
          module(std::move(module)), context(std::move(context)) {}

    mutable std::atomic<CUfunction> handle; // null when its module was closed
    const std::string name;
    const ParameterLayout layout;
    const std::shared_ptr<ModuleState> module; // keeps the code loaded
    const Context context;
};
} // namespace detail

class Module;

/// A kernel of a module. A shared reference; keeps its module loaded.
class Function {
  public:
    /// Borrows a kernel that other code keeps loaded.
    static Function borrow(CUfunction handle, std::string name, Context context);

    /// The CUfunction; null after its module was closed or its context has ended.
    CUfunction get() const noexcept {
        return state_->context.usable() ? state_->handle.load(std::memory_order_relaxed) : nullptr;
    }
    /// As get(), but throws Error instead of returning null.
    CUfunction require() const;
    /// The name of the kernel, as Module::function() got it.
    const std::string &name() const noexcept { return state_->name; }
    /// The parameters of the kernel.
    const ParameterLayout &layout() const noexcept { return state_->layout; }
    /// The context of the module.
    const Context &context() const noexcept { return state_->context; }

    /// An attribute, such as the registers of a thread. Throws Error.
    int attribute(CUfunction_attribute attribute) const;
    /// Sets an attribute, such as the limit of dynamic shared memory in bytes. Throws Error.
    void set_attribute(CUfunction_attribute attribute, int value) const;
    /// The preferred division between first-level cache and shared memory for this kernel.
    void set_cache_config(CUfunc_cache config) const;
    /// The width of the banks of shared memory. Newer devices ignore the value.
    void set_shared_config(CUsharedconfig config) const;

    /// Whether both are one object and its copies; two calls of Module::function() give two
    /// objects.
    bool operator==(const Function &) const = default;

  private:
    friend class Module;
    explicit Function(std::shared_ptr<const detail::FunctionState> state)
        : state_(std::move(state)) {}
    std::shared_ptr<const detail::FunctionState> state_;
};

} // namespace pycuda
