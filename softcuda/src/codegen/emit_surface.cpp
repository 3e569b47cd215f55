// emit_surface.cpp -- accesses to rows of surfaces (warp/surface_rows.h), without the runtime.
//
//     inside    the first and the last place of each group are in the surface: a row of memory
//     elsewhere the runtime: borders, places that are not multiples of the access's size
#include "codegen/emit_surface.h"

#include "codegen/answer.h"
#include "codegen/masked_access.h"
#include "codegen/warp_families.h"
#include "rt/texture.h"
#include "support/texture_operation.h"
#include "warp/surface_rows.h"

#include <cstddef>

namespace softcuda::codegen {

namespace {

bool is_symbol(const ir::Value *value) {
    return value->definition && value->definition->is(ir::Opcode::SymbolAddress);
}

/// Whether the handle is a parameter, or in a variable that a kernel cannot change.
bool is_known_at_start(const ir::Value *handle) {
    const ir::Instruction *i = handle->definition;
    if (!i || i->is(ir::Opcode::LoadParam))
        return i != nullptr;
    return i->is(ir::Opcode::Load) && i->attributes.vector <= 1 &&
           (i->attributes.invariant || i->attributes.space == ir::Space::Constant) &&
           is_symbol(i->operand(0)) && ir::bits(i->operand(0)->type) == 64;
}

/// Computes such a handle here.
llvm::Value *compute_handle(WarpEmitter &w, const ir::Value *handle) {
    const ir::Instruction &i = *handle->definition;
    if (i.is(ir::Opcode::LoadParam))
        return emit_special(w, i, *handle).base;
    const ir::Value *variable = i.operand(0);
    llvm::Value *place =
        w.b.CreateIntToPtr(emit_special(w, *variable->definition, *variable).base, w.b.getPtrTy());
    place = w.b.CreateConstGEP1_64(w.b.getInt8Ty(), place,
                                   static_cast<std::uint64_t>(i.attributes.offset));
    return w.b.CreateAlignedLoad(w.b.getInt64Ty(), place, llvm::Align(1));
}

llvm::Value *ask_for_view(WarpEmitter &w, llvm::Value *handle) {
    auto *type = llvm::FunctionType::get(w.b.getPtrTy(), {w.b.getInt64Ty()}, false);
    llvm::FunctionCallee callee = w.kernel.code.module.getOrInsertFunction("scu_surface", type);
    auto *function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setDoesNotAccessMemory();
    function->setDoesNotThrow();
    function->setWillReturn();
    function->addFnAttr(llvm::Attribute::Speculatable);
    function->addRetAttr(llvm::Attribute::NonNull);
    function->addRetAttr(
        llvm::Attribute::getWithAlignment(w.context, llvm::Align(alignof(rt::SurfaceView))));
    function->addRetAttr(
        llvm::Attribute::getWithDereferenceableBytes(w.context, sizeof(rt::SurfaceView)));
    return w.b.CreateCall(callee, {handle});
}

// A surface never changes while kernels use it. So it is looked up at the start of the function, if
// this comes before all warps; otherwise LLVM may move the call and the loads of the members.
llvm::Value *view_of(WarpEmitter &w, const ir::Value *handle) {
    llvm::Instruction *start = w.kernel.frame.function()->getEntryBlock().getTerminator();
    if (!start || !is_known_at_start(handle))
        return ask_for_view(w, w.scalar(handle));
    llvm::IRBuilder<>::InsertPointGuard guard(w.b);
    w.b.SetInsertPoint(start);
    w.b.SetCurrentDebugLocation(w.kernel.code.lines.nowhere());
    return ask_for_view(w, compute_handle(w, handle));
}

/// The members of a rt::SurfaceView.
class View {
  public:
    View(WarpEmitter &w, llvm::Value *place) : w_(w), place_(place) {}

    [[nodiscard]] llvm::Value *long_at(std::size_t offset) {
        return load(w_.b.getInt64Ty(), offset);
    }
    [[nodiscard]] llvm::Value *word_at(std::size_t offset) {
        return load(w_.b.getInt32Ty(), offset);
    }

  private:
    llvm::Value *load(llvm::Type *type, std::size_t offset) {
        llvm::LoadInst *load =
            w_.b.CreateLoad(type, w_.b.CreateConstGEP1_64(w_.b.getInt8Ty(), place_, offset));
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(w_.context, {}));
        return load;
    }

    WarpEmitter &w_;
    llvm::Value *place_;
};

/// The places that the lanes of an instruction access, in groups.
struct Places {
    llvm::Value *whole;                       ///< i1: the rows of all lanes are inside
    llvm::Value *active;                      ///< i1: those of the active lanes, or as `whole`
    llvm::SmallVector<llvm::Value *, 4> rows; ///< pointers to the first ones of the groups
};

/// Whether the groups whose first lanes are at `x` are in the first `row` bytes.
llvm::Value *all_fit(WarpEmitter &w, llvm::Value *x, llvm::Value *row, unsigned width,
                     unsigned groups) {
    llvm::Value *room = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, row,
                                                  w.i32(width * (kLanes / groups) - 1));
    return w.b.CreateICmpULT(x, repeat(w.b, room, 1, groups));
}

/// The same for the active lanes of one group: a neighbour's place is often outside only for a lane
/// that does not come here. If both ends are inside, all lanes between them are: a row has less
/// than 2^31 bytes.
llvm::Value *active_fit(WarpEmitter &w, llvm::Value *x, llvm::Value *row, unsigned width) {
    auto &b = w.b;
    auto fits = [&](llvm::Value *lane) {
        return b.CreateICmpULT(b.CreateAdd(x, b.CreateMul(lane, w.i32(width))), row);
    };
    llvm::Value *some = b.CreateOr(w.mask_bits(), 1);
    llvm::Value *low = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, w.mask_bits(), b.getFalse());
    llvm::Value *zeros = b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, some, b.getTrue());
    return b.CreateAnd(fits(low), fits(b.CreateSub(w.i32(kLanes - 1), zeros)));
}

Places find_places(WarpEmitter &w, const ir::Instruction &i, const TextureOperation &operation,
                   unsigned groups) {
    auto &b = w.b;
    View view(w, view_of(w, i.operand(0)));
    const unsigned width = operation.bytes * operation.elements;
    const unsigned first = operation.is_layered() ? 2 : 1;
    auto operand = [&](unsigned n) { return w.firsts(i.operand(n), groups); };
    auto all = [&](llvm::Value *value) { return repeat(b, value, 1, groups); };
    auto everywhere = [&](llvm::Value *like, std::uint64_t n) {
        return llvm::ConstantInt::get(like->getType(), n);
    };

    // The bytes of a row at which an access may begin.
    llvm::Value *row = b.CreateAnd(view.word_at(offsetof(rt::SurfaceView, row)), ~(width - 1));
    llvm::Value *x = operand(first);
    llvm::Value *fits = b.CreateICmpEQ(b.CreateAnd(x, everywhere(x, width - 1)), everywhere(x, 0));
    llvm::Type *wide = with_lanes(b.getInt64Ty(), groups);
    llvm::Value *place =
        b.CreateAdd(all(view.long_at(offsetof(rt::SurfaceView, address))), b.CreateSExt(x, wide));
    auto add_axis = [&](unsigned n, std::size_t extent, std::size_t step) {
        llvm::Value *index = operand(n);
        fits = b.CreateAnd(fits, b.CreateICmpULT(index, all(view.word_at(extent))));
        place = b.CreateAdd(place, b.CreateMul(b.CreateZExt(index, wide), all(view.long_at(step))));
    };
    if (operation.axes() > 1)
        add_axis(first + 1, offsetof(rt::SurfaceView, rows), offsetof(rt::SurfaceView, pitch));
    if (operation.axes() > 2)
        add_axis(first + 2, offsetof(rt::SurfaceView, slices), offsetof(rt::SurfaceView, slice));
    if (operation.is_layered())
        add_axis(1, offsetof(rt::SurfaceView, slices), offsetof(rt::SurfaceView, slice));

    llvm::Value *whole = b.CreateAnd(fits, all_fit(w, x, row, width, groups));
    Places found{.whole = groups == 1 ? whole : b.CreateAndReduce(whole), .active = {}, .rows = {}};
    found.active = groups == 1 && !w.mask_is_full()
                       ? b.CreateAnd(fits, active_fit(w, x, row, width))
                       : found.whole;
    for (unsigned group = 0; group < groups; ++group)
        found.rows.push_back(b.CreateIntToPtr(
            groups == 1 ? place : b.CreateExtractElement(place, group), b.getPtrTy()));
    return found;
}

Row row_of(WarpEmitter &w, const Places &places, const TextureOperation &operation,
           unsigned group) {
    const auto size = static_cast<unsigned>(kLanes / places.rows.size());
    return {.pointer = places.rows[group],
            .first = group * size,
            .size = size,
            .element = w.b.getIntNTy(operation.bytes * 8),
            .bytes = operation.bytes,
            .count = operation.elements};
}

} // namespace

Values emit_surface_rows(WarpEmitter &w, const ir::Instruction &i, unsigned groups,
                         const std::function<Values()> &elsewhere) {
    const auto operation = TextureOperation::from_bits(i.attributes.immediate);
    const Places places = find_places(w, i, operation, groups);
    auto load = [&] {
        std::vector<llvm::SmallVector<llvm::Value *, 4>> parts(operation.elements);
        for (unsigned group = 0; group < groups; ++group) {
            const Values loaded = load_elements(w, row_of(w, places, operation, group));
            for (unsigned e = 0; e < operation.elements; ++e)
                parts[e].push_back(loaded[e]);
        }
        Values values;
        for (unsigned e = 0; e < operation.elements; ++e)
            values.push_back(
                w.b.CreateBitCast(concatenate(w.b, parts[e]), w.type(i.result(e)->type, kLanes)));
        return values;
    };
    auto store = [&] {
        const unsigned size = kLanes / groups;
        for (unsigned group = 0; group < groups; ++group) {
            const Row row = row_of(w, places, operation, group);
            Values values;
            for (unsigned e = 0; e < operation.elements; ++e) {
                llvm::Value *all = w.full(i.operand(1 + operation.coordinates() + e));
                all = w.b.CreateBitCast(all, with_lanes(row.element, kLanes));
                values.push_back(lane_range(w.b, all, group * size, size));
            }
            store_elements(w, row, values);
        }
        return Values{};
    };
    const bool loads = operation.kind == TextureOperation::Kind::Load;
    auto if_active = [&] {
        return either(
            w, w.b.CreateNot(places.active), elsewhere, [&] { return loads ? load() : store(); },
            Likely::No);
    };
    if (!loads || w.mask_is_full())
        return if_active();
    // All of a row that is inside may be read, whichever lanes are active.
    auto whole = [&] {
        llvm::Value *const outer = w.mask();
        w.set_mask(llvm::Constant::getAllOnesValue(outer->getType()));
        Values values = load();
        w.set_mask(outer);
        return values;
    };
    if (groups > 1)
        return either(w, w.b.CreateNot(places.whole), elsewhere, whole, Likely::No);
    return either(w, w.b.CreateNot(places.whole), if_active, whole, Likely::No);
}

} // namespace softcuda::codegen
