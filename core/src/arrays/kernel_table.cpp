// kernel_table.cpp -- compiles and stores the kernels of array operations.
#include "arrays/kernel_table.h"
#include "arrays/device_code.h"

#include <pycuda/caller_lock.h>
#include <pycuda/compiler.h>
#include <pycuda/device.h>
#include <pycuda/driver_calls.h>
#include <pycuda/module.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>

namespace pycuda {
namespace {

CompileRequest request_for(const Context &context, std::string source) {
    CompileRequest request;
    request.source = std::move(source);
    request.name = "pycuda_array.cu";
    request.linkage = Linkage::Cxx;
    request.builtins = Builtins::Minimal;
    request.options = {"--fmad=false"};
    request.device = context.device().compute_capability();
    request.target = loaded_image_kind();
    request.packaged = packaged_images();
    return request;
}

Function load_kernel(const Context &context, std::string_view operation,
                     const CompileResult &compiled) {
    ScopedContext scope(context);
    return Module::load(std::as_bytes(std::span(compiled.image)))
        .function(own_kernel_name(operation));
}

} // namespace

std::string own_kernel_name(std::string_view operation) {
    return "pycuda_" + std::string(operation);
}

std::string named_source(std::string_view operation, std::string_view source) {
    return define("KERNEL", own_kernel_name(operation)) + std::string(source);
}

KernelTable::~KernelTable() = default;

void KernelTable::start(const KernelKey &key, std::string source) {
    auto in_background = [request = request_for(context_, std::move(source))] {
        return compile(request);
    };
    try {
        expected_.emplace(key, std::async(std::launch::async, std::move(in_background)));
    } catch (const std::system_error &) { // no more threads: find() compiles the kernel
    }
}

Function KernelTable::compile_and_load(std::future<CompileResult> expected,
                                       std::string_view operation, const WriteSource &write) const {
    const auto request = [&] { return request_for(context_, named_source(operation, write())); };
    CompileResult compiled = expected.valid() ? expected.get() : compile(request());
    const auto load = [&](const CompileResult &image) {
        return load_kernel(context_, operation, image);
    };
    if (compiled.origin != ImageOrigin::Package)
        return load(compiled);
    return load_compiled(request(), compiled, load);
}

const Function &KernelTable::make(const KernelKey &key, std::string_view operation,
                                  const WriteSource &write) {
    if (key.is_none())
        throw std::logic_error("the key of a kernel for " + std::string(operation) +
                               " has a field that is too wide");
    std::promise<const Function *> promise;
    std::shared_future<const Function *> made;
    std::future<CompileResult> expected;
    bool is_first = false;
    {
        std::lock_guard lock(mutex_);
        if (const Function *known = known_kernel(key))
            return *known;
        is_first = !making_.contains(key);
        if (is_first) {
            making_.emplace(key, promise.get_future().share());
            if (auto started = expected_.extract(key); !started.empty())
                expected = std::move(started.mapped());
        }
        made = making_.at(key);
    }
    const CallerUnlocked unlocked;
    if (is_first) {
        try {
            promise.set_value(keep(key, compile_and_load(std::move(expected), operation, write)));
        } catch (...) {
            promise.set_exception(std::current_exception()); // also for the threads that wait
        }
        std::lock_guard lock(mutex_);
        making_.erase(key);
    }
    return *made.get();
}

const Function *KernelTable::keep(const KernelKey &key, Function kernel) {
    std::lock_guard lock(mutex_);
    functions_.push_back(std::move(kernel));
    if (2 * functions_.size() > slots_.size()) {
        const std::vector<Slot> old = std::move(slots_);
        slots_.assign(2 * old.size(), {});
        for (const Slot &slot : old)
            if (!slot.key.is_none())
                insert(slot);
    }
    insert({key, &functions_.back()});
    return &functions_.back();
}

void KernelTable::insert(const Slot &slot) noexcept {
    std::size_t at = slot.key.hash();
    while (!slots_[at & (slots_.size() - 1)].key.is_none())
        ++at;
    slots_[at & (slots_.size() - 1)] = slot;
}

} // namespace pycuda
