// ir_text_tests.cpp -- runs the text tests of the IR: passes/*.ir and lower/*.ptx.
//
//     softcuda_ir_tests FILE_OR_FOLDER...
//     softcuda_ir_tests --verify FILE_OR_FOLDER...     lowers and verifies PTX without CHECK lines
//
// The first line of a .ir file selects the operation, and its CHECK lines describe the output:
//
//     ; RUN: roundtrip    parse and print; parsing and printing again must change nothing
//     ; RUN: verify       the messages of verify()
//     ; RUN: parse        the message of parse_ir() for an invalid text
//     ; RUN: PASS         the module after this IR pass, or this list of passes: fold, clean-up ...
//                         (compiler/pipeline.cpp); the module is verified
//     ; RUN: ANALYSIS     the output of SOFTCUDA_DUMP=ANALYSIS for each function, after the passes
//                         that prepare it
//     ; BLOCK: 32 4       the block's shape; by default 256 threads
//
// A .ptx file is lowered; its CHECK lines (`// CHECK:`) describe the IR or, if there are errors,
// the diagnostics.
#include "file_check.h"

#include "compiler/pipeline.h"
#include "ir/lower.h"
#include "ir/parse_ir.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "ptx/parse.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace {

using namespace softcuda;

struct Outcome {
    std::string output;
    std::string failure;
};

std::string join(const std::vector<std::string> &lines) {
    std::string out;
    for (const std::string &line : lines)
        out += line + "\n";
    return out;
}

Outcome roundtrip(const ir::Module &module) {
    std::string first = to_text(module, ir::Locations::Print), error;
    std::unique_ptr<ir::Module> again = ir::parse_ir(first, error);
    if (!again)
        return {first, "its own output does not parse: " + error};
    std::string second = to_text(*again, ir::Locations::Print);
    if (first != second)
        return {first, "printing and parsing changed it to\n" + second};
    return {first, join(ir::verify(module))};
}

analysis::LaunchShape launch_of(const std::string &text) {
    analysis::LaunchShape launch{.block = {256, 1, 1}};
    const std::string block = test::directive(text, ";", "BLOCK");
    for (const analysis::Extents extents : {analysis::Extents::WholeRows, analysis::Extents::Any})
        if (block == analysis::text(extents))
            return analysis::LaunchShape::varying(extents, 1024);
    std::istringstream words(block);
    std::uint32_t extent = 1;
    for (std::size_t dimension = 0; dimension < 3 && words >> extent; ++dimension)
        launch.block[dimension] = extent;
    return launch;
}

Outcome run_pass(const std::string &name, const analysis::LaunchShape &launch, ir::Module &module) {
    if (std::string wrong = join(ir::verify(module)); !wrong.empty())
        return {wrong, "it does not verify before the pass"};
    std::string found;
    for (auto &function : module.functions) {
        if (std::optional<std::string> text = compiler::print_analysis(name, *function, launch)) {
            found += function->name + ":\n" + *text;
            continue;
        }
        if (!compiler::run_ir_pass(name, *function, launch))
            return {"", "unknown RUN: " + name};
        function->renumber_values();
    }
    Outcome outcome = roundtrip(module);
    if (std::string wrong = join(ir::verify(module)); !wrong.empty())
        outcome.failure = "it does not verify after the pass: " + wrong;
    if (!found.empty())
        outcome.output = found;
    return outcome;
}

Outcome run_ptx(const std::string &text, const std::string &name) {
    auto source = std::make_shared<const SourceText>(name, text);
    Diagnostics diagnostics(*source);
    std::optional<ptx::Module> parsed = ptx::parse(source, diagnostics);
    std::unique_ptr<ir::Module> module =
        parsed ? ir::lower(*parsed, diagnostics, ir::purpose_of(*parsed)) : nullptr;
    if (!module)
        return {diagnostics.render(), ""};
    compiler::clean_up(*module);
    Outcome outcome = roundtrip(*module);
    if (std::string wrong = join(ir::verify(*module)); !wrong.empty())
        outcome.failure = "it does not verify: " + wrong;
    outcome.output = to_text(*module);
    return outcome;
}

Outcome run_ir(const std::string &text) {
    std::string run = test::directive(text, ";", "RUN"), error;
    std::unique_ptr<ir::Module> module = ir::parse_ir(text, error);
    if (run == "parse")
        return {error, module ? "it parses, but should not" : ""};
    if (!module)
        return {"", error};
    if (run == "verify")
        return {join(ir::verify(*module)), ""};
    if (run == "roundtrip")
        return roundtrip(*module);
    return run_pass(run, launch_of(text), *module);
}

std::string read_file(const std::filesystem::path &path) {
    std::ifstream stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// Prints errors; true if there are none.
bool verify_file(const std::filesystem::path &path) {
    Outcome outcome = run_ptx(read_file(path), path.filename().string());
    bool lowered = outcome.output.find(": error: ") == std::string::npos;
    if (outcome.failure.empty() && lowered)
        return true;
    std::cout << "FAILED " << path.string() << ": " << outcome.failure << "\n";
    if (!lowered)
        std::cout << outcome.output;
    return false;
}

bool run_file(const std::filesystem::path &path) {
    std::string text = read_file(path);
    bool is_ptx = path.extension() == ".ptx";
    Outcome outcome;
    try {
        outcome = is_ptx ? run_ptx(text, path.filename().string()) : run_ir(text);
    } catch (const std::logic_error &error) { // a pass has produced invalid IR
        outcome.failure = error.what();
    }
    if (outcome.failure.empty())
        outcome.failure = test::file_check(text, is_ptx ? "//" : ";", outcome.output);
    if (outcome.failure.empty())
        return true;
    std::cout << "FAILED " << path.string() << ": " << outcome.failure << "\n--- output\n"
              << outcome.output << "---\n";
    return false;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path &path) {
    if (!std::filesystem::is_directory(path))
        return {path};
    std::vector<std::filesystem::path> files;
    for (const auto &entry : std::filesystem::directory_iterator(path))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace

int main(int argc, char **argv) {
    unsigned count = 0, failed = 0;
    bool verify_only = argc > 1 && std::string_view(argv[1]) == "--verify";
    for (int i = verify_only ? 2 : 1; i < argc; i++) {
        for (const std::filesystem::path &file : files_in(argv[i])) {
            count++;
            failed += (verify_only ? verify_file(file) : run_file(file)) ? 0 : 1;
        }
    }
    std::cout << count << " text tests, " << failed << " failed\n";
    return failed != 0 || count == 0;
}
