// elementwise_logic.cpp -- reference results of bit operations, bit by bit as in the PTX manual.
#include "elementwise_cases.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace test {

namespace {

Type class_of(unsigned bits) {
    return bits == 1 ? Type::I1 : bits == 16 ? Type::I16 : bits == 32 ? Type::I32 : Type::I64;
}

Bits mask_of(unsigned bits) { return ~Bits{0} >> (64 - bits); }

struct Logic {
    std::vector<Case> cases;

    Case &add(Opcode opcode, Scalar type, std::vector<Type> operands, Type result,
              std::function<Bits(Inputs)> compute) {
        Case c{opcode, {}, std::move(operands), {result}, {}};
        c.attributes.type = type;
        const Bits mask = mask_of(softcuda::ir::bits(result));
        c.reference = [=](Inputs in, Bits *out) { out[0] = compute(in) & mask; };
        cases.push_back(std::move(c));
        return cases.back();
    }
};

bool bit(Bits value, unsigned i) { return value >> i & 1; }

bool sign_of(Bits value, unsigned width) { return bit(value, width - 1); }

void add_logic(Logic &t, Scalar type) {
    const Type c = class_of(softcuda::ir::bits(type));
    t.add(Opcode::And, type, {c, c}, c, [](Inputs x) { return x[0] & x[1]; });
    t.add(Opcode::Or, type, {c, c}, c, [](Inputs x) { return x[0] | x[1]; });
    t.add(Opcode::Xor, type, {c, c}, c, [](Inputs x) { return x[0] ^ x[1]; });
    t.add(Opcode::Not, type, {c}, c, [](Inputs x) { return ~x[0]; });
}

void add_shifts(Logic &t, Scalar type) {
    const unsigned width = softcuda::ir::bits(type);
    const Type c = class_of(width);
    const bool is_signed = softcuda::ir::is_signed(type);
    t.add(Opcode::Shl, type, {c, Type::I32}, c,
          [=](Inputs x) { return x[1] >= width ? 0 : x[0] << x[1]; });
    const auto right = [=](Inputs x) {
        const Bits fill = is_signed && sign_of(x[0], width) ? ~mask_of(width) : 0;
        const auto value = static_cast<std::int64_t>((x[0] & mask_of(width)) | fill);
        const Bits amount = std::min<Bits>(x[1], 63);
        if (is_signed)
            return static_cast<Bits>(value >> amount);
        return x[1] >= width ? 0 : static_cast<Bits>(value) >> amount;
    };
    t.add(Opcode::Shr, type, {c, Type::I32}, c, right);
    t.add(Opcode::Shr, type, {c, Type::I32}, c, right).constants[1] = 5;
    t.add(Opcode::Shr, type, {c, Type::I32}, c, right).constants[1] = 77;
}

void add_funnels(Logic &t) {
    const std::vector<Type> three(3, Type::I32);
    for (const bool wrap : {false, true}) {
        const auto amount = [=](Bits c) { return wrap ? c & 31 : std::min<Bits>(c, 32); };
        const auto both = [](Inputs x) { return (x[1] & 0xffffffff) << 32 | (x[0] & 0xffffffff); };
        t.add(Opcode::FunnelLeft, Scalar::B32, three, Type::I32, [=](Inputs x) {
             return both(x) << amount(x[2]) >> 32;
         }).attributes.wrap = wrap;
        t.add(Opcode::FunnelRight, Scalar::B32, three, Type::I32, [=](Inputs x) {
             return both(x) >> amount(x[2]);
         }).attributes.wrap = wrap;
    }
}

/// `numbers`: the kind of positions and lengths.
void add_fields(Logic &t, Scalar type, Scalar numbers) {
    const unsigned width = softcuda::ir::bits(type), top = width - 1;
    const Type c = class_of(width);
    const auto number = [=](Bits x) { // as on an H200
        x &= 0xffffffff;
        return static_cast<unsigned>(width == 32 ? x & 255 : std::min<Bits>(x, 255));
    };
    t.add(Opcode::Bfe, type, {c, Type::I32, Type::I32}, c, [=](Inputs x) {
         const unsigned position = number(x[1]), length = number(x[2]);
         const bool fill = softcuda::ir::is_signed(type) && length != 0 &&
                           bit(x[0], std::min(position + length - 1, top));
         Bits result = 0;
         for (unsigned i = 0; i <= top; ++i)
             result |= Bits{i < length && position + i <= top ? bit(x[0], position + i) : fill}
                       << i;
         return result;
     }).kinds = {type, numbers, numbers};
    t.add(Opcode::Bfi, type, {c, c, Type::I32, Type::I32}, c, [=](Inputs x) {
         const unsigned position = number(x[2]), length = number(x[3]);
         Bits result = x[1];
         for (unsigned i = 0; i < length && position + i <= top; ++i) {
             result &= ~(Bits{1} << (position + i));
             result |= Bits{bit(x[0], i)} << (position + i);
         }
         return result;
     }).kinds = {type, type, numbers, numbers};
}

void add_masks(Logic &t) {
    for (const bool wrap : {false, true}) {
        const auto cut = [=](Bits x) { return wrap ? x & 31 : std::min<Bits>(x, 32); };
        Case &mask =
            t.add(Opcode::Bmsk, Scalar::B32, {Type::I32, Type::I32}, Type::I32, [=](Inputs x) {
                Bits result = 0;
                for (Bits i = cut(x[0]); i < cut(x[0]) + cut(x[1]) && i < 32; ++i)
                    result |= Bits{1} << i;
                return result;
            });
        mask.attributes.wrap = wrap;
        mask.kinds = {Scalar::U8, Scalar::U8};
        for (const Scalar type : {Scalar::U32, Scalar::S32}) {
            Case &extend =
                t.add(Opcode::Szext, type, {Type::I32, Type::I32}, Type::I32, [=](Inputs x) {
                    const unsigned length = static_cast<unsigned>(cut(x[1]));
                    if (length == 0)
                        return Bits{0};
                    const Bits low = x[0] & mask_of(length);
                    const bool negative = softcuda::ir::is_signed(type) && bit(low, length - 1);
                    return negative ? low | ~mask_of(length) : low;
                });
            extend.attributes.wrap = wrap;
            extend.kinds = {Scalar::U32, Scalar::U8};
        }
    }
}

void add_counts(Logic &t, Scalar type) {
    const unsigned width = softcuda::ir::bits(type);
    const Type c = class_of(width);
    t.add(Opcode::Popc, type, {c}, Type::I32,
          [=](Inputs x) { return static_cast<Bits>(std::popcount(x[0] & mask_of(width))); });
    t.add(Opcode::Clz, type, {c}, Type::I32, [=](Inputs x) {
        return static_cast<Bits>(std::countl_zero(x[0] & mask_of(width))) - (64 - width);
    });
    t.add(Opcode::Brev, type, {c}, c, [=](Inputs x) {
        Bits result = 0;
        for (unsigned i = 0; i < width; ++i)
            result |= Bits{bit(x[0], i)} << (width - 1 - i);
        return result;
    });
}

void add_find(Logic &t, Scalar type) {
    const unsigned width = softcuda::ir::bits(type);
    for (const bool shift_amount : {false, true})
        t.add(Opcode::Bfind, type, {class_of(width)}, Type::I32, [=](Inputs x) {
             const Bits value =
                 softcuda::ir::is_signed(type) && sign_of(x[0], width) ? ~x[0] : x[0];
             for (unsigned i = width; i-- > 0;)
                 if (bit(value, i))
                     return static_cast<Bits>(shift_amount ? width - 1 - i : i);
             return ~Bits{0};
         }).attributes.shift_amount = shift_amount;
}

void add_nth_set(Logic &t) {
    Case &c =
        t.add(Opcode::Fns, Scalar::B32, std::vector<Type>(3, Type::I32), Type::I32, [](Inputs x) {
            const auto n = static_cast<std::int32_t>(x[2]);
            auto position = static_cast<std::int64_t>(x[1] & 31);
            if (n == std::numeric_limits<std::int32_t>::min())
                return Bits{0}; // as an H200 has it
            if (n == 0)
                return bit(x[0], position & 31) ? static_cast<Bits>(position) : ~Bits{0};
            std::int64_t count = n < 0 ? -std::int64_t{n} : n;
            for (; position >= 0 && position < 32; position += n > 0 ? 1 : -1)
                if (bit(x[0], static_cast<unsigned>(position)) && --count == 0)
                    return static_cast<Bits>(position);
            return ~Bits{0};
        });
    // Bases above 31 are undefined.
    const auto reference = c.reference;
    c.accept = [](Inputs in, Bits, Bits) { return (in[1] & 0xffffffff) > 31; };
    c.kinds = {Scalar::U32, Scalar::U8, Scalar::S32};
}

void add_permutations(Logic &t) {
    using softcuda::ir::PrmtMode;
    static constexpr unsigned tables[7][4][4] = {
        {},
        {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}, // lowest byte first
        {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
        {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
        {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
        {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
        {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}};
    for (unsigned mode = 0; mode < 7; ++mode) {
        const auto permute = [=](Inputs x) {
            const Bits both = (x[1] & 0xffffffff) << 32 | (x[0] & 0xffffffff);
            Bits result = 0;
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned nibble = x[2] >> (4 * i) & 15;
                const unsigned from = mode == 0 ? nibble & 7 : tables[mode][x[2] & 3][i];
                Bits byte = both >> (8 * from) & 255;
                if (mode == 0 && nibble & 8)
                    byte = byte & 128 ? 255 : 0;
                result |= byte << (8 * i);
            }
            return result;
        };
        const auto add = [&]() -> Case & {
            Case &c = t.add(Opcode::Prmt, Scalar::B32, std::vector<Type>(3, Type::I32), Type::I32,
                            permute);
            c.attributes.prmt = static_cast<PrmtMode>(mode);
            return c;
        };
        add();
        for (const Bits selector : {0x3210u, 0x0123u, 0x7531u, 0x4440u, 0x9d3fu, 0x2u})
            add().constants[2] = selector;
    }
}

void add_truth_tables(Logic &t) {
    for (unsigned table = 0; table < 256; table += table < 16 ? 1 : 7)
        t.add(Opcode::Lop3, Scalar::B32, std::vector<Type>(3, Type::I32), Type::I32, [=](Inputs x) {
             Bits result = 0;
             for (unsigned i = 0; i < 32; ++i) {
                 const unsigned row = bit(x[0], i) * 4 + bit(x[1], i) * 2 + bit(x[2], i);
                 result |= Bits{bit(table, row)} << i;
             }
             return result;
         }).attributes.immediate = table;
}

void add_comparisons(Logic &t, Scalar type) {
    using softcuda::ir::Compare;
    const unsigned width = softcuda::ir::bits(type);
    for (unsigned i = 0; i < 6; ++i)
        t.add(Opcode::Compare, type, {class_of(width), class_of(width)}, Type::I1, [=](Inputs x) {
             const unsigned up = 64 - width;
             const bool is_signed = softcuda::ir::is_signed(type);
             const Bits a = x[0] << up, b = x[1] << up;
             const bool less =
                 is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
             const bool results[] = {a == b, a != b, less, less || a == b, !less && a != b, !less};
             return Bits{results[i]};
         }).attributes.compare = static_cast<Compare>(i);
}

void add_moves(Logic &t) {
    t.add(Opcode::Select, Scalar::B32, {Type::I1, Type::I32, Type::I32}, Type::I32,
          [](Inputs x) { return x[0] ? x[1] : x[2]; });
    t.add(Opcode::Pack, Scalar::B64, {Type::I32, Type::I32}, Type::I64,
          [](Inputs x) { return (x[1] & 0xffffffff) << 32 | (x[0] & 0xffffffff); });
    t.add(Opcode::Pack, Scalar::B32, std::vector<Type>(4, Type::I8), Type::I32, [](Inputs x) {
        return (x[3] & 255) << 24 | (x[2] & 255) << 16 | (x[1] & 255) << 8 | (x[0] & 255);
    });
    t.add(Opcode::Pack, Scalar::F64, {Type::I32, Type::F32}, Type::F64,
          [](Inputs x) { return (x[1] & 0xffffffff) << 32 | (x[0] & 0xffffffff); });
    Case &unpack = t.add(Opcode::Unpack, Scalar::B16, {Type::I64}, Type::I16, {});
    unpack.results.assign(4, Type::I16);
    unpack.reference = [](Inputs x, Bits *out) {
        for (unsigned i = 0; i < 4; ++i)
            out[i] = x[0] >> (16 * i) & 0xffff;
    };
    t.add(Opcode::Bitcast, Scalar::B32, {Type::F32}, Type::I32, [](Inputs x) { return x[0]; });
    t.add(Opcode::And, Scalar::B32, {Type::F32, Type::I32}, Type::I32,
          [](Inputs x) { return x[0] & x[1]; });
}

} // namespace

std::vector<Case> logic_cases() {
    Logic t;
    for (const Scalar type : {Scalar::Pred, Scalar::B16, Scalar::B32, Scalar::B64})
        add_logic(t, type);
    for (const Scalar type :
         {Scalar::B16, Scalar::S16, Scalar::B32, Scalar::S32, Scalar::B64, Scalar::S64})
        add_shifts(t, type);
    add_funnels(t);
    for (const Scalar type : {Scalar::U32, Scalar::S32, Scalar::U64, Scalar::S64}) {
        add_fields(t, type, Scalar::U8);
        add_fields(t, type, Scalar::U32);
        add_find(t, type);
    }
    add_masks(t);
    add_counts(t, Scalar::B32);
    add_counts(t, Scalar::B64);
    add_nth_set(t);
    add_permutations(t);
    add_truth_tables(t);
    for (const Scalar type :
         {Scalar::U16, Scalar::S16, Scalar::U32, Scalar::S32, Scalar::U64, Scalar::S64})
        add_comparisons(t, type);
    add_moves(t);
    return t.cases;
}

} // namespace test
