// mutation_test.cpp -- randomly damaged PTX is refused or lowered, and never causes a crash.
//
//     softcuda_mutation_test ROUNDS FILE_OR_FOLDER...
//
// Each round changes a few lines or words of each file. Valid texts are lowered, and the IR must
// verify. Seeds are fixed, so rounds are reproducible.
#include "compiler/pipeline.h"
#include "ir/lower.h"
#include "ir/verify.h"
#include "ptx/parse.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace softcuda;

std::vector<std::string> lines_of(const std::filesystem::path &path) {
    std::ifstream stream(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
        if (!line.starts_with("// "))
            lines.push_back(line);
    }
    return lines;
}

std::vector<std::string> words_of(const std::string &line) {
    std::vector<std::string> words;
    for (char c : line) {
        bool part = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$';
        if (words.empty() || !part || words.back().size() > 40 ||
            !(std::isalnum(static_cast<unsigned char>(words.back().back())) ||
              words.back().back() == '_' || words.back().back() == '%'))
            words.emplace_back();
        words.back() += c;
    }
    return words;
}

class Mutator {
  public:
    Mutator(const std::vector<std::string> &original, unsigned seed)
        : lines_(original), random_(seed) {}

    std::string mutated() {
        for (std::size_t changes = 1 + pick(3); changes > 0; changes--)
            change();
        std::string text;
        for (const std::string &line : lines_)
            text += line + "\n";
        return text;
    }

  private:
    std::size_t pick(std::size_t count) { return random_() % std::max<std::size_t>(count, 1); }
    std::string &any_line() { return lines_[pick(lines_.size())]; }

    void change() {
        std::size_t at = pick(lines_.size());
        switch (pick(8)) {
        case 0:
            lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        case 1:
            lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), any_line());
            break;
        case 2:
            std::swap(lines_[at], any_line());
            break;
        default:
            change_word(lines_[at]);
            break;
        }
        if (lines_.empty())
            lines_.emplace_back();
    }

    void change_word(std::string &line) {
        static const std::string kNumbers[] = {"0",  "1",          "7",    "31",
                                               "64", "4294967295", "1000", "9223372036854775807"};
        std::vector<std::string> words = words_of(line), others = words_of(any_line());
        if (words.empty() || others.empty())
            return;
        std::string &word = words[pick(words.size())];
        bool number = std::isdigit(static_cast<unsigned char>(word[0]));
        word =
            number && pick(2) ? kNumbers[pick(std::size(kNumbers))] : others[pick(others.size())];
        line.clear();
        for (const std::string &w : words)
            line += w;
    }

    std::vector<std::string> lines_;
    std::mt19937 random_;
};

/// False if the lowered IR does not verify.
bool survives(const std::string &text, unsigned &lowered) {
    auto source = std::make_shared<const SourceText>("mutated.ptx", text);
    Diagnostics diagnostics(*source);
    std::optional<ptx::Module> parsed = ptx::parse(source, diagnostics);
    std::unique_ptr<ir::Module> module =
        parsed ? ir::lower(*parsed, diagnostics, ir::purpose_of(*parsed)) : nullptr;
    if (!module) {
        (void)diagnostics.render();
        return diagnostics.has_errors();
    }
    lowered++;
    compiler::clean_up(*module);
    std::vector<std::string> wrong = ir::verify(*module);
    for (const std::string &message : wrong)
        std::cout << message << "\n";
    return wrong.empty();
}

std::vector<std::filesystem::path> ptx_files(int argc, char **argv) {
    std::vector<std::filesystem::path> files;
    for (int i = 2; i < argc; i++) {
        if (!std::filesystem::is_directory(argv[i])) {
            files.emplace_back(argv[i]);
            continue;
        }
        for (const auto &entry : std::filesystem::directory_iterator(argv[i]))
            files.push_back(entry.path());
    }
    std::erase_if(files, [](const auto &file) { return file.extension() != ".ptx"; });
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace

int main(int argc, char **argv) {
    unsigned rounds = argc > 1 ? static_cast<unsigned>(std::stoul(argv[1])) : 0;
    unsigned tried = 0, lowered = 0, failed = 0;
    for (const std::filesystem::path &file : ptx_files(argc, argv)) {
        std::vector<std::string> original = lines_of(file);
        for (unsigned seed = 0; seed < rounds; seed++) {
            std::string text = Mutator(original, seed).mutated();
            tried++;
            if (survives(text, lowered))
                continue;
            failed++;
            std::cout << "FAILED " << file.string() << ", seed " << seed << "\n";
            std::ofstream("mutation_failure.ptx") << text;
        }
    }
    std::cout << tried << " mutations, " << lowered << " still valid, " << failed << " failed\n";
    return failed != 0 || lowered == 0;
}
