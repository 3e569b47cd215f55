// line_table.cpp -- reads line tables with LLVM's DWARF reader.
#include "jit/line_table.h"

#include "jit/llvm.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>

namespace softcuda::jit {

namespace {

/// Calls `use` with each line table of the object until it returns false.
template <typename Use> void for_each_table(const std::vector<char> &bytes, Use use) {
    const llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()), "kernel");
    auto object = llvm::object::ObjectFile::createObjectFile(buffer);
    if (!object) {
        llvm::consumeError(object.takeError());
        return;
    }
    const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
    const auto dwarf =
        llvm::DWARFContext::create(**object, llvm::DWARFContext::ProcessDebugRelocations::Process,
                                   nullptr, "", ignore, ignore);
    for (const auto &unit : dwarf->compile_units())
        if (const llvm::DWARFDebugLine::LineTable *table = dwarf->getLineTableForUnit(unit.get()))
            if (!use(*table))
                return;
}

std::optional<SourceLine> place_of(const llvm::DWARFDebugLine::LineTable &table,
                                   const llvm::DWARFDebugLine::Row &row) {
    SourceLine found;
    if (!table.getFileNameByIndex(
            row.File, "", llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue, found.file))
        return std::nullopt;
    found.line = row.Line;
    found.column = row.Column;
    return found;
}

} // namespace

std::optional<SourceLine> LineTable::find(std::uint64_t offset) const {
    std::optional<SourceLine> found;
    for_each_table(object_, [&](const llvm::DWARFDebugLine::LineTable &table) {
        const llvm::DWARFDebugLine::Row *best = nullptr;
        for (const llvm::DWARFDebugLine::Row &row : table.Rows)
            if (row.Line != 0 && !row.EndSequence && row.Address.Address <= offset &&
                (!best || row.Address.Address >= best->Address.Address))
                best = &row;
        if (best)
            found = place_of(table, *best);
        return !found;
    });
    return found;
}

std::vector<LineTable::Row> LineTable::rows() const {
    std::vector<Row> rows;
    for_each_table(object_, [&](const llvm::DWARFDebugLine::LineTable &table) {
        for (const llvm::DWARFDebugLine::Row &row : table.Rows)
            if (row.Line != 0 && !row.EndSequence)
                if (auto place = place_of(table, row))
                    rows.push_back({row.Address.Address, std::move(*place)});
        return true;
    });
    std::ranges::stable_sort(rows, {}, &Row::offset);
    return rows;
}

} // namespace softcuda::jit
