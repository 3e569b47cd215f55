// vector_facts.cpp -- NEON, which every 64-bit ARM has.
//
// SVE is switched off: its registers have a length that is known at run time only, and code here
// has fixed lengths. Arithmetic of f16 (FEAT_FP16) is not used either: its results would have to be
// compared with those of float on a machine first.
#include "target/vector_facts.h"

namespace softcuda::target {

VectorFacts facts_of(const std::function<bool(const char *)> &) {
    VectorFacts facts;
    facts.permutes_words = true; // tbl
    facts.fuses = true;
    facts.converts_half = true;
    facts.saturates = true;
    facts.converts_unsigned = true;
    facts.quiets_min_max = true; // fminnm
    facts.positive_nan = true;
    return facts;
}

std::span<const Level> levels() {
    static constexpr Level kLevels[] = {
        {"native", "", "", "-sve,-sve2,-sme"},
        {"lse", "generic", "lse", "+lse"}, // atomic operations in one instruction
        {"neon", "generic", "", ""},
    };
    return kLevels;
}

} // namespace softcuda::target
