// list_passes.cpp -- prints the compiler's passes, for tools/passes.py and for tests.
//
//     softcuda_passes               one line for each pass, with fields separated by tabs: name,
//                                   layer, need, source files, sentence
//     softcuda_passes --changes     one line for each optional pass: name, number of kernels whose
//                                   LLVM IR it changes, number of all kernels. Reads kernels from
//                                   stdin, one a line: PTX file, name, extents of the block
//
// Wrong names in SOFTCUDA_DUMP and SOFTCUDA_SKIP are reported on stderr, as in a compilation.
#include "compiler/pipeline.h"
#include "jit/llvm_module.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using namespace softcuda;

struct Launch {
    std::string file, kernel;
    analysis::LaunchShape shape;
};

/// The optimised LLVM IR.
std::string compile(const Launch &launch, const std::string &ptx, std::string_view without) {
    setenv("SOFTCUDA_SKIP", std::string(without).c_str(), 1);
    std::string log;
    const std::unique_ptr<ir::Module> module = compiler::read_ptx(ptx, log);
    if (!module)
        throw std::runtime_error(launch.file + ": " + log);
    const auto kernel = std::ranges::find(module->functions, launch.kernel,
                                          [](const auto &function) { return function->name; });
    if (kernel == module->functions.end())
        throw std::runtime_error(launch.file + " has no kernel " + launch.kernel);
    const jit::Target target = jit::Target::from_environment();
    const compiler::LlvmKernel made =
        compiler::make_llvm(*module, **kernel, launch.shape, {}, target);
    jit::optimize(made.module.get(), target, compiler::llvm_passes(made.module.get()));
    return made.module.text();
}

void print_changes() {
    std::map<std::string_view, unsigned> changed;
    unsigned kernels = 0;
    Launch launch;
    while (std::cin >> launch.file >> launch.kernel >> launch.shape.block[0] >>
           launch.shape.block[1] >> launch.shape.block[2]) {
        std::ostringstream ptx;
        ptx << std::ifstream(launch.file).rdbuf();
        ++kernels;
        const std::string all = compile(launch, ptx.str(), "");
        for (const compiler::PassInfo &pass : compiler::passes())
            if (pass.need == compiler::Need::Optional)
                changed[pass.name] += compile(launch, ptx.str(), pass.name) != all;
    }
    for (const auto &[name, count] : changed)
        std::cout << name << '\t' << count << '\t' << kernels << '\n';
}

} // namespace

int main(int argc, char **argv) try {
    using namespace softcuda::compiler;
    (void)skipped_passes();
    if (argc == 2 && std::string_view(argv[1]) == "--changes") {
        print_changes();
        return 0;
    }
    for (const PassInfo &pass : passes())
        std::cout << pass.name << '\t' << text(pass.layer) << '\t'
                  << (pass.need == Need::Optional ? "optional" : "required") << '\t' << pass.source
                  << '\t' << pass.what << '\n';
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
