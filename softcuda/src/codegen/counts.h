// counts.h -- what profiled kernels count while they run (rt/counts.h); nothing in all others.
//
//     block a, lanes in mask m            counters of lines (rt::LineCounts), added to inline
//         x = load p     line 3           lines[0] += {m != 0, popcount(m)}; scu_count_access(...)
//         y = x * 2      line 4           lines[1] += {m != 0, popcount(m)}
//         store q, y     line 3           belongs to lines[0], as one more instruction of it
//
// What an execution of a line consists of is known here, so only executions are counted.
#pragma once

#include "codegen/address.h"
#include "rt/count_abi.h"

#include <compare>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace softcuda::codegen {

/// The counters of one function, and the table that describes them.
class Counts {
  public:
    explicit Counts(KernelEmitter &kernel);

    /// Emits what finds the counters. Once, where the function starts.
    void begin();
    /// Emission of a basic block begins.
    void enter(const ir::Block *block);
    /// Counts an instruction with its line, before it is emitted. A block may be emitted several
    /// times, for different warps: the counters are the same.
    void add(WarpEmitter &w, const ir::Instruction &i);
    /// Counts an access to memory, before it is emitted.
    void add_access(WarpEmitter &w, const ir::Instruction &i, const Address &address);
    /// Emits the table. Once, behind the function.
    void finish();

  private:
    using Place = std::pair<std::uint32_t, std::uint32_t>; ///< file, line
    /// A run of instructions that one mask is for: a part of a basic block. Lanes may leave between
    /// two of them.
    struct Run {
        const ir::Block *block = nullptr;
        unsigned number = 0; ///< in the block
        friend auto operator<=>(const Run &, const Run &) = default;
    };
    struct Line {
        Place place;
        std::uint32_t instructions[rt::kInstructionClasses] = {};
    };

    [[nodiscard]] unsigned line_of(WarpEmitter &w, const ir::Instruction &i);
    void count_up(WarpEmitter &w, unsigned line);
    [[nodiscard]] llvm::Constant *file(std::uint32_t number);
    [[nodiscard]] llvm::Constant *array(const std::vector<llvm::Constant *> &elements);

    KernelEmitter &kernel_;
    llvm::GlobalVariable *table_ = nullptr;
    llvm::Value *lines_here_ = nullptr; ///< the counters: an array of rt::LineCounts
    std::vector<Line> lines_;
    std::map<std::pair<Run, Place>, unsigned> line_numbers_;
    std::set<const ir::Instruction *> known_; ///< that are in lines_
    std::vector<llvm::Constant *> accesses_;  ///< rt::CountedAccess
    std::map<const ir::Instruction *, std::uint32_t> access_numbers_;
    // Where emission is:
    Run run_;
    llvm::Value *mask_ = nullptr;
    std::set<unsigned> counted_; ///< lines of this run that are counted up already
};

/// Does nothing in a kernel that is not profiled.
void count_access(WarpEmitter &w, const ir::Instruction &i, const Address &address);

} // namespace softcuda::codegen
