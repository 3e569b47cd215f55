// nvrtc_kept_files.cpp -- the files that `keep` leaves of a compilation by NVRTC.
#include "compile/compilers/nvrtc_kept_files.h"

#include "compile/compilers/subprocess.h"

#include <fstream>

namespace pycuda::compile_detail {

std::string keep_files(const NvrtcKeptFiles &files) {
    std::string folder = files.folder;
    if (folder.empty()) {
        TemporaryDirectory directory;
        directory.keep();
        folder = directory.path();
    }
    const auto write = [&](const std::string &ending, const std::string &content) {
        if (!content.empty())
            std::ofstream(folder + "/" + files.stem + ending, std::ios::binary) << content;
    };
    std::string command;
    for (const std::string &word : files.command_line)
        command += word + "\n";
    write(".cu", files.job.source);
    write(".command", command);
    write(".log", files.outcome.log);
    write(".ptx", files.outcome.ptx);
    write(".cubin", files.outcome.cubin);
    return folder;
}

} // namespace pycuda::compile_detail
