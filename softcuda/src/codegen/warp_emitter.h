// warp_emitter.h -- values and masks of one warp in one region of a kernel, for the emitters of
// instructions.
//
// Instructions are emitted family by family (warp_families.h); this class finds values and the
// running lanes. Values used outside their block, and phis, have stack slots, which LLVM turns into
// registers again; so no block has to dominate another in the order in which a warp visits them.
// WarpFlow and LaneFlow emit the control flow between blocks.
#pragma once

#include "codegen/kernel_emitter.h"
#include "codegen/lanes.h"
#include "codegen/region_memory.h"

#include <unordered_map>

namespace softcuda::codegen {

class LaneFlow;

class WarpEmitter {
  public:
    /// `warp_number` is the warp's number in its block, an i32; `active_lanes` its existing or
    /// calling lanes, a <32 x i1>.
    WarpEmitter(KernelEmitter &owner, unsigned region, llvm::Value *warp_number,
                llvm::Value *active_lanes);

    KernelEmitter &kernel;
    llvm::LLVMContext &context;
    llvm::IRBuilder<> &b;
    llvm::Value *const warp;
    llvm::Value *const active;
    RegionMemory region_memory;
    LaneFlow *lane_flow = nullptr; ///< in the tier lanes

    // Operands.
    [[nodiscard]] const analysis::Shape &shape(const ir::Value *value) const;
    [[nodiscard]] Lanes lanes(const ir::Value *value);
    [[nodiscard]] llvm::Value *scalar(const ir::Value *value); ///< of a uniform value
    [[nodiscard]] llvm::Value *full(const ir::Value *value);   ///< <32 x T>
    [[nodiscard]] llvm::Value *firsts(const ir::Value *value, unsigned groups);
    /// The value in the first active lane, a scalar: for operands that are equal in all of them.
    [[nodiscard]] llvm::Value *of_first_active(const ir::Value *value);
    /// `lanes`, the lanes of `value`, ready for use as bits: with the hardware's NaN if an
    /// operation may have produced a NaN. For values that are stored or passed on.
    [[nodiscard]] llvm::Value *with_hardware_nan(const ir::Value *value, llvm::Value *lanes);

    // Results. `base` has as many lanes as the value has groups in the analysis.
    void define(const ir::Value *value, llvm::Value *base);
    void define(const ir::Value *value, const Lanes &lanes);
    /// From all lanes: stores the groups' first ones.
    void define_full(const ir::Value *value, llvm::Value *all);
    /// From lanes of which only the active ones have the value, such as those of a masked load. A
    /// group's first lane may be inactive when others of the group are active.
    void define_active(const ir::Value *value, llvm::Value *all);

    // The lanes that run the present block.
    [[nodiscard]] llvm::Value *mask() const { return mask_; } ///< <32 x i1>
    [[nodiscard]] llvm::Value *mask_bits();                   ///< i32
    [[nodiscard]] bool mask_is_full() const;
    /// True if a test has found that some lane is not there.
    [[nodiscard]] bool mask_is_partial() const { return mask_ && mask_ == partial_; }
    [[nodiscard]] llvm::Value *any(llvm::Value *lanes_mask);     ///< i1
    [[nodiscard]] llvm::Value *bits_of(llvm::Value *lanes_mask); ///< <n x i1> -> iN
    [[nodiscard]] llvm::Value *mask_from_bits(llvm::Value *bits, unsigned lanes = kLanes);
    /// Lanes by warp as a mask; null if they are not known at compile time.
    [[nodiscard]] llvm::Constant *known_mask(const warp::LanesByWarp &lanes);

    [[nodiscard]] const PrivateTables *privatized_tables() const {
        return kernel.privatized_tables.find(number_);
    }
    [[nodiscard]] const warp::Region &region() const { return region_; }

    // For the flow from block to block.
    /// The lanes that run the code emitted from here on.
    void set_mask(llvm::Value *lanes) { mask_ = lanes; }
    /// The same for lanes that are known not to be all.
    void set_partial_mask(llvm::Value *lanes) { mask_ = partial_ = lanes; }
    /// Shows the mask to a debugger.
    void show_mask();
    /// Slots that must start empty are cleared before this instruction.
    void clear_slots_before(llvm::Instruction *end_of_prologue) { prologue_ = end_of_prologue; }
    /// A basic block or a place begins: values of other blocks are loaded again.
    void forget_values() { here_.clear(); }
    /// Values of other blocks are loaded here, until the next call.
    void fetch_from_here();
    /// A value is loaded at each use, according to the plan.
    void fetch_at_use(const warp::Fetch &fetch) { read_only_.emplace(fetch.value->id, &fetch); }
    /// Writes a value to its slot; blend: only the lanes of `lanes_mask`.
    void store(const ir::Value *value, const Lanes &lanes);
    void blend(const ir::Value *value, Lanes lanes, llvm::Value *lanes_mask);
    /// Writes zero to its slot.
    void start_from_zero(const ir::Value *value) { clear(slot(value)); }
    /// Emits any instruction except phis and terminators: the reports and counters before the
    /// instruction, then the instruction itself.
    void emit_instruction(const ir::Instruction &i);
    void begin_instruction(const ir::Instruction &i);

    // Helper functions.
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

    void dispatch(const ir::Instruction &i);
    void emit_elementwise_lanes(const ir::Instruction &i);
    /// Only the operation, on operands that all have the same number of lanes.
    std::vector<llvm::Value *> compute(const ir::Instruction &i,
                                       llvm::ArrayRef<llvm::Value *> operands);
    std::vector<llvm::Value *> exact_operands(const ir::Instruction &i);
    llvm::Value *some_operand_wrapped(const ir::Instruction &i);
    void carry_check(const ir::Instruction &i, Lanes &result);
    void carry_quotient(const ir::Instruction &i, Lanes &result);
    llvm::Value *wraps_when_widened(const ir::Instruction &i);
    Slot &slot(const ir::Value *value);
    void clear(const Slot &at);
    Lanes load(const ir::Value *value);
    Lanes rematerialize(const ir::Value *value);
    Lanes recompute(const ir::Value *value);

    unsigned number_; ///< the region's
    const warp::Region &region_;
    llvm::Instruction *prologue_ = nullptr; ///< slots are cleared before it
    /// The position for loads of values from elsewhere: after this instruction (null: first) of
    /// this block.
    llvm::BasicBlock *fetch_block_ = nullptr;
    llvm::Instruction *fetch_after_ = nullptr;
    llvm::Value *mask_ = nullptr, *partial_ = nullptr;
    std::unordered_map<std::uint32_t, Lanes> here_; ///< values of the present block
    std::unordered_map<std::uint32_t, Slot> slots_;
    std::unordered_map<std::uint32_t, const warp::Fetch *> read_only_; ///< loaded at each use
    bool recomputing_ = false; ///< the emitted code exists already, for other regions
};

} // namespace softcuda::codegen
