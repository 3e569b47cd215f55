// types.h -- the enumerations of IR operations: types, spaces, modes.
#pragma once

#include <cstdint>
#include <string_view>

namespace softcuda::ir {

/// The class of a value: a register class. Signedness and half formats belong to operations.
enum class Type : std::uint8_t { I1, I8, I16, I32, I64, I128, F32, F64 };

/// Bits in a value of this class; I1 counts one.
[[nodiscard]] unsigned bits(Type type);
[[nodiscard]] bool is_float(Type type);

// clang-format off

/// The interpretation of operands by an operation: PTX's types.
enum class Scalar : std::uint8_t {
    None,
    Pred,
    U8, U16, U32, U64,
    S8, S16, S32, S64,
    B8, B16, B32, B64, B128,
    F16, F16x2, BF16, BF16x2, TF32, F32, F64,
    E4M3, E5M2, E4M3x2, E5M2x2, F32x2, U16x2, S16x2,
    U4, S4, U2, S2, B1, // elements of matrices, and what cvt.pack makes
};

// clang-format on

[[nodiscard]] unsigned bits(Scalar type);
[[nodiscard]] bool is_signed(Scalar type);   ///< S8..S64
[[nodiscard]] bool is_floating(Scalar type); ///< any floating format, packed ones included
/// The element of a packed type of arithmetic (F16 for F16x2); None for all other types.
[[nodiscard]] Scalar packed_element(Scalar type);
[[nodiscard]] Type register_class(Scalar type); ///< F32 -> F32, F16x2 -> I32, Pred -> I1, ...

/// The class of a special register: 64 bits for clock64, globaltimer, gridid and graph_exec,
/// else 32.
enum class Special : std::uint8_t;
[[nodiscard]] Type register_class(Special special);

// clang-format off

enum class Space : std::uint8_t { Generic, Global, Shared, Local, Constant, Param };
enum class Rounding : std::uint8_t { None, Nearest, Zero, Down, Up, NearestAway,
                                     IntNearest, IntZero, IntDown, IntUp };
enum class Precision : std::uint8_t { Exact, Approx, Full };
/// Float comparisons ending in U are true when an operand is NaN. Lo..Hs are the unsigned forms.
enum class Compare : std::uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class Test : std::uint8_t { Finite, Infinite, Number, NotNumber, Normal, Subnormal };
enum class AtomicOp : std::uint8_t { Add, Inc, Dec, Min, Max, And, Or, Xor, Exchange, CompareSwap,
                                     Arrive }; // of mbarrier
enum class ShuffleMode : std::uint8_t { Up, Down, Butterfly, Index };
enum class VoteMode : std::uint8_t { All, Any, Uniform, Ballot };
enum class MatchMode : std::uint8_t { Any, All };
enum class Order : std::uint8_t { Weak, Volatile, Relaxed, Acquire, Release, AcquireRelease, Sequential };
enum class Scope : std::uint8_t { Block, Cluster, Device, System };
enum class BarrierReduction : std::uint8_t { And, Or, Count };
enum class PrmtMode : std::uint8_t { Bytes, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };
enum class Special : std::uint8_t {
    None,
    TidX, TidY, TidZ, NtidX, NtidY, NtidZ, CtaidX, CtaidY, CtaidZ, NctaidX, NctaidY, NctaidZ,
    LaneId, WarpId, NwarpId, SmId, NsmId, GridId, GraphExec,
    LanemaskEq, LanemaskLe, LanemaskLt, LanemaskGe, LanemaskGt,
    Clock, ClockHi, Clock64, GlobalTimer, GlobalTimerLo, GlobalTimerHi,
    DynamicSharedSize, TotalSharedSize, ReservedSharedBegin, ReservedSharedEnd, ReservedSharedCap,
    ClusterNctaidX, ClusterNctaidY, ClusterNctaidZ, ExplicitCluster,
    EnvReg, ///< the number is in Attributes::immediate
};

// clang-format on

// The text of each word in the IR's text form, and the reverse; from_text returns false for an
// unknown word.
[[nodiscard]] std::string_view text(Type);
[[nodiscard]] std::string_view text(Scalar);
[[nodiscard]] std::string_view text(Space);
[[nodiscard]] std::string_view text(Rounding);
[[nodiscard]] std::string_view text(Precision);
[[nodiscard]] std::string_view text(Compare);
[[nodiscard]] std::string_view text(Test);
[[nodiscard]] std::string_view text(AtomicOp);
[[nodiscard]] std::string_view text(ShuffleMode);
[[nodiscard]] std::string_view text(VoteMode);
[[nodiscard]] std::string_view text(MatchMode);
[[nodiscard]] std::string_view text(Order);
[[nodiscard]] std::string_view text(Scope);
[[nodiscard]] std::string_view text(BarrierReduction);
[[nodiscard]] std::string_view text(PrmtMode);
[[nodiscard]] std::string_view text(Special);

[[nodiscard]] bool from_text(std::string_view word, Type &out);
[[nodiscard]] bool from_text(std::string_view word, Scalar &out);
[[nodiscard]] bool from_text(std::string_view word, Space &out);
[[nodiscard]] bool from_text(std::string_view word, Rounding &out);
[[nodiscard]] bool from_text(std::string_view word, Precision &out);
[[nodiscard]] bool from_text(std::string_view word, Compare &out);
[[nodiscard]] bool from_text(std::string_view word, Test &out);
[[nodiscard]] bool from_text(std::string_view word, AtomicOp &out);
[[nodiscard]] bool from_text(std::string_view word, ShuffleMode &out);
[[nodiscard]] bool from_text(std::string_view word, VoteMode &out);
[[nodiscard]] bool from_text(std::string_view word, MatchMode &out);
[[nodiscard]] bool from_text(std::string_view word, Order &out);
[[nodiscard]] bool from_text(std::string_view word, Scope &out);
[[nodiscard]] bool from_text(std::string_view word, BarrierReduction &out);
[[nodiscard]] bool from_text(std::string_view word, PrmtMode &out);
[[nodiscard]] bool from_text(std::string_view word, Special &out);

} // namespace softcuda::ir
