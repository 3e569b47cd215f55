// dwarf_reader.h -- the entries of DWARF sections, for debug data that may be damaged.
//
// DWARF versions 2 to 4, 32-bit, as CUDA C++ compilers write them to PTX. A read beyond the end
// returns zeros and marks the cursor as bad; nothing throws.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::ir::dwarf {

// The used names of the standard.
enum Tag : std::uint32_t {
    kArrayType = 0x01,
    kClassType = 0x02,
    kEnumerationType = 0x04,
    kFormalParameter = 0x05,
    kLexicalBlock = 0x0b,
    kMember = 0x0d,
    kPointerType = 0x0f,
    kReferenceType = 0x10,
    kCompileUnit = 0x11,
    kStructureType = 0x13,
    kTypedef = 0x16,
    kUnionType = 0x17,
    kInheritance = 0x1c,
    kInlinedSubroutine = 0x1d,
    kSubrangeType = 0x21,
    kBaseType = 0x24,
    kConstType = 0x26,
    kEnumerator = 0x28,
    kSubprogram = 0x2e,
    kVariable = 0x34,
    kVolatileType = 0x35,
    kRvalueReferenceType = 0x42,
};
enum Attribute : std::uint32_t {
    kLocation = 0x02,
    kName = 0x03,
    kByteSize = 0x0b,
    kLowPc = 0x11,
    kHighPc = 0x12,
    kConstValue = 0x1c,
    kUpperBound = 0x2f,
    kAbstractOrigin = 0x31,
    kCount = 0x37,
    kMemberLocation = 0x38,
    kDeclFile = 0x3a,
    kDeclLine = 0x3b,
    kEncoding = 0x3e,
    kSpecification = 0x47,
    kType = 0x49,
};
enum Operation : std::uint8_t {
    kAddr = 0x03,
    kPlusUconst = 0x23,
    kRegx = 0x90,
};

class Cursor {
  public:
    explicit Cursor(std::string_view bytes, std::uint64_t at = 0) : bytes_(bytes), at_(at) {}

    std::uint64_t number(unsigned bytes);
    std::uint64_t uleb();
    std::int64_t sleb();
    std::string_view string();
    std::string_view block(std::uint64_t bytes);
    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] bool at_end() const { return at_ >= bytes_.size(); }
    [[nodiscard]] std::uint64_t at() const { return at_; }

  private:
    std::string_view bytes_;
    std::uint64_t at_;
    bool good_ = true;
};

struct Value {
    enum class Kind : std::uint8_t { None, Number, Text, Block, List, Address };
    Kind kind = Kind::None;
    std::uint64_t number = 0; ///< also a reference's place in .debug_info, or one in .debug_loc
    std::string_view bytes;   ///< of a text or block
};

struct Entry {
    std::uint64_t offset = 0; ///< in .debug_info
    std::uint32_t tag = 0;
    std::map<std::uint32_t, Value> values;
    std::vector<std::unique_ptr<Entry>> children;

    [[nodiscard]] const Value *find(std::uint32_t attribute) const;
    [[nodiscard]] std::uint64_t number(std::uint32_t attribute, std::uint64_t otherwise = 0) const;
};

struct Sections {
    std::string_view info, abbreviations, strings;
};

/// The first unit's entry with all entries below it; null if there is none or it is damaged.
[[nodiscard]] std::unique_ptr<Entry> read_unit(const Sections &sections);

} // namespace softcuda::ir::dwarf
