// module_text.cpp -- releases IR, and reads it again.
#include "compiler/module_text.h"

#include "compiler/pipeline.h"

#include <stdexcept>
#include <utility>

namespace softcuda::compiler {

ModuleText::ModuleText(std::string_view ptx, std::unique_ptr<const ir::Module> module)
    : ptx_(ptx), debug_(module->debug), kept_(std::move(module)), last_used_(kept_) {}

std::shared_ptr<const ir::Module> ModuleText::module() const {
    std::lock_guard lock(mutex_);
    if (std::shared_ptr<const ir::Module> module = last_used_.lock())
        return module;
    std::string log;
    std::shared_ptr<const ir::Module> module = read_ptx(ptx_, log);
    if (!module) // it was valid before: SOFTCUDA_SKIP or another setting has changed
        throw std::runtime_error("cannot read the module again: " + log);
    last_used_ = module;
    return module;
}

void ModuleText::release() {
    std::shared_ptr<const ir::Module> last; // destroyed after the lock
    const std::lock_guard lock(mutex_);
    last.swap(kept_);
}

} // namespace softcuda::compiler
