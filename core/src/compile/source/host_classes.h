// host_classes.h -- classes with members of the host in a source with kernels.
//
// A class of a whole program may have members that only the host can compile:
//
//     struct Timer {                                  struct Timer {
//         cudaEvent_t start;                              cudaEvent_t start;
//         Timer() { cudaEventCreate(&start); }   ->       Timer() = delete;
//         ~Timer() { cudaEventDestroy(start); }
//     };                                              };
//
// A member function with an error loses its body. A member whose declaration has an error is
// removed. If a member with data has one, or nothing else helps, the class is declared only:
// `struct Timer;`. Members for the device always stay, and so do the sizes of classes.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compile/source/namespace_scope.h"
#include "compile/source/source_text.h"

namespace pycuda::compile_detail {

/// How much of a part of a class with an error is removed.
enum class Removal { None, Body, Member, Class };

/// What to remove of a part of the text, from its errors.
using RemovalOf = std::function<Removal(std::size_t begin, std::size_t end)>;

struct TextRange {
    std::size_t begin, end;
};

/// Adds the edits, each on the first line of its part, that remove the host's members of the class
/// that a statement of a blanked text defines. Adds the names of what is no longer declared.
void remove_host_members(std::string_view blanked, TextRange statement,
                         const SpecifierMacros &macros, const RemovalOf &removal_of,
                         std::vector<Edit> &edits, std::set<std::string> &names);

} // namespace pycuda::compile_detail
