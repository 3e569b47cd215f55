// debugger.cpp -- the list that debuggers read, and its ELF files with final addresses.
#include "jit/debugger.h"

#include <cstring>
#include <elf.h>
#include <mutex>
#include <vector>

// The names and layouts are those of "JIT Compilation Interface" in gdb's manual.
extern "C" {

enum : std::uint32_t { JIT_NOACTION = 0, JIT_REGISTER_FN, JIT_UNREGISTER_FN };

struct jit_code_entry {
    jit_code_entry *next_entry;
    jit_code_entry *prev_entry;
    const char *symfile_addr;
    std::uint64_t symfile_size;
};

struct jit_descriptor {
    std::uint32_t version;
    std::uint32_t action_flag;
    jit_code_entry *relevant_entry;
    jit_code_entry *first_entry;
};

// A debugger sets a breakpoint here.
[[gnu::noinline, gnu::used, gnu::visibility("default")]] void __jit_debug_register_code() {
    asm volatile("" ::: "memory");
}

[[gnu::used, gnu::visibility("default")]] jit_descriptor __jit_debug_descriptor = {
    1, JIT_NOACTION, nullptr, nullptr};
}

namespace softcuda::jit {

namespace {

// Never destroyed, because code may be unloaded while the process ends.
std::mutex &list_mutex() {
    static auto *const mutex = new std::mutex;
    return *mutex;
}

void announce(std::uint32_t action, jit_code_entry &entry) {
    __jit_debug_descriptor.relevant_entry = &entry;
    __jit_debug_descriptor.action_flag = action;
    __jit_debug_register_code();
    __jit_debug_descriptor.action_flag = JIT_NOACTION;
    __jit_debug_descriptor.relevant_entry = nullptr;
}

void add(jit_code_entry &entry) {
    std::lock_guard lock(list_mutex());
    entry.next_entry = __jit_debug_descriptor.first_entry;
    if (entry.next_entry)
        entry.next_entry->prev_entry = &entry;
    __jit_debug_descriptor.first_entry = &entry;
    announce(JIT_REGISTER_FN, entry);
}

void remove(jit_code_entry &entry) {
    std::lock_guard lock(list_mutex());
    if (entry.prev_entry)
        entry.prev_entry->next_entry = entry.next_entry;
    else
        __jit_debug_descriptor.first_entry = entry.next_entry;
    if (entry.next_entry)
        entry.next_entry->prev_entry = entry.prev_entry;
    announce(JIT_UNREGISTER_FN, entry);
}

/// Reads a struct of the file at `offset`; false if the file is too short.
template <typename Record>
bool read(const std::vector<char> &file, std::uint64_t offset, Record &record) {
    if (offset > file.size() || sizeof record > file.size() - offset)
        return false;
    std::memcpy(&record, file.data() + offset, sizeof record);
    return true;
}

std::string name_at(const std::vector<char> &file, std::uint64_t offset) {
    std::string name;
    for (; offset < file.size() && file[offset] != '\0'; ++offset)
        name += file[offset];
    return name;
}

/// Writes the addresses to the section headers. False if the file is damaged.
bool place_sections(std::vector<char> &file, const std::map<std::string, std::uint64_t> &sections) {
    Elf64_Ehdr header{};
    Elf64_Shdr names{};
    if (!read(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_shentsize != sizeof(Elf64_Shdr) ||
        !read(file, header.e_shoff + std::uint64_t{header.e_shstrndx} * sizeof names, names))
        return false;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        const std::uint64_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
        Elf64_Shdr section{};
        if (!read(file, at, section))
            return false;
        const auto loaded = sections.find(name_at(file, names.sh_offset + section.sh_name));
        if (loaded == sections.end() || (section.sh_flags & SHF_ALLOC) == 0)
            continue;
        section.sh_addr = loaded->second;
        std::memcpy(file.data() + at, &section, sizeof section);
    }
    return true;
}

} // namespace

struct DebuggerEntry::File {
    std::vector<char> bytes;
    jit_code_entry entry{};

    ~File() { remove(entry); }
};

DebuggerEntry::DebuggerEntry() = default;

DebuggerEntry::DebuggerEntry(std::span<const char> object,
                             const std::map<std::string, std::uint64_t> &sections) {
    std::vector<char> bytes(object.begin(), object.end());
    if (!place_sections(bytes, sections))
        return;
    auto *file = new File{std::move(bytes)};
    file->entry.symfile_addr = file->bytes.data();
    file->entry.symfile_size = file->bytes.size();
    add(file->entry);
    file_.reset(file);
}

DebuggerEntry::~DebuggerEntry() = default;
DebuggerEntry::DebuggerEntry(DebuggerEntry &&) noexcept = default;
DebuggerEntry &DebuggerEntry::operator=(DebuggerEntry &&) noexcept = default;

} // namespace softcuda::jit
