// context.h -- the state that the parsers of one module share.
#pragma once

#include "ptx/ast.h"
#include "ptx/forms.h"
#include "ptx/names.h"
#include "ptx/token_stream.h"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace softcuda::ptx {

/// The name of an inlined function: a string of .debug_str, which comes after the functions.
struct InlinedName {
    std::uint32_t function; ///< in Module::functions
    std::uint32_t line;     ///< in its lines
    std::string_view label;
    std::uint64_t offset; ///< in the string
};

/// One per parse. Parsers hold a reference to it.
struct Context {
    Module &module;
    TokenStream &tokens;
    Diagnostics &diagnostics;
    NameTable names; ///< scope 0 is the module's
    /// A cache of spellings. A module has a few hundred and uses each thousands of times.
    std::unordered_map<std::string_view, SpellingMatch> spellings;
    std::uint32_t function = no_index; ///< the function whose body is being read
    std::vector<InlinedName> inlined_names;
};

} // namespace softcuda::ptx
