// module_text.h -- a module's PTX, and its IR while the IR is in use.
#pragma once

#include "ir/ir.h"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace softcuda::compiler {

/// IR takes about 15 times the memory of its text. A program may load thousands of modules, and
/// needs the IR of a module seldom after its kernels are compiled. So release() leaves the text
/// only, and module() reads the text again. Any thread may call.
class ModuleText {
  public:
    ModuleText(std::string_view ptx, std::unique_ptr<const ir::Module> module);

    /// The module's IR.
    [[nodiscard]] std::shared_ptr<const ir::Module> module() const;
    /// Whether it is compiled for a debugger.
    [[nodiscard]] bool debug() const noexcept { return debug_; }

    /// From now on the IR exists only while a caller of module() holds it.
    void release();

  private:
    const std::string ptx_;
    const bool debug_;
    mutable std::mutex mutex_;
    std::shared_ptr<const ir::Module> kept_;            ///< null after release()
    mutable std::weak_ptr<const ir::Module> last_used_; ///< may be shared by several callers
};

} // namespace softcuda::compiler
