// code_text_tests.cpp -- runs the text tests of code generation: compiles PTX to optimised LLVM IR.
//
//     softcuda_code_tests FILE_OR_FOLDER...
//
// A file contains one kernel. Comments set the block shape and the processor of the compilation,
// and CHECK lines describe the code:
//
//     // BLOCK: 128
//     // ISA: avx512        or sse4; default: avx2; a file is skipped if the machine does not
//     support it
#include "file_check.h"

#include "compiler/pipeline.h"
#include "jit/optimize.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace {

using namespace softcuda;
namespace fs = std::filesystem;

std::string read_file(const fs::path &path) {
    std::ifstream stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// Empty if this machine does not support the processor.
std::optional<jit::Target> target_of(const std::string &text) {
    const std::string word = test::directive(text, "//", "ISA");
    const std::map<std::string, const char *> targets = {
        {"", "avx2"}, {"avx512", "avx512"}, {"sse4", "sse4"}};
    if (!targets.contains(word))
        throw std::runtime_error("unknown ISA: " + word);
    try {
        return jit::Target(targets.at(word));
    } catch (const std::runtime_error &) {
        return std::nullopt;
    }
}

std::string compile(const std::string &text, const jit::Target &target) {
    std::string log;
    const std::unique_ptr<ir::Module> module = compiler::read_ptx(text, log);
    if (!module || module->functions.size() != 1)
        throw std::runtime_error("not one kernel: " + log);
    const auto block = static_cast<std::uint32_t>(std::stoul(test::directive(text, "//", "BLOCK")));
    const analysis::LaunchShape launch{.block = {block, 1, 1}};
    const compiler::LlvmKernel kernel =
        compiler::make_llvm(*module, *module->functions[0], launch, {}, target);
    jit::optimize(kernel.module.get(), target, compiler::llvm_passes(kernel.module.get()));
    return kernel.module.text();
}

enum class Result : std::uint8_t { Passed, Failed, LeftOut };

Result run_file(const fs::path &path) {
    const std::string text = read_file(path);
    std::string code, failure;
    try {
        const std::optional<jit::Target> target = target_of(text);
        if (!target)
            return Result::LeftOut;
        code = compile(text, *target);
        failure = test::file_check(text, "//", code);
    } catch (const std::exception &error) {
        failure = error.what();
    }
    if (failure.empty())
        return Result::Passed;
    std::cout << "FAILED " << path.string() << ": " << failure << "\n--- output\n"
              << code << "---\n";
    return Result::Failed;
}

std::vector<fs::path> files_in(const fs::path &path) {
    if (!fs::is_directory(path))
        return {path};
    std::vector<fs::path> files;
    for (const auto &entry : fs::directory_iterator(path))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace

int main(int argc, char **argv) {
    unsigned count = 0, failed = 0, left_out = 0;
    for (int i = 1; i < argc; i++)
        for (const fs::path &file : files_in(argv[i])) {
            const Result result = run_file(file);
            count++;
            failed += result == Result::Failed ? 1 : 0;
            left_out += result == Result::LeftOut ? 1 : 0;
        }
    std::cout << count << " text tests, " << failed << " failed, " << left_out << " left out\n";
    return failed != 0 || count == 0;
}
