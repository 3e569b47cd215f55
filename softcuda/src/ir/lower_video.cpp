// lower_video.cpp -- the video instructions, in ordinary arithmetic.
//
//     vadd.s32.u32.s32.sat.add  d, a.b0, b.h1, c      one number: parts of a and b, in 64 bits
//     vadd4.u32.u32.u32.sat     d.b10, a.b7654, b, c  lane by lane: bytes of a and b, with d's
//                                                     other bytes from c
//
// No GPU of today has them; its compiler does the same as is done here.
#include "ir/lower_families.h"

#include <array>

namespace softcuda::ir {

namespace {

using ptx::Component;

class Video {
  public:
    Video(FunctionLowering &f, const ptx::Instruction &i) : f_(f), i_(i) {}
    void run();
    void run_lanes(unsigned lanes);

  private:
    Value *number(std::int64_t value) {
        return f_.constant(Type::I64, static_cast<std::uint64_t>(value));
    }
    Value *math(ir::Opcode opcode, Value *a, Value *b) {
        return f_.emit(opcode, Scalar::S64, {a, b});
    }
    Value *shift(ir::Opcode opcode, Value *a, unsigned amount) {
        return f_.emit(opcode, Scalar::S64, {a, f_.constant(Type::I32, amount)});
    }
    Value *clamp(Value *value, std::int64_t low, std::int64_t high) {
        return math(ir::Opcode::Min, math(ir::Opcode::Max, value, number(low)), number(high));
    }
    [[nodiscard]] bool is_set() const {
        return i_.opcode == ptx::Opcode::Vset || i_.opcode == ptx::Opcode::Vset2 ||
               i_.opcode == ptx::Opcode::Vset4;
    }
    /// vset has no type in its name.
    [[nodiscard]] bool is_signed_type(unsigned slot) const {
        if (is_set())
            return slot > 0 && i_.modifiers.types[slot - 1] == ptx::ScalarType::S32;
        return i_.modifiers.types[slot] == ptx::ScalarType::S32;
    }
    Value *bits_of(const ptx::Operand &operand);
    Value *field(Value *word, unsigned first, unsigned width, bool sign);
    Value *part(std::size_t operand, bool sign);
    Value *lane_part(std::size_t operand, unsigned lane, unsigned width, bool sign);
    Value *combined(Value *a, Value *b);
    Value *shifted(Value *a, Value *amount);
    Value *saturated(Value *value, unsigned width);
    Value *second(Value *value, Value *c);
    Value *merged(Value *value, Value *c);
    void write(Value *value) {
        f_.write(i_.operand(0), f_.builder().resize(value, Type::I32, false), Scalar::U32);
    }
    void multiply_add();

    FunctionLowering &f_;
    const ptx::Instruction &i_;
};

/// A register's 32 bits without the sign or part that the instruction asks for.
Value *Video::bits_of(const ptx::Operand &operand) {
    ptx::Operand plain = operand;
    plain.negated = false;
    if (plain.component >= Component::B0)
        plain.component = Component::None;
    return f_.builder().resize(f_.read(plain, Scalar::B32), Type::I64, false);
}

/// `width` bits from `first` on, extended to 64.
Value *Video::field(Value *word, unsigned first, unsigned width, bool sign) {
    Value *top = shift(ir::Opcode::Shl, word, 64 - first - width);
    return f_.emit(ir::Opcode::Shr, sign ? Scalar::S64 : Scalar::U64,
                   {top, f_.constant(Type::I32, 64 - width)});
}

Value *Video::part(std::size_t operand, bool sign) {
    const ptx::Operand &from = i_.operand(operand);
    Value *word = bits_of(from);
    switch (from.component) {
    case Component::B0:
    case Component::B1:
    case Component::B2:
    case Component::B3:
        return field(
            word,
            8 * (static_cast<unsigned>(from.component) - static_cast<unsigned>(Component::B0)), 8,
            sign);
    case Component::H0:
        return field(word, 0, 16, sign);
    case Component::H1:
        return field(word, 16, 16, sign);
    default:
        return field(word, 0, 32, sign);
    }
}

/// Lanes are chosen from a and b together: digits below the lane count mean a's.
Value *Video::lane_part(std::size_t operand, unsigned lane, unsigned width, bool sign) {
    const ptx::Operand &from = i_.operand(operand);
    const unsigned lanes = 32 / width;
    unsigned digit = lane + (operand == 2 ? lanes : 0);
    if (operand < 3 && from.lane_count != 0)
        digit = from.lanes >> (4 * lane) & 15;
    if (operand == 3)
        return field(bits_of(from), width * lane, width, sign);
    return field(bits_of(i_.operand(digit < lanes ? 1 : 2)), width * (digit % lanes), width, sign);
}

Value *Video::combined(Value *a, Value *b) {
    switch (i_.opcode) {
    case ptx::Opcode::Vadd:
    case ptx::Opcode::Vadd2:
    case ptx::Opcode::Vadd4:
        return math(ir::Opcode::Add, a, b);
    case ptx::Opcode::Vsub:
    case ptx::Opcode::Vsub2:
    case ptx::Opcode::Vsub4:
        return math(ir::Opcode::Sub, a, b);
    case ptx::Opcode::Vavrg2:
    case ptx::Opcode::Vavrg4: { // halves away from zero
        Value *sum = math(ir::Opcode::Add, a, b);
        Value *negative = f_.builder().compare(Compare::Lt, Scalar::S64, sum, number(0));
        Value *up = f_.builder().select(negative, number(0), number(1));
        return shift(ir::Opcode::Shr, math(ir::Opcode::Add, sum, up), 1);
    }
    case ptx::Opcode::Vabsdiff:
    case ptx::Opcode::Vabsdiff2:
    case ptx::Opcode::Vabsdiff4:
        return f_.emit(ir::Opcode::Abs, Scalar::S64, {math(ir::Opcode::Sub, a, b)});
    case ptx::Opcode::Vmin:
    case ptx::Opcode::Vmin2:
    case ptx::Opcode::Vmin4:
        return math(ir::Opcode::Min, a, b);
    case ptx::Opcode::Vmax:
    case ptx::Opcode::Vmax2:
    case ptx::Opcode::Vmax4:
        return math(ir::Opcode::Max, a, b);
    case ptx::Opcode::Vshl:
    case ptx::Opcode::Vshr:
        return shifted(a, b);
    default:
        break;
    }
    constexpr std::array kCompares{Compare::Eq, Compare::Ne, Compare::Lt,
                                   Compare::Le, Compare::Gt, Compare::Ge};
    const auto which = static_cast<std::size_t>(i_.modifiers.compare) - 1;
    Value *holds = f_.builder().compare(kCompares[which], Scalar::S64, a, b);
    return f_.builder().select(holds, number(1), number(0));
}

Value *Video::shifted(Value *a, Value *amount) {
    amount = i_.modifiers.overflow == ptx::Overflow::Wrap
                 ? f_.emit(ir::Opcode::And, Scalar::B64, {amount, number(31)})
                 : f_.emit(ir::Opcode::Min, Scalar::U64, {amount, number(32)});
    amount = f_.builder().resize(amount, Type::I32, false);
    return f_.emit(i_.opcode == ptx::Opcode::Vshl ? ir::Opcode::Shl : ir::Opcode::Shr, Scalar::S64,
                   {a, amount});
}

Value *Video::saturated(Value *value, unsigned width) {
    if (!i_.modifiers.sat)
        return value;
    std::int64_t most = (std::int64_t{1} << width) - 1;
    return is_signed_type(0) ? clamp(value, -(most >> 1) - 1, most >> 1) : clamp(value, 0, most);
}

/// .add, .min or .max with c, as 32-bit numbers of the result's type.
Value *Video::second(Value *value, Value *c) {
    bool sign = is_signed_type(0);
    switch (i_.modifiers.operation) {
    case ptx::Operation::Add:
        return math(ir::Opcode::Add, value, c);
    case ptx::Operation::Min:
        return math(ir::Opcode::Min, field(value, 0, 32, sign), field(c, 0, 32, sign));
    default:
        return math(ir::Opcode::Max, field(value, 0, 32, sign), field(c, 0, 32, sign));
    }
}

/// The result in its byte or half of c.
Value *Video::merged(Value *value, Value *c) {
    Component component = i_.operand(0).component;
    if (component < Component::B0)
        return value;
    bool half = component >= Component::H0;
    unsigned width = half ? 16 : 8;
    unsigned place = width * (static_cast<unsigned>(component) -
                              static_cast<unsigned>(half ? Component::H0 : Component::B0));
    Value *mask = number(((std::int64_t{1} << width) - 1) << place);
    Value *moved =
        f_.emit(ir::Opcode::And, Scalar::B64, {shift(ir::Opcode::Shl, value, place), mask});
    Value *rest =
        f_.emit(ir::Opcode::And, Scalar::B64, {c, f_.emit(ir::Opcode::Not, Scalar::B64, {mask})});
    return f_.emit(ir::Opcode::Or, Scalar::B64, {moved, rest});
}

void Video::multiply_add() {
    const bool negates_product = i_.operand(1).negated != i_.operand(2).negated;
    const bool negates_sum = i_.operand(3).negated;
    const bool sign = is_signed_type(1) || is_signed_type(2) || negates_product || negates_sum;
    Value *product = math(ir::Opcode::Mul, part(1, is_signed_type(1)), part(2, is_signed_type(2)));
    Value *c = field(bits_of(i_.operand(3)), 0, 32, sign);
    if (negates_product)
        product = math(ir::Opcode::Sub, number(0), product);
    if (negates_sum)
        c = math(ir::Opcode::Sub, number(0), c);
    Value *sum = math(ir::Opcode::Add, product, c);
    if (i_.modifiers.plus_one)
        sum = math(ir::Opcode::Add, sum, number(1));
    if (i_.modifiers.shr7 || i_.modifiers.shr15)
        sum = f_.emit(ir::Opcode::Shr, sign ? Scalar::S64 : Scalar::U64,
                      {sum, f_.constant(Type::I32, i_.modifiers.shr7 ? 7 : 15)});
    if (i_.modifiers.sat) {
        constexpr std::int64_t most = 0xffff'ffff;
        sum = sign ? clamp(sum, -(most >> 1) - 1, most >> 1)
                   : f_.emit(ir::Opcode::Min, Scalar::U64, {sum, number(most)});
    }
    write(sum);
}

void Video::run() {
    if (i_.opcode == ptx::Opcode::Vmad)
        return multiply_add();
    const bool shifts = i_.opcode == ptx::Opcode::Vshl || i_.opcode == ptx::Opcode::Vshr;
    Value *value = combined(part(1, is_signed_type(1)), part(2, !shifts && is_signed_type(2)));
    Component component = i_.operand(0).component;
    value = saturated(value, component >= Component::H0 ? 16 : component >= Component::B0 ? 8 : 32);
    if (i_.operands.size() > 3) {
        Value *c = bits_of(i_.operand(3));
        value =
            i_.modifiers.operation != ptx::Operation::None ? second(value, c) : merged(value, c);
    }
    write(value);
}

void Video::run_lanes(unsigned lanes) {
    const unsigned width = 32 / lanes;
    const ptx::Operand &destination = i_.operand(0);
    unsigned wanted = 0; // a bit for each lane in the mask; all bits without a mask
    for (unsigned n = 0; n < destination.lane_count; ++n)
        wanted |= 1u << (destination.lanes >> (4 * n) & 15);
    if (destination.component >= Component::B0 && destination.component <= Component::B3)
        wanted = 1u << (static_cast<unsigned>(destination.component) -
                        static_cast<unsigned>(Component::B0));
    if (destination.component == Component::H0 || destination.component == Component::H1)
        wanted = destination.component == Component::H0 ? 1 : 2;
    if (wanted == 0)
        wanted = (1u << lanes) - 1;
    const bool adds = i_.modifiers.operation == ptx::Operation::Add;
    Value *result = adds ? bits_of(i_.operand(3)) : number(0);
    for (unsigned lane = 0; lane < lanes; ++lane) {
        const bool named = wanted >> lane & 1;
        if (adds && !named)
            continue;
        Value *value = named ? saturated(combined(lane_part(1, lane, width, is_signed_type(1)),
                                                  lane_part(2, lane, width, is_signed_type(2))),
                                         width)
                             : lane_part(3, lane, width, false);
        if (!adds)
            value = shift(ir::Opcode::Shl, field(value, 0, width, false), width * lane);
        result = math(ir::Opcode::Add, result, value);
    }
    write(result);
}

} // namespace

void lower_video(FunctionLowering &f, const ptx::Instruction &i) { Video(f, i).run(); }
void lower_video_pairs(FunctionLowering &f, const ptx::Instruction &i) { Video(f, i).run_lanes(2); }
void lower_video_quads(FunctionLowering &f, const ptx::Instruction &i) { Video(f, i).run_lanes(4); }

} // namespace softcuda::ir
