// function.h -- a kernel: its name, its attributes, and what it takes.
#pragma once

#include <pycuda/context.h>
#include <pycuda/parameter.h>

#include <cuda.h>

#include <memory>
#include <string>

namespace pycuda {

namespace detail {
struct ModuleState;

struct FunctionState {
    CUfunction handle = nullptr;
    std::string name;
    ParameterLayout layout;
    std::shared_ptr<ModuleState> module; // keeps the code loaded
    Context context;
};
} // namespace detail

class Module;

/// A kernel of a module. A shared reference; keeps its module loaded.
class Function {
  public:
    /// A kernel that someone else keeps loaded.
    static Function borrow(CUfunction handle, std::string name, Context context);

    CUfunction get() const noexcept { return state_->handle; }
    const std::string &name() const noexcept { return state_->name; }
    const ParameterLayout &layout() const noexcept { return state_->layout; }
    const Context &context() const noexcept { return state_->context; }

    int attribute(CUfunction_attribute attribute) const;
    void set_attribute(CUfunction_attribute attribute, int value) const;
    void set_cache_config(CUfunc_cache config) const;
    void set_shared_config(CUsharedconfig config) const;

    bool operator==(const Function &) const = default;

  private:
    friend class Module;
    explicit Function(std::shared_ptr<const detail::FunctionState> state)
        : state_(std::move(state)) {}
    std::shared_ptr<const detail::FunctionState> state_;
};

} // namespace pycuda
