// library.cpp -- loads libraries into contexts at their first use.
#include "device/library.h"

#include "device/registry.h"

namespace softcuda::device {

const compiler::KernelInfo &Kernel::info() const noexcept {
    return library_.program().kernels()[index_];
}

std::shared_ptr<Function> Kernel::function(Context &context) const {
    const std::shared_ptr<Module> module = library_.module(context);
    return {module, module->functions()[index_].get()};
}

Library::Library(std::shared_ptr<compiler::Program> program) : program_(std::move(program)) {
    for (std::size_t index = 0; index < program_->kernels().size(); index++)
        kernels_.push_back(std::make_unique<Kernel>(*this, index));
}

Kernel *Library::kernel(std::string_view name) const noexcept {
    for (const std::unique_ptr<Kernel> &kernel : kernels_)
        if (kernel->info().name == name)
            return kernel.get();
    return nullptr;
}

std::shared_ptr<Module> Library::module(Context &context) {
    std::lock_guard lock(mutex_);
    std::weak_ptr<Module> &known = modules_[&context];
    std::shared_ptr<Module> module = known.lock();
    // A reset ends a context's modules, but graphs and queued commands may still own one.
    if (!module || !registry<Module>().find(module.get())) {
        module = std::make_shared<Module>(context, program_);
        register_module(module);
        known = module;
    }
    return module;
}

std::vector<std::shared_ptr<Module>> Library::modules() {
    std::vector<std::shared_ptr<Module>> result;
    std::lock_guard lock(mutex_);
    for (const auto &[context, known] : modules_)
        if (std::shared_ptr<Module> module = known.lock())
            result.push_back(std::move(module));
    return result;
}

} // namespace softcuda::device
