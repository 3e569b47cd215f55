// launch_file.h -- PTX files with comments that describe a launch, its data and its results.
//
//     // LAUNCH: kernel grid 2 block 64 1 1 cluster 2 1 1 shared 256 cooperative
//     // BUFFER: a u32 64 = iota 5 2           5 7 9 ...; or `zero`; or values as below
//     // BUFFER: rows u64 4 = at a 16 256      addresses: byte 16 of a, then steps of 256 bytes
//     // ARGS: a u32:7                         addresses of buffers, and numbers
//     // EXPECT: a = 1 2*3 4..6                2*3: three times 2; 4..6: 4 5 6; the rest is ignored
//     // TIER: fibers                          the tier that softcuda must choose
//     // FAILS: text                           instead of EXPECT: the launch fails with this log
//     // COMPARE: a b                          instead of EXPECT: equal after a run in each tier
//     // NOT-IN: regions                       a tier in which the kernel would hang; not run
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace softcuda::test {

using Words = std::vector<std::string>;

struct Buffer {
    std::string type;
    std::vector<std::uint64_t> initial, expected;
    /// For `at`: the buffer whose address is added to all elements.
    std::string base;
    std::uint64_t address = 0; ///< on the device

    [[nodiscard]] std::size_t width() const { return type == "u64" ? 8 : 4; }
    [[nodiscard]] std::size_t bytes() const { return initial.size() * width(); }
};

struct LaunchLine {
    std::string kernel;
    std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
    bool has_cluster = false;
    unsigned shared = 0;
    bool cooperative = false;
};

struct LaunchFile {
    std::string text;
    LaunchLine launch;
    std::map<std::string, Buffer> buffers;
    Words arguments;
    std::string tier, failure;
    Words not_in, compared;

    /// The values of the arguments, after all buffers have addresses.
    [[nodiscard]] std::vector<std::uint64_t> argument_values() const;
    /// The content of a buffer before the launch, after all buffers have addresses.
    [[nodiscard]] std::vector<std::byte> initial_bytes(const Buffer &buffer) const;
};

/// Throws std::runtime_error for an invalid file.
[[nodiscard]] LaunchFile read_launch_file(const std::filesystem::path &path);

/// The files in the command line from argument `first` on, including files in folders, sorted.
[[nodiscard]] std::vector<std::filesystem::path> ptx_files(int argc, char **argv, int first);

} // namespace softcuda::test
