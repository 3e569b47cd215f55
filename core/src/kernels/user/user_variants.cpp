// user_variants.cpp -- compiles and loads the variants of a user's kernel, and finds them again.
#include "kernels/user/user_variants.h"

#include "driver/never_destroyed.h"
#include "kernels/user/user_text.h"

#include <pycuda/caller_lock.h>
#include <pycuda/compiler.h>
#include <pycuda/driver.h>
#include <pycuda/module.h>

#include <algorithm>
#include <exception>
#include <span>

namespace pycuda {

CUcontext require_context_handle() {
    const CUcontext context = driver().cuCtxGetCurrent.value();
    if (context == nullptr) [[unlikely]]
        return Context::require_current().get(); // throws if there is no context
    return context;
}

namespace {

CompileRequest request_for(const std::string &source, const KernelBuild &build) {
    CompileRequest request = {
        .source = source,
        .options = build.options,
        .device = Context::require_current().device().compute_capability(),
        .target = driver().image_kind(),
        .linkage = Linkage::Cxx,
        .builtins = build.builtins,
        .keep = build.keep,
        .packaged = packaged_images(),
    };
    choose_compiler(request, build.nvcc);
    return request;
}

CompileResult compile_source(const CompileRequest &request) {
    try {
        return compile(request);
    } catch (const CompileError &error) {
        throw explain_brackets(error, request.source);
    }
}

Module load_image(const CompileResult &compiled) {
    return Module::load(std::as_bytes(std::span(compiled.image)));
}

} // namespace

KernelVariant build_kernel(KernelSource source, const KernelBuild &build) {
    const CompileRequest request = request_for(source.text, build);
    CompileResult compiled = compile_source(request);
    const Module module = load_compiled(request, compiled, load_image);
    module.describe_from_source(source.text);
    KernelVariant variant;
    for (const std::string &kernel : source.kernels)
        variant.functions.push_back(module.function(kernel));
    variant.source = std::move(source.text);
    variant.log = compiled.log;
    variant.kept_in = compiled.kept_in;
    return variant;
}

VariantCache::Variant VariantCache::find(CUcontext context, std::string_view key) const {
    for (const Entry &entry : entries_)
        if (entry.context == context && entry.key == key &&
            entry.variant->functions.front().context().usable())
            return entry.variant;
    return nullptr;
}

VariantCache::Variant VariantCache::get(std::string_view key, const KernelBuild &build,
                                        const std::function<KernelSource()> &write_source) {
    const CUcontext context = require_context_handle();
    {
        std::lock_guard lock(mutex_);
        if (Variant found = find(context, key)) [[likely]]
            return found;
    }
    return make({context, std::string(key)}, build, write_source);
}

VariantCache::Variant VariantCache::make(const Place &place, const KernelBuild &build,
                                         const std::function<KernelSource()> &write_source) {
    std::promise<Variant> promise;
    std::shared_future<Variant> made;
    bool is_first = false;
    {
        std::lock_guard lock(mutex_);
        if (Variant found = find(place.first, place.second))
            return found;
        is_first = !making_.contains(place);
        if (is_first)
            making_.emplace(place, promise.get_future().share());
        made = making_.at(place);
    }
    const CallerUnlocked unlocked;
    if (is_first) {
        try {
            auto variant =
                std::make_shared<const KernelVariant>(build_kernel(write_source(), build));
            keep(place, variant);
            promise.set_value(std::move(variant));
        } catch (...) {
            promise.set_exception(std::current_exception()); // also for the threads that wait
        }
        std::lock_guard lock(mutex_);
        making_.erase(place);
    }
    return made.get();
}

Function fused_kernel(std::string_view key, const std::function<KernelSource()> &write_source) {
    const KernelBuild build = {.options = {"--fmad=false"}, .builtins = Builtins::Minimal};
    return never_destroyed<VariantCache>().get(key, build, write_source)->functions.front();
}

void VariantCache::keep(const Place &place, const Variant &variant) {
    std::vector<Variant> gone; // modules are unloaded after the lock is released
    std::lock_guard lock(mutex_);
    auto dead = std::stable_partition(entries_.begin(), entries_.end(), [](const Entry &entry) {
        return entry.variant->functions.front().context().usable();
    });
    for (auto entry = dead; entry != entries_.end(); ++entry)
        gone.push_back(std::move(entry->variant));
    entries_.erase(dead, entries_.end());
    entries_.push_back({place.first, place.second, variant});
}

} // namespace pycuda
