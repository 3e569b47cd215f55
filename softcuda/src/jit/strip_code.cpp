// strip_code.cpp -- copies an ELF object without its loaded sections.
#include "jit/strip_code.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace softcuda::jit {

namespace {

bool fits_in(std::span<const char> object, std::uint64_t offset, std::uint64_t bytes) {
    return offset <= object.size() && bytes <= object.size() - offset;
}

bool is_loaded(const Elf64_Shdr &section) { return (section.sh_flags & SHF_ALLOC) != 0; }

/// The section headers of an object; empty if it is damaged.
std::vector<Elf64_Shdr> sections_of(std::span<const char> object, const Elf64_Ehdr &header) {
    const std::uint64_t bytes = std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || !fits_in(object, header.e_shoff, bytes))
        return {};
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    std::memcpy(sections.data(), object.data() + header.e_shoff, bytes);
    for (const Elf64_Shdr &section : sections)
        if (section.sh_type != SHT_NOBITS && !fits_in(object, section.sh_offset, section.sh_size))
            return {};
    return sections;
}

void align(std::vector<char> &bytes, std::uint64_t to) {
    bytes.resize((bytes.size() + to - 1) / to * to);
}

} // namespace

std::vector<char> without_code(std::span<const char> object) {
    Elf64_Ehdr header{};
    if (object.size() >= sizeof header)
        std::memcpy(&header, object.data(), sizeof header);
    std::vector<Elf64_Shdr> sections = sections_of(object, header);
    if (sections.empty())
        return {object.begin(), object.end()};
    std::vector<char> stripped(object.begin(), object.begin() + sizeof header);
    for (Elf64_Shdr &section : sections) {
        if (is_loaded(section)) {
            section.sh_type = SHT_NOBITS;
        } else if (section.sh_type == SHT_RELA && section.sh_info < sections.size() &&
                   is_loaded(sections[section.sh_info])) {
            section.sh_size = 0;
        } else if (section.sh_type != SHT_NOBITS) {
            align(stripped, std::clamp<std::uint64_t>(section.sh_addralign, 1, 64));
            const char *content = object.data() + section.sh_offset;
            section.sh_offset = stripped.size();
            stripped.insert(stripped.end(), content, content + section.sh_size);
            continue;
        }
        section.sh_offset = sizeof header;
    }
    align(stripped, alignof(Elf64_Shdr));
    header.e_shoff = stripped.size();
    std::memcpy(stripped.data(), &header, sizeof header);
    const auto *begin = reinterpret_cast<const char *>(sections.data());
    stripped.insert(stripped.end(), begin, begin + sections.size() * sizeof(Elf64_Shdr));
    stripped.shrink_to_fit();
    return stripped;
}

} // namespace softcuda::jit
