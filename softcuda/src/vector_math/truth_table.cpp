// truth_table.cpp -- computes the shortest expression of each of the 256 functions, once.
//
// The functions of cost 0 are the operands and constants; those of cost n result from one more
// operation on two functions whose costs sum to n - 1. In order of cost, the first expression found
// for a function is a cheapest one (as a tree). No function needs more than six operations.
#include "vector_math/truth_table.h"

#include <array>
#include <vector>

namespace softcuda::vector_math {

namespace {

enum class Gate : std::uint8_t { None, Zero, Ones, A, B, C, Not, And, Or, Xor };

struct Formula {
    Gate gate = Gate::None;
    std::uint8_t x = 0, y = 0; ///< the operands' truth tables
};

class Formulas {
  public:
    Formulas() {
        costs_.resize(1);
        add(0x00, {Gate::Zero}, 0);
        add(0xff, {Gate::Ones}, 0);
        add(0xf0, {Gate::A}, 0);
        add(0xcc, {Gate::B}, 0);
        add(0xaa, {Gate::C}, 0);
        for (std::size_t cost = 1; known_ < 256; ++cost) {
            costs_.emplace_back();
            for (const std::uint8_t x : std::vector(costs_[cost - 1]))
                add(static_cast<std::uint8_t>(~x), {Gate::Not, x}, cost);
            for (std::size_t left = 0; left < cost; ++left)
                for (const std::uint8_t x : std::vector(costs_[left]))
                    for (const std::uint8_t y : std::vector(costs_[cost - 1 - left]))
                        combine(x, y, cost);
        }
    }
    const Formula &operator[](std::uint8_t table) const { return formulas_[table]; }

  private:
    void add(std::uint8_t table, Formula formula, std::size_t cost) {
        if (formulas_[table].gate != Gate::None)
            return;
        formulas_[table] = formula;
        costs_[cost].push_back(table);
        ++known_;
    }
    void combine(std::uint8_t x, std::uint8_t y, std::size_t cost) {
        add(x & y, {Gate::And, x, y}, cost);
        add(x | y, {Gate::Or, x, y}, cost);
        add(x ^ y, {Gate::Xor, x, y}, cost);
    }
    std::array<Formula, 256> formulas_;
    std::vector<std::vector<std::uint8_t>> costs_; ///< tables by cost
    int known_ = 0;
};

} // namespace

Value *emit_truth_table(Emitter &e, std::uint8_t table, Value *a, Value *b, Value *c) {
    static const Formulas formulas;
    const Formula &formula = formulas[table];
    const auto operand = [&](std::uint8_t part) { return emit_truth_table(e, part, a, b, c); };
    switch (formula.gate) {
    case Gate::Ones:
        return llvm::Constant::getAllOnesValue(a->getType());
    case Gate::A:
        return a;
    case Gate::B:
        return b;
    case Gate::C:
        return c;
    case Gate::Not:
        return e.ir.CreateNot(operand(formula.x));
    case Gate::And:
        return e.ir.CreateAnd(operand(formula.x), operand(formula.y));
    case Gate::Or:
        return e.ir.CreateOr(operand(formula.x), operand(formula.y));
    case Gate::Xor:
        return e.ir.CreateXor(operand(formula.x), operand(formula.y));
    case Gate::Zero:
    case Gate::None:
        break;
    }
    return llvm::Constant::getNullValue(a->getType());
}

} // namespace softcuda::vector_math
