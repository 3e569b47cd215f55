// fault_log.cpp -- writes the messages of faults.
#include "device/fault_log.h"

#include "device/driver_log.h"
#include "device/system.h"
#include "support/hexadecimal.h"
#include "support/readable_name.h"

#include <algorithm>
#include <bit>
#include <mutex>

namespace softcuda::device {
namespace {

std::mutex mutex;
std::string &last_message() {
    static auto *const message = new std::string;
    return *message;
}

std::optional<ScuFault> &last_record() {
    static auto *const record = new std::optional<ScuFault>;
    return *record;
}

template <std::size_t size> void copy_text(char (&to)[size], const std::string &text) {
    to[text.copy(to, size - 1)] = '\0';
}

/// Converts a number that counts x first, then y, then z.
template <typename Number>
void split(std::uint64_t number, const std::uint32_t (&extent)[3], Number (&index)[3]) {
    index[0] = static_cast<Number>(number % extent[0]);
    index[1] = static_cast<Number>(number / extent[0] % extent[1]);
    index[2] = static_cast<Number>(number / extent[0] / extent[1]);
}

/// ", through `src` (parameter 1)", or nothing. Parameters are counted from 0.
std::string variable_text(const FaultPlace &place) {
    if (!place.variable)
        return "";
    const std::string &name = place.variable->name;
    const std::string number =
        place.variable->parameter ? "parameter " + std::to_string(*place.variable->parameter) : "";
    if (name.empty())
        return ", through " + number;
    return ", through `" + name + "`" + (number.empty() ? "" : " (" + number + ")");
}

const char *kind_text(rt::Fault kind) {
    switch (kind) {
    case rt::Fault::IllegalAddress:
        return "illegal address";
    case rt::Fault::MisalignedAddress:
        return "misaligned address";
    case rt::Fault::Trap:
        return "trap";
    case rt::Fault::Assert:
        return "assertion failed";
    case rt::Fault::BarrierMismatch:
        return "warps of one block wait at a barrier that others cannot reach";
    case rt::Fault::StackOverflow:
        return "stack overflow";
    case rt::Fault::InvalidInstruction:
        return "invalid instruction";
    case rt::Fault::NoFunction:
        return "a call through a pointer to no function of the kernel's parameters";
    case rt::Fault::NoTexture:
        return "no texture or surface object has the handle";
    }
    return "unknown fault";
}

const char *action_text(rt::FaultReport::Direction direction) {
    switch (direction) {
    case rt::FaultReport::Direction::Read:
        return " reading ";
    case rt::FaultReport::Direction::Write:
        return " writing ";
    case rt::FaultReport::Direction::Unknown:
        break;
    }
    return " at ";
}

std::string place_text(const rt::Grid::Failure &failure, const rt::LaunchFrame &frame) {
    const std::uint64_t x = failure.block % frame.grid[0];
    const std::uint64_t y = failure.block / frame.grid[0] % frame.grid[1];
    const std::uint64_t z = failure.block / frame.grid[0] / frame.grid[1];
    std::string text = "block (" + std::to_string(x) + "," + std::to_string(y) + "," +
                       std::to_string(z) + "), warp " + std::to_string(failure.warp);
    if (failure.report.lane >= 0)
        text += ", lane " + std::to_string(failure.report.lane);
    return text;
}

bool has_address(rt::Fault kind) {
    return kind == rt::Fault::IllegalAddress || kind == rt::Fault::MisalignedAddress;
}

/// "16 bytes after the block's 4096 bytes of shared memory".
std::string window_text(const rt::Grid::Failure &failure) {
    const std::int64_t offset = failure.offset;
    const auto size = static_cast<std::int64_t>(failure.window_bytes);
    std::string text = offset < 0       ? std::to_string(-offset) + " bytes before "
                       : offset >= size ? std::to_string(offset - size) + " bytes after "
                                        : std::to_string(offset) + " bytes into ";
    text += "the block's " + std::to_string(size) + " bytes of ";
    return text + (failure.window == rt::Grid::Window::Shared ? "shared" : "local") + " memory";
}

/// Advice about an access shortly after the end of an allocation, or nothing.
std::string advice_text(std::uint64_t address) {
    constexpr std::uint64_t page_of_gpu = std::uint64_t{2} << 20, least = 4096;
    const std::optional<std::uint64_t> past = System::get().memory().bytes_past_end(address);
    if (!past || *past >= page_of_gpu)
        return "";
    const std::uint64_t slack = std::max(least, std::bit_ceil(*past + rt::kWarpSize));
    return "; a GPU often does not notice an access this close to the end; SOFTCUDA_CHECK=mem "
           "finds "
           "every such access, SOFTCUDA_SLACK=" +
           std::to_string(slack) + " permits it";
}

} // namespace

void log_fault(const std::string &message) {
    std::lock_guard lock(mutex);
    std::fprintf(stderr, "softcuda: %s\n", message.c_str());
    last_message() = message;
    driver_log::add(driver_log::Level::Error, message);
}

void note_fault(const std::string &message) {
    std::lock_guard lock(mutex);
    last_message() = message;
    driver_log::add(driver_log::Level::Error, message);
}

std::string last_fault_message() {
    std::lock_guard lock(mutex);
    return last_message();
}

std::string describe_failure(const std::string &kernel, const FaultPlace &place,
                             const rt::Grid::Failure &failure, const rt::LaunchFrame &frame) {
    const rt::FaultReport &report = failure.report;
    const std::string line =
        place.source.file.empty()
            ? ""
            : "at " + place.source.file + ":" + std::to_string(place.source.line) + " ";
    std::string text = "kernel `" + readable_name(kernel) + "` failed " + line + "in " +
                       place_text(failure, frame) + ": " +
                       (report.detail[0] != '\0' ? report.detail : kind_text(report.kind));
    if (report.kind == rt::Fault::NoTexture)
        return text + ' ' + hexadecimal(report.address) +
               (report.address == 0 ? "; no memory is bound to the texture or surface that the "
                                      "kernel declares or is given"
                                    : "; the object was destroyed, or the number is of no object");
    if (!has_address(report.kind))
        return text;
    if (!report.address_known)
        return text + (report.detail[0] != '\0' ? "" : " (no pointer at all)") +
               variable_text(place);
    text += action_text(report.direction) + hexadecimal(report.address) + ", ";
    if (failure.window != rt::Grid::Window::None)
        return text + window_text(failure) + variable_text(place);
    text += System::get().memory().describe(report.address) + variable_text(place);
    return report.kind == rt::Fault::IllegalAddress ? text + advice_text(report.address) : text;
}

void remember_fault(const ScuFault &fault) {
    std::lock_guard lock(mutex);
    last_record() = fault;
}

std::optional<ScuFault> last_fault() {
    std::lock_guard lock(mutex);
    return last_record();
}

ScuFault record_of(const std::string &kernel, CUresult result, const FaultPlace &place,
                   const rt::Grid::Failure &failure, const rt::LaunchFrame &frame) {
    const rt::FaultReport &report = failure.report;
    ScuFault record{};
    record.result = result;
    copy_text(record.kernel, kernel);
    copy_text(record.file, place.source.file);
    record.line = place.source.line;
    split(failure.block, frame.grid, record.block);
    for (int &index : record.thread)
        index = -1;
    if (report.lane >= 0) {
        const std::uint64_t thread =
            std::uint64_t{failure.warp} * rt::kWarpSize + static_cast<unsigned>(report.lane);
        split(thread, frame.block, record.thread);
    }
    record.parameter = -1;
    if (place.variable) {
        copy_text(record.variable, place.variable->name);
        if (place.variable->parameter)
            record.parameter = static_cast<int>(*place.variable->parameter);
    }
    if (has_address(report.kind) && report.address_known) {
        record.has_address = 1;
        record.address = report.address;
        record.access = static_cast<int>(report.direction);
        if (const auto near = failure.window == rt::Grid::Window::None
                                  ? System::get().memory().nearest(report.address)
                                  : std::nullopt) {
            record.has_allocation = 1;
            record.allocation = near->address;
            record.allocation_bytes = near->size;
        }
    }
    copy_text(record.message, describe_failure(kernel, place, failure, frame));
    return record;
}

} // namespace softcuda::device
