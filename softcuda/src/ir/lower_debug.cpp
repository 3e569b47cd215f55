// lower_debug.cpp -- DebugValue operations: the values of variables of the source.
//
// Debug data say in which register a variable is, between two places of the text:
//
//     $L__tmp5 .. $L__tmp8    v is in %f1
//     $L__tmp8 .. $L__tmp9    v is in %f2
//
// A DebugValue is emitted at the start of such a range, and after each statement in the range that
// sets the register. So the variable has the value that the lane has set last, even if lanes took
// different paths.
#include "ir/lower_function.h"

namespace softcuda::ir {

void FunctionLowering::find_debug_registers() {
    if (!function_.debug)
        return;
    std::map<std::string, std::uint32_t, std::less<>> registers;
    for (std::size_t i = 0; i < top_.registers.size(); ++i)
        registers.emplace(top_.registers[i].name(), frame_->registers[i]);
    const std::vector<DebugVariable> &variables = function_.debug->variables;
    for (std::uint32_t v = 0; v < variables.size(); ++v)
        for (const DebugPlace &place : variables[v].places) {
            const auto found = registers.find(place.name);
            if (place.kind != DebugPlace::Kind::Register || found == registers.end())
                continue;
            const DebugRegister made{v, place.begin, place.end};
            debug_registers_.emplace(found->second, made);
            debug_starts_.emplace(place.begin, std::pair(found->second, made));
        }
}

void FunctionLowering::emit_debug_values(std::size_t statement) {
    const auto at = static_cast<std::uint32_t>(statement);
    if (open()) {
        const auto [first, last] = debug_starts_.equal_range(at);
        for (auto start = first; start != last && at != 0; ++start)
            emit_debug_value(start->second.second.variable, start->second.first);
        for (std::uint32_t variable : written_) {
            const auto [begin, end] = debug_registers_.equal_range(variable);
            for (auto place = begin; place != end; ++place)
                if (place->second.begin <= at && at < place->second.end)
                    emit_debug_value(place->second.variable, variable);
        }
    }
    written_.clear();
}

void FunctionLowering::emit_debug_value(std::uint32_t variable, std::uint32_t register_variable) {
    Attributes a;
    a.symbol = variable;
    builder_.append(Opcode::DebugValue, a,
                    std::vector<Value *>{ssa_.read(register_variable, builder_.block())});
}

} // namespace softcuda::ir
