// specifier_macros.h -- macros that stand for specifiers of functions.
//
//     #define HOST_DEVICE __host__ __device__
//     #define HOST __host__ inline
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace pycuda::compile_detail {

class SpecifierMacros {
  public:
    /// Adds the macros that a text defines, whose comments and strings are blanked.
    void add(std::string_view blanked);

    /// Whether the macro, or the word itself, is a specifier such as __device__.
    [[nodiscard]] bool is_for_device(std::string_view word) const;
    /// Whether the macro has nothing but specifiers such as __host__ and inline.
    [[nodiscard]] bool is_for_host(std::string_view word) const;

  private:
    void add_line(std::string_view line);

    std::set<std::string, std::less<>> device_, host_;
};

} // namespace pycuda::compile_detail
