// user_variants.cpp -- compiling, loading and finding again.
#include "kernels/user_variants.h"

#include <pycuda/compiler.h>
#include <pycuda/driver.h>
#include <pycuda/module.h>

#include <span>

namespace pycuda {

CUcontext require_context_handle() {
    CUcontext context = nullptr;
    driver().cuCtxGetCurrent(&context);
    if (context == nullptr) [[unlikely]]
        return Context::require_current().get(); // throws what says so
    return context;
}

KernelVariant build_kernel(KernelSource source, const KernelBuild &build) {
    const CompileResult compiled = compile({
        .source = source.text,
        .options = build.options,
        .device = Context::require_current().device().compute_capability(),
        .target = driver().image_kind(),
        .linkage = Linkage::Cxx,
        .keep = build.keep,
    });
    const Module module = Module::load(std::as_bytes(std::span(compiled.image)));
    module.describe_from_source(source.text);
    KernelVariant variant;
    for (const std::string &kernel : source.kernels)
        variant.functions.push_back(module.function(kernel));
    variant.source = std::move(source.text);
    variant.log = compiled.log;
    variant.kept_in = compiled.kept_in;
    return variant;
}

const KernelVariant *VariantCache::find(CUcontext context, std::string_view key) {
    for (const Entry &entry : entries_)
        if (entry.context == context && entry.key == key &&
            entry.variant.functions.front().context().usable())
            return &entry.variant;
    return nullptr;
}

const KernelVariant &VariantCache::get(std::string_view key, const KernelBuild &build,
                                       const std::function<KernelSource()> &write_source) {
    const CUcontext context = require_context_handle();
    {
        std::lock_guard lock(mutex_);
        if (const KernelVariant *found = find(context, key)) [[likely]]
            return *found;
    }
    KernelVariant made = build_kernel(write_source(), build); // other threads go on meanwhile
    std::lock_guard lock(mutex_);
    if (const KernelVariant *found = find(context, key))
        return *found;
    entries_.push_back({context, std::string(key), std::move(made)});
    return entries_.back().variant;
}

} // namespace pycuda
