// texture_probe.cpp -- records the results of a driver's textures, or compares them with a record.
//
//     texture_probe LIBRARY                 prints a line of words for each case
//     texture_probe LIBRARY RECORD          exits with 1 if a case differs from the record
#include "probe.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace {

std::string text_of(const std::vector<std::uint32_t> &words) {
    std::string text;
    char word[16];
    for (const std::uint32_t value : words) {
        std::snprintf(word, sizeof word, " %x", value);
        text += word;
    }
    return text;
}

/// Case name -> its words, as text.
std::map<std::string, std::string> read_record(const char *path) {
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error(std::string("cannot read ") + path);
    std::map<std::string, std::string> record;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#')
            continue;
        const std::size_t space = line.find(' ');
        record[line.substr(0, space)] = line.substr(space);
    }
    return record;
}

std::string result_of(const probe::Driver &driver, const probe::Case &c) {
    try {
        return text_of(probe::run(driver, c));
    } catch (const std::exception &failure) {
        return std::string(" failed: ") + failure.what();
    }
}

std::vector<std::uint32_t> words_of(const std::string &text) {
    std::istringstream in(text);
    std::vector<std::uint32_t> words;
    for (std::uint32_t word = 0; in >> std::hex >> word;)
        words.push_back(word);
    return words;
}

bool agree(std::uint32_t wanted, std::uint32_t got, float tolerance) {
    return wanted == got ||
           std::abs(std::bit_cast<float>(wanted) - std::bit_cast<float>(got)) <= tolerance;
}

/// The difference of a case's result from the record; empty if there is none.
std::string difference(const probe::Case &c, const std::string &wanted, const std::string &got) {
    if (wanted == got)
        return {};
    const std::vector<std::uint32_t> a = words_of(wanted), b = words_of(got);
    if (a.size() != b.size())
        return "wanted " + std::to_string(a.size()) + " words, got" + got.substr(0, 80);
    std::size_t different = 0, first = 0;
    for (std::size_t n = a.size(); n-- > 0;) {
        if (agree(a[n], b[n], c.tolerance))
            continue;
        different++;
        first = n;
    }
    if (different == 0)
        return {};
    return std::to_string(different) + " of " + std::to_string(a.size()) + " words; word " +
           std::to_string(first) + ": wanted" + text_of({a[first]}) + ", got" + text_of({b[first]});
}

} // namespace

int main(int argc, char **argv) try {
    if (argc < 2 || argc > 3) {
        std::fprintf(stderr, "usage: texture_probe LIBRARY [RECORD]\n");
        return 2;
    }
    const probe::Driver driver(argv[1]);
    CUcontext context = nullptr;
    driver.call("cuInit", 0U);
    driver.call("cuDevicePrimaryCtxRetain", &context, CUdevice{0});
    driver.call("cuCtxSetCurrent", context);
    std::map<std::string, std::string> record;
    if (argc == 3)
        record = read_record(argv[2]);
    int failures = 0;
    for (const probe::Case &c : probe::all_cases()) {
        const std::string got = result_of(driver, c);
        if (argc == 2) {
            std::printf("%s%s\n", c.name.c_str(), got.c_str());
            continue;
        }
        const auto wanted = record.find(c.name);
        const std::string problem =
            wanted == record.end() ? "not in the record" : difference(c, wanted->second, got);
        if (problem.empty())
            continue;
        failures++;
        std::printf("%s: %s\n", c.name.c_str(), problem.c_str());
    }
    return failures ? 1 : 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "texture_probe: %s\n", error.what());
    return 2;
}
