// check_call.cpp -- checks a call against the signature of the callee.
#include "ptx/check_call.h"

namespace softcuda::ptx {

namespace {

using Result = std::optional<Mismatch>;

/// The types of a callee's declaration.
struct Signature {
    std::string name;
    const std::vector<Variable> *returns;
    const std::vector<Variable> *parameters;
};

class CallChecker {
  public:
    CallChecker(const Module &module, const Function &function)
        : module_(module), function_(function) {}

    Result check(const Instruction &call) const {
        const Operand &callee = call.operand(1);
        const Operand &prototype = call.operand(3);
        if (callee.is(OperandKind::Symbol) && callee.symbol.kind == SymbolKind::Function) {
            const Function &target = module_.functions[callee.symbol.index];
            if (target.is_entry())
                return Mismatch{callee.location, "`" + std::string(target.name) +
                                                     "` is a kernel, which cannot be called"};
            return check_lists(
                call, {"`" + std::string(target.name) + "`", &target.returns, &target.parameters});
        }
        if (!callee.is(OperandKind::Register))
            return Mismatch{callee.location, "expected a function or a register with its address"};
        unsigned bits = bits_of(function_.registers[callee.index].type);
        if (bits != 32 && bits != 64)
            return Mismatch{callee.location,
                            "the address of a function must have 32 or 64 bits, not " +
                                std::to_string(bits)};
        return check_indirect(call, prototype);
    }

  private:
    Result check_indirect(const Instruction &call, const Operand &prototype) const {
        if (prototype.is(OperandKind::Prototype)) {
            const CallPrototype &type = function_.prototypes[prototype.index];
            return check_lists(call, {"the prototype", &type.returns, &type.parameters});
        }
        if (prototype.is(OperandKind::CallTargets))
            return std::nullopt;
        return Mismatch{
            call.operand(1).location,
            "an indirect call needs a .callprototype or .calltargets as its last operand"};
    }

    Result check_lists(const Instruction &call, const Signature &signature) const {
        if (Result wrong =
                check_list(call.operand(0), *signature.returns, signature.name, "result"))
            return wrong;
        return check_list(call.operand(2), *signature.parameters, signature.name, "argument");
    }

    Result check_list(const Operand &list, const std::vector<Variable> &declared,
                      const std::string &name, const std::string &what) const {
        if (list.elements.size() != declared.size())
            return Mismatch{list.location, name + " has " + std::to_string(declared.size()) + " " +
                                               what + (declared.size() == 1 ? "" : "s") + ", got " +
                                               std::to_string(list.elements.size())};
        for (std::size_t i = 0; i < declared.size(); ++i)
            if (Result wrong = check_value(list.elements[i], declared[i])) {
                wrong->message =
                    what + " " + std::to_string(i + 1) + " of " + name + ": " + wrong->message;
                return wrong;
            }
        return std::nullopt;
    }

    /// A vector of registers for a vector register.
    Result check_vector(const Operand &given, const Variable &declared, unsigned count) const {
        const std::size_t got = given.is(OperandKind::Vector) ? given.elements.size() : 1;
        if (got != count)
            return Mismatch{given.location, "expected " + std::to_string(count) + " element" +
                                                (count == 1 ? "" : "s") + ", got " +
                                                std::to_string(got)};
        for (const Operand &element : given.elements)
            if (Result wrong = check_register(element, declared))
                return wrong;
        return std::nullopt;
    }

    Result check_value(const Operand &given, const Variable &declared) const {
        const unsigned count = declared.space == Space::Reg ? declared.vector : 1;
        if (given.is(OperandKind::Vector) || count > 1)
            return check_vector(given, declared, count);
        const Variable *variable = module_.variable(function_, given.symbol);
        if (given.is(OperandKind::Symbol) && variable != nullptr &&
            variable->space == Space::Param) {
            if (!declared.is_open() && variable->bytes() != declared.bytes())
                return Mismatch{given.location, "`" + std::string(variable->name) + "` has " +
                                                    std::to_string(variable->bytes()) +
                                                    " bytes, expected " +
                                                    std::to_string(declared.bytes())};
            return std::nullopt;
        }
        return check_register(given, declared);
    }

    /// Of a register or an address: its type. A number fits each type.
    Result check_register(const Operand &given, const Variable &declared) const {
        if (given.is(OperandKind::Register) || given.is(OperandKind::Symbol)) {
            ScalarType type = given.is(OperandKind::Symbol) ? ScalarType::B64
                                                            : function_.registers[given.index].type;
            bool packed = !declared.dimensions.empty();
            if (packed || !register_fits(type, declared.type, false))
                return Mismatch{given.location,
                                "." + std::string(name_of(type)) + " does not fit the declared ." +
                                    std::string(name_of(declared.type)) + (packed ? " array" : "")};
        }
        return std::nullopt;
    }

    const Module &module_;
    const Function &function_;
};

} // namespace

std::optional<Mismatch> check_call(const Module &module, const Function &function,
                                   const Instruction &call) {
    return CallChecker(module, function).check(call);
}

} // namespace softcuda::ptx
