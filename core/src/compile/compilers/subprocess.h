// subprocess.h -- runs a program and collects its output.
#pragma once

#include <string>
#include <vector>

namespace pycuda::compile_detail {

struct ProcessResult {
    /// The exit status, or 128 plus the signal that ended it.
    int status = 0;
    std::string standard_output;
    std::string standard_error;
};

/// Runs `words[0]` (a path) with the arguments after it in `directory`, and waits. Throws
/// std::system_error if the program cannot be started.
[[nodiscard]] ProcessResult run_process(const std::vector<std::string> &words,
                                        const std::string &directory);

/// A new folder in $TMPDIR or /tmp. The destructor removes the folder with its content, unless
/// keep() was called.
class TemporaryDirectory {
  public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory &operator=(TemporaryDirectory &&) = delete; // no copies either

    [[nodiscard]] const std::string &path() const noexcept { return path_; }
    void keep() noexcept { kept_ = true; }

  private:
    std::string path_;
    bool kept_ = false;
};

} // namespace pycuda::compile_detail
