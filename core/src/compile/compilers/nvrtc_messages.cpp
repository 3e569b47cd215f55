// nvrtc_messages.cpp -- recognises causes of failures by the compiler's messages and the source.
#include "compile/compilers/nvrtc_messages.h"

#include "compile/source/gnu_extensions.h"
#include "compile/source/source_text.h"
#include "driver/trace.h"

#include <pycuda/compile_error.h>

#include <cstdio>
#include <numeric>
#include <utility>

namespace pycuda::compile_detail {
namespace {

struct DeclaredIn {
    std::string_view name, header;
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
    std::string_view name, meant;
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
    if (at == none)
        return {};
    log.remove_prefix(at + before.size());
    return log.substr(0, log.find('"'));
}

/// "for i in range(n):"
bool has_python_loop(std::string_view code) {
    for (std::size_t at = code.find("for "); at != none; at = code.find("for ", at + 4)) {
        const std::string_view line = code.substr(at, code.find('\n', at) - at);
        if ((at == 0 || !is_word(code[at - 1])) && line.find(" in ") != none &&
            line.find('(') > line.find(" in "))
            return true;
    }
    return false;
}

/// "def f(a):" or "@cuda.jit", and no kernel of CUDA C++.
bool is_python(std::string_view code) {
    return !has_word(code, "__global__") &&
           (code.find("@cuda.jit") != none || (has_word(code, "def") && code.find("):") != none));
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
    if (at == none)
        return {};
    log.remove_prefix(at + before.size());
    FirstError error{log.substr(0, log.find('\n')), {}};
    std::string_view previous;
    while (!log.empty()) { // the source's line precedes the line with the mark
        const std::string_view line = take_line(log);
        const std::size_t mark = line.find_first_not_of(' ');
        if (mark != none && line.substr(mark) == "^") {
            error.line = previous;
            error.at_line_start = previous.find_first_not_of(' ') == mark;
            break;
        }
        previous = line;
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
    return at != none && line.find('?') == none &&
           (has_word(line, "if") || has_word(line, "while"));
}

/// A function of the source that is used above its declaration.
bool is_declared_later(std::string_view code, std::string_view name) {
    bool used = false, later = false;
    std::size_t declared = none;
    for_each_place(code, name, [&](std::size_t at) {
        const std::size_t statement = code.find_last_of(";{}", at) + 1;
        if (declared == none && has_word(code.substr(statement, at - statement), "__device__")) {
            declared = at;
            later = used && code.substr(skip_space(code, at + name.size())).starts_with('(');
        }
        used = true;
    });
    return later;
}

/// By the words of the first error; empty if no rule is for it.
std::string hint_for_error(std::string_view log) {
    const FirstError error = first_error(log);
    for (const Rule &rule : rules)
        if (error.message.find(rule.message) != none && error.line.find(rule.line) != none)
            return std::string(rule.hint);
    if (error.message == "expected a \";\"" && error.at_line_start)
        return "a semicolon is missing at the end of the line before";
    if (error.message == "expected a \"}\"" && log.find("At end of source") != none)
        return "a { of the source has no }";
    if (error.message == "expected an expression" && ends_in_colon(error.line))
        return "the source has a condition of Python; in CUDA C++: if (n > 1) { ... }";
    const bool is_atomic =
        error.message.find("\"atomicMax\"") != none || error.message.find("\"atomicMin\"") != none;
    if (is_atomic &&
        (log.find("types are: (float *") != none || log.find("types are: (double *") != none))
        return "atomicMin and atomicMax are for integers; for other types use atomicCAS in a loop";
    return {};
}

/// The compiler refuses the size of an array in shared memory.
bool has_array_of_variable_size(std::string_view source, std::string_view log) {
    const std::size_t at = log.find("error: expression must have a constant value\n");
    if (at == none || !has_word(source, "__shared__"))
        return false;
    const std::size_t line = log.find('\n', at) + 1;
    return has_word(log.substr(line, log.find('\n', line) - line), "__shared__");
}

constexpr std::string_view error_mark = "error: ";

template <class Visit> void for_each_error(std::string_view log, Visit visit) {
    for (std::size_t at = log.find(error_mark); at != none; at = log.find(error_mark, at)) {
        at += error_mark.size();
        visit(log.substr(at, log.find('\n', at) - at));
    }
}

/// The name in 'identifier "name" is undefined'; empty in other messages.
std::string_view undefined_name(std::string_view message) {
    constexpr std::string_view before = "identifier \"";
    if (!message.starts_with(before) || !message.ends_with("\" is undefined"))
        return {};
    message.remove_prefix(before.size());
    return message.substr(0, message.find('"'));
}

constexpr std::string_view unknown_namespace = "must be a class or namespace name";

/// Errors that do not depend on a compiler's extensions.
bool is_error_everywhere(std::string_view message) {
    if (const std::string_view unknown = undefined_name(message); !unknown.empty()) {
        // Keywords of GCC, and types of the host's headers, which nvcc includes before a source.
        constexpr std::string_view host_types[] = {"FILE",     "div_t",       "ldiv_t",
                                                   "pid_t",    "id_t",        "fpos_t",
                                                   "locale_t", "max_align_t", "typeof"};
        return !unknown.starts_with('_') && !has_any(host_types, unknown);
    }
    constexpr std::string_view phrases[] = {"expected a \";\"",
                                            "too few arguments in function call",
                                            "too many arguments in function call",
                                            "is incompatible with parameter of type",
                                            "cannot be assigned to an entity of type",
                                            "cannot be used to initialize an entity of type",
                                            "expression must be a modifiable lvalue",
                                            "expression must have class type",
                                            "has no member \"",
                                            "has already been declared in the current scope",
                                            "no operator \""};
    return says_any(message, phrases);
}

/// Whether nvcc has no such error. A missing expression is a mistake everywhere, unless the source
/// has an extension that NVRTC reports in this way.
bool is_extension(std::string_view source, std::string_view log) {
    constexpr std::string_view phrases[] = {"the size of an array must be greater than zero",
                                            " []\" is not allowed", // the last member
                                            "incomplete type \"void\"",
                                            "pointer to a complete object type",
                                            "identifier \"typeof",
                                            "identifier \"__typeof",
                                            "identifier \"__builtin_",
                                            "identifier \"__extension__",
                                            "identifier \"__asm"};
    return says_any(log, phrases) ||
           (may_be_gnu_extension(log) && replace_gnu_extensions(source).has_value());
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
        if (log.find(member) != none)
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
    if (log.find("missing closing quote") != none)
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
    if (log.find("must be a namespace name") != none ||
        log.find("must be a class or namespace name") != none)
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
    if (log.find("may not have extern \"C\" linkage") != none)
        return "the source is wrapped in extern \"C\", where templates are not allowed; "
               "pass no_extern_c=True (in C++: Linkage::Cxx), and write extern \"C\" before "
               "each kernel that is not a template";
    return hint_for_error(log);
}

bool says(const std::string &log, std::string_view phrase) {
    return log.find(phrase) != std::string::npos;
}

std::string missing_header(const std::string &log) {
    constexpr std::string_view phrase = " open source file \"";
    std::size_t at = log.find(phrase);
    if (at == std::string::npos)
        return {};
    at += phrase.size();
    return log.substr(at, log.find('"', at) - at);
}

std::string advice_for(const std::string &header) {
    for (std::string_view library : {"cuda/", "cub/", "thrust/", "nv/"})
        if (header.starts_with(library))
            return "; it is in the wheel nvidia-cuda-cccl";
    if (header.starts_with("curand"))
        return "; it is in the wheel nvidia-curand";
    if (header.starts_with("cuda_"))
        return "; it is in the wheel nvidia-cuda-runtime";
    return "; include_dirs names the folders of a program's own headers";
}

std::string header_for_nvcc(const std::string &log) {
    if (says(log, "not supported when compiling with NVRTC"))
        return "a header does not support NVRTC, only nvcc";
    const std::string first_line = log.substr(0, log.find("): error"));
    return says(first_line, "/thrust/") ? "Thrust has host code, which only nvcc can compile" : "";
}

std::string unknown_parameter_type(const std::string &log) {
    constexpr std::string_view before = "error: identifier \"", after = "\" is undefined";
    std::size_t at = log.find("error: attribute \"__global__\" does not apply here");
    if (at != std::string::npos)
        at = log.find(before, at);
    if (at == std::string::npos)
        return {};
    at += before.size();
    const std::size_t end = log.find('"', at);
    return log.substr(std::min(end, log.size())).starts_with(after) ? log.substr(at, end - at) : "";
}

bool is_host_code(const std::string &log) { return says(log, "not allowed in JIT mode"); }

std::string first_message(std::string_view log) { return std::string(first_error(log).message); }

bool may_miss_declarations(std::string_view log) {
    constexpr std::string_view phrases[] = {
        "has no member \"",  unknown_namespace, "must be a namespace name",
        "is not a template", "incomplete type", "qualified name is not allowed"}; // of a type
    bool misses = false;
    for_each_error(log, [&](std::string_view message) {
        misses |= !undefined_name(message).empty() || says_any(message, phrases);
    });
    return misses;
}

bool may_miss_library(std::string_view log) {
    constexpr std::string_view prefixes[] = {"cu", "Cu", "CU", "nccl", "nvtx", "nvml"};
    bool misses = false;
    for_each_error(log, [&](std::string_view message) {
        const std::string_view unknown = undefined_name(message);
        misses |= says_any(message,
                           std::initializer_list<std::string_view>{
                               unknown_namespace, "namespace \"cub\" has no member \"Device"}) ||
                  std::ranges::any_of(prefixes, [&](std::string_view prefix) {
                      return unknown.starts_with(prefix);
                  });
    });
    return misses;
}

bool nvcc_may_accept(std::string_view log) {
    bool accepts = false;
    for_each_error(log,
                   [&](std::string_view message) { accepts |= !is_error_everywhere(message); });
    return accepts;
}

std::string advice_to_get_nvcc(std::string_view source, std::string_view log) {
    if (!is_extension(source, log))
        return "";
    return "; if this is an extension of GCC, only nvcc can compile it: install a host compiler "
           "(g++) and 'pip install nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm "
           "nvidia-cuda-runtime nvidia-cuda-cccl', or a CUDA toolkit";
}

void trace_nvcc(std::string_view name, std::string_view nvcc, std::string_view log) {
    if (!trace_wanted())
        return;
    const std::size_t error = log.find(error_mark);
    const std::size_t begin = error == none ? 0 : log.rfind('\n', error) + 1; // 0 in the first line
    const std::string line =
        "pycuda: " + std::string(nvcc) + " compiled " + std::string(name) +
        ", which NVRTC refused: " + std::string(log.substr(begin, log.find('\n', begin) - begin)) +
        "\n";
    std::fputs(line.c_str(), stderr);
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
