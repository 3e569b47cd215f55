// program.h -- a PTX module that has been read and checked, and its kernels compiled on demand.
//
// This is all that device/ and api/ know of the compiler. Addresses never enter generated code:
// module variables are reached through LaunchFrame::symbols, so one compiled kernel serves every
// load of the same text.
#pragma once

#include "rt/kernel_abi.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::compiler {

/// One kernel parameter: where it lies in the packed parameter block. Bytes.
struct Parameter {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t align = 1;
};

/// What is known of a kernel before it is compiled for a block shape.
struct KernelInfo {
    std::string name;
    std::uint64_t address = 0; ///< the number that the kernel's name stands for in device code
    std::vector<Parameter> parameters;
    std::uint32_t parameter_bytes = 0;
    std::uint32_t static_shared_bytes = 0;
    std::uint32_t local_bytes_per_thread = 0;        ///< without the call stack
    bool needs_call_stack = false;                   ///< calls functions, or has an alloca
    std::array<std::uint32_t, 3> required_block{};   ///< .reqntid, 0 where absent
    std::uint32_t max_threads = 1024;                ///< .maxntid's product, at most 1024
    std::array<std::uint32_t, 3> required_cluster{}; ///< .reqnctapercluster, 0 where absent
    bool explicit_cluster = false;                   ///< it has to be launched in clusters
    std::uint32_t max_cluster = 0;                   ///< .maxclusterrank, 0 where absent
    std::uint32_t registers = 0; ///< 32-bit registers live at once: what ptxas would about report
    std::uint32_t virtual_architecture = 0; ///< of .target, 80 for sm_80
};

/// An address that an initialiser contains: the final value is added at `offset`, 8 bytes.
struct Relocation {
    std::uint64_t offset = 0;
    std::uint32_t variable = 0; ///< index into Program::variables()
    std::int64_t addend = 0;
};

enum class VariableSpace { Global, Constant, Managed };

/// What a variable holds: the 8 bytes of a .texref or .surfref are an object's handle.
enum class VariableContent { Data, Texture, Surface };

/// A module-level .global or .const variable. Its index is its place in LaunchFrame::symbols.
struct Variable {
    std::string name;
    VariableSpace space = VariableSpace::Global;
    VariableContent content = VariableContent::Data;
    std::uint64_t size = 0;
    std::uint32_t align = 1;
    bool visible = true;            ///< found by cuModuleGetGlobal
    std::vector<std::byte> initial; ///< shorter than size: the rest is zero
    std::vector<Relocation> relocations;
};

/// A place in the source: no file where it is not known.
struct SourcePlace {
    std::string file;
    std::uint32_t line = 0, column = 0;
};

/// The origin of an access's address: a pointer parameter of a kernel, or a variable.
struct AccessedVariable {
    std::string name;                       ///< in the source; empty where that is not known
    std::optional<std::uint32_t> parameter; ///< of the kernel: its number
};

enum class AccessDirection { Read, Write };

/// Machine code for one kernel and one block shape. Stays valid while held.
struct CompiledKernel {
    rt::Tier tier = rt::Tier::Regions;
    rt::KernelEntry entry = nullptr;      ///< in the region tier
    rt::WarpEntry warp_entry = nullptr;   ///< in the others
    std::uint64_t scratch_bytes = 0;      ///< WorkerState::scratch that a block needs
    std::uint64_t frame_bytes = 0;        ///< of the stack, that its functions need
    std::uint64_t instructions_per_block; ///< rough cost, loops counted once
    std::uint32_t call_stack = 0;         ///< what it was compiled for: Shape::call_stack
    bool debugged = false;                ///< for a debugger: frames on the stack are large
    bool checked = false;                 ///< tells what it does: rt/watch.h
    bool counted = false;                 ///< counts what it does: rt/counts.h
    bool loops = false; ///< has a loop: may run long, so never on the caller's own thread
    std::shared_ptr<const void> code; ///< keeps the machine code mapped
    /// The place for an address in the machine code; no file where that is not known.
    std::function<SourcePlace(std::uint64_t address)> place_of;
    /// The memory that the code of a source line may read or write. Empty if it is unknown.
    std::function<std::vector<AccessedVariable>(const SourcePlace &, AccessDirection)> accessed_at;
};

/// What a kernel is compiled for.
struct Shape {
    std::array<std::uint32_t, 3> block{1, 1, 1};
    /// True when gridDim * blockDim stays below 2^31 in each dimension, as in nearly every launch:
    /// global thread indices then cannot wrap, which lets them be widened to 64 bits for free.
    bool small_grid = true;
    /// True for a cooperative launch, whose blocks may wait for each other.
    bool cooperative = false;
    /// Bytes of local memory that a thread has for the variables of functions that are called; 0
    /// for a kernel that needs none.
    std::uint32_t call_stack = 0;
    /// The events that the kernel reports: rt::WatchNeeds, 0 for none.
    std::uint32_t watch = 0;
    /// Kernels that count what they do (rt/counts.h), in the tiers in which warps are fibers.
    bool counts = false;
    friend bool operator==(const Shape &, const Shape &) = default;
};

/// One of the texts that are linked to one, and what messages call it.
struct LinkInput {
    std::string name;
    std::string ptx;
};

/// A module. Immutable once made; compile() may be called from any thread.
class Program {
  public:
    /// Reads, checks and lowers PTX. On failure returns null and `log` has the diagnostics, each
    /// with line, column and the source line; on success `log` has warnings, if any.
    static std::shared_ptr<Program> from_ptx(std::string_view ptx, std::string &log);

    /// Links PTX modules to one by the names of their symbols. On failure returns nothing and `log`
    /// has the messages. Kernels get a limit of registers if it is not 0.
    static std::optional<std::string> link(const std::vector<LinkInput> &inputs, std::string &log,
                                           std::uint32_t most_registers);

    virtual ~Program() = default;
    [[nodiscard]] virtual const std::vector<KernelInfo> &kernels() const = 0;
    [[nodiscard]] virtual const std::vector<Variable> &variables() const = 0;

    /// Kernels report no more registers than these; 0: as many as they need. Before others see the
    /// program.
    virtual void limit_registers(std::uint32_t most) = 0;

    /// Compiles kernel `index` for `shape`, or finds it in this process or in the disk cache.
    /// Returns null with a message in `log` when a feature is missing in this shape.
    [[nodiscard]] virtual std::shared_ptr<const CompiledKernel>
    compile(std::size_t index, const Shape &shape, std::string &log) = 0;
};

} // namespace softcuda::compiler
