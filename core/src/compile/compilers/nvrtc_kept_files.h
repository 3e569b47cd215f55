// nvrtc_kept_files.h -- the files that `keep` leaves of a compilation by NVRTC.
#pragma once

#include "compile/compilers/nvrtc_library.h"

#include <string>
#include <vector>

namespace pycuda::compile_detail {

struct NvrtcKeptFiles {
    std::string folder; ///< empty: a new temporary folder
    std::string stem;   ///< of the files' names
    const std::vector<std::string> &command_line;
    const NvrtcJob &job;
    const NvrtcOutcome &outcome;
};

/// Writes the source as NVRTC read it, the command, the log and the images. Returns the folder.
std::string keep_files(const NvrtcKeptFiles &files);

} // namespace pycuda::compile_detail
