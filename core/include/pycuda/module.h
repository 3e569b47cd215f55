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

/// The messages of the driver's compiler while it loaded code. Complete after success and failure.
struct JitLog {
    /// Messages, with the registers of each kernel if they were requested.
    std::string info;
    /// Error messages.
    std::string error;
};

/// Options of the driver's compiler, each with its value.
using JitOptions = std::vector<std::pair<CUjit_option, std::uintptr_t>>;

/// Loaded device code. A shared reference: copies are the same module, which is unloaded when the
/// last copy and the last function of it are gone.
class Module {
  public:
    /// Into the current context. The image is a cubin, fatbin or PTX text; it is not needed
    /// afterwards. On failure the Error has the messages of the driver's compiler.
    static Module load(std::span<const std::byte> image, const JitOptions &options = {},
                       JitLog *log = nullptr);
    /// Loads a file with PTX, a cubin or a fat binary into the current context. Throws Error.
    static Module load_file(const std::filesystem::path &path);
    /// Takes over a module from cuModuleLoad; unloads it at the end.
    static Module adopt(CUmodule handle, Context context);
    /// Uses a module that other code unloads.
    static Module borrow(CUmodule handle, Context context);

    /// Throws Error (invalid handle) after close(), and Error (invalid context) after the end of
    /// the context.
    CUmodule get() const;
    /// The context of the module.
    const Context &context() const noexcept;

    /// A kernel by name. Throws Error for an unknown name, with the list of existing names.
    Function function(const std::string &name) const;

    /// The names of the kernels in no particular order. Empty for drivers before CUDA 12.4.
    std::vector<std::string> function_names() const;

    /// A __device__ or __constant__ variable. Throws Error for an unknown name, with the
    /// list of existing names if describe_from_source() was called.
    AddressRange global(const std::string &name) const;

    /// Sets the description of the parameters of kernel `name`, for later calls of function(name).
    void describe(const std::string &name, std::vector<ParameterDescription> parameters) const;
    /// As above for the kernels that a CUDA C++ source defines, except templates and overloads.
    /// With a description, a launch converts numbers to the types of the parameters, and detects
    /// arguments of a wrong kind, not only of a wrong size.
    void describe_from_source(std::string_view source) const;

    /// Unloads the module now. Other copies of the module and its functions throw afterwards. No
    /// thread may launch a function of the module at the same time, and its kernels must be done.
    void close();
    /// True after close().
    bool closed() const noexcept;

    /// Whether both are one module.
    bool operator==(const Module &) const = default;

  private:
    explicit Module(std::shared_ptr<detail::ModuleState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::ModuleState> state_;
};

} // namespace pycuda
