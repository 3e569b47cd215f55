// watch.cpp -- sites, and the calls that pass them.
#include "codegen/watch.h"

#include "codegen/warp_families.h"
#include "codegen/watched_access.h"

#include "ir/exchange.h"
#include "rt/watch_abi.h"
#include "warp/describe.h"
#include "warp/written_slots.h"

#include <optional>

namespace softcuda::codegen {

using ir::Opcode;
using rt::WatchKind;
using rt::WatchSpace;

namespace {

constexpr std::uint64_t kAllLanes = 0xffffffff;

bool is_checked(const WarpEmitter &w) { return w.kernel.plan.request.watch != 0; }
/// Whether the kernel reports all of its accesses.
bool tells_all(const WarpEmitter &w) { return w.kernel.plan.request.watch & rt::kWatchOrder; }
/// Whether the order of this and other accesses does not matter.
bool is_race_free(const WarpEmitter &w, const ir::Instruction &i) {
    return i.attributes.space == ir::Space::Local ||
           (i.attributes.space == ir::Space::Shared && w.region().race_free);
}

std::uint32_t used_elements(const WarpEmitter &w, const ir::Instruction &i) {
    std::uint32_t count = i.attributes.vector;
    while (i.is(Opcode::Load) && count > 0 && !w.kernel.plan.is_read[i.result(count - 1)->id])
        --count;
    return count;
}

std::uint32_t computed_bytes(const WarpEmitter &w, const ir::Instruction &i, unsigned bytes) {
    const std::vector<std::uint16_t> &used = w.kernel.plan.used_bytes;
    if (!i.is(Opcode::Load) || used.empty())
        return ~0u;
    std::uint32_t computed = 0;
    for (unsigned e = 0; e < i.attributes.vector; ++e)
        computed |= (used[i.result(e)->id] & ((1u << bytes) - 1)) << e * bytes;
    return computed;
}

/// As rt::WatchSite::read_slot.
std::uint32_t read_slot(const WarpEmitter &w, const ir::Instruction &i, const rt::WatchSite &site) {
    const ir::Space space = i.attributes.space;
    if (site.kind != WatchKind::Load || site.strong ||
        (space != ir::Space::Global && space != ir::Space::Generic) ||
        w.kernel.plan.written_slots == warp::kAllSlots)
        return 0;
    const auto slot = warp::parameter_slot(w.kernel.plan.function, *i.operand(0));
    return slot ? *slot + 1 : 0;
}

/// The distance between the addresses of neighbouring lanes, if it is the same for all, and if the
/// address has not wrapped.
std::optional<std::int64_t> step_of(const analysis::Shape &shape) {
    if (shape.groups != 1)
        return std::nullopt;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (shape.offset(lane) != shape.offset(1) * lane)
            return std::nullopt;
    return shape.offset(1);
}

llvm::Constant *text(WarpEmitter &w, const std::string &text) {
    return llvm::cast<llvm::Constant>(w.kernel.code.text(text));
}

/// The site as data of the module, in the order of rt::WatchSite.
llvm::Constant *site_constant(WarpEmitter &w, const ir::Instruction &i, const rt::WatchSite &site,
                              const ir::LocalVariable *variable) {
    const auto &files = w.kernel.plan.files;
    const std::uint32_t file = i.location.file;
    const std::uint64_t begin = variable ? variable->offset : 0;
    llvm::Constant *none = llvm::ConstantPointerNull::get(w.b.getPtrTy());
    const auto number = [&](auto value) { return w.i32(static_cast<std::uint32_t>(value)); };
    llvm::Constant *members[] = {text(w, file < files.size() ? files[file] : "kernel.ptx"),
                                 variable ? text(w, variable->name) : none,
                                 w.i64(begin),
                                 w.i64(variable ? begin + variable->size : 0),
                                 w.i64(w.kernel.plan.written_slots),
                                 number(site.line),
                                 number(site.kind),
                                 number(site.space),
                                 number(site.bytes),
                                 number(site.count),
                                 number(site.used),
                                 number(site.computed),
                                 number(site.scope),
                                 number(site.strong),
                                 number(site.scoped),
                                 number(site.acquire),
                                 number(site.release),
                                 number(site.async),
                                 number(site.read_slot),
                                 number(0)};
    return llvm::ConstantStruct::getAnon(members);
}

llvm::GlobalVariable *variable_of(WarpEmitter &w, llvm::Constant *value) {
    return new llvm::GlobalVariable(w.kernel.code.module, value->getType(), false,
                                    llvm::GlobalValue::PrivateLinkage, value, "site");
}

llvm::GlobalVariable *emit_site(WarpEmitter &w, const ir::Instruction &i, const rt::WatchSite &site,
                                const ir::LocalVariable *variable) {
    return variable_of(w, site_constant(w, i, site, variable));
}

void call(WarpEmitter &w, const char *function, llvm::ArrayRef<llvm::Value *> arguments) {
    llvm::SmallVector<llvm::Type *, 6> types;
    for (llvm::Value *argument : arguments)
        types.push_back(argument->getType());
    w.b.CreateCall(w.kernel.code.runtime_function(function, w.b.getVoidTy(), types), arguments);
}

} // namespace

llvm::Value *watch_sites(WarpEmitter &w, const ir::Instruction &i) {
    if (!is_checked(w))
        return llvm::ConstantPointerNull::get(w.b.getPtrTy());
    std::vector<llvm::Constant *> sites;
    for (const WatchKind kind : {WatchKind::Load, WatchKind::Store, WatchKind::Atomic}) {
        rt::WatchSite site = warp::site_of(i, kind);
        site.space = WatchSpace::Generic;
        site.bytes = site.count = site.used = 1; // the runtime has the number
        site.acquire = site.release = kind == WatchKind::Atomic;
        sites.push_back(site_constant(w, i, site, nullptr));
    }
    w.kernel.frame.announce_warp(w.warp);
    return variable_of(w, llvm::ConstantArray::get(
                              llvm::ArrayType::get(sites[0]->getType(), sites.size()), sites));
}

void watch_access(WarpEmitter &w, const ir::Instruction &i, const Address &address,
                  llvm::ArrayRef<llvm::Value *> values) {
    if (!is_checked(w) || i.attributes.space == ir::Space::Param)
        return;
    const bool always = tells_all(w) && !is_race_free(w, i);
    if (!always && !(w.kernel.plan.request.watch & (rt::kWatchBounds | rt::kWatchWrites)))
        return;
    rt::WatchSite site = warp::site_of(i, warp::kind_of(i));
    site.count = i.attributes.vector;
    site.used = used_elements(w, i);
    site.bytes = address.bytes / site.count;
    site.computed = computed_bytes(w, i, site.bytes);
    site.read_slot = read_slot(w, i, site);
    const ir::LocalVariable *variable = w.kernel.plan.accesses.at(&i).variable;
    llvm::GlobalVariable *data = emit_site(w, i, site, variable);
    const auto tell = [&](llvm::Value *piece) {
        llvm::Value *stored = llvm::ConstantPointerNull::get(w.b.getPtrTy());
        if (!values.empty() && always) {
            stored = w.kernel.frame.call_slot(
                llvm::ArrayType::get(values.front()->getType(), values.size()));
            for (std::size_t e = 0; e < values.size(); ++e)
                w.b.CreateStore(values[e], w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), stored,
                                                                          e * site.bytes * kLanes));
        }
        const auto tell_all = [&] {
            llvm::Value *all = all_addresses(w, address),
                        *places = w.kernel.frame.call_slot(all->getType());
            w.b.CreateStore(all, places);
            call(w, "scu_watch_access",
                 {w.kernel.frame.invariants.worker, data, w.mask_bits(), places, stored, piece});
        };
        const auto step = always ? step_of(address.lanes.shape) : std::nullopt;
        if (!step)
            return tell_all();
        llvm::BasicBlock *after = nullptr;
        if (address.lanes.shape.checked) {
            llvm::BasicBlock *row = w.new_block("row"), *apart = w.new_block("wrapped");
            after = w.new_block("told");
            w.branch_rarely(address.lanes.wrapped, apart, row);
            w.b.SetInsertPoint(apart);
            tell_all();
            w.b.CreateBr(after);
            w.b.SetInsertPoint(row);
        }
        llvm::Value *first = w.b.CreatePtrToInt(group_pointer(w, address, 0), w.b.getInt64Ty());
        call(w, "scu_watch_row",
             {w.kernel.frame.invariants.worker, data, w.mask_bits(), first,
              w.i64(static_cast<std::uint64_t>(*step)), stored, piece});
        if (after) {
            w.b.CreateBr(after);
            w.b.SetInsertPoint(after);
        }
    };
    if (!always)
        report_if_suspect(w, i, address, site, variable, tell);
    else if (site.read_slot == 0 || !report_unless_recorded(w, address, site, data, tell))
        tell(llvm::ConstantPointerNull::get(w.b.getPtrTy()));
}

void watch_free(WarpEmitter &w, const ir::Instruction &i) {
    if (!is_checked(w))
        return;
    llvm::Value *all = w.full(i.operand(0)), *places = w.kernel.frame.call_slot(all->getType());
    w.b.CreateStore(all, places);
    w.kernel.frame.announce_warp(w.warp);
    rt::WatchSite site = warp::site_of(i, WatchKind::Free);
    site.bytes = site.count = site.used = 1;
    call(w, "scu_watch_access",
         {w.kernel.frame.invariants.worker, emit_site(w, i, site, nullptr), w.mask_bits(), places,
          llvm::ConstantPointerNull::get(w.b.getPtrTy()),
          llvm::ConstantPointerNull::get(w.b.getPtrTy())});
}

void watch_copy_group(WarpEmitter &w, const ir::Instruction &i) {
    if (tells_all(w))
        call(w, "scu_watch_copies",
             {w.kernel.frame.invariants.worker, w.i32(i.attributes.immediate), w.mask_bits()});
}

void watch_fence(WarpEmitter &w, const ir::Instruction &i) {
    if (!tells_all(w))
        return;
    const rt::WatchScope scope = warp::scope_of(i.attributes.scope);
    call(w, "scu_watch_fence",
         {w.kernel.frame.invariants.worker, w.i32(static_cast<std::uint32_t>(scope)),
          w.mask_bits()});
}

// Usually an exchange is of all lanes of the warp, and all of them are here: nothing to report.
void watch_meeting(WarpEmitter &w, const ir::Instruction &i) {
    if (!tells_all(w) || ir::takes_active_lanes(i))
        return;
    const ir::Value *named = ir::members_of(i);
    llvm::Value *members =
        named ? w.full(named)
              : llvm::Constant::getAllOnesValue(with_lanes(w.b.getInt32Ty(), kLanes));
    rt::WatchSite site = warp::site_of(i, WatchKind::Meeting);
    site.acquire = i.is(Opcode::WarpBarrier); // this barrier orders memory
    if (!site.acquire && (w.kernel.plan.request.watch & rt::kWatchMeetings) == 0)
        return;
    site.strong = !w.kernel.plan.masks.independent_lanes; // together, all arriving lanes are here
    llvm::Value *array = w.kernel.frame.call_slot(llvm::ArrayType::get(members->getType(), 2));
    const bool all = !named || (named->constant && named->bits == kAllLanes);
    llvm::BasicBlock *right = nullptr;
    if (all && site.strong && !site.acquire && w.kernel.plan.function.kernel) {
        llvm::BasicBlock *wrong = w.new_block("absent");
        right = w.new_block("together");
        w.branch_rarely(w.b.CreateICmpNE(w.mask_bits(), w.bits_of(w.active)), wrong, right);
        w.b.SetInsertPoint(wrong);
    }
    w.b.CreateStore(members, array);
    llvm::Value *sources = llvm::ConstantPointerNull::get(w.b.getPtrTy());
    // In a sum with shuffle_down, the last lanes usually read beyond their group, which is
    // harmless. Each lane is one of all lanes.
    if (!all && i.is(Opcode::Shuffle) && i.attributes.shuffle == ir::ShuffleMode::Index) {
        sources = w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), array, 4 * kLanes);
        w.b.CreateStore(shuffle_source(w, i), sources);
    }
    call(w, "scu_watch_meeting",
         {w.kernel.frame.invariants.worker, emit_site(w, i, site, nullptr), w.mask_bits(), array,
          sources});
    if (!right)
        return;
    w.b.CreateBr(right);
    w.b.SetInsertPoint(right);
}

void watch_barrier(WarpEmitter &w, const ir::Instruction &i) {
    if ((w.kernel.plan.request.watch & rt::kWatchMeetings) == 0)
        return;
    rt::WatchSite site = warp::site_of(i, WatchKind::Barrier);
    // Lanes arrive one by one: the runtime reports which.
    site.strong = !(i.attributes.apart && w.kernel.plan.masks.independent_lanes);
    call(w, "scu_watch_barrier",
         {w.kernel.frame.invariants.worker, emit_site(w, i, site, nullptr), w.mask_bits()});
}

namespace {

bool has_order(const KernelEmitter &kernel) {
    return (kernel.plan.request.watch & rt::kWatchOrder) != 0;
}

} // namespace

void watch_block(KernelEmitter &kernel) {
    llvm::IRBuilder<> &b = kernel.builder;
    if ((kernel.plan.request.watch & (rt::kWatchWrites | rt::kWatchOrder)) != 0)
        b.CreateCall(kernel.code.runtime_function("scu_watch_block", b.getVoidTy(), {b.getPtrTy()}),
                     {kernel.frame.invariants.worker});
}

void watch_arrival(KernelEmitter &kernel) {
    llvm::IRBuilder<> &b = kernel.builder;
    if (has_order(kernel))
        b.CreateCall(
            kernel.code.runtime_function("scu_watch_arrival", b.getVoidTy(), {b.getPtrTy()}),
            {kernel.frame.invariants.worker});
}

void watch_pass(KernelEmitter &kernel, bool all) {
    llvm::IRBuilder<> &b = kernel.builder;
    if (has_order(kernel))
        b.CreateCall(kernel.code.runtime_function("scu_watch_pass", b.getVoidTy(),
                                                  {b.getPtrTy(), b.getInt32Ty()}),
                     {kernel.frame.invariants.worker, b.getInt32(all)});
}

} // namespace softcuda::codegen
