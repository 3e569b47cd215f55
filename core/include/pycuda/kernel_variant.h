// kernel_variant.h -- one compiled form of a kernel that was written as an expression.
#pragma once

#include <pycuda/compiler.h>
#include <pycuda/function.h>

#include <string>
#include <vector>

namespace pycuda {

/// How such a kernel is compiled.
struct KernelBuild {
    std::vector<std::string> options = {}; ///< as for nvcc
    bool keep = false;                     ///< leave the compiler's files in a folder
    Builtins builtins = Builtins::All;     ///< as in CompileRequest
    std::string nvcc = "nvcc";             ///< as for choose_compiler()
};

/// A compiled form: for the arrays' layout at hand, in one context.
struct KernelVariant {
    std::vector<Function> functions; ///< the kernels, in the order in which they run
    std::string source;              ///< the CUDA C++ that was compiled
    std::string log;                 ///< the compiler's messages
    std::string kept_in;             ///< with KernelBuild::keep, the folder of the compiler's files
};

} // namespace pycuda
