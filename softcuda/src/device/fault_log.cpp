// fault_log.cpp -- puts faults into words.
#include "device/fault_log.h"

#include "device/driver_log.h"
#include "device/system.h"

#include <cstdio>
#include <mutex>

namespace softcuda::device {
namespace {

std::mutex mutex;
std::string &last_message() {
    static auto *const message = new std::string;
    return *message;
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

std::string hex(std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
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

std::string describe_failure(const std::string &kernel, const std::string &line,
                             const rt::Grid::Failure &failure, const rt::LaunchFrame &frame) {
    const rt::FaultReport &report = failure.report;
    std::string text = "kernel `" + kernel + "` failed " +
                       (line.empty() ? "" : "at " + line + " ") + "in " +
                       place_text(failure, frame) + ": " +
                       (report.detail[0] != '\0' ? report.detail : kind_text(report.kind));
    if (report.kind == rt::Fault::NoTexture)
        return text + ' ' + hex(report.address);
    if (!has_address(report.kind))
        return text;
    if (!report.address_known)
        return text + " (no pointer at all)";
    text += action_text(report.direction);
    if (failure.window != rt::Grid::Window::None)
        return text + hex(report.address) + ", " + window_text(failure);
    return text + hex(report.address) + ", " + System::get().memory().describe(report.address);
}

} // namespace softcuda::device
