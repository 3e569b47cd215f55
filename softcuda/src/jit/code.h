// code.h -- machine code in memory, ready to be called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::jit {

/// A function that generated code may call by name.
struct RuntimeFunction {
    std::string_view name;
    void *address;
};

/// A loaded object file. Owns its memory: the code is gone when this dies, so it must outlive every
/// call into it. Different objects may be loaded and freed in different threads at once.
class Code {
  public:
    /// Links `object` (relocatable ELF) against `functions`, and a few of the C library's that LLVM
    /// may call of its own accord (memcpy, fmaf, ...). Throws std::runtime_error for a damaged
    /// object or a name in neither.
    Code(std::span<const char> object, std::span<const RuntimeFunction> functions);
    ~Code();
    Code(Code &&) noexcept;
    Code &operator=(Code &&) noexcept;

    /// A global symbol's address, or null where the object does not define it.
    [[nodiscard]] void *find(std::string_view name) const;
    template <typename Function> [[nodiscard]] Function find_as(std::string_view name) const {
        return reinterpret_cast<Function>(find(name));
    }

    /// All executable memory of the object: a program counter in here is in generated code.
    [[nodiscard]] std::span<const std::byte> range() const;

    struct Function {
        std::string name;
        std::uint64_t address = 0, bytes = 0;
    };
    /// The functions in the object, local ones too.
    [[nodiscard]] const std::vector<Function> &functions() const;

    /// Where each section of the object with code or data lies, by its name.
    [[nodiscard]] const std::map<std::string, std::uint64_t> &sections() const;

    /// The address of the section .text, which line tables count from.
    [[nodiscard]] std::uint64_t text() const;

    /// Lets no other code be loaded to these addresses, not even when this one is gone. For
    /// debuggers: gdb 13 takes a breakpoint in unloaded code for inserted, so that it would not
    /// stop in new code at that address.
    void keep_addresses();

  private:
    struct Loaded;
    class Context;
    std::unique_ptr<Loaded> loaded_;
};

} // namespace softcuda::jit
