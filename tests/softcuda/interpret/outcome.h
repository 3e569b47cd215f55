// outcome.h -- the ways in which a run of the interpreters can stop early.
#pragma once

#include "ir/ir.h"
#include "ir/print.h"

#include <stdexcept>
#include <string>

namespace softcuda::interpret {

/// Why a run stopped.
enum class Stop {
    Refused, ///< the interpreter does not support an operation of the program
    Faulted, ///< the program did something that ends a launch
    Wrong,   ///< a claim of a plan is wrong
};

/// Thrown inside the interpreters; run_threads() and run_warps() catch it.
class Stopped : public std::runtime_error {
  public:
    Stopped(Stop kind, const std::string &what) : std::runtime_error(what), kind_(kind) {}
    [[nodiscard]] Stop kind() const { return kind_; }

  private:
    Stop kind_;
};

[[noreturn]] inline void refuse(const std::string &what) { throw Stopped(Stop::Refused, what); }
[[noreturn]] inline void refuse(const ir::Instruction &i, const std::string &why = {}) {
    std::string name(ir::info(i.opcode).name);
    if (i.attributes.type != ir::Scalar::None)
        name += "." + std::string(ir::text(i.attributes.type));
    refuse("the operation " + name + (why.empty() ? "" : ", " + why));
}
[[noreturn]] inline void fault(const ir::Instruction &i, const std::string &what) {
    throw Stopped(Stop::Faulted,
                  "basic block " + i.block->name + ": " + ir::to_text(i) + ": " + what);
}

/// The result of a run: empty if it ran to the end.
struct Outcome {
    enum class Kind { Ran, Refused, Faulted, Wrong } kind = Kind::Ran;
    std::string what;
    static Outcome of(const Stopped &stopped) {
        constexpr Kind kinds[] = {Kind::Refused, Kind::Faulted, Kind::Wrong};
        return {kinds[static_cast<int>(stopped.kind())], stopped.what()};
    }
};

} // namespace softcuda::interpret
