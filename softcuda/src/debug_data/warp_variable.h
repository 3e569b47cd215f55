// warp_variable.h -- the variable `__warp` in the stack frame of a warp, with which a debugger
// finds all others.
//
// In a function that is compiled for a debugger, one variable on the stack has the addresses of a
// lane's variables, and the values of those that are in registers on a GPU:
//
//     pointers    local memory of lane 0, shared memory, the module's variables, parameters,
//                 a table of threadIdx
//     words       chosen lane, mask, warp, blockIdx, gridDim, blockDim
//     for each variable of the source in registers: its values in the 32 lanes
//
// DWARF describes the address of each variable in the chosen lane, so that a debugger's own
// expressions work: `print tile[i].x`. Writing `__warp.lane` chooses the lane; the extension for
// gdb (python/pycuda/_gdb) does this. A lane that is not in `__warp.mask` is inactive: its values
// are its last ones.
#pragma once

#include "debug_data/source_lines.h"
#include "ir/ir.h"

#include <optional>
#include <string>
#include <vector>

namespace softcuda::debug_data {

class WarpVariable {
  public:
    /// Offsets in the variable. Bytes.
    static constexpr std::uint64_t kLocal = 0, kShared = 8, kSymbols = 16, kParams = 24,
                                   kThreads = 32, kLane = 40, kMask = 44, kWarp = 48,
                                   kBlockIndex = 52, kGridSize = 64, kBlockSize = 76, kHomes = 128;
    /// The start of the 32 values of a variable of the source, and the bytes of one; 0: the
    /// variable is not in registers.
    struct Home {
        std::uint64_t offset = 0, bytes = 0;
    };

    /// For a function with debug data. `local_stride`: bytes of local memory of a thread.
    WarpVariable(const ir::Function &function, std::uint64_t local_stride, SourceLines &lines);

    [[nodiscard]] std::uint64_t size() const { return size_; } ///< bytes
    /// Of Function::debug's variables, by number.
    [[nodiscard]] Home home(std::size_t number) const { return homes_.at(number); }
    /// Declares `__warp` at `place`, and all other variables by their offsets in it. `block`
    /// contains the declarations.
    void declare(llvm::Value *place, llvm::BasicBlock *block);

  private:
    using Operations = llvm::SmallVector<std::uint64_t, 24>;

    void declare_coordinates();
    void declare_shared();
    void declare_parameters();
    void declare_source_variable(const ir::DebugVariable &variable, std::size_t number);
    void declare(const std::string &name, llvm::DIType *type, const Operations &where,
                 const ir::DebugVariable *variable = nullptr);
    [[nodiscard]] std::optional<Operations> place_of(const ir::DebugVariable &variable,
                                                     std::size_t number) const;

    const ir::Function &function_;
    std::uint64_t local_stride_;
    SourceLines &lines_;
    const ir::DebugFunction &source_;
    std::vector<Home> homes_; ///< by number of the source's variable
    std::uint64_t size_ = kHomes;
    llvm::Value *place_ = nullptr;
    llvm::BasicBlock *block_ = nullptr;
    unsigned parameters_ = 0;
};

} // namespace softcuda::debug_data
