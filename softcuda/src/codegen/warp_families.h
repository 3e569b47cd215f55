// warp_families.h -- instructions of a whole warp: one function per family, each in its file.
#pragma once

#include "codegen/warp_emitter.h"
#include "rt/kernel_abi.h"

namespace softcuda::codegen {

// emit_special.cpp
Lanes emit_special(WarpEmitter &w, const ir::Instruction &i, const ir::Value &result);
void emit_clock(WarpEmitter &w, const ir::Instruction &i);
void emit_load(WarpEmitter &w, const ir::Instruction &i); // emit_memory.cpp
void emit_store(WarpEmitter &w, const ir::Instruction &i);
void emit_fence(WarpEmitter &w, const ir::Instruction &i);
void emit_to_generic(WarpEmitter &w, const ir::Instruction &i); // emit_address.cpp
void emit_from_generic(WarpEmitter &w, const ir::Instruction &i);
void emit_is_space(WarpEmitter &w, const ir::Instruction &i);
void emit_atomic(WarpEmitter &w, const ir::Instruction &i);  // emit_atomic.cpp; also reduce
void emit_shuffle(WarpEmitter &w, const ir::Instruction &i); // emit_warp.cpp
/// <32 x i32>: the lane that each lane reads.
llvm::Value *shuffle_source(WarpEmitter &w, const ir::Instruction &shuffle);
void emit_vote(WarpEmitter &w, const ir::Instruction &i);
void emit_match(WarpEmitter &w, const ir::Instruction &i);
void emit_active_mask(WarpEmitter &w, const ir::Instruction &i);
void emit_warp_reduce(WarpEmitter &w, const ir::Instruction &i);
void emit_elect(WarpEmitter &w, const ir::Instruction &i);
void emit_mma(WarpEmitter &w, const ir::Instruction &i);                    // emit_matrix.cpp
llvm::Value *emit_barrier_result(WarpEmitter &w, const ir::Instruction &i); // emit_barrier.cpp
/// Lets other warps run: for code that waits for memory to change. Only if warps are fibers.
void emit_yield(WarpEmitter &w);
/// Lets other warps run after rt::kPause units of work.
void emit_pause(WarpEmitter &w, std::uint32_t work);
/// Lets the scheduler interrupt the warp after a preemption point (transform/find_waits.h); nothing
/// for other instructions.
void emit_preemption_point(WarpEmitter &w, const ir::Instruction &i);
void emit_printf(WarpEmitter &w, const ir::Instruction &i); // emit_call.cpp
void emit_assertfail(WarpEmitter &w, const ir::Instruction &i);
/// In a function: the lanes that end there, as bits.
void emit_end(WarpEmitter &w, llvm::Value *lanes);
void emit_alloca(WarpEmitter &w, const ir::Instruction &i);
void emit_malloc(WarpEmitter &w, const ir::Instruction &i);
void emit_free(WarpEmitter &w, const ir::Instruction &i);
void emit_texture_read(WarpEmitter &w, const ir::Instruction &i); // emit_texture.cpp
void emit_surface_write(WarpEmitter &w, const ir::Instruction &i);
void emit_runtime_call(WarpEmitter &w, const ir::Instruction &i);
void emit_trap(WarpEmitter &w, const ir::Instruction &i);
/// Ends the launch, for the first active lane.
void emit_fault(WarpEmitter &w, rt::Fault fault);
void emit_call(WarpEmitter &w, const ir::Instruction &i); // emit_function.cpp
/// Memory for the arguments and results of a call.
llvm::AllocaInst *make_call_area(WarpEmitter &w, const ir::Instruction &call);
/// A call that each lane makes by itself. Lanes that return continue at the place.
void emit_calls_of_lanes(WarpEmitter &w, const ir::Instruction &call, std::uint32_t place);
/// There: the results.
void take_call_results(WarpEmitter &w, const ir::Instruction &call);
/// The start of a called function: loads its arguments, if there is memory for its local variables.
void enter_function(WarpEmitter &w);
/// The results of a `return`.
void emit_results(WarpEmitter &w, const ir::Instruction &end);

} // namespace softcuda::codegen
