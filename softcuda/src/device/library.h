// library.h -- programs without a context: each context that uses a library gets a module.
#pragma once

#include "device/module.h"

#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace softcuda::device {

class Library;

/// A kernel of a library. Its function depends on the context.
class Kernel {
  public:
    Kernel(Library &library, std::size_t index) noexcept : library_(library), index_(index) {}

    [[nodiscard]] Library &library() const noexcept { return library_; }
    [[nodiscard]] const compiler::KernelInfo &info() const noexcept;

    /// The kernel in `context`; loads the library if necessary. The result keeps the function
    /// alive.
    [[nodiscard]] std::shared_ptr<Function> function(Context &context) const;

  private:
    Library &library_;
    std::size_t index_;
};

/// A library of cuLibraryLoadData. Any thread may call any function.
class Library {
  public:
    explicit Library(std::shared_ptr<compiler::Program> program);
    Library(const Library &) = delete;

    [[nodiscard]] compiler::Program &program() const noexcept { return *program_; }
    [[nodiscard]] const std::vector<std::unique_ptr<Kernel>> &kernels() const noexcept {
        return kernels_;
    }
    /// The kernel of that name, or null.
    [[nodiscard]] Kernel *kernel(std::string_view name) const noexcept;

    /// The library's module in `context`, created at the first call.
    [[nodiscard]] std::shared_ptr<Module> module(Context &context);

    /// All modules that exist.
    [[nodiscard]] std::vector<std::shared_ptr<Module>> modules();

  private:
    std::shared_ptr<compiler::Program> program_;
    std::vector<std::unique_ptr<Kernel>> kernels_;
    std::mutex mutex_;
    std::map<const Context *, std::weak_ptr<Module>> modules_; ///< the registry owns them
};

} // namespace softcuda::device
