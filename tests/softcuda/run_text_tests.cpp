// run_text_tests.cpp -- runs run/*.ptx in every tier, and compares the contents of memory.
//
//     softcuda_run_tests [--one N | --half N] LIBRARY FILE-OR-FOLDER...
//
// LIBRARY is a driver: libsoftcuda.so, or NVIDIA's libcuda.so.1, with which each file runs once.
// With --one, each file runs in one variant only, a tier with or without code for the block's
// shape: the first file in the N-th variant, the next file in the next one. It must have EXPECT
// lines. With --half, each file runs in every tier, alternately with and without code for the
// block's shape; N, which increases from file to file, decides which comes first. launch_file.h
// describes the files.
#include "launch_driver.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using softcuda::test::Buffer;
using softcuda::test::Driver;
using softcuda::test::LaunchFile;
using softcuda::test::read_buffer;
/// The content of each buffer after the run in the first tier.
using Results = std::map<std::string, std::vector<std::byte>>;

[[noreturn]] void fail(const std::string &message) { throw std::runtime_error(message); }

/// Captures stderr in the scope of this object.
class Captured {
  public:
    Captured() : file_(std::tmpfile()), saved_(dup(STDERR_FILENO)) {
        std::fflush(stderr);
        dup2(fileno(file_), STDERR_FILENO);
    }
    Captured(const Captured &) = delete;
    ~Captured() { finish(); }

    std::string finish() {
        if (!file_)
            return text_;
        std::fflush(stderr);
        dup2(saved_, STDERR_FILENO);
        close(saved_);
        std::rewind(file_);
        for (int c; (c = std::fgetc(file_)) != EOF;)
            text_ += static_cast<char>(c);
        std::fclose(std::exchange(file_, nullptr));
        return text_;
    }

  private:
    std::FILE *file_;
    int saved_;
    std::string text_;
};

/// Stores the first tier's result, and compares the results of other tiers with it.
void compare(const std::string &name, const std::vector<std::byte> &bytes, Results &results) {
    const auto [first, is_first] = results.emplace(name, bytes);
    if (first->second == bytes)
        return;
    std::size_t at = 0;
    while (first->second[at] == bytes[at])
        at++;
    fail(name + " differs from the first tier's from byte " + std::to_string(at) + " on");
}

void check(Driver &driver, const std::string &name, const Buffer &buffer) {
    const std::vector<std::byte> bytes = read_buffer(driver, buffer);
    for (std::size_t i = 0; i < buffer.expected.size() && i < buffer.initial.size(); i++) {
        std::uint64_t got = 0;
        std::memcpy(&got, bytes.data() + i * buffer.width(), buffer.width());
        if (got != buffer.expected[i])
            fail(name + "[" + std::to_string(i) + "] is " + std::to_string(got) + ", expected " +
                 std::to_string(buffer.expected[i]));
    }
}

void load_and_run(Driver &driver, LaunchFile &test, Results &results) {
    CUmodule module = nullptr;
    const CUresult result = softcuda::test::load_and_launch(driver, test, &module);
    if (!test.failure.empty()) {
        if (result == CUDA_SUCCESS)
            fail("does not fail");
        return;
    }
    if (result != CUDA_SUCCESS)
        fail("the launch failed: " + std::to_string(result));
    for (const auto &[name, buffer] : test.buffers)
        check(driver, name, buffer);
    for (const std::string &name : test.compared)
        compare(name, read_buffer(driver, test.buffers.at(name)), results);
    for (const auto &[name, buffer] : test.buffers)
        driver.call("cuMemFree_v2", static_cast<CUdeviceptr>(buffer.address));
    driver.call("cuModuleUnload", module);
}

/// Runs the test in one tier ("": softcuda's choice); returns the errors. With `block_shapes` 0,
/// the code reads the block's shape at run time.
std::string run(Driver &driver, LaunchFile test, Results &results, const std::string &tier,
                const char *block_shapes = "") {
    setenv("SOFTCUDA_TIER", tier.c_str(), 1);
    setenv("SOFTCUDA_BLOCK_SHAPES", block_shapes, 1);
    CUcontext context = nullptr;
    Captured captured;
    std::string wrong;
    try {
        driver.call("cuDevicePrimaryCtxRetain", &context, CUdevice{0});
        driver.call("cuCtxSetCurrent", context);
        load_and_run(driver, test, results);
    } catch (const std::exception &error) {
        wrong = error.what();
    }
    driver.call("cuDevicePrimaryCtxReset_v2", CUdevice{0}); // a failed launch has made it unusable
    const std::string log = captured.finish();
    if (wrong.empty() && driver.is_software()) {
        if (log.find(test.failure) == std::string::npos)
            wrong = "the log has no '" + test.failure + "'";
        // Without proofs that loops end, nearly all kernels run in lanes.
        const char *skipped = std::getenv("SOFTCUDA_SKIP");
        const bool proves = !skipped || !std::strstr(skipped, "loop-ends");
        if (proves && tier.empty() && !*block_shapes && !test.tier.empty() &&
            log.find("`: " + test.tier) == std::string::npos)
            wrong = "softcuda does not choose " + test.tier;
    }
    if (wrong.empty())
        return wrong;
    return (tier.empty() ? "" : "in " + tier + ": ") +
           (*block_shapes ? "for varying extents: " : "") + wrong + "\n" + log;
}

/// A tier, and what SOFTCUDA_BLOCK_SHAPES is.
using Variant = std::pair<const char *, const char *>;

std::vector<Variant> variants(const LaunchFile &test) {
    std::vector<Variant> made;
    for (const char *tier : {"", "regions", "fibers", "lanes"})
        if (std::find(test.not_in.begin(), test.not_in.end(), tier) == test.not_in.end())
            made.insert(made.end(), {{tier, ""}, {tier, "0"}});
    return made;
}

/// Which of its variants a file runs in.
struct Choice {
    enum class Of { All, One, Half } of = Of::All;
    std::size_t number = 0;
};

std::vector<Variant> chosen_variants(const LaunchFile &test, const Choice &choice) {
    const std::vector<Variant> all = variants(test);
    std::vector<Variant> chosen;
    switch (choice.of) {
    case Choice::Of::All:
        return all;
    case Choice::Of::One:
        if (!test.compared.empty())
            fail("needs more than one run");
        return {all[choice.number % all.size()]};
    case Choice::Of::Half:
        // Two variants of a tier are neighbours.
        for (std::size_t tier = 0; tier < all.size() / 2; tier++)
            chosen.push_back(all[2 * tier + (tier + choice.number) % 2]);
        return chosen;
    }
    return chosen;
}

std::string run_file(Driver &driver, const fs::path &path, const Choice &choice) {
    const LaunchFile test = softcuda::test::read_launch_file(path);
    Results results;
    if (!driver.is_software())
        return run(driver, test, results, "");
    for (const auto &[tier, block_shapes] : chosen_variants(test, choice))
        if (std::string wrong = run(driver, test, results, tier, block_shapes); !wrong.empty())
            return wrong;
    return {};
}

} // namespace

int main(int argc, char **argv) {
    Choice choice;
    const std::string option = argc > 2 ? argv[1] : "";
    if (option == "--one" || option == "--half") {
        choice = {option == "--one" ? Choice::Of::One : Choice::Of::Half,
                  std::strtoul(argv[2], nullptr, 10)};
        argc -= 2;
        argv += 2;
    }
    if (argc < 3) {
        std::fprintf(stderr, "usage: softcuda_run_tests [--one N | --half N] LIBRARY "
                             "FILE-OR-FOLDER...\n");
        return 2;
    }
    setenv("SOFTCUDA_DUMP", "tier", 1);
    Driver driver(argv[1]);
    driver.call("cuInit", 0u);
    const std::vector<fs::path> files = softcuda::test::ptx_files(argc, argv, 2);
    int failed = files.empty() ? 1 : 0;
    for (const fs::path &file : files) {
        std::string wrong;
        try {
            wrong = run_file(driver, file, choice);
        } catch (const std::exception &error) {
            wrong = error.what();
        }
        if (!wrong.empty()) {
            failed++;
            std::printf("%s: %s\n", file.filename().c_str(), wrong.c_str());
        }
        choice.number++;
    }
    std::printf("%zu files, %d failed\n", files.size(), failed);
    return failed ? 1 : 0;
}
