// report.cpp -- the lists as JSON text.
#include "profile/kept.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace softcuda::profile {
namespace {

constexpr const char *kClassNames[] = {
#define INSTRUCTION_CLASS(Name, text) text,
#include "rt/instruction_classes.def"
#undef INSTRUCTION_CLASS
};
constexpr const char *kSpaceNames[] = {"global", "shared", "local"};
constexpr const char *kActivityNames[] = {"kernel",        "copy",        "fill",
                                          "host function", "stream wait", "host wait"};

std::string in_quotes(std::string_view text) {
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

template <class Number> std::string member(const char *name, Number value) {
    return in_quotes(name) + ": " + std::to_string(value);
}

/// NVRTC writes the folder in which it ran before the names of sources that exist in memory only.
std::string source_file(const char *path) {
    std::error_code failed;
    const std::filesystem::path file(path);
    return std::filesystem::exists(file, failed) ? path : file.filename().string();
}

/// Sums over a kernel's parts that belong to one source line.
struct LineSum {
    std::uint64_t executions = 0; ///< of the part that was executed most often
    std::uint64_t lanes = 0;      ///< of this part
    std::uint64_t instructions = 0, thread_instructions = 0;
    std::array<std::uint64_t, rt::kInstructionClasses> by_class{};

    void add(const rt::CountedLine &line, const rt::LineCounts &counts) {
        if (counts.warps > executions) {
            executions = counts.warps;
            lanes = counts.lanes;
        }
        for (unsigned kind = 0; kind < rt::kInstructionClasses; ++kind) {
            by_class[kind] += line.instructions[kind] * counts.warps;
            instructions += line.instructions[kind] * counts.warps;
            thread_instructions += line.instructions[kind] * counts.lanes;
        }
    }
};

using Place = std::pair<std::string, std::uint32_t>;

std::string place_members(const Place &place) {
    return R"("file": )" + in_quotes(place.first) + R"(, "line": )" + std::to_string(place.second);
}

std::string json_of(const Place &place, const LineSum &sum) {
    std::string classes;
    for (unsigned kind = 0; kind < rt::kInstructionClasses; ++kind)
        if (sum.by_class[kind] != 0)
            classes +=
                (classes.empty() ? "" : ", ") + member(kClassNames[kind], sum.by_class[kind]);
    return "{" + place_members(place) + ", " + member("executions", sum.executions) + ", " +
           member("lanes", sum.lanes) + ", " + member("instructions", sum.instructions) + ", " +
           member("thread_instructions", sum.thread_instructions) + R"(, "classes": {)" + classes +
           "}}";
}

const char *name_of(rt::WatchKind kind) {
    switch (kind) {
    case rt::WatchKind::Load:
        return "load";
    case rt::WatchKind::Store:
        return "store";
    default:
        return "atomic";
    }
}

std::string json_of(const Place &place, const rt::CountedAccess &access, unsigned space,
                    const AccessCounts &counts) {
    return "{" + place_members(place) + R"(, "kind": ")" + name_of(access.kind) +
           R"(", "space": ")" + kSpaceNames[space] + R"(", )" + member("bytes", access.bytes) +
           ", " + member("requests", counts.requests) + ", " + member("lanes", counts.lanes) +
           ", " + member("sectors", counts.sectors) + ", " +
           member("ideal_sectors", counts.ideal_sectors) + ", " +
           member("wavefronts", counts.wavefronts) + ", " +
           member("ideal_wavefronts", counts.ideal_wavefronts) + ", " +
           member("same_address", counts.same_address) + ", " + member("stride", counts.stride) +
           ", " + member("regular", counts.regular) + "}";
}

class Files {
  public:
    const std::string &name_of(const char *path) {
        std::string &name = names_[path];
        if (name.empty())
            name = source_file(path);
        return name;
    }

  private:
    std::map<std::string, std::string> names_;
};

std::string join(const std::vector<std::string> &items) {
    std::string text;
    for (const std::string &item : items)
        text += (text.empty() ? "\n    " : ",\n    ") + item;
    return text;
}

std::string lines_of(const KeptKernel &kernel, Files &files) {
    std::map<Place, LineSum> sums;
    for (const TableCounts &counts : kernel.counts)
        for (std::size_t i = 0; i < counts.lines.size(); ++i) {
            const rt::CountedLine &line = counts.table->lines[i];
            sums[{files.name_of(line.file), line.line}].add(line, counts.lines[i]);
        }
    std::vector<std::string> items;
    for (const auto &[place, sum] : sums)
        items.push_back(json_of(place, sum));
    return join(items);
}

std::string accesses_of(const KeptKernel &kernel, Files &files) {
    std::vector<std::string> items;
    for (const TableCounts &counts : kernel.counts)
        for (std::size_t i = 0; i < counts.accesses.size(); ++i)
            for (unsigned space = 0; space < kSpaces; ++space)
                if (const AccessCounts &sum = counts.accesses[i][space]; sum.requests != 0) {
                    const rt::CountedAccess &access = counts.table->accesses[i];
                    items.push_back(
                        json_of({files.name_of(access.file), access.line}, access, space, sum));
                }
    return join(items);
}

std::string json_of(const std::array<std::uint32_t, 3> &of) {
    return "[" + std::to_string(of[0]) + ", " + std::to_string(of[1]) + ", " +
           std::to_string(of[2]) + "]";
}

std::string json_of(const Occupancy &occupancy) {
    return "{" + member("by_blocks", occupancy.by_blocks) + ", " +
           member("by_threads", occupancy.by_threads) + ", " +
           member("by_registers", occupancy.by_registers) + ", " +
           member("by_shared", occupancy.by_shared) + ", " +
           member("threads_per_multiprocessor", occupancy.threads_per_multiprocessor) + "}";
}

std::string json_of(const KeptKernel &kernel, Files &files) {
    const LaunchInfo &info = kernel.info;
    return R"({"name": )" + in_quotes(info.kernel) + R"(, "grid": )" + json_of(info.grid) +
           R"(, "block": )" + json_of(info.block) + ", " + member("launches", kernel.launches) +
           ", " + member("failures", kernel.failures) + ", " +
           member("nanoseconds", kernel.nanoseconds) + ", " + member("shortest", kernel.shortest) +
           ", " + member("longest", kernel.longest) + ", " + member("registers", info.registers) +
           ", " + member("static_shared_bytes", info.static_shared_bytes) + ", " +
           member("dynamic_shared_bytes", info.dynamic_shared_bytes) + ", " +
           member("local_bytes_per_thread", info.local_bytes_per_thread) + ", " +
           member("device", info.device) + R"(, "occupancy": )" + json_of(info.occupancy) +
           R"(, "lines": [)" + lines_of(kernel, files) + R"(], "accesses": [)" +
           accesses_of(kernel, files) + "]}";
}

std::string json_of(const Event &event) {
    return R"({"activity": ")" +
           std::string(kActivityNames[static_cast<unsigned>(event.activity)]) + R"(", "name": )" +
           in_quotes(event.name) + ", " + member("stream", event.stream) + ", " +
           member("device", event.device) + ", " + member("thread", event.thread) + ", " +
           member("begin", event.begin) + ", " + member("end", event.end) + ", " +
           member("bytes", event.bytes) + "}";
}

} // namespace

std::string to_json() {
    Kept &all = kept();
    std::lock_guard lock(all.mutex);
    Files files;
    std::vector<std::string> kernels, events;
    for (const KeptKernel &kernel : all.kernels)
        kernels.push_back(json_of(kernel, files));
    for (const Event &event : all.events)
        events.push_back(json_of(event));
    return "{" + member("process", getpid()) + ", " +
           member("events_left_out", all.events_left_out) + R"(, "kernels": [)" + join(kernels) +
           R"(], "events": [)" + join(events) + "]}";
}

} // namespace softcuda::profile
