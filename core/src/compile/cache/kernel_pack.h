// kernel_pack.h -- precompiled PTX: compiled when this library was built.
//
// The library's kernels for the usual operations and types are known at build time. With
// precompiled PTX, their first use needs no NVRTC. One file contains the PTX (tools/kernel_pack
// writes it):
//
//     "PyCUDA kernels 1"  count
//     count rows          SHA-256 of the request, of the entry, the entry's place and size;
//                         sorted by the first
//     entries             "compute_86", a line's end, PTX
//
// The key of an entry is the hash of all inputs of the compilation: source, options and the
// package's own headers. So an entry of another source or of other options is never found. The file
// contains no images for a GPU, because a driver may be older than the compiler that produced them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compile/source/sha256.h"
#include "pycuda/compiler.h"

namespace pycuda::compile_detail {

/// The key of the request's entry. Empty if the request depends on other files than the headers in
/// `kernel_headers`, or if its result is not PTX.
[[nodiscard]] std::optional<Sha256::Digest> kernel_pack_key(const CompileRequest &request,
                                                            const std::string &kernel_headers);

/// A file of kernels, mapped into memory. Immutable: any thread may call.
class KernelPack {
  public:
    /// $PYCUDA_KERNEL_PACK, or kernels.pack beside this library. Empty if the file is missing or
    /// damaged.
    [[nodiscard]] static const KernelPack &installed();

    explicit KernelPack(const std::string &path);

    /// Returns no damaged entries.
    [[nodiscard]] std::optional<CompileResult> find(const Sha256::Digest &key) const;

  private:
    struct Row;
    [[nodiscard]] std::string_view entry_at(const Row &row) const;

    std::string_view file_; // never unmapped
    std::size_t count_ = 0;
};

/// If $PYCUDA_RECORD_KERNELS names a folder, writes the entry there for a later pack. The file name
/// is the key in hexadecimal digits.
void record_kernel(const Sha256::Digest &key, const CompileResult &result);

} // namespace pycuda::compile_detail
