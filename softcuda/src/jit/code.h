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

template <typename Function> void *address_of(Function *function) {
    return reinterpret_cast<void *>(function);
}

/// A loaded object file. Owns its memory, so it must outlive every call into the code. Different
/// objects may be loaded and freed in different threads at the same time.
class Code {
  public:
    /// Links `object` (relocatable ELF) with `functions`, and with some functions of the C library
    /// that LLVM may call by itself (memcpy, fmaf, ...). Throws std::runtime_error for a damaged
    /// object or an undefined name.
    Code(std::span<const char> object, std::span<const RuntimeFunction> functions);
    ~Code();
    Code(Code &&) noexcept;
    Code &operator=(Code &&) noexcept;

    /// The address of a global symbol, or null if the object does not define it.
    [[nodiscard]] void *find(std::string_view name) const;
    template <typename Function> [[nodiscard]] Function find_as(std::string_view name) const {
        return reinterpret_cast<Function>(find(name));
    }

    /// All executable memory of the object. A program counter in this range is in generated code.
    [[nodiscard]] std::span<const std::byte> range() const;

    struct Function {
        std::string name;
        std::uint64_t address = 0, bytes = 0;
    };
    /// The functions of the object, including local ones.
    [[nodiscard]] const std::vector<Function> &functions() const;

    /// The address of each section with code or data, by its name.
    [[nodiscard]] const std::map<std::string, std::uint64_t> &sections() const;

    /// The address of the section .text, to which line tables are relative.
    [[nodiscard]] std::uint64_t text() const;

    /// Prevents that other code is loaded to these addresses, even after this object is destroyed.
    /// For debuggers: gdb 13 assumes that a breakpoint in unloaded code is still inserted, and
    /// would not stop in new code at that address.
    void keep_addresses();

  private:
    struct Loaded;
    class Context;
    std::unique_ptr<Loaded> loaded_;
};

} // namespace softcuda::jit
