// user_variants.h -- the compiled forms of one user's kernel, for each context it has run in.
#pragma once

#include <pycuda/kernel_variant.h>

#include <cuda.h>

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda {

/// A source and the kernels that are wanted from it.
struct KernelSource {
    std::string text;
    std::vector<std::string> kernels;
};

/// The current context's handle. Throws Error (invalid context) where there is none.
CUcontext require_context_handle();

/// Compiles C++ source for the current context's device and loads it.
KernelVariant build_kernel(KernelSource source, const KernelBuild &build = {});

/// Finds and makes variants. Any thread may call.
class VariantCache {
  public:
    /// The variant of the current context with this key; made from `write_source()` the first
    /// time. It stays valid as long as the cache.
    const KernelVariant &get(std::string_view key, const KernelBuild &build,
                             const std::function<KernelSource()> &write_source);

  private:
    struct Entry {
        CUcontext context;
        std::string key;
        KernelVariant variant;
    };
    const KernelVariant *find(CUcontext context, std::string_view key);

    std::mutex mutex_;
    std::deque<Entry> entries_; // few: looked through in order
};

} // namespace pycuda
