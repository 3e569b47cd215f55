// absent.cpp -- stands in for the compiler in a build of libsoftcuda that has none.
#include "compiler/program.h"

namespace softcuda::compiler {

std::shared_ptr<Program> Program::from_ptx(std::string_view, std::string &log) {
    log = "this libsoftcuda was built without its PTX compiler";
    return nullptr;
}

} // namespace softcuda::compiler
