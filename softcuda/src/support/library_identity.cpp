// library_identity.cpp -- finds the build-id among the notes of this code's own ELF image.
//
// The linker computes it of all that it links (--build-id), so two builds that differ anywhere have
// different ones, whatever their files' sizes and times; copies of one file have the same.

#include "support/library_identity.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <link.h>

namespace softcuda {
namespace {

std::string hexadecimal(const unsigned char *bytes, std::size_t count) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < count; i++) {
        text += kDigits[bytes[i] >> 4];
        text += kDigits[bytes[i] & 15];
    }
    return text;
}

/// A note is a header, its owner's name and its content, each as long as a multiple of 4 bytes.
std::string build_id_among(const char *notes, std::size_t bytes) {
    constexpr auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
    std::size_t at = 0;
    while (at + sizeof(ElfW(Nhdr)) <= bytes) {
        ElfW(Nhdr) header;
        std::memcpy(&header, notes + at, sizeof header);
        const std::size_t name = at + sizeof header;
        const std::size_t content = name + padded(header.n_namesz);
        if (content + header.n_descsz > bytes)
            break;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof ELF_NOTE_GNU &&
            std::memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
            return hexadecimal(reinterpret_cast<const unsigned char *>(notes + content),
                               header.n_descsz);
        at = content + padded(header.n_descsz);
    }
    return {};
}

struct Search {
    ElfW(Addr) inside; ///< an address of the image that is looked for
    std::string found;
};

bool contains(const dl_phdr_info &image, ElfW(Addr) address) {
    for (int i = 0; i < image.dlpi_phnum; i++) {
        const ElfW(Phdr) &part = image.dlpi_phdr[i];
        const ElfW(Addr) begin = image.dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && address >= begin && address - begin < part.p_memsz)
            return true;
    }
    return false;
}

int look_into(dl_phdr_info *image, std::size_t, void *search_pointer) {
    auto &search = *static_cast<Search *>(search_pointer);
    if (!contains(*image, search.inside))
        return 0;
    for (int i = 0; i < image->dlpi_phnum && search.found.empty(); i++) {
        const ElfW(Phdr) &part = image->dlpi_phdr[i];
        if (part.p_type == PT_NOTE)
            search.found = build_id_among(
                reinterpret_cast<const char *>(image->dlpi_addr + part.p_vaddr), part.p_memsz);
    }
    return 1; // no other image contains the address
}

} // namespace

std::string library_identity() {
    Search search{reinterpret_cast<ElfW(Addr)>(&library_identity), {}};
    dl_iterate_phdr(look_into, &search);
    return search.found;
}

} // namespace softcuda
