// debugger.h -- registers objects with a debugger, by gdb's interface for code made at run time.
//
// The debugger stops at __jit_debug_register_code(), and reads a list of ELF files in memory that
// begins at __jit_debug_descriptor. LLDB reads this list, too.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace softcuda::jit {

/// An object that debuggers know as long as this exists. Any thread may use it.
class DebuggerEntry {
  public:
    /// An empty entry.
    DebuggerEntry();
    /// Copies `object` (relocatable ELF), whose sections were loaded at these addresses. The entry
    /// is empty if the object is damaged.
    DebuggerEntry(std::span<const char> object,
                  const std::map<std::string, std::uint64_t> &sections);
    ~DebuggerEntry();
    DebuggerEntry(DebuggerEntry &&) noexcept;
    DebuggerEntry &operator=(DebuggerEntry &&) noexcept;

    [[nodiscard]] bool is_registered() const { return file_ != nullptr; }

  private:
    struct File;
    std::unique_ptr<File> file_;
};

} // namespace softcuda::jit
