// kernel_table.cpp -- compiling and keeping the kernels of array operations.
#include "arrays/kernel_table.h"

#include <pycuda/compiler.h>
#include <pycuda/device.h>
#include <pycuda/driver.h>
#include <pycuda/module.h>

namespace pycuda {
namespace {

Function compile_kernel(const Context &context, const std::string &source) {
    CompileRequest request;
    request.source = source;
    request.name = "pycuda_array.cu";
    request.linkage = Linkage::Cxx;
    request.builtins = Builtins::Minimal;
    request.options = {"--fmad=false"};
    request.device = context.device().compute_capability();
    request.target = driver().image_kind();
    const CompileResult result = compile(request);
    ScopedContext scope(context);
    return Module::load(std::as_bytes(std::span(result.image))).function("run");
}

} // namespace

const Function &KernelTable::add(KernelKey key, const std::string &source) {
    functions_.push_back(compile_kernel(context_, source));
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
