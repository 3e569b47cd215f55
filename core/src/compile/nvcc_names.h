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

/// Adds the words of `blanked` that need a part of the header: "pow", "fmod", "__NVCC__".
/// `blanked` is blank_comments_and_strings() of a user's text. In a header, GCC's macros are left
/// out: libraries ask for them to use what NVRTC lacks.
enum class TextRole { Source, Header };
void find_nvcc_names(std::string_view blanked, TextRole role,
                     std::set<std::string, std::less<>> &names);

inline constexpr const char *gcc_macro = "__GNUC__";

/// Adds the macros by which GCC names itself and the processor: a library's headers ask for them.
void add_macros_of_gcc(std::set<std::string, std::less<>> &names);

/// The header to include before a source that mentions `names`; empty if it needs none.
[[nodiscard]] std::string declare_nvcc_names(const std::set<std::string, std::less<>> &names);

/// Whether the log has an error that the header can cause: an ambiguous call of an overload, or a
/// name that a macro has renamed.
[[nodiscard]] bool conflicts_with_nvcc_names(std::string_view log);

/// Replaces the names that the header's macros introduce by those of the source.
void restore_names(std::string &log);

} // namespace pycuda::compile_detail
