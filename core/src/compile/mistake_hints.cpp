// mistake_hints.cpp -- recognises mistakes by the compiler's messages and the source.
#include "mistake_hints.h"

#include "source_text.h"

#include <pycuda/compile_error.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

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

/// Names of Python, OpenCL, Numba and old versions of CUDA.
constexpr Misspelt misspelt[] = {
    {"print", "printf(\"...\\n\", ...)"},
    {"None", "a number, or 0 for a null pointer"},
    {"True", "true"},
    {"False", "false"},
    {"len", "a parameter with the number of elements: a pointer does not know its length"},
    {"elif", "else if"},
    {"pi", "3.14159265f"},
    {"complex", "pycuda::complex of <pycuda-complex.hpp>"},
    {"cuda", "threadIdx.x, blockIdx.x and blockDim.x without 'cuda.'"},
    {"get_global_id", "blockIdx.x * blockDim.x + threadIdx.x"},
    {"get_global_size", "gridDim.x * blockDim.x"},
    {"get_local_id", "threadIdx.x"},
    {"get_local_size", "blockDim.x"},
    {"get_group_id", "blockIdx.x"},
    {"get_num_groups", "gridDim.x"},
    {"barrier", "__syncthreads()"},
    {"__shfl", "__shfl_sync(0xffffffff, ...)"},
    {"__shfl_up", "__shfl_up_sync(0xffffffff, ...)"},
    {"__shfl_down", "__shfl_down_sync(0xffffffff, ...)"},
    {"__shfl_xor", "__shfl_xor_sync(0xffffffff, ...)"},
    {"__ballot", "__ballot_sync(0xffffffff, ...)"},
    {"__any", "__any_sync(0xffffffff, ...)"},
    {"__all", "__all_sync(0xffffffff, ...)"},
};

/// Names of CUDA C++ that are written with wrong letters. Shorter names are like too many others.
constexpr std::string_view cuda_names[] = {
    "threadIdx",  "blockIdx",  "blockDim",      "gridDim",      "warpSize",    "__syncthreads",
    "__syncwarp", "atomicAdd", "atomicSub",     "atomicMin",    "atomicMax",   "atomicExch",
    "atomicCAS",  "__ldg",     "__threadfence", "__restrict__", "__constant__"};

/// The number of letters to insert, remove or replace to make one text of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
        }
    }
    return row.back();
}

/// In lower case, without underscores.
std::string letters_of(std::string_view name) {
    std::string letters;
    for (char c : name)
        if (c != '_')
            letters += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    return letters;
}

/// Empty if the name is none of these.
std::string_view meant_by(std::string_view name) {
    for (const Misspelt &row : misspelt)
        if (row.name == name)
            return row.meant;
    return {};
}

/// A name of CUDA C++ that differs by at most one letter; empty if there is none.
std::string_view similar_to(std::string_view name) {
    const std::string letters = letters_of(name);
    for (std::string_view known : cuda_names)
        if (edit_distance(letters_of(known), letters) <= (known.size() > 6 ? 1 : 0))
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
bool has_python_loop(std::string_view code) {
    for (std::size_t at = code.find("for "); at != std::string_view::npos;
         at = code.find("for ", at + 4)) {
        const std::string_view line = code.substr(at, code.find('\n', at) - at);
        if ((at == 0 || !is_word(code[at - 1])) && line.find(" in ") != std::string_view::npos &&
            line.find('(') > line.find(" in "))
            return true;
    }
    return false;
}

/// "def f(a):" or "@cuda.jit", and no kernel of CUDA C++.
bool is_python(std::string_view code) {
    return !has_word(code, "__global__") &&
           (code.find("@cuda.jit") != std::string_view::npos ||
            (has_word(code, "def") && code.find("):") != std::string_view::npos));
}

/// The first error of a log, such as
///
///     kernel.cu(4): error: expected a ";"
///           a[i] = 1;
///           ^
struct FirstError {
    std::string_view message; ///< "expected a \";\""
    std::string_view line;    ///< of the source, with its spaces: "      a[i] = 1;"
    bool at_line_start = false;
};

FirstError first_error(std::string_view log) {
    constexpr std::string_view before = "error: ";
    const std::size_t at = log.find(before);
    if (at == std::string_view::npos)
        return {};
    log.remove_prefix(at + before.size());
    FirstError error{log.substr(0, log.find('\n')), {}};
    std::string_view previous;
    while (!log.empty()) { // the source's line precedes the line with the mark
        const std::string_view line = log.substr(0, log.find('\n'));
        const std::size_t mark = line.find_first_not_of(' ');
        if (mark != std::string_view::npos && line.substr(mark) == "^") {
            error.line = previous;
            error.at_line_start = previous.find_first_not_of(' ') == mark;
            break;
        }
        previous = line;
        log.remove_prefix(std::min(log.size(), line.size() + 1));
    }
    return error;
}

struct Rule {
    std::string_view message; ///< in the compiler's message
    std::string_view line;    ///< in the line of the source
    std::string_view hint;
};

constexpr std::string_view no_power_operator =
    "C++ has no operator for powers; write x * x, or powf(x, y)";
constexpr std::string_view not_replaced =
    "the source has a placeholder that Python has not replaced by a value";

constexpr Rule rules[] = {
    {"must have pointer-to-object type", "][",
     "a pointer takes one index: a[row * width + column]"},
    {"operand of \"*\" must be a pointer", "**", no_power_operator},
    {"must have integral or unscoped enum type", "^", no_power_operator},
    {"must have integral or unscoped enum type", "%",
     "% is for integers; for floating-point numbers: fmodf(x, y)"},
    {"expression must have a constant value", "[",
     "the size of an array in a kernel must be a constant, such as a macro: options=[\"-DN=100\"]"},
    {"unrecognized preprocessing directive", "#", "a comment of C++ begins with //"},
    {"", "%(", not_replaced},
    {"", "{{", not_replaced},
    {"must have a void return type", "",
     "a kernel returns nothing; it writes its results to memory that it gets a pointer to"},
    {"more than one instance of overloaded function \"min\"", "",
     "both arguments of min must have the same type: min(x, 2.0f), min(n, 2)"},
    {"more than one instance of overloaded function \"max\"", "",
     "both arguments of max must have the same type: max(x, 2.0f), max(n, 2)"},
    {"namespace \"std\" has no member \"min\"", "", "write min(a, b) without std::"},
    {"namespace \"std\" has no member \"max\"", "", "write max(a, b) without std::"},
    {"namespace \"std\" has no member \"vector\"", "",
     "std::vector does not exist in kernels; pass a pointer and the number of elements"},
};

/// "if (n > 1):"
bool ends_in_colon(std::string_view line) {
    const std::size_t at = line.find("):");
    return at != std::string_view::npos && line.find('?') == std::string_view::npos &&
           (has_word(line, "if") || has_word(line, "while"));
}

/// A function of the source that is used above its declaration.
bool is_declared_later(std::string_view code, std::string_view name) {
    bool used = false;
    for (std::size_t at = code.find(name); at != std::string_view::npos;
         at = code.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at > 0 && is_word(code[at - 1])) || end == code.size() || is_word(code[end]))
            continue;
        const std::size_t statement = code.find_last_of(";{}", at) + 1;
        if (has_word(code.substr(statement, at - statement), "__device__"))
            return used && code[code.find_first_not_of(' ', end)] == '(';
        used = true;
    }
    return false;
}

/// By the words of the first error; empty if no rule is for it.
std::string hint_for_error(std::string_view log) {
    const FirstError error = first_error(log);
    for (const Rule &rule : rules)
        if (error.message.find(rule.message) != std::string_view::npos &&
            error.line.find(rule.line) != std::string_view::npos)
            return std::string(rule.hint);
    if (error.message == "expected a \";\"" && error.at_line_start)
        return "a semicolon is missing at the end of the line before";
    if (error.message == "expected a \"}\"" &&
        log.find("At end of source") != std::string_view::npos)
        return "a { of the source has no }";
    if (error.message == "expected an expression" && ends_in_colon(error.line))
        return "the source has a condition of Python; in CUDA C++: if (n > 1) { ... }";
    const bool is_atomic = error.message.find("\"atomicMax\"") != std::string_view::npos ||
                           error.message.find("\"atomicMin\"") != std::string_view::npos;
    if (is_atomic && (log.find("types are: (float *") != std::string_view::npos ||
                      log.find("types are: (double *") != std::string_view::npos))
        return "atomicMin and atomicMax are for integers; for other types use atomicCAS in a loop";
    return {};
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
    if (std::string hint = hint_for_refused_ptx(log); !hint.empty())
        return hint;
    if (is_opencl(source))
        return "the source is OpenCL; in CUDA C++ a kernel begins with __global__, its arguments "
               "are plain pointers, and the index is blockIdx.x * blockDim.x + threadIdx.x";
    const std::string code = blank_comments_and_strings(source);
    if (is_python(code))
        return "the source is Python; in CUDA C++ a kernel begins with __global__ void";
    if (log.find("missing closing quote") != std::string_view::npos)
        return "a string in the kernel contains a line break; if the source has \"\\n\", "
               "Python has replaced it: begin the source with r\"\"\"";
    if (has_python_loop(code))
        return "the source has a Python loop; in CUDA C++: for (int i = 0; i < n; ++i) { ... }";
    const std::string_view name = unknown_name(log);
    if (name == "np" || name == "numpy" || name == "math")
        return "'" + std::string(name) +
               "' is a module of Python; CUDA C++ has sinf(x), sqrtf(x) and the like";
    if (const std::string_view meant = meant_by(name); !meant.empty())
        return "'" + std::string(name) + "' is not CUDA C++; use " + std::string(meant);
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

std::string hint_for_refused_text(std::string_view source, std::string_view log) {
    const std::string_view name = unknown_name(log);
    if (!name.empty() && is_declared_later(blank_comments_and_strings(source), name))
        return "'" + std::string(name) +
               "' is used above its declaration; move the function to the beginning of the source";
    if (const std::string_view similar = similar_to(name); !name.empty() && !similar.empty())
        return "'" + std::string(name) + "' is not CUDA C++; use " + std::string(similar);
    if (log.find("may not have extern \"C\" linkage") != std::string_view::npos)
        return "the source is wrapped in extern \"C\", where templates are not allowed; "
               "pass no_extern_c=True (in C++: Linkage::Cxx), and write extern \"C\" before "
               "each kernel that is not a template";
    return hint_for_error(log);
}

} // namespace pycuda::compile_detail

namespace pycuda {

std::string hint_for_refused_ptx(std::string_view log) {
    if (log.find("too much shared data") == std::string_view::npos)
        return {};
    return "for more, let the launch give the size: extern __shared__ float tile[]; in the source, "
           "kernel.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, BYTES), "
           "and shared=BYTES in the call";
}

} // namespace pycuda
