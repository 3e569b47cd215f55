// types.cpp -- the texts of the enumerators of types.h, and the sizes of types.
#include "ir/types.h"

#include <array>
#include <cstddef>

namespace softcuda::ir {

namespace {

constexpr std::array<std::string_view, 8> kTypes{"i1",  "i8",   "i16", "i32",
                                                 "i64", "i128", "f32", "f64"};

struct ScalarFacts {
    std::string_view name;
    unsigned bits;
    Type type;
    bool floating;
};

constexpr std::array<ScalarFacts, 34> kScalars{{
    {"none", 0, Type::I32, false},    {"pred", 1, Type::I1, false},
    {"u8", 8, Type::I8, false},       {"u16", 16, Type::I16, false},
    {"u32", 32, Type::I32, false},    {"u64", 64, Type::I64, false},
    {"s8", 8, Type::I8, false},       {"s16", 16, Type::I16, false},
    {"s32", 32, Type::I32, false},    {"s64", 64, Type::I64, false},
    {"b8", 8, Type::I8, false},       {"b16", 16, Type::I16, false},
    {"b32", 32, Type::I32, false},    {"b64", 64, Type::I64, false},
    {"b128", 128, Type::I128, false}, {"f16", 16, Type::I16, true},
    {"f16x2", 32, Type::I32, true},   {"bf16", 16, Type::I16, true},
    {"bf16x2", 32, Type::I32, true},  {"tf32", 32, Type::I32, true},
    {"f32", 32, Type::F32, true},     {"f64", 64, Type::F64, true},
    {"e4m3", 8, Type::I8, true},      {"e5m2", 8, Type::I8, true},
    {"e4m3x2", 16, Type::I16, true},  {"e5m2x2", 16, Type::I16, true},
    {"f32x2", 64, Type::I64, true},   {"u16x2", 32, Type::I32, false},
    {"s16x2", 32, Type::I32, false},  {"u4", 4, Type::I32, false},
    {"s4", 4, Type::I32, false},      {"u2", 2, Type::I32, false},
    {"s2", 2, Type::I32, false},      {"b1", 1, Type::I32, false},
}};
static_assert(static_cast<std::size_t>(Scalar::B1) == 33);

constexpr std::array<std::string_view, 6> kSpaces{"generic", "global", "shared",
                                                  "local",   "const",  "param"};
constexpr std::array<std::string_view, 10> kRoundings{"none", "rn",  "rz",  "rm",  "rp",
                                                      "rna",  "rni", "rzi", "rmi", "rpi"};
constexpr std::array<std::string_view, 3> kPrecisions{"exact", "approx", "full"};
constexpr std::array<std::string_view, 14> kCompares{
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
constexpr std::array<std::string_view, 6> kTests{"finite",     "infinite", "number",
                                                 "notanumber", "normal",   "subnormal"};
constexpr std::array<std::string_view, 11> kAtomics{"add", "inc", "dec",  "min", "max",   "and",
                                                    "or",  "xor", "exch", "cas", "arrive"};
constexpr std::array<std::string_view, 4> kShuffles{"up", "down", "bfly", "idx"};
constexpr std::array<std::string_view, 4> kVotes{"all", "any", "uni", "ballot"};
constexpr std::array<std::string_view, 2> kMatches{"any", "all"};
constexpr std::array<std::string_view, 7> kOrders{"weak",    "volatile", "relaxed", "acquire",
                                                  "release", "acq_rel",  "sc"};
constexpr std::array<std::string_view, 4> kScopes{"cta", "cluster", "gpu", "sys"};
constexpr std::array<std::string_view, 3> kReductions{"and", "or", "popc"};
constexpr std::array<std::string_view, 7> kPrmtModes{"bytes", "f4e", "b4e", "rc8",
                                                     "ecl",   "ecr", "rc16"};
constexpr std::array<std::string_view, 41> kSpecials{"none",
                                                     "tid.x",
                                                     "tid.y",
                                                     "tid.z",
                                                     "ntid.x",
                                                     "ntid.y",
                                                     "ntid.z",
                                                     "ctaid.x",
                                                     "ctaid.y",
                                                     "ctaid.z",
                                                     "nctaid.x",
                                                     "nctaid.y",
                                                     "nctaid.z",
                                                     "laneid",
                                                     "warpid",
                                                     "nwarpid",
                                                     "smid",
                                                     "nsmid",
                                                     "gridid",
                                                     "graph_exec",
                                                     "lanemask_eq",
                                                     "lanemask_le",
                                                     "lanemask_lt",
                                                     "lanemask_ge",
                                                     "lanemask_gt",
                                                     "clock",
                                                     "clock_hi",
                                                     "clock64",
                                                     "globaltimer",
                                                     "globaltimer_lo",
                                                     "globaltimer_hi",
                                                     "dynamic_smem_size",
                                                     "total_smem_size",
                                                     "reserved_smem_offset_begin",
                                                     "reserved_smem_offset_end",
                                                     "reserved_smem_offset_cap",
                                                     "cluster_nctaid.x",
                                                     "cluster_nctaid.y",
                                                     "cluster_nctaid.z",
                                                     "is_explicit_cluster",
                                                     "envreg"};
static_assert(static_cast<std::size_t>(Special::EnvReg) == kSpecials.size() - 1);

template <typename Enum, std::size_t N>
std::string_view word(const std::array<std::string_view, N> &table, Enum value) {
    return table[static_cast<std::size_t>(value)];
}

template <typename Enum, std::size_t N>
bool find(const std::array<std::string_view, N> &table, std::string_view word, Enum &out) {
    for (std::size_t i = 0; i < N; i++) {
        if (table[i] == word) {
            out = static_cast<Enum>(i);
            return true;
        }
    }
    return false;
}

const ScalarFacts &facts(Scalar type) { return kScalars[static_cast<std::size_t>(type)]; }

} // namespace

unsigned bits(Type type) {
    constexpr std::array<unsigned, 8> kBits{1, 8, 16, 32, 64, 128, 32, 64};
    return kBits[static_cast<std::size_t>(type)];
}

bool is_float(Type type) { return type == Type::F32 || type == Type::F64; }

unsigned bits(Scalar type) { return facts(type).bits; }
bool is_signed(Scalar type) {
    return (type >= Scalar::S8 && type <= Scalar::S64) || type == Scalar::S4 || type == Scalar::S2;
}
bool is_floating(Scalar type) { return facts(type).floating; }
Scalar packed_element(Scalar type) {
    switch (type) {
    case Scalar::F16x2:
        return Scalar::F16;
    case Scalar::BF16x2:
        return Scalar::BF16;
    case Scalar::F32x2:
        return Scalar::F32;
    case Scalar::U16x2:
        return Scalar::U16;
    case Scalar::S16x2:
        return Scalar::S16;
    default:
        return Scalar::None;
    }
}

Type register_class(Scalar type) { return facts(type).type; }

Type register_class(Special special) {
    switch (special) {
    case Special::Clock64:
    case Special::GlobalTimer:
    case Special::GridId:
    case Special::GraphExec:
        return Type::I64;
    default:
        return Type::I32;
    }
}

std::string_view text(Type v) { return word(kTypes, v); }
std::string_view text(Scalar v) { return facts(v).name; }
std::string_view text(Space v) { return word(kSpaces, v); }
std::string_view text(Rounding v) { return word(kRoundings, v); }
std::string_view text(Precision v) { return word(kPrecisions, v); }
std::string_view text(Compare v) { return word(kCompares, v); }
std::string_view text(Test v) { return word(kTests, v); }
std::string_view text(AtomicOp v) { return word(kAtomics, v); }
std::string_view text(ShuffleMode v) { return word(kShuffles, v); }
std::string_view text(VoteMode v) { return word(kVotes, v); }
std::string_view text(MatchMode v) { return word(kMatches, v); }
std::string_view text(Order v) { return word(kOrders, v); }
std::string_view text(Scope v) { return word(kScopes, v); }
std::string_view text(BarrierReduction v) { return word(kReductions, v); }
std::string_view text(PrmtMode v) { return word(kPrmtModes, v); }
std::string_view text(Special v) { return word(kSpecials, v); }

bool from_text(std::string_view w, Type &out) { return find(kTypes, w, out); }
bool from_text(std::string_view w, Scalar &out) {
    for (std::size_t i = 0; i < kScalars.size(); i++) {
        if (kScalars[i].name == w) {
            out = static_cast<Scalar>(i);
            return true;
        }
    }
    return false;
}
bool from_text(std::string_view w, Space &out) { return find(kSpaces, w, out); }
bool from_text(std::string_view w, Rounding &out) { return find(kRoundings, w, out); }
bool from_text(std::string_view w, Precision &out) { return find(kPrecisions, w, out); }
bool from_text(std::string_view w, Compare &out) { return find(kCompares, w, out); }
bool from_text(std::string_view w, Test &out) { return find(kTests, w, out); }
bool from_text(std::string_view w, AtomicOp &out) { return find(kAtomics, w, out); }
bool from_text(std::string_view w, ShuffleMode &out) { return find(kShuffles, w, out); }
bool from_text(std::string_view w, VoteMode &out) { return find(kVotes, w, out); }
bool from_text(std::string_view w, MatchMode &out) { return find(kMatches, w, out); }
bool from_text(std::string_view w, Order &out) { return find(kOrders, w, out); }
bool from_text(std::string_view w, Scope &out) { return find(kScopes, w, out); }
bool from_text(std::string_view w, BarrierReduction &out) { return find(kReductions, w, out); }
bool from_text(std::string_view w, PrmtMode &out) { return find(kPrmtModes, w, out); }
bool from_text(std::string_view w, Special &out) { return find(kSpecials, w, out); }

} // namespace softcuda::ir
