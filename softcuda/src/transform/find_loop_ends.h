// find_loop_ends.h -- proofs that loops end without the help of another thread.
//
//     while (atomicCAS(lock, 0, 1) != 0);      a thread in this loop waits for the thread that
//     while (ld.acquire(flag) == 0);           holds the lock, or that will set the flag
//
// Nothing in a program says which loops wait, so the question is asked the other way round: a loop
// waits unless one of these proofs holds.
//
//     counted    in each iteration, the loop passes an exit that compares a count with a limit,
//     that
//                repeats an update until no other thread interferes, or that compares what the
//                loop's own additions to memory have reached. No signal decides another exit
//     together   the threads of the block meet at a barrier in each iteration, and nothing in the
//                loop can learn what another block has done
//     data       no exit depends on a signal
//
// A *signal* is a value that another thread may change while the loop runs:
//
//     ordered loads      volatile, relaxed, acquire, and ld.cv
//     atomics            except those that end their loop as above
//     results of calls   of functions that read a signal
//     weak loads         all of them in a loop with a fence, a sleep or an acquiring access. In
//     other
//                        loops, those that may read one place again, if the trip count is not
//                        bounded: a compiler keeps such a load in a loop only if something in the
//                        loop orders or writes memory, or if the program forbids to move it
//
// What depends on a signal is found by the operands of instructions, by the branches on the paths
// to phis and stores, and through memory: a store of such a value, or behind such a branch, makes
// each load of its state space depend on the signal. So a flag is found that passes through a
// local variable, through shared memory, or through an inlined function.
//
// An update is `do old = atomicCAS(p, seen, f(seen)); while (old != seen)` where `seen` was read
// from the same place. If it fails, another thread has succeeded meanwhile. A compare-and-swap of
// a value that the thread computed otherwise waits for the thread that writes this value.
#pragma once

#include "analysis/cfg.h"
#include "ir/ir.h"

#include <span>
#include <string_view>
#include <vector>

namespace softcuda::transform {

/// The reason why a loop ends.
enum class LoopProof : std::uint8_t { None, Counted, Together, Data };
[[nodiscard]] std::string_view text(LoopProof proof);

struct LoopEnd {
    LoopProof proof = LoopProof::None;
    /// Without a proof: the instructions that read what the loop may wait for. Empty: unknown.
    std::vector<const ir::Instruction *> signals;
};

/// True for an instruction that reads what another thread may write meanwhile, or that orders such
/// reads: ordered loads, atomics, fences, sleeps and barriers.
[[nodiscard]] bool may_signal(const ir::Instruction &instruction);

/// By loop, for a prepared function. `signalling`: the numbers of the module's functions that
/// contain an instruction for which may_signal() is true, or that call such a function.
[[nodiscard]] std::vector<LoopEnd> find_loop_ends(const ir::Function &function,
                                                  const analysis::LoopForest &loops,
                                                  const ir::DominatorTree &dominators,
                                                  std::span<const std::uint32_t> signalling);

} // namespace softcuda::transform
