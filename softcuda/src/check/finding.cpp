// finding.cpp -- the list of findings, as text and as JSON.
#include "check/finding.h"

#include "check/suppression.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <unistd.h>

namespace softcuda::check {
namespace {

constexpr const char *kKinds[] = {"read-after-write",
                                  "write-after-read",
                                  "write-after-write",
                                  "atomic-and-plain",
                                  "out-of-bounds",
                                  "use-after-free",
                                  "misaligned",
                                  "null",
                                  "double-free",
                                  "invalid-free",
                                  "leak",
                                  "uninitialized",
                                  "divergent-barrier",
                                  "wrong-mask",
                                  "missing-syncwarp"};

struct List {
    std::mutex mutex;
    std::vector<Finding> findings; ///< in the order in which they were found
    std::map<std::string, std::size_t> places;
    std::vector<std::string> notes; ///< in the order in which they were added
    pid_t process = 0;              ///< that reports; 0: none yet
    void (*last_look)() = nullptr;
};

List &list() { // never destroyed: threads may end after main()
    static auto *const list = new List;
    return *list;
}

std::string place(const FoundAccess &access) {
    return access.file.empty() ? "an unknown line"
                               : access.file + ":" + std::to_string(access.line);
}

std::string key_of(const Finding &finding) {
    // The order of a read and a write may differ from run to run.
    const Kind kind = finding.kind == Kind::WriteAfterRead ? Kind::ReadAfterWrite : finding.kind;
    std::string key = std::string(name(finding.mode)) + ' ' + name(kind) + ' ' + finding.kernel +
                      ' ' + finding.space + ' ';
    std::vector<std::string> places;
    for (const FoundAccess &access : finding.accesses)
        places.push_back(place(access) + ' ' + access.what + ' ');
    std::sort(places.begin(), places.end()); // whichever came first
    for (const std::string &text : places)
        key += text;
    return finding.accesses.empty() ? key + finding.detail : key;
}

std::string triple(const std::array<std::uint32_t, 3> &of) {
    return "(" + std::to_string(of[0]) + "," + std::to_string(of[1]) + "," + std::to_string(of[2]) +
           ")";
}

std::string text_of(const Finding &finding) {
    std::string text = std::string(name(finding.mode)) + ": " + name(finding.kind);
    if (!finding.space.empty())
        text += " in " + finding.space + " memory";
    if (!finding.kernel.empty())
        text += ", kernel `" + finding.kernel + "`";
    if (finding.count > 1)
        text += ", " + std::to_string(finding.count) + " times";
    text += '\n';
    for (const FoundAccess &access : finding.accesses) {
        text += "    " + (access.by_command ? "" : place(access) + ": ") + access.what;
        if (access.bytes != 0)
            text +=
                " of " + std::to_string(access.bytes) + (access.bytes == 1 ? " byte" : " bytes");
        if (access.by_command)
            text += " in another stream";
        else
            text += " by thread " + triple(access.thread) + " of block " + triple(access.block);
        if (!access.kernel.empty())
            text += " of kernel `" + access.kernel + "`";
        text += '\n';
    }
    if (!finding.array.empty())
        text += "    to " + finding.array + '\n';
    if (!finding.detail.empty())
        text += "    " + finding.detail + '\n';
    return text;
}

std::string quoted(const std::string &text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", c);
            result += code;
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string json_of(const std::array<std::uint32_t, 3> &of) {
    return "[" + std::to_string(of[0]) + ", " + std::to_string(of[1]) + ", " +
           std::to_string(of[2]) + "]";
}

std::string json_of(const FoundAccess &access) {
    return R"({"what": )" + quoted(access.what) + R"(, "file": )" + quoted(access.file) +
           R"(, "line": )" + std::to_string(access.line) + R"(, "block": )" +
           json_of(access.block) + R"(, "thread": )" + json_of(access.thread) + R"(, "bytes": )" +
           std::to_string(access.bytes) + R"(, "kernel": )" + quoted(access.kernel) +
           R"(, "by_command": )" + (access.by_command ? "true}" : "false}");
}

std::string json_of(const Finding &finding, std::size_t number) {
    std::string accesses;
    for (const FoundAccess &access : finding.accesses)
        accesses += (accesses.empty() ? "" : ", ") + json_of(access);
    return R"({"number": )" + std::to_string(number) + R"(, "mode": )" +
           quoted(std::string(name(finding.mode))) + R"(, "kind": )" + quoted(name(finding.kind)) +
           R"(, "kernel": )" + quoted(finding.kernel) + R"(, "count": )" +
           std::to_string(finding.count) + R"(, "space": )" + quoted(finding.space) +
           R"(, "array": )" + quoted(finding.array) + R"(, "text": )" + quoted(text_of(finding)) +
           R"(, "accesses": [)" + accesses + "]}";
}

std::vector<std::string> notes() {
    List &all = list();
    std::lock_guard lock(all.mutex);
    return all.notes;
}

/// The file of this process: `%p` in the name is the process id.
std::string json_path() {
    const char *given = std::getenv("SOFTCUDA_CHECK_JSON");
    std::string path = given ? given : "";
    if (const std::size_t at = path.find("%p"); at != std::string::npos)
        path.replace(at, 2, std::to_string(getpid()));
    return path;
}

/// With JSON, the caller prints the findings itself. A forked child has no driver; its findings are
/// those of its parent.
void report() {
    if (getpid() != list().process)
        return;
    list().last_look();
    const std::string path = json_path(), text = to_text();
    if (path.empty() && !text.empty())
        std::fprintf(stderr, "softcuda: the checks found\n%s", text.c_str());
    if (path.empty())
        for (const std::string &note : notes())
            std::fprintf(stderr, "softcuda: note: %s\n", note.c_str());
    if (path.empty())
        return;
    std::ofstream file(path);
    file << to_json() << '\n';
    if (!file.flush())
        std::fprintf(stderr, "softcuda: SOFTCUDA_CHECK_JSON: cannot write %s\n", path.c_str());
}

} // namespace

const char *name(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

void add(const Finding &finding) {
    if (is_suppressed(finding))
        return;
    List &all = list();
    const std::string key = key_of(finding);
    std::lock_guard lock(all.mutex);
    const auto [place, is_new] = all.places.emplace(key, all.findings.size());
    if (is_new)
        all.findings.push_back(finding);
    else
        all.findings[place->second].count += finding.count;
}

void add_note(const std::string &text) {
    List &all = list();
    std::lock_guard lock(all.mutex);
    if (std::find(all.notes.begin(), all.notes.end(), text) == all.notes.end())
        all.notes.push_back(text);
}

void forget_findings() {
    List &all = list();
    std::lock_guard lock(all.mutex);
    all.notes.clear();
    all.findings.clear();
    all.places.clear();
}

void mark_read(std::span<const std::uint64_t> numbers) {
    List &all = list();
    std::lock_guard lock(all.mutex);
    for (const std::uint64_t number : numbers)
        if (number < all.findings.size())
            all.findings[number].is_read = true;
}

std::string to_json() {
    List &all = list();
    std::string modes_text, findings;
    for (const Mode mode : {Mem, Race, Init, Sync})
        if (modes() & mode)
            modes_text += (modes_text.empty() ? "" : ", ") + quoted(std::string(name(mode)));
    std::lock_guard lock(all.mutex);
    for (std::size_t number = 0; number < all.findings.size(); ++number)
        findings += (number == 0 ? "\n  " : ",\n  ") + json_of(all.findings[number], number);
    std::string notes;
    for (const std::string &note : all.notes)
        notes += (notes.empty() ? "" : ", ") + quoted(note);
    return R"({"modes": [)" + modes_text + R"(], "findings": [)" + findings + R"(], "notes": [)" +
           notes + "]}";
}

std::string to_text() {
    List &all = list();
    std::lock_guard lock(all.mutex);
    std::string text;
    for (const Finding &finding : all.findings)
        if (!finding.is_read)
            text += text_of(finding);
    return text;
}

void report_at_exit(void (*last_look)()) {
    List &all = list();
    std::lock_guard lock(all.mutex);
    if (all.process != 0)
        return;
    all.process = getpid();
    all.last_look = last_look;
    std::atexit(report);
}

} // namespace softcuda::check
