// clean_up.cpp -- the passes that every function goes through after it has been lowered.
#include "ir/clean_up.h"

namespace softcuda::ir {

void clean_up(Function &function) {
    fold(function);
    simplify_flow(function);
    propagate_spaces(function);
    fold(function);
    fold_addresses(function);
    eliminate_dead_code(function);
    promote_locals(function);
    fold(function);
    simplify_flow(function);
    fold(function);
    shuffle_floats(function);
    eliminate_dead_code(function);
    lay_out_locals(function);
    canonicalize_loops(function);
    function.renumber_values();
    function.registers = estimate_registers(function);
}

} // namespace softcuda::ir
