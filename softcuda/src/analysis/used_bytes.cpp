// used_bytes.cpp -- goes from results to operands, until nothing changes.
#include "analysis/used_bytes.h"

#include <algorithm>

namespace softcuda::analysis {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Value;

constexpr unsigned kBits = 8;
constexpr std::uint32_t kAll = 0xffff;

unsigned bytes_of(ir::Type type) { return std::max(1u, ir::bits(type) / kBits); }

std::uint32_t first_bytes(unsigned count) { return kAll >> (16 - std::min(16u, count)); }

/// The bytes in which a constant has a bit.
std::uint32_t bytes_with_bits(std::uint64_t constant) {
    std::uint32_t bytes = 0;
    for (unsigned byte = 0; byte < sizeof constant; ++byte)
        if (constant >> (kBits * byte) & 0xff)
            bytes |= 1u << byte;
    return bytes;
}

class ByteSearch {
  public:
    explicit ByteSearch(const ir::Function &function)
        : function_(function), used_(function.value_count(), 0) {}

    std::vector<std::uint16_t> run() {
        do {
            changed_ = false;
            for (auto block = function_.blocks.rbegin(); block != function_.blocks.rend(); ++block)
                for (auto i = (*block)->instructions.rbegin(); i != (*block)->instructions.rend();
                     ++i)
                    look_at(**i);
        } while (changed_);
        return std::move(used_);
    }

  private:
    void use(const Value *value, std::uint32_t bytes) {
        std::uint16_t &known = used_[value->id];
        const std::uint32_t own = first_bytes(bytes_of(value->type));
        const auto all = static_cast<std::uint16_t>(known | (bytes & own));
        changed_ |= all != known;
        known = all;
    }

    [[nodiscard]] std::uint32_t of(const Value *value) const { return used_[value->id]; }

    void use_all(const Instruction &i, std::size_t first = 0) {
        for (std::size_t n = first; n < i.operands.size(); ++n)
            use(i.operand(n), kAll);
    }

    void look_at(const Instruction &i) {
        switch (i.opcode) {
        case Opcode::Store:
            return use(i.operand(0), kAll);
        case Opcode::DebugValue:
            return;
        case Opcode::Phi:
        case Opcode::Bitcast:
            for (const Value *operand : i.operands)
                use(operand, of(i.result()));
            return;
        case Opcode::Shuffle:
            use(i.operand(0), of(i.result()));
            return use_all(i, 1);
        case Opcode::Select:
            use(i.operand(0), kAll);
            use(i.operand(1), of(i.result()));
            return use(i.operand(2), of(i.result()));
        case Opcode::Unpack:
            for (std::size_t n = 0; n < i.results.size(); ++n)
                use(i.operand(0), of(i.result(n)) << n * bytes_of(i.result(n)->type));
            return;
        case Opcode::Pack:
            for (std::size_t n = 0; n < i.operands.size(); ++n) {
                const unsigned bytes = bytes_of(i.operand(n)->type);
                use(i.operand(n), of(i.result()) >> n * bytes & first_bytes(bytes));
            }
            return;
        case Opcode::And:
            return use_masked(i);
        case Opcode::Shl:
        case Opcode::Shr:
            return use_shifted(i);
        case Opcode::Convert:
            return use_converted(i);
        default:
            return use_all(i);
        }
    }

    void use_masked(const Instruction &i) {
        for (std::size_t n = 0; n < 2; ++n) {
            const Value *mask = i.operand(1 - n);
            use(i.operand(n), mask->constant ? of(i.result()) & bytes_with_bits(mask->bits) : kAll);
        }
    }

    // A sign that is shifted in is the last byte's.
    void use_shifted(const Instruction &i) {
        const Value *amount = i.operand(1);
        const bool sign = i.is(Opcode::Shr) && ir::is_signed(i.attributes.type);
        if (!amount->constant || amount->bits % kBits != 0 || sign)
            return use_all(i);
        const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(amount->bits / kBits, 16));
        use(i.operand(0), i.is(Opcode::Shl) ? of(i.result()) >> bytes : of(i.result()) << bytes);
    }

    // An integer's missing bytes are zeros, or copies of its sign.
    void use_converted(const Instruction &i) {
        const unsigned bytes = std::max(1u, ir::bits(i.attributes.source_type) / kBits);
        const bool plain = !ir::is_floating(i.attributes.type) &&
                           !ir::is_floating(i.attributes.source_type) && !i.attributes.saturate;
        const std::uint32_t low = of(i.result()) & first_bytes(bytes);
        const bool beyond =
            (of(i.result()) & ~first_bytes(bytes) & first_bytes(bytes_of(i.result()->type))) != 0;
        const bool sign = ir::is_signed(i.attributes.source_type) && beyond;
        use(i.operand(0), !plain ? first_bytes(bytes) : sign ? low | 1u << (bytes - 1) : low);
    }

    const ir::Function &function_;
    std::vector<std::uint16_t> used_;
    bool changed_ = false;
};

} // namespace

std::vector<std::uint16_t> find_used_bytes(const ir::Function &function) {
    return ByteSearch(function).run();
}

} // namespace softcuda::analysis
