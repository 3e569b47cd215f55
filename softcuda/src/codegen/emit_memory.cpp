// emit_memory.cpp -- loads and stores, according to their plans (warp/access_plan.h).
//
// A vector access of PTX (.v2, .v4) is one access of several elements for each lane.

#include "codegen/address.h"
#include "codegen/answer.h"
#include "codegen/called_access.h"
#include "codegen/column_writer.h"
#include "codegen/counts.h"
#include "codegen/lane_access.h"
#include "codegen/masked_access.h"
#include "codegen/packed_store.h"
#include "codegen/prefetch.h"
#include "codegen/strided_window.h"
#include "codegen/warp_families.h"
#include "codegen/watch.h"
#include "rt/watch_abi.h"

namespace softcuda::codegen {

namespace {

using warp::AccessMethod;

Element element_of(WarpEmitter &w, const warp::AccessPlan &plan, ir::Type register_type) {
    const bool same = plan.bytes * 8 == ir::bits(register_type);
    return {.type = same ? w.type(register_type) : w.b.getIntNTy(plan.bytes * 8),
            .bytes = plan.bytes,
            .count = plan.count};
}

// Registers may be wider than the value in memory.
llvm::Value *to_register(WarpEmitter &w, const ir::Instruction &i, llvm::Value *value,
                         ir::Type type) {
    unsigned lanes = value->getType()->isVectorTy()
                         ? llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements()
                         : 1;
    llvm::Type *wanted = w.type(type, lanes);
    if (value->getType() == wanted)
        return value;
    return ir::is_signed(i.attributes.type) ? w.b.CreateSExt(value, wanted)
                                            : w.b.CreateZExt(value, wanted);
}

llvm::Value *to_memory(WarpEmitter &w, llvm::Value *value, const Element &element) {
    llvm::Type *scalar = value->getType()->getScalarType();
    if (scalar == element.type)
        return value;
    unsigned lanes = value->getType()->isVectorTy()
                         ? llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements()
                         : 1;
    if (!scalar->isIntegerTy())
        value = w.b.CreateBitCast(
            value, with_lanes(w.b.getIntNTy(scalar->getPrimitiveSizeInBits()), lanes));
    value = w.b.CreateTrunc(value, with_lanes(w.b.getIntNTy(element.bytes * 8), lanes));
    return w.b.CreateBitCast(value, with_lanes(element.type, lanes));
}

Row row_at(llvm::Value *pointer, const Element &element, unsigned first, unsigned size) {
    return {pointer, first, size, element.type, element.bytes, element.count};
}

Values load_scalar(WarpEmitter &w, llvm::Value *pointer, const Element &element, bool invariant) {
    Values values;
    for (unsigned e = 0; e < element.count; ++e) {
        llvm::Value *at = w.b.CreateConstGEP1_64(w.b.getInt8Ty(), pointer, e * element.bytes);
        llvm::LoadInst *load = w.b.CreateAlignedLoad(element.type, at, llvm::Align(1));
        if (invariant)
            load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                              llvm::MDNode::get(w.context, {}));
        values.push_back(load);
    }
    return values;
}

Values load_contiguous(WarpEmitter &w, const Address &address, const Element &element) {
    unsigned size = address.lanes.shape.group_size();
    std::vector<llvm::SmallVector<llvm::Value *, 8>> parts(element.count);
    for (unsigned group = 0; group < address.lanes.shape.groups; ++group) {
        Values values =
            load_elements(w, row_at(group_pointer(w, address, group), element, group * size, size));
        for (unsigned e = 0; e < element.count; ++e)
            parts[e].push_back(values[e]);
    }
    Values whole;
    for (auto &part : parts)
        whole.push_back(concatenate(w.b, part));
    return whole;
}

// One address for each group. The address of a group without active lanes may be invalid, so it
// must not be read.
Values load_grouped(WarpEmitter &w, const Address &address, const Element &element) {
    unsigned size = address.lanes.shape.group_size(), groups = address.lanes.shape.groups;
    std::vector<llvm::SmallVector<llvm::Value *, 4>> parts(element.count);
    llvm::Type *one = llvm::FixedVectorType::get(element.type, 1);
    for (unsigned group = 0; group < groups; ++group)
        for (unsigned e = 0; e < element.count; ++e) {
            llvm::Value *at = w.b.CreateConstGEP1_64(
                w.b.getInt8Ty(), group_pointer(w, address, group), e * element.bytes);
            if (w.mask_is_full()) {
                parts[e].push_back(w.b.CreateAlignedLoad(element.type, at, llvm::Align(1)));
                continue;
            }
            llvm::Value *active = w.any(lane_range(w.b, w.mask(), group * size, size));
            active = w.b.CreateVectorSplat(1, active);
            llvm::Value *loaded = w.b.CreateMaskedLoad(one, at, llvm::Align(1), active,
                                                       llvm::Constant::getNullValue(one));
            parts[e].push_back(w.b.CreateExtractElement(loaded, std::uint64_t{0}));
        }
    // A broadcast for each group is an operand of the instruction that uses it; a permutation of
    // all lanes would be a separate instruction.
    Values whole;
    for (auto &part : parts) {
        for (llvm::Value *&value : part)
            value = w.b.CreateVectorSplat(size, value);
        whole.push_back(concatenate(w.b, part));
    }
    return whole;
}

// The addresses of each lane's element `extra` bytes after the first.
llvm::Value *pointers(WarpEmitter &w, const Address &address, unsigned extra) {
    llvm::Value *all = all_pointers(w, address);
    return extra == 0 ? all
                      : w.b.CreateGEP(w.b.getInt8Ty(), all,
                                      llvm::ConstantInt::get(w.b.getInt64Ty(), extra));
}

Values gather(WarpEmitter &w, const Address &address, const Element &element) {
    if (const auto lanes = few_lanes(w, address); !lanes.empty())
        return gather_few(w, address, element.type, element.count, lanes);
    if (has_lane_rows(w, element.bytes, element.count))
        return gather_rows(w, address, element.type, element.count);
    Values values;
    llvm::Type *type = with_lanes(element.type, kLanes);
    for (unsigned e = 0; e < element.count; ++e) {
        const unsigned extra = e * element.bytes;
        if (!w.kernel.code.target.facts().masks_all())
            values.push_back(gather_singly(w, address, element.type, extra));
        else if (element.bytes < kLeastGathered)
            values.push_back(gather_from_words(w, address, element.type, extra));
        else
            values.push_back(w.b.CreateMaskedGather(type, pointers(w, address, extra),
                                                    llvm::Align(1), w.mask(),
                                                    llvm::Constant::getNullValue(type)));
    }
    return values;
}

void scatter(WarpEmitter &w, const Address &address, const Element &element, const Values &values) {
    const auto lanes = few_lanes(w, address);
    for (unsigned lane : lanes)
        for (unsigned e = 0; e < element.count; ++e)
            w.b.CreateAlignedStore(w.b.CreateExtractElement(values[e], lane),
                                   lane_pointer(w, address, lane, std::int64_t{e} * element.bytes),
                                   llvm::Align(1));
    if (!lanes.empty())
        return;
    if (has_lane_rows(w, element.bytes, element.count))
        return scatter_rows(w, address, values);
    const bool whole = w.kernel.code.target.facts().masks_all() && element.bytes >= kLeastGathered;
    for (unsigned e = 0; e < element.count; ++e)
        if (whole)
            w.b.CreateMaskedScatter(values[e], pointers(w, address, e * element.bytes),
                                    llvm::Align(1), w.mask());
        else
            scatter_singly(w, address, values[e], e * element.bytes);
}

void store_contiguous(WarpEmitter &w, const Address &address, const Element &element,
                      const Values &values) {
    unsigned size = address.lanes.shape.group_size();
    for (unsigned group = 0; group < address.lanes.shape.groups; ++group) {
        llvm::SmallVector<llvm::Value *, 4> parts;
        for (llvm::Value *value : values)
            parts.push_back(lane_range(w.b, value, group * size, size));
        store_elements(w, row_at(group_pointer(w, address, group), element, group * size, size),
                       parts);
    }
}

Address as_divergent(WarpEmitter &w, const Address &address) {
    Address result = address;
    result.lanes =
        Lanes{.base = all_lanes(w.b, address.lanes), .shape = analysis::Shape{.groups = kLanes}};
    return result;
}

/// A planned access with the computed addresses.
struct Placed {
    AccessMethod method;
    const warp::AccessPlan &plan;
    Address checked;  ///< in the shape for the check
    Address accessed; ///< in the shape for the access
    /// Addresses of 64 bits are checked when it is known whether they turn out to be contiguous,
    /// since then the first one is enough.
    bool checked_late;
};

void check_late(WarpEmitter &w, const Placed &placed, const Address &address, rt::Access access) {
    if (placed.checked_late)
        check_address(w, address, access);
}

// For an address whose pattern is valid.
Placed place_access(WarpEmitter &w, const warp::AccessPlan &plan, const Address &address) {
    const AccessMethod method = plan.method(w.mask_is_full());
    if (method == AccessMethod::Contiguous || method == AccessMethod::Grouped) {
        const Address close = in_groups(w, address, plan);
        return {method, plan, close, close, false};
    }
    const bool whole = method != AccessMethod::Windowed && address.needs_check;
    const bool late = method == AccessMethod::Tested && address.needs_check && !address.index;
    return {method, plan, whole ? as_divergent(w, address) : address, address, late};
}

// Access to missing shared memory is an error; inactive lanes with other addresses are not. So the
// windows of warps at the edges of a tile may be partly outside. Contiguous lanes then use the
// processor's masks.
bool has_masked_rows(const WarpEmitter &w, const Placed &placed) {
    return placed.accessed.window && w.kernel.code.target.facts().masks != target::Masks::None &&
           warp::is_contiguous(placed.plan.grouped, placed.plan.lane_bytes());
}

Values load_windowed(WarpEmitter &w, const Placed &placed, const Element &element) {
    const Address &address = placed.accessed;
    llvm::Value *whole = may_access_windows(w, address, placed.plan);
    return either(
        w, w.b.CreateNot(whole),
        [&] {
            if (has_masked_rows(w, placed))
                return load_contiguous(w, in_groups(w, address, placed.plan), element);
            return address.window ? load_by_call(w, address, element, Often::No)
                                  : gather(w, address, element);
        },
        [&] { return Values{load_windows(w, address, placed.plan, element.type)}; },
        address.window ? Likely::No : Likely::Unknown);
}

void store_windowed(WarpEmitter &w, const Placed &placed, const Element &element,
                    const Values &values) {
    const Address &address = placed.accessed;
    llvm::Value *whole = may_access_windows(w, address, placed.plan);
    either(
        w, w.b.CreateNot(whole),
        [&] {
            if (has_masked_rows(w, placed))
                store_contiguous(w, in_groups(w, address, placed.plan), element, values);
            else if (address.window)
                store_by_call(w, address, element, values, Often::No);
            else
                scatter(w, address, element, values);
            return Values{};
        },
        [&] {
            store_windows(w, address, placed.plan, values[0]);
            return Values{};
        },
        address.window ? Likely::No : Likely::Unknown);
}

Values load_placed(WarpEmitter &w, const Placed &placed, const Element &element) {
    const Address &address = placed.accessed;
    switch (placed.method) {
    case AccessMethod::Uniform:
        break; // emit_load()
    case AccessMethod::Contiguous:
        return load_contiguous(w, address, element);
    case AccessMethod::Grouped:
        return load_grouped(w, address, element);
    case AccessMethod::Windowed:
        return load_windowed(w, placed, element);
    case AccessMethod::Scattered:
        return gather(w, address, element);
    case AccessMethod::Tested:
        return either(
            w, turns_out_contiguous(w, address),
            [&] {
                const Address row = as_contiguous(w, address);
                check_late(w, placed, row, rt::Access::Load);
                return load_contiguous(w, row, element);
            },
            [&] {
                check_late(w, placed, placed.checked, rt::Access::Load);
                return gather(w, address, element);
            });
    }
    return {};
}

Values store_placed(WarpEmitter &w, const Placed &placed, const Element &element,
                    const Values &values) {
    const Address &address = placed.accessed;
    auto at_once = [&] {
        scatter(w, address, element, values);
        return Values{};
    };
    auto scattered = [&] {
        if (placed.plan.row_step == 0)
            return at_once();
        const auto keep = [&] {
            w.kernel.columns->keep(w, placed.plan, address, values[0]);
            return Values{};
        };
        return either(w, shares_cache_sets(w, address), keep, at_once);
    };
    auto packed_or_scattered = [&] {
        if (placed.plan.row_step != 0 || !may_pack(w, address, element.count))
            return scattered();
        return either(
            w, turns_out_packed(w, address),
            [&] {
                store_packed(w, address, values[0]);
                return Values{};
            },
            scattered);
    };
    auto contiguous = [&](const Address &at) {
        store_contiguous(w, at, element, values);
        return Values{};
    };
    switch (placed.method) {
    case AccessMethod::Uniform: // emit_store()
    case AccessMethod::Grouped: // loads only
        break;
    case AccessMethod::Contiguous:
        return contiguous(address);
    case AccessMethod::Windowed:
        store_windowed(w, placed, element, values);
        break;
    case AccessMethod::Scattered:
        return scattered();
    case AccessMethod::Tested:
        return either(
            w, turns_out_contiguous(w, address),
            [&] {
                const Address row = as_contiguous(w, address);
                check_late(w, placed, row, rt::Access::Store);
                return contiguous(row);
            },
            [&] {
                check_late(w, placed, placed.checked, rt::Access::Store);
                return packed_or_scattered();
            });
    }
    return {};
}

Element words_of(WarpEmitter &w, const warp::AccessPlan &plan) {
    return {.type = w.b.getInt32Ty(), .bytes = 4, .count = plan.lane_bytes() / 4};
}

Values load_joined(WarpEmitter &w, const Placed &placed, const Element &element) {
    if (!placed.plan.is_in_words())
        return load_placed(w, placed, element);
    return split_words(w, load_placed(w, placed, words_of(w, placed.plan)), element.type,
                       element.count);
}

Values store_joined(WarpEmitter &w, const Placed &placed, const Element &element,
                    const Values &values) {
    if (!placed.plan.is_in_words())
        return store_placed(w, placed, element, values);
    return store_placed(w, placed, words_of(w, placed.plan), make_words(w, values));
}

// If a quotient in the addresses may change between lanes, one branch tests this, and the exact
// addresses are accessed as addresses without a pattern.
//
// If the pattern of the addresses came from widening an index that may have wrapped, one branch
// tests this and addresses outside the arena; only wrapped ones are accessed lane by lane.
template <typename Access, typename Slowly>
Values access_all_lanes(WarpEmitter &w, const ir::Instruction &i, const warp::AccessPlan &plan,
                        const Address &address, rt::Access kind, Access access, Slowly slowly) {
    Address plain = address;
    plain.lanes.shape.checked = plain.lanes.shape.divided = false;
    const Placed placed = place_access(w, plan, plain);
    const auto directly = [&](const Placed &at) {
        if (!at.checked_late)
            check_address(w, at.checked, kind);
        return access(at);
    };
    if (!plan.may_wrap)
        return directly(placed);
    if (plan.shape.divided) {
        const auto exactly = [&] {
            const Address apart = in_exact_lanes(w, i, plan, address);
            return directly(
                {AccessMethod::Tested, plan, apart, apart, apart.needs_check && !apart.index});
        };
        return either(
            w, address.lanes.wrapped, exactly, [&] { return directly(placed); }, Likely::No);
    }
    llvm::Value *wrapped = address.lanes.wrapped, *suspect = wrapped;
    llvm::Value *outside = is_suspect(w, placed.checked);
    if (outside)
        suspect = w.b.CreateOr(wrapped, outside);
    llvm::BasicBlock *rare = w.new_block("suspect"), *fine = w.new_block("checked");
    llvm::BasicBlock *after = w.new_block("accessed");
    w.branch_rarely(suspect, rare, fine);
    w.b.SetInsertPoint(rare);
    if (outside) {
        llvm::BasicBlock *slow = w.new_block("wrapped"), *apart = w.new_block("outside");
        w.b.CreateCondBr(wrapped, slow, apart);
        w.b.SetInsertPoint(apart);
        check_suspect(w, placed.checked, kind);
        w.b.CreateBr(fine);
        w.b.SetInsertPoint(slow);
    }
    const Values exact = slowly();
    llvm::BasicBlock *exact_end = w.b.GetInsertBlock();
    w.b.CreateBr(after);
    w.b.SetInsertPoint(fine);
    const Values planned = access(placed);
    llvm::BasicBlock *planned_end = w.b.GetInsertBlock();
    w.b.CreateBr(after);
    w.b.SetInsertPoint(after);
    return join(w, exact, exact_end, planned, planned_end);
}

// Inline code for each lane, and the rare path of its check, take hundreds of instructions.
bool is_better_called(WarpEmitter &w, const warp::AccessPlan &plan, const Address &address) {
    const AccessMethod method = plan.method(w.mask_is_full());
    return w.kernel.plan.calls_accesses &&
           (method == AccessMethod::Scattered || method == AccessMethod::Tested) &&
           few_lanes(w, address).empty();
}

Values load_all_lanes(WarpEmitter &w, const ir::Instruction &i, const warp::AccessPlan &plan,
                      const Address &address, const Element &element) {
    if (is_better_called(w, plan, address))
        return load_by_call(w, address, element, Often::Yes);
    return access_all_lanes(
        w, i, plan, address, rt::Access::Load,
        [&](const Placed &placed) {
            emit_prefetch(w, placed.plan.prefetch, placed.accessed);
            return load_joined(w, placed, element);
        },
        [&] { return load_by_call(w, address, element, Often::No); });
}

// The value of the last storing lane: any lane's value is allowed.
llvm::Value *last_active(WarpEmitter &w, llvm::Value *all) {
    llvm::Value *zeros =
        w.b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, w.mask_bits(), w.b.getTrue());
    return w.b.CreateExtractElement(all, w.b.CreateSub(w.i32(kLanes - 1), zeros));
}

void store_uniform(WarpEmitter &w, const ir::Instruction &i, const Address &address,
                   const Element &element) {
    for (unsigned e = 0; e < element.count; ++e) {
        const ir::Value *operand = i.operand(1 + e);
        llvm::Value *value =
            w.shape(operand).uniform() ? w.scalar(operand) : last_active(w, w.full(operand));
        value = w.with_hardware_nan(operand, value);
        llvm::Value *at = w.b.CreateConstGEP1_64(w.b.getInt8Ty(), group_pointer(w, address, 0),
                                                 e * element.bytes);
        w.b.CreateAlignedStore(to_memory(w, value, element), at, llvm::Align(1));
    }
}

void store_all_lanes(WarpEmitter &w, const ir::Instruction &i, const warp::AccessPlan &plan,
                     const Address &address, const Element &element, const Values &values) {
    if (is_better_called(w, plan, address)) {
        store_by_call(w, address, element, values, Often::Yes);
        return;
    }
    access_all_lanes(
        w, i, plan, address, rt::Access::Store,
        [&](const Placed &placed) {
            emit_prefetch(w, placed.plan.prefetch, placed.accessed);
            return store_joined(w, placed, element, values);
        },
        [&] { return store_by_call(w, address, element, values, Often::No); });
}

// Prevents LLVM from caching or moving memory across an access in which other threads take part.
void compiler_barrier(WarpEmitter &w) {
    auto *type = llvm::FunctionType::get(w.b.getVoidTy(), false);
    w.b.CreateCall(llvm::InlineAsm::get(type, "", "~{memory}", true));
}

bool is_ordered(const ir::Instruction &i) { return i.attributes.order != ir::Order::Weak; }

/// The lanes of a cluster's blocks run on one processor thread, one after another.
bool is_of_one_thread(ir::Scope scope) {
    return scope == ir::Scope::Block || scope == ir::Scope::Cluster;
}

// Before and after an ordered access: LLVM moves no memory across it, and the processor none that
// the order forbids. The lanes of a cluster run on one processor thread, which sees its own order.
void order_access(WarpEmitter &w, const ir::Instruction &i, llvm::AtomicOrdering side) {
    if (!is_ordered(i))
        return;
    compiler_barrier(w);
    const ir::Order order = i.attributes.order;
    const bool is_strong = order != ir::Order::Volatile && order != ir::Order::Relaxed;
    const bool is_needed = i.is(ir::Opcode::Load) == (side == llvm::AtomicOrdering::Acquire);
    if (is_strong && is_needed && !is_of_one_thread(i.attributes.scope) &&
        !w.kernel.code.target.facts().orders_memory)
        w.b.CreateFence(side);
}

void order_before(WarpEmitter &w, const ir::Instruction &i) {
    order_access(w, i, llvm::AtomicOrdering::Release);
}

void order_after(WarpEmitter &w, const ir::Instruction &i) {
    order_access(w, i, llvm::AtomicOrdering::Acquire);
}

void watch_store(WarpEmitter &w, const ir::Instruction &i, const Address &address,
                 const Element &element) {
    if ((w.kernel.plan.request.watch & rt::kWatchOrder) == 0)
        return watch_access(w, i, address);
    Values values;
    for (unsigned e = 0; e < element.count; ++e)
        values.push_back(to_memory(w, w.full(i.operand(1 + e)), element));
    watch_access(w, i, address, values);
}

} // namespace

void emit_load(WarpEmitter &w, const ir::Instruction &i) {
    const warp::AccessPlan &plan = w.kernel.plan.accesses.at(&i);
    if (plan.joined_by)
        return;
    const Element element = element_of(w, plan, i.result()->type);
    const Address address = find_address(w, i, plan);
    watch_access(w, i, address);
    count_access(w, i, address);
    order_before(w, i);
    const bool uniform = plan.full == AccessMethod::Uniform;
    Values values;
    if (uniform) {
        check_address(w, address, rt::Access::Load);
        values = load_scalar(w, group_pointer(w, address, 0), element, i.attributes.invariant);
    } else {
        values = load_all_lanes(w, i, plan, address, element);
    }
    for (unsigned e = 0; e < element.count; ++e) {
        const ir::Value *result = plan.joined.empty() ? i.result(e) : plan.joined[e]->result();
        llvm::Value *value = to_register(w, i, values[e], result->type);
        if (uniform)
            w.define(result, repeat(w.b, value, 1, w.shape(result).groups));
        else
            w.define_active(result, value);
    }
    order_after(w, i);
}

void emit_store(WarpEmitter &w, const ir::Instruction &i) {
    const warp::AccessPlan &plan = w.kernel.plan.accesses.at(&i);
    if (plan.joined_by)
        return;
    const Element element = element_of(w, plan, i.operand(1)->type);
    const Address address = find_address(w, i, plan);
    watch_store(w, i, address, element);
    count_access(w, i, address);
    order_before(w, i);
    if (plan.full == AccessMethod::Uniform) {
        check_address(w, address, rt::Access::Store);
        store_uniform(w, i, address, element);
        emit_prefetch(w, plan.prefetch, address);
    } else {
        Values values;
        for (unsigned e = 0; e < element.count; ++e) {
            const ir::Value *operand =
                plan.joined.empty() ? i.operand(1 + e) : plan.joined[e]->operand(1);
            values.push_back(to_memory(w, w.with_hardware_nan(operand, w.full(operand)), element));
        }
        store_all_lanes(w, i, plan, address, element, values);
    }
    order_after(w, i);
}

void emit_fence(WarpEmitter &w, const ir::Instruction &i) {
    watch_fence(w, i);
    if (is_of_one_thread(i.attributes.scope))
        compiler_barrier(w);
    else
        w.b.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
}

} // namespace softcuda::codegen
