// kernel_table.cpp -- compiling and keeping the kernels of array operations.
#include "arrays/kernel_table.h"

#include <pycuda/compiler.h>
#include <pycuda/device.h>
#include <pycuda/driver.h>
#include <pycuda/module.h>

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
    request.target = driver().image_kind();
    return request;
}

Function load_kernel(const Context &context, const CompileResult &compiled) {
    ScopedContext scope(context);
    return Module::load(std::as_bytes(std::span(compiled.image))).function("run");
}

} // namespace

bool KernelTable::has(KernelKey key) const noexcept {
    for (std::size_t at = hash(key);; ++at) {
        const Slot &slot = slots_[at & (slots_.size() - 1)];
        if (slot.key == key || slot.key == 0)
            return slot.key == key;
    }
}

void KernelTable::start(KernelKey key, std::string source) {
    auto in_background = [request = request_for(context_, std::move(source))] {
        return compile(request);
    };
    try {
        expected_.emplace(key, std::async(std::launch::async, std::move(in_background)));
    } catch (const std::system_error &) { // no more threads: find() compiles it
    }
}

const Function &KernelTable::add(KernelKey key, const std::string &source) {
    CompileResult compiled;
    if (auto expected = expected_.extract(key); !expected.empty())
        compiled = expected.mapped().get();
    else
        compiled = compile(request_for(context_, source));
    functions_.push_back(load_kernel(context_, compiled));
    if (2 * functions_.size() > slots_.size()) {
        const std::vector<Slot> old = std::move(slots_);
        slots_.assign(2 * old.size(), {});
        for (const Slot &slot : old)
            if (slot.key != 0)
                insert(slot);
    }
    insert({key, &functions_.back()});
    return functions_.back();
}

void KernelTable::insert(const Slot &slot) noexcept {
    std::size_t at = hash(slot.key);
    while (slots_[at & (slots_.size() - 1)].key != 0)
        ++at;
    slots_[at & (slots_.size() - 1)] = slot;
}

} // namespace pycuda
