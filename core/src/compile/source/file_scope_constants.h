// file_scope_constants.h -- `const` variables at file scope, whose values nvcc folds.
//
// Device code may use the value of a host's `const` variable if nvcc knows the value. nvcc folds
// more than a constant expression of C++. NVRTC takes these variables for variables of the device,
// which need constant expressions. A declaration becomes `constexpr`, which has the same rules as
// nvcc's folding. A declaration that still is not constant (a call of sqrtf) is a variable of the
// host alone, so it is removed. Line numbers do not change.
//
//     const float dx = 0.5f;             constexpr float dx = 0.5f;
//     const float area = dx * dx;    =>  constexpr float area = dx * dx;
//     const float r = sqrtf(3.0f);
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda::compile_detail {

/// A declaration in the text that fold_constants() returns.
struct FileScopeConstant {
    std::size_t begin = 0; ///< position of the first character
    std::size_t end = 0;   ///< position after the ';'
};

struct FoldedConstants {
    std::string text;
    /// In order; a removed declaration has a place too.
    std::vector<FileScopeConstant> declarations;
};

/// Rewrites the declarations of `text`; those with a number in `removed` are replaced by blanks.
[[nodiscard]] FoldedConstants fold_constants(std::string_view text,
                                             const std::set<std::size_t> &removed = {});

/// Whether NVRTC's log says that a value at file scope is not constant.
[[nodiscard]] bool needs_constants(std::string_view log);

/// The numbers of the declarations that are not constant according to the log. `name` is the name
/// of the text in the log.
[[nodiscard]] std::set<std::size_t>
find_host_variables(const FoldedConstants &folded, std::string_view log, std::string_view name);

} // namespace pycuda::compile_detail
