// module.h -- a program that is loaded into a context: its variables have addresses, and its
// kernels can be called.
#pragma once

#include "compiler/program.h"
#include "device/compilation.h"
#include "device/launch_setup.h"
#include "device/texture.h"
#include "rt/grid.h"

#include <cuda.h>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace softcuda::device {

class Context;
class Module;

/// The code of a launch.
struct LaunchCode {
    const compiler::CompiledKernel *ready = nullptr; ///< exists as long as the function
    std::shared_ptr<Compilation> compilation;        ///< to wait for; null if `ready` is not
};

/// One kernel of a module.
class Function {
  public:
    Function(Module &module, std::size_t index);

    [[nodiscard]] Module &module() const noexcept { return module_; }
    [[nodiscard]] const compiler::KernelInfo &info() const noexcept { return info_; }

    /// CU_FUNC_ATTRIBUTE_*. Throw Error(invalid value).
    [[nodiscard]] int attribute(CUfunction_attribute attribute) const;
    void set_attribute(CUfunction_attribute attribute, int value);

    /// The maximum dynamic shared memory of a launch. Bytes.
    [[nodiscard]] unsigned max_dynamic_shared() const noexcept { return max_dynamic_shared_; }

    /// The size of its clusters; all 0 if the launch determines it.
    [[nodiscard]] std::array<std::uint32_t, 3> cluster() const noexcept;
    /// Whether cluster() is not 0.
    [[nodiscard]] bool has_cluster() const noexcept {
        return (info_.required_cluster[0] | cluster_[0] | cluster_[1] | cluster_[2]) != 0;
    }
    /// Whether clusters may be larger than the portable maximum.
    [[nodiscard]] bool allows_any_cluster() const noexcept { return any_cluster_; }

    /// The code for a launch of so many blocks. Its compilation begins at the first call for a
    /// shape. A shape with shared code gets its own when its launches have taken longer than that
    /// takes. Throws Error if the shape needs an unsupported feature; the compiler's message is in
    /// the fault log.
    LaunchCode code(const compiler::Shape &shape, std::uint64_t blocks);

    /// The time of recent blocks of this kernel.
    rt::BlockTime block_time{0};

    /// For launches with separate calls for each setting.
    LaunchSetup setup;

  private:
    /// The code for one shape.
    struct ShapeCode {
        compiler::Shape shape;
        std::shared_ptr<Compilation> compilation;
        std::shared_ptr<Compilation> own; ///< replaces shared code when it is done; null: none
        std::uint64_t shared_time = 0; ///< estimated processor time of launches of shared code, ns
        bool asked_for_own = false;
    };

    /// The final code for one shape, in a list. Launches read the list without the lock.
    struct ReadyCode {
        compiler::Shape shape;
        const compiler::CompiledKernel *code;
        const ReadyCode *older;
    };

    std::shared_ptr<Compilation> find_or_begin_locked(const compiler::Shape &shape,
                                                      std::uint64_t expected_time);
    [[nodiscard]] const compiler::CompiledKernel *
    find_ready(const compiler::Shape &shape) const noexcept;
    std::shared_ptr<Compilation> begin(const compiler::Shape &shape, compiler::SharedCode sharing);
    void improve(ShapeCode &code, std::uint64_t expected_time) noexcept;

    Module &module_;
    std::size_t index_;
    const compiler::KernelInfo &info_;
    std::atomic<unsigned> max_dynamic_shared_;
    std::atomic<int> carveout_{-1};
    std::atomic<bool> any_cluster_{false};
    std::array<std::atomic<std::uint32_t>, 3> cluster_{}; ///< 0: not set
    std::mutex mutex_;
    std::vector<ShapeCode> compilations_;
    std::deque<ReadyCode> ready_codes_;
    std::atomic<const ReadyCode *> ready_{nullptr}; ///< the newest one
};

/// A module. Exists as long as the client or a launch uses it.
class Module {
  public:
    /// Allocates and initialises the program's variables. Throws Error(out of memory).
    Module(Context &context, std::shared_ptr<compiler::Program> program);
    Module(const Module &) = delete;
    ~Module();

    [[nodiscard]] Context &context() const noexcept { return context_; }
    /// Whether the context was reset or destroyed, and the memory of the variables with it.
    [[nodiscard]] bool outlives_context() const noexcept;
    [[nodiscard]] compiler::Program &program() const noexcept { return *program_; }
    [[nodiscard]] const std::vector<std::unique_ptr<Function>> &functions() const noexcept {
        return functions_;
    }

    /// The kernel of that name, or null.
    [[nodiscard]] Function *function(std::string_view name) const noexcept;

    /// The kernel whose address in device code this is, or null.
    [[nodiscard]] Function *function_at(std::uint64_t address) const noexcept;

    struct Global {
        std::uint64_t address = 0; ///< 0: there is no such variable
        std::uint64_t size = 0;
        compiler::VariableSpace space = compiler::VariableSpace::Global;
        compiler::VariableContent content = compiler::VariableContent::Data;
    };
    /// Throws Error(out of memory).
    [[nodiscard]] Global global(std::string_view name);

    /// The reference whose handle a variable contains, created at the first call.
    TextureReference &reference(std::uint64_t variable, TextureReference::Kind kind);

    /// The address of each variable, in the order that generated code uses; 0 for unused ones.
    [[nodiscard]] const std::uint64_t *symbols() const noexcept { return symbols_.data(); }

  private:
    void place(std::size_t index);
    void initialise(std::size_t index);
    void release_variables() noexcept;

    Context &context_;
    std::uint64_t life_; ///< of the context
    std::shared_ptr<compiler::Program> program_;
    std::vector<std::uint64_t> symbols_; ///< 0: not in memory, because only a client can ask for it
    std::uint64_t first_function_ = 0;   ///< before the address of the first one; 0: none is taken
    std::mutex unused_mutex_;
    std::vector<std::unique_ptr<Function>> functions_;
    std::mutex references_mutex_;
    std::map<std::uint64_t, std::shared_ptr<TextureReference>> references_; ///< by variable
};

/// Registers a module and its functions.
void register_module(const std::shared_ptr<Module> &module);
void unregister_module(const Module &module);

} // namespace softcuda::device
