// ptx_text_tests.cpp -- runs the text tests of the PTX front end: errors/*.ptx and parse/*.ptx.
//
//     softcuda_ptx_tests errors FILE_OR_FOLDER...
//     softcuda_ptx_tests parse FILE_OR_FOLDER...
//     softcuda_ptx_tests time FILE...        megabytes parsed per second of processor time
//
// Comments in a file of errors/ list all expected diagnostics, in the order of the text:
//
//     // EXPECT: 7:9: error: unknown instruction `addd`
//     // EXPECT-NOTE: did you mean `add`?
//
// A file of parse/ has no errors. Its printed text is parsed and printed again, and must not
// change. CHECK lines, if there are any, describe the printed text.
#include "file_check.h"

#include "ptx/parse.h"
#include "ptx/print.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

using namespace softcuda;
namespace fs = std::filesystem;

std::string read(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + path.string());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The diagnostics that the comments of a file expect, one line each.
std::string expected_diagnostics(const std::string &text) {
    constexpr std::string_view error = "// EXPECT: ", note = "// EXPECT-NOTE: ";
    std::istringstream lines(text);
    std::string expected;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(error))
            expected += line.substr(error.size()) + "\n";
        else if (line.starts_with(note))
            expected += "note: " + line.substr(note.size()) + "\n";
    }
    return expected;
}

std::string reported_diagnostics(const Diagnostics &diagnostics) {
    std::vector<Diagnostic> list = diagnostics.list();
    std::stable_sort(list.begin(), list.end(), [](const Diagnostic &a, const Diagnostic &b) {
        return a.location.offset < b.location.offset;
    });
    std::string reported;
    for (const Diagnostic &diagnostic : list) {
        reported += diagnostics.headline(diagnostic).substr(diagnostics.source().name().size() + 1);
        reported += "\n";
        if (!diagnostic.note.empty())
            reported += "note: " + diagnostic.note + "\n";
    }
    return reported;
}

/// The errors of a test; empty if it passes.
std::string check_errors(const std::string &name, const std::string &text) {
    auto source = std::make_shared<SourceText>(name, text);
    Diagnostics diagnostics(*source);
    bool parsed = ptx::parse(source, diagnostics).has_value();
    std::string expected = expected_diagnostics(text), reported = reported_diagnostics(diagnostics);
    if (expected.empty())
        return "has no EXPECT line";
    if (parsed)
        return "parses, expected\n" + expected;
    return expected == reported ? "" : "expected\n" + expected + "got\n" + reported;
}

std::string check_parse(const std::string &name, const std::string &text) {
    auto source = std::make_shared<SourceText>(name, text);
    Diagnostics diagnostics(*source);
    std::optional<ptx::Module> module = ptx::parse(source, diagnostics);
    if (!module)
        return diagnostics.render();
    std::string printed = print(*module);
    auto again_source = std::make_shared<SourceText>("(printed)", printed);
    Diagnostics again_diagnostics(*again_source);
    std::optional<ptx::Module> again = ptx::parse(again_source, again_diagnostics);
    if (!again)
        return "its own output does not parse:\n" + again_diagnostics.render();
    if (print(*again) != printed)
        return "printing and parsing changed it to\n" + print(*again);
    bool has_checks = text.find("// CHECK") != std::string::npos;
    return has_checks ? test::file_check(text, "//", printed) : "";
}

std::string measure(const std::string &name, const std::string &text) {
    constexpr int repetitions = 20;
    std::clock_t begin = std::clock();
    for (int i = 0; i < repetitions; ++i) {
        auto source = std::make_shared<SourceText>(name, text);
        Diagnostics diagnostics(*source);
        if (!ptx::parse(source, diagnostics))
            return diagnostics.render();
    }
    double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::printf("%s: %.1f MB/s\n", name.c_str(),
                static_cast<double>(text.size()) * repetitions / seconds / 1e6);
    return "";
}

std::vector<fs::path> files_of(int count, char **arguments) {
    std::vector<fs::path> files;
    for (int i = 0; i < count; ++i) {
        if (!fs::is_directory(arguments[i])) {
            files.emplace_back(arguments[i]);
            continue;
        }
        for (const fs::directory_entry &entry : fs::recursive_directory_iterator(arguments[i]))
            if (entry.path().extension() == ".ptx")
                files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace

int main(int argc, char **argv) {
    std::string mode = argc > 1 ? argv[1] : "";
    auto check = mode == "errors"  ? check_errors
                 : mode == "parse" ? check_parse
                 : mode == "time"  ? measure
                                   : nullptr;
    if (check == nullptr) {
        std::cerr << "usage: softcuda_ptx_tests errors|parse|time FILE_OR_FOLDER...\n";
        return 2;
    }
    std::vector<fs::path> files = files_of(argc - 2, argv + 2);
    std::size_t failures = 0;
    for (const fs::path &file : files) {
        std::string wrong = check(file.filename().string(), read(file));
        if (wrong.empty())
            continue;
        ++failures;
        std::cout << file.string() << ": FAILED: " << wrong << "\n";
    }
    std::cout << files.size() << " text tests, " << failures << " failed\n";
    return failures != 0 || files.empty();
}
