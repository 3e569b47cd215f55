// nvcc_names.h -- overloads and macros that nvcc has without an include, and NVRTC has otherwise.
//
// nvcc takes the functions of two types from the host's <cmath>: pow(float, int) is a double. NVRTC
// has overloads of its own, and its overload resolution chooses another type:
//
//                                    nvcc              NVRTC
//     pow(float, int)                double            float
//     pow(float, double)             double            ambiguous
//     fmod(float, int)               double, *         float
//     sqrt(int)                      double, *         ambiguous
//
// (*: with --expt-relaxed-constexpr; an error without.) The header below declares templates with
// C++'s result types. They match the types of the arguments exactly, so they win over the overloads
// of NVRTC, except where those match exactly: pow(float, int). A macro renames calls of pow.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace pycuda::compile_detail {

/// Whose text it is. A program's header is one that the program includes as "name.h". In <name.h>,
/// a library's, macros that name GCC, Linux and the processor are left out: libraries ask for them
/// to use what NVRTC lacks.
enum class TextRole { Source, ProgramHeader, Library };

/// Adds the words of `blanked` that need a part of the header: "pow", "fmod", "__NVCC__".
/// `blanked` is blank_comments_and_strings() of a user's text. True if a library would get less.
bool find_nvcc_names(std::string_view blanked, TextRole role,
                     std::set<std::string, std::less<>> &names);

inline constexpr const char *gcc_macro = "__GNUC__";

/// Adds the macros by which GCC names the processor: a library's headers ask for them.
void add_processor_macros(std::set<std::string, std::less<>> &names);

/// The header to include before a source that mentions `names`; empty if it needs none.
[[nodiscard]] std::string declare_nvcc_names(const std::set<std::string, std::less<>> &names);

/// Whether the log has an error that the header can cause: an ambiguous call of an overload, or a
/// name that a macro has renamed.
[[nodiscard]] bool conflicts_with_nvcc_names(std::string_view log);

/// Replaces the names that the header's macros introduce by those of the source.
void restore_names(std::string &log);

// nvcc includes <cuda_runtime.h> before every source, and with it much of the host's <math.h>,
// <limits.h> and <sys/types.h>. Kernels use these names: `uint`, M_PI, INT_MAX, INFINITY, std::abs.
// NVRTC does not declare them. Only names that are missing in a failed compilation, and macros that
// a directive asks for, are declared, so that the declarations do not conflict with names of the
// source.

/// The macros that nvcc defines and that a directive of the text asks for: M_PI of `#ifndef M_PI`.
/// `blanked` is blank_comments_and_strings() of the text.
[[nodiscard]] std::set<std::string> implicit_macros_asked_for(std::string_view blanked);

/// The names that are missing according to the log, and that nvcc declares: "M_PI", "std::abs".
[[nodiscard]] std::set<std::string> missing_implicit_names(std::string_view log);

/// The declarations to insert before a source.
struct ImplicitDeclarations {
    std::string text;
    std::set<std::string>
        headers; ///< replacement headers that the text includes; see standard_headers.h
};

[[nodiscard]] ImplicitDeclarations declare_implicit_names(const std::set<std::string> &names);

} // namespace pycuda::compile_detail
