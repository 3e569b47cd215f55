// kernel_signature_ptx.cpp -- reads the parameters of kernels from PTX.
//
//     .visible .entry scale(
//         .param .u64 .ptr .align 1 scale_param_0,      8 bytes, a pointer
//         .param .align 16 .b8 scale_param_1[32]        32 bytes at a multiple of 16
//     )
#include <charconv>

#include "compile/source/source_text.h"
#include "pycuda/kernel_signature.h"

namespace pycuda {
namespace {

using namespace compile_detail;

/// The words of a PTX text: sequences without blanks; each of ( ) [ ] , ; { } is a word.
class PtxWords {
  public:
    explicit PtxWords(std::string_view text) : text_(text) {}

    /// The next word; empty at the end.
    std::string_view next() {
        at_ = skip_space(text_, at_);
        const std::size_t begin = at_;
        if (at_ < text_.size() && is_mark(text_[at_]))
            return text_.substr(at_++, 1);
        while (at_ < text_.size() && !is_space(text_[at_]) && !is_mark(text_[at_]))
            ++at_;
        return text_.substr(begin, at_ - begin);
    }

    bool skip_to(std::string_view what) {
        std::size_t found = text_.find(what, at_);
        at_ = found == none ? text_.size() : found + what.size();
        return found != none;
    }

  private:
    static bool is_mark(char c) { return std::string_view("()[],;{}").find(c) != none; }

    std::string_view text_;
    std::size_t at_ = 0;
};

std::uint32_t to_number(std::string_view digits) {
    std::uint32_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

/// 8 for ".u64" and ".b64", 0 for other words.
std::uint32_t type_size(std::string_view word) {
    if (word.size() < 3 || word[0] != '.' || std::string_view("busf").find(word[1]) == none)
        return 0;
    return to_number(word.substr(2)) / 8;
}

/// Reads one `.param ...`. Then `word` is the comma or parenthesis after it.
Parameter read_parameter(PtxWords &words, std::string_view &word, std::uint32_t end_so_far) {
    Parameter parameter;
    std::uint32_t element = 0, alignment = 0, count = 1;
    bool after_ptr =
        false; // the .align after .ptr is that of the memory that the pointer refers to
    for (word = words.next(); !word.empty() && word != "," && word != ")"; word = words.next()) {
        if (word == ".ptr") {
            parameter.kind = ValueKind::Pointer;
            after_ptr = true;
        } else if (word == ".align") {
            std::uint32_t value = to_number(words.next());
            if (!after_ptr)
                alignment = value;
        } else if (word == "[")
            count = to_number(words.next());
        else if (std::uint32_t size = type_size(word))
            element = size;
    }
    parameter.size = element * count;
    alignment = std::max({alignment, element, 1u});
    parameter.offset = (end_so_far + alignment - 1) / alignment * alignment;
    return parameter;
}

PtxEntry read_entry(PtxWords &words) {
    PtxEntry entry{std::string(words.next()), {}};
    std::string_view word = words.next();
    if (word != "(")
        return entry; // no parameter list: the entry has no parameters
    word = words.next();
    std::uint32_t end = 0;
    while (word == ".param") {
        entry.parameters.push_back(read_parameter(words, word, end));
        end = entry.parameters.back().offset + entry.parameters.back().size;
        if (word == ",")
            word = words.next();
    }
    return entry;
}

/// Reads a length and that many characters of an Itanium mangled name: "5scale".
std::string_view read_source_name(std::string_view &mangled) {
    std::size_t length = 0;
    auto [end, failed] = std::from_chars(mangled.data(), mangled.data() + mangled.size(), length);
    std::size_t digits = static_cast<std::size_t>(end - mangled.data());
    if (failed != std::errc() || length > mangled.size() - digits)
        return {};
    std::string_view name = mangled.substr(digits, length);
    mangled.remove_prefix(digits + length);
    return name;
}

} // namespace

std::vector<PtxEntry> read_ptx_entries(std::string_view ptx) {
    const std::string text = blank_comments_and_strings(ptx);
    PtxWords words(text);
    std::vector<PtxEntry> entries;
    while (words.skip_to(".entry")) {
        PtxEntry entry = read_entry(words);
        // A forward declaration repeats the name of the entry.
        if (!entry.name.empty() &&
            std::ranges::find(entries, entry.name, &PtxEntry::name) == entries.end())
            entries.push_back(std::move(entry));
    }
    return entries;
}

std::string plain_name(std::string_view linker_name) {
    std::string_view rest = linker_name;
    if (!rest.starts_with("_Z"))
        return std::string(linker_name);
    rest.remove_prefix(2);
    if (rest.starts_with("N"))
        rest.remove_prefix(1);
    if (rest.starts_with("L"))
        rest.remove_prefix(1);
    std::string_view last;
    while (!rest.empty() && is_digit(rest[0])) {
        std::string_view name = read_source_name(rest);
        if (name.empty())
            break;
        last = name;
    }
    return std::string(last.empty() ? linker_name : last);
}

} // namespace pycuda
