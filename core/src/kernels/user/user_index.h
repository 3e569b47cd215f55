// user_index.h -- how a user's text uses arrays, and its index `i`.
//
// A walk gives a text one element of each array, whatever the text has between the brackets. So it
// must be proved that each `x[i]` is the element of the loop: that no other `i` is in sight, and
// that nothing changes `i` or keeps the address of an element. Texts without a proof run in a loop
// in which `x[i]` is element i of an array.
#pragma once

#include "compile/source/source_tokens.h"

#include <pycuda/kernel_argument.h>

#include <string_view>
#include <vector>

namespace pycuda {

/// The texts of a kernel.
struct UserText {
    std::string_view preamble;   ///< declarations
    std::string_view statements; ///< in which `i` is the index of an element
};

/// What the statements show, with the macros of the preamble and of the options.
struct IndexUse {
    std::vector<bool> at_i_only; ///< of each array: used, and provably as x[i] of the loop only
    bool index_alone = false;    ///< `i` may be used outside of such x[i]
    bool may_skip = false;       ///< conditions or loops may skip the use of an element
    bool minds_threads = false;  ///< depends on the threads that run it, or ends a loop early
};

IndexUse find_index_use(const UserText &text, const std::vector<KernelArgument> &arguments,
                        UserMacros macros);

} // namespace pycuda
