// line_table.cpp -- LLVM's reader of DWARF does the work.
#include "jit/line_table.h"

#include "jit/llvm.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

namespace softcuda::jit {

std::optional<SourceLine> LineTable::find(std::uint64_t offset) const {
    const llvm::MemoryBufferRef buffer(llvm::StringRef(object_.data(), object_.size()), "kernel");
    auto object = llvm::object::ObjectFile::createObjectFile(buffer);
    if (!object) {
        llvm::consumeError(object.takeError());
        return std::nullopt;
    }
    const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
    const auto dwarf =
        llvm::DWARFContext::create(**object, llvm::DWARFContext::ProcessDebugRelocations::Process,
                                   nullptr, "", ignore, ignore);
    for (const auto &unit : dwarf->compile_units()) {
        const llvm::DWARFDebugLine::LineTable *table = dwarf->getLineTableForUnit(unit.get());
        if (!table)
            continue;
        const llvm::DWARFDebugLine::Row *best = nullptr;
        for (const llvm::DWARFDebugLine::Row &row : table->Rows)
            if (row.Line != 0 && !row.EndSequence && row.Address.Address <= offset &&
                (!best || row.Address.Address >= best->Address.Address))
                best = &row;
        SourceLine found;
        if (best && table->getFileNameByIndex(best->File, "",
                                              llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue,
                                              found.file)) {
            found.line = best->Line;
            return found;
        }
    }
    return std::nullopt;
}

} // namespace softcuda::jit
