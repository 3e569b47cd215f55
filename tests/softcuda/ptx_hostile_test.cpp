// ptx_hostile_test.cpp -- malicious texts, none of which may crash the front end.
//
//     softcuda_ptx_hostile_test ROUNDS FILE_OR_FOLDER...
//
// First, constructed texts: deeply nested, very long, with numbers at their limits; each has a
// limit of processor time, because parsing must not take quadratic time. Then each file ROUNDS
// times, with random bytes changed, removed, duplicated or exchanged. The asan build also finds
// errors that do not cause a crash. The seed is fixed, so failures are reproducible.
#include "check.h"

#include "ptx/parse.h"
#include "ptx/print.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>

namespace {

using namespace softcuda;
namespace fs = std::filesystem;

/// Parses, and prints the result. Returns true if there were no errors.
bool survive(const std::string &text) {
    auto source = std::make_shared<SourceText>("hostile.ptx", text);
    Diagnostics diagnostics(*source);
    std::optional<ptx::Module> module = ptx::parse(source, diagnostics);
    std::string shown = module ? print(*module) : diagnostics.render();
    CHECK(!shown.empty());
    CHECK(module.has_value() != diagnostics.has_errors());
    return module.has_value();
}

std::string repeated(std::string_view text, std::size_t count) {
    std::string all;
    all.reserve(text.size() * count);
    for (std::size_t i = 0; i < count; ++i)
        all += text;
    return all;
}

const std::string head = ".version 8.0\n.target sm_86\n.address_size 64\n";

std::string kernel(const std::string &body) {
    return head + ".visible .entry k()\n{\n.reg .b32 %r<10>;\n.reg .pred %p<10>;\n" + body + "}\n";
}

void check_constructed(const char *name, const std::string &text, bool valid) {
    constexpr double seconds_allowed = 20; // for the slowest build, with sanitizers
    std::clock_t begin = std::clock();
    bool parsed = survive(text);
    double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    CHECK(parsed == valid);
    CHECK(seconds < seconds_allowed);
    if (parsed != valid || seconds >= seconds_allowed)
        std::cout << name << ": " << (parsed ? "parsed" : "did not parse") << ", " << seconds
                  << " s\n";
}

std::string many_labels(std::size_t count) {
    std::string body;
    for (std::size_t i = 0; i < count; ++i)
        body += "bra L" + std::to_string(count - 1 - i) + ";\nL" + std::to_string(i) + ":\n";
    return body;
}

std::string many_registers(std::size_t count) {
    std::string body = ".reg .b32 %x<4294967294>;\n";
    for (std::size_t i = 0; i < count; ++i)
        body += "mov.u32 %x" + std::to_string(i * 4000) + ", 1;\n";
    return body;
}

void check_nesting() {
    constexpr std::size_t deep = 100000;
    check_constructed("scopes", kernel(repeated("{", deep)), false);
    check_constructed("closed scopes", kernel(repeated("{", deep) + repeated("}", deep)), false);
    check_constructed("flat scopes", kernel(repeated("{ .reg .b32 %q; mov.u32 %q, 1; }\n", deep)),
                      true);
    check_constructed(
        "parentheses",
        kernel("mov.u32 %r1, " + repeated("(", deep) + "1" + repeated(")", deep) + ";"), false);
    check_constructed("minuses", kernel("mov.u32 %r1, " + repeated("-", deep) + "1;"), false);
    check_constructed("conditions", kernel("mov.u32 %r1, " + repeated("1?", deep) + "1;"), false);
    check_constructed("sums", kernel("mov.u32 %r1, 1" + repeated("+1", deep) + ";"), true);
    check_constructed("braces", head + ".global .u32 x[2] = " + repeated("{", deep) + ";", false);
    check_constructed("dimensions", head + ".global .u32 x" + repeated("[1]", deep) + ";", false);
    check_constructed("vectors", kernel("mov.b64 %r1, " + repeated("{", deep) + ";"), false);
    check_constructed("brackets", kernel("ld.u32 %r1, " + repeated("[", deep) + ";"), false);
}

void check_length() {
    constexpr std::size_t many = 200000;
    check_constructed("labels", kernel(many_labels(50000)), true);
    check_constructed("registers", kernel(many_registers(100000)), true);
    check_constructed("errors", kernel(repeated("add.s32 %r1, %rx, 1;\n", many)), false);
    check_constructed("unknown words", kernel(repeated("frobnicate;\n", many)), false);
    check_constructed("long name", kernel(std::string(5000000, 'a') + ";"), false);
    check_constructed("long opcode", kernel("ld" + repeated(".global", many) + " %r1;"), false);
    check_constructed("long line", kernel(repeated("mov.u32 %r1, 1; ", many)), true);
    check_constructed("operands", kernel("add.s32 %r1" + repeated(", %r1", many) + ";"), false);
    check_constructed("comment", head + "/*" + std::string(5000000, '*'), false);
    check_constructed("string", head + ".file 1 \"" + std::string(5000000, 'x'), false);
    check_constructed("parameters",
                      head + ".func f(" + repeated(".param .b32 a, ", many) + ".param .b32 b);",
                      true);
    check_constructed("table", head + ".global .u32 x[] = {0" + repeated(", 1", many) + "};", true);
    check_constructed("sparse table", head + ".global .u32 x[30000000000] = {1};", true);
    check_constructed("too large", head + ".global .u32 x[4294967295][4294967295][2];", false);
}

void check_limits() {
    check_constructed("empty", "", false);
    check_constructed("only a zero byte", std::string(1, '\0'), false);
    check_constructed("ends in a word", head + ".visible .entry k", false);
    check_constructed("ends in an opcode", kernel("add.s32"), false);
    check_constructed("no registers", kernel(".reg .b32 %z<0>; mov.u32 %z0, 1;"), false);
    check_constructed("division by zero", kernel("mov.u32 %r1, 1 / 0;"), false);
    check_constructed("least by minus one",
                      kernel("mov.u32 %r1, 0x8000000000000000 / -1;"
                             "mov.u32 %r1, (.s64)0x8000000000000000 % -1;"),
                      true);
    check_constructed("wide shifts", kernel("mov.u32 %r1, 1 << 64; mov.u32 %r1, -1 >> 900;"), true);
    check_constructed("huge number", kernel("mov.u32 %r1, 99999999999999999999;"), false);
    check_constructed("huge float", kernel(".reg .f64 %d; mov.f64 %d, 1.0e999999;"), true);
    check_constructed("negative size", head + ".global .u32 x[-1];", false);
    check_constructed("strange alignment", head + ".global .align 3 .u32 x;", false);
    check_constructed("not a number", kernel("mov.u32 %r1, 0x;"), false);
}

/// One random change.
void mutate(std::string &text, std::mt19937 &random) {
    if (text.empty())
        return;
    auto place = [&] { return random() % text.size(); };
    constexpr std::string_view interesting = "{}[]()<>,;:@!|+-*/.%$_\"0f9x\n \x80";
    std::size_t at = place(), from = place();
    std::size_t length = std::min<std::size_t>(random() % 40, text.size() - from);
    switch (random() % 6) {
    case 0:
        text[at] = static_cast<char>(random());
        break;
    case 1:
        text[at] = interesting[random() % interesting.size()];
        break;
    case 2:
        text.erase(from, length);
        break;
    case 3:
        text.insert(at, text.substr(from, length));
        break;
    case 4:
        text.replace(at, std::min(length, text.size() - at), text.substr(from, length));
        break;
    default:
        text.resize(at + 1);
        break;
    }
}

void check_mutations(const std::string &text, unsigned rounds, std::mt19937 &random) {
    for (unsigned round = 0; round < rounds; ++round) {
        std::string changed = text;
        for (unsigned changes = 1 + random() % 4; changes > 0; --changes)
            mutate(changed, random);
        survive(changed);
    }
}

std::string read(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 3) {
        std::cerr << "usage: softcuda_ptx_hostile_test ROUNDS FOLDER...\n";
        return 2;
    }
    check_nesting();
    check_length();
    check_limits();
    std::mt19937 random(20261121);
    std::size_t files = 0;
    for (int i = 2; i < argc; ++i)
        for (const fs::directory_entry &entry : fs::recursive_directory_iterator(argv[i]))
            if (entry.path().extension() == ".ptx") {
                check_mutations(read(entry.path()), std::strtoul(argv[1], nullptr, 10), random);
                ++files;
            }
    std::cout << files << " files changed at random\n";
    CHECK(files > 0);
    return test::status();
}
