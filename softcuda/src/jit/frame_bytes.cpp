// frame_bytes.cpp -- reads the section in which LLVM stores the sizes of stack frames.
#include "jit/frame_bytes.h"

#include "jit/llvm.h"

#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/DataExtractor.h>
#include <llvm/Support/MemoryBuffer.h>

namespace softcuda::jit {

namespace {

/// An entry for each function: its address, and the size of its frame as an LEB128.
std::uint64_t sum_of_sizes(llvm::StringRef entries, std::uint8_t address_bytes) {
    const llvm::DataExtractor data(entries, /*IsLittleEndian=*/true, address_bytes);
    llvm::DataExtractor::Cursor at(0);
    std::uint64_t sum = 0;
    while (at && !data.eof(at)) {
        (void)data.getAddress(at);
        sum += data.getULEB128(at);
    }
    llvm::consumeError(at.takeError()); // a damaged object, which cannot be linked
    return sum;
}

} // namespace

std::uint64_t frame_bytes(std::span<const char> object) {
    const llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), "kernel");
    auto file = llvm::object::ObjectFile::createObjectFile(buffer);
    if (!file) {
        llvm::consumeError(file.takeError());
        return 0;
    }
    std::uint64_t sum = 0;
    for (const llvm::object::SectionRef &section : (*file)->sections()) {
        llvm::Expected<llvm::StringRef> name = section.getName();
        if (!name || *name != ".stack_sizes") {
            llvm::consumeError(name.takeError());
            continue;
        }
        if (llvm::Expected<llvm::StringRef> entries = section.getContents())
            sum += sum_of_sizes(*entries, (*file)->getBytesInAddress());
        else
            llvm::consumeError(entries.takeError());
    }
    return sum;
}

} // namespace softcuda::jit
