// kernel_pack.h -- precompiled kernels: compiled when this library was built.
//
// The library's kernels for the usual operations and types are known at build time. If they are
// precompiled, their first use needs no NVRTC. Files of one format contain them: kernels.pack PTX
// for softcuda, and gpu_kernels.pack PTX and machine code for GPUs (tools/kernel_pack writes both).
//
//     "PyCUDA kernels 3"  count
//     count rows          SHA-256 of the request, of the image; the image's place (8 bytes),
//                         size (4), architecture (2), and CUDA version of machine code, 0 of PTX
//                         (2); sorted by request, architecture and CUDA version
//     images
//
// The key of an entry is the hash of all inputs of the compilation: source, options and the
// package's own headers. So an entry of another source or of other options is never found.
//
// softcuda requests PTX of its device's architecture. A GPU's request for machine code finds that
// of the same generation (8.0's runs on 8.6) if the driver's CUDA version is not older, or else PTX
// of the newest architecture that is not newer than the GPU's. A driver compiles PTX when it loads
// it, which takes 10 to 100 ms. The file contains a few architectures only, and no PTX that is the
// same as an older architecture's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compile/compilers/compile_job.h"
#include "compile/source/sha256.h"
#include "pycuda/compiler.h"

namespace pycuda::compile_detail {

/// What finds the entry of a request.
struct KernelPackKey {
    Sha256::Digest digest;
    unsigned newest; ///< the newest architecture that can be used, such as 90
    auto operator<=>(const KernelPackKey &) const = default;
};

/// The key of the request's entry. Empty if the request depends on other files than the headers in
/// `kernel_headers`, or if the package has none of its kind.
[[nodiscard]] std::optional<KernelPackKey> kernel_pack_key(const CompileRequest &request,
                                                           const std::string &kernel_headers);

/// A file of kernels, mapped into memory. Immutable: any thread may call.
class KernelPack {
  public:
    /// $PYCUDA_KERNEL_PACK, or the file beside this library for the kind of image that is
    /// requested. Empty if the file is missing or damaged.
    [[nodiscard]] static const KernelPack &installed(ImageKind requested);

    explicit KernelPack(const std::string &path);

    /// The best image for the key. Returns no damaged entries.
    [[nodiscard]] std::optional<CompileOutcome> find(const KernelPackKey &key,
                                                     const PackagedImages &images) const;

  private:
    struct Row;
    [[nodiscard]] std::string_view image_of(const Row &row) const;

    std::string_view file_; // never unmapped
    std::size_t count_ = 0;
};

/// Whether $PYCUDA_RECORD_KERNELS names a folder, to which record_kernel() writes.
[[nodiscard]] bool records_kernels();

/// Writes an outcome's images for a later pack. The file names consist of the key in hexadecimal
/// digits, the architecture and the CUDA version, with hyphens between: "0af1...-80-13".
void record_kernel(const KernelPackKey &key, const CompileOutcome &outcome);

} // namespace pycuda::compile_detail
