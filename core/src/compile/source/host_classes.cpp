// host_classes.cpp -- classes with members of the host in a source with kernels.
#include "compile/source/host_classes.h"

#include "compile/source/namespace_scope.h"

namespace pycuda::compile_detail {
namespace {

constexpr std::string_view spaces = " \t\r\n\f\v";

constexpr std::string_view class_keys[] = {"struct", "class", "union"};
constexpr std::string_view access[] = {"public", "private", "protected"};

/// Whether one of the words is `struct` or the like.
bool has_class_key(const Specifiers &read) {
    return std::ranges::any_of(read.words,
                               [](const Word &word) { return has_any(class_keys, word.text); });
}

/// A declaration in a class.
struct Member {
    std::size_t begin = 0, end = 0;
    std::size_t body = none;  ///< of a function, with the constructor's initialisers
    std::size_t brace = none; ///< of a class
    bool has_parameters = false;
    Specifiers read;

    bool has(std::string_view word) const {
        return std::ranges::find(read.words, word, &Word::text) != read.words.end();
    }
    /// Whether the class has the same size without the member.
    bool has_no_size() const {
        if (has("virtual"))
            return false;
        return has_parameters || has("static") || has("using") || has("typedef") || has("friend");
    }
};

/// Reads the members between the braces of a class.
class MemberReader {
  public:
    MemberReader(std::string_view blanked, std::size_t open, std::size_t close)
        : text_(blanked), at_(open + 1), close_(close) {}

    std::vector<Member> run() {
        begin_member();
        while (at_ < close_)
            step();
        return std::move(found_);
    }

  private:
    char next_sign(std::size_t at) const {
        const std::size_t found = text_.find_first_not_of(spaces, at);
        return found < close_ ? text_[found] : ';';
    }

    char last_sign() const {
        const std::size_t found = text_.find_last_not_of(spaces, at_ - 1);
        return found == none || found < member_.begin ? ';' : text_[found];
    }

    /// Skips `public:` and the like.
    void begin_member() {
        member_ = {};
        has_value_ = false;
        for (;;) {
            at_ = std::min(text_.find_first_not_of(spaces, at_), close_);
            const std::string_view word = word_at(text_, at_);
            const std::size_t colon = skip_space(text_, at_ + word.size());
            if (!has_any(access, word) || colon >= close_ || text_[colon] != ':')
                break;
            at_ = colon + 1;
        }
        member_.begin = at_;
        skip_template_head();
    }

    /// Skips `template <class T, class = enable_if<...>>`, whose '=' is no initialiser.
    void skip_template_head() {
        constexpr std::string_view word = "template";
        if (!text_.substr(at_, close_ - at_).starts_with(word))
            return;
        int depth = 0;
        for (std::size_t at = at_ + word.size(); at < close_; ++at) {
            if (text_[at] == '(')
                at = std::min(closing_bracket(text_, at), close_ - 1);
            depth += (text_[at] == '<') - (text_[at] == '>');
            if (depth == 0 && text_[at] == '>') {
                at_ = at + 1;
                return;
            }
        }
    }

    void end_member(std::size_t end) {
        member_.end = at_ = end;
        member_.read = read_specifiers(text_, member_.begin, end);
        if (!member_.read.words.empty())
            found_.push_back(std::move(member_));
        begin_member();
    }

    std::size_t after_bracket() const {
        const std::size_t close = closing_bracket(text_, at_);
        return close == none || close >= close_ ? close_ : close + 1;
    }

    bool is_class_here() const { return has_class_key(read_specifiers(text_, member_.begin, at_)); }

    void open_brace() {
        const char last = last_sign();
        const bool is_initialiser =
            has_value_ || (member_.body != none && (is_word(last) || last == '>'));
        if (is_initialiser) { // of a member in a constructor, or of data
            at_ = after_bracket();
        } else if (member_.has_parameters) {
            member_.body = std::min(member_.body, at_);
            end_member(after_bracket());
        } else {
            if (is_class_here())
                member_.brace = at_;
            at_ = after_bracket();
        }
    }

    void step() {
        const char c = text_[at_];
        if (c == ';') {
            end_member(at_ + 1);
        } else if (c == '{') {
            open_brace();
        } else if (c == '(' || c == '[') {
            // struct __align__(8) pair { ... } p;
            member_.has_parameters |= c == '(' && !has_value_ && !is_class_here();
            at_ = after_bracket();
        } else if (c == ':' && member_.has_parameters && next_sign(at_ + 1) != ':' &&
                   text_[at_ - 1] != ':') {
            member_.body = std::min(member_.body, at_++);
        } else {
            has_value_ |=
                c == '=' && !text_.substr(member_.begin, at_ - member_.begin).ends_with("operator");
            ++at_;
        }
    }

    std::string_view text_;
    std::size_t at_, close_;
    Member member_;
    bool has_value_ = false; // an '=' was read
    std::vector<Member> found_;
};

class HostMemberRemoval {
  public:
    HostMemberRemoval(std::string_view blanked, const SpecifierMacros &macros,
                      const RemovalOf &removal_of, std::vector<Edit> &edits,
                      std::set<std::string> &names)
        : text_(blanked), macros_(macros), removal_of_(removal_of), edits_(edits), names_(names) {}

    void run(std::size_t begin, std::size_t end) {
        const std::size_t open = text_.substr(0, end).find('{', begin);
        const std::size_t close = open == none ? none : closing_bracket(text_, open);
        if (close == none || close >= end)
            return;
        const Specifiers head = read_specifiers(text_, begin, open);
        if (!has_class_key(head) || removal_of_(begin, end) == Removal::None)
            return;
        const std::size_t first_edit = edits_.size();
        bool is_needed = false; // by the device
        bool is_whole = removal_of_(begin, end) != Removal::Class;
        for (const Member &member : MemberReader(text_, open, close).run()) {
            is_needed |= has_device_word(member.begin, member.end);
            is_whole &= remove(member);
        }
        if (is_whole || is_needed)
            return;
        edits_.resize(first_edit);
        declare_only(begin, open, end, head);
    }

  private:
    bool is_for_device(const Member &member) const {
        return std::ranges::any_of(
            member.read.words, [&](const Word &word) { return macros_.is_for_device(word.text); });
    }

    /// Whether the member, or one of a class in the class, is for the device.
    bool has_device_word(std::size_t begin, std::size_t end) const {
        return std::ranges::any_of(words_of(begin, end), [&](const std::string &word) {
            return macros_.is_for_device(word);
        });
    }

    /// False if the member has an error and must stay.
    bool remove(const Member &member) {
        const Removal removal = removal_of_(member.begin, member.end);
        if (removal == Removal::None)
            return true;
        if (member.brace != none) {
            run(member.begin, member.end);
            return true;
        }
        if (is_for_device(member))
            return true;
        if (member.body != none && removal == Removal::Body && !member.has("friend")) {
            remove_body(member);
            return true;
        }
        if (!member.has_no_size())
            return false;
        edits_.push_back({member.begin, member.end, ""});
        names_.emplace(member.read.words.back().text);
        return true;
    }

    /// A destructor goes: an object of a kernel would need it. A virtual function stays declared.
    void remove_body(const Member &member) {
        const bool is_destructor =
            text_.substr(member.begin, member.body - member.begin).find('~') != none;
        if (member.has("virtual") || says_override(member))
            edits_.push_back({member.body, member.end, ";"});
        else if (is_destructor)
            edits_.push_back({member.begin, member.end, ""});
        else
            edits_.push_back({member.body, member.end, "= delete;"});
    }

    bool says_override(const Member &member) const {
        const std::string_view head = text_.substr(member.begin, member.body - member.begin);
        return head.find("override") != none || head.find("final") != none;
    }

    /// `template <class T> class Buffer : Base { ... };` becomes `template <class T> class Buffer;`
    void declare_only(std::size_t begin, std::size_t open, std::size_t end,
                      const Specifiers &head) {
        std::size_t bases = open;
        for (std::size_t at = begin; at + 1 < open; ++at)
            if (text_[at] == ':' && text_[at + 1] != ':' && text_[at - 1] != ':')
                bases = std::min(bases, at);
        const Word name = name_before(bases, begin);
        const std::size_t after_name = name.begin + name.text.size();
        const bool is_specialisation =
            text_.substr(after_name, bases - after_name).find('>') != none;
        const bool is_declaration =
            !has_any(class_keys, name.text) && head.words.front().text != "typedef";
        edits_.push_back({is_specialisation ? bases
                          : is_declaration  ? after_name
                                            : begin,
                          end, ";"});
        if (is_declaration && !is_specialisation)
            names_.emplace(name.text);
        names_.merge(words_of(closing_bracket(text_, open), end)); // struct { ... } a, b;
    }

    /// The last word of the head of a class, without `final`.
    Word name_before(std::size_t position, std::size_t begin) const {
        Word name{begin, {}};
        for_each_word(text_.substr(0, position).substr(begin),
                      [&](std::size_t at, std::string_view word) {
                          if (word != "final")
                              name = {begin + at, word};
                      });
        return name;
    }

    std::set<std::string> words_of(std::size_t begin, std::size_t end) const {
        std::set<std::string> found;
        for_each_word(text_.substr(0, end).substr(begin),
                      [&](std::size_t, std::string_view word) { found.emplace(word); });
        return found;
    }

    std::string_view text_;
    const SpecifierMacros &macros_;
    const RemovalOf &removal_of_;
    std::vector<Edit> &edits_;
    std::set<std::string> &names_;
};

} // namespace

void remove_host_members(std::string_view blanked, TextRange statement,
                         const SpecifierMacros &macros, const RemovalOf &removal_of,
                         std::vector<Edit> &edits, std::set<std::string> &names) {
    HostMemberRemoval(blanked, macros, removal_of, edits, names)
        .run(statement.begin, statement.end);
}

} // namespace pycuda::compile_detail
