// debug_types.h -- types of the source as LLVM's metadata.
#pragma once

#include "ir/debug_info.h"
#include "jit/llvm.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/TrackingMDRef.h>

#include <map>

namespace llvm {
class DIBuilder;
} // namespace llvm

namespace softcuda::debug_data {

/// For one module: types come from one list.
class DebugTypes {
  public:
    explicit DebugTypes(llvm::DIBuilder &builder) : builder_(builder) {}

    /// Null for void and for unknown types.
    llvm::DIType *type(const ir::DebugTypes &types, std::uint32_t number, llvm::DIFile *file);
    /// `unsigned int`, and similar types of other sizes. Bytes: 1, 2, 4, 8.
    llvm::DIType *unsigned_integer(std::uint64_t bytes);
    /// `struct name { unsigned int a, b ...; }`, with adjacent members.
    llvm::DIType *words(llvm::StringRef name, llvm::ArrayRef<const char *> members,
                        llvm::DIFile *file);
    llvm::DIType *bytes(std::uint64_t count);

  private:
    llvm::DIType *make(const ir::DebugTypes &types, const ir::DebugType &type, llvm::DIFile *file);
    llvm::DIType *make_composite(const ir::DebugTypes &types, std::uint32_t number,
                                 llvm::DIFile *file);

    llvm::DIBuilder &builder_;
    std::map<std::uint32_t, llvm::TypedTrackingMDRef<llvm::DIType>> made_;
};

} // namespace softcuda::debug_data
