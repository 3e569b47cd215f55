// dwarf_reader.cpp -- abbreviations, forms, and the tree of entries.
#include "ir/dwarf_reader.h"

namespace softcuda::ir::dwarf {

namespace {

constexpr unsigned kDeepest = 64;

struct Abbreviation {
    std::uint32_t tag = 0;
    bool has_children = false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> attributes; ///< with their forms
};

std::map<std::uint64_t, Abbreviation> read_abbreviations(Cursor at) {
    std::map<std::uint64_t, Abbreviation> found;
    for (std::uint64_t code = at.uleb(); code != 0 && at.good(); code = at.uleb()) {
        Abbreviation &made = found[code];
        made.tag = static_cast<std::uint32_t>(at.uleb());
        made.has_children = at.number(1) != 0;
        while (at.good()) {
            const auto attribute = static_cast<std::uint32_t>(at.uleb());
            const auto form = static_cast<std::uint32_t>(at.uleb());
            if (attribute == 0 && form == 0)
                break;
            made.attributes.emplace_back(attribute, form);
        }
    }
    return found;
}

class UnitReader {
  public:
    explicit UnitReader(const Sections &sections) : sections_(sections), at_(sections.info) {}

    std::unique_ptr<Entry> run() {
        at_.number(4); // the length; the section is read as far as it goes
        version_ = static_cast<unsigned>(at_.number(2));
        const std::uint64_t abbreviations = at_.number(4);
        const std::uint64_t address_bytes = at_.number(1);
        if (!at_.good() || version_ < 2 || version_ > 4 || address_bytes != 8)
            return nullptr;
        abbreviations_ = read_abbreviations(Cursor(sections_.abbreviations, abbreviations));
        return entry(0);
    }

  private:
    std::unique_ptr<Entry> entry(unsigned depth) {
        const std::uint64_t offset = at_.at();
        const std::uint64_t code = at_.uleb();
        const auto known = abbreviations_.find(code);
        if (code == 0 || known == abbreviations_.end() || depth > kDeepest) {
            bad_ = bad_ || code != 0;
            return nullptr;
        }
        auto made = std::make_unique<Entry>();
        made->offset = offset;
        made->tag = known->second.tag;
        for (const auto &[attribute, form] : known->second.attributes) {
            made->values[attribute] = value(form, depth);
            if (bad_ || !at_.good())
                return nullptr;
        }
        while (known->second.has_children && !bad_ && at_.good() && !at_.at_end()) {
            std::unique_ptr<Entry> child = entry(depth + 1);
            if (!child)
                break;
            made->children.push_back(std::move(child));
        }
        return made;
    }

    Value value(std::uint64_t form, unsigned depth) {
        using Kind = Value::Kind;
        switch (form) {
        case 0x01:
            return {Kind::Address, at_.number(8), {}};
        case 0x03:
            return {Kind::Block, 0, at_.block(at_.number(2))};
        case 0x04:
            return {Kind::Block, 0, at_.block(at_.number(4))};
        case 0x05:
            return {Kind::Number, at_.number(2), {}};
        case 0x06: // data4; up to version 3 also a place in another section
            return {Kind::Number, at_.number(4), {}};
        case 0x07:
            return {Kind::Number, at_.number(8), {}};
        case 0x08:
            return {Kind::Text, 0, at_.string()};
        case 0x09: // block
        case 0x18: // exprloc
            return {Kind::Block, 0, at_.block(at_.uleb())};
        case 0x0a:
            return {Kind::Block, 0, at_.block(at_.number(1))};
        case 0x0b: // data1
        case 0x0c: // flag
            return {Kind::Number, at_.number(1), {}};
        case 0x0d:
            return {Kind::Number, static_cast<std::uint64_t>(at_.sleb()), {}};
        case 0x0e:
            return {Kind::Text, 0, Cursor(sections_.strings, at_.number(4)).string()};
        case 0x0f: // udata
        case 0x15: // ref_udata
            return {Kind::Number, at_.uleb(), {}};
        case 0x10: // ref_addr
        case 0x13: // ref4
            return {Kind::Number, at_.number(4), {}};
        case 0x11:
            return {Kind::Number, at_.number(1), {}};
        case 0x12:
            return {Kind::Number, at_.number(2), {}};
        case 0x14:
            return {Kind::Number, at_.number(8), {}};
        case 0x16: // indirect
            if (depth <= kDeepest)
                return value(at_.uleb(), kDeepest + 1);
            break;
        case 0x17: // sec_offset
            return {Kind::List, at_.number(4), {}};
        case 0x19: // flag_present
            return {Kind::Number, 1, {}};
        default:
            break;
        }
        bad_ = true;
        return {};
    }

    const Sections &sections_;
    Cursor at_;
    unsigned version_ = 0;
    bool bad_ = false;
    std::map<std::uint64_t, Abbreviation> abbreviations_;
};

} // namespace

std::uint64_t Cursor::number(unsigned bytes) {
    std::uint64_t value = 0;
    const std::string_view taken = block(bytes);
    for (unsigned i = 0; i < taken.size(); ++i)
        value |= std::uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
    return value;
}

std::string_view Cursor::block(std::uint64_t bytes) {
    if (!good_ || at_ > bytes_.size() || bytes > bytes_.size() - at_) {
        good_ = false;
        return {};
    }
    at_ += bytes;
    return bytes_.substr(at_ - bytes, bytes);
}

std::uint64_t Cursor::uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; good_; shift += 7) {
        const std::uint64_t byte = number(1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            break;
    }
    return value;
}

std::int64_t Cursor::sleb() {
    std::uint64_t value = 0, byte = 0;
    unsigned shift = 0;
    do {
        byte = number(1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (good_ && (byte & 0x80) != 0);
    if (shift < 64 && (byte & 0x40) != 0)
        value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
}

std::string_view Cursor::string() {
    const std::size_t end = at_ < bytes_.size() ? bytes_.find('\0', at_) : std::string_view::npos;
    if (end == std::string_view::npos) {
        good_ = false;
        return {};
    }
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
}

const Value *Entry::find(std::uint32_t attribute) const {
    const auto found = values.find(attribute);
    return found == values.end() ? nullptr : &found->second;
}

std::uint64_t Entry::number(std::uint32_t attribute, std::uint64_t otherwise) const {
    const Value *value = find(attribute);
    return value && value->kind != Value::Kind::Text && value->kind != Value::Kind::Block
               ? value->number
               : otherwise;
}

std::unique_ptr<Entry> read_unit(const Sections &sections) { return UnitReader(sections).run(); }

} // namespace softcuda::ir::dwarf
