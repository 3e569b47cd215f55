// warp_emitter.h -- the code that one warp runs in one region of a kernel.
//
// Instructions are emitted family by family (emit_*.h); this class knows where values and masks
// are. A value used outside its block, a phi and a mask live in stack slots, which LLVM turns into
// registers again; so no block has to dominate another in the order that a warp visits them in.
#pragma once

#include "codegen/kernel_emitter.h"
#include "codegen/lanes.h"
#include "rt/kernel_abi.h"

#include <map>
#include <unordered_map>
#include <vector>

namespace softcuda::codegen {

class WarpEmitter {
  public:
    /// `warp` is the warp's number in its block, an i32; `active` its lanes that exist or that
    /// call, a <32 x i1>. Code starts at the builder's position; the warp leaves to `done`.
    WarpEmitter(KernelEmitter &kernel, unsigned region, llvm::Value *warp, llvm::Value *active,
                llvm::BasicBlock *done);

    /// Called at a barrier with the number of the region that follows; emits the way out.
    using BarrierExit = std::function<void(unsigned region)>;
    void emit(const BarrierExit &at_barrier);

    KernelEmitter &kernel;
    llvm::LLVMContext &context;
    llvm::IRBuilder<> &b;
    llvm::Value *const warp;

    // Operands.
    [[nodiscard]] const analysis::Shape &shape(const ir::Value *value) const;
    [[nodiscard]] Lanes lanes(const ir::Value *value);
    [[nodiscard]] llvm::Value *scalar(const ir::Value *value); ///< of a uniform value
    [[nodiscard]] llvm::Value *full(const ir::Value *value);   ///< <32 x T>
    [[nodiscard]] llvm::Value *firsts(const ir::Value *value, unsigned groups);
    /// The value in the first active lane, a scalar: for operands that are the same in all of them.
    [[nodiscard]] llvm::Value *of_first_active(const ir::Value *value);

    // Results. `base` has as many lanes as the analysis gave the value groups.
    void define(const ir::Value *value, llvm::Value *base);
    void define(const ir::Value *value, const Lanes &lanes);
    /// From all lanes: keeps the groups' first ones.
    void define_full(const ir::Value *value, llvm::Value *all);
    /// From lanes of which only the active ones hold the value: what was loaded under a mask, say.
    /// A group's first lane need not be active when others of the group are.
    void define_active(const ir::Value *value, llvm::Value *all);

    // The lanes that run the present block.
    [[nodiscard]] llvm::Value *mask() const { return mask_; } ///< <32 x i1>
    [[nodiscard]] llvm::Value *mask_bits();                   ///< i32
    [[nodiscard]] bool mask_is_full() const;
    [[nodiscard]] llvm::Value *any(llvm::Value *lanes_mask);     ///< i1
    [[nodiscard]] llvm::Value *bits_of(llvm::Value *lanes_mask); ///< <n x i1> -> iN
    [[nodiscard]] llvm::Value *mask_from_bits(llvm::Value *bits, unsigned lanes = kLanes);

    /// In the lane tier: goes on without some lanes, given as bits, if any are left.
    void drop_lanes(llvm::Value *bits);
    /// The rt::LaneState of the warp, in the lane tier.
    [[nodiscard]] llvm::Value *lane_state() const { return lane_state_; }

    [[nodiscard]] const Tally *tally() const { return kernel.tally(number_); }
    [[nodiscard]] const warp::Region &region() const { return region_; }

    // Small tools.
    llvm::BasicBlock *new_block(const llvm::Twine &name);
    llvm::ConstantInt *i32(std::uint32_t value);
    llvm::ConstantInt *i64(std::uint64_t value);
    llvm::Type *type(ir::Type t, unsigned lanes = 1) { return lane_type(context, t, lanes); }
    /// Stores all lanes of a vector on the stack and returns the array's address.
    llvm::Value *spill(llvm::Value *vector);
    /// Runs `body(lane)` for each set bit of `bits`, lowest first; lane is an i32.
    void for_each_lane(llvm::Value *bits, const std::function<void(llvm::Value *lane)> &body);
    /// Marks a branch to `rare` as unlikely.
    void branch_rarely(llvm::Value *condition, llvm::BasicBlock *rare, llvm::BasicBlock *usual);

  private:
    struct Slot {
        llvm::AllocaInst *base = nullptr, *wrapped = nullptr, *correction = nullptr;
    };

    void emit_block(const ir::Block *block);
    void arrive(const ir::Block *block);
    void emit_instruction(const ir::Instruction &i);
    void emit_elementwise_lanes(const ir::Instruction &i);
    void carry_check(const ir::Instruction &i, Lanes &result);
    void check_widening(const ir::Instruction &i, Lanes &result);
    void leave(const ir::Block *block);
    void leave_uniform(const ir::Block *block);
    [[nodiscard]] llvm::SmallVector<llvm::Value *, 4> edge_masks(const ir::Block *block);
    void pass_edge(const warp::Edge &edge, llvm::Value *edge_mask);
    [[nodiscard]] Lanes at_phi(const ir::Value *phi, const Lanes &incoming);
    void go_to(const ir::Block *next);
    void end_region(const warp::RegionEnd &end);
    void enter_region();
    void enter_function();

    // lane_flow.cpp
    void emit_lanes();
    void make_lane_state(std::uint32_t entry_place);
    void begin_place(std::uint32_t place);
    void go_to_place(std::uint32_t place, llvm::Value *lanes);
    void emit_place(std::uint32_t number);
    void send_exchange(const ir::Instruction &exchange); // lane_exchange.cpp
    void receive_exchange(const ir::Instruction &exchange);
    void wait_at(std::uint32_t place);
    void leave_place(const warp::Place &place);
    [[nodiscard]] llvm::Value *lane_member(std::size_t offset);

    llvm::BasicBlock *block_for(const ir::Block *block);
    Slot &slot(const ir::Value *value);
    void clear(const Slot &at);
    void store(const ir::Value *value, const Lanes &lanes);
    Lanes load(const ir::Value *value);
    llvm::AllocaInst *mask_slot(const ir::Block *owner);
    llvm::AllocaInst *arrival_slot(const ir::Block *owner);
    llvm::Value *mask_of(const ir::Block *block);
    [[nodiscard]] llvm::Constant *lanes_here(const warp::LanesByWarp &lanes);
    Lanes rematerialize(const ir::Value *value);
    void fetch_from_here();
    /// Keeps a value for the region behind a barrier, and finds it there again.
    void keep(const warp::Fetch &fetch);
    Lanes fetch(const warp::Fetch &fetch);
    Lanes recompute(const ir::Value *value);
    void scratch_store(std::uint32_t id, llvm::Value *value);
    llvm::Value *scratch_load(std::uint32_t id, llvm::Type *type);

    unsigned number_; ///< the region's
    const warp::Region &region_;
    llvm::Value *active_;
    llvm::BasicBlock *done_;
    llvm::BasicBlock *prologue_ = nullptr; ///< where slots are initialised
    const BarrierExit *at_barrier_ = nullptr;
    /// Where values from elsewhere are fetched: behind this instruction (null: first) of this
    /// block.
    llvm::BasicBlock *fetch_block_ = nullptr;
    llvm::Instruction *fetch_after_ = nullptr;
    llvm::Value *mask_ = nullptr;
    std::unordered_map<std::uint32_t, Lanes> here_; ///< values of the present block
    std::unordered_map<std::uint32_t, Slot> slots_;
    std::map<const ir::Block *, llvm::AllocaInst *> masks_, arrivals_;
    std::map<const ir::Block *, llvm::BasicBlock *> blocks_;
    std::vector<const ir::Block *> work_;
    // In the lane tier, by place:
    std::vector<llvm::BasicBlock *> places_;
    llvm::Value *lane_state_ = nullptr, *waiting_ = nullptr;
    llvm::BasicBlock *dispatch_ = nullptr;
    llvm::Instruction *lane_prologue_ = nullptr; ///< where slots are initialised, in the lane tier
    std::unordered_map<std::uint32_t, const warp::Fetch *> read_only_; ///< fetched at each use
    bool recomputing_ = false; ///< what is emitted is there already, for other regions
};

} // namespace softcuda::codegen
