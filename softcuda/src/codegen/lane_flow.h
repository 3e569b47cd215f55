// lane_flow.h -- a warp in the tier lanes: each lane has its own place in the program.
#pragma once

#include "codegen/warp_emitter.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace softcuda::codegen {

class LaneFlow {
  public:
    LaneFlow(WarpEmitter &w, llvm::BasicBlock *done);

    void emit();

    // For instructions.
    /// The rt::LaneState of the warp.
    [[nodiscard]] llvm::Value *state() const { return state_; }
    /// The arguments and results of a call that lanes make one by one.
    [[nodiscard]] llvm::AllocaInst *call_area(const ir::Instruction &call);
    /// Continues without some lanes, given as bits, if any are left.
    void drop_lanes(llvm::Value *bits);

  private:
    void make_state();
    llvm::Value *make_table(const char *name, std::uint8_t (*of)(const warp::Place &place));
    void emit_place(std::uint32_t number);
    void begin_place(std::uint32_t number);
    void pass_on(std::uint32_t number);
    void store_operands(const warp::Place &place, const ir::Instruction &awaited);
    void leave_place(const warp::Place &place);
    void go_to(std::uint32_t place, llvm::Value *lanes);
    void send_vote(const ir::Instruction &barrier);
    void send_operands(const ir::Instruction &exchange);
    void receive_results(const ir::Instruction &exchange);
    [[nodiscard]] llvm::Value *member(std::size_t offset);

    WarpEmitter &w_;
    llvm::IRBuilder<> &b_;
    KernelEmitter &kernel_;
    const warp::LanePlan &plan_;
    llvm::BasicBlock *done_;
    llvm::BasicBlock *dispatch_ = nullptr;
    std::vector<llvm::BasicBlock *> places_; ///< by number
    std::map<const ir::Instruction *, llvm::AllocaInst *> call_areas_;
    llvm::Value *state_ = nullptr, *waiting_ = nullptr;
};

} // namespace softcuda::codegen
