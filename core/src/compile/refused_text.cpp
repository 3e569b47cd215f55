// refused_text.cpp -- sources that NVRTC refuses and nvcc may compile.
#include "refused_text.h"

#include <algorithm>
#include <cstdio>

#include "driver/trace.h"
#include "gnu_extensions.h"

namespace pycuda::compile_detail {
namespace {

constexpr std::string_view error_mark = "error: ";

template <class Visit> void for_each_error(std::string_view log, Visit visit) {
    for (std::size_t at = log.find(error_mark); at != std::string_view::npos;
         at = log.find(error_mark, at)) {
        at += error_mark.size();
        visit(log.substr(at, log.find('\n', at) - at));
    }
}

/// Errors that do not depend on a compiler's extensions.
bool is_error_everywhere(std::string_view message) {
    constexpr std::string_view name = "identifier \"";
    if (message.starts_with(name) && message.ends_with("\" is undefined")) {
        message.remove_prefix(name.size());
        const std::string_view unknown = message.substr(0, message.find('"'));
        // Keywords of GCC, and types of the host's headers, which nvcc includes before a source.
        constexpr std::string_view host_types[] = {"FILE",     "div_t",       "ldiv_t",
                                                   "pid_t",    "id_t",        "fpos_t",
                                                   "locale_t", "max_align_t", "typeof"};
        return !unknown.starts_with('_') &&
               std::ranges::find(host_types, unknown) == std::end(host_types);
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
    return std::ranges::any_of(phrases, [&](std::string_view phrase) {
        return message.find(phrase) != std::string_view::npos;
    });
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
    return std::ranges::any_of(phrases,
                               [&](std::string_view phrase) {
                                   return log.find(phrase) != std::string_view::npos;
                               }) ||
           (may_be_gnu_extension(log) && replace_gnu_extensions(source).has_value());
}

} // namespace

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
    const std::size_t begin =
        error == std::string_view::npos ? 0 : log.rfind('\n', error) + 1; // 0 in the first line
    const std::string line =
        "pycuda: " + std::string(nvcc) + " compiled " + std::string(name) +
        ", which NVRTC refused: " + std::string(log.substr(begin, log.find('\n', begin) - begin)) +
        "\n";
    std::fputs(line.c_str(), stderr);
}

} // namespace pycuda::compile_detail
