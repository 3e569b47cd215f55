// program.h -- a parsed and checked PTX module, and its kernels, compiled on demand.
//
// The interface of the compiler for device/ and api/. Generated code contains no addresses: it
// accesses module variables through LaunchFrame::symbols, so a compiled kernel is valid each time
// that the text is loaded.
#pragma once

#include "compiler/compile_job.h"
#include "rt/group_probe.h"
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

/// One kernel parameter: its position in the packed parameter block. Bytes.
struct Parameter {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t align = 1;
};

/// The properties of a kernel before it is compiled for a block shape.
struct KernelInfo {
    std::string name;
    std::uint64_t address = 0; ///< in device code, from VariableContent::Functions on
    std::vector<Parameter> parameters;
    std::uint32_t parameter_bytes = 0;
    std::uint32_t static_shared_bytes = 0;
    std::uint32_t local_bytes_per_thread = 0;        ///< without the call stack
    bool needs_call_stack = false;                   ///< it calls functions, or has an alloca
    std::array<std::uint32_t, 3> required_block{};   ///< .reqntid, 0 where absent
    std::uint32_t max_threads = 1024;                ///< .maxntid's product, at most 1024
    std::array<std::uint32_t, 3> required_cluster{}; ///< .reqnctapercluster, 0 where absent
    bool explicit_cluster = false;                   ///< it must be launched in clusters
    std::uint32_t max_cluster = 0;                   ///< .maxclusterrank, 0 where absent
    std::uint32_t registers =
        0; ///< maximum number of live 32-bit registers: about what ptxas would report
    std::uint32_t virtual_architecture = 0; ///< of .target, 80 for sm_80
    bool launches_kernels = false;          ///< its code, or that of functions that it calls
    bool launches_graphs = false;           ///< the same
};

/// An address that an initialiser contains: the final value is added at `offset`, 8 bytes.
struct Relocation {
    std::uint64_t offset = 0;
    std::uint32_t variable = 0; ///< index into Program::variables()
    std::int64_t addend = 0;
};

enum class VariableSpace { Global, Constant, Managed };

/// The content of a variable: the 8 bytes of a .texref or .surfref are an object's handle.
/// Functions: `size` numbers without memory, which no other module has: the addresses of the
/// module's functions.
enum class VariableContent { Data, Texture, Surface, Functions };

/// A module-level .global or .const variable. Its index is its index in LaunchFrame::symbols.
struct Variable {
    std::string name;
    VariableSpace space = VariableSpace::Global;
    VariableContent content = VariableContent::Data;
    std::uint64_t size = 0;
    std::uint32_t align = 1;
    bool visible = true;            ///< has a name for other modules
    bool used = true;               ///< by code, or by the initialiser of another variable
    std::vector<std::byte> initial; ///< shorter than size: the rest is zero
    std::vector<Relocation> relocations;
};

/// A position in the source: no file if it is unknown.
struct SourcePlace {
    std::string file;
    std::uint32_t line = 0, column = 0;
};

/// The origin of an access's address: a pointer parameter of a kernel, or a variable.
struct AccessedVariable {
    std::string name;                       ///< in the source; empty if it is unknown
    std::optional<std::uint32_t> parameter; ///< for a kernel's parameter: its number
};

enum class AccessDirection { Read, Write };

/// Machine code for one kernel, and one block shape or all of them. Valid as long as it is held.
struct CompiledKernel {
    rt::Tier tier = rt::Tier::Regions;
    rt::KernelEntry entry = nullptr;      ///< for the region tier
    rt::WarpEntry warp_entry = nullptr;   ///< for the other tiers
    std::uint64_t scratch_bytes = 0;      ///< WorkerState::scratch of a block
    std::uint64_t frame_bytes = 0;        ///< stack size of its functions
    std::uint64_t instructions_per_block; ///< rough estimate, in which loops count once
    std::uint32_t call_stack = 0;         ///< of the compilation: Shape::call_stack
    bool debugged = false;                ///< for a debugger: stack frames are large
    bool checked = false;                 ///< reports its accesses: rt/watch.h
    bool counted = false;                 ///< counts its execution: rt/counts.h
    bool shared = false;                  ///< reads the block's shape at run time
    bool loops = false; ///< contains a loop: may run long, so never on the caller's thread
    std::uint32_t group_blocks = 1; ///< the most blocks that run together (warp/block_groups.h)
    /// Whether they do; null if that is decided.
    std::unique_ptr<rt::GroupProbes> groups;
    std::shared_ptr<const void> code; ///< keeps the machine code mapped
    /// The source position of an address in the machine code; no file if it is unknown.
    std::function<SourcePlace(std::uint64_t address)> place_of;
    /// The memory that the code of a source line may read or write. Empty if it is unknown.
    std::function<std::vector<AccessedVariable>(const SourcePlace &, AccessDirection)> accessed_at;
};

/// The parameters of a kernel's compilation.
struct Shape {
    std::array<std::uint32_t, 3> block{1, 1, 1};
    /// is_small_grid() (support/small_grid.h), as in nearly every launch. Then global thread
    /// indices cannot wrap, and widening them to 64 bits costs nothing.
    bool small_grid = true;
    /// True for a cooperative launch, whose blocks may wait for each other.
    bool cooperative = false;
    /// Bytes of local memory of a thread for variables of called functions; 0 if the kernel needs
    /// none.
    std::uint32_t call_stack = 0;
    /// The events that the kernel reports: rt::WatchNeeds, 0 for none.
    std::uint32_t watch = 0;
    /// The kernel counts its execution (rt/counts.h), in the tiers in which warps are fibers.
    bool counts = false;
    friend bool operator==(const Shape &, const Shape &) = default;
};

/// Whether a block shape may get code that reads the shape at run time.
enum class SharedCode : std::uint8_t { Allowed, Avoided };

/// One of the texts to link, and its name in messages.
struct LinkInput {
    std::string name;
    std::string ptx;
};

/// What a link made: PTX, and the names that it declares and does not define.
struct Linked {
    std::string ptx;
    std::vector<std::string> undefined;
};

/// A module. Immutable once made; begin() may be called from any thread.
class Program {
  public:
    /// Parses, checks and lowers PTX. On failure returns null and `log` has the diagnostics, each
    /// with line, column and the source line; on success `log` has warnings, if any.
    static std::shared_ptr<Program> from_ptx(std::string_view ptx, std::string &log);

    /// Links PTX modules by the names of their symbols. On failure returns nothing and `log` has
    /// the messages. Kernels get a limit of registers if it is not 0.
    static std::optional<Linked> link(const std::vector<LinkInput> &inputs, std::string &log,
                                      std::uint32_t most_registers);

    virtual ~Program() = default;
    [[nodiscard]] virtual const std::vector<KernelInfo> &kernels() const = 0;
    [[nodiscard]] virtual const std::vector<Variable> &variables() const = 0;

    /// Limits the number of registers that kernels report; 0: no limit. Call it before the program
    /// is shared.
    virtual void limit_registers(std::uint32_t most) = 0;

    /// Begins to compile kernel `index` for `shape`, or finds it in this process or in the disk
    /// cache; then the job is finished. The first block shapes of a kernel get code of their own.
    /// If allowed, all further ones share code that reads blockDim at run time: one job for those
    /// whose x is a multiple of 32, and one for the others. With SOFTCUDA_BLOCK_SHAPES, it is
    /// always allowed. Returns null with a message in `log` if this shape needs an unsupported
    /// feature.
    [[nodiscard]] virtual std::shared_ptr<CompileJob>
    begin(std::size_t index, const Shape &shape, SharedCode sharing, std::string &log) = 0;
};

} // namespace softcuda::compiler
