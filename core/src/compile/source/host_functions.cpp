// host_functions.cpp -- functions and variables of the host in a source with kernels.
#include "compile/source/host_functions.h"

#include <charconv>
#include <filesystem>

#include "compile/source/host_classes.h"
#include "compile/source/namespace_scope.h"

namespace pycuda::compile_detail {
namespace {

/// More words of declarations that a kernel may need.
constexpr std::string_view kept_words[] = {"static_assert", "constexpr", "consteval"};

constexpr std::string_view fundamental_types[] = {
    "void", "bool",   "char",   "short",    "int",    "long",   "float",
    "auto", "double", "signed", "unsigned", "size_t", "wchar_t"};

constexpr std::string_view other_keywords[] = {
    "static", "inline",   "extern", "const", "volatile", "template",   "__host__", "struct",
    "class",  "noexcept", "enum",   "union", "typename", "__inline__", "operator"};

constexpr std::string_view keys_of_types[] = {"struct", "class", "union", "enum", "typename"};

/// How sure it is that a definition is for the host.
enum class ForHost { Yes, IfCompilerSaysSo, No };

struct HostStatement {
    std::size_t begin, end;
    std::size_t first_line, last_line;
    ForHost for_host;
    bool has_class;
    std::vector<std::string_view> words;
};

/// Whether `name::` or `name<...>::` is before the next word. `std::pair<std::string> next` is not.
bool is_scope(std::string_view blanked, const Word &name, const Word &next) {
    const std::size_t end = name.begin + name.text.size();
    std::string_view between = blanked.substr(end, next.begin - end);
    while (!between.empty() && (between.back() == '~' || between.back() <= ' '))
        between.remove_suffix(1);
    return between.ends_with("::");
}

/// The names before the last one: `std::vector` is one name.
struct NamesBefore {
    std::size_t count = 0;
    bool is_type = false; ///< one is `ns::name` or `struct name`, and no misspelt __global__
};

NamesBefore names_before_last(std::string_view blanked, const std::vector<Word> &words,
                              const SpecifierMacros &macros) {
    NamesBefore names;
    bool is_type = false;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const std::string_view word = words[i].text;
        const bool is_owner = is_scope(blanked, words[i], words[i + 1]);
        const bool is_known = has_any(fundamental_types, word) || has_any(other_keywords, word) ||
                              macros.is_for_host(word);
        names.count += !is_known && !is_owner;
        names.is_type |= !is_known && !is_owner && is_type;
        is_type = is_owner || has_any(keys_of_types, word);
    }
    return names;
}

/// `Timer::Timer()` or `Timer::~Timer()`, outside of the class.
bool is_constructor(std::string_view blanked, const Specifiers &read) {
    if (read.words.size() < 2 || read.stop != '(')
        return false;
    const Word &owner = read.words[read.words.size() - 2], &last = read.words.back();
    return owner.text == last.text && is_scope(blanked, owner, last);
}

ForHost decide(std::string_view blanked, const Specifiers &read, bool is_prototype,
               const SpecifierMacros &macros) {
    const auto has = [&](std::string_view word) {
        return std::ranges::find(read.words, word, &Word::text) != read.words.end();
    };
    if (std::ranges::any_of(kept_words, has) ||
        std::ranges::any_of(read.words,
                            [&](const Word &word) { return macros.is_for_device(word.text); }))
        return ForHost::No;
    if (is_prototype || has("using") || has("typedef") || is_constructor(blanked, read))
        return ForHost::Yes;
    // `_global_ void f()` has a name too many, beside its type.
    const NamesBefore names = names_before_last(blanked, read.words, macros);
    if (std::ranges::any_of(fundamental_types, has))
        return names.count == 0 ? ForHost::Yes : ForHost::No;
    if (names.count != 1)
        return ForHost::No;
    return names.is_type ? ForHost::Yes : ForHost::IfCompilerSaysSo;
}

/// The last character before the ';' of a statement, without spaces.
char last_sign(std::string_view blanked, const ScopeStatement &statement) {
    const std::size_t at = blanked.find_last_not_of(" \t\r\n\f\v;", statement.end - 1);
    return at == none || at < statement.begin ? ';' : blanked[at];
}

class LineNumbers {
  public:
    explicit LineNumbers(std::string_view text) {
        for (std::size_t at = text.find('\n'); at != none; at = text.find('\n', at + 1))
            ends_.push_back(at);
    }
    /// From 1.
    std::size_t of(std::size_t position) const {
        const auto line = std::ranges::lower_bound(ends_, position);
        return static_cast<std::size_t>(line - ends_.begin()) + 1;
    }

  private:
    std::vector<std::size_t> ends_;
};

/// The statements at namespace scope that may be for the host. `blanked` outlives the result.
std::vector<HostStatement> host_statements(std::string_view blanked, const LineNumbers &lines,
                                           const SpecifierMacros &macros) {
    std::vector<HostStatement> found;
    for (const ScopeStatement &statement : statements_at_namespace_scope(blanked)) {
        const std::size_t begin =
            std::min(blanked.find_first_not_of(" \t\r\n\f\v", statement.begin), statement.end);
        const Specifiers read = read_specifiers(blanked, begin, statement.end);
        if (read.words.empty())
            continue;
        const bool is_prototype =
            !statement.is_function_body && read.stop == '(' && last_sign(blanked, statement) == ')';
        HostStatement host{begin,
                           statement.end,
                           lines.of(begin),
                           lines.of(statement.end - 1),
                           decide(blanked, read, is_prototype, macros),
                           statement.has_class,
                           {}};
        for (const Word &word : read.words)
            host.words.push_back(word.text);
        if (host.for_host != ForHost::No || host.has_class)
            found.push_back(std::move(host));
    }
    return found;
}

/// Directives stay: an #if inside of a function may begin before it or end behind it.
std::string apply(const std::vector<Edit> &edits, std::string_view text, std::string_view blanked) {
    std::string result(text);
    const std::string with_directives = blank_comments_and_strings(text);
    const auto has_directive = [&](std::size_t begin, std::size_t end) {
        return with_directives.compare(begin, end - begin, blanked, begin, end - begin) != 0;
    };
    for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
        for (std::size_t at = edit->begin; at < edit->end;) {
            const std::size_t end = std::min(text.find('\n', at), edit->end);
            if (!has_directive(at, end))
                std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(at), end - at, ' ');
            at = end + 1;
        }
        result.insert(edit->begin, edit->text);
    }
    return result;
}

/// Without the ".." of an include that leads out of the folder and back.
std::string shortened(std::string_view file) {
    return std::filesystem::path(file).lexically_normal().string();
}

} // namespace

bool ReportedLines::add(std::string_view log, std::string_view phrase) {
    bool is_new = false;
    while (!log.empty()) {
        const std::string_view text = take_line(log);
        const std::size_t close = text.find("): error");
        const std::size_t open = close == none ? none : text.rfind('(', close);
        if (open == none || text.find(phrase) == none)
            continue;
        std::size_t line = 0; // stays 0 if this is no number
        std::from_chars(text.data() + open + 1, text.data() + close, line);
        is_new |= line > 0 && lines_[shortened(text.substr(0, open))].insert(line).second;
    }
    return is_new;
}

bool ReportedLines::any(std::string_view file, std::size_t first, std::size_t last) const {
    const auto found = lines_.find(shortened(file));
    if (found == lines_.end())
        return false;
    const auto line = found->second.lower_bound(first);
    return line != found->second.end() && *line <= last;
}

std::string remove_host_code(std::string_view text, std::string_view file, const HostCode &code,
                             RemovedHostCode &removed) {
    const std::string blanked = blank_all_but_code(text);
    const LineNumbers lines(blanked);
    const RemovalOf removal_of = [&](std::size_t begin, std::size_t end) {
        const std::size_t first = lines.of(begin), last = lines.of(end - 1);
        return code.last_errors.any(file, first, last)    ? Removal::Class
               : code.errors_again.any(file, first, last) ? Removal::Member
               : code.errors.any(file, first, last)       ? Removal::Body
                                                          : Removal::None;
    };
    std::vector<Edit> edits;
    for (const HostStatement &statement : host_statements(blanked, lines, code.macros)) {
        const auto is_in = [&](const ReportedLines &reported) {
            return reported.any(file, statement.first_line, statement.last_line);
        };
        if (!is_in(code.errors))
            continue;
        if (statement.has_class) {
            removed.has_class = true;
            remove_host_members(blanked, {statement.begin, statement.end}, code.macros, removal_of,
                                edits, removed.classes);
            continue;
        }
        const bool names_removed = std::ranges::any_of(statement.words, [&](std::string_view word) {
            return removed.classes.contains(std::string(word)); // Timer timer;
        });
        if (statement.for_host == ForHost::IfCompilerSaysSo && !names_removed &&
            code.has_all_definitions && !is_in(code.definitions))
            continue;
        edits.push_back({statement.begin, statement.end, ""});
        removed.names.insert(statement.words.begin(), statement.words.end());
    }
    return apply(edits, text, blanked);
}

bool misses_one_of(const RemovedHostCode &removed, std::string_view log) {
    constexpr std::string_view messages[] = {"error: identifier \"", "error: incomplete type \""};
    for (const std::string_view before : messages)
        for (std::size_t at = log.find(before); at != none; at = log.find(before, at)) {
            at += before.size();
            const std::string name(log.substr(at, log.find('"', at) - at));
            if (removed.names.contains(name) || removed.classes.contains(name))
                return true;
        }
    return log.find("it is a deleted function") != none;
}

} // namespace pycuda::compile_detail
