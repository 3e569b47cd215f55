// driver.h -- the functions of softcuda's driver that read and link programs.
#pragma once

#include "abi/extensions.h"

namespace softlink {

struct Driver {
    PFN_scuReadLinkInput read_input;
    PFN_scuLinkPtx link;
};

/// The driver beside this library, opened at the first call. Every process that softcuda-exec
/// starts has this library, and most never link. Throws Failure(internal).
[[nodiscard]] const Driver &driver();

} // namespace softlink
