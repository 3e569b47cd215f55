// target.h -- the processor that kernels are compiled for, and what it can do.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class Function;
class Module;
class TargetMachine;
} // namespace llvm

namespace softcuda::jit {

/// A processor: this machine's, or a level of its architecture that it can run. Immutable, so any
/// number of threads may share one.
class Target {
  public:
    enum class Isa {
        Native, ///< all that this machine has
        Avx512, ///< x86-64-v4: AVX-512 F, BW, CD, DQ, VL
        Avx2,   ///< x86-64-v3: AVX2, FMA, F16C
        Sse4,   ///< x86-64-v2: SSE4.2
    };

    /// Throws std::runtime_error where this machine cannot run `isa`.
    explicit Target(Isa isa = Isa::Native);
    /// From SOFTCUDA_ISA = native | avx512 | avx2 | sse4; throws std::runtime_error for other
    /// words.
    static Target from_environment();

    /// This thread's code generator for the target. It is made once (parsing a processor's features
    /// takes a millisecond) and lives as long as the thread.
    [[nodiscard]] llvm::TargetMachine &machine() const;
    /// Gives a module the triple and data layout that its code will be made for.
    void apply(llvm::Module &module) const;
    /// Gives a function the processor, its features and the vector width as attributes.
    void apply(llvm::Function &function) const;

    /// Names everything that generated code depends on here: processor, features, LLVM's version.
    [[nodiscard]] const std::string &key() const { return key_; }
    [[nodiscard]] Isa isa() const { return isa_; }

    /// The same processor, for a process with narrow windows (rt/windows.h).
    [[nodiscard]] Target with_narrow_windows() const;
    [[nodiscard]] bool has_narrow_windows() const { return narrow_windows_; }

    /// The same processor, for code that a debugger shows: nothing is optimised, so that lines
    /// come in order and variables stay on the stack.
    [[nodiscard]] Target for_debugging() const;
    [[nodiscard]] bool is_for_debugging() const { return debugging_; }

    [[nodiscard]] bool is_x86_64() const { return triple_.starts_with("x86_64"); }
    [[nodiscard]] bool has_avx512() const { return avx512_; } ///< F, BW, DQ and VL together
    [[nodiscard]] bool has_avx2() const { return avx2_; }
    [[nodiscard]] bool has_fma() const { return fma_; }
    [[nodiscard]] bool has_f16c() const { return f16c_; }
    [[nodiscard]] bool has_fp16() const { return fp16_; } ///< AVX512-FP16
    /// Bits of the widest vector register.
    [[nodiscard]] unsigned vector_bits() const { return avx512_ ? 512 : avx2_ ? 256 : 128; }

  private:
    [[nodiscard]] std::unique_ptr<llvm::TargetMachine> make_machine() const;

    Isa isa_;
    std::string triple_, cpu_, features_, data_layout_, key_;
    bool avx512_ = false, avx2_ = false, fma_ = false, f16c_ = false, fp16_ = false;
    bool narrow_windows_ = false, debugging_ = false;
};

} // namespace softcuda::jit
