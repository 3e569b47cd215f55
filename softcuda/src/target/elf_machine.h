// elf_machine.h -- the processor's number in ELF files.
#pragma once

#include <cstdint>
#include <elf.h>

namespace softcuda::target {

#if defined(__x86_64__)
inline constexpr std::uint32_t elf_machine = EM_X86_64;
#elif defined(__aarch64__)
inline constexpr std::uint32_t elf_machine = EM_AARCH64;
#else
#error "this processor has no folder in target/"
#endif

} // namespace softcuda::target
