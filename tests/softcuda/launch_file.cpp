// launch_file.cpp -- parses the comments of a PTX file.
#include "launch_file.h"

#include "file_check.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace softcuda::test {

namespace {

[[noreturn]] void fail(const std::string &message) { throw std::runtime_error(message); }

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

LaunchLine parse_launch(const std::string &line) {
    const Words words = split(line);
    LaunchLine launch{.kernel = words.at(0)};
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

void fill(Buffer &buffer, std::size_t count, const Words &words, std::size_t first) {
    if (words.at(first) == "iota") {
        std::uint64_t value =
            words.size() > first + 1 ? std::stoull(words[first + 1], nullptr, 0) : 0;
        const std::uint64_t step = words.size() > first + 2 ? std::stoull(words[first + 2]) : 1;
        for (; buffer.initial.size() < count; value += step)
            buffer.initial.push_back(buffer.type == "f32" ? bits_of(std::to_string(value), "f32")
                                                          : value);
    } else if (words[first] == "at") {
        buffer.base = words.at(first + 1);
        for (std::uint64_t value = std::stoull(words.at(first + 2)); buffer.initial.size() < count;
             value += std::stoull(words.at(first + 3)))
            buffer.initial.push_back(value);
    } else if (words[first] != "zero") {
        buffer.initial = values_of(words, first, buffer.type);
    }
    buffer.initial.resize(count);
}

} // namespace

LaunchFile read_launch_file(const std::filesystem::path &path) {
    std::ifstream stream(path);
    LaunchFile test;
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
    test.tier = directive(test.text, "//", "TIER");
    test.failure = directive(test.text, "//", "FAILS");
    const bool expects = std::any_of(test.buffers.begin(), test.buffers.end(),
                                     [](const auto &b) { return !b.second.expected.empty(); });
    for (const std::string &line : directives(test.text, "COMPARE"))
        test.compared = split(line);
    if (expects + !test.failure.empty() + !test.compared.empty() != 1)
        fail("a test needs either EXPECT lines or a COMPARE or a FAILS line");
    return test;
}

std::vector<std::uint64_t> LaunchFile::argument_values() const {
    std::vector<std::uint64_t> values;
    for (const std::string &argument : arguments) {
        const std::size_t colon = argument.find(':');
        values.push_back(colon == std::string::npos
                             ? buffers.at(argument).address
                             : bits_of(argument.substr(colon + 1), argument.substr(0, colon)));
    }
    return values;
}

std::vector<std::byte> LaunchFile::initial_bytes(const Buffer &buffer) const {
    const std::uint64_t base = buffer.base.empty() ? 0 : buffers.at(buffer.base).address;
    std::vector<std::byte> bytes(buffer.bytes());
    for (std::size_t i = 0; i < buffer.initial.size(); i++) {
        const std::uint64_t value = buffer.initial[i] + base;
        std::memcpy(bytes.data() + i * buffer.width(), &value, buffer.width());
    }
    return bytes;
}

std::vector<std::filesystem::path> ptx_files(int argc, char **argv, int first) {
    std::vector<std::filesystem::path> files;
    for (int i = first; i < argc; i++) {
        if (!std::filesystem::is_directory(argv[i])) {
            files.emplace_back(argv[i]);
            continue;
        }
        for (const auto &entry : std::filesystem::directory_iterator(argv[i]))
            if (entry.path().extension() == ".ptx")
                files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace softcuda::test
