// module.h -- device code loaded into a context: kernels and global variables.
#pragma once

#include <pycuda/context.h>
#include <pycuda/function.h>
#include <pycuda/memory.h>
#include <pycuda/parameter.h>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pycuda {

namespace detail {
struct ModuleState;
}

/// What the driver's compiler said while it loaded code. Complete after success and failure.
struct JitLog {
    std::string info;
    std::string error;
};

/// Options of the driver's compiler, with the value that each takes.
using JitOptions = std::vector<std::pair<CUjit_option, std::uintptr_t>>;

/// Loaded device code. A shared reference: copies are the same module, which is unloaded when the
/// last copy and the last function of it are gone.
class Module {
  public:
    /// Into the current context. The image is a cubin, fatbin or PTX text; it is not needed
    /// afterwards. On failure the error says what the driver's compiler said.
    static Module load(std::span<const std::byte> image, const JitOptions &options = {},
                       JitLog *log = nullptr);
    static Module load_file(const std::filesystem::path &path);
    static Module adopt(CUmodule handle, Context context);
    static Module borrow(CUmodule handle, Context context);

    /// Throws Error (invalid handle) after close().
    CUmodule get() const;
    const Context &context() const noexcept;

    /// A kernel by name. An unknown name is an Error that lists the names there are.
    Function function(const std::string &name) const;

    /// The kernels' names in no particular order; empty where the driver cannot tell (before 12.4).
    std::vector<std::string> function_names() const;

    /// A __device__ or __constant__ variable.
    AddressRange global(const std::string &name) const;

    /// Tells what the parameters of kernel `name` mean, for its later function(name).
    void describe(const std::string &name, std::vector<ParameterDescription> parameters) const;
    /// The same for all kernels that a CUDA C++ text defines. Then numbers are converted to what a
    /// kernel takes, and a wrong kind of argument is noticed, not only a wrong size.
    void describe_from_source(std::string_view source) const;

    /// Unloads it now, whoever still has it or a function of it; those are refused afterwards. No
    /// thread may be launching a function of it, and its kernels must be done.
    void close();
    bool closed() const noexcept;

    bool operator==(const Module &) const = default;

  private:
    explicit Module(std::shared_ptr<detail::ModuleState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::ModuleState> state_;
};

} // namespace pycuda
