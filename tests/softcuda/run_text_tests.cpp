// run_text_tests.cpp -- runs run/*.ptx, each in every tier, and compares what they leave in memory.
//
//     softcuda_run_tests LIBRARY FILE-OR-FOLDER...
//
// LIBRARY is a driver: libsoftcuda.so, or NVIDIA's libcuda.so.1, where each file runs once. A file
// says in comments what to launch and what should come out of it:
//
//     // LAUNCH: kernel grid 2 block 64 1 1 cluster 2 1 1 shared 256 cooperative
//     // BUFFER: a u32 64 = iota 5 2           5 7 9 ...; or `zero`; or values as below
//     // ARGS: a u32:7                         buffers' addresses, and numbers
//     // EXPECT: a = 1 2*3 4..6                2*3: three times 2; 4..6: 4 5 6; the rest is free
//     // TIER: fibers                          what softcuda has to choose by itself
//     // FAILS: text                           instead of EXPECT: the launch fails, and the log has
//     it
//     // COMPARE: a b                          instead of EXPECT: equal after a run in each tier
//     // NOT-IN: regions                       a tier that would hang; the kernel is not run in it
#include "file_check.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

[[noreturn]] void fail(const std::string &message) { throw std::runtime_error(message); }

// ---- the driver -----------------------------------------------------------------------------

class Driver {
  public:
    explicit Driver(const std::string &path) : library_(dlopen(path.c_str(), RTLD_NOW)) {
        if (!library_)
            fail(dlerror());
    }

    /// Calls cu`name`; throws unless it succeeds.
    template <class... Arguments> void call(const char *name, Arguments... arguments) {
        const CUresult result = result_of(name, arguments...);
        if (result != CUDA_SUCCESS)
            fail(std::string(name) + " failed: " + std::to_string(result));
    }

    template <class... Arguments> CUresult result_of(const char *name, Arguments... arguments) {
        auto *function = reinterpret_cast<CUresult (*)(Arguments...)>(dlsym(library_, name));
        if (!function)
            fail(std::string("the driver has no ") + name);
        return function(arguments...);
    }

    [[nodiscard]] bool is_software() const { return dlsym(library_, "scuImageKind"); }

  private:
    void *library_;
};

// ---- the test's words -----------------------------------------------------------------------

Words split(const std::string &line) {
    std::istringstream stream(line);
    Words words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

std::vector<std::string> directives(const std::string &text, const std::string &keyword) {
    std::istringstream stream(text);
    std::vector<std::string> found;
    const std::string start = "// " + keyword + ": ";
    for (std::string line; std::getline(stream, line);)
        if (line.rfind(start, 0) == 0)
            found.push_back(line.substr(start.size()));
    return found;
}

std::uint64_t bits_of(const std::string &word, const std::string &type) {
    std::uint64_t bits = 0;
    if (type == "f32") {
        const float value = std::stof(word);
        std::memcpy(&bits, &value, sizeof value);
    } else {
        bits = word[0] == '-' ? static_cast<std::uint64_t>(std::stoll(word, nullptr, 0))
                              : std::stoull(word, nullptr, 0);
    }
    return type == "u64" ? bits : bits & 0xffffffff;
}

std::vector<std::uint64_t> values_of(const Words &words, std::size_t first,
                                     const std::string &type) {
    std::vector<std::uint64_t> values;
    for (std::size_t i = first; i < words.size(); i++) {
        const std::string &word = words[i];
        const std::size_t times = word.find('*'), range = word.find("..");
        if (range != std::string::npos) {
            const std::uint64_t last = std::stoull(word.substr(range + 2));
            for (std::uint64_t v = std::stoull(word.substr(0, range)); v <= last; v++)
                values.push_back(v);
        } else if (times != std::string::npos) {
            values.insert(values.end(), std::stoull(word.substr(times + 1)),
                          bits_of(word.substr(0, times), type));
        } else {
            values.push_back(bits_of(word, type));
        }
    }
    return values;
}

struct Buffer {
    std::string type;
    std::vector<std::uint64_t> initial, expected;
    CUdeviceptr address = 0;

    [[nodiscard]] std::size_t width() const { return type == "u64" ? 8 : 4; }
    [[nodiscard]] std::size_t bytes() const { return initial.size() * width(); }
};

struct Launch {
    std::string kernel;
    std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
    bool has_cluster = false;
    unsigned shared = 0;
    bool cooperative = false;
};

Launch parse_launch(const std::string &line) {
    const Words words = split(line);
    Launch launch{.kernel = words.at(0)};
    for (std::size_t i = 1; i < words.size(); i++) {
        if (words[i] == "cooperative") {
            launch.cooperative = true;
        } else if (words[i] == "shared") {
            launch.shared = static_cast<unsigned>(std::stoul(words.at(++i)));
        } else {
            launch.has_cluster |= words[i] == "cluster";
            auto &extent = words[i] == "grid"      ? launch.grid
                           : words[i] == "cluster" ? launch.cluster
                                                   : launch.block;
            for (unsigned &size : extent)
                if (i + 1 < words.size() && std::isdigit(words[i + 1][0]))
                    size = static_cast<unsigned>(std::stoul(words[++i]));
        }
    }
    return launch;
}

struct Test {
    std::string text;
    Launch launch;
    std::map<std::string, Buffer> buffers;
    Words arguments;
    std::string tier, failure;
    Words not_in, compared;
    std::map<std::string, std::vector<std::byte>> *results = nullptr; ///< of the first tier
};

void fill(Buffer &buffer, std::size_t count, const Words &words, std::size_t first) {
    if (words.at(first) == "iota") {
        std::uint64_t value =
            words.size() > first + 1 ? std::stoull(words[first + 1], nullptr, 0) : 0;
        const std::uint64_t step = words.size() > first + 2 ? std::stoull(words[first + 2]) : 1;
        for (; buffer.initial.size() < count; value += step)
            buffer.initial.push_back(buffer.type == "f32" ? bits_of(std::to_string(value), "f32")
                                                          : value);
    } else if (words[first] != "zero") {
        buffer.initial = values_of(words, first, buffer.type);
    }
    buffer.initial.resize(count);
}

Test read_test(const fs::path &path) {
    std::ifstream stream(path);
    Test test;
    test.text.assign(std::istreambuf_iterator<char>(stream), {});
    const auto launches = directives(test.text, "LAUNCH");
    if (launches.size() != 1)
        fail("a test needs one LAUNCH line");
    test.launch = parse_launch(launches[0]);
    for (const std::string &line : directives(test.text, "BUFFER")) {
        const Words words = split(line); // name type count = ...
        Buffer &buffer = test.buffers[words.at(0)];
        buffer.type = words.at(1);
        fill(buffer, std::stoull(words.at(2)), words, 4);
    }
    for (const std::string &line : directives(test.text, "EXPECT")) {
        const Words words = split(line); // name = ...
        Buffer &buffer = test.buffers.at(words.at(0));
        for (std::uint64_t value : values_of(words, 2, buffer.type))
            buffer.expected.push_back(value);
    }
    for (const std::string &line : directives(test.text, "ARGS"))
        test.arguments = split(line);
    for (const std::string &line : directives(test.text, "NOT-IN"))
        test.not_in = split(line);
    test.tier = softcuda::test::directive(test.text, "//", "TIER");
    test.failure = softcuda::test::directive(test.text, "//", "FAILS");
    const bool expects = std::any_of(test.buffers.begin(), test.buffers.end(),
                                     [](const auto &b) { return !b.second.expected.empty(); });
    for (const std::string &line : directives(test.text, "COMPARE"))
        test.compared = split(line);
    if (expects + !test.failure.empty() + !test.compared.empty() != 1)
        fail("a test needs either EXPECT lines or a COMPARE or a FAILS line");
    return test;
}

// ---- running --------------------------------------------------------------------------------

/// What is written to stderr while it exists.
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

std::vector<std::byte> to_bytes(const Buffer &buffer) {
    std::vector<std::byte> bytes(buffer.bytes());
    for (std::size_t i = 0; i < buffer.initial.size(); i++)
        std::memcpy(bytes.data() + i * buffer.width(), &buffer.initial[i], buffer.width());
    return bytes;
}

std::vector<std::byte> read(Driver &driver, const Buffer &buffer) {
    std::vector<std::byte> bytes(buffer.bytes());
    driver.call("cuMemcpyDtoH_v2", static_cast<void *>(bytes.data()), buffer.address, bytes.size());
    return bytes;
}

/// Keeps the first tier's result, and holds the others' against it.
void compare(const std::string &name, const std::vector<std::byte> &bytes,
             std::map<std::string, std::vector<std::byte>> &results) {
    const auto [first, is_first] = results.emplace(name, bytes);
    if (first->second == bytes)
        return;
    std::size_t at = 0;
    while (first->second[at] == bytes[at])
        at++;
    fail(name + " differs from the first tier's from byte " + std::to_string(at) + " on");
}

void check(Driver &driver, const std::string &name, const Buffer &buffer) {
    const std::vector<std::byte> bytes = read(driver, buffer);
    for (std::size_t i = 0; i < buffer.expected.size() && i < buffer.initial.size(); i++) {
        std::uint64_t got = 0;
        std::memcpy(&got, bytes.data() + i * buffer.width(), buffer.width());
        if (got != buffer.expected[i])
            fail(name + "[" + std::to_string(i) + "] is " + std::to_string(got) + ", expected " +
                 std::to_string(buffer.expected[i]));
    }
}

CUresult launch_cluster(Driver &driver, CUfunction function, const Launch &l, void **parameters) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {l.cluster[0], l.cluster[1], l.cluster[2]};
    CUlaunchConfig config{};
    config.gridDimX = l.grid[0];
    config.gridDimY = l.grid[1];
    config.gridDimZ = l.grid[2];
    config.blockDimX = l.block[0];
    config.blockDimY = l.block[1];
    config.blockDimZ = l.block[2];
    config.sharedMemBytes = l.shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    void **extra = nullptr;
    const CUresult result =
        driver.result_of("cuLaunchKernelEx", const_cast<const CUlaunchConfig *>(&config), function,
                         parameters, extra);
    return result == CUDA_SUCCESS ? driver.result_of("cuCtxSynchronize") : result;
}

CUresult launch(Driver &driver, CUfunction function, const Test &test) {
    std::vector<std::uint64_t> values;
    for (const std::string &argument : test.arguments) {
        const std::size_t colon = argument.find(':');
        values.push_back(colon == std::string::npos
                             ? test.buffers.at(argument).address
                             : bits_of(argument.substr(colon + 1), argument.substr(0, colon)));
    }
    std::vector<void *> pointers;
    for (std::uint64_t &value : values)
        pointers.push_back(&value);
    const Launch &l = test.launch;
    CUstream stream = nullptr;
    void **parameters = pointers.data(), **extra = nullptr;
    if (l.has_cluster)
        return launch_cluster(driver, function, l, parameters);
    const CUresult result = l.cooperative
                                ? driver.result_of("cuLaunchCooperativeKernel", function, l.grid[0],
                                                   l.grid[1], l.grid[2], l.block[0], l.block[1],
                                                   l.block[2], l.shared, stream, parameters)
                                : driver.result_of("cuLaunchKernel", function, l.grid[0], l.grid[1],
                                                   l.grid[2], l.block[0], l.block[1], l.block[2],
                                                   l.shared, stream, parameters, extra);
    return result == CUDA_SUCCESS ? driver.result_of("cuCtxSynchronize") : result;
}

void load_and_run(Driver &driver, Test &test) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    if (driver.result_of("cuModuleLoadDataEx", &module,
                         static_cast<const void *>(test.text.c_str()), 2u, &options[0],
                         &values[0]) != CUDA_SUCCESS)
        fail(std::string("does not load: ") + log);
    driver.call("cuModuleGetFunction", &function, module, test.launch.kernel.c_str());
    for (auto &[name, buffer] : test.buffers) {
        const std::vector<std::byte> bytes = to_bytes(buffer);
        driver.call("cuMemAlloc_v2", &buffer.address, buffer.bytes());
        driver.call("cuMemcpyHtoD_v2", buffer.address, static_cast<const void *>(bytes.data()),
                    bytes.size());
    }
    const CUresult result = launch(driver, function, test);
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
        compare(name, read(driver, test.buffers.at(name)), *test.results);
    for (const auto &[name, buffer] : test.buffers)
        driver.call("cuMemFree_v2", buffer.address);
    driver.call("cuModuleUnload", module);
}

/// Runs the test in one tier ("": what softcuda chooses); returns what is wrong.
std::string run(Driver &driver, Test test, const std::string &tier) {
    setenv("SOFTCUDA_TIER", tier.c_str(), 1);
    CUcontext context = nullptr;
    Captured captured;
    std::string wrong;
    try {
        driver.call("cuDevicePrimaryCtxRetain", &context, CUdevice{0});
        driver.call("cuCtxSetCurrent", context);
        load_and_run(driver, test);
    } catch (const std::exception &error) {
        wrong = error.what();
    }
    driver.call("cuDevicePrimaryCtxReset_v2", CUdevice{0}); // a failed launch has spoilt it
    const std::string log = captured.finish();
    if (wrong.empty() && driver.is_software()) {
        if (log.find(test.failure) == std::string::npos)
            wrong = "the log has no '" + test.failure + "'";
        if (tier.empty() && !test.tier.empty() && log.find("`: " + test.tier) == std::string::npos)
            wrong = "softcuda does not choose " + test.tier;
    }
    return wrong.empty() ? wrong : (tier.empty() ? "" : "in " + tier + ": ") + wrong + "\n" + log;
}

std::string run_file(Driver &driver, const fs::path &path) {
    Test test = read_test(path);
    std::map<std::string, std::vector<std::byte>> results;
    test.results = &results;
    if (!driver.is_software())
        return run(driver, test, "");
    for (const char *tier : {"", "regions", "fibers", "lanes"}) {
        if (std::find(test.not_in.begin(), test.not_in.end(), tier) != test.not_in.end())
            continue;
        if (std::string wrong = run(driver, test, tier); !wrong.empty())
            return wrong;
    }
    return {};
}

std::vector<fs::path> files_of(int argc, char **argv) {
    std::vector<fs::path> files;
    for (int i = 2; i < argc; i++) {
        if (!fs::is_directory(argv[i])) {
            files.emplace_back(argv[i]);
            continue;
        }
        for (const auto &entry : fs::directory_iterator(argv[i]))
            if (entry.path().extension() == ".ptx")
                files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: softcuda_run_tests LIBRARY FILE-OR-FOLDER...\n");
        return 2;
    }
    setenv("SOFTCUDA_DUMP", "tier", 1);
    setenv("SOFTCUDA_DISABLE_CACHE", "1", 1);
    Driver driver(argv[1]);
    driver.call("cuInit", 0u);
    const std::vector<fs::path> files = files_of(argc, argv);
    int failed = files.empty() ? 1 : 0;
    for (const fs::path &file : files) {
        std::string wrong;
        try {
            wrong = run_file(driver, file);
        } catch (const std::exception &error) {
            wrong = error.what();
        }
        if (!wrong.empty()) {
            failed++;
            std::printf("%s: %s\n", file.filename().c_str(), wrong.c_str());
        }
    }
    std::printf("%zu files, %d failed\n", files.size(), failed);
    return failed ? 1 : 0;
}
