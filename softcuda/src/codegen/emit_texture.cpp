// emit_texture.cpp -- textures and surfaces: calls of the runtime, except for rows of surfaces
// (emit_surface.cpp).

#include "codegen/emit_surface.h"
#include "codegen/warp_families.h"
#include "codegen/watch.h"
#include "rt/watch_abi.h"
#include "warp/surface_rows.h"

namespace softcuda::codegen {

namespace {

/// An array on the stack of the addresses of others.
llvm::Value *array_of_pointers(WarpEmitter &w, const std::vector<llvm::Value *> &pointers) {
    llvm::ArrayType *type =
        llvm::ArrayType::get(w.b.getPtrTy(), std::max<std::size_t>(1, pointers.size()));
    llvm::Value *array = w.kernel.frame.stack_slot(type, "pointers");
    for (std::size_t n = 0; n < pointers.size(); n++)
        w.b.CreateStore(pointers[n], w.b.CreateConstInBoundsGEP2_64(type, array, 0, n));
    return array;
}

enum class Frequent : std::uint8_t { No, Yes };

void call(WarpEmitter &w, const ir::Instruction &i, const std::vector<llvm::Value *> &results,
          Frequent frequent) {
    std::vector<llvm::Value *> operands;
    for (std::size_t n = 1; n < i.operands.size(); n++)
        operands.push_back(w.spill(w.full(i.operand(n))));
    llvm::Value *const arguments[] = {w.i32(i.attributes.immediate), w.mask_bits(),
                                      w.spill(w.full(i.operand(0))), array_of_pointers(w, operands),
                                      array_of_pointers(w, results)};
    if ((w.kernel.plan.request.watch & rt::kWatchOrder) != 0) {
        llvm::SmallVector<llvm::Value *, 7> all = {w.kernel.frame.invariants.worker,
                                                   watch_sites(w, i)};
        all.append(std::begin(arguments), std::end(arguments));
        call_often(w, "scu_watch_texture", all);
    } else if (frequent == Frequent::Yes)
        call_often(w, "scu_texture", arguments);
    else
        call_rarely(w, "scu_texture", arguments);
}

Values read_by_call(WarpEmitter &w, const ir::Instruction &i, Frequent frequent) {
    std::vector<llvm::Value *> results;
    for (const ir::Value *result : i.results)
        results.push_back(w.spill(llvm::Constant::getNullValue(w.type(result->type, kLanes))));
    call(w, i, results, frequent);
    Values values;
    for (std::size_t n = 0; n < results.size(); n++)
        values.push_back(w.b.CreateLoad(w.type(i.result(n)->type, kLanes), results[n]));
    return values;
}

} // namespace

void emit_texture_read(WarpEmitter &w, const ir::Instruction &i) {
    const unsigned groups = warp::surface_groups(w.kernel.plan, i);
    const Values values =
        groups == 0
            ? read_by_call(w, i, Frequent::Yes)
            : emit_surface_rows(w, i, groups, [&] { return read_by_call(w, i, Frequent::No); });
    for (std::size_t n = 0; n < values.size(); n++)
        w.define_full(i.result(n), values[n]);
}

void emit_surface_write(WarpEmitter &w, const ir::Instruction &i) {
    if (const unsigned groups = warp::surface_groups(w.kernel.plan, i); groups != 0)
        emit_surface_rows(w, i, groups, [&] {
            call(w, i, {}, Frequent::No);
            return Values{};
        });
    else
        call(w, i, {}, Frequent::Yes);
}

} // namespace softcuda::codegen
