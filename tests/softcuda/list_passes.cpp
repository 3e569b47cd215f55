// list_passes.cpp -- prints the compiler's passes, for tools/passes.py and for tests.
//
//     softcuda_passes
//
// One line for each pass, with fields separated by tabs: name, layer, need, source files, sentence.
// Wrong names in SOFTCUDA_DUMP and SOFTCUDA_SKIP are reported on stderr, as in a compilation.
#include "compiler/pipeline.h"

#include <iostream>

int main() {
    using namespace softcuda::compiler;
    (void)skipped_passes();
    for (const PassInfo &pass : passes())
        std::cout << pass.name << '\t' << text(pass.layer) << '\t'
                  << (pass.need == Need::Optional ? "optional" : "required") << '\t' << pass.source
                  << '\t' << pass.what << '\n';
}
