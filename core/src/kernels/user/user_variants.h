// user_variants.h -- the compiled forms of one user's kernel, for each context it has run in.
#pragma once

#include <pycuda/caller_lock.h>
#include <pycuda/kernel_variant.h>

#include <cuda.h>

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pycuda {

/// A source and the names of the kernels to load from it.
struct KernelSource {
    std::string text;
    std::vector<std::string> kernels;
};

/// The current context's handle. Throws Error (invalid context) if no context is current.
CUcontext require_context_handle();

/// Compiles C++ source for the current context's device and loads it.
KernelVariant build_kernel(KernelSource source, const KernelBuild &build = {});

/// Finds and compiles variants. Any thread may call. Each variant is compiled once, without the
/// cache's lock and the caller's lock (caller_lock.h). Variants are removed after their context has
/// ended.
class VariantCache {
  public:
    using Variant = std::shared_ptr<const KernelVariant>;

    /// The variant of the current context with this key. The first call compiles the result of
    /// `write_source()`.
    Variant get(std::string_view key, const KernelBuild &build,
                const std::function<KernelSource()> &write_source);

  private:
    struct Entry {
        CUcontext context;
        std::string key;
        Variant variant;
    };
    using Place = std::pair<CUcontext, std::string>;
    Variant find(CUcontext context, std::string_view key) const;
    Variant make(const Place &place, const KernelBuild &build,
                 const std::function<KernelSource()> &write_source);
    void keep(const Place &place, const Variant &variant);

    CallerMutex mutex_;
    std::vector<Entry> entries_; // few entries: searched linearly
    std::map<Place, std::shared_future<Variant>> making_;
};

/// The kernel of a fused function in the current context.
Function fused_kernel(std::string_view key, const std::function<KernelSource()> &write_source);

/// Kernels of one fused function that calls have used, by what their sources depend on besides the
/// function.
template <class Key> class UsedKernels {
  public:
    /// The kernel of the current context. If it has not been used, `write(text)` writes the key of
    /// its source, which fused functions share, to `text` and returns how to write the source.
    /// `mutex` guards this object.
    template <class Write> Function get(CallerMutex &mutex, const Key &key, Write &&write) {
        const CUcontext context = require_context_handle();
        {
            const std::lock_guard lock(mutex);
            for (const Entry &entry : entries_)
                if (entry.context == context && entry.key == key && entry.kernel.context().usable())
                    return entry.kernel;
        }
        std::string text;
        const std::function<KernelSource()> source = write(text);
        const Function kernel = fused_kernel(text, source);
        const std::lock_guard lock(mutex);
        std::erase_if(entries_,
                      [](const Entry &entry) { return !entry.kernel.context().usable(); });
        entries_.push_back({context, key, kernel});
        return kernel;
    }

  private:
    struct Entry {
        CUcontext context;
        Key key;
        Function kernel;
    };
    std::vector<Entry> entries_;
};

} // namespace pycuda
