// vector_facts.cpp -- the levels of x86-64: SSE4, AVX2, AVX-512.
#include "target/vector_facts.h"

namespace softcuda::target {

VectorFacts facts_of(const std::function<bool(const char *)> &has) {
    const bool avx512 = has("+avx512f") && has("+avx512bw") && has("+avx512dq") && has("+avx512vl");
    const bool avx2 = has("+avx2");
    VectorFacts facts;
    facts.register_bits = avx512 ? 512 : avx2 ? 256 : 128;
    facts.masks = avx512 ? Masks::All : avx2 ? Masks::Words : Masks::None;
    facts.fast_gather = avx512 && has("+fast-gather");
    facts.permutes_words = avx2;
    facts.permutes_two = avx512;
    facts.compresses = avx512;
    facts.fuses = has("+fma");
    facts.converts_half = has("+f16c");
    facts.computes_half = has("+avx512fp16");
    facts.estimates = avx512;
    facts.truncates_singles = true;
    facts.truncates_doubles = avx2;
    facts.converts_unsigned = avx512;
    facts.converts_long = avx512;
    facts.orders_memory = true;
    facts.takes_sign = avx2 && !avx512;
    return facts;
}

std::span<const Level> levels() {
    // LLVM splits AVX2's gathers into branches unless the feature for fast gathers is set.
    static constexpr Level kLevels[] = {
        {"native", "", "", ""},
        {"avx512", "x86-64-v4", "avx512vl", ""},       // F, BW, CD, DQ, VL
        {"avx2", "x86-64-v3", "avx2", "+fast-gather"}, // with FMA and F16C
        {"sse4", "x86-64-v2", "sse4.2", ""},
    };
    return kLevels;
}

} // namespace softcuda::target
