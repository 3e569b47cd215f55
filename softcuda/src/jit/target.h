// target.h -- the processor for which kernels are compiled, and its features.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class Function;
class Module;
class TargetMachine;
} // namespace llvm

namespace softcuda::jit {

/// A processor: this machine's, or a level of its architecture that it supports. Immutable, so any
/// number of threads may share one.
class Target {
  public:
    enum class Isa {
        Native, ///< all features of this machine
        Avx512, ///< x86-64-v4: AVX-512 F, BW, CD, DQ, VL
        Avx2,   ///< x86-64-v3: AVX2, FMA, F16C
        Sse4,   ///< x86-64-v2: SSE4.2
    };

    /// Throws std::runtime_error if this machine does not support `isa`.
    explicit Target(Isa isa = Isa::Native);
    /// From SOFTCUDA_ISA = native | avx512 | avx2 | sse4; throws std::runtime_error for other
    /// values.
    static Target from_environment();

    /// A new code generator of LLVM; code_generator.h keeps those that are not in use.
    [[nodiscard]] std::unique_ptr<llvm::TargetMachine> make_machine() const;
    /// Sets the triple and data layout of a module.
    void apply(llvm::Module &module) const;
    /// Sets the processor, its features and the vector width as attributes of a function.
    void apply(llvm::Function &function) const;

    /// All values here on which generated code depends: processor, features, LLVM's version.
    [[nodiscard]] const std::string &key() const { return key_; }
    [[nodiscard]] Isa isa() const { return isa_; }

    /// The same processor, for a process with narrow windows (rt/windows.h).
    [[nodiscard]] Target with_narrow_windows() const;
    [[nodiscard]] bool has_narrow_windows() const { return narrow_windows_; }

    /// The same processor, for code that a debugger shows: without optimisation, so that lines
    /// are in order and variables are on the stack.
    [[nodiscard]] Target for_debugging() const;
    [[nodiscard]] bool is_for_debugging() const { return debugging_; }

    /// The same processor, for a function that is too large to be optimised: with instruction
    /// selection and register allocation in a time about linear in its size.
    [[nodiscard]] Target without_optimisation() const;

    [[nodiscard]] bool is_x86_64() const { return triple_.starts_with("x86_64"); }
    [[nodiscard]] bool has_avx512() const { return avx512_; } ///< F, BW, DQ and VL together
    [[nodiscard]] bool has_avx2() const { return avx2_; }
    [[nodiscard]] bool has_fma() const { return fma_; }
    [[nodiscard]] bool has_f16c() const { return f16c_; }
    [[nodiscard]] bool has_fp16() const { return fp16_; } ///< AVX512-FP16
    /// AVX-512, and a gather takes less time than a load for each lane.
    [[nodiscard]] bool has_fast_gather() const { return fast_gather_; }
    /// Bits of the widest vector register.
    [[nodiscard]] unsigned vector_bits() const { return avx512_ ? 512 : avx2_ ? 256 : 128; }

  private:
    Isa isa_;
    std::string triple_, cpu_, features_, data_layout_, key_;
    bool avx512_ = false, avx2_ = false, fma_ = false, f16c_ = false, fp16_ = false,
         fast_gather_ = false;
    bool narrow_windows_ = false, debugging_ = false, optimising_ = true;
};

} // namespace softcuda::jit
