// digest.cpp -- SHA-256, from LLVM.
#include "jit/digest.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

namespace softcuda::jit {

std::string digest(std::string_view text) {
    llvm::SHA256 hash;
    hash.update(llvm::StringRef(text.data(), text.size()));
    return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

} // namespace softcuda::jit
