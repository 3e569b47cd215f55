// object_file.cpp -- walks the headers of archives and of ELF objects.
//
//     archive    "!<arch>\n"  header, content  header, content ...     each at an even offset
//     header     name 16, date 12, owner 6, group 6, mode 8, size 10 digits, "`\n"
//                name "/": a table of symbols; "//": a table of long names; "/12": that at byte 12
//     object     ELF; sections .nv_fatbin and, with -rdc=true, __nv_relfatbin: fat binaries, one
//                after the other
#include "image/object_file.h"

#include "image/fat_binary.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string_view>

namespace softcuda::image {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kArchiveMagic = "!<arch>\n";
constexpr std::size_t kMemberHeader = 60;
constexpr std::array<std::string_view, 2> kSections = {".nv_fatbin", "__nv_relfatbin"};
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;
constexpr std::size_t kFatBinaryHeader = 16;

std::string_view text(Bytes bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

std::string_view trimmed(std::string_view field) {
    const std::size_t end = field.find_last_not_of(' ');
    return end == std::string_view::npos ? std::string_view() : field.substr(0, end + 1);
}

std::size_t decimal(std::string_view field) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size())
        throw FormatError("the archive has a size or an offset that is not a number");
    return value;
}

/// A part of a file. Throws FormatError if the file ends earlier.
Bytes part(Bytes file, std::uint64_t begin, std::uint64_t bytes) {
    if (begin > file.size() || bytes > file.size() - begin)
        throw FormatError("the file is truncated");
    return file.subspan(begin, bytes);
}

template <class T> T read(Bytes file, std::uint64_t at) {
    T value;
    std::memcpy(&value, part(file, at, sizeof value).data(), sizeof value);
    return value;
}

/// GNU's names end with a slash, or give their offset in the table of long names.
std::string member_name(std::string_view field, std::string_view long_names) {
    if (field.size() > 1 && field.front() == '/') {
        const std::size_t begin = decimal(field.substr(1));
        if (begin >= long_names.size())
            throw FormatError(
                "the archive has the offset of a name beyond the end of its table of names");
        field = long_names.substr(begin, long_names.find('\n', begin) - begin);
    }
    if (!field.empty() && field.back() == '/')
        field.remove_suffix(1);
    return std::string(field);
}

void split(Bytes section, std::vector<Bytes> &found) {
    std::size_t at = 0;
    while (at + kFatBinaryHeader <= section.size()) {
        if (read<std::uint32_t>(section, at) != kFatBinaryMagic) {
            at += 8; // padding
            continue;
        }
        const std::uint64_t size = size_of_fat_binary(section.subspan(at, kFatBinaryHeader));
        found.push_back(part(section, at, size));
        at += (size + 7) / 8 * 8;
    }
}

} // namespace

bool is_archive(Bytes file) noexcept { return text(file).starts_with(kArchiveMagic); }

std::vector<ArchiveMember> members_of(Bytes archive) {
    if (!is_archive(archive))
        throw FormatError("the file is not an archive: expected !<arch> at its start");
    std::vector<ArchiveMember> members;
    std::string_view long_names;
    for (std::size_t at = kArchiveMagic.size(); at < archive.size();) {
        const std::string_view header = text(part(archive, at, kMemberHeader));
        const std::string_view field = trimmed(header.substr(0, 16));
        const Bytes content =
            part(archive, at + kMemberHeader, decimal(trimmed(header.substr(48, 10))));
        at += kMemberHeader + (content.size() + 1) / 2 * 2;
        if (field == "//")
            long_names = text(content);
        else if (field != "/" && field != "/SYM64/")
            members.push_back({member_name(field, long_names), content});
    }
    return members;
}

std::vector<Bytes> fat_binaries_in(Bytes object) {
    const auto header = read<Elf64_Ehdr>(object, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        throw FormatError("the file is not a 64-bit ELF object");
    if (header.e_shnum == 0)
        return {};
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum)
        throw FormatError("the ELF object's table of sections is damaged");
    const auto section = [&](std::size_t index) {
        return read<Elf64_Shdr>(object, header.e_shoff + index * sizeof(Elf64_Shdr));
    };
    const Elf64_Shdr names = section(header.e_shstrndx);
    const std::string_view all_names = text(part(object, names.sh_offset, names.sh_size));
    std::vector<Bytes> found;
    for (std::size_t index = 0; index < header.e_shnum; index++) {
        const Elf64_Shdr here = section(index);
        if (here.sh_name >= all_names.size() || here.sh_type == SHT_NOBITS)
            continue;
        const std::string_view rest = all_names.substr(here.sh_name);
        const std::string_view name = rest.substr(0, rest.find('\0'));
        for (const std::string_view wanted : kSections)
            if (name == wanted)
                split(part(object, here.sh_offset, here.sh_size), found);
    }
    return found;
}

} // namespace softcuda::image
