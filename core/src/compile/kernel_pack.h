// kernel_pack.h -- PTX that was compiled when this library was built.
//
// The library's own kernels for the usual operations and types are known beforehand, so that their
// first use need not wait for NVRTC, nor need NVRTC at all. One file holds them (tools/kernel_pack
// makes it):
//
//     "PyCUDA kernels 1"  count
//     count rows          SHA-256 of the request, of the entry, the entry's place and size;
//                         sorted by the first
//     entries             "compute_86", a line's end, PTX
//
// An entry is found by all that a compilation is told, the source above all, with the package's own
// headers: one that was made of other source, or with other options, is never met. Images for a GPU
// are not kept, because a driver may be older than the compiler that made them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pycuda/compiler.h"
#include "sha256.h"

namespace pycuda::compile_detail {

/// What an entry for the request is found by; nothing where it depends on more than itself and the
/// headers in `kernel_headers`, or where its result is not PTX.
[[nodiscard]] std::optional<Sha256::Digest> kernel_pack_key(const CompileRequest &request,
                                                            const std::string &kernel_headers);

/// A file of kernels, mapped into memory. Immutable: any thread may ask.
class KernelPack {
  public:
    /// $PYCUDA_KERNEL_PACK, or kernels.pack beside this library. Empty where there is none, or a
    /// damaged one.
    [[nodiscard]] static const KernelPack &installed();

    explicit KernelPack(const std::string &path);

    /// Damaged entries are not found.
    [[nodiscard]] std::optional<CompileResult> find(const Sha256::Digest &key) const;

  private:
    struct Row;
    [[nodiscard]] std::string_view entry_at(const Row &row) const;

    std::string_view file_; // never unmapped
    std::size_t count_ = 0;
};

/// Where $PYCUDA_RECORD_KERNELS names a folder, leaves the entry there for a pack, named after the
/// key in hexadecimal digits.
void record_kernel(const Sha256::Digest &key, const CompileResult &result);

} // namespace pycuda::compile_detail
