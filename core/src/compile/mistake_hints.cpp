// mistake_hints.cpp -- recognises mistakes by the compiler's messages and the source.
#include "mistake_hints.h"

#include "source_text.h"

#include <algorithm>

namespace pycuda::compile_detail {
namespace {

struct DeclaredIn {
    std::string_view name;
    std::string_view header;
};

/// Names that CUDA's headers declare. A name that ends with '*' stands for all that begin so.
constexpr DeclaredIn declared_in[] = {
    {"half", "cuda_fp16.h"},
    {"half2", "cuda_fp16.h"},
    {"__half*", "cuda_fp16.h"},
    {"__float2half*", "cuda_fp16.h"},
    {"__nv_bfloat16*", "cuda_bf16.h"},
    {"nv_bfloat16*", "cuda_bf16.h"},
    {"__nv_fp8*", "cuda_fp8.h"},
    {"curand*", "curand_kernel.h"},
    {"cuComplex", "cuComplex.h"},
    {"cuFloatComplex", "cuComplex.h"},
    {"cuDoubleComplex", "cuComplex.h"},
    {"make_cu*", "cuComplex.h"},
};

/// Namespaces that CUDA's headers declare.
constexpr DeclaredIn namespaces[] = {
    {"cooperative_groups", "cooperative_groups.h"},
    {"nvcuda", "mma.h"},
    {"cub", "cub/cub.cuh"},
};

struct Misspelt {
    std::string_view name;
    std::string_view meant;
};

/// Names that beginners write for others.
constexpr Misspelt misspelt[] = {
    {"print", "printf(\"...\\n\", ...)"},
    {"None", "a number, or 0 for a null pointer"},
    {"True", "true"},
    {"False", "false"},
    {"len", "a parameter with the number of elements: a pointer does not know its length"},
};

/// CUDA's variables, whose letters may have the wrong case.
constexpr std::string_view index_names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};

bool equals_but_for_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

/// Empty if the name is none of these.
std::string_view meant_by(std::string_view name) {
    for (const Misspelt &row : misspelt)
        if (row.name == name)
            return row.meant;
    for (std::string_view known : index_names)
        if (equals_but_for_case(known, name))
            return known;
    return {};
}

std::string needs(const DeclaredIn &row) {
    return "'" + std::string(row.name) + "' needs #include <" + std::string(row.header) + ">";
}

bool matches(std::string_view pattern, std::string_view name) {
    if (!pattern.ends_with('*'))
        return pattern == name;
    pattern.remove_suffix(1);
    return name.starts_with(pattern);
}

/// The first name that the compiler does not know; empty if there is none.
std::string_view unknown_name(std::string_view log) {
    constexpr std::string_view before = "error: identifier \"";
    const std::size_t at = log.find(before);
    if (at == std::string_view::npos)
        return {};
    log.remove_prefix(at + before.size());
    return log.substr(0, log.find('"'));
}

bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
            return true;
    }
    return false;
}

/// "for i in range(n):"
bool has_python_loop(std::string_view source) {
    const std::string code = blank_comments_and_strings(source);
    for (std::size_t at = code.find("for "); at != std::string::npos;
         at = code.find("for ", at + 4)) {
        const std::string_view line = std::string_view(code).substr(at, code.find('\n', at) - at);
        if ((at == 0 || !is_word(code[at - 1])) && line.find(" in ") != std::string_view::npos &&
            line.find('(') > line.find(" in "))
            return true;
    }
    return false;
}

/// The compiler refuses the size of an array in shared memory.
bool has_array_of_variable_size(std::string_view source, std::string_view log) {
    const std::size_t at = log.find("error: expression must have a constant value\n");
    if (at == std::string_view::npos || !has_word(source, "__shared__"))
        return false;
    const std::size_t line = log.find('\n', at) + 1;
    return has_word(log.substr(line, log.find('\n', line) - line), "__shared__");
}

} // namespace

bool is_opencl(std::string_view source) {
    const std::string code = blank_comments_and_strings(source);
    return (has_word(code, "__kernel") || has_word(code, "get_global_id")) &&
           !has_word(code, "__global__");
}

std::string hint_for_host_name(std::string_view log) {
    struct Row {
        std::string_view name, instead;
    };
    constexpr Row rows[] = {{"cout", "a kernel prints with printf()"},
                            {"cerr", "a kernel prints with printf()"},
                            {"endl", "a kernel prints with printf()"},
                            {"vector", "a kernel takes a pointer and the number of elements"},
                            {"string", "a kernel takes a pointer to char and a length"}};
    for (const Row &row : rows) {
        const std::string member =
            "namespace \"std\" has no member \"" + std::string(row.name) + "\"";
        if (log.find(member) != std::string_view::npos)
            return "; std::" + std::string(row.name) + " is for the host; " +
                   std::string(row.instead);
    }
    return {};
}

std::string hint_for_mistake(std::string_view source, std::string_view log) {
    if (is_opencl(source))
        return "the source is OpenCL; in CUDA C++ a kernel begins with __global__, its arguments "
               "are plain pointers, and the index is blockIdx.x * blockDim.x + threadIdx.x";
    if (log.find("missing closing quote") != std::string_view::npos)
        return "a string in the kernel contains a line break; if the source has \"\\n\", "
               "Python has replaced it: begin the source with r\"\"\"";
    if (has_python_loop(source))
        return "the source has a Python loop; in CUDA C++: for (int i = 0; i < n; ++i) { ... }";
    const std::string_view name = unknown_name(log);
    if (name == "np" || name == "numpy" || name == "math")
        return "'" + std::string(name) +
               "' is a module of Python; CUDA C++ has sinf(x), sqrtf(x) and the like";
    if (const std::string_view meant = meant_by(name); !meant.empty())
        return "'" + std::string(name) + "' is not CUDA C++; use " + std::string(meant);
    if (log.find("namespace \"std\" has no member \"vector\"") != std::string_view::npos)
        return "std::vector does not exist in kernels; pass a pointer and the number of elements";
    if (has_array_of_variable_size(source, log))
        return "the size of an array in a kernel must be a constant; for shared memory whose size "
               "the launch gives: extern __shared__ float tile[]; and shared=BYTES in the call";
    for (const DeclaredIn &row : declared_in)
        if (!name.empty() && matches(row.name, name))
            return needs({name, row.header});
    if (log.find("must be a namespace name") != std::string_view::npos ||
        log.find("must be a class or namespace name") != std::string_view::npos)
        for (const DeclaredIn &row : namespaces)
            if (has_word(source, row.name))
                return needs(row);
    return {};
}

} // namespace pycuda::compile_detail
