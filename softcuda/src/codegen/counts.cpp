// counts.cpp -- increments, calls, and the table that describes the counters.
#include "codegen/counts.h"

#include "warp/describe.h"

#include <algorithm>
#include <optional>

namespace softcuda::codegen {

using rt::InstructionClass;

namespace {

llvm::Constant *structure(llvm::ArrayRef<llvm::Constant *> members) {
    return llvm::ConstantStruct::getAnon(members);
}

} // namespace

Counts::Counts(KernelEmitter &kernel) : kernel_(kernel) {}

void Counts::begin() {
    llvm::IRBuilder<> &b = kernel_.builder;
    // finish() sets its value, when all lines are known.
    llvm::Type *word = b.getInt32Ty(), *pointer = b.getPtrTy();
    llvm::StructType *type = llvm::StructType::get(pointer, pointer, word, word);
    table_ = kernel_.code.own_constant(llvm::Constant::getNullValue(type), "counts");
    const llvm::FunctionCallee find =
        kernel_.code.runtime_function("scu_count_begin", pointer, {pointer, pointer});
    lines_here_ = b.CreateCall(find, {kernel_.frame.invariants.worker, table_}, "counts");
}

void Counts::enter(const ir::Block *block) {
    run_ = {.block = block};
    mask_ = nullptr;
    counted_.clear();
}

void Counts::add(WarpEmitter &w, const ir::Instruction &i) {
    const std::optional<InstructionClass> kind = warp::class_of(i);
    if (!kind)
        return;
    const unsigned line = line_of(w, i);
    if (known_.insert(&i).second)
        ++lines_[line].instructions[static_cast<unsigned>(*kind)];
    if (counted_.insert(line).second)
        count_up(w, line);
}

unsigned Counts::line_of(WarpEmitter &w, const ir::Instruction &i) {
    if (mask_ && mask_ != w.mask()) {
        ++run_.number;
        counted_.clear();
    }
    mask_ = w.mask();
    const Place place(i.location.file, i.location.line);
    const auto [found, is_new] =
        line_numbers_.try_emplace({run_, place}, static_cast<unsigned>(lines_.size()));
    if (is_new)
        lines_.push_back({.place = place});
    return found->second;
}

void Counts::count_up(WarpEmitter &w, unsigned line) {
    llvm::Value *lanes = w.mask_bits();
    const auto add = [&](std::size_t offset, llvm::Value *more) {
        llvm::Value *at = w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), lines_here_,
                                                         line * sizeof(rt::LineCounts) + offset);
        llvm::Value *sum = w.b.CreateAdd(w.b.CreateLoad(w.b.getInt64Ty(), at),
                                         w.b.CreateZExt(more, w.b.getInt64Ty()));
        w.b.CreateStore(sum, at);
    };
    add(offsetof(rt::LineCounts, warps), w.b.CreateICmpNE(lanes, w.i32(0)));
    add(offsetof(rt::LineCounts, lanes), w.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes));
}

void Counts::add_access(WarpEmitter &w, const ir::Instruction &i, const Address &address) {
    const rt::WatchKind kind = warp::kind_of(i);
    const auto [found, is_new] =
        access_numbers_.try_emplace(&i, static_cast<std::uint32_t>(accesses_.size()));
    if (is_new)
        accesses_.push_back(structure(
            {file(i.location.file), w.i32(i.location.line), w.i32(static_cast<std::uint32_t>(kind)),
             w.i32(static_cast<std::uint32_t>(warp::space_of(i.attributes.space))),
             w.i32(address.bytes)}));
    llvm::Value *all = all_addresses(w, address), *places = kernel_.frame.call_slot(all->getType());
    w.b.CreateStore(all, places);
    llvm::Value *arguments[] = {kernel_.frame.invariants.worker, table_, w.i32(found->second),
                                w.mask_bits(), places};
    llvm::Type *pointer = w.b.getPtrTy(), *word = w.b.getInt32Ty();
    w.b.CreateCall(kernel_.code.runtime_function("scu_count_access", w.b.getVoidTy(),
                                                 {pointer, pointer, word, word, pointer}),
                   arguments);
}

void Counts::finish() {
    llvm::IRBuilder<> &b = kernel_.builder;
    // Instructions without a line belong to the file of the other instructions.
    const auto known = std::ranges::find_if(lines_, [](const Line &l) { return l.place.first; });
    std::vector<llvm::Constant *> lines;
    for (Line &line : lines_) {
        if (line.place == Place() && known != lines_.end())
            line.place.first = known->place.first;
        lines.push_back(
            structure({file(line.place.first), b.getInt32(line.place.second),
                       llvm::ConstantDataArray::get(kernel_.code.context, line.instructions)}));
    }
    llvm::Constant *none = llvm::ConstantPointerNull::get(b.getPtrTy());
    table_->setInitializer(
        structure({lines.empty() ? none : array(lines), accesses_.empty() ? none : array(accesses_),
                   b.getInt32(static_cast<std::uint32_t>(lines.size())),
                   b.getInt32(static_cast<std::uint32_t>(accesses_.size()))}));
}

llvm::Constant *Counts::file(std::uint32_t number) {
    const auto &files = kernel_.plan.files;
    return llvm::cast<llvm::Constant>(
        kernel_.code.text(number < files.size() ? files[number] : "kernel.ptx"));
}

llvm::Constant *Counts::array(const std::vector<llvm::Constant *> &elements) {
    auto *type = llvm::ArrayType::get(elements.front()->getType(), elements.size());
    return kernel_.code.own_constant(llvm::ConstantArray::get(type, elements), "counted");
}

void count_access(WarpEmitter &w, const ir::Instruction &i, const Address &address) {
    const ir::Space space = i.attributes.space;
    if (w.kernel.counts && space != ir::Space::Param && space != ir::Space::Constant)
        w.kernel.counts->add_access(w, i, address);
}

} // namespace softcuda::codegen
