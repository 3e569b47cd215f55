// counts.h -- counters that profiled kernels increment (rt/counts.h); none in other kernels.
//
//     block a, lanes in mask m            counters of lines (rt::LineCounts), added to inline
//         x = load p     line 3           lines[0] += {m != 0, popcount(m)}; scu_count_access(...)
//         y = x * 2      line 4           lines[1] += {m != 0, popcount(m)}
//         store q, y     line 3           belongs to lines[0], as one more instruction of it
//
// The instructions of one execution of a line are known here, so only executions are counted.
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

    /// Emits the code that finds the counters. Called once, at the function's start.
    void begin();
    /// Emission of a basic block begins.
    void enter(const ir::Block *block);
    /// Counts an instruction with its line, before it is emitted. A block may be emitted several
    /// times, for different warps, with the same counters.
    void add(WarpEmitter &w, const ir::Instruction &i);
    /// Counts an access to memory, before it is emitted.
    void add_access(WarpEmitter &w, const ir::Instruction &i, const Address &address);
    /// Emits the table. Called once, at the function's end.
    void finish();

  private:
    using Place = std::pair<std::uint32_t, std::uint32_t>; ///< file, line
    /// A sequence of instructions with one mask: a part of a basic block. Lanes may leave between
    /// two sequences.
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
    std::set<const ir::Instruction *> known_; ///< the instructions in lines_
    std::vector<llvm::Constant *> accesses_;  ///< rt::CountedAccess
    std::map<const ir::Instruction *, std::uint32_t> access_numbers_;
    // The position of emission:
    Run run_;
    llvm::Value *mask_ = nullptr;
    std::set<unsigned> counted_; ///< lines of this run that are already counted
};

/// Does nothing in a kernel without a profile.
void count_access(WarpEmitter &w, const ir::Instruction &i, const Address &address);

} // namespace softcuda::codegen
