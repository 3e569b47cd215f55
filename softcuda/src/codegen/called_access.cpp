// called_access.cpp -- the runtime accesses memory for each lane, and checks the addresses.
#include "codegen/called_access.h"

namespace softcuda::codegen {

namespace {

// An access lane by lane in the runtime, at the exact addresses, which it also checks. `buffer` has
// one array over the lanes for each element.
llvm::CallInst *call_access(WarpEmitter &w, const char *function, const Address &address,
                            const Element &element, llvm::Value *buffer, Often often) {
    llvm::Value *all = all_addresses(w, address),
                *places = w.kernel.frame.call_slot(all->getType());
    w.b.CreateStore(all, places);
    const bool known = often == Often::Yes && !address.needs_check;
    const auto memory = static_cast<unsigned>(known ? rt::LaneMemory::Known : rt::LaneMemory::Any);
    const std::uint32_t form = element.bytes | element.count << 16 | memory << 24; // rt::LaneForm
    const Invariants &at = w.kernel.frame.invariants;
    llvm::Value *const arguments[] = {at.worker,     at.frame,    places,
                                      w.mask_bits(), w.i32(form), buffer};
    llvm::CallInst *call = often == Often::Yes ? call_often(w, function, arguments)
                                               : call_rarely(w, function, arguments);
    call->setDoesNotThrow();
    return call;
}

llvm::Value *slow_buffer(WarpEmitter &w, const Element &element) {
    return w.kernel.frame.call_slot(
        llvm::ArrayType::get(with_lanes(element.type, kLanes), element.count));
}

llvm::Value *buffer_place(WarpEmitter &w, llvm::Value *buffer, const Element &element, unsigned e) {
    return w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), buffer,
                                          std::uint64_t{e} * element.bytes * kLanes);
}

} // namespace

Values load_by_call(WarpEmitter &w, const Address &address, const Element &element, Often often) {
    llvm::Value *buffer = slow_buffer(w, element);
    // It writes only to the buffer and the worker's state: earlier loads of the kernel stay valid.
    call_access(w, "scu_load_lanes", address, element, buffer, often)
        ->setMemoryEffects(llvm::MemoryEffects::readOnly() |
                           llvm::MemoryEffects::inaccessibleOrArgMemOnly());
    Values values;
    for (unsigned e = 0; e < element.count; ++e)
        values.push_back(
            w.b.CreateLoad(with_lanes(element.type, kLanes), buffer_place(w, buffer, element, e)));
    return values;
}

Values store_by_call(WarpEmitter &w, const Address &address, const Element &element,
                     const Values &values, Often often) {
    llvm::Value *buffer = slow_buffer(w, element);
    for (unsigned e = 0; e < element.count; ++e)
        w.b.CreateStore(values[e], buffer_place(w, buffer, element, e));
    call_access(w, "scu_store_lanes", address, element, buffer, often);
    return {};
}

} // namespace softcuda::codegen
