// ir_text_tests.cpp -- runs the text tests of the IR: passes/*.ir and lower/*.ptx.
//
//     softcuda_ir_tests FILE_OR_FOLDER...
//
// The first line of a .ir file says what is done with it, and its CHECK lines what comes out:
//
//     ; RUN: roundtrip    parse and print; printing and parsing again must change nothing
//     ; RUN: verify       the messages of verify()
//     ; RUN: parse        the message of parse_ir() for a text that is wrong
#include "file_check.h"

#include "ir/parse_ir.h"
#include "ir/print.h"
#include "ir/verify.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

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
    return {"", "unknown RUN: " + run};
}

std::string read_file(const std::filesystem::path &path) {
    std::ifstream stream(path);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// Prints what is wrong; true if all is well.
bool run_file(const std::filesystem::path &path) {
    std::string text = read_file(path);
    Outcome outcome = run_ir(text);
    if (outcome.failure.empty())
        outcome.failure = test::file_check(text, ";", outcome.output);
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
    for (int i = 1; i < argc; i++) {
        for (const std::filesystem::path &file : files_in(argv[i])) {
            count++;
            failed += run_file(file) ? 0 : 1;
        }
    }
    std::cout << count << " text tests, " << failed << " failed\n";
    return failed != 0 || count == 0;
}
